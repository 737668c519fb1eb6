//! A split by a tree of stumps that is pruned by cross-validation of its own AUC before its cells are
//! merged (paper 2 sec. 6.3 iv, DECISIONS T23).

use std::sync::Arc;

use super::growing::Growing;
use super::prepared::PreparedStumps;
use super::splitter::LeafRankSplitter;
use crate::data::{CellId, ClassSums, Folds, MemorySource, RowTally, mix};
use crate::tree::grow::{Division, Family, OpenNode, Splitter};
use crate::tree::model::RankingTree;
use crate::tree::prune::{CvParams, PruningPath, cross_validate};
use crate::tree::sample::{Sample, places_by_codes};
use crate::{Interrupt, RankError, parallel};

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
    /// The subtree of the tree of stumps of a node that cross-validates best on the rows of the node;
    /// `None` where fewer than two folds have both classes within and without.
    fn pruned(
        &self,
        tree: &RankingTree,
        rows: &[u32],
        seed: u64,
    ) -> Result<Option<RankingTree>, RankError> {
        let fold_of = |row: u32| self.folds.of_row[row as usize];
        let mut sums = vec![ClassSums::default(); self.folds.n_folds.into()];
        for &row in rows {
            sums[usize::from(fold_of(row))] += self.sample.sums(row);
        }
        let total = tree.total();
        let is_usable = |&fold: &u16| {
            let inside = sums[usize::from(fold)];
            inside.is_mixed() && (total - inside).is_mixed()
        };
        let usable: Vec<u16> = (0..self.folds.n_folds).filter(is_usable).collect();
        if usable.len() < 2 || tree.n_leaves() < 2 {
            return Ok(None);
        }
        let without = |fold: u16| {
            let (inside, outside): (Vec<u32>, Vec<u32>) =
                rows.iter().partition(|&&row| fold_of(row) == fold);
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

type Kept<'s, R> = <LeafRankSplitter<'s> as Splitter<MemorySource<'s, R>>>::Kept;

impl<'s, R: RowTally + Copy> Splitter<MemorySource<'s, R>> for PrunedLeafRankSplitter<'_, R> {
    type Kept = Kept<'s, R>;

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
        let divide = |((node, growing), rows): ((&OpenNode<_>, Growing<'_, _>), Vec<u32>)| {
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
        families: Vec<Family<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError> {
        self.stumps.descend(source, families)
    }

    fn n_bytes(&self, kept: &Self::Kept) -> usize {
        <LeafRankSplitter<'_> as Splitter<MemorySource<'s, R>>>::n_bytes(&self.stumps, kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Columns, Labels};
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
                fit(&columns, &labels, &params, &Interrupt::default()).unwrap().tree
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
