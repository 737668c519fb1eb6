//! Parallel maps on the current rayon pool, shared by all callers.
//!
//! Each use of a parallel iterator instantiates rayon's splitting, stealing and waiting again, for
//! each generic type around it: that was a third of the module's size. Here the work is called
//! through a pointer, whose cost is negligible for pieces of some thousand rows. If a piece is a
//! row or a pair, rayon's own iterators are the better choice.
//!
//! Where there are no threads, as in WebAssembly, rayon itself runs everything on the calling one.

use std::sync::{Mutex, PoisonError};

pub(crate) use rayon::{current_num_threads, join, prelude};

use self::prelude::*;

/// Runs `work` for each number below `n`, each as a task of its own.
fn run(n: usize, work: &(dyn Fn(usize) + Sync)) {
    if n <= 1 {
        (0..n).for_each(work);
    } else {
        (0..n).into_par_iter().with_max_len(1).for_each(work);
    }
}

/// Runs `work` in a pool of its own with `n_threads` threads.
///
/// # Errors
///
/// [`crate::RankError::NoThread`] if so many threads cannot be started.
pub(crate) fn in_own_pool<T: Send>(
    n_threads: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, crate::RankError> {
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() {
        Ok(pool) => Ok(pool.install(work)),
        Err(err) => Err(crate::RankError::NoThread { message: err.to_string() }),
    }
}

/// A piece of work, before and after it is done.
enum WorkPiece<I, T> {
    Todo(I),
    /// Taken by a thread; remains only after a panic, which ends everything.
    Taken,
    Done(T),
}

/// Maps each item; results are in the order of the items.
pub(crate) fn map<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    map_with(items, 1, || (), |(), item| work(item))
}

/// Like [`map`], for work that may fail: the results, or the first error in the order of the items.
pub(crate) fn try_map<I: Send, T: Send, E: Send>(
    items: Vec<I>,
    work: impl Fn(I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    map(items, work).into_iter().collect()
}

/// Number of values computed per task, if each is cheap.
const CHUNK: usize = 8192;

/// The values for the numbers below `n`.
pub(crate) fn values<T: Clone + Default + Send>(
    n: usize,
    value: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut values = vec![T::default(); n];
    map(values.chunks_mut(CHUNK).enumerate().collect(), |(chunk, values): (usize, &mut [T])| {
        (chunk * CHUNK..).zip(values).for_each(|(number, place)| *place = value(number));
    });
    values
}

/// Maps each item, in blocks of at least `least` items that share a scratch buffer. With at most
/// `least` items, the calling thread does all the work.
pub(crate) fn map_with<I: Send, T: Send, S>(
    items: Vec<I>,
    least: usize,
    new_scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> T + Sync,
) -> Vec<T> {
    let block = if items.len() <= least {
        items.len()
    } else {
        // Several blocks per thread balance the load.
        items.len().div_ceil(16 * current_num_threads()).max(least)
    };
    let mut pieces: Vec<WorkPiece<I, T>> = items.into_iter().map(WorkPiece::Todo).collect();
    let blocks: Vec<Mutex<&mut [WorkPiece<I, T>]>> =
        pieces.chunks_mut(block.max(1)).map(Mutex::new).collect();
    run(blocks.len(), &|number| {
        let mut scratch = new_scratch();
        // No other thread takes this block, so the lock is never contended.
        let mut block = blocks[number].lock().unwrap_or_else(PoisonError::into_inner);
        for piece in block.iter_mut() {
            if let WorkPiece::Todo(item) = std::mem::replace(piece, WorkPiece::Taken) {
                *piece = WorkPiece::Done(work(&mut scratch, item));
            }
        }
    });
    drop(blocks);
    let done = pieces.into_iter().filter_map(|piece| match piece {
        WorkPiece::Done(result) => Some(result),
        WorkPiece::Todo(_) | WorkPiece::Taken => None,
    });
    done.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for n in [0, 1, 2, 7, 1000] {
            for least in [1, 8, 1000] {
                for n_threads in [1, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
                    let found = pool.build().unwrap().install(|| {
                        map_with(
                            (0..n).collect(),
                            least,
                            || 0,
                            |seen, i: usize| {
                                *seen += 1;
                                (i * i, *seen)
                            },
                        )
                    });
                    let squares: Vec<usize> = found.iter().map(|result| result.0).collect();
                    assert_eq!(squares, (0..n).map(|i| i * i).collect::<Vec<_>>());
                    // A new scratch buffer starts after at least `least` items.
                    let begun = found.iter().enumerate().skip(1).filter(|(_, item)| item.1 == 1);
                    assert!(begun.map(|(place, _)| place).all(|place| place >= least));
                }
            }
        }
    }

    #[test]
    fn values_are_in_the_order_of_their_numbers() {
        assert_eq!(
            values(3 * CHUNK + 1, |i| 2 * i),
            (0..=3 * CHUNK).map(|i| 2 * i).collect::<Vec<_>>()
        );
        assert!(values(0, |_| 1).is_empty());
    }

    #[test]
    fn items_may_be_chunks_of_a_slice() {
        let mut values = vec![1; 5000];
        let sums = map(values.chunks_mut(64).collect(), |chunk: &mut [i32]| {
            chunk.fill(2);
            chunk.iter().sum::<i32>()
        });
        assert_eq!(sums.iter().sum::<i32>(), 10_000);
        assert!(values.iter().all(|value| *value == 2));
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn a_panic_reaches_the_caller() {
        map((0..10).collect(), |i| assert!(i < 9, "as it should"));
    }
}
