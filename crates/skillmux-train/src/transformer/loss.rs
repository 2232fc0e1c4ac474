//! [`info_nce`] of an encoder and [`listwise`] of a cross-encoder, with gradients.

use candle_core::{Result as TensorResult, Tensor};
use candle_nn::loss::cross_entropy;

/// Returns the mean of `-ln softmax(q · c / temperature)` of the answers (`SkillRouter` §4.2, Eq.
/// 1).
///
/// Of `[n, dim]` queries and `[m, dim]` candidates the first `n` are the answers, in their order.
/// `hidden` is added to the logits, `[n, m]`: minus infinity for a candidate that is no negative.
pub(super) fn info_nce(
    queries: &Tensor,
    candidates: &Tensor,
    hidden: &Tensor,
    temperature: f64,
) -> TensorResult<Tensor> {
    let logits = ((queries.matmul(&candidates.t()?)? / temperature)? + hidden)?;
    let n = u32::try_from(queries.dim(0)?)?;
    cross_entropy(&logits, &Tensor::arange(0, n, queries.device())?)
}

/// Returns the mean of `-ln softmax` of the first logit of each list (`SkillRouter` §4.3). The
/// lists lie end to end in `logits`.
pub(super) fn listwise(logits: &Tensor, lengths: &[usize]) -> TensorResult<Tensor> {
    let first = Tensor::zeros(1, candle_core::DType::U32, logits.device())?;
    let mut start = 0;
    let mut losses = Vec::with_capacity(lengths.len());
    for length in lengths {
        losses.push(cross_entropy(&logits.narrow(0, start, *length)?.unsqueeze(0)?, &first)?);
        start += length;
    }
    Tensor::stack(&losses, 0)?.mean_all()
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    fn tensor(rows: &[[f32; 2]]) -> Tensor {
        Tensor::from_slice(rows.as_flattened(), (rows.len(), 2), &Device::Cpu).unwrap()
    }

    fn number(loss: &Tensor) -> f32 {
        loss.to_scalar().unwrap()
    }

    #[test]
    fn a_hidden_candidate_does_not_count_and_has_no_gradient() {
        let queries = tensor(&[[1.0, 0.0]]);
        let candidates = Var::from_tensor(&tensor(&[[1.0, 0.0], [1.0, 0.0]])).unwrap();
        let loss =
            |hidden: f32| info_nce(&queries, &candidates, &tensor(&[[0.0, hidden]]), 0.5).unwrap();
        assert!((number(&loss(0.0)) - 2.0_f32.ln()).abs() < 1e-6);
        let alone = loss(f32::NEG_INFINITY);
        assert!(number(&alone).abs() < 1e-6);
        let gradients = alone.backward().unwrap();
        let gradient = gradients.get(&candidates).unwrap().to_vec2::<f32>().unwrap();
        assert!(gradient.concat().iter().all(|x| x.abs() < 1e-6), "{gradient:?}");
    }

    #[test]
    fn lists_count_the_same_whatever_their_lengths() {
        let logits = Tensor::new(&[0.0_f32, 0.0, 0.0, 3.0], &Device::Cpu).unwrap();
        let expected = f32::midpoint(3.0_f32.ln(), 0.0);
        assert!((number(&listwise(&logits, &[3, 1]).unwrap()) - expected).abs() < 1e-6);
    }
}
