//! Sends rows to leaves, also through splits by external classifiers.

use super::cubes::{CubeGrid, Cubes, NO_CUBE};
use super::ranking_tree::RankingTree;
use super::split_form::{SplitForm, SplitNode};
use crate::data::Columns;
use crate::external::{ExternalModels, called_positive};
use crate::formula::Test;
use crate::tree::TreeError;
use crate::{RankError, parallel};

/// Rows that are read together, so that their values are in the cache in any layout.
pub(in crate::tree) const TILE_ROWS: usize = 128;

/// Target of a test outcome: another test, or a leaf (its place in the ranking, inverted bit by
/// bit, so that both fit one word).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::tree) struct RouteTarget(i64);

impl RouteTarget {
    /// The number of the next test, or the place of the leaf in the ranking.
    #[inline]
    pub(in crate::tree) fn resolve(self) -> Result<usize, usize> {
        usize::try_from(self.0).map_err(|_| !self.0 as usize)
    }
}

/// The test of a row.
#[derive(Debug)]
pub(in crate::tree) enum RouteQuestion<'a, T> {
    Test(T),
    /// Its cube.
    Cubes(&'a CubeGrid, &'a Cubes),
}

impl<T> RouteQuestion<'_, T> {
    /// The stump, in a tree that splits by tests of single features.
    pub(in crate::tree) fn stump(&self) -> &T {
        match self {
            Self::Test(test) => test,
            Self::Cubes(..) => unreachable!("cubes ask all features"),
        }
    }
}

/// All tests of a ranking tree, with the stumps inside its splits joined to one graph: a part of a
/// split leads straight to the first test of the side that it was merged into.
#[derive(Debug)]
pub(in crate::tree) struct Router<'a, T> {
    pub(in crate::tree) start: RouteTarget,
    /// Tests, each with its left and right target.
    pub(in crate::tree) steps: Vec<(RouteQuestion<'a, T>, RouteTarget, RouteTarget)>,
}

impl<'a, T> Router<'a, T> {
    /// A test by its number, in a tree that splits by tests of single features.
    pub(in crate::tree) fn stump(&self, step: usize) -> &T {
        self.steps[step].0.stump()
    }

    /// The left and the right target of a test.
    pub(in crate::tree) fn sides(&self, step: usize) -> (RouteTarget, RouteTarget) {
        (self.steps[step].1, self.steps[step].2)
    }

    /// `form` converts stumps to the form in which they are tested.
    pub(in crate::tree) fn new(tree: &'a RankingTree, form: impl Fn(&Test) -> T) -> Self {
        let mut places = vec![0; tree.nodes().len()];
        for (place, leaf) in tree.leaves().into_iter().enumerate() {
            places[leaf] = place;
        }
        // First test of every node, counting stumps in the order of the nodes.
        let mut entries = Vec::with_capacity(places.len());
        let mut n_steps = 0;
        for (node, &place) in tree.nodes().iter().zip(&places) {
            entries.push(RouteTarget(if node.split.is_some() { n_steps } else { !(place as i64) }));
            n_steps += match node.split.as_ref().map(|split| &split.form) {
                None => 0,
                Some(SplitForm::Stump(_) | SplitForm::Cubes(_)) => 1,
                Some(SplitForm::Cuts(cuts)) => cuts.iter().filter(|cut| is_cut(cut)).count() as i64,
                Some(SplitForm::Classifier { .. }) => unreachable!("it asks no stumps"),
            };
        }
        let mut steps = Vec::with_capacity(n_steps as usize);
        for split in tree.nodes().iter().filter_map(|node| node.split.as_ref()) {
            let (left, right) = (entries[split.left()], entries[split.right()]);
            match &split.form {
                SplitForm::Stump(test) => {
                    steps.push((RouteQuestion::Test(form(test)), left, right));
                }
                SplitForm::Cuts(cuts) => push_cuts(&mut steps, cuts, left, right, &form),
                SplitForm::Cubes(cubes) => {
                    let grid = tree.grid().expect("checked when the tree was read");
                    steps.push((RouteQuestion::Cubes(grid, cubes), left, right));
                }
                SplitForm::Classifier { .. } => unreachable!("it asks no stumps"),
            }
        }
        Self { start: entries[0], steps }
    }

    /// Place in the ranking of the leaf of a row, given the number of its cube and its outcomes at
    /// stumps.
    #[inline]
    pub(in crate::tree) fn leaf(&self, cube: u64, goes_left: impl Fn(&T) -> bool) -> usize {
        let mut target = self.start;
        while let Ok(step) = usize::try_from(target.0) {
            let (question, left, right) = &self.steps[step];
            let is_left = match question {
                RouteQuestion::Test(test) => goes_left(test),
                RouteQuestion::Cubes(grid, cubes) => cubes.goes_left(grid, cube),
            };
            target = if is_left { *left } else { *right };
        }
        !target.0 as usize
    }
}

impl Router<'_, Test> {
    /// A tree of tests of single features, each with its left and right target: the number of a
    /// test or of a leaf. The first test is the start; without tests there is only leaf 0.
    pub(in crate::tree) fn of_tests(
        routes: impl IntoIterator<Item = (Test, [Result<usize, usize>; 2])>,
    ) -> Self {
        let target = |to: Result<usize, usize>| match to {
            Ok(step) => RouteTarget(step as i64),
            Err(leaf) => RouteTarget(!(leaf as i64)),
        };
        let step = |(test, [left, right]): (Test, [_; 2])| {
            (RouteQuestion::Test(test), target(left), target(right))
        };
        let steps: Vec<_> = routes.into_iter().map(step).collect();
        Self { start: target(if steps.is_empty() { Err(0) } else { Ok(0) }), steps }
    }

    /// Writes the value of the leaf of each row to its place.
    // As an argument `out` is known not to alias, so that the loop does not reload values.
    #[inline(never)]
    fn put_values<'r, V: Copy>(
        &self,
        grid: Option<&CubeGrid>,
        rows: impl Iterator<Item = &'r [f64]>,
        values: &[V],
        out: &mut [V],
    ) {
        for (row, out) in rows.zip(out) {
            let cube = grid.map_or(NO_CUBE, |grid| grid.key(row));
            *out = values[self.leaf(cube, |test| test.goes_left(row))];
        }
    }
}

/// Adds the stumps of one split, whose sides lead to `left_entry` and `right_entry`.
fn push_cuts<T>(
    steps: &mut Vec<(RouteQuestion<'_, T>, RouteTarget, RouteTarget)>,
    cuts: &[SplitNode],
    left_entry: RouteTarget,
    right_entry: RouteTarget,
    form: impl Fn(&Test) -> T,
) {
    let mut number = vec![0; cuts.len()];
    let places = (0..cuts.len()).filter(|&place| is_cut(&cuts[place]));
    for (step, place) in (steps.len() as i64..).zip(places) {
        number[place] = step;
    }
    let target = |place: usize| match cuts[place] {
        SplitNode::Cut { .. } => RouteTarget(number[place]),
        SplitNode::Part { goes_left: true, .. } => left_entry,
        SplitNode::Part { goes_left: false, .. } => right_entry,
    };
    for cut in cuts {
        if let SplitNode::Cut { test, left, right, .. } = cut {
            steps.push((RouteQuestion::Test(form(test)), target(*left), target(*right)));
        }
    }
}

fn is_cut(cut: &SplitNode) -> bool {
    matches!(cut, SplitNode::Cut { .. })
}

impl RankingTree {
    /// Place in the ranking of the leaf of each row, 0 for the leaf that ranks highest.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity; [`TreeError::NeedsClassifiers`] if the tree has classifiers and they are not given
    /// as `external`; and errors of the classifiers.
    pub fn apply(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<u32>, RankError> {
        self.of_rows(columns, external, &(0..self.n_leaves() as u32).collect::<Vec<_>>())
    }

    /// Score of each row: [`RankingTree::leaf_scores`] of its leaf.
    ///
    /// # Errors
    ///
    /// As [`RankingTree::apply`].
    pub fn score(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        self.of_rows(columns, external, &self.leaf_scores())
    }

    /// Probability of the positive class of each row: [`RankingTree::probabilities`] of its leaf.
    ///
    /// # Errors
    ///
    /// As [`RankingTree::apply`].
    pub fn probability(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        self.of_rows(columns, external, &self.probabilities())
    }

    /// The value of the leaf of each row, given the values of the leaves in ranking order.
    pub(crate) fn values_of_rows(
        &self,
        columns: &Columns<'_>,
        values: &[f64],
    ) -> Result<Vec<f64>, RankError> {
        self.of_rows(columns, None, values)
    }

    fn of_rows<V>(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
        values: &[V],
    ) -> Result<Vec<V>, RankError>
    where
        V: Copy + Default + Send + Sync,
    {
        self.check_columns(columns)?;
        if !self.classifiers().is_empty() {
            let classifiers = external.ok_or(RankError::Tree(TreeError::NeedsClassifiers))?;
            return self.leaf_values_by(columns, classifiers, values);
        }
        let router = Router::new(self, Test::clone);
        let n_features = columns.n_features();
        if n_features == 0 {
            return Ok(vec![values[0]; columns.n_rows()]);
        }
        let mut out = vec![V::default(); columns.n_rows()];
        let of_tile = |tile: &mut Vec<f64>, (chunk, out): (usize, &mut [V])| {
            let rows = chunk * TILE_ROWS..chunk * TILE_ROWS + out.len();
            tile.resize(out.len() * n_features, 0.0);
            if columns.read_rows(rows, tile) {
                return true;
            }
            router.put_values(self.grid(), tile.chunks_exact(n_features), values, out);
            false
        };
        let tiles = out.chunks_mut(TILE_ROWS).enumerate().collect();
        if parallel::map_with(tiles, 16, Vec::new, of_tile).contains(&true) {
            return Err(columns.refusal());
        }
        Ok(out)
    }

    pub(in crate::tree) fn check_columns(&self, columns: &Columns<'_>) -> Result<(), RankError> {
        columns.check_kinds(self.n_levels())
    }
}

impl RankingTree {
    /// Numbers of the classifiers in the order of the nodes, to be changed.
    pub(in crate::tree) fn classifiers_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        self.splits_mut().filter_map(|split| match &mut split.form {
            SplitForm::Classifier { number, .. } => Some(number),
            SplitForm::Stump(_) | SplitForm::Cuts(_) | SplitForm::Cubes(_) => None,
        })
    }

    /// Place in the ranking of the leaf of each row. From the root down, every classifier is called
    /// once, on the rows of `columns` that reach its node.
    pub(in crate::tree) fn places_by(
        &self,
        columns: &Columns<'_>,
        rows: &[u32],
        classifiers: &dyn ExternalModels,
    ) -> Result<Vec<u32>, RankError> {
        let mut place_of_leaf = vec![0; self.nodes().len()];
        for (place, leaf) in (0..).zip(self.leaves()) {
            place_of_leaf[leaf] = place;
        }
        let mut places = vec![0; rows.len()];
        let mut reached: Vec<Vec<usize>> = vec![Vec::new(); self.nodes().len()];
        reached[0] = (0..rows.len()).collect();
        for (number, node) in self.nodes().iter().enumerate() {
            let here = std::mem::take(&mut reached[number]);
            let Some(split) = &node.split else {
                for row in here {
                    places[row] = place_of_leaf[number];
                }
                continue;
            };
            let SplitForm::Classifier { number: classifier, positive_left } = split.form else {
                unreachable!("either all splits are classifiers or none is");
            };
            if here.is_empty() {
                continue;
            }
            columns.check_interrupt()?;
            let of_rows: Vec<u32> = here.iter().map(|&row| rows[row]).collect();
            let answers = called_positive(classifiers, classifier, &of_rows)?;
            for (row, is_positive) in here.into_iter().zip(answers) {
                let side = if is_positive == positive_left { split.left() } else { split.right() };
                reached[side].push(row);
            }
        }
        Ok(places)
    }

    /// The value of the leaf of each row, given the values of the leaves in ranking order.
    fn leaf_values_by<V: Copy>(
        &self,
        columns: &Columns<'_>,
        classifiers: &dyn ExternalModels,
        values: &[V],
    ) -> Result<Vec<V>, RankError> {
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        let rows: Vec<u32> = (0..columns.n_rows() as u32).collect();
        let places = self.places_by(columns, &rows, classifiers)?;
        Ok(places.into_iter().map(|place| values[place as usize]).collect())
    }
}
