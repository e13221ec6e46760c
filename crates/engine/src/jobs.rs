//! Work in numbered pieces, done on several threads at once: each piece knows its number alone, so that the results do not
//! depend on how many threads there are, or on which of them is first.
//!
//! Deliberately absent: what the work is, seeds, and progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Results that may wait to be taken.
const WAITING: usize = 64;

/// How many threads there are to be had.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Does pieces 0 to n - 1 on so many threads, begun in order, and hands over each as it is done: `take` runs on this thread.
/// No further piece is begun once `stop` holds. A panic of a piece goes on here.
pub fn each<T: Send>(
    n: u64,
    threads: usize,
    stop: impl Fn() -> bool + Sync,
    once: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(u64, T),
) {
    let next = AtomicU64::new(0);
    let (sender, done) = sync_channel(WAITING);
    let work = |sender: std::sync::mpsc::SyncSender<(u64, T)>| {
        while !stop() {
            let i = next.fetch_add(1, Ordering::Relaxed);
            // The receiver of the results is gone only after a panic of its own.
            if i >= n || sender.send((i, once(i))).is_err() {
                return;
            }
        }
    };
    let threads = (threads.max(1) as u64).min(n);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (sender, work) = (sender.clone(), &work);
                scope.spawn(move || work(sender))
            })
            .collect();
        drop(sender);
        done.iter().for_each(|(i, result)| take(i, result));
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// All pieces, in order.
pub fn all<T: Send>(n: u64, threads: usize, once: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let mut all = Vec::new();
    each(n, threads, || false, once, |i, result| all.push((i, result)));
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_piece_is_done_once_whatever_the_threads() {
        let squares: Vec<u64> = (0..200).map(|i| i * i).collect();
        for threads in [0, 1, 3, 500] {
            assert_eq!(all(200, threads, |i| i * i), squares, "{threads} threads");
        }
        assert!(all(0, 4, |i| i).is_empty());
    }

    #[test]
    fn nothing_is_begun_after_a_stop() {
        let (stopped, mut seen) = (AtomicBool::new(false), Vec::new());
        each(
            1_000_000,
            2,
            || stopped.load(Ordering::SeqCst),
            |i| i,
            |i, _| {
                seen.push(i);
                stopped.store(i >= 10, Ordering::SeqCst);
            },
        );
        // What was under way or waited to be taken when it stopped is still handed over.
        assert!(seen.contains(&10) && seen.len() < 1_000, "{} pieces", seen.len());
    }

    #[test]
    #[should_panic(expected = "piece 7")]
    fn a_panic_is_told() {
        all(20, 2, |i| assert!(i != 7, "piece 7"));
    }
}
