//! What takes the rows of a sort.

use super::mass::Mass;
use super::order::in_order;
use super::record::{Record, Words};
use super::score::Word;

/// A consumer of the rows in ascending order of their scores, bucket by bucket.
pub(super) trait Sink<K: Word, M: Mass>: Send {
    /// Memory that is kept from bucket to bucket.
    type Scratch: Default + Send;

    /// Rows of one score, as the weights of both classes; `code` is that of the score.
    fn tie(&mut self, code: K, positive: M, negative: M);

    /// Negative and positive rows whose words are within `words`, in any order and in several parts;
    /// some may lack weight. False if the sink needs them in one piece.
    fn parts<R: Record<K, Mass = M>>(
        &mut self,
        _rows: [&[&[R]]; 2],
        _words: Words,
        _own: &mut Self::Scratch,
    ) -> bool {
        false
    }

    /// Rows whose words are within `words`, in any order; `scratch` has the same length. Their codes
    /// lack the leading bit, which is `top`. By default, they are passed on score by score.
    fn rows<R: Record<K, Mass = M>>(
        &mut self,
        rows: &mut [R],
        scratch: &mut [R],
        (words, top): (Words, K),
        _own: &mut Self::Scratch,
    ) {
        in_order(rows, scratch, (words, top), |code, positive, negative| {
            self.tie(code, positive, negative);
        });
    }
}

/// A sink that takes rows range by range.
pub(super) trait RangeSink<K: Word, M: Mass>: Sink<K, M> {
    /// Rows of a range, first `n_neg` negative ones, then the positive ones, in any order: few of
    /// both classes, or any number of one class.
    fn range<R: Record<K, Mass = M>>(&mut self, rows: &mut [R], n_neg: usize, top: K);
}
