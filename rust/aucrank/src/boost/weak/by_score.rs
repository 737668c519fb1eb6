//! Rankings by numeric scores: rows of equal score form a group.

use crate::parallel::prelude::*;

use super::{RankGroups, Ranker, WeakRanking, WeakSample, WeakTask};
use crate::boost::scored::RowScorer;
use crate::data::{ClassMasses, MassRows, RowTally, midpoint};
use crate::{RankError, parallel};

/// The ranking by the scores of all rows of the sample, reversed if that has the higher AUC; `None`
/// if neither direction is better than chance. `scorer` learns whether it is reversed.
pub(super) fn ranking_by_score(
    sample: &WeakSample<'_>,
    task: &WeakTask<'_>,
    mut scores: Vec<f64>,
    scorer: impl FnOnce(bool) -> RowScorer,
) -> Result<Option<WeakRanking>, RankError> {
    let masses = MassRows { positive: sample.labels.positive(), masses: task.masses };
    let has_mass = |row: &u32| task.masses[*row as usize] > 0;
    let mut ordered: Vec<(f64, u32)> =
        task.rows.iter().copied().filter(has_mass).map(|row| (scores[row as usize], row)).collect();
    if let Some((_, row)) = ordered.iter().find(|(score, _)| score.is_nan()) {
        return Err(RankError::NanScore(*row as usize));
    }
    ordered.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    let tied = ordered.chunk_by(|a, b| a.0 == b.0);
    let mut groups: Vec<(f64, ClassMasses)> = tied
        .map(|tied| (tied[0].0, tied.iter().map(|&(_, row)| masses.of(row as usize)).sum()))
        .collect();
    let area = ClassMasses::area(groups.iter().map(|&(_, sums)| sums));
    if area == 0 {
        return Ok(None);
    }
    let is_reversed = area < 0;
    if is_reversed {
        groups.reverse();
        let of_groups = groups.iter_mut().map(|(score, _)| score);
        for score in of_groups.chain(&mut scores) {
            *score = -*score;
        }
    }
    let thresholds: Vec<f64> =
        groups.windows(2).map(|pair| midpoint(pair[0].0, pair[1].0)).collect();
    let group = |score: f64| thresholds.partition_point(|&threshold| threshold <= score) as u32;
    let of_row = parallel::values(scores.len(), |row| group(scores[row]));
    Ok(Some(WeakRanking {
        ranker: Ranker::Scored { scorer: scorer(is_reversed), thresholds },
        groups: RankGroups::Rows(of_row),
        sums: groups.into_iter().map(|(_, sums)| sums).collect(),
    }))
}

/// For each group the index of the merged group it belongs to: at most `n_groups` of them, each a
/// run of about equal mass, both classes counting equally.
pub(super) fn about_equal(groups: &[ClassMasses], n_groups: usize) -> Vec<u32> {
    let total: ClassMasses = groups.iter().copied().sum();
    // Mass of a set in units of 1/2PN of the whole, which is 2PN.
    let mass = |set: ClassMasses| {
        let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
        cross(set.pos, total.neg) + cross(set.neg, total.pos)
    };
    let whole = mass(total);
    let (mut below, mut wider, mut last_part) = (ClassMasses::default(), Vec::new(), 0);
    for &group in groups {
        // The merged group in which the group begins; masses take 2^105, and `n_groups` 2^20.
        let part = (mass(below) * n_groups as u128 / whole).min(n_groups as u128 - 1);
        let number = wider.last().map_or(0, |&last| last + u32::from(part != last_part));
        wider.push(number);
        last_part = part;
        below += group;
    }
    wider
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(sizes: &[(u64, u64)]) -> Vec<ClassMasses> {
        sizes.iter().map(|&(pos, neg)| ClassMasses { pos, neg }).collect()
    }

    #[test]
    fn groups_are_joined_to_about_equal_mass() {
        let ones = groups(&[(1, 1); 12]);
        assert_eq!(about_equal(&ones, 4), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        assert_eq!(about_equal(&ones, 100), (0..12).collect::<Vec<_>>());
        assert_eq!(about_equal(&ones, 1), [0; 12]);
        // A group is never cut; classes count equally whatever their masses.
        let uneven = groups(&[(1, 0), (0, 1000), (1, 0), (8, 0), (0, 1000)]);
        assert_eq!(about_equal(&uneven, 2), [0, 0, 0, 0, 1]);
    }
}
