//! [`SequenceNetwork`]: the decoder with its heads.
//!
//! Only operations that have a gradient are used, so that the network of the training is that of
//! the inference.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::ops;

use super::{
    config::{SceneKind, SequenceConfig},
    scene::{N_OF_TASK, N_RELATIONS, N_SIGNALS, Scene},
};

/// Added to the logit of what cannot be chosen.
const NEVER: f32 = -1e9;

/// Keeps the variance of a norm above zero.
const EPSILON: f64 = 1e-5;

/// Gives a tensor by its name and shape: a variable that begins at random, or what a file holds.
pub type Source<'s> = dyn FnMut(&str, &[usize]) -> Result<Tensor> + 's;

/// Drops some numbers of a tensor while a network is trained, and none when it is asked.
pub type Dropout<'d> = dyn FnMut(Tensor) -> Result<Tensor> + 'd;

/// A decoder that points at the skills of a scene, with a set head and a cardinality head
/// (`SkillComposer` section 4.2).
pub struct SequenceNetwork {
    config: SequenceConfig,
    task: Linear,
    of_task: Tensor,
    skill: Linear,
    signals: Tensor,
    norm: Norm,
    memory_layers: Vec<Layer>,
    memory_norm: Norm,
    start: Tensor,
    places: Tensor,
    layers: Vec<Layer>,
    last_norm: Norm,
    query: Linear,
    key: Linear,
    relations: Tensor,
    stop: Linear,
    set: [Linear; 2],
    count: Linear,
}

/// Scenes as tensors, padded to the largest one.
pub struct SceneBatch {
    task: Tensor,
    of_task: Tensor,
    vectors: Tensor,
    signals: Tensor,
    /// 0, or [`NEVER`] where a scene has no skill, `[n, n_skills]`.
    hidden: Tensor,
}

/// What the network keeps of scenes while it decodes.
pub struct Memory {
    /// `[n, width]`.
    task: Tensor,
    /// `[n, n_skills, width]`.
    skills: Tensor,
    hidden: Tensor,
    keys: Tensor,
}

/// Logits of each step of each sequence.
pub struct StepLogits {
    /// Of each skill, `[n, n_steps, n_skills]`; what may never come is not ruled out yet.
    pub skills: Tensor,
    /// Of stopping, `[n, n_steps, 1]`.
    pub stop: Tensor,
}

impl SceneBatch {
    /// Returns scenes as tensors.
    ///
    /// # Errors
    /// What the tensor library says, as for want of memory.
    pub fn new(scenes: &[&Scene]) -> Result<Self> {
        let n = scenes.len();
        let n_skills = scenes.iter().map(|scene| scene.skills.len()).max().unwrap_or(0).max(1);
        let dim = scenes.first().map_or(0, |scene| scene.task.len());
        let mut vectors = vec![0.0_f32; n * n_skills * dim];
        let mut signals = vec![0.0_f32; n * n_skills * N_SIGNALS];
        let mut hidden = vec![NEVER; n * n_skills];
        for (row, scene) in scenes.iter().enumerate() {
            for (at, skill) in scene.skills.iter().enumerate() {
                let at = row * n_skills + at;
                vectors[at * dim..][..dim].copy_from_slice(&skill.vector);
                signals[at * N_SIGNALS..][..N_SIGNALS].copy_from_slice(&skill.signals);
                hidden[at] = 0.0;
            }
        }
        let task: Vec<f32> = scenes.iter().flat_map(|scene| scene.task.iter().copied()).collect();
        let of_task: Vec<f32> = scenes.iter().flat_map(|scene| scene.of_task).collect();
        let device = &Device::Cpu;
        Ok(Self {
            task: Tensor::from_vec(task, (n, dim), device)?,
            of_task: Tensor::from_vec(of_task, (n, N_OF_TASK), device)?,
            vectors: Tensor::from_vec(vectors, (n, n_skills, dim), device)?,
            signals: Tensor::from_vec(signals, (n, n_skills, N_SIGNALS), device)?,
            hidden: Tensor::from_vec(hidden, (n, n_skills), device)?,
        })
    }

    /// Returns the number of skills of the largest scene.
    ///
    /// # Errors
    /// None that can happen.
    pub fn n_skills(&self) -> Result<usize> {
        self.hidden.dim(1)
    }
}

impl SequenceNetwork {
    /// Returns a network whose tensors come from a source.
    ///
    /// # Errors
    /// What the source says.
    pub fn new(config: &SequenceConfig, source: &mut Source<'_>) -> Result<Self> {
        let (width, dim) = (config.width, config.encoder.dim as usize);
        let layers = |name: &str, n: usize, attends: bool, source: &mut Source<'_>| {
            (0..n)
                .map(|number| Layer::new(config, &format!("{name}.{number}"), attends, source))
                .collect::<Result<Vec<_>>>()
        };
        let memory_layers = layers("memory", config.n_memory_layers, false, source)?;
        let layers = layers("decoder", config.n_layers, config.attends, source)?;
        let count_in = match config.scene {
            SceneKind::Open => 2 * width,
            SceneKind::Closed => width,
        };
        Ok(Self {
            task: Linear::new("task", dim, width, source)?,
            of_task: source("task.signals", &[N_OF_TASK, width])?,
            skill: Linear::new("skill", dim, width, source)?,
            signals: source("skill.signals", &[N_SIGNALS, width])?,
            norm: Norm::new("skill.norm", width, source)?,
            memory_layers,
            memory_norm: Norm::new("memory.norm", width, source)?,
            start: source("start.place", &[1, width])?,
            places: source("places", &[config.max_skills, width])?,
            layers,
            last_norm: Norm::new("decoder.norm", width, source)?,
            query: Linear::new("query", width, width, source)?,
            key: Linear::new("key", width, width, source)?,
            relations: source("relations.zero", &[N_RELATIONS, 1])?,
            stop: Linear::new("stop", width, 1, source)?,
            set: [
                Linear::new("set.0", 4 * width, width, source)?,
                Linear::new("set.1", width, 1, source)?,
            ],
            count: Linear::new("count", count_in, config.max_skills, source)?,
            config: config.clone(),
        })
    }

    /// Returns the shape of the network.
    pub fn config(&self) -> &SequenceConfig {
        &self.config
    }

    /// Reads scenes.
    ///
    /// # Errors
    /// What the tensor library says.
    pub fn read(&self, batch: &SceneBatch, dropout: &mut Dropout<'_>) -> Result<Memory> {
        let of_task = batch.of_task.matmul(&self.of_task)?;
        let task = (self.task.of(&batch.task)? + of_task)?;
        let signals = flat_matmul(&batch.signals, &self.signals)?;
        let skills = (self.skill.of(&batch.vectors)? + signals)?;
        let mut skills = dropout(self.norm.of(&skills)?)?;
        let hidden = batch.hidden.unsqueeze(1)?.unsqueeze(1)?;
        for layer in &self.memory_layers {
            skills = layer.of(&skills, None, Some(&hidden), None, dropout)?;
        }
        if !self.memory_layers.is_empty() {
            skills = self.memory_norm.of(&skills)?;
        }
        let keys = self.key.of(&skills)?;
        Ok(Memory { task, skills, hidden: batch.hidden.clone(), keys })
    }

    /// Returns the logits by which each skill belongs to the set, `[n, n_skills]` (Eq. 4.3).
    ///
    /// # Errors
    /// What the tensor library says.
    pub fn set_logits(&self, memory: &Memory, dropout: &mut Dropout<'_>) -> Result<Tensor> {
        let task = memory.task.unsqueeze(1)?.broadcast_as(memory.skills.shape())?;
        let both = (&task * &memory.skills)?;
        let apart = (&task - &memory.skills)?.abs()?;
        let input = Tensor::cat(&[&task, &memory.skills, &both, &apart], D::Minus1)?;
        let inner = dropout(self.set[0].of(&input)?.gelu()?)?;
        self.set[1].of(&inner)?.squeeze(D::Minus1)
    }

    /// Returns the logits of one, two and more skills, `[n, max_skills]` (Eq. 4.2).
    ///
    /// In an open scene the head also reads the skills, each by its share of the set: the task
    /// alone does not tell how many of its parts a library has skills for.
    ///
    /// # Errors
    /// What the tensor library says.
    pub fn count_logits(&self, memory: &Memory, set_logits: &Tensor) -> Result<Tensor> {
        match self.config.scene {
            SceneKind::Closed => self.count.of(&memory.task),
            SceneKind::Open => {
                let logits = (set_logits + &memory.hidden)?.clamp(-30.0, 30.0)?;
                let shares = (logits.neg()?.exp()? + 1.0)?.recip()?;
                let sum = shares.unsqueeze(1)?.matmul(&memory.skills)?.squeeze(1)?;
                self.count.of(&Tensor::cat(&[&memory.task, &sum], 1)?)
            }
        }
    }

    /// Returns the logits of each step after prefixes of one length. Scene `b` belongs to sequence
    /// `b`, or one scene to all.
    ///
    /// `chosen` has the places of the skills of each prefix, `[n, n_chosen]` row by row, and
    /// `relations` is `[n, n_chosen + 1, n_skills, N_RELATIONS]`.
    ///
    /// # Errors
    /// What the tensor library says.
    pub fn steps(
        &self,
        memory: &Memory,
        chosen: &[u32],
        relations: &Tensor,
        dropout: &mut Dropout<'_>,
    ) -> Result<StepLogits> {
        let (n, n_steps, n_skills, _) = relations.dims4()?;
        let (n_scenes, _, width) = memory.skills.dims3()?;
        let start = memory.task.broadcast_add(&self.start)?.unsqueeze(1)?;
        let start = start.broadcast_as((n, 1, width))?;
        let mut states = start.contiguous()?;
        if n_steps > 1 {
            let offset = |row: usize| if n_scenes == 1 { 0 } else { row * n_skills };
            let rows: Vec<u32> = chosen
                .chunks(n_steps - 1)
                .enumerate()
                .flat_map(|(row, chosen)| {
                    let offset = u32::try_from(offset(row)).unwrap_or(u32::MAX);
                    chosen.iter().map(move |at| offset + at)
                })
                .collect();
            let rows = Tensor::from_vec(rows, n * (n_steps - 1), &Device::Cpu)?;
            let inputs = memory.skills.reshape((n_scenes * n_skills, width))?;
            let inputs = inputs.index_select(&rows, 0)?.reshape((n, n_steps - 1, width))?;
            let inputs = inputs.broadcast_add(&self.places.narrow(0, 0, n_steps - 1)?)?;
            states = Tensor::cat(&[&states, &inputs], 1)?;
        }
        let hidden = memory.hidden.unsqueeze(1)?.unsqueeze(1)?;
        let later = later(n_steps)?;
        for layer in &self.layers {
            let across = self.config.attends.then_some((&memory.skills, &hidden));
            states = layer.of(&states, across, None, Some(&later), dropout)?;
        }
        let states = self.last_norm.of(&states)?;
        let query = (self.query.of(&states)? / (width as f64).sqrt())?;
        // One scene has the queries of all sequences.
        let query = query.reshape((n_scenes, n * n_steps / n_scenes, width))?;
        let skills = query.matmul(&memory.keys.t()?)?.reshape((n, n_steps, n_skills))?;
        let beside = flat_matmul(relations, &self.relations)?.squeeze(D::Minus1)?;
        Ok(StepLogits { skills: (skills + beside)?, stop: self.stop.of(&states)? })
    }
}

/// Returns what keeps a step from those after it, `[n, n]`.
fn later(n: usize) -> Result<Tensor> {
    let mask: Vec<f32> = (0..n * n).map(|at| if at % n > at / n { NEVER } else { 0.0 }).collect();
    Tensor::from_vec(mask, (n, n), &Device::Cpu)
}

/// Returns rows times a matrix, whatever the dimensions of the rows.
fn flat_matmul(rows: &Tensor, matrix: &Tensor) -> Result<Tensor> {
    let mut shape = rows.dims().to_vec();
    let n_in = shape.pop().unwrap_or(1);
    shape.push(matrix.dim(1)?);
    let n_rows = rows.elem_count() / n_in.max(1);
    rows.reshape((n_rows, n_in))?.matmul(matrix)?.reshape(shape)
}

/// A matrix with a bias.
struct Linear {
    matrix: Tensor,
    bias: Tensor,
}

impl Linear {
    fn new(name: &str, n_in: usize, n_out: usize, source: &mut Source<'_>) -> Result<Self> {
        Ok(Self {
            matrix: source(&format!("{name}.weight"), &[n_in, n_out])?,
            bias: source(&format!("{name}.bias"), &[n_out])?,
        })
    }

    fn of(&self, rows: &Tensor) -> Result<Tensor> {
        flat_matmul(rows, &self.matrix)?.broadcast_add(&self.bias)
    }
}

/// Mean 0 and variance 1, scaled.
struct Norm {
    scale: Tensor,
    bias: Tensor,
}

impl Norm {
    fn new(name: &str, width: usize, source: &mut Source<'_>) -> Result<Self> {
        Ok(Self {
            scale: source(&format!("{name}.scale"), &[width])?,
            bias: source(&format!("{name}.bias"), &[width])?,
        })
    }

    fn of(&self, rows: &Tensor) -> Result<Tensor> {
        let centred = rows.broadcast_sub(&rows.mean_keepdim(D::Minus1)?)?;
        let length = (centred.sqr()?.mean_keepdim(D::Minus1)? + EPSILON)?.sqrt()?;
        centred.broadcast_div(&length)?.broadcast_mul(&self.scale)?.broadcast_add(&self.bias)
    }
}

/// Attention of some heads.
struct Attention {
    n_heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
}

impl Attention {
    fn new(config: &SequenceConfig, name: &str, source: &mut Source<'_>) -> Result<Self> {
        let width = config.width;
        let mut linear = |part: &str| Linear::new(&format!("{name}.{part}"), width, width, source);
        Ok(Self {
            n_heads: config.n_heads,
            query: linear("query")?,
            key: linear("key")?,
            value: linear("value")?,
            out: linear("out")?,
        })
    }

    /// Returns `[n, n_queries, width]`; `mask` is added to the logits `[n, n_heads, n_queries,
    /// n_keys]`. One row of keys serves all rows of queries.
    fn of(&self, queries: &Tensor, keys: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let shape = queries.dims3()?;
        let (n_scenes, n_keys, width) = keys.dims3()?;
        let head = width / self.n_heads;
        let n_queries = shape.0 * shape.1 / n_scenes;
        let split = |rows: Tensor, n_rows: usize| {
            rows.reshape((n_scenes, n_rows, self.n_heads, head))?.transpose(1, 2)?.contiguous()
        };
        let query = split((self.query.of(queries)? / (head as f64).sqrt())?, n_queries)?;
        let key = split(self.key.of(keys)?, n_keys)?;
        let value = split(self.value.of(keys)?, n_keys)?;
        let logits = query.matmul(&key.t()?)?.broadcast_add(mask)?;
        let mixed = ops::softmax(&logits, D::Minus1)?.matmul(&value)?;
        self.out.of(&mixed.transpose(1, 2)?.contiguous()?.reshape(shape)?)
    }
}

/// A pre-norm layer: attention to its own states, then to others, then a feed-forward part.
struct Layer {
    norms: [Norm; 3],
    own: Attention,
    across: Option<Attention>,
    inner: Linear,
    outer: Linear,
}

impl Layer {
    fn new(
        config: &SequenceConfig,
        name: &str,
        attends: bool,
        source: &mut Source<'_>,
    ) -> Result<Self> {
        let (width, inner) = (config.width, config.width * config.n_feed_forward);
        let mut norm = |number: usize| Norm::new(&format!("{name}.norm.{number}"), width, source);
        Ok(Self {
            norms: [norm(0)?, norm(1)?, norm(2)?],
            own: Attention::new(config, &format!("{name}.own"), source)?,
            across: if attends {
                Some(Attention::new(config, &format!("{name}.across"), source)?)
            } else {
                None
            },
            inner: Linear::new(&format!("{name}.inner"), width, inner, source)?,
            outer: Linear::new(&format!("{name}.outer"), inner, width, source)?,
        })
    }

    fn of(
        &self,
        states: &Tensor,
        across: Option<(&Tensor, &Tensor)>,
        hidden: Option<&Tensor>,
        later: Option<&Tensor>,
        dropout: &mut Dropout<'_>,
    ) -> Result<Tensor> {
        let normed = self.norms[0].of(states)?;
        let none = Tensor::zeros(1, states.dtype(), states.device())?;
        let mask = hidden.or(later).unwrap_or(&none);
        let mut states = (states + dropout(self.own.of(&normed, &normed, mask)?)?)?;
        if let (Some(attention), Some((memory, hidden))) = (&self.across, across) {
            let normed = self.norms[1].of(&states)?;
            states = (&states + dropout(attention.of(&normed, memory, hidden)?)?)?;
        }
        let inner = self.inner.of(&self.norms[2].of(&states)?)?.gelu()?;
        &states + dropout(self.outer.of(&inner)?)?
    }
}
