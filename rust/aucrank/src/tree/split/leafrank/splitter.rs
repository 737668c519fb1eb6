//! The splitter: trees of stumps of many nodes at once, merged into two sides.

use super::growing::{Growing, Part, Siblings};
use super::merge::Merger;
use super::params::{Cuts, LeafRankParams};
use crate::data::{CellId, FeatureBins, Histogram, HistogramRequest, SumSource, Tally, mix};
use crate::tree::grow::{Division, Family, LeastSplit, OpenNode, Splitter};
use crate::tree::split::stump::{Stump, StumpTerms, best_stump};
use crate::{RankError, parallel};

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

    /// Whether every stump looks at every feature, so that histograms can be derived from one
    /// another.
    fn sees_all(&self) -> bool {
        self.params.max_features.is_none()
    }

    /// Grows the tree of stumps of each node, which is what is kept of it.
    pub(super) fn grow_parts<'a, S: SumSource + Sync>(
        &self,
        source: &mut S,
        nodes: &'a [OpenNode<Option<Histogram<S::Tally>>>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Growing<'a, S::Tally>>, RankError> {
        let mut growing: Vec<Growing<'_, S::Tally>> = nodes.iter().map(Growing::new).collect();
        if self.sees_all() {
            let features = source.features();
            parallel::map(growing.iter_mut().collect(), |tree: &mut Growing<'_, S::Tally>| {
                let histogram = tree.node.kept.as_ref().expect("kept for every node");
                tree.parts[0].stump =
                    self.params.stump_for(features, histogram, &tree.parts[0], self.terms);
            });
        } else {
            let all: Vec<(usize, usize)> = (0..growing.len()).map(|tree| (tree, 0)).collect();
            self.params.draw_stumps(source, &mut growing, &all, self.terms)?;
        }
        while cut_once(source, &mut growing, &self.params, self.terms, next_cell)? {}
        Ok(growing)
    }

    /// What merges the parts of a node.
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
        families: Vec<Family<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError> {
        if !self.sees_all() {
            let children = families.into_iter().flat_map(Family::splittable);
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
        part: &Part<T>,
        terms: StumpTerms<'_>,
    ) -> Option<Stump> {
        let (sums, min_rows) = (part.sums, self.min_samples_leaf);
        let terms = self.drawing(terms, part.seed);
        self.is_large(sums).then(|| best_stump(features, histogram, sums, min_rows, terms))?
    }

    /// Terms for a part, which has a seed of its own.
    pub(super) fn drawing<'t>(&self, terms: StumpTerms<'t>, seed: u64) -> StumpTerms<'t> {
        // Not the seed by which its features are drawn.
        StumpTerms { draw: (self.cuts == Cuts::Random).then(|| mix(!seed)), ..terms }
    }
}

/// Cuts the parts that are to be cut next in every tree; `false` when there are none.
fn cut_once<S: SumSource + Sync>(
    source: &mut S,
    growing: &mut [Growing<'_, S::Tally>],
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
