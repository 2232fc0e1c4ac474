//! [`Library`]: what a router found for the tasks of one index.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use skillmux::{
    compose::{ComposeRequest, Considered, Judgement, Split, StepCandidates, Verdict},
    index::Index,
    query::{Need, Query},
    retrieve::{Candidate, ScoreScale},
    route::{Router, Stages},
    skill::SkillId,
};

use super::tasks::{Right, SetTasks};
use crate::{
    error::{Error, Result},
    file::{lines, replace},
    split::{Fold, RankerShare, key_of_name},
};

/// A task that a router was asked, with what it found.
pub(super) struct Asked {
    pub(super) steps: Vec<StepCandidates>,
    pub(super) right: Right,
    pub(super) fold: Fold,
}

/// An index, and what a router over it found for the tasks all of whose skills it holds.
pub(super) struct Library {
    pub(super) index: Arc<Index>,
    pub(super) asked: Vec<Asked>,
}

impl Library {
    /// Asks a router the tasks all of whose skills its index holds, on all cores. What was found is
    /// kept in a folder, if there is one, and read from there if the same was asked before.
    pub(super) fn ask(tasks: &SetTasks, router: &Router, kept: Option<&Path>) -> Result<Self> {
        let index = router.index();
        let mut known = Vec::new();
        // An index that lacks an id looks for those that are like it, which takes long.
        let ids: BTreeSet<SkillId> = index.ids().collect::<skillmux::error::Result<_>>()?;
        let has_all = |right: &Right| right.skills.iter().all(|id| ids.contains(id));
        for (query, right) in tasks.0.iter().filter(|(_, right)| has_all(right)) {
            if let Some(fold) = fold(&index, &right.skills)? {
                known.push((query.as_str(), right, fold));
            }
        }
        let kept = kept.map(|folder| folder.join(format!("{}.jsonl", key(router, &known))));
        let steps = match &kept {
            Some(path) if path.exists() => read(path)?,
            _ => {
                let ask = |(query, ..): &(&str, &Right, Fold)| -> Result<Vec<StepCandidates>> {
                    Ok(router.step_candidates(&Query::new(*query)?)?)
                };
                let steps: Vec<_> = known.par_iter().map(ask).collect::<Result<_>>()?;
                if let Some(path) = &kept {
                    write(path, &steps)?;
                }
                steps
            }
        };
        let asked = known.into_iter().zip(steps).map(|((_, right, fold), steps)| Asked {
            steps,
            right: right.clone(),
            fold,
        });
        Ok(Self { asked: asked.collect(), index })
    }

    /// Calls `f` with what a composer is asked for a task.
    pub(super) fn with_request<T>(
        &self,
        asked: &Asked,
        f: impl FnOnce(&ComposeRequest<'_>) -> T,
    ) -> T {
        let index = &self.index;
        let similarity = |a: &SkillId, b: &SkillId| {
            let both = index.find(a).and_then(|a| index.similarity(a, index.find(b)?));
            both.unwrap_or(0.0)
        };
        let headline = |id: &SkillId| {
            let skill = index.skill(index.find(id).ok()?).ok()?.skill;
            Some(format!("{}\n{}", skill.name, skill.description))
        };
        let split = if asked.steps.len() > 1 { Split::Parts } else { Split::Whole };
        f(&ComposeRequest {
            task: asked.steps.first().map_or("", |whole| whole.need.text()),
            steps: &asked.steps,
            split,
            scale: ScoreScale::LogOdds,
            similarity: &similarity,
            compatibility: &|_, _| 0.0,
            headline: &headline,
            library: &|| index.ids().filter_map(std::result::Result::ok).collect(),
            max_skills: split.usual_limit(asked.steps.len()),
            n_skills: index.n_skills(),
        })
    }
}

/// Returns the fold of a task by the names of its skills; `None` if the index lacks one.
fn fold(index: &Index, right: &[SkillId]) -> Result<Option<Fold>> {
    let mut share: Option<RankerShare> = None;
    for id in right {
        let Ok(idx) = index.find(id) else { return Ok(None) };
        let of_skill = RankerShare::of_name(key_of_name(&index.skill(idx)?.skill.name));
        share = Some(share.map_or(of_skill, |share| share.and(of_skill)));
    }
    Ok(share.map(|share| share.fold))
}

/// Version of what is kept of a step, and of how a router finds it.
const FORM: &[u8] = b"2";

/// Returns what two questions must have in common for one answer to serve both.
fn key(router: &Router, known: &[(&str, &Right, Fold)]) -> String {
    let mut hasher = blake3::Hasher::new();
    let Stages { decomposer, ranker, calibrations, .. } = router.stages();
    for part in [decomposer.identity(), ranker.identity().to_string()] {
        hasher.update(part.as_bytes());
    }
    let calibrations = serde_json::to_vec(calibrations);
    hasher.update(FORM).update(&calibrations.expect("calibrations always serialise"));
    let manifest = serde_json::to_vec(router.index().manifest());
    hasher.update(&manifest.expect("a manifest always serialises"));
    for (query, ..) in known {
        hasher.update(query.as_bytes()).update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A step in a file.
#[derive(Serialize, Deserialize)]
struct StepLine {
    need: String,
    /// How likely the need asks for something, where a model told.
    asks: Option<f32>,
    confidence: Option<f32>,
    /// As [`Verdict`] has them: 0 helps, 1 does not, 2 is small talk.
    verdict: u8,
    /// Id, name, score and whether the task names it.
    candidates: Vec<(SkillId, String, f32, bool)>,
}

fn write(path: &Path, asked: &[Vec<StepCandidates>]) -> Result<()> {
    let line = |steps: &Vec<StepCandidates>| {
        let line = |step: &StepCandidates| StepLine {
            need: step.need.text().to_owned(),
            asks: step.need.asks(),
            confidence: step.judgement.confidence,
            verdict: match step.judgement.verdict {
                Verdict::Helps => 0,
                Verdict::SmallTalk => 2,
                _ => 1,
            },
            candidates: step
                .candidates
                .iter()
                .map(|Considered { candidate, name }| {
                    let is_named = candidate.signals.is_named;
                    (candidate.skill.clone(), name.clone(), candidate.score, is_named)
                })
                .collect(),
        };
        let lines: Vec<StepLine> = steps.iter().map(line).collect();
        serde_json::to_string(&lines).expect("texts and numbers always serialise") + "\n"
    };
    if let Some(folder) = path.parent() {
        let failed = |source| Error::Write { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
    }
    replace(path, asked.iter().map(line).collect::<String>().as_bytes())
}

fn read(path: &Path) -> Result<Vec<Vec<StepCandidates>>> {
    let rows: Vec<Vec<StepLine>> = lines(path, "what a router found for a task")?;
    let step = |line: StepLine| StepCandidates {
        need: match line.asks {
            Some(asks) => Need::part(line.need, asks),
            None => Need::new(line.need),
        },
        judgement: Judgement {
            confidence: line.confidence,
            verdict: match line.verdict {
                0 => Verdict::Helps,
                2 => Verdict::SmallTalk,
                _ => Verdict::DoesNotHelp,
            },
        },
        candidates: line
            .candidates
            .into_iter()
            .map(|(skill, name, score, is_named)| {
                let mut candidate = Candidate::new(skill, score);
                candidate.signals.is_named = is_named;
                Considered { candidate, name }
            })
            .collect(),
    };
    Ok(rows.into_iter().map(|steps| steps.into_iter().map(step).collect()).collect())
}
