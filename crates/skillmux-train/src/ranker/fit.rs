//! [`fit`]: gradient descent on the loss of all lists at once.

use std::collections::BTreeMap;

use skillmux::{
    rerank::{FeatureWeight, FeatureWeights},
    retrieve::{Feature, FeatureGroup},
};

use super::{
    data::{FeatureRow, List, Lists, QueryKind},
    options::{NearDuplicates, RankerLoss, RankerOptions},
};
use crate::{
    optimizer::{Adam, Pace, cosine_decay},
    split::Fold,
};

/// Parts of the weight of a feature, as [`FeatureWeight::parts`] has them.
const N_PARTS: usize = FeatureWeight::N;

/// Steps between two looks at the validation part.
const N_STEPS_PER_CHECK: usize = 10;

/// A candidate much less likely than the first of its list counts as this much less, in log-odds:
/// its exponential must not become 0.
const MAX_LOG_ODDS: f64 = 30.0;

const N_FEATURES: usize = Feature::ALL.len();

/// The weights of all features, part by part.
type Weights = [[f64; N_FEATURES]; N_PARTS];

/// Parts that are fitted as one number, with the factor of each.
type Direction = [f64; N_PARTS];

/// Share of the loss that skills in another language have when the weights of
/// [`FeatureGroup::Crossing`] are fitted.
const TRANSLATION_SHARE: f64 = 0.05;

/// The same with a transformer: of the Chinese tasks for English skills, of the English ones for
/// Chinese skills, and of the short and the long tasks that are as Chinese as their skills, of all
/// sizes of library. Of the last there are few, and they would pay for the others.
const TWO_LANGUAGES_SHARE: f64 = 0.1;

/// Which weights are fitted, and to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// All but those of [`FeatureGroup::Crossing`], to queries and tasks.
    Ranking,
    /// Those alone, to queries, tasks and translations: what a translation teaches of other weights
    /// would be at the cost of queries in the language of the skill.
    Crossing,
    /// Those of [`FeatureGroup::Transformer`] alone, which are new beside weights that were fitted
    /// without it.
    Transformer,
    /// All of them for short queries. There are a hundred long tasks with skills that no encoder
    /// knows, too few to fit the weights of words anew.
    Short,
    /// Those of [`FeatureGroup::Transformer`] in libraries of more than 10,000 skills: chance finds
    /// texts near to anything there.
    CrowdTransformer,
    /// All but those of [`FeatureGroup::Crossing`] for short queries in such libraries.
    CrowdShort,
    /// Those of [`FeatureGroup::Crossing`] once more, to tasks in another language as well: no
    /// other query is told by them.
    TransformerCrossing,
}

impl Stage {
    fn fits(self, feature: Feature) -> bool {
        let group = feature.group();
        match self {
            Self::Ranking | Self::CrowdShort => group != FeatureGroup::Crossing,
            Self::Crossing | Self::TransformerCrossing => group == FeatureGroup::Crossing,
            Self::Transformer | Self::CrowdTransformer => group == FeatureGroup::Transformer,
            Self::Short => true,
        }
    }

    fn has(self, list: &List) -> bool {
        let is_wanted = match self {
            Self::Ranking => !list.is_translation(),
            Self::Crossing | Self::TransformerCrossing => true,
            Self::Transformer | Self::Short => !list.is_across,
            Self::CrowdTransformer | Self::CrowdShort => {
                !list.is_across && list.traits.crowd() > 0.0
            }
        };
        list.has_right() && is_wanted
    }

    fn directions(self) -> Vec<Direction> {
        let none = FeatureWeight::default();
        let base = FeatureWeight { base: 1.0, ..none };
        let length = FeatureWeight { length: 1.0, ..none };
        let spaceless = FeatureWeight { spaceless: 1.0, ..none };
        let uncovered = FeatureWeight { uncovered: 1.0, ..none };
        let library = FeatureWeight { library: 1.0, ..none };
        let crowd = FeatureWeight { crowd: 1.0, ..none };
        let directions = match self {
            Self::Ranking | Self::Crossing => vec![base, length, spaceless],
            Self::TransformerCrossing => vec![base, length, spaceless, library],
            Self::Transformer => vec![base, length, spaceless, uncovered, library],
            // Nothing of these is left for the longest queries.
            Self::Short => vec![
                FeatureWeight { length: -1.0, ..base },
                FeatureWeight { long_uncovered: -1.0, ..uncovered },
                FeatureWeight { long_library: -1.0, ..library },
            ],
            Self::CrowdTransformer => vec![crowd, FeatureWeight { long_crowd: 1.0, ..none }],
            Self::CrowdShort => vec![FeatureWeight { long_crowd: -1.0, ..crowd }],
        };
        directions.into_iter().map(|direction| direction.to_array().map(f64::from)).collect()
    }
}

/// Returns the weights without a transformer that have the least loss on the validation part, or on
/// what is fitted where there is none.
pub(super) fn fit(lists: &Lists, options: &RankerOptions) -> FeatureWeights {
    let lists = std::slice::from_ref(lists);
    let weights = fit_stage(lists, options, Stage::Ranking, &[[0.0; N_FEATURES]; N_PARTS]);
    let is_off = options.without.contains(&FeatureGroup::Crossing);
    let has_translations = lists[0].fold(Fold::Train).any(List::is_translation);
    let weights = if has_translations && !is_off {
        fit_stage(lists, options, Stage::Crossing, &weights)
    } else {
        weights
    };
    named(&weights)
}

/// Returns the weights with a transformer, fitted to the lists of each size of library, from those
/// without one.
pub(super) fn fit_with_transformer(
    sizes: &[Lists],
    options: &RankerOptions,
    start: &FeatureWeights,
) -> FeatureWeights {
    let mut weights = [[0.0; N_FEATURES]; N_PARTS];
    for (at, feature) in Feature::ALL.into_iter().enumerate() {
        let parts = start.get(feature.as_str()).to_array();
        for (of_part, part) in weights.iter_mut().zip(parts) {
            of_part[at] = f64::from(part);
        }
    }
    let stages = [
        Stage::Transformer,
        Stage::Short,
        Stage::CrowdTransformer,
        Stage::CrowdShort,
        Stage::TransformerCrossing,
    ];
    let fit = |weights: Weights, stage| fit_stage(sizes, options, stage, &weights);
    named(&stages.into_iter().fold(weights, fit))
}

fn named(weights: &Weights) -> FeatureWeights {
    let named = Feature::ALL.into_iter().enumerate().map(|(at, feature)| {
        let parts = std::array::from_fn(|part| rounded(weights[part][at]));
        (feature.as_str().to_owned(), FeatureWeight::from_array(parts))
    });
    FeatureWeights::new(named).expect("features have their own names, and fits are bounded")
}

/// Returns weights of which a stage has fitted its own.
fn fit_stage(sizes: &[Lists], options: &RankerOptions, stage: Stage, start: &Weights) -> Weights {
    let train = Examples::of(sizes, Fold::Train, stage, options);
    let validation = Examples::of(sizes, Fold::Validation, stage, options);
    let judge = if validation.0.is_empty() { &train } else { &validation };
    let scales = scales(&train, stage, options);
    let directions = stage.directions();
    let mut adam = Adam::new(directions.len() * N_FEATURES);
    let mut numbers = vec![[0.0; N_FEATURES]; directions.len()];
    let (mut bias, mut best) = (0.0, (f64::INFINITY, numbers.clone()));
    let in_units = |numbers: &[[f64; N_FEATURES]]| -> Weights {
        let mut weights = *start;
        for (direction, numbers) in directions.iter().zip(numbers) {
            for (factor, weights) in direction.iter().zip(&mut weights) {
                for ((weight, number), scale) in weights.iter_mut().zip(numbers).zip(&scales) {
                    *weight += factor * number * scale;
                }
            }
        }
        weights
    };
    for (step, number) in (1..=options.n_steps).zip(1..) {
        let found = train.gradient(&in_units(&numbers), &scales, bias, options.loss);
        let mut gradient = in_directions(&found.weights, &directions);
        for (gradient, numbers) in gradient.iter_mut().zip(&numbers) {
            for (gradient, number) in gradient.iter_mut().zip(numbers) {
                *gradient += f64::from(options.penalty) * number;
            }
        }
        let progress = step as f64 / options.n_steps as f64;
        let rate = f64::from(options.learning_rate) * cosine_decay(progress);
        let steps = gradient.as_flattened_mut();
        adam.turn(0, steps, Pace::of_step(number));
        for (number, step) in numbers.as_flattened_mut().iter_mut().zip(steps) {
            *number -= rate * *step;
        }
        bias -= rate * found.bias;
        if step % N_STEPS_PER_CHECK == 0 {
            let loss = judge.gradient(&in_units(&numbers), &scales, bias, options.loss).loss;
            if loss < best.0 {
                best = (loss, numbers.clone());
            }
        }
    }
    in_units(&best.1)
}

/// Returns the slopes by the numbers of each direction.
fn in_directions(slopes: &Weights, directions: &[Direction]) -> Vec<[f64; N_FEATURES]> {
    let of = |direction: &Direction| {
        std::array::from_fn(|at| {
            direction.iter().zip(slopes).map(|(factor, part)| factor * part[at]).sum()
        })
    };
    directions.iter().map(of).collect()
}

/// Returns a number with four decimals, which is all that the training data can say.
#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
fn rounded(weight: f64) -> f32 {
    ((weight * 1e4).round() / 1e4) as f32
}

/// The lists of a fold that teach something, with their shares of the loss.
struct Examples<'l>(Vec<Example<'l>>);

struct Example<'l> {
    list: &'l List,
    /// Grade of each candidate; `None` for one that does not count.
    grades: Vec<Option<f64>>,
    /// Share of the list in the loss.
    share: f64,
}

struct Gradient {
    loss: f64,
    weights: Weights,
    bias: f64,
}

/// Lists whose shares of the loss are equal, whatever their numbers: the short queries, the long
/// tasks and those in other words, of each size of library. Those in another language have shares
/// of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Short { size: usize },
    Long { size: usize },
    OtherWords { size: usize },
    Across { is_spaceless: bool },
    Spaceless { is_long: bool },
    Translation,
}

impl Group {
    fn of(list: &List, size: usize, stage: Stage) -> Self {
        match list.kind {
            QueryKind::Translation { .. } => Self::Translation,
            _ if stage == Stage::TransformerCrossing && list.is_across => {
                Self::Across { is_spaceless: list.is_spaceless() }
            }
            _ if stage == Stage::TransformerCrossing && list.is_spaceless() => {
                Self::Spaceless { is_long: list.is_long() }
            }
            _ if list.is_long() => Self::Long { size },
            QueryKind::OtherWords => Self::OtherWords { size },
            QueryKind::Own => Self::Short { size },
        }
    }

    /// Returns the share of the loss that the group has whatever others there are; `None` if it has
    /// an equal part of the rest.
    fn fixed_share(self) -> Option<f64> {
        match self {
            Self::Translation => Some(TRANSLATION_SHARE),
            Self::Across { .. } | Self::Spaceless { .. } => Some(TWO_LANGUAGES_SHARE),
            Self::Short { .. } | Self::Long { .. } | Self::OtherWords { .. } => None,
        }
    }
}

impl<'l> Examples<'l> {
    /// Groups have equal shares of the loss that those with a fixed share leave.
    fn of(sizes: &'l [Lists], fold: Fold, stage: Stage, options: &RankerOptions) -> Self {
        let lists: Vec<(Group, &List)> = (0..)
            .zip(sizes)
            .flat_map(|(size, lists)| lists.fold(fold).map(move |list| (size, list)))
            .filter(|(_, list)| stage.has(list))
            .map(|(size, list)| (Group::of(list, size, stage), list))
            .collect();
        let mut numbers: BTreeMap<Group, usize> = BTreeMap::new();
        for (group, _) in &lists {
            *numbers.entry(*group).or_default() += 1;
        }
        let fixed: f64 = numbers.keys().filter_map(|group| group.fixed_share()).sum();
        let n_equal = numbers.keys().filter(|group| group.fixed_share().is_none()).count();
        let share = |group: &Group| group.fixed_share().unwrap_or((1.0 - fixed) / n_equal as f64);
        let example = |(group, list): (Group, &'l List)| Example {
            list,
            grades: grades(list, options.near_duplicates),
            share: share(&group) / numbers[&group] as f64,
        };
        Self(lists.into_iter().map(example).collect())
    }

    /// Returns the loss with these weights of the features as they are, and its slopes by weights
    /// of the features as they are scaled.
    fn gradient(
        &self,
        weights: &Weights,
        scales: &[f64; N_FEATURES],
        bias: f64,
        loss: RankerLoss,
    ) -> Gradient {
        let mut sum = Gradient { loss: 0.0, weights: [[0.0; N_FEATURES]; N_PARTS], bias: 0.0 };
        for Example { list, grades, share } in &self.0 {
            let factors = list.traits.factors().map(f64::from);
            let of_query: [f64; N_FEATURES] = std::array::from_fn(|at| {
                factors.iter().zip(weights).map(|(factor, part)| factor * part[at]).sum()
            });
            let score = |row: &FeatureRow| -> f64 {
                row.iter().zip(&of_query).map(|(x, w)| f64::from(*x) * w).sum()
            };
            let scores: Vec<f64> = list.rows.iter().map(score).collect();
            let (of_list, slopes) = match loss {
                RankerLoss::Listwise => listwise(&scores, grades),
                RankerLoss::Pointwise => pointwise(&scores, grades, bias),
            };
            sum.loss += share * of_list;
            let mut slope_of = [0.0; N_FEATURES];
            for (row, slope) in list.rows.iter().zip(&slopes) {
                sum.bias += share * slope;
                for (sum, x) in slope_of.iter_mut().zip(row) {
                    *sum += slope * f64::from(*x);
                }
            }
            for (factor, weights) in factors.iter().zip(&mut sum.weights) {
                for at in 0..N_FEATURES {
                    weights[at] += share * factor * slope_of[at] * scales[at];
                }
            }
        }
        sum
    }
}

fn grades(list: &List, near_duplicates: NearDuplicates) -> Vec<Option<f64>> {
    let mut grades = vec![Some(0.0); list.rows.len()];
    for at in &list.near_duplicates {
        grades[*at] = match near_duplicates {
            NearDuplicates::Wrong => Some(0.0),
            NearDuplicates::LeftOut => None,
            NearDuplicates::Graded(grade) => Some(f64::from(grade)),
        };
    }
    for at in &list.right {
        grades[*at] = Some(1.0);
    }
    grades
}

/// Returns the loss of a list and its slope by each score: `-ln(e^s / (e^s + Σ e^s'))` over the
/// right candidates by grade, where the sum is over the wrong ones (`SkillRouter` Eq. 2 with
/// temperature 1, which the size of the weights makes up for).
fn listwise(scores: &[f64], grades: &[Option<f64>]) -> (f64, Vec<f64>) {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> =
        scores.iter().map(|score| f64::max(score - highest, -MAX_LOG_ODDS).exp()).collect();
    let is_wrong = |grade: &Option<f64>| matches!(grade, Some(grade) if *grade <= 0.0);
    let wrong: f64 =
        exponentials.iter().zip(grades).filter(|(_, g)| is_wrong(g)).map(|(e, _)| e).sum();
    let total: f64 = grades.iter().flatten().sum();
    let (mut loss, mut pull) = (0.0, 0.0);
    let mut slopes = vec![0.0; scores.len()];
    for (at, grade) in grades.iter().enumerate() {
        let Some(grade) = grade.filter(|grade| *grade > 0.0) else { continue };
        let share = exponentials[at] / (exponentials[at] + wrong);
        loss -= grade / total * share.ln();
        slopes[at] = grade / total * (share - 1.0);
        pull += grade / total / (exponentials[at] + wrong);
    }
    for (at, _) in grades.iter().enumerate().filter(|(_, grade)| is_wrong(grade)) {
        slopes[at] = pull * exponentials[at];
    }
    (loss, slopes)
}

/// Returns the mean binary cross-entropy of the candidates and its slope by each score
/// (`SkillRouter` Eq. 3).
fn pointwise(scores: &[f64], grades: &[Option<f64>], bias: f64) -> (f64, Vec<f64>) {
    let n = f64::max(grades.iter().flatten().count() as f64, 1.0);
    let mut loss = 0.0;
    let slope = |(score, grade): (&f64, &Option<f64>)| {
        let Some(grade) = grade else { return 0.0 };
        let log_odds = (score + bias).clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS);
        let estimate = 1.0 / (1.0 + (-log_odds).exp());
        loss -= (grade * estimate.ln() + (1.0 - grade) * (1.0 - estimate).ln()) / n;
        (estimate - grade) / n
    };
    let slopes = scores.iter().zip(grades).map(slope).collect();
    (loss, slopes)
}

/// Returns what makes features comparable: one by the standard deviation of each; 0 for those that
/// are off, of another stage, or always the same.
fn scales(examples: &Examples<'_>, stage: Stage, options: &RankerOptions) -> [f64; N_FEATURES] {
    let rows = || examples.0.iter().flat_map(|example| &example.list.rows);
    let n = f64::max(rows().count() as f64, 1.0);
    std::array::from_fn(|at| {
        let mean = rows().map(|row| f64::from(row[at])).sum::<f64>() / n;
        let variance = rows().map(|row| (f64::from(row[at]) - mean).powi(2)).sum::<f64>() / n;
        let feature = Feature::ALL[at];
        let is_off = !stage.fits(feature) || options.without.contains(&feature.group());
        if is_off || variance < 1e-9 { 0.0 } else { 1.0 / variance.sqrt() }
    })
}

#[cfg(test)]
mod tests {
    use skillmux::rerank::QueryTraits;

    use super::*;
    use crate::random::Random;

    type Loss<'a> = &'a dyn Fn(&[f64]) -> (f64, Vec<f64>);

    /// Draws lists whose right skill is the one with the most of one feature and the least of
    /// another, and a third that says nothing.
    fn lists(n: usize, seed: u64) -> Lists {
        let mut random = Random::new(seed);
        let mut list = |number: usize| {
            let mut draw = || {
                let mut row = [0.0; N_FEATURES];
                for feature in [Feature::Body, Feature::Coverage, Feature::Description] {
                    row[feature as usize] = random.share();
                }
                row
            };
            let rows: Vec<FeatureRow> = (0..20).map(|_| draw()).collect();
            let worth = |row: &FeatureRow| {
                row[Feature::Body as usize] - 0.5 * row[Feature::Coverage as usize]
            };
            let right = (0..20).max_by(|a, b| worth(&rows[*a]).total_cmp(&worth(&rows[*b])));
            List {
                query: number.to_string(),
                traits: QueryTraits { length: (number % 2) as f32, ..QueryTraits::default() },
                fold: if number.is_multiple_of(5) { Fold::Validation } else { Fold::Train },
                right: right.into_iter().collect(),
                near_duplicates: Vec::new(),
                right_ids: Vec::new(),
                kind: QueryKind::Own,
                is_across: false,
                is_read: false,
                rows,
            }
        };
        Lists::new((0..n).map(&mut list).collect())
    }

    #[test]
    fn both_losses_find_what_makes_a_skill_right() {
        for loss in [RankerLoss::Listwise, RankerLoss::Pointwise] {
            let weights = fit(&lists(400, 1), &RankerOptions { loss, ..RankerOptions::default() });
            let of = |feature: Feature| weights.get(feature.as_str()).base;
            let (body, coverage) = (of(Feature::Body), of(Feature::Coverage));
            assert!(body > 0.5, "{loss:?}: {body}");
            assert!(coverage < -0.1 * body, "{loss:?}: {coverage}");
            // Judging each candidate by itself, what all have in common stands in for the base
            // rate.
            if matches!(loss, RankerLoss::Listwise) {
                assert!(of(Feature::Description).abs() < 0.3 * body, "{loss:?}");
            }
        }
    }

    #[test]
    fn the_same_data_give_the_same_weights() {
        let options = RankerOptions::default();
        assert_eq!(fit(&lists(100, 2), &options), fit(&lists(100, 2), &options));
    }

    #[test]
    fn a_group_that_is_off_has_no_weight() {
        let group = Feature::Coverage.group();
        let options = RankerOptions { without: vec![group], ..RankerOptions::default() };
        let weights = fit(&lists(100, 3), &options);
        for feature in Feature::ALL {
            let is_off = weights.get(feature.as_str()) == FeatureWeight::default();
            assert!(is_off || feature.group() != group, "{feature:?}");
        }
        assert!(weights.get(Feature::Body.as_str()).base > 0.5);
    }

    /// Returns lists whose right skill is in another writing, and the nearest by the transformer.
    fn lists_across(n: usize) -> Lists {
        let list = |number: usize| {
            let row = |at: usize| {
                let mut row = [0.0; N_FEATURES];
                let is_right = at == number % 10;
                row[Feature::Crossing as usize] =
                    f32::from(u8::from(at.is_multiple_of(2) || is_right));
                row[Feature::CrossingTransformer as usize] = if is_right { 0.8 } else { 0.3 };
                row[Feature::Body as usize] = if is_right { 0.0 } else { 0.9 };
                row
            };
            List {
                query: format!("across {number}"),
                rows: (0..10).map(row).collect(),
                traits: QueryTraits::default(),
                fold: if number.is_multiple_of(5) { Fold::Validation } else { Fold::Train },
                right: vec![number % 10],
                near_duplicates: Vec::new(),
                right_ids: Vec::new(),
                kind: QueryKind::OtherWords,
                is_across: true,
                is_read: true,
            }
        };
        Lists::new((0..n).map(list).collect())
    }

    #[test]
    fn tasks_in_another_language_are_fitted_by_the_weights_of_that_alone() {
        let options = RankerOptions { n_steps: 60, ..RankerOptions::default() };
        let start = fit(&lists(50, 4), &options);
        let without = fit_with_transformer(&[lists(50, 4)], &options, &start);
        let mut both = lists(50, 4);
        both.extend(lists_across(40));
        let with = fit_with_transformer(&[both], &options, &start);
        for feature in Feature::ALL {
            let of = |weights: &FeatureWeights| weights.get(feature.as_str());
            assert!(
                of(&with) == of(&without) || feature.group() == FeatureGroup::Crossing,
                "{feature:?}"
            );
        }
        let near = with.get(Feature::CrossingTransformer.as_str()).base;
        assert!(
            near > 1.0 && without.get(Feature::CrossingTransformer.as_str()).base == 0.0,
            "{near}"
        );
    }

    #[test]
    fn slopes_are_those_of_the_losses() {
        let scores = [0.3, -1.0, 2.0, 0.7, 0.1];
        let grades = [Some(1.0), Some(0.0), Some(0.0), Some(0.5), None];
        let losses: [Loss<'_>; 2] =
            [&|scores| listwise(scores, &grades), &|scores| pointwise(scores, &grades, -0.2)];
        for loss in losses {
            let (_, slopes) = loss(&scores);
            for at in 0..scores.len() {
                let moved = |by: f64| {
                    let mut moved = scores;
                    moved[at] += by;
                    loss(&moved).0
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slopes[at] - expected).abs() < 1e-6, "{at}: {} {expected}", slopes[at]);
            }
        }
    }

    #[test]
    fn the_listwise_loss_is_that_of_the_equation() {
        // python: -math.log(math.exp(1) / (math.exp(1) + math.exp(0) + math.exp(-1)))
        let (loss, _) = listwise(&[1.0, 0.0, -1.0], &[Some(1.0), Some(0.0), Some(0.0)]);
        assert!((loss - 0.407_605_964_444_38).abs() < 1e-12);
    }
}
