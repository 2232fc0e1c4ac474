//! What is made of one number for each node.

/// How steeply a piece of a query is shared out among the nodes: one that is nearer by a tenth has
/// *e* squared times as much of it.
const SHARE_STEEPNESS: f32 = 20.0;

/// Returns the shares of the nodes in a piece of a query, from how near they are to it; they add up
/// to 1.
pub(super) fn shares(meanings: &[f32]) -> Vec<f32> {
    let best = meanings.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let parts: Vec<f32> =
        meanings.iter().map(|meaning| (SHARE_STEEPNESS * (meaning - best)).exp()).collect();
    let all: f32 = parts.iter().sum();
    parts.iter().map(|part| part / all).collect()
}

/// Returns the numbers over the largest one; zeros if that is 0.
pub(super) fn scaled(numbers: &[f32]) -> Vec<f32> {
    let largest = numbers.iter().copied().fold(0.0, f32::max);
    let scale = if largest > f32::EPSILON { 1.0 / largest } else { 0.0 };
    numbers.iter().map(|number| number * scale).collect()
}

/// Returns the place of each number, the largest first, from 1; equals in their order.
pub(super) fn places(numbers: &[f32]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*b].total_cmp(&numbers[*a]));
    let mut places = vec![0.0; numbers.len()];
    for (place, idx) in order.into_iter().enumerate() {
        places[idx] = place as f32 + 1.0;
    }
    places
}

/// Returns the numbers in standard deviations from their mean.
pub(super) fn standardised(numbers: &[f32]) -> Vec<f32> {
    let n = numbers.len().max(1) as f32;
    let mean = numbers.iter().sum::<f32>() / n;
    let deviation = (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / n).sqrt();
    let scale = if deviation > 1e-6 { 1.0 / deviation } else { 0.0 };
    numbers.iter().map(|number| (number - mean) * scale).collect()
}
