//! The score as a sum of step functions and of tables of two features, if no tree tests more.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::model::{GradientBoosted, ShownTerms};
use super::tree::{GradientNode, GradientTree};
use crate::boost::BoostError;
use crate::data::{Columns, FeatureSteps, FeatureTerm, FixedWeights, Labels};
use crate::formula::{Axis, Formula, PairTerm, Rule, Test};
use crate::{Interrupt, RankError, parallel};

impl GradientTree {
    /// The features that it tests, ascending.
    fn features(&self) -> Vec<usize> {
        let mut features: Vec<usize> = self.tests().map(|(test, _)| test.feature).collect();
        features.sort_unstable();
        features.dedup();
        features
    }

    /// Trees that add up to it: one for each leaf, 0 everywhere else.
    fn leaves(&self) -> impl Iterator<Item = Self> {
        // The tests on the path to a node, and the side taken at each.
        let mut waiting = vec![(0, Vec::<(usize, bool)>::new())];
        std::iter::from_fn(move || {
            loop {
                let (place, way) = waiting.pop()?;
                match &self.nodes()[place] {
                    GradientNode::Split { right, .. } => {
                        let side = |is_left: bool| [&way[..], &[(place, is_left)]].concat();
                        waiting.extend([(*right, side(false)), (place + 1, side(true))]);
                    }
                    leaf @ GradientNode::Leaf { .. } => return Some(self.only(&way, leaf)),
                }
            }
        })
    }

    /// The tree with the tests on the path to one leaf, 0 outside it.
    fn only(&self, way: &[(usize, bool)], leaf: &GradientNode) -> Self {
        let nothing = GradientNode::Leaf { value: 0.0, weight: 1.0 };
        let mut nodes = vec![leaf.clone()];
        for &(place, is_left) in way.iter().rev() {
            let GradientNode::Split { test, gain, .. } = &self.nodes()[place] else { continue };
            let other = vec![nothing.clone()];
            let (left, right) = if is_left { (nodes, other) } else { (other, nodes) };
            let split =
                GradientNode::Split { test: test.clone(), right: left.len() + 1, gain: *gain };
            let further = |by: usize| {
                move |node: GradientNode| match node {
                    GradientNode::Split { test, right, gain } => {
                        GradientNode::Split { test, right: right + by, gain }
                    }
                    GradientNode::Leaf { .. } => node,
                }
            };
            let by = left.len() + 1;
            nodes = std::iter::once(split)
                .chain(left.into_iter().map(further(1)))
                .chain(right.into_iter().map(further(by)))
                .collect();
        }
        Self::new(nodes)
    }

    /// The tree as a step function of its only feature, given its number of categories.
    #[expect(clippy::float_cmp, reason = "a step is between values that differ at all")]
    fn steps(&self, feature: usize, n_levels: Option<u32>) -> FeatureTerm {
        let value = |raw: f64| self.value(|test| test.goes_left_by(raw));
        let missing = value(f64::NAN);
        let steps = if let Some(n_levels) = n_levels {
            FeatureSteps::Categorical {
                values: (0..n_levels).map(|level| value(level.into())).collect(),
            }
        } else {
            let mut cuts: Vec<f64> =
                self.tests().filter_map(|(test, _)| test.threshold()).collect();
            cuts.sort_unstable_by(f64::total_cmp);
            cuts.dedup();
            let (mut thresholds, mut values) = (Vec::new(), vec![value(f64::NEG_INFINITY)]);
            for cut in cuts {
                let next = value(cut);
                if values[values.len() - 1] != next {
                    thresholds.push(cut);
                    values.push(next);
                }
            }
            FeatureSteps::Numeric { thresholds, values }
        };
        FeatureTerm { feature, steps, missing }
    }
}

impl Test {
    /// The side of a row with this value of the feature; NaN is missing.
    pub(super) fn goes_left_by(&self, value: f64) -> bool {
        if value.is_nan() {
            return self.missing_left;
        }
        match &self.left {
            Rule::Below(threshold) => value < *threshold,
            Rule::AtLeast(threshold) => value >= *threshold,
            Rule::Known(known) => *known,
            Rule::Levels(left) => left.contains(value as u32),
        }
    }

    /// The threshold of a test, if it has one.
    pub(super) fn threshold(&self) -> Option<f64> {
        match self.left {
            Rule::Below(threshold) | Rule::AtLeast(threshold) => Some(threshold),
            Rule::Known(_) | Rule::Levels(_) => None,
        }
    }
}

/// The trees of a model by the features that they test.
#[derive(Default)]
struct ByFeatures<'a> {
    singles: BTreeMap<usize, Vec<Cow<'a, GradientTree>>>,
    pairs: BTreeMap<[usize; 2], Vec<Cow<'a, GradientTree>>>,
}

impl<'a> ByFeatures<'a> {
    /// Adds a tree; `None` if it tests more than two features.
    fn add(&mut self, tree: Cow<'a, GradientTree>) -> Option<()> {
        match *tree.features() {
            [feature] => self.singles.entry(feature).or_default().push(tree),
            [first, second] => self.pairs.entry([first, second]).or_default().push(tree),
            _ => return None,
        }
        Some(())
    }
}

impl GradientBoosted {
    /// The trees by the one or two features that each of them tests. A tree that tests several
    /// pairs, each below another side of its root, is a sum of trees of one leaf each. `None` if
    /// three features are tested on a path, or pairs of categories are tested.
    fn by_features(&self) -> Option<ByFeatures<'_>> {
        if !self.pair_steps().is_empty() {
            return None;
        }
        let mut found = ByFeatures::default();
        for tree in self.trees() {
            if found.add(Cow::Borrowed(tree)).is_none() {
                for leaf in tree.leaves() {
                    found.add(Cow::Owned(leaf))?;
                }
            }
        }
        Some(found)
    }

    /// Whether each tree tests a single feature, so that the score is a sum of step functions.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.pairs().is_some_and(|pairs| pairs.is_empty())
    }

    /// The pairs of features that trees test together, each ascending, and all of them; `None` if
    /// three are tested on a path.
    #[must_use]
    pub fn pairs(&self) -> Option<Vec<[usize; 2]>> {
        Some(self.by_features()?.pairs.into_keys().collect())
    }

    /// The step functions of single features, one for each feature that has one, in the order of
    /// the features: what the trees of one feature add up to, and what its pairs add alone (see
    /// [`GradientBoosted::pair_terms`]).
    ///
    /// # Errors
    ///
    /// As [`GradientBoosted::pair_terms`].
    pub fn merged_terms(&self) -> Result<Vec<FeatureTerm>, RankError> {
        Ok(self.shown_terms()?.singles.clone())
    }

    /// The tables of what two features add together, one for each of [`GradientBoosted::pairs`].
    ///
    /// A table that the trees of two features add up to may hold what one of the two adds alone. If
    /// the fit chose the pairs, this is left to the functions of single features: the mean of the
    /// training rows is 0 in each row and each column of a table, up to the unit of all values.
    /// Otherwise the tables are what the trees add up to.
    ///
    /// # Errors
    ///
    /// [`BoostError::NotAdditive`] if three features are tested on a path; [`BoostError::LargeTable`]
    /// for a table of more than a million cells.
    pub fn pair_terms(&self) -> Result<Vec<PairTerm>, RankError> {
        Ok(self.shown_terms()?.pairs.clone())
    }

    fn shown_terms(&self) -> Result<&ShownTerms, RankError> {
        self.shown(|| {
            let found = self.by_features().ok_or(RankError::Boost(BoostError::NotAdditive))?;
            let n_levels = self.n_levels();
            let mut singles: BTreeMap<usize, FeatureTerm> =
                merge(found.singles, n_levels).map(|term| (term.feature, term)).collect();
            let table = |(pair, trees): (_, Vec<Cow<'_, GradientTree>>)| {
                PairTerm::sum(pair, n_levels, &trees)
            };
            // One by one: a row or two are explained without a pool of threads.
            let mut pairs =
                found.pairs.into_iter().map(table).collect::<Result<Vec<_>, RankError>>()?;
            for (table, cells) in pairs.iter_mut().zip(self.cells()) {
                for term in table.take_effects(cells, n_levels) {
                    match singles.entry(term.feature) {
                        Entry::Occupied(mut of_feature) => of_feature.get_mut().add(&term),
                        Entry::Vacant(none) => {
                            none.insert(term);
                        }
                    }
                }
            }
            Ok(ShownTerms { singles: singles.into_values().collect(), pairs })
        })
    }

    /// The same model, with the weights of the training rows in the cells of its tables, if they
    /// can be shown.
    pub(super) fn with_cells(
        mut self,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let Ok(tables) = self.pair_terms() else { return Ok(self) };
        let rows = labels.rows();
        let units = labels.weights().map(FixedWeights::units);
        let cells = parallel::try_map(tables, |table: PairTerm| {
            interrupt.check()?;
            let [first, second] = table.features().map(|feature| &columns[feature]);
            let [of_first, of_second] = table.axes.each_ref().map(Axis::reader);
            let n_columns = table.axes[1].n_places();
            let mut cells = vec![0; table.values.len()];
            for &row in &rows {
                let row = row as usize;
                let place = of_first(first.raw(row)) * n_columns + of_second(second.raw(row));
                cells[place] += units.map_or(1, |units| units[row]);
            }
            Ok::<_, RankError>(cells)
        })?;
        self.set_cells(cells);
        Ok(self)
    }

    /// Checks weights of cells that were read from a file.
    pub(super) fn check_cells(&self) -> Result<(), String> {
        if self.cells().is_empty() {
            return Ok(());
        }
        let tables: Option<Vec<Option<usize>>> = self.by_features().map(|found| {
            let size =
                |(pair, trees): (_, Vec<_>)| PairTerm::n_cells(pair, self.n_levels(), &trees);
            found.pairs.into_iter().map(size).collect()
        });
        let sizes = self.cells().iter().map(|cells| Some(cells.len()));
        if tables.is_some_and(|tables| sizes.eq(tables)) {
            Ok(())
        } else {
            Err("weights of cells that the tables of pairs do not have".to_owned())
        }
    }

    /// The contributions to the score of each row, row by row: one for each feature, the value of
    /// its step function, and then one for each pair, the value in its table. They and the base add
    /// up to the score, exactly and in any order.
    ///
    /// # Errors
    ///
    /// As [`GradientBoosted::pair_terms`] and [`GradientBoosted::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        let n_features = columns.n_features();
        let ShownTerms { singles, pairs: tables } = self.shown_terms()?;
        let readers: Vec<_> =
            tables.iter().map(|table| (table.features(), table.reader())).collect();
        let width = n_features + tables.len();
        let mut parts = vec![0.0; columns.n_rows() * width];
        columns.by_tile(&mut parts, width, |(): &mut (), _, values, parts| {
            let rows = values.chunks(n_features).zip(parts.chunks_mut(width));
            for (values, parts) in rows {
                let (of_features, of_pairs) = parts.split_at_mut(n_features);
                for term in singles {
                    of_features[term.feature] = term.value(values[term.feature]);
                }
                for (part, (features, value)) in of_pairs.iter_mut().zip(&readers) {
                    *part = value(features.map(|feature| values[feature]));
                }
            }
        })?;
        Ok(parts)
    }

    /// The trees as operations of a formula, merged as described at [`GradientBoosted::formula`].
    pub(super) fn merged_trees(&self) -> Vec<Formula> {
        let plain =
            || (0..self.trees().len()).map(|round| Formula::Tree(self.tree(round))).collect();
        let Some(found) = self.by_features() else { return plain() };
        let mut parts: Vec<Formula> = merge(found.singles, self.n_levels())
            .map(|term| Formula::Steps((&term).into()))
            .collect();
        for (pair, trees) in found.pairs {
            match PairTerm::small_sum(pair, self.n_levels(), &trees) {
                Some(table) => parts.push(Formula::Tree(table.formula())),
                // Trees of one leaf each would be larger than the tree that they add up to.
                None if trees.iter().any(|tree| matches!(tree, Cow::Owned(_))) => return plain(),
                None => parts.extend(trees.iter().map(|tree| Formula::Tree(tree.formula()))),
            }
        }
        parts
    }
}

/// The step functions of the features that trees test alone, in the order of the features.
fn merge<'a>(
    trees: BTreeMap<usize, Vec<Cow<'a, GradientTree>>>,
    n_levels: &'a [Option<u32>],
) -> impl Iterator<Item = FeatureTerm> + 'a {
    trees.into_iter().map(|(feature, trees)| {
        let mut steps = trees.iter().map(|tree| tree.steps(feature, n_levels[feature]));
        let first = steps.next().expect("a feature is there for a tree that asks it");
        steps.fold(first, |mut sum, term| {
            sum.add(&term);
            sum
        })
    })
}
