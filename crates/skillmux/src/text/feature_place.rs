//! [`feature_place`]: numbers for features that have names.

use std::iter;

/// Returns the place of a feature of a group among so many, by a hash (FNV-1a); never 0, which is
/// for what every example has. Features with the same hash share a place. `n_places` is at least 2
/// and at most 65,536.
pub(crate) fn feature_place(group: u8, name: impl IntoIterator<Item = u8>, n_places: usize) -> u16 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = iter::once(group).chain(name).fold(0x811c_9dc5, step);
    // The low bits of the hash see little of the first bytes.
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    let place = 1 + (hash >> 8) as usize % (n_places - 1);
    u16::try_from(place).unwrap_or(0)
}
