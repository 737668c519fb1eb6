//! Criteria of cuts, and the partition-based splitting rule: the union of parts that is best by a
//! criterion.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::data::ClassSums;

/// Criterion that chooses among the cuts of a node that separate the classes at all.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{
///     CutCriterion, GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit,
/// };
///
/// let positive = [true, false, false, true, false, false, false];
/// let values: Vec<f64> = (0..7).map(f64::from).collect();
/// let columns = Columns::from_row_major(&values, 1)?;
/// let labels = Labels::new(&positive, None)?;
/// let rows_on_the_left = |criterion| {
///     let grow = GrowParams { max_depth: 1, min_samples_leaf: 1, ..GrowParams::default() };
///     let split =
///         SplitRule::Stumps(LeafRankParams { criterion, ..LeafRankParams::orthogonal(1) });
///     fit((&columns, &labels), &TreeRankParams::new(grow, split), &Interrupt::default())
///         .map(|fitted| fitted.tree.leaf_sums()[0].rows)
/// };
/// // Of the rates 2/2 - 2/5 and 1/2 - 0/5 the first is larger; the impurity falls more where one row is
/// // cut off, which leaves a pure side.
/// assert_eq!(rows_on_the_left(CutCriterion::Youden)?, 4);
/// assert_eq!(rows_on_the_left(CutCriterion::Gini)?, 1);
/// assert_eq!(rows_on_the_left(CutCriterion::LogLoss)?, 1);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutCriterion {
    /// The difference of the rates of true and false positives of the side that ranks first, which
    /// is what the cut adds to the AUC (paper 2 Fig. 2). A side of few rows can add little, however
    /// pure it is.
    #[default]
    Youden,
    /// Decrease of the Gini impurity.
    Gini,
    /// Decrease of the entropy of the classes, which is the log loss of their shares.
    LogLoss,
}

impl CutCriterion {
    /// The merit of splitting off a part whose gain is positive.
    pub(in crate::tree) fn merit(self, cell: ClassSums, part: ClassSums) -> Merit {
        match self {
            Self::Youden => Merit::Exact(cell.gain(part)),
            Self::Gini => Merit::Rounded(gini(cell, part)),
            Self::LogLoss => Merit::Rounded(log_loss(cell, part)),
        }
    }

    /// The same with a shrunken gain. The decrease of the Gini impurity is proportional to the
    /// squared difference of the rates on both sides; for the log loss that is the leading term.
    pub(super) fn shrunken_merit(self, cell: ClassSums, part: ClassSums, gain: f64) -> Merit {
        let share = gain / cell.gain(part) as f64;
        match self {
            Self::Youden => Merit::Exact(gain as i128),
            Self::Gini => Merit::Rounded(gini(cell, part) * share * share),
            Self::LogLoss => Merit::Rounded(log_loss(cell, part) * share * share),
        }
    }
}

/// Value of a cut, comparable with others by the same criterion.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum Merit {
    Exact(i128),
    Rounded(f64),
}

impl Merit {
    fn key(self) -> (i128, f64) {
        match self {
            Self::Exact(merit) => (merit, 0.0),
            Self::Rounded(merit) => (0, merit),
        }
    }
}

impl Ord for Merit {
    fn cmp(&self, other: &Self) -> Ordering {
        let (exact, rounded) = self.key();
        let (other_exact, other_rounded) = other.key();
        exact.cmp(&other_exact).then(rounded.total_cmp(&other_rounded))
    }
}

impl PartialOrd for Merit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Merit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Merit {}

/// Mass of the cell times half of the decrease of its Gini impurity: of the mass `t` of a part and
/// `u` of the rest, `D^2 / (t + u) t u`, where `D` is the gain.
fn gini(cell: ClassSums, part: ClassSums) -> f64 {
    let (mass, of_part) = ((cell.pos + cell.neg) as f64, (part.pos + part.neg) as f64);
    let rest = cell - part;
    let of_rest = (rest.pos + rest.neg) as f64;
    let gain = cell.gain(part) as f64;
    // Units of mass are powers of two: another unit changes only the exponent.
    gain / mass * (gain / (of_part * of_rest))
}

/// Mass of the cell times the decrease of the entropy of its classes, in nats.
fn log_loss(cell: ClassSums, part: ClassSums) -> f64 {
    let entropy = |sums: ClassSums| {
        let mass = (sums.pos + sums.neg) as f64;
        let of =
            |class: u64| if class > 0 { class as f64 * (class as f64 / mass).ln() } else { 0.0 };
        of(sums.pos) + of(sums.neg)
    };
    entropy(part) + entropy(cell - part) - entropy(cell)
}

/// The parts on the left side of a partitioned cell: the union of parts of largest AUC (paper 2
/// Fig. 4; by its Proposition 4 no other union does better).
///
/// Parts are ordered by eta, and the best of the leading runs is taken; of ties the longest
/// (DECISIONS T5), which is the set of parts whose eta is at least that of the cell. Each side gets
/// at least `min_rows` rows. Returns `None` if no union gains. By an impurity, too, no other union
/// does better (Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984,
/// Theorem 4.5).
pub(in crate::tree) fn best_union(
    cell: ClassSums,
    parts: &[ClassSums],
    min_rows: u64,
    criterion: CutCriterion,
) -> Option<(Vec<bool>, ClassSums)> {
    let mut by_eta: Vec<usize> = (0..parts.len()).collect();
    // A stable sort: parts of equal eta keep their order.
    by_eta.sort_by(|&a, &b| parts[b].cmp_eta(parts[a]));
    best_run(cell, parts, &by_eta, min_rows, criterion)
}

/// The same for parts in a given order: the best of the leading runs.
pub(in crate::tree) fn best_run(
    cell: ClassSums,
    parts: &[ClassSums],
    order: &[usize],
    min_rows: u64,
    criterion: CutCriterion,
) -> Option<(Vec<bool>, ClassSums)> {
    let parts_in_order = order.iter().map(|&part| parts[part]);
    let (n_left, left) = best_prefix(cell, parts_in_order, min_rows, criterion)?;
    let mut is_left = vec![false; parts.len()];
    order[..n_left].iter().for_each(|&part| is_left[part] = true);
    Some((is_left, left))
}

/// The same for an iterator over ordered parts: the number of parts that go left, and their sums.
pub(in crate::tree) fn best_prefix(
    cell: ClassSums,
    parts: impl Iterator<Item = ClassSums>,
    min_rows: u64,
    criterion: CutCriterion,
) -> Option<(usize, ClassSums)> {
    let (mut best, mut best_merit) = (None, None);
    let mut left = ClassSums::default();
    for (n_left, part) in (1..).zip(parts) {
        left += part;
        let enough = left.rows >= min_rows && cell.rows - left.rows >= min_rows;
        if !enough || cell.gain(left) <= 0 {
            continue;
        }
        let merit = Some(criterion.merit(cell, left));
        // Of ties the longest run (DECISIONS T5): not `>`, which would keep the first.
        if merit >= best_merit {
            (best_merit, best) = (merit, Some((n_left, left)));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CutCriterion; 3] =
        [CutCriterion::Youden, CutCriterion::Gini, CutCriterion::LogLoss];

    fn sums(pos: u64, neg: u64) -> ClassSums {
        ClassSums { pos, neg, rows: pos + neg }
    }

    fn value(merit: Merit) -> f64 {
        match merit {
            Merit::Exact(merit) => merit as f64,
            Merit::Rounded(merit) => merit,
        }
    }

    /// Small cells, each with its parts whose share of positives is above that of the cell.
    fn cells_and_parts() -> impl Iterator<Item = (ClassSums, ClassSums)> {
        let cells = (1..9).flat_map(|pos| (1..9).map(move |neg| sums(pos, neg)));
        let parts = |cell: ClassSums| {
            let all = (0..=cell.pos).flat_map(move |p| (0..=cell.neg).map(move |n| sums(p, n)));
            all.filter(move |&part| cell.gain(part) > 0).map(move |part| (cell, part))
        };
        cells.flat_map(parts)
    }

    #[test]
    fn impurities_decrease_as_defined() {
        let gini = |p: f64| 1.0 - p * p - (1.0 - p) * (1.0 - p);
        let of_class = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let entropy = |p: f64| of_class(p) + of_class(1.0 - p);
        let decrease = |impurity: &dyn Fn(f64) -> f64, cell: ClassSums, part: ClassSums| {
            let weighed = |sums: ClassSums| sums.rows as f64 * impurity(sums.eta());
            weighed(cell) - weighed(part) - weighed(cell - part)
        };
        for (cell, part) in cells_and_parts() {
            let rates = part.pos as f64 / cell.pos as f64 - part.neg as f64 / cell.neg as f64;
            let expected = [
                rates * (cell.pos * cell.neg) as f64,
                decrease(&gini, cell, part) / 2.0,
                decrease(&entropy, cell, part),
            ];
            for (criterion, expected) in ALL.into_iter().zip(expected) {
                let found = value(criterion.merit(cell, part));
                assert!((found - expected).abs() < 1e-12, "{criterion:?} {cell:?} {part:?}");
            }
        }
    }

    #[test]
    fn merits_are_those_of_the_other_side_of_the_other_class_and_of_another_unit_of_mass() {
        let turned = |ClassSums { pos, neg, rows }| ClassSums { pos: neg, neg: pos, rows };
        for (cell, part) in cells_and_parts() {
            let (other_cell, other_part) = (turned(cell), turned(cell - part));
            for criterion in ALL {
                let merit = criterion.merit(cell, part);
                assert_eq!(criterion.merit(other_cell, other_part), merit);
                // With the whole gain it is the merit itself.
                let all = criterion.shrunken_merit(cell, part, cell.gain(part) as f64);
                assert_eq!(all, merit);
                let unit = 1 << 40;
                let scaled = value(criterion.merit(cell.times(unit), part.times(unit)));
                let power = if criterion == CutCriterion::Youden { 80 } else { 40 };
                assert_eq!(scaled, value(merit) * 2_f64.powi(power));
            }
        }
    }

    #[test]
    fn an_impurity_prefers_a_pure_part_of_few_rows_where_the_rates_prefer_a_large_one() {
        let cell = sums(40, 100);
        let (pure, large) = (sums(10, 0), sums(38, 65));
        let prefers_pure =
            |criterion: CutCriterion| criterion.merit(cell, pure) > criterion.merit(cell, large);
        assert_eq!(ALL.map(prefers_pure), [false, true, true]);
    }

    #[test]
    fn half_of_the_gain_is_a_quarter_of_an_impurity() {
        let (cell, part) = (sums(6, 6), sums(4, 2));
        let half = cell.gain(part) as f64 / 2.0;
        for (criterion, share) in ALL.into_iter().zip([0.5, 0.25, 0.25]) {
            let merit = value(criterion.merit(cell, part));
            assert_eq!(value(criterion.shrunken_merit(cell, part, half)), share * merit);
        }
    }

    #[test]
    fn no_union_of_parts_gains_more() {
        let mut state = 1_u64;
        let mut small = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 61
        };
        for _ in 0..500 {
            let parts: Vec<ClassSums> = (0..6).map(|_| sums(small(), 1 + small())).collect();
            let cell: ClassSums = parts.iter().copied().sum();
            // Every union, by enumeration (paper 2 Proposition 4).
            let gain_of = |bits: u32| {
                let union = (0..6).filter(|i| bits >> i & 1 == 1).map(|i| parts[i]).sum();
                cell.gain(union)
            };
            let most = (0..64).map(gain_of).max().unwrap();
            match best_union(cell, &parts, 1, CutCriterion::Youden) {
                Some((is_left, left)) => {
                    assert_eq!(cell.gain(left), most);
                    let union = (0..6).filter(|&i| is_left[i]).map(|i| parts[i]).sum::<ClassSums>();
                    assert_eq!(left, union);
                }
                None => assert_eq!(most, 0),
            }
        }
    }

    #[test]
    fn no_union_of_parts_lowers_an_impurity_more() {
        let mut state = 5_u64;
        let mut small = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 61
        };
        for round in 0..500 {
            let parts: Vec<ClassSums> = (0..6).map(|_| sums(small(), 1 + small())).collect();
            let cell: ClassSums = parts.iter().copied().sum();
            let min_rows = 1 + round % 7;
            for criterion in [CutCriterion::Gini, CutCriterion::LogLoss] {
                let union = |bits: u32| (0..6).filter(move |i| bits >> i & 1 == 1);
                let allowed = (0..64).map(|bits| union(bits).map(|i| parts[i]).sum()).filter(
                    |&union: &ClassSums| {
                        let enough = union.rows.min(cell.rows - union.rows) >= min_rows;
                        enough && cell.gain(union) > 0
                    },
                );
                let most = allowed.map(|union| criterion.merit(cell, union)).max();
                let found = best_union(cell, &parts, min_rows, criterion);
                // With a minimum size of the sides, a union that is no run may do better.
                let merit = found.map(|(_, left)| criterion.merit(cell, left));
                assert!(if min_rows == 1 { merit == most } else { merit <= most });
            }
        }
    }

    #[test]
    fn of_equal_unions_the_larger_is_taken() {
        // The second part has the eta of the whole, so taking it changes nothing.
        let parts = [sums(3, 1), sums(2, 2), sums(1, 3)];
        let (is_left, _) = best_union(sums(6, 6), &parts, 1, CutCriterion::Youden).unwrap();
        assert_eq!(is_left, [true, true, false]);
    }

    #[test]
    fn a_side_below_the_minimum_size_is_not_formed() {
        let parts = [sums(3, 0), sums(4, 6), sums(0, 1)];
        let (is_left, _) = best_union(sums(7, 7), &parts, 2, CutCriterion::Youden).unwrap();
        assert_eq!(is_left, [true, false, false]);
        assert_eq!(best_union(sums(7, 7), &parts, 8, CutCriterion::Youden), None);
    }
}
