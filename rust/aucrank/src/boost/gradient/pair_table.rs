//! The sum of trees of two features: a table.

use std::borrow::Cow;

use super::tree::{GradientNode, GradientTree};
use crate::RankError;
use crate::boost::BoostError;
use crate::data::LevelSet;
use crate::formula::{Axis, AxisPlaces, PairTerm, Rule, Test};

/// Maximum number of cells of a table: more than any fit with 255 bins has.
const MOST_CELLS: usize = 1 << 20;

impl Axis {
    /// The values of a feature that some tests distinguish; tests of other features are ignored.
    fn of<'t>(
        feature: usize,
        n_levels: Option<u32>,
        tests: impl Iterator<Item = &'t Test>,
    ) -> Self {
        let tests = tests.filter(|test| test.feature == feature);
        let known = if let Some(n_levels) = n_levels {
            let mut sets: Vec<&LevelSet> = tests.filter_map(Test::levels).collect();
            sets.sort_unstable_by(|a, b| a.listed().cmp(b.listed()));
            sets.dedup_by(|a, b| a.listed() == b.listed());
            // Categories on the same lists cannot be distinguished, nor can those on no list.
            let mut lists: Vec<(u32, usize)> = (0..)
                .zip(&sets)
                .flat_map(|(list, set)| set.listed().iter().map(move |&level| (level, list)))
                .collect();
            lists.sort_unstable();
            let mut listed: Vec<(Vec<usize>, u32)> = lists
                .chunk_by(|a, b| a.0 == b.0)
                .map(|of| (of.iter().map(|(_, list)| *list).collect(), of[0].0))
                .collect();
            // Even a feature without categories has a place for known values.
            let has_others = listed.len() < n_levels.max(1) as usize;
            listed.sort_unstable();
            let mut groups: Vec<Vec<u32>> = listed
                .chunk_by(|a, b| a.0 == b.0)
                .map(|of| of.iter().map(|(_, level)| *level).collect())
                .collect();
            groups.sort_unstable();
            AxisPlaces::Categorical { groups, has_others }
        } else {
            let mut thresholds: Vec<f64> = tests.filter_map(Test::threshold).collect();
            thresholds.sort_unstable_by(f64::total_cmp);
            thresholds.dedup();
            AxisPlaces::Numeric { thresholds }
        };
        Self { feature, known }
    }
}

impl Test {
    fn levels(&self) -> Option<&LevelSet> {
        match &self.left {
            Rule::Levels(levels) => Some(levels),
            _ => None,
        }
    }
}

impl PairTerm {
    /// The table of zeros for trees that test these two features, given their numbers of
    /// categories, if it has at most `most_cells` cells.
    fn empty(
        features: [usize; 2],
        n_levels: &[Option<u32>],
        trees: &[Cow<'_, GradientTree>],
        most_cells: usize,
    ) -> Option<Self> {
        let axes = features.map(|feature| {
            let tests = trees.iter().flat_map(|tree| tree.tests().map(|(test, _)| test));
            Axis::of(feature, n_levels[feature], tests)
        });
        let [n_rows, n_columns] = axes.each_ref().map(Axis::n_places);
        let n_cells = n_rows.saturating_mul(n_columns);
        (n_cells <= most_cells).then(|| Self { axes, values: vec![0.0; n_cells] })
    }

    /// The sum of trees that test these two features, given their numbers of categories.
    pub(super) fn sum(
        features: [usize; 2],
        n_levels: &[Option<u32>],
        trees: &[Cow<'_, GradientTree>],
    ) -> Result<Self, RankError> {
        let table = Self::empty(features, n_levels, trees, MOST_CELLS);
        let table =
            table.ok_or(RankError::Boost(BoostError::LargeTable(features[0], features[1])))?;
        Ok(table.plus(trees))
    }

    /// Number of cells of the same, if it is not too large.
    pub(super) fn n_cells(
        features: [usize; 2],
        n_levels: &[Option<u32>],
        trees: &[Cow<'_, GradientTree>],
    ) -> Option<usize> {
        Self::empty(features, n_levels, trees, MOST_CELLS).map(|table| table.values.len())
    }

    /// The same, if the table has no more cells than the trees have leaves.
    pub(super) fn small_sum(
        features: [usize; 2],
        n_levels: &[Option<u32>],
        trees: &[Cow<'_, GradientTree>],
    ) -> Option<Self> {
        let n_leaves: usize = trees.iter().map(|tree| tree.n_leaves()).sum();
        Some(Self::empty(features, n_levels, trees, n_leaves.min(MOST_CELLS))?.plus(trees))
    }

    /// The table with the values of trees added to it.
    fn plus(self, trees: &[Cow<'_, GradientTree>]) -> Self {
        let Self { axes, mut values } = self;
        let first = axes[0].feature;
        let [n_rows, n_columns] = axes.each_ref().map(Axis::n_places);
        let raw = axes.each_ref().map(Axis::raw_values);
        for tree in trees {
            // A node, and the places of either axis that reach it.
            let mut waiting = vec![(0, [n_rows, n_columns].map(|n| (0..n).collect::<Vec<_>>()))];
            while let Some((node, places)) = waiting.pop() {
                match &tree.nodes()[node] {
                    GradientNode::Leaf { value, .. } => {
                        for row in &places[0] {
                            let row = &mut values[row * n_columns..][..n_columns];
                            places[1].iter().for_each(|&column| row[column] += value);
                        }
                    }
                    GradientNode::Split { test, right, .. } => {
                        let axis = usize::from(test.feature != first);
                        let goes_left = |place: &usize| test.goes_left_by(raw[axis][*place]);
                        let (mut on_left, mut on_right) = (places.clone(), places);
                        on_left[axis].retain(goes_left);
                        on_right[axis].retain(|place| !goes_left(place));
                        waiting.extend([(*right, on_right), (node + 1, on_left)]);
                    }
                }
            }
        }
        Self { axes, values }
    }
}
