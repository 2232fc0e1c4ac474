//! [`Sampler`]: draws pairs of texts that belong together.

use skillmux::index::SkillIdx;

use super::{
    corpus::{Bag, Corpus, bag},
    data::{Split, TrainQuery},
    options::EncoderOptions,
    pair::PairKind,
};
use crate::random::Random;

/// Fewest distinct terms of a text that says something about its skill.
const MIN_TERMS: usize = 3;

/// Fewest terms of a section below a heading that names it.
const MIN_SECTION_TERMS: usize = 8;

/// Most attempts to draw a pair that has enough terms.
const MAX_ATTEMPTS: usize = 20;

/// Pairs of one kind.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) queries: Vec<Bag>,
    /// One or two texts of every candidate; the candidates of the queries come first.
    pub(super) parts: Vec<Vec<Bag>>,
    /// Lexical scores, `[n_queries, n_candidates]`, or empty.
    pub(super) lexical: Vec<f32>,
    /// Skills that answer each query.
    gold: Vec<Vec<SkillIdx>>,
    /// Skill of each candidate, and what it has in common with its copies.
    candidates: Vec<(SkillIdx, u64)>,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// Returns whether a candidate is, or is named as, what answers a query.
    pub(super) fn is_false_negative(&self, query: usize, candidate: usize) -> bool {
        let (skill, key) = self.candidates[candidate];
        self.candidates[query].1 == key || self.gold[query].contains(&skill)
    }
}

/// Draws pairs of texts that belong together.
pub(super) struct Sampler<'d> {
    corpus: &'d Corpus,
    split: &'d Split,
    options: &'d EncoderOptions,
    /// Skill and heading segment of sections that are long enough.
    headings: Vec<(SkillIdx, usize)>,
    /// Segments that say the same in two languages.
    translated_sections: Vec<(usize, usize)>,
}

impl<'d> Sampler<'d> {
    pub(super) fn new(corpus: &'d Corpus, split: &'d Split, options: &'d EncoderOptions) -> Self {
        let mut headings = Vec::new();
        for skill in (0..).map(SkillIdx).take(corpus.n_skills()) {
            // Name, description, and the text before the first heading with no heading.
            for heading in corpus.segments(skill.0 as usize).skip(4).step_by(2) {
                let has_text = corpus.segment(heading + 1).nth(MIN_SECTION_TERMS - 1).is_some();
                if has_text && corpus.segment(heading).next().is_some() {
                    headings.push((skill, heading));
                }
            }
        }
        let mut translated_sections = Vec::new();
        for (zh, en) in &split.translations {
            let (zh, en) = (corpus.segments(zh.0 as usize), corpus.segments(en.0 as usize));
            // A translation keeps the headings; where their number differs it is a free one.
            if zh.len() == en.len() {
                let says = |segment: usize| corpus.segment(segment).nth(1).is_some();
                let pairs = zh.zip(en).skip(2).filter(|(zh, en)| says(*zh) && says(*en));
                translated_sections.extend(pairs);
            }
        }
        Self { corpus, split, options, headings, translated_sections }
    }

    /// Draws the queries of the pairs of a round, more than enough of them.
    pub(super) fn queries_of_round(&self, n_steps: usize, random: &mut Random) -> Vec<usize> {
        let total: f32 = self.options.mix.iter().sum();
        let share = self.options.mix[PairKind::Query as usize] / total.max(f32::MIN_POSITIVE);
        let n_batches = (n_steps as f32 * share).ceil();
        // Three standard deviations of how often the kind is drawn.
        let n_batches = n_batches + 3.0 * (n_batches * (1.0 - share)).sqrt();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let n = (n_batches.ceil() as usize).min(n_steps) * self.options.n_pairs;
        (0..n).map(|_| random.below(self.split.train.len())).collect()
    }

    /// Draws the kind of the next batch.
    pub(super) fn kind(&self, random: &mut Random) -> PairKind {
        let mix = self.options.mix;
        let mut left = random.share() * mix.iter().sum::<f32>();
        for (kind, weight) in PairKind::ALL.into_iter().zip(mix) {
            if left < weight {
                return kind;
            }
            left -= weight;
        }
        PairKind::Query
    }

    /// Draws a batch; `queries` and their mined `negatives` are used for pairs of queries only.
    pub(super) fn batch(
        &self,
        kind: PairKind,
        queries: &[usize],
        negatives: &[Vec<SkillIdx>],
        random: &mut Random,
    ) -> Batch {
        if kind == PairKind::Query {
            return self.query_batch(queries, negatives, random);
        }
        let mut batch = Batch { parts: vec![Vec::new()], ..Batch::default() };
        for _ in 0..self.options.n_pairs * MAX_ATTEMPTS {
            if batch.queries.len() == self.options.n_pairs {
                break;
            }
            let Some(Pair { query, candidate, skill, key }) = self.pair(kind, random) else {
                continue;
            };
            if query.len() < MIN_TERMS || candidate.is_empty() {
                continue;
            }
            batch.queries.push(self.thinned(&query, self.options.max_body_terms, random));
            batch.parts[0].push(self.thinned(&candidate, self.options.max_body_terms, random));
            batch.gold.push(Vec::new());
            batch.candidates.push((skill, key));
        }
        batch
    }

    fn query_batch(
        &self,
        queries: &[usize],
        negatives: &[Vec<SkillIdx>],
        random: &mut Random,
    ) -> Batch {
        let mut batch = Batch { parts: vec![Vec::new(), Vec::new()], ..Batch::default() };
        let key = |skill: SkillIdx| self.corpus.name_keys[skill.0 as usize];
        let mut whole = Vec::new();
        for query in queries {
            let TrainQuery { bag, gold, .. } = &self.split.train[*query];
            let Some(answer) = random.choose(gold) else { continue };
            batch.queries.push(self.thinned(bag, usize::MAX, random));
            whole.push(bag);
            batch.gold.push(gold.clone());
            batch.candidates.push((*answer, key(*answer)));
        }
        let mined = negatives.iter().flatten();
        batch.candidates.extend(mined.map(|skill| (*skill, key(*skill))));
        for (skill, _) in &batch.candidates {
            let (intro, body) =
                (&self.corpus.intros[skill.0 as usize], &self.corpus.bodies[skill.0 as usize]);
            batch.parts[0].push(self.thinned(intro, usize::MAX, random));
            batch.parts[1].push(self.thinned(body, self.options.max_body_terms, random));
        }
        if self.options.lexical_weight > 0.0 {
            batch.lexical = self.lexical(&whole, &batch.candidates);
        }
        batch
    }

    fn pair(&self, kind: PairKind, random: &mut Random) -> Option<Pair> {
        let corpus = self.corpus;
        let of_skill = |query: &Bag, candidate: &Bag, skill: SkillIdx| {
            let key = corpus.name_keys[skill.0 as usize];
            Some(Pair { query: query.clone(), candidate: candidate.clone(), skill, key })
        };
        match kind {
            PairKind::Query => None,
            PairKind::Description => {
                let skill = random.below(corpus.n_skills());
                let (intro, body) = (&corpus.intros[skill], &corpus.bodies[skill]);
                of_skill(intro, body, SkillIdx(u32::try_from(skill).ok()?))
            }
            PairKind::Heading => {
                let (skill, heading) = *random.choose(&self.headings)?;
                let name = corpus.segments(skill.0 as usize).start;
                let query = bag(corpus.segment(name).chain(corpus.segment(heading)).collect());
                let candidate = bag(corpus.segment(heading + 1).collect());
                Some(Pair { query, candidate, skill, key: self.key_of(heading) })
            }
            PairKind::Translation => {
                let Split { translations, namesakes, .. } = self.split;
                let pairs = if random.below(2) == 0 { translations } else { namesakes };
                let (zh, en) = *random.choose(pairs)?;
                let (from, to) = if random.below(2) == 0 { (zh, en) } else { (en, zh) };
                // Without the name, which both languages often share.
                let (from, to_text) = (from.0 as usize, to.0 as usize);
                match random.below(4) {
                    0 => of_skill(&corpus.descriptions[from], &corpus.bodies[to_text], to),
                    1 => of_skill(&corpus.bodies[from], &corpus.bodies[to_text], to),
                    _ => of_skill(&corpus.descriptions[from], &corpus.descriptions[to_text], to),
                }
            }
            PairKind::TranslatedSection => {
                let (zh, en) = *random.choose(&self.translated_sections)?;
                let (from, to) = if random.below(2) == 0 { (zh, en) } else { (en, zh) };
                let segment = |segment| bag(corpus.segment(segment).collect());
                let (query, candidate) = (segment(from), segment(to));
                Some(Pair { query, candidate, skill: SkillIdx(0), key: self.key_of(to) })
            }
        }
    }

    /// Returns the same number for segments of the same terms.
    fn key_of(&self, segment: usize) -> u64 {
        let mix = |key: u64, term: u32| Random::new(key ^ u64::from(term)).next();
        self.corpus.segment(segment).fold(0, mix)
    }

    /// Leaves out terms at random, so that at most about `max_terms` stay.
    fn thinned(&self, bag: &Bag, max_terms: usize, random: &mut Random) -> Bag {
        let kept = (1.0 - self.options.dropout).min(max_terms as f32 / bag.len().max(1) as f32);
        bag.iter().filter(|_| random.share() < kept).copied().collect()
    }

    /// Returns the weighted lexical score shares of all candidates for all queries.
    fn lexical(&self, queries: &[&Bag], candidates: &[(SkillIdx, u64)]) -> Vec<f32> {
        let m = candidates.len();
        let mut scores = vec![0.0; queries.len() * m];
        let mut users: rustc_hash::FxHashMap<u32, Vec<(usize, f32)>> =
            rustc_hash::FxHashMap::default();
        for (query, bag) in queries.iter().enumerate() {
            let scale = self.options.lexical_weight / self.corpus.attainable(bag);
            for (term, weight) in *bag {
                users.entry(*term).or_default().push((query, weight * scale));
            }
        }
        for (candidate, (skill, _)) in candidates.iter().enumerate() {
            for field in &self.corpus.lexical {
                for (term, score) in &field[skill.0 as usize] {
                    for (query, weight) in users.get(term).into_iter().flatten() {
                        scores[query * m + candidate] += weight * score;
                    }
                }
            }
        }
        scores
    }
}

/// Two texts that belong together.
struct Pair {
    query: Bag,
    candidate: Bag,
    skill: SkillIdx,
    /// What the candidate has in common with its copies.
    key: u64,
}
