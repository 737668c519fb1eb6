//! The splitter: trees of stumps of many nodes at once, merged into two sides.

use std::sync::Arc;

use super::growing::{GrowingStumps, Merger, NodePart, Siblings};
use super::{Cuts, LeafRankParams, PreparedStumps};
use crate::data::{
    CellId, FeatureBins, Folds, Histogram, HistogramRequest, MemorySource, RowTally, SumSource,
    Tally, mix,
};
use crate::tree::grow::{Division, LeastSplit, OpenNode, SplitFamily, Splitter};
use crate::tree::model::RankingTree;
use crate::tree::prune::{CvParams, PruningPath, cross_validate};
use crate::tree::sample::{Sample, places_by_codes};
use crate::tree::split::stump::{Stump, StumpTerms, best_stump};
use crate::{Interrupt, RankError, parallel};

/// Splits nodes by trees of stumps.
#[derive(Debug)]
pub(in crate::tree) struct LeafRankSplitter<'t> {
    params: LeafRankParams,
    least: LeastSplit,
    terms: StumpTerms<'t>,
}

impl<'t> LeafRankSplitter<'t> {
    pub(in crate::tree) fn new(
        params: LeafRankParams,
        least: LeastSplit,
        terms: StumpTerms<'t>,
    ) -> Self {
        Self { params, least, terms }
    }

    /// Whether every stump considers every feature, so that histograms can be derived from one
    /// another.
    fn sees_all(&self) -> bool {
        self.params.max_features.is_none()
    }

    /// Grows the tree of stumps of each node, which is kept with the node.
    pub(super) fn grow_parts<'a, S: SumSource + Sync>(
        &self,
        source: &mut S,
        nodes: &'a [OpenNode<Option<Histogram<S::Tally>>>],
        next_cell: &mut CellId,
    ) -> Result<Vec<GrowingStumps<'a, S::Tally>>, RankError> {
        let mut growing: Vec<GrowingStumps<'_, S::Tally>> =
            nodes.iter().map(GrowingStumps::new).collect();
        if self.sees_all() {
            let features = source.features();
            parallel::map(
                growing.iter_mut().collect(),
                |tree: &mut GrowingStumps<'_, S::Tally>| {
                    let histogram = tree.node.kept.as_ref().expect("kept for every node");
                    tree.parts[0].stump =
                        self.params.stump_for(features, histogram, &tree.parts[0], self.terms);
                },
            );
        } else {
            let all: Vec<(usize, usize)> = (0..growing.len()).map(|tree| (tree, 0)).collect();
            self.params.draw_stumps(source, &mut growing, &all, self.terms)?;
        }
        while cut_once(source, &mut growing, &self.params, self.terms, next_cell)? {}
        Ok(growing)
    }

    /// Merger of the parts of a node.
    pub(super) fn merger(&self) -> Merger<'t> {
        let StumpTerms { monotonic, criterion, .. } = self.terms;
        Merger { least: self.least, monotonic, criterion }
    }
}

impl<S: SumSource + Sync> Splitter<S> for LeafRankSplitter<'_> {
    type Kept = Option<Histogram<S::Tally>>;

    fn start(&self, source: &S, root: OpenNode<()>) -> Result<OpenNode<Self::Kept>, RankError> {
        let wanted =
            if self.sees_all() { vec![HistogramRequest::all(root.cell)] } else { Vec::new() };
        let histogram = source.histograms(&wanted)?.pop();
        Ok(root.keeping(histogram))
    }

    fn divide(
        &self,
        source: &mut S,
        nodes: &[OpenNode<Self::Kept>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Option<Division>>, RankError> {
        let growing = self.grow_parts(source, nodes, next_cell)?;
        Ok(growing.into_iter().map(|tree| self.merger().merge(tree)).collect())
    }

    fn descend(
        &self,
        source: &S,
        families: Vec<SplitFamily<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError> {
        if !self.sees_all() {
            let children = families.into_iter().flat_map(SplitFamily::splittable);
            return Ok(children.map(|child| child.keeping(None)).collect());
        }
        // Count the smaller child and derive the other.
        let smaller = |children: &[OpenNode<()>; 2]| {
            usize::from(children[1].sums.rows < children[0].sums.rows)
        };
        let wanted: Vec<HistogramRequest> = families
            .iter()
            .map(|family| HistogramRequest::all(family.children[smaller(&family.children)].cell))
            .collect();
        let counted = source.histograms(&wanted)?;
        let mut open = Vec::with_capacity(2 * families.len());
        for (family, small) in families.into_iter().zip(counted) {
            let whole = family.parent.kept.as_ref().expect("kept for every node");
            let large = whole.without(&small);
            let is_first = smaller(&family.children) == 0;
            let histograms = if is_first { [small, large] } else { [large, small] };
            let children = family.children.into_iter().zip(family.may_split).zip(histograms);
            open.extend(children.filter_map(|((child, may_split), histogram)| {
                may_split.then(|| child.keeping(Some(histogram)))
            }));
        }
        Ok(open)
    }

    fn n_bytes(&self, kept: &Self::Kept) -> usize {
        kept.as_ref().map_or(0, Histogram::n_bytes)
    }
}

impl LeafRankParams {
    fn stump_for<T: Tally>(
        &self,
        features: &[FeatureBins],
        histogram: &Histogram<T>,
        part: &NodePart<T>,
        terms: StumpTerms<'_>,
    ) -> Option<Stump> {
        let (sums, min_rows) = (part.sums, self.min_samples_leaf);
        let terms = self.drawing(terms, part.seed);
        self.is_large(sums).then(|| best_stump(features, histogram, sums, min_rows, terms))?
    }

    /// Terms for a part, with its own seed.
    pub(super) fn drawing<'t>(&self, terms: StumpTerms<'t>, seed: u64) -> StumpTerms<'t> {
        // Distinct from the seed that draws its features.
        StumpTerms { draw: (self.cuts == Cuts::Random).then(|| mix(!seed)), ..terms }
    }
}

/// Cuts the next parts of every tree; `false` if there are none.
fn cut_once<S: SumSource + Sync>(
    source: &mut S,
    growing: &mut [GrowingStumps<'_, S::Tally>],
    params: &LeafRankParams,
    terms: StumpTerms<'_>,
    next_cell: &mut CellId,
) -> Result<bool, RankError> {
    let (mut splits, mut siblings) = (Vec::new(), Vec::new());
    for (index, tree) in growing.iter_mut().enumerate() {
        tree.cut(index, params, source.features(), next_cell, &mut splits, &mut siblings);
    }
    if splits.is_empty() {
        return Ok(false);
    }
    source.split(&splits)?;
    siblings.retain(|pair| growing[pair.tree].may_grow(params, pair.left));
    if params.max_features.is_some() {
        let both = |pair: &Siblings<_>| [(pair.tree, pair.left), (pair.tree, pair.left + 1)];
        let parts: Vec<(usize, usize)> = siblings.iter().flat_map(both).collect();
        params.draw_stumps(source, growing, &parts, terms)?;
        return Ok(true);
    }

    // Count the smaller of two parts and derive the other.
    let trees = &*growing;
    let smaller = |pair: &Siblings<S::Tally>| {
        let parts = &trees[pair.tree].parts;
        pair.left + usize::from(parts[pair.left + 1].sums.rows < parts[pair.left].sums.rows)
    };
    let wanted: Vec<HistogramRequest> = siblings
        .iter()
        .map(|pair| HistogramRequest::all(trees[pair.tree].parts[smaller(pair)].cell))
        .collect();
    let counted = source.histograms(&wanted)?;
    let features = source.features();
    let found = parallel::map(siblings.into_iter().zip(counted).collect(), |(pair, histogram)| {
        let tree = &trees[pair.tree];
        let small = smaller(&pair);
        let large = 2 * pair.left + 1 - small;
        let parent = pair.parent.as_ref().or(tree.node.kept.as_ref());
        let rest = parent.expect("kept for every node").without(&histogram);
        [(small, histogram), (large, rest)].map(|(part, histogram)| {
            let stump = params.stump_for(features, &histogram, &tree.parts[part], terms);
            (pair.tree, part, stump, histogram)
        })
    });
    for (tree, part, stump, histogram) in found.into_iter().flatten() {
        let part = &mut growing[tree].parts[part];
        part.histogram = stump.is_some().then_some(histogram);
        part.stump = stump;
    }
    Ok(true)
}

/// Splits nodes by pruned trees of stumps.
#[derive(Debug)]
pub(super) struct PrunedLeafRankSplitter<'a, R> {
    pub(super) stumps: LeafRankSplitter<'a>,
    pub(super) prepared: &'a PreparedStumps,
    pub(super) sample: &'a Sample<'a, R>,
    pub(super) folds: &'a Folds,
    pub(super) pruning: CvParams,
    pub(super) interrupt: &'a Interrupt,
}

impl<R: RowTally + Copy> PrunedLeafRankSplitter<'_, R> {
    /// The subtree of the tree of stumps of a node that cross-validates best on the rows of the
    /// node; `None` if fewer than two folds have both classes inside and outside.
    fn pruned(
        &self,
        tree: &RankingTree,
        rows: &[u32],
        seed: u64,
    ) -> Result<Option<RankingTree>, RankError> {
        let fold_of = |row: u32| self.folds.of_row[row as usize];
        let parts = |fold: u16| {
            let (inside, mut outside): (Vec<u32>, Vec<u32>) =
                rows.iter().partition(|&&row| fold_of(row) == fold);
            self.sample.labels.leave_gap(&mut outside, &inside);
            (fold, [inside, outside])
        };
        let is_mixed = |rows: &Vec<u32>| self.sample.total(rows).is_mixed();
        let is_usable = |(_, parts): &(u16, [Vec<u32>; 2])| parts.iter().all(is_mixed);
        let usable: Vec<_> = (0..self.folds.n_folds).map(parts).filter(is_usable).collect();
        if usable.len() < 2 || tree.n_leaves() < 2 {
            return Ok(None);
        }
        let without = |(fold, [inside, outside]): (u16, [Vec<u32>; 2])| {
            let tree = self.grow(outside, mix(seed ^ (u64::from(fold) + 1)))?;
            let places = places_by_codes(self.sample.binned, &tree, &inside, None);
            let sums = self.sample.sums_of_nodes(&tree, &inside, &places);
            Ok((tree, sums))
        };
        let without = parallel::try_map(usable, without)?;
        let found = cross_validate(tree, without, 1.0, self.pruning.one_standard_error);
        Ok(Some(PruningPath::of(tree).tree(tree, found.chosen)))
    }

    /// Grows a tree of stumps on some rows of a node.
    fn grow(&self, rows: Vec<u32>, seed: u64) -> Result<RankingTree, RankError> {
        self.interrupt.check()?;
        let sums = self.sample.total(&rows);
        let mut source = self.prepared.source(self.sample, rows, self.interrupt);
        let root = OpenNode { node: 0, depth: 0, cell: 0, sums, neg_above: 0, seed, kept: () };
        let root = [self.stumps.start(&source, root)?];
        let growing = self.stumps.grow_parts(&mut source, &root, &mut 1)?;
        Ok(growing[0].tree(Arc::clone(&self.sample.frame)))
    }
}

type KeptByLeafRank<'s, R> = <LeafRankSplitter<'s> as Splitter<MemorySource<'s, R>>>::Kept;

impl<'s, R: RowTally + Copy> Splitter<MemorySource<'s, R>> for PrunedLeafRankSplitter<'_, R> {
    type Kept = KeptByLeafRank<'s, R>;

    fn start(
        &self,
        source: &MemorySource<'s, R>,
        root: OpenNode<()>,
    ) -> Result<OpenNode<Self::Kept>, RankError> {
        self.stumps.start(source, root)
    }

    fn divide(
        &self,
        source: &mut MemorySource<'s, R>,
        nodes: &[OpenNode<Self::Kept>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Option<Division>>, RankError> {
        let rows: Vec<Vec<u32>> =
            nodes.iter().map(|node| source.rows(node.cell).to_vec()).collect();
        let growing = self.stumps.grow_parts(source, nodes, next_cell)?;
        let merger = self.stumps.merger();
        let divide = |((node, growing), rows): ((&OpenNode<_>, GrowingStumps<'_, _>), Vec<u32>)| {
            let tree = growing.tree(Arc::clone(&self.sample.frame));
            Ok(match self.pruned(&tree, &rows, node.seed)? {
                Some(pruned) => merger.merge_leaves(&growing, &pruned),
                None => merger.merge(growing),
            })
        };
        let parts = nodes.iter().zip(growing).zip(rows).collect();
        parallel::try_map(parts, divide)
    }

    fn descend(
        &self,
        source: &MemorySource<'s, R>,
        families: Vec<SplitFamily<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError> {
        self.stumps.descend(source, families)
    }

    fn n_bytes(&self, kept: &Self::Kept) -> usize {
        <LeafRankSplitter<'_> as Splitter<MemorySource<'s, R>>>::n_bytes(&self.stumps, kept)
    }
}

#[cfg(test)]
mod tests_of_pruned {
    use super::*;
    use crate::data::{ClassSums, Columns, Labels};
    use crate::tree::{
        GrowParams, LeafOrder, LeafRankParams, PruningRule, SplitForm, SplitNode, SplitRule,
        TreeRankParams, fit,
    };

    /// Class sums of the parts of the split of the root.
    fn parts(tree: &RankingTree) -> Vec<ClassSums> {
        let part = |node: &SplitNode| match node {
            SplitNode::Part { sums, .. } => Some(*sums),
            SplitNode::Cut { .. } => None,
        };
        match tree.nodes()[0].split.as_ref().map(|split| &split.form) {
            None => vec![tree.total()],
            Some(SplitForm::Cuts(cuts)) => cuts.iter().filter_map(part).collect(),
            Some(_) => tree.leaf_sums(),
        }
    }

    #[test]
    fn the_parts_of_the_root_are_the_leaves_of_a_pruned_tree_of_stumps() {
        let mut sizes = Vec::new();
        for seed in 0..20_u64 {
            let values: Vec<f64> =
                (0..600).map(|i| (mix(1000 * seed + i) % 1000) as f64 / 1000.0).collect();
            let positive: Vec<bool> = (0..300_u64)
                .map(|row| {
                    let x = &values[2 * row as usize..2 * row as usize + 2];
                    let eta = if (x[0] - 0.5).abs() < 0.3 && x[1] > 0.3 { 0.8 } else { 0.2 };
                    (mix(mix(seed) ^ row) % 1000) as f64 / 1000.0 < eta
                })
                .collect();
            let columns = Columns::from_row_major(&values, 2).unwrap();
            let labels = Labels::new(&positive, None).unwrap();
            let fit = |max_depth, split, pruning| {
                let grow = GrowParams {
                    max_depth,
                    min_samples_leaf: 1,
                    leaf_order: LeafOrder::Tree,
                    ..GrowParams::default()
                };
                let params =
                    TreeRankParams { pruning, seed: 7, ..TreeRankParams::new(grow, split) };
                fit((&columns, &labels), &params, &Interrupt::default()).unwrap().tree
            };
            let cv = |seed| CvParams { n_folds: 5, one_standard_error: seed % 2 == 0, seed };
            let one = LeafRankParams::orthogonal(1);
            let inner = LeafRankParams { max_depth: 4, pruning: Some(cv(seed)), ..one };
            let split = fit(1, SplitRule::Stumps(inner), None);
            let outer = CvParams { seed: mix(7 ^ seed), ..cv(seed) };
            let tree = fit(4, SplitRule::Stumps(one), Some(PruningRule::CrossValidation(outer)));
            assert_eq!(parts(&split), tree.leaf_sums());
            sizes.push(tree.n_leaves());
        }
        let grown = |&&n: &&usize| n > 2;
        assert!(
            sizes.iter().filter(grown).count() > 10 && sizes.iter().any(|&n| n < 10),
            "{sizes:?}"
        );
    }
}
