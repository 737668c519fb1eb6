//! The subset of rayon that this crate uses, on the calling thread: for programs without threads.
//!
//! Names and meanings are those of rayon, so that the code above is written once.

use std::iter;

use crate::RankError;

/// Number of threads: the calling one.
pub(crate) fn current_num_threads() -> usize {
    1
}

/// Returns the result of the work.
#[expect(clippy::unnecessary_wraps, reason = "a pool of threads may fail")]
pub(crate) fn in_own_pool<T>(_: usize, work: impl FnOnce() -> T) -> Result<T, RankError> {
    Ok(work())
}

/// Both results, the first computed first.
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    let first = a();
    (first, b())
}

/// Contents of `rayon::prelude`.
pub(crate) mod prelude {
    pub(crate) use super::{
        IndexedParallelIterator, IntoParallelIterator, ParallelIterator, ParallelSlice,
        ParallelSliceMut,
    };
}

/// An iterator with the methods of rayon.
pub(crate) struct InOrder<I>(I);

pub(crate) trait IntoParallelIterator: IntoIterator + Sized {
    fn into_par_iter(self) -> InOrder<Self::IntoIter> {
        InOrder(self.into_iter())
    }
}

impl<I: IntoIterator> IntoParallelIterator for I {}

pub(crate) trait ParallelSlice<T> {
    fn par_iter(&self) -> InOrder<std::slice::Iter<'_, T>>;
    fn par_chunks(&self, size: usize) -> InOrder<std::slice::Chunks<'_, T>>;
}

impl<T> ParallelSlice<T> for [T] {
    fn par_iter(&self) -> InOrder<std::slice::Iter<'_, T>> {
        InOrder(self.iter())
    }

    fn par_chunks(&self, size: usize) -> InOrder<std::slice::Chunks<'_, T>> {
        InOrder(self.chunks(size))
    }
}

pub(crate) trait ParallelSliceMut<T> {
    fn par_iter_mut(&mut self) -> InOrder<std::slice::IterMut<'_, T>>;
    fn par_chunks_mut(&mut self, size: usize) -> InOrder<std::slice::ChunksMut<'_, T>>;
    fn par_sort_unstable(&mut self)
    where
        T: Ord;
    fn par_sort_unstable_by(&mut self, compare: impl Fn(&T, &T) -> std::cmp::Ordering);
    fn par_sort_unstable_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K);
}

impl<T> ParallelSliceMut<T> for [T] {
    fn par_iter_mut(&mut self) -> InOrder<std::slice::IterMut<'_, T>> {
        InOrder(self.iter_mut())
    }

    fn par_chunks_mut(&mut self, size: usize) -> InOrder<std::slice::ChunksMut<'_, T>> {
        InOrder(self.chunks_mut(size))
    }

    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        self.sort_unstable();
    }

    fn par_sort_unstable_by(&mut self, compare: impl Fn(&T, &T) -> std::cmp::Ordering) {
        self.sort_unstable_by(compare);
    }

    fn par_sort_unstable_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.sort_unstable_by_key(key);
    }
}

/// Methods of rayon's iterators. A fold has one part, so that reducing parts returns it.
pub(crate) trait ParallelIterator: Sized {
    type Item;
    type InOrder: Iterator<Item = Self::Item>;

    fn in_order(self) -> Self::InOrder;

    fn map<T>(self, f: impl FnMut(Self::Item) -> T) -> InOrder<impl Iterator<Item = T>> {
        InOrder(self.in_order().map(f))
    }

    fn map_init<S, T>(
        self,
        init: impl FnOnce() -> S,
        mut f: impl FnMut(&mut S, Self::Item) -> T,
    ) -> InOrder<impl Iterator<Item = T>> {
        let mut scratch = init();
        InOrder(self.in_order().map(move |item| f(&mut scratch, item)))
    }

    fn filter(
        self,
        f: impl FnMut(&Self::Item) -> bool,
    ) -> InOrder<impl Iterator<Item = Self::Item>> {
        InOrder(self.in_order().filter(f))
    }

    fn flat_map_iter<I: IntoIterator>(
        self,
        f: impl FnMut(Self::Item) -> I,
    ) -> InOrder<impl Iterator<Item = I::Item>> {
        InOrder(self.in_order().flat_map(f))
    }

    fn fold<S>(
        self,
        identity: impl FnOnce() -> S,
        f: impl FnMut(S, Self::Item) -> S,
    ) -> InOrder<iter::Once<S>> {
        InOrder(iter::once(self.in_order().fold(identity(), f)))
    }

    fn try_fold<S, E>(
        self,
        identity: impl FnOnce() -> S,
        f: impl FnMut(S, Self::Item) -> Result<S, E>,
    ) -> InOrder<iter::Once<Result<S, E>>> {
        InOrder(iter::once(self.in_order().try_fold(identity(), f)))
    }

    fn reduce(
        self,
        identity: impl FnOnce() -> Self::Item,
        f: impl FnMut(Self::Item, Self::Item) -> Self::Item,
    ) -> Self::Item {
        self.in_order().reduce(f).unwrap_or_else(identity)
    }

    fn reduce_with(
        self,
        f: impl FnMut(Self::Item, Self::Item) -> Self::Item,
    ) -> Option<Self::Item> {
        self.in_order().reduce(f)
    }

    fn try_reduce<T, E>(
        self,
        identity: impl FnOnce() -> T,
        mut f: impl FnMut(T, T) -> Result<T, E>,
    ) -> Result<T, E>
    where
        Self: ParallelIterator<Item = Result<T, E>>,
    {
        self.in_order().try_fold(identity(), |sum, item| f(sum, item?))
    }

    fn for_each(self, f: impl FnMut(Self::Item)) {
        self.in_order().for_each(f);
    }

    fn for_each_init<S>(self, init: impl FnOnce() -> S, mut f: impl FnMut(&mut S, Self::Item)) {
        let mut scratch = init();
        self.in_order().for_each(|item| f(&mut scratch, item));
    }

    fn try_for_each<E>(self, f: impl FnMut(Self::Item) -> Result<(), E>) -> Result<(), E> {
        self.in_order().try_for_each(f)
    }

    fn try_for_each_init<S, E>(
        self,
        init: impl FnOnce() -> S,
        mut f: impl FnMut(&mut S, Self::Item) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut scratch = init();
        self.in_order().try_for_each(|item| f(&mut scratch, item))
    }

    fn collect<C: FromIterator<Self::Item>>(self) -> C {
        self.in_order().collect()
    }
}

impl<I: Iterator> ParallelIterator for InOrder<I> {
    type Item = I::Item;
    type InOrder = I;

    fn in_order(self) -> I {
        self.0
    }
}

/// Methods of rayon's iterators of known length.
pub(crate) trait IndexedParallelIterator: ParallelIterator {
    fn enumerate(self) -> InOrder<impl Iterator<Item = (usize, Self::Item)>> {
        InOrder(self.in_order().enumerate())
    }

    fn zip<Z: ParallelIterator>(
        self,
        other: Z,
    ) -> InOrder<impl Iterator<Item = (Self::Item, Z::Item)>> {
        InOrder(self.in_order().zip(other.in_order()))
    }

    fn with_min_len(self, _: usize) -> Self {
        self
    }

    fn with_max_len(self, _: usize) -> Self {
        self
    }
}

impl<I: ParallelIterator> IndexedParallelIterator for I {}

#[cfg(test)]
mod tests {
    use super::prelude::*;

    #[test]
    fn parts_are_reduced_as_by_rayon() {
        let rows = [3_u32, 1, 4, 1, 5, 9, 2, 6];
        let sums = rows.par_chunks(3).map(|chunk| chunk.iter().sum::<u32>());
        assert_eq!(sums.reduce(|| 0, |a, b| a + b), 31);
        assert_eq!(rows[..0].par_iter().map(|&row| row).reduce(|| 7, u32::max), 7);
        assert_eq!(rows[..0].par_iter().map(|&row| row).reduce_with(u32::max), None);

        let folded = rows.par_iter().fold(|| 0, |sum, &row| sum + row);
        assert_eq!(folded.collect::<Vec<_>>(), [31]);
        let until = |limit| {
            let add = |sum, &row| if row < limit { Ok(sum + row) } else { Err(row) };
            rows.par_iter().try_fold(|| 0, add).try_reduce(|| 0, |a, b| Ok(a + b))
        };
        assert_eq!((until(10), until(5)), (Ok(31), Err(5)));
    }

    #[test]
    fn a_scratch_is_made_once_for_all_items() {
        let mut seen = Vec::new();
        (0..4).into_par_iter().for_each_init(
            || 10,
            |scratch, item| {
                *scratch += item;
                seen.push(*scratch);
            },
        );
        assert_eq!(seen, [10, 11, 13, 16]);
        let mut values = [2, 3, 1];
        values.par_sort_unstable();
        let pairs = values.par_iter().zip((0..3).into_par_iter()).enumerate();
        assert_eq!(pairs.map(|(i, (a, b))| i * a + b).collect::<Vec<_>>(), [0, 3, 8]);
    }
}
