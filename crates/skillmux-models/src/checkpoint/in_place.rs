//! [`change_rows`]: rows of numbers, changed where they lie.
//!
//! candle's operations with an exponential in them, or with a sum over a row, take one number at a
//! time, some of them on one thread, and write to new memory. Here they take vectors of numbers, on
//! all threads. A row is changed by one thread, so that its numbers do not depend on how many there
//! are.

use candle_core::{CpuStorage, DType, InplaceOp1, Layout, Result as TensorResult, Tensor, bail};
use rayon::prelude::*;

/// Numbers that a thread takes at once, at least: fewer are changed sooner than they are handed
/// out.
const MIN_NUMBERS: usize = 4096;

/// Returns whether rows can be changed where they lie: on the CPU, and without a gradient.
pub(super) fn can_change(rows: &Tensor) -> bool {
    let is_plain = rows.device().is_cpu() && rows.dtype() == DType::F32 && rows.is_contiguous();
    is_plain && !rows.track_op()
}

/// Changes each row by the last dimension. The caller has just computed the rows, so that nothing
/// else shares their memory, and has asked [`can_change`].
pub(super) fn change_rows(
    rows: Tensor,
    change: impl Fn(&mut [f32]) + Sync,
) -> TensorResult<Tensor> {
    rows.inplace_op1(&Change(change))?;
    Ok(rows)
}

struct Change<F>(F);

impl<F: Fn(&mut [f32]) + Sync> InplaceOp1 for Change<F> {
    fn name(&self) -> &'static str {
        "change-rows"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> TensorResult<()> {
        let (CpuStorage::F32(numbers), Some((start, end))) = (storage, layout.contiguous_offsets())
        else {
            bail!("rows of single precision lie one after the other");
        };
        let width = layout.dims().last().copied().unwrap_or(1).max(1);
        numbers[start..end]
            .par_chunks_exact_mut(width)
            .with_min_len(MIN_NUMBERS.div_ceil(width))
            .for_each(&self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    #[test]
    fn each_row_of_a_part_is_changed_and_no_other() {
        let all = Tensor::from_vec((0..12_u8).map(f32::from).collect(), (4, 3), &Device::Cpu);
        let all = all.unwrap();
        let part = all.narrow(0, 1, 2).unwrap();
        assert!(can_change(&part) && !can_change(&all.t().unwrap()));
        change_rows(part, <[f32]>::reverse).unwrap();
        let expected = [[0.0, 1.0, 2.0], [5.0, 4.0, 3.0], [8.0, 7.0, 6.0], [9.0, 10.0, 11.0]];
        assert_eq!(all.to_vec2::<f32>().unwrap(), expected);
    }

    #[test]
    fn what_has_a_gradient_or_another_precision_stays() {
        let rows = Tensor::zeros((2, 3), DType::F32, &Device::Cpu).unwrap();
        assert!(!can_change(&Var::from_tensor(&rows).unwrap()));
        assert!(!can_change(&rows.to_dtype(DType::F64).unwrap()));
    }
}
