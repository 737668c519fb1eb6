//! Ordered lists of rules over places: a row belongs to the first rule whose conditions it meets,
//! or to the rest.

use std::sync::Arc;

use super::places::{PlaceCut, PlaceTests, PlacedRows};
use crate::data::{ClassSums, Tally};
use crate::tree::model::{Node, NodeSplit, RankingTree, SplitForm, SplitNode, TreeFrame};

/// A condition: that a row is on one side of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlaceCondition {
    pub(super) cut: PlaceCut,
    /// Whether it is met on the low side.
    pub(super) is_low: bool,
}

/// Conditions that are to be met at once; at least one.
pub(super) type PlaceRule = Vec<PlaceCondition>;

/// Whether a row meets all conditions.
pub(super) fn meets<T: Tally>(
    rows: &PlacedRows<T>,
    mut conditions: impl Iterator<Item = PlaceCondition>,
    row: u32,
) -> bool {
    conditions.all(|condition| rows.is_low(condition.cut, row) == condition.is_low)
}

/// The number of the first rule that a row meets, from `first` on; the number of rules if it meets
/// none.
pub(super) fn first_met<T: Tally>(
    rows: &PlacedRows<T>,
    rules: &[PlaceRule],
    first: usize,
    row: u32,
) -> usize {
    let is_met = |&number: &usize| meets(rows, rules[number].iter().copied(), row);
    (first..rules.len()).find(is_met).unwrap_or(rules.len())
}

/// Whether the rows of a rule rank above those that go on to the next, as the directions of its
/// features have it; `None` if they do not allow the rule.
pub(super) fn ranks_first<T: Tally>(
    rows: &PlacedRows<T>,
    rule: &[PlaceCondition],
    of_rule: ClassSums,
    rest: ClassSums,
) -> Option<bool> {
    let order = of_rule.cmp_eta(rest);
    let mut bound = None;
    for condition in rule {
        // What is low ranks first where the score falls.
        let direction = rows.direction(condition.cut);
        let required = match direction {
            0 => continue,
            _ => (direction < 0) == condition.is_low,
        };
        if bound.is_some_and(|other| other != required) {
            return None;
        }
        bound = Some(required);
    }
    let Some(required) = bound else { return Some(order.is_ge()) };
    (order.is_eq() || order.is_gt() == required).then_some(required)
}

/// The fitted tree of some rules, each the split of a node whose other side goes on to the next.
pub(super) fn to_tree<T: Tally>(
    rows: &PlacedRows<T>,
    rules: &[PlaceRule],
    tests: &PlaceTests<'_>,
    frame: &Arc<TreeFrame>,
) -> RankingTree {
    let mut nodes = Vec::with_capacity(2 * rules.len() + 1);
    let mut reached: Vec<u32> = (0..rows.n_rows() as u32).collect();
    for rule in rules {
        let (of_rule, rest): (Vec<u32>, Vec<u32>) =
            reached.iter().partition(|&&row| meets(rows, rule.iter().copied(), row));
        let sums = [&of_rule, &rest].map(|part| rows.sums(part));
        let [sums_of_rule, sums_of_rest] = sums;
        let is_first = ranks_first(rows, rule, sums_of_rule, sums_of_rest).unwrap_or(true);
        let form = split_form(rows, rule, &reached, is_first, tests);
        let (leaf, next) = (nodes.len() + 1, nodes.len() + 2);
        let (left, right) = if is_first { (leaf, next) } else { (next, leaf) };
        let split = Some(NodeSplit::new(form, left, right));
        nodes.push(Node { sums: sums_of_rule + sums_of_rest, split });
        nodes.push(Node { sums: sums_of_rule, split: None });
        reached = rest;
    }
    nodes.push(Node { sums: rows.sums(&reached), split: None });
    RankingTree::new(Arc::clone(frame), nodes)
}

/// The split of the rows that reach a rule: one stump, or a chain of them.
fn split_form<T: Tally>(
    rows: &PlacedRows<T>,
    rule: &[PlaceCondition],
    reached: &[u32],
    is_first: bool,
    tests: &PlaceTests<'_>,
) -> SplitForm {
    let test = |condition: &PlaceCondition, reached: &[u32]| {
        let left_is_low = condition.is_low == is_first;
        let test = tests.test(rows, condition.cut, &rows.histogram(reached), left_is_low);
        tests.of_values(&test)
    };
    if let [condition] = rule {
        return SplitForm::Stump(test(condition, reached));
    }
    let mut chain = Vec::with_capacity(2 * rule.len() + 1);
    // The parts that fail a condition come after the chain where they are on the right.
    let mut failed = Vec::new();
    let mut reached = reached.to_vec();
    for condition in rule {
        let (met, others): (Vec<u32>, Vec<u32>) =
            reached.iter().partition(|&&row| meets(rows, std::iter::once(*condition), row));
        let sums = rows.sums(&reached);
        let part = SplitNode::Part { sums: rows.sums(&others), goes_left: !is_first };
        let test = test(condition, &reached);
        let place = chain.len();
        if is_first {
            // The last part of the chain, then those that failed, the last condition first.
            let right = 2 * rule.len() - failed.len();
            chain.push(SplitNode::Cut { sums, test, left: place + 1, right });
            failed.push(part);
        } else {
            chain.push(SplitNode::Cut { sums, test, left: place + 1, right: place + 2 });
            chain.push(part);
        }
        reached = met;
    }
    chain.push(SplitNode::Part { sums: rows.sums(&reached), goes_left: is_first });
    chain.extend(failed.into_iter().rev());
    SplitForm::Cuts(chain)
}
