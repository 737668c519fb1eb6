//! Moves of the conditions of a list of rules: each takes the cut, of any feature at any place,
//! with which the whole list has the largest area, while all others stay; conditions also come and
//! go, and neighbouring rules change places, until nothing gains.

use super::area_slopes::{AreaSlopes, CurveStep, ROUNDING, area, step_of};
use super::places::{PlaceCut, PlacedRows};
use super::rule_list::{PlaceCondition, PlaceRule, first_met, meets, ranks_first};
use crate::data::{ClassSums, Tally};
use crate::{Interrupt, RankError, parallel};

/// Rounds over all rules, at most.
pub(super) const MOST_ROUNDS: usize = 20;

/// A list whose conditions move.
#[derive(Debug, Clone)]
pub(super) struct MovedList<'a, T> {
    pub(super) rows: &'a PlacedRows<T>,
    rules: Vec<PlaceRule>,
    pub(super) most_conditions: usize,
    max_fpr: f64,
    pub(super) total: ClassSums,
    /// Area under the curve.
    area: f64,
}

/// A place for a condition: the rule, and the number of the condition in it; a new one where that
/// is their number.
#[derive(Debug, Clone, Copy)]
struct ConditionPlace {
    rule: usize,
    number: usize,
}

/// What a condition decides, while all others stay.
struct MovedRows {
    of: ConditionPlace,
    /// The rows that meet the other conditions of the rule, each with the stratum that it belongs
    /// to if it does not meet this one.
    rows: Vec<(u32, usize)>,
    /// Sums of all strata, the last being the rest, if no row meets the condition.
    sums: Vec<ClassSums>,
}

/// A better condition; `None` if the others alone are better.
struct ConditionMove {
    area: f64,
    condition: Option<PlaceCondition>,
}

impl<'a, T: Tally> MovedList<'a, T> {
    pub(super) fn new(
        rows: &'a PlacedRows<T>,
        rules: Vec<PlaceRule>,
        most_conditions: usize,
        max_fpr: f64,
    ) -> Self {
        let all: Vec<u32> = (0..rows.n_rows() as u32).collect();
        let total = rows.sums(&all);
        let list = Self { rows, rules: Vec::new(), most_conditions, max_fpr, total, area: 0.0 };
        list.of_rules(rules)
    }

    /// Another list of the same rows.
    fn of_rules(&self, rules: Vec<PlaceRule>) -> Self {
        let area = self.area_of(&self.sums_of(&rules));
        Self { rules, area, ..*self }
    }

    pub(super) fn with_rule(&self, rule: PlaceRule) -> Self {
        self.of_rules([&self.rules[..], &[rule]].concat())
    }

    pub(super) fn without_rule(&self, number: usize) -> Self {
        self.of_rules([&self.rules[..number], &self.rules[number + 1..]].concat())
    }

    /// Becomes another list if that is allowed and has a larger area, and returns whether.
    pub(super) fn take_better(&mut self, other: &Self) -> bool {
        let is_better = other.area > self.area + ROUNDING
            && other.is_allowed(&other.rules, &other.sums_of(&other.rules));
        if is_better {
            self.clone_from(other);
        }
        is_better
    }

    /// Drops the last rules until the list is allowed, which it need not be on more rows than it
    /// was searched on.
    pub(super) fn drop_refused(&mut self) {
        while !self.is_allowed(&self.rules, &self.sums_of(&self.rules)) && self.n_rules() > 0 {
            *self = self.without_rule(self.n_rules() - 1);
        }
    }

    pub(super) fn n_rules(&self) -> usize {
        self.rules.len()
    }

    /// The rows that meet no rule.
    pub(super) fn rest(&self) -> Vec<u32> {
        let rows = 0..self.rows.n_rows() as u32;
        rows.filter(|&row| first_met(self.rows, &self.rules, 0, row) == self.rules.len()).collect()
    }

    /// Numbers of positive and negative rows of the strata and of all rows, in any order.
    pub(super) fn strata(&self) -> Vec<[u64; 3]> {
        let sums = self.sums_of(&self.rules).into_iter();
        let mut strata: Vec<[u64; 3]> =
            sums.map(|ClassSums { pos, neg, rows }| [pos, neg, rows]).collect();
        strata.sort_unstable();
        strata
    }

    /// The slopes of its own curve.
    pub(super) fn slopes(&self) -> AreaSlopes {
        AreaSlopes::new(self.steps(&self.sums_of(&self.rules)), self.max_fpr, self.total)
    }

    pub(super) fn into_rules(self) -> Vec<PlaceRule> {
        self.rules
    }

    /// Sums of the strata of some rules, the last being the rest.
    fn sums_of(&self, rules: &[PlaceRule]) -> Vec<ClassSums> {
        let mut tallies = vec![T::default(); rules.len() + 1];
        for row in 0..self.rows.n_rows() as u32 {
            tallies[first_met(self.rows, rules, 0, row)] += self.rows.tallies[row as usize];
        }
        tallies.into_iter().map(Tally::sums).collect()
    }

    /// Area under the curve.
    pub(super) fn area(&self) -> f64 {
        self.area
    }

    fn steps(&self, sums: &[ClassSums]) -> Vec<CurveStep> {
        sums.iter().map(|&sums| step_of(sums, self.total)).collect()
    }

    fn area_of(&self, sums: &[ClassSums]) -> f64 {
        area(&mut self.steps(sums), self.max_fpr)
    }

    /// Whether each stratum has enough rows, and the directions of the features allow each rule.
    fn is_allowed(&self, rules: &[PlaceRule], sums: &[ClassSums]) -> bool {
        let least = self.rows.least.max(1);
        if sums.iter().any(|sums| sums.rows < least) {
            return false;
        }
        if !self.rows.has_directions() {
            return true;
        }
        let mut rest = sums[rules.len()];
        rules.iter().zip(sums).rev().all(|(rule, &of_rule)| {
            let is_allowed = ranks_first(self.rows, rule, of_rule, rest).is_some();
            rest += of_rule;
            is_allowed
        })
    }

    /// Moves conditions and rules, at most so many rounds, until nothing gains.
    pub(super) fn improve(
        &mut self,
        n_rounds: usize,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        for _ in 0..n_rounds {
            let before = self.area;
            for rule in 0..self.rules.len() {
                let mut number = 0;
                while number <= self.rules[rule].len() && number < self.most_conditions {
                    interrupt.check()?;
                    self.move_condition(ConditionPlace { rule, number });
                    number += 1;
                }
            }
            for first in 1..self.rules.len() {
                self.exchange(first - 1, first);
            }
            if self.area <= before + ROUNDING {
                break;
            }
        }
        self.drop_idle();
        Ok(())
    }

    /// Moves a condition to where it gains most.
    fn move_condition(&mut self, of: ConditionPlace) {
        let (moved, reached) = (self.moved_rows(of), self.area);
        let mut best: Option<ConditionMove> = None;
        let mut keep = |found: ConditionMove| {
            let least = best.as_ref().map_or(reached, |best| best.area);
            if found.area > least + ROUNDING {
                best = Some(found);
            }
        };
        let features: Vec<usize> = (0..self.rows.features.len()).collect();
        if of.number < self.rules[of.rule].len() && self.rules[of.rule].len() > 1 {
            self.without_condition(&moved).into_iter().for_each(&mut keep);
        }
        // Of ties the first feature.
        let found = parallel::map(features, |feature| self.best_on(feature, &moved, reached));
        found.into_iter().flatten().for_each(keep);
        let Some(ConditionMove { area, condition }) = best else { return };
        let rule = &mut self.rules[of.rule];
        match condition {
            None => drop(rule.remove(of.number)),
            Some(condition) if of.number == rule.len() => rule.push(condition),
            Some(condition) => rule[of.number] = condition,
        }
        self.area = area;
    }

    fn moved_rows(&self, of: ConditionPlace) -> MovedRows {
        let mut tallies = vec![T::default(); self.rules.len() + 1];
        let mut rows = Vec::new();
        let rule = &self.rules[of.rule];
        for row in 0..self.rows.n_rows() as u32 {
            let before = first_met(self.rows, &self.rules[..of.rule], 0, row);
            let is_before = before < of.rule;
            let otherwise = || first_met(self.rows, &self.rules, of.rule + 1, row);
            let stratum = if is_before { before } else { otherwise() };
            tallies[stratum] += self.rows.tallies[row as usize];
            let others = rule.iter().enumerate().filter(|(number, _)| *number != of.number);
            if !is_before && meets(self.rows, others.map(|(_, &condition)| condition), row) {
                rows.push((row, stratum));
            }
        }
        MovedRows { of, rows, sums: tallies.into_iter().map(Tally::sums).collect() }
    }

    /// The rules with another condition, or without it.
    fn changed(&self, of: ConditionPlace, condition: Option<PlaceCondition>) -> Vec<PlaceRule> {
        let mut rules = self.rules.clone();
        let rule = &mut rules[of.rule];
        rule.splice(of.number..rule.len().min(of.number + 1), condition);
        rules
    }

    /// The area without the condition.
    fn without_condition(&self, moved: &MovedRows) -> Option<ConditionMove> {
        let rules = self.changed(moved.of, None);
        let sums = self.sums_of(&rules);
        self.is_allowed(&rules, &sums)
            .then(|| ConditionMove { area: self.area_of(&sums), condition: None })
    }

    /// The condition on a feature with the largest area, if that is above `reached`.
    fn best_on(&self, feature: usize, moved: &MovedRows, reached: f64) -> Option<ConditionMove> {
        let placed = &self.rows.features[feature];
        let n_strata = moved.sums.len();
        let mut cells = vec![vec![T::default(); n_strata]; placed.n_places()];
        for &(row, stratum) in &moved.rows {
            let place = usize::from(self.rows.row(row)[feature]);
            cells[place][stratum] += self.rows.tallies[row as usize];
        }
        let cells: Vec<Vec<ClassSums>> =
            cells.into_iter().map(|cell| cell.into_iter().map(Tally::sums).collect()).collect();
        let mut all = vec![ClassSums::default(); n_strata];
        for cell in &cells {
            all.iter_mut().zip(cell).for_each(|(sums, &more)| *sums += more);
        }
        let mut best: Option<ConditionMove> = None;
        let mut sums = Vec::with_capacity(n_strata);
        for sweep in self.rows.sweeps(feature) {
            let mut low = vec![ClassSums::default(); n_strata];
            for (bound, place) in sweep.bounds(placed.n_known) {
                let more = &cells[place];
                low.iter_mut().zip(more).for_each(|(sums, &more)| *sums += more);
                if bound == 0 || more.iter().all(|sums| sums.rows == 0) {
                    continue;
                }
                let cut = PlaceCut { feature, bound, missing_low: sweep.missing_low };
                for is_low in [true, false] {
                    sums.clear();
                    sums.extend_from_slice(&moved.sums);
                    let mut met = ClassSums::default();
                    for ((sums, &all), &low) in sums.iter_mut().zip(&all).zip(&low) {
                        let part = if is_low { low } else { all - low };
                        *sums -= part;
                        met += part;
                    }
                    sums[moved.of.rule] += met;
                    let area = self.area_of(&sums);
                    if area <= best.as_ref().map_or(reached, |best| best.area) + ROUNDING {
                        continue;
                    }
                    let condition = Some(PlaceCondition { cut, is_low });
                    if self.is_allowed(&self.changed(moved.of, condition), &sums) {
                        best = Some(ConditionMove { area, condition });
                    }
                }
            }
        }
        best
    }

    /// Exchanges two rules if that gains.
    fn exchange(&mut self, a: usize, b: usize) {
        let mut rules = self.rules.clone();
        rules.swap(a, b);
        let sums = self.sums_of(&rules);
        let area = self.area_of(&sums);
        if area > self.area + ROUNDING && self.is_allowed(&rules, &sums) {
            (self.rules, self.area) = (rules, area);
        }
    }

    /// Drops conditions that no row fails which meets the others of its rule.
    fn drop_idle(&mut self) {
        let sums = self.sums_of(&self.rules);
        for rule in 0..self.rules.len() {
            let mut number = self.rules[rule].len();
            while number > 0 && self.rules[rule].len() > 1 {
                number -= 1;
                let less = self.changed(ConditionPlace { rule, number }, None);
                if self.sums_of(&less) == sums {
                    self.rules = less;
                }
            }
        }
    }
}
