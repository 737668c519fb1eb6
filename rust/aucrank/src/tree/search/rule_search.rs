//! The list of a few rules with a large area: each list of a beam is continued by the rules that add
//! most by the slopes of its own curve, and its conditions move; then each rule makes way for
//! another.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use super::area_slopes::ROUNDING;
use super::lookahead::{Lookahead, SearchNode};
use super::params::SearchExtent;
use super::places::PlacedRows;
use super::rounds::TreeLimits;
use super::rule_list::{PlaceCondition, PlaceRule, meets, ranks_first};
use super::rule_moves::{MOST_ROUNDS, MovedList};
use crate::data::{ClassSums, Tally};
use crate::{Interrupt, RankError, parallel};

/// Lists that are continued, and rules that each is continued by, at least and at most: as many as
/// there is time for, given the values of the rows.
const LEAST_BEAM: usize = 2;
const MOST_BEAM: usize = 16;
const BEAM_VALUES: usize = 20_000;

/// A rule that may continue a list.
#[derive(Debug, Clone)]
struct NextRule {
    rule: PlaceRule,
    of_rule: ClassSums,
    /// The values of its rows and of those that go on.
    value: f64,
}

/// A condition that may join others.
struct NextCondition {
    condition: PlaceCondition,
    /// As in [`NextRule`], of the rule with this condition.
    of_rule: ClassSums,
    value: f64,
}

impl NextCondition {
    fn rule_after(self, others: &[PlaceCondition]) -> NextRule {
        let Self { condition, of_rule, value } = self;
        NextRule { rule: [others, &[condition]].concat(), of_rule, value }
    }
}

/// Searches a list of rules of at most `most_conditions` conditions.
pub(super) fn best_list<T: Tally>(
    rows: &PlacedRows<T>,
    most_conditions: usize,
    limits: TreeLimits,
    interrupt: &Interrupt,
) -> Result<Vec<PlaceRule>, RankError> {
    let TreeLimits { leaves, depth, max_fpr, .. } = limits;
    let mut best = MovedList::new(rows, Vec::new(), most_conditions, max_fpr);
    // A row of weight k is as many rows.
    let n_values = (best.total.rows as usize * rows.features.len()).max(1);
    let width = (BEAM_VALUES / n_values).clamp(LEAST_BEAM, MOST_BEAM);
    let mut beam = vec![best.clone()];
    for _ in 0..(leaves - 1).min(depth) {
        let mut longer = Vec::new();
        for list in &beam {
            longer.extend(continued(list, width, 1, interrupt)?);
        }
        longer.sort_by(|a, b| b.area().total_cmp(&a.area()));
        // Of lists of the same strata one: most have the same rules in another order.
        let mut known = HashSet::new();
        longer.retain(|list| known.insert(list.strata()));
        longer.truncate(width);
        let Some(list) = longer.first() else { break };
        best.take_better(list);
        beam = longer;
        if interrupt.is_over() {
            return Ok(best.into_rules());
        }
    }
    for mut list in beam {
        list.improve(MOST_ROUNDS, interrupt)?;
        best.take_better(&list);
    }
    // Each rule makes way for another, the last one first.
    let (mut n_idle, mut number) = (0, best.n_rules());
    while n_idle < best.n_rules() && !interrupt.is_over() {
        number = number.checked_sub(1).unwrap_or(best.n_rules() - 1);
        n_idle += 1;
        for list in continued(&best.without_rule(number), width / 2, MOST_ROUNDS, interrupt)? {
            if best.take_better(&list) {
                n_idle = 0;
            }
        }
    }
    Ok(best.into_rules())
}

/// A list with one more rule, each of those that add most, after some rounds of moves.
fn continued<'a, T: Tally>(
    list: &MovedList<'a, T>,
    width: usize,
    n_rounds: usize,
    interrupt: &Interrupt,
) -> Result<Vec<MovedList<'a, T>>, RankError> {
    let (slopes, rest) = (list.slopes(), list.rest());
    let (rows, most_conditions, is_cut_short) =
        (list.rows, list.most_conditions, &AtomicBool::new(false));
    let extent = SearchExtent::Rules(most_conditions);
    let growth = Lookahead { rows, slopes: &slopes, extent, interrupt, is_cut_short };
    let search = RuleSearch { growth, most_conditions, width };
    parallel::try_map(search.next_rules(&rest)?, |next| {
        let mut longer = list.with_rule(next.rule);
        longer.improve(n_rounds, interrupt)?;
        Ok(longer)
    })
}

/// Searches lists by the values of their strata.
struct RuleSearch<'a, T> {
    /// Has the rows and the slopes, and knows which features to try.
    growth: Lookahead<'a, T>,
    most_conditions: usize,
    /// Number of rules that are kept.
    width: usize,
}

impl<T: Tally> RuleSearch<'_, T> {
    /// The rules on some rows that add most, the best first: those of one condition and of two are
    /// tried in all ways, and the best are continued.
    fn next_rules(&self, rows: &[u32]) -> Result<Vec<NextRule>, RankError> {
        self.growth.interrupt.check()?;
        let (cells, total) = (self.growth.rows.histogram(rows), self.growth.rows.sums(rows));
        let mut found = Vec::new();
        self.conditions(&[], &cells, total, total, |next| found.push(next.rule_after(&[])));
        if self.most_conditions > 1 {
            let node = SearchNode { rows, cells: &cells, total, depth: 1 };
            let features = self.growth.tried_features(node);
            let pairs = parallel::try_map(features, |feature| self.pairs(feature, node))?;
            found.extend(pairs.into_iter().flatten());
        }
        keep_best(&mut found, self.width);
        for length in 2..self.most_conditions {
            let longest = found.iter().filter(|next| next.rule.len() == length);
            let continued: Vec<NextRule> = longest
                .filter_map(|NextRule { rule, of_rule, .. }| {
                    let is_met = |row: &&u32| meets(self.growth.rows, rule.iter().copied(), **row);
                    let met: Vec<u32> = rows.iter().filter(is_met).copied().collect();
                    let best = self.best_condition(
                        rule,
                        &self.growth.rows.histogram(&met),
                        *of_rule,
                        total,
                    );
                    best.map(|best| best.rule_after(rule))
                })
                .collect();
            found.extend(continued);
            keep_best(&mut found, self.width);
        }
        Ok(found)
    }

    /// Calls `visit` with each condition on the rows that meet some others, given their cells and
    /// sums, and the sums of all rows that reach the rule.
    fn conditions(
        &self,
        others: &[PlaceCondition],
        cells: &[T],
        met: ClassSums,
        total: ClassSums,
        mut visit: impl FnMut(NextCondition),
    ) {
        let least = self.growth.rows.least.max(1);
        let mut rule = others.to_vec();
        // The first two conditions are tried in one order.
        let first = if let [other] = others { other.cut.feature } else { 0 };
        self.growth.rows.divisions(first, cells, |cut, low| {
            for (is_low, of_rule) in [(true, low), (false, met - low)] {
                let rest = total - of_rule;
                if of_rule.rows < least || rest.rows < least || of_rule.rows == met.rows {
                    continue;
                }
                let condition = PlaceCondition { cut, is_low };
                if self.growth.rows.has_directions() {
                    rule.truncate(others.len());
                    rule.push(condition);
                    if ranks_first(self.growth.rows, &rule, of_rule, rest).is_none() {
                        continue;
                    }
                }
                let value = self.growth.slopes.value(of_rule) + self.growth.slopes.value(rest);
                visit(NextCondition { condition, of_rule, value });
            }
        });
    }

    /// The condition that adds most to some others.
    fn best_condition(
        &self,
        others: &[PlaceCondition],
        cells: &[T],
        met: ClassSums,
        total: ClassSums,
    ) -> Option<NextCondition> {
        let mut best: Option<NextCondition> = None;
        self.conditions(others, cells, met, total, |next| {
            if best.as_ref().is_none_or(|best| next.value > best.value) {
                best = Some(next);
            }
        });
        best
    }

    /// Each condition on a feature, with the second condition that adds most.
    fn pairs(&self, feature: usize, node: SearchNode<'_, T>) -> Result<Vec<NextRule>, RankError> {
        let mut pairs = Vec::new();
        node.at_each_cut(
            self.growth.rows,
            feature,
            |_, _, _| true,
            |cut, sides| {
                self.growth.interrupt.check()?;
                for (side, is_low) in sides.into_iter().zip([true, false]) {
                    let first = [PlaceCondition { cut, is_low }];
                    let second = self.best_condition(&first, side.cells, side.total, node.total);
                    pairs.extend(second.map(|second| second.rule_after(&first)));
                }
                Ok(())
            },
        )?;
        Ok(pairs)
    }
}

/// Keeps the rules that add most, of those with the same sums one.
fn keep_best(found: &mut Vec<NextRule>, most: usize) {
    found.sort_by(|a, b| b.value.total_cmp(&a.value));
    found.dedup_by(|a, b| a.of_rule == b.of_rule && (a.value - b.value).abs() < ROUNDING);
    found.truncate(most);
}
