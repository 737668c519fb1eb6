//! The values of the leaves of some bags, set again from all rows of the fit.
//!
//! A bag does not learn from the rows that it holds out, and each of its trees learns from drawn rows
//! only. Splits have to be chosen that way: the held-out rows tell when to stop. But the values of
//! the leaves may come from all rows once the number of rounds is chosen: tree by tree, each value is
//! that of a Newton step at the scores of the trees before, from the first tree on.

use super::bags::{BagFit, Refitted, criterion};
use super::source::BagSource;
use super::split_criterion::SplitCriterion;
use super::sums::LeafGradients;
use crate::RankError;
use crate::data::{LARGEST_SUM, snap};

/// Sets the values of all bags again; of none if the time of the fit is over before the end. Each bag
/// keeps its own trees, too: they alone score the rows that it holds out.
pub(super) fn refit_leaves<S: BagSource>(bags: &mut [BagFit<'_, S>]) -> Result<(), RankError> {
    S::side_by_side(bags.iter_mut().collect(), |bag, line| {
        bag.refitted = refitted(bag, line)?;
        Ok(())
    })?;
    if bags.iter().any(|bag| bag.refitted.is_none()) {
        for bag in bags {
            bag.refitted = None;
        }
    }
    Ok(())
}

/// `None` if the time of the fit is over, or if sums of scores would not be exact.
fn refitted<S: BagSource>(
    bag: &mut BagFit<'_, S>,
    line: S::Line<'_>,
) -> Result<Option<Refitted>, RankError> {
    let total = bag.source.total_of_all(line)?;
    let (criterion, unbounded) = (criterion(bag.params, total), [f64::NEG_INFINITY, f64::INFINITY]);
    let start = bag.params.loss.start(total.of_classes);
    bag.source.restart(start);
    let (mut trees, mut largest) = (Vec::with_capacity(bag.trees.len()), start.abs());
    for number in 0..bag.trees.len() {
        bag.interrupt.check()?;
        if bag.interrupt.is_over() {
            return Ok(None);
        }
        let found = bag.source.leaf_sums(line, number)?;
        let value = |leaf: &LeafGradients| {
            snap(bag.rate * SplitCriterion::leaf_value(criterion.leaf(leaf.sums, unbounded)))
        };
        let values: Vec<f64> = found.iter().map(value).collect();
        bag.source.add_leaves(number, &values);
        let weights = found.iter().map(|leaf| leaf.mass as f64 * total.unit());
        let tree = bag.trees[number].clone().with_leaves(values.into_iter().zip(weights));
        largest += tree.largest_value();
        trees.push(tree);
    }
    Ok((largest <= LARGEST_SUM).then_some(Refitted { start, trees }))
}
