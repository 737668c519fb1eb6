//! The best set of categories.

use std::cmp::Reverse;

use super::best::Stump;
use super::best::{add_to_bin, known_and_missing};
use crate::data::{
    ClassSums, CodeRule, CodeTest, FeatureBins, FeatureSums, LevelSet, RateShrinkage, RowUnits,
    Tally,
};
use crate::tree::split::criterion::{CutCriterion, Merit};
use crate::tree::split::partition::{best_run, best_union};

/// Share of the gain of a set of categories that must be left after shrinkage for the set to be taken. Measured by
/// `benches/studies/levels_study.py`: at one half a column of 300 levels of noise costs boosted trees
/// 0.004 of AUC on bank marketing (10 % positives), at one third 0.020, without a bound 0.022.
const LEAST_BELIEVED: f64 = 0.5;

/// The sets of levels of a feature that may go left.
pub(super) struct LevelSets<'a> {
    pub(super) feature: usize,
    pub(super) bins: &'a FeatureBins,
    pub(super) units: Option<&'a RowUnits>,
    pub(super) cell: ClassSums,
    pub(super) min_rows: u64,
    pub(super) criterion: CutCriterion,
}

impl LevelSets<'_> {
    /// The best union of levels (DECISIONS T24), of shrunken rates (G11). A level that this cell does
    /// not hold counts as missing.
    ///
    /// `bins` are the occupied codes; missing values go with the level `like`, if there is one.
    pub(super) fn best(
        &self,
        bins: impl Iterator<Item = (u32, ClassSums)>,
        like: Option<u32>,
    ) -> Option<Stump> {
        let Self { feature, cell, .. } = *self;
        let n_levels = self.bins.n_bins() as u32;
        let (codes, parts): (Vec<u32>, Vec<ClassSums>) = bins.unzip();
        let (is_left, left, merit) = self.best_union(&parts)?;
        let missing_is_left = match codes.binary_search(&like.unwrap_or(n_levels)) {
            Ok(place) => is_left[place],
            Err(_) => 2 * left.rows >= cell.rows,
        };
        let known = || codes.iter().zip(&is_left).filter(|(code, _)| **code < n_levels);
        let asks_missing = known().all(|(_, left)| *left != missing_is_left)
            && codes.contains(&n_levels)
            && !self.bins.pools_levels();
        let rule = if asks_missing {
            // All known levels on one side: the question is whether the value is known.
            if missing_is_left { CodeRule::AtLeast(n_levels) } else { CodeRule::Below(n_levels) }
        } else {
            // Those that the cell does not hold go with the missing, as rare ones do.
            let others = known().filter(|(_, left)| **left != missing_is_left);
            let others = others.map(|(code, _)| *code);
            let levels = if missing_is_left { LevelSet::all_but } else { LevelSet::only };
            CodeRule::Levels(levels(others))
        };
        let test = CodeTest { feature, rule, missing_left: missing_is_left };
        Some(Stump { test, left, gain: cell.gain(left), merit })
    }

    /// The union of levels of the largest merit: which go left, their sums, and the merit.
    fn best_union(&self, parts: &[ClassSums]) -> Option<(Vec<bool>, ClassSums, Merit)> {
        let Self { cell, min_rows, criterion, .. } = *self;
        let masses = parts.iter().map(|&part| part.into());
        let shrinkage = match self.units {
            Some(units) => RateShrinkage::of(masses, units)?,
            None => RateShrinkage::none(cell.into()),
        };
        if shrinkage.is_none() {
            let (is_left, left) = best_union(cell, parts, min_rows, criterion)?;
            return Some((is_left, left, criterion.merit(cell, left)));
        }
        let excess: Vec<f64> = parts.iter().map(|&part| shrinkage.excess(part.into())).collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by(|&a, &b| excess[b].total_cmp(&excess[a]));
        let (is_left, left) = best_run(cell, parts, &order, min_rows, criterion)?;
        let mine = parts.iter().zip(&is_left).filter(|(_, is_left)| **is_left);
        let believed = mine.map(|(&part, _)| shrinkage.kept(part.into()) * cell.gain(part) as f64);
        let believed = believed.sum::<f64>();
        // The nodes below and the values of the leaves take the rows of the set at their face value, so a
        // set whose gain is mostly chance is left alone.
        let is_mostly_law = believed > 0.0 && believed >= LEAST_BELIEVED * cell.gain(left) as f64;
        is_mostly_law.then(|| (is_left, left, criterion.shrunken_merit(cell, left, believed)))
    }

    /// The same where missing values count as the level of largest class weight, the first of several.
    pub(super) fn best_by_mode<T: Tally>(&self, sums: FeatureSums<'_, T>) -> Option<Stump> {
        let (mut bins, missing) = known_and_missing(sums, self.bins.n_bins() as u32);
        let weight = |(code, sums): &(u32, ClassSums)| (sums.pos + sums.neg, Reverse(*code));
        let mode = bins.iter().max_by_key(|bin| weight(bin))?.0;
        add_to_bin(&mut bins, mode, missing);
        self.best(bins.into_iter(), Some(mode))
    }
}
