//! The partition-based splitting rule.

use super::criterion::CutCriterion;
use crate::data::ClassSums;

/// Which parts of a partitioned cell make up its left side: the union of parts of largest AUC
/// (paper 2 Fig. 4; by its Proposition 4 no other union does better).
///
/// Parts are ordered by eta, and the best of the leading runs is taken; of equal ones the longest
/// (DECISIONS T5), which is the set of parts whose eta is at least that of the cell. Each side gets
/// at least `min_rows` rows. Returns `None` where no union gains. By an impurity, too, no other union
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

/// The same where the parts stand in a given order: the best of the leading runs.
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

/// The same for parts that come in their order: how many of them go left, and their sums.
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
        if merit >= best_merit {
            (best_merit, best) = (merit, Some((n_left, left)));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(pos: u64, neg: u64) -> ClassSums {
        ClassSums { pos, neg, rows: pos + neg }
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
                // Where sides are to be large, a union that is no run may do better.
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
    fn a_side_below_the_least_size_is_not_formed() {
        let parts = [sums(3, 0), sums(4, 6), sums(0, 1)];
        let (is_left, _) = best_union(sums(7, 7), &parts, 2, CutCriterion::Youden).unwrap();
        assert_eq!(is_left, [true, false, false]);
        assert_eq!(best_union(sums(7, 7), &parts, 8, CutCriterion::Youden), None);
    }
}
