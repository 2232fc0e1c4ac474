//! [`BatchLimits`]: how many texts go into a request, and how many requests are under way.

use std::{
    panic,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use super::error::RemoteError;

/// How texts are shared out over requests. A limit of 0 counts as 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Most texts of a request.
    pub max_texts: usize,
    /// Most characters of a request, which may hold one text of more.
    pub max_chars: usize,
    /// Characters of a text that are sent: what follows is cut off.
    pub max_text_chars: usize,
    /// Most requests under way, over all threads that ask the model.
    pub max_parallel: usize,
}

impl Default for BatchLimits {
    /// 32 texts, the most that TEI takes by default, 64,000 characters, 8,000 characters of each
    /// text, and four requests.
    fn default() -> Self {
        Self { max_texts: 32, max_chars: 64_000, max_text_chars: 8_000, max_parallel: 4 }
    }
}

/// Asks about any number of texts.
pub(super) struct Batches {
    limits: BatchLimits,
    n_under_way: Mutex<usize>,
    one_ended: Condvar,
}

impl Batches {
    pub(super) fn new(limits: BatchLimits) -> Self {
        Self { limits, n_under_way: Mutex::new(0), one_ended: Condvar::new() }
    }

    /// Returns the part of a text that is sent.
    pub(super) fn clipped<'t>(&self, text: &'t str) -> &'t str {
        let end = text.char_indices().nth(self.limits.max_text_chars.max(1));
        end.map_or(text, |(end, _)| &text[..end])
    }

    /// Returns what `ask` answers for each text, in their order.
    ///
    /// `ask` gives as many answers as it gets texts. `n_chars_beside` is what is sent with each
    /// text. After a failure no more is asked.
    pub(super) fn ask<S: AsRef<str> + Sync, T: Send>(
        &self,
        texts: &[S],
        n_chars_beside: usize,
        ask: impl Fn(&[S]) -> Result<Vec<T>, RemoteError> + Sync,
    ) -> Result<Vec<T>, RemoteError> {
        let batches = self.batches(texts, n_chars_beside);
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            let mut answers = Vec::new();
            while !failed.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(batch) = batches.get(at) else { break };
                let answer = {
                    let _turn = self.turn();
                    ask(batch)
                };
                failed.fetch_or(answer.is_err(), Ordering::Relaxed);
                answers.push((at, answer));
            }
            answers
        };
        let n_workers = batches.len().min(self.limits.max_parallel.max(1));
        let mut answers = if n_workers <= 1 {
            work()
        } else {
            thread::scope(|scope| {
                let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
                let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
                // A panic goes on here.
                joined.flat_map(|done| done.unwrap_or_else(|e| panic::resume_unwind(e))).collect()
            })
        };
        answers.sort_unstable_by_key(|(at, _)| *at);
        let mut all = Vec::with_capacity(texts.len());
        for (_, answer) in answers {
            all.extend(answer?);
        }
        Ok(all)
    }

    /// Cuts texts into as few requests as the limits allow, in their order.
    fn batches<'t, S: AsRef<str>>(&self, texts: &'t [S], n_chars_beside: usize) -> Vec<&'t [S]> {
        let BatchLimits { max_texts, max_chars, .. } = self.limits;
        let mut batches = Vec::new();
        let (mut start, mut n_chars) = (0, 0);
        for (at, text) in texts.iter().enumerate() {
            let n_more = text.as_ref().chars().count() + n_chars_beside;
            let is_full = at - start >= max_texts.max(1) || n_chars + n_more > max_chars;
            if is_full && at > start {
                batches.push(&texts[start..at]);
                (start, n_chars) = (at, 0);
            }
            n_chars += n_more;
        }
        if start < texts.len() {
            batches.push(&texts[start..]);
        }
        batches
    }

    /// Waits until another request may be sent.
    fn turn(&self) -> Turn<'_> {
        let n_under_way = self.n_under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let is_busy = |n: &mut usize| *n >= self.limits.max_parallel.max(1);
        let n_under_way = self.one_ended.wait_while(n_under_way, is_busy);
        *n_under_way.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn(self)
    }
}

/// The right to have a request under way.
struct Turn<'b>(&'b Batches);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.n_under_way.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.one_ended.notify_one();
    }
}

/// Puts answers that name their texts into the order of these: each of `n` texts once.
pub(super) fn by_index<T>(
    n: usize,
    answers: impl IntoIterator<Item = (usize, T)>,
) -> Result<Vec<T>, String> {
    let mut in_order: Vec<Option<T>> = (0..n).map(|_| None).collect();
    for (index, answer) in answers {
        match in_order.get_mut(index) {
            Some(place @ None) => *place = Some(answer),
            Some(Some(_)) => return Err(format!("two answers for index {index}")),
            None => return Err(format!("an answer for index {index} of {n} texts")),
        }
    }
    let n_answers = in_order.iter().flatten().count();
    let all: Option<Vec<T>> = in_order.into_iter().collect();
    all.ok_or_else(|| format!("{n_answers} answers for {n} texts"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limits() -> BatchLimits {
        BatchLimits { max_texts: 3, max_chars: 10, max_text_chars: 4, max_parallel: 2 }
    }

    #[test]
    fn requests_hold_no_more_texts_or_characters_than_they_may() {
        let batches = Batches::new(limits());
        let of = |texts: &[&str], n_chars_beside| -> Vec<usize> {
            batches.batches(texts, n_chars_beside).into_iter().map(<[_]>::len).collect()
        };
        assert_eq!(of(&[], 0), [0; 0]);
        assert_eq!(of(&["a"; 7], 0), [3, 3, 1]);
        assert_eq!(of(&["四个汉字", "1234", "12", "1"], 0), [3, 1]);
        assert_eq!(of(&["1234", "1234", "123"], 0), [2, 1]);
        assert_eq!(of(&["a"; 3], 4), [2, 1]);
        assert_eq!(of(&["longer than a request may be", "a"], 0), [1, 1]);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let batches = Batches::new(limits());
        assert_eq!(batches.clipped("一二三四五"), "一二三四");
        assert_eq!(batches.clipped("abcd"), "abcd");
    }

    #[test]
    fn answers_keep_the_order_and_few_requests_are_under_way() {
        let batches = Batches::new(limits());
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let ask = |texts: &[String]| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(texts.to_vec())
        };
        let texts: Vec<String> = (0..40).map(|n| n.to_string()).collect();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert_eq!(batches.ask(&texts, 0, ask).unwrap(), texts));
            }
        });
        assert_eq!(most.into_inner(), 2);
    }

    #[test]
    fn nothing_more_is_asked_after_a_failure() {
        let batches = Batches::new(BatchLimits { max_parallel: 1, ..limits() });
        let n_asked = AtomicUsize::new(0);
        let ask = |_: &[&str]| -> Result<Vec<()>, RemoteError> {
            n_asked.fetch_add(1, Ordering::SeqCst);
            Err(RemoteError::ApiKey)
        };
        assert!(batches.ask(&["a"; 30], 0, ask).is_err());
        assert_eq!(n_asked.into_inner(), 1);
    }

    #[test]
    fn every_text_has_one_answer() {
        assert_eq!(by_index(2, [(1, 'b'), (0, 'a')]).unwrap(), ['a', 'b']);
        assert!(by_index::<char>(0, []).unwrap().is_empty());
        for (answers, problem) in [
            (&[(0, 'a')][..], "1 answers for 2 texts"),
            (&[(0, 'a'), (0, 'b')], "two answers for index 0"),
            (&[(0, 'a'), (2, 'b')], "an answer for index 2 of 2 texts"),
        ] {
            assert_eq!(by_index(2, answers.iter().copied()).unwrap_err(), problem);
        }
    }
}
