//! Rows in the candidate bins of all features.

use crate::RankError;
use crate::data::{Bins, Columns, Labels, Lookups, RowUnits, direction};

/// A feature in candidate bins: intervals or groups of categories in their order, then special
/// values, then missing ones.
#[derive(Debug)]
pub(super) struct CandidateFeature {
    /// Number of bins in order.
    pub(super) n_ordered: usize,
    /// Weight of the rows, by bin; 0 for special and missing values of too few rows for a line.
    pub(super) sizes: Vec<u64>,
    /// The bin in order of the middle row, where values of too few rows are placed.
    pub(super) middle: usize,
    /// As in the parameters, in the direction of the points.
    pub(super) direction: i8,
    pub(super) bins_of_rows: Vec<u8>,
}

impl CandidateFeature {
    pub(super) fn n_bins(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are rows in two bins.
    pub(super) fn divides(&self) -> bool {
        self.sizes.iter().filter(|&&size| size > 0).count() > 1
    }
}

/// The rows of a search.
#[derive(Debug)]
pub(super) struct BinnedRows {
    pub(super) features: Vec<CandidateFeature>,
    /// Weight of each row by class, that of low points first.
    pub(super) weights: Vec<[u64; 2]>,
    /// Half a pair of rows as a share of all pairs.
    pub(super) share_of_half_pair: f64,
    /// Sum of `1 / n` over both classes, with effective numbers of rows.
    pub(super) unit_of_gain: f64,
}

impl BinnedRows {
    /// The rows of positive weight. Points rise with the positive class, or fall if `sign` is
    /// negative. A line of special or missing values needs `least_weight`.
    ///
    /// # Errors
    ///
    /// [`RankError`] for an infinite value, or when interrupted.
    pub(super) fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        bins: &[Bins],
        (monotonic, sign): (&[i8], f64),
        least_weight: f64,
    ) -> Result<Self, RankError> {
        let n_features = bins.len();
        let placed = Lookups::new(bins.iter().enumerate()).bins(columns, |bin| bin as u8)?;
        let rows = labels.rows();
        let weight = |&row: &u32| {
            let sums = labels.sums(row as usize);
            if sign > 0.0 { [sums.neg, sums.pos] } else { [sums.pos, sums.neg] }
        };
        let weights: Vec<[u64; 2]> = rows.iter().map(weight).collect();
        let feature = |(feature, bins): (usize, &Bins)| {
            let at = |row: &u32| placed[*row as usize * n_features + feature];
            let mut bins_of_rows: Vec<u8> = rows.iter().map(at).collect();
            let mut sizes = vec![0; bins.n_bins() + 1];
            for (&bin, weight) in bins_of_rows.iter().zip(&weights) {
                sizes[usize::from(bin)] += weight[0] + weight[1];
            }
            let n_ordered = match bins {
                Bins::Numeric { cuts, .. } => cuts.len() + 1,
                Bins::Categorical { n_bins, .. } => *n_bins,
            };
            let direction = direction(monotonic, feature) * sign as i8;
            let middle = middle_of(&sizes[..n_ordered]);
            let mut places: Vec<u8> = (0..sizes.len() as u8).collect();
            if sizes[..n_ordered].iter().any(|&size| size > 0) {
                for bin in n_ordered..sizes.len() {
                    if (sizes[bin] as f64) < least_weight {
                        sizes[middle] += std::mem::take(&mut sizes[bin]);
                        places[bin] = middle as u8;
                    }
                }
            }
            for bin in &mut bins_of_rows {
                *bin = places[usize::from(*bin)];
            }
            CandidateFeature { n_ordered, sizes, middle, direction, bins_of_rows }
        };
        let features = bins.iter().enumerate().map(feature).collect();
        let total = labels.total();
        let pairs = total.pos as f64 * total.neg as f64;
        let unit_of_gain = RowUnits::of_labels(labels).sum_of_inverse_sizes(total);
        Ok(Self { features, weights, share_of_half_pair: 0.5 / pairs, unit_of_gain })
    }

    pub(super) fn n_rows(&self) -> usize {
        self.weights.len()
    }
}

/// The first bin up to which there is half the weight.
fn middle_of(sizes: &[u64]) -> usize {
    let total: u64 = sizes.iter().sum();
    let mut up_to = 0;
    let is_half = |&size: &u64| {
        up_to += size;
        2 * up_to >= total
    };
    sizes.iter().position(is_half).unwrap_or(0)
}
