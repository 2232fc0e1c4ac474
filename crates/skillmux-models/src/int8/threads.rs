//! [`on_all_threads`]: one text a thread.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use rayon::ThreadPoolBuilder;

use super::layer::Workspace;

/// Returns what a function makes of each text, in their order. Each call has one thread, as sharing
/// out each product of matrices would cost more than it gains; a text alone has all of them. A
/// thread has one workspace for all its texts.
pub(crate) fn on_all_threads<T: Sync, R: Send + Clone>(
    texts: &[T],
    make: impl Fn(&T, &mut Workspace) -> R + Sync,
) -> Vec<R> {
    let n_threads = usize::min(rayon::current_num_threads(), texts.len());
    if n_threads < 2 {
        // On a thread of rayon, which shares out products: each product of another thread would
        // have to wait until one of them takes it.
        return rayon::scope(|_| {
            let mut workspace = Workspace::new();
            texts.iter().map(|text| make(text, &mut workspace)).collect()
        });
    }
    let next = AtomicUsize::new(0);
    let make_some = || -> Vec<(usize, R)> {
        let (mut made, mut workspace) = (Vec::new(), Workspace::new());
        while let Some((at, text)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            texts.get(at).map(|text| (at, text))
        } {
            made.push((at, make(text, &mut workspace)));
        }
        made
    };
    let alone = || match ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(make_some),
        Err(_) => make_some(),
    };
    let mut made = at_once((0..n_threads).map(|_| alone)).concat();
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, one)| one).collect()
}

/// Returns what pieces of work make, in their order: each on a thread of its own, or on this one if
/// the system has no more threads.
///
/// The threads are not those of rayon. While one of these waits, it may begin another piece of work
/// that needs what it is just making.
pub(crate) fn at_once<R: Send>(
    work: impl Iterator<Item = impl FnOnce() -> R + Send + Copy>,
) -> Vec<R> {
    thread::scope(|scope| {
        let begun: Vec<_> = work
            .map(|piece| thread::Builder::new().spawn_scoped(scope, piece).map_err(|_| piece))
            .collect();
        let made = begun.into_iter().map(|begun| match begun {
            // A panic goes on here.
            Ok(thread) => thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e)),
            Err(piece) => piece(),
        });
        made.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_work_are_made_in_their_order() {
        let squares = at_once((0..40_u32).map(|n| move || n * n));
        assert!(squares.iter().zip(0..).all(|(square, n)| *square == n * n) && squares.len() == 40);
    }
}
