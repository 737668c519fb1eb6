//! The hash of the content of each row.

use super::columns::{Column, Columns};
use crate::data::dealing::hashes::{combine, number_word};
use crate::data::random::mix;
use crate::{Interrupt, RankError, parallel};

impl Columns<'_> {
    /// Hash of the content of each row, computed on first use.
    pub(crate) fn hashes(&self, interrupt: &Interrupt) -> Result<&[u64], RankError> {
        if let Some(hashes) = self.hashes.get() {
            return Ok(hashes);
        }
        // Two threads that reach this at once compute the same.
        let hashes = hash_rows(self, interrupt)?;
        Ok(self.hashes.get_or_init(|| hashes))
    }
}

/// Rows hashed at a time: their hashes stay in the cache while the columns are read.
const TILE_ROWS: usize = 1024;

/// Hash of the values of every row. Equal numbers hash equally: 0.0 and -0.0, either float width,
/// any NaN.
fn hash_rows(columns: &Columns<'_>, interrupt: &Interrupt) -> Result<Vec<u64>, RankError> {
    let mut hashes = vec![mix(0); columns.n_rows()];
    let of_tile = |(tile, hashes): (usize, &mut [u64])| {
        interrupt.check()?;
        let first = tile * TILE_ROWS;
        for column in columns {
            if let Column::Codes { codes, .. } = column {
                for (hash, &code) in hashes.iter_mut().zip(&codes[first..]) {
                    *hash = combine(*hash, u64::from(code));
                }
                continue;
            }
            // Infinity is reported when rows are coded.
            let values = &mut [0.0; TILE_ROWS][..hashes.len()];
            let _ = column.read(first..first + hashes.len(), &mut *values);
            for (hash, &value) in hashes.iter_mut().zip(&*values) {
                *hash = combine(*hash, number_word(value));
            }
        }
        Ok(())
    };
    parallel::try_map(hashes.chunks_mut(TILE_ROWS).enumerate().collect(), of_tile)?;
    Ok(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dealing::hashes::seeded;

    #[test]
    fn equal_rows_hash_equally_and_others_do_not() {
        let doubles = [0.0, 1.5, f64::NAN, -0.0, 1.5, -f64::NAN, 0.0, 1.5, 2.0];
        let floats: Vec<f32> = doubles.iter().map(|&value| value as f32).collect();
        let a = Columns::from_row_major(&doubles, 3).unwrap();
        let b = Columns::from_row_major(&floats, 3).unwrap();
        let interrupt = Interrupt::default();
        let found = hash_rows(&a, &interrupt).unwrap();
        assert_eq!(found[0], found[1]);
        assert_ne!(found[0], found[2]);
        assert_eq!(found, hash_rows(&b, &interrupt).unwrap());
    }

    #[test]
    fn rows_of_few_values_and_small_differences_do_not_collide() {
        // Two columns of neighbouring floats, of whole numbers, and of their halves the other way
        // round.
        for unit in [f64::EPSILON, 1.0, -0.5] {
            let values: Vec<f64> = (0..1_000_000_u32)
                .flat_map(|row| [1.0 + unit * f64::from(row % 1000), unit * f64::from(row / 1000)])
                .collect();
            let columns = Columns::from_row_major(&values, 2).unwrap();
            let mut hashes = hash_rows(&columns, &Interrupt::default()).unwrap();
            hashes.sort_unstable();
            hashes.dedup();
            assert_eq!(hashes.len(), 1_000_000);
            // In the order of a seed, they are spread evenly.
            for seed in 0..3 {
                let mut share = [0; 64];
                for &hash in &hashes {
                    share[(seeded(hash, seed) >> 58) as usize] += 1;
                }
                let expected = 1_000_000.0 / 64.0;
                let spread = |&n: &i32| (f64::from(n) - expected).abs() / expected.sqrt();
                assert!(share.iter().map(spread).fold(0.0, f64::max) < 5.0);
            }
        }
    }
}
