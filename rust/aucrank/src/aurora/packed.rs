//! The terms of a score, packed eight to a byte.
//!
//! A score is a sum over terms, and so a sum over bytes of a function of the byte: with a table of
//! its 256 values, eight terms cost one lookup per row. The derivative with respect to eight
//! weights is one histogram over the values of the byte. Terms of one and of two features are
//! treated alike, and 200 terms take 25 bytes per row.

use std::sync::Arc;

/// Rows processed at a time: the output stays in the cache from column to column.
const BLOCK: usize = 1024;

/// Columns processed at a time.
const LANES: usize = 4;

/// Where each of some terms is on. A clone shares all columns until a term is added to it.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedTerms {
    columns: Vec<Arc<Vec<u8>>>,
    n_terms: usize,
}

impl PackedTerms {
    /// Adds a term, given as 1 where it is on and 0 elsewhere.
    pub fn push(&mut self, on: &[u8]) {
        let place = self.n_terms % 8;
        self.n_terms += 1;
        if place == 0 {
            self.columns.push(Arc::new(on.to_vec()));
            return;
        }
        let column = self.columns.last_mut().expect("a byte that is not full");
        for (byte, on) in Arc::make_mut(column).iter_mut().zip(on) {
            *byte |= on << place;
        }
    }

    /// Sums the weights of the terms that are on in each row.
    pub fn scores(&self, weights: &[f64], out: &mut [f64]) {
        debug_assert_eq!(weights.len(), self.n_terms);
        out.fill(0.0);
        let tables: Vec<[f64; 256]> = weights.chunks(8).map(table).collect();
        for (number, out) in out.chunks_mut(BLOCK).enumerate() {
            let start = number * BLOCK;
            for (columns, tables) in self.columns.chunks(LANES).zip(tables.chunks(LANES)) {
                let end = start + out.len();
                if let ([a, b, c, d], [ta, tb, tc, td]) = (columns, tables) {
                    let bytes = a[start..end].iter().zip(&b[start..end]);
                    let bytes = bytes.zip(c[start..end].iter().zip(&d[start..end]));
                    for (out, ((&a, &b), (&c, &d))) in out.iter_mut().zip(bytes) {
                        *out += (ta[usize::from(a)] + tb[usize::from(b)])
                            + (tc[usize::from(c)] + td[usize::from(d)]);
                    }
                } else {
                    for (column, table) in columns.iter().zip(tables) {
                        for (out, &byte) in out.iter_mut().zip(&column[start..end]) {
                            *out += table[usize::from(byte)];
                        }
                    }
                }
            }
        }
    }

    /// Sums the slopes of the rows for which each term is on, among those whose bit is set.
    pub fn gradient_where(&self, bits: &[u64], slopes: &[f64]) -> Vec<f64> {
        let mut rows = Vec::with_capacity(slopes.len());
        for (number, &word) in bits.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                rows.push(64 * number + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
        let mut sums = vec![[0.0; 256]; self.columns.len()];
        for (column, sums) in self.columns.iter().zip(&mut sums) {
            for &row in &rows {
                sums[usize::from(column[row])] += slopes[row];
            }
        }
        let mut gradient: Vec<f64> = sums.iter().flat_map(by_bit).collect();
        gradient.truncate(self.n_terms);
        gradient
    }

    /// Sums the slopes of the rows for which each term is on.
    pub fn gradient(&self, slopes: &[f64]) -> Vec<f64> {
        let mut gradient = Vec::with_capacity(8 * self.columns.len());
        for columns in self.columns.chunks(LANES) {
            let mut sums = [[0.0; 256]; LANES];
            if let ([a, b, c, d], [sa, sb, sc, sd]) = (columns, &mut sums) {
                let bytes = a.iter().zip(b.iter()).zip(c.iter().zip(d.iter()));
                for (&slope, ((&a, &b), (&c, &d))) in slopes.iter().zip(bytes) {
                    sa[usize::from(a)] += slope;
                    sb[usize::from(b)] += slope;
                    sc[usize::from(c)] += slope;
                    sd[usize::from(d)] += slope;
                }
            } else {
                for (column, sums) in columns.iter().zip(&mut sums) {
                    for (&slope, &byte) in slopes.iter().zip(column.iter()) {
                        sums[usize::from(byte)] += slope;
                    }
                }
            }
            gradient.extend(sums[..columns.len()].iter().flat_map(by_bit));
        }
        gradient.truncate(self.n_terms);
        gradient
    }
}

/// Sums over the values of a byte that have each bit.
fn by_bit(sums: &[f64; 256]) -> [f64; 8] {
    std::array::from_fn(|bit| {
        let on = sums.iter().enumerate().filter(|(byte, _)| byte >> bit & 1 == 1);
        on.map(|(_, sum)| sum).sum()
    })
}

/// Sum of up to eight weights for each subset of them.
fn table(weights: &[f64]) -> [f64; 256] {
    let mut table = [0.0; 256];
    for byte in 1..1_usize << weights.len() {
        table[byte] = table[byte & (byte - 1)] + weights[byte.trailing_zeros() as usize];
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    #[test]
    fn scores_and_gradients_are_sums_over_terms() {
        for n_terms in [1, 7, 8, 9, 33, 70] {
            let n = 2500;
            let on =
                |term: usize, row: usize| u8::from(mix((term * n + row) as u64).is_multiple_of(3));
            let mut terms = PackedTerms::default();
            for term in 0..n_terms {
                terms.push(&(0..n).map(|row| on(term, row)).collect::<Vec<u8>>());
            }
            // Integers, whose sums are exact in any order.
            let weights: Vec<f64> = (0..n_terms).map(|term| (term * term) as f64 - 50.0).collect();
            let slopes: Vec<f64> = (0..n).map(|row| (row % 101) as f64 - 40.0).collect();
            let mut scores = vec![f64::NAN; n];
            terms.scores(&weights, &mut scores);
            for (row, &score) in scores.iter().enumerate() {
                let expected: f64 =
                    (0..n_terms).map(|term| weights[term] * f64::from(on(term, row))).sum();
                assert_eq!(score, expected, "row {row} of {n_terms} terms");
            }
            let gradient: Vec<f64> = (0..n_terms)
                .map(|term| (0..n).map(|row| slopes[row] * f64::from(on(term, row))).sum())
                .collect();
            assert_eq!(terms.gradient(&slopes), gradient);
            let set = |row: usize| !mix(row as u64).is_multiple_of(5);
            let bits: Vec<u64> = (0..n.div_ceil(64))
                .map(|word| {
                    let rows = (64 * word..n).take(64);
                    rows.map(|row| u64::from(set(row)) << (row % 64)).sum()
                })
                .collect();
            let among: Vec<f64> =
                (0..n).map(|row| if set(row) { slopes[row] } else { 0.0 }).collect();
            assert_eq!(terms.gradient_where(&bits, &slopes), terms.gradient(&among));
        }
    }

    #[test]
    fn a_term_of_a_clone_is_its_own() {
        let mut terms = PackedTerms::default();
        terms.push(&[1, 0, 1]);
        let mut clone = terms.clone();
        clone.push(&[0, 1, 1]);
        let mut scores = [0.0; 3];
        terms.scores(&[1.0], &mut scores);
        assert_eq!(scores, [1.0, 0.0, 1.0]);
        clone.scores(&[1.0, 4.0], &mut scores);
        assert_eq!(scores, [1.0, 4.0, 5.0]);
    }
}
