//! Statistics of values by task: intervals, and tests of two systems.
//!
//! ```
//! use skillmux_eval::stats::{BootstrapConfig, bootstrap_mean, compare_paired};
//!
//! let hits_a = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
//! let hits_b = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
//! let config = BootstrapConfig::default();
//!
//! let interval = bootstrap_mean(&hits_a, &config);
//! assert!(interval.low < 0.4 && 0.4 < interval.high);
//!
//! let test = compare_paired(&hits_a, &hits_b, &config);
//! assert_eq!((test.n_wins, test.n_losses, test.n_ties), (3, 0, 7));
//! assert!(test.p_wilcoxon > 0.05, "three tasks are too few");
//! ```

mod bootstrap;
mod paired;
mod wilcoxon;
mod wilson;

pub(crate) use bootstrap::bootstrap_means;
pub use bootstrap::{BootstrapConfig, Interval, bootstrap_mean};
pub use paired::{PairedTest, compare_paired};
pub use wilcoxon::wilcoxon_signed_rank;
pub use wilson::wilson;
