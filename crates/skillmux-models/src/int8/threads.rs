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
    let mut made = thread::scope(|scope| {
        let alone = || match ThreadPoolBuilder::new().num_threads(1).build() {
            Ok(pool) => pool.install(make_some),
            Err(_) => make_some(),
        };
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(alone)).collect();
        // A panic goes on here.
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        let made = joined.map(|made| made.unwrap_or_else(|e| std::panic::resume_unwind(e)));
        made.collect::<Vec<_>>().concat()
    });
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, one)| one).collect()
}
