//! [`newton`]: to the minimum of a convex function of a few numbers.

/// Slopes and curvatures of a function at a point.
pub(super) struct Derivatives<const N: usize> {
    /// How fast the function *falls* along each number.
    pub(super) descent: [f64; N],
    /// Second derivatives; positive definite.
    pub(super) curvature: [[f64; N]; N],
}

/// Returns where some steps of Newton's method from 0 lead.
pub(super) fn newton<const N: usize>(
    n_steps: usize,
    at: impl Fn(&[f64; N]) -> Derivatives<N>,
) -> [f64; N] {
    let mut point = [0.0; N];
    for _ in 0..n_steps {
        let Derivatives { descent, curvature } = at(&point);
        for (number, change) in point.iter_mut().zip(solve(curvature, descent)) {
            *number += change;
        }
    }
    point
}

/// Solves a system with a positive definite matrix by elimination.
fn solve<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> [f64; N] {
    for pivot in 0..N {
        let pivot_row = matrix[pivot];
        for row in pivot + 1..N {
            let factor = matrix[row][pivot] / pivot_row[pivot];
            for (value, above) in matrix[row].iter_mut().zip(pivot_row) {
                *value -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut solution = [0.0; N];
    for row in (0..N).rev() {
        let known: f64 = (row + 1..N).map(|column| matrix[row][column] * solution[column]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottom_of_a_bowl_takes_one_step() {
        // (x - 1)^2 + (x - 1)(y + 2) + 2 (y + 2)^2
        let bottom = newton(1, |[x, y]| {
            let (x, y) = (x - 1.0, y + 2.0);
            Derivatives {
                descent: [-2.0 * x - y, -x - 4.0 * y],
                curvature: [[2.0, 1.0], [1.0, 4.0]],
            }
        });
        assert!((bottom[0] - 1.0).abs() < 1e-12 && (bottom[1] + 2.0).abs() < 1e-12, "{bottom:?}");
    }
}
