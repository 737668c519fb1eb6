//! The best test of a node.
//!
//! Everything is computed from exact sums: the winner does not depend on threads, and of ties it is
//! the first.

use super::running_sums::RunningSums;
use super::split_criterion::{BestCut, NodeToSplit, Side, SplitCriterion};
use super::sums::{CodeSums, PackedSums, UnitSums};
use crate::data::{CodeRule, CodeTest, FeatureBins, LevelSet, mix};
use crate::tree::Cuts;

/// A gain of at most this share of the value of the sides is a rounding error.
const ROUNDING: f64 = 1e-12;

/// A test and its gain.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestSplit {
    /// Twice the decrease of the loss, in units.
    pub(super) gain: f64,
    pub(super) test: CodeTest,
    /// Sums of the rows on the left.
    pub(super) left: UnitSums,
}

/// Memory of a search for splits.
#[derive(Debug, Default)]
pub(super) struct SearchMemory {
    running: RunningSums,
    codes: CodeSums,
    sums: Vec<UnitSums>,
    counts: Vec<u64>,
}

impl SplitCriterion {
    /// The best test of one feature of a node, given its sums by code, and the numbers of rows, if
    /// they matter.
    pub(super) fn best_of_feature(
        &self,
        node: &NodeToSplit,
        feature: usize,
        bins: &FeatureBins,
        sums: &[UnitSums],
        counts: Option<&[u64]>,
    ) -> Option<BestSplit> {
        match bins {
            FeatureBins::Numeric { .. } => {
                let node = &self.directed(node, feature);
                let best = self.best_cut(node, feature, sums, counts)?;
                self.split_by_cut(node, feature, best)
            }
            FeatureBins::Categorical { .. } => {
                let best = best_levels(self, node, feature, sums, counts)?;
                let rule = CodeRule::Levels(LevelSet::only(best.left));
                let test = CodeTest { feature, rule, missing_left: best.missing_left };
                self.split(node, test, best.value, best.sums)
            }
        }
    }

    /// The same, given packed sums.
    pub(super) fn best_of_packed(
        &self,
        node: &NodeToSplit,
        feature: usize,
        bins: &FeatureBins,
        packed: &[PackedSums],
        memory: &mut SearchMemory,
    ) -> Option<BestSplit> {
        if self.runs_along(bins) {
            let running = memory.running.of_bins(packed).then_some(&memory.running)?;
            let best = running.best_cut(self, node, bins.n_bins(), false)?;
            return self.split_by_cut(node, feature, best);
        }
        if self.draws_cut(bins) {
            let (missing, known) = packed.split_last()?;
            let first = known.iter().position(|sums| !sums.is_empty())?;
            let last = known.iter().rposition(|sums| !sums.is_empty())?;
            let side = |packed: PackedSums| Side { sums: packed.sums(), rows: 0 };
            let node = &self.directed(node, feature);
            let mut cuts = CutsOfFeature::new(self, node, known.len(), side(*missing), false);
            if let Some(code) = drawn(node, feature, first, last) {
                cuts.offer_after(
                    code,
                    side(PackedSums::total(known[first..=code].iter().copied())),
                );
            }
            return self.split_by_cut(node, feature, cuts.best()?);
        }
        memory.sums.clear();
        memory.sums.extend(packed.iter().map(|packed| packed.sums()));
        self.best_of_feature(node, feature, bins, &memory.sums, None)
    }

    /// The best test whose sides have enough rows, given the rows themselves as code and
    /// derivatives: for so few rows that most codes have none.
    pub(super) fn best_of_rows(
        &self,
        node: &NodeToSplit,
        feature: usize,
        bins: &FeatureBins,
        rows: impl Iterator<Item = (u8, PackedSums)> + Clone,
        memory: &mut SearchMemory,
    ) -> Option<BestSplit> {
        if self.draws_cut(bins) {
            let node = &self.directed(node, feature);
            return self.split_by_cut(node, feature, self.drawn_cut(node, feature, bins, &rows)?);
        }
        let SearchMemory { running, codes, sums, counts } = memory;
        codes.add(rows);
        if self.runs_along(bins) {
            let running = running.of_rows(codes, bins.n_bins()).then_some(running)?;
            let best = running.best_cut(self, node, bins.n_bins(), true)?;
            return self.split_by_cut(node, feature, best);
        }
        sums.clear();
        sums.resize(bins.n_codes(), UnitSums::default());
        counts.clear();
        counts.resize(bins.n_codes(), 0);
        codes.drain(|code, packed, count| {
            (sums[code], counts[code]) = (packed.sums(), count.into());
        });
        self.best_of_feature(node, feature, bins, sums, Some(counts))
    }

    /// Whether all cuts of a feature are tried, and no direction binds it.
    fn runs_along(&self, bins: &FeatureBins) -> bool {
        let is_numeric = matches!(bins, FeatureBins::Numeric { .. });
        is_numeric && self.cuts == Cuts::Best && self.monotonic.is_empty()
    }

    /// Whether one cut of a feature is drawn.
    fn draws_cut(&self, bins: &FeatureBins) -> bool {
        matches!(bins, FeatureBins::Numeric { .. }) && self.cuts == Cuts::Random
    }

    /// The cut that is drawn for a few rows, in passes over them alone.
    fn drawn_cut(
        &self,
        node: &NodeToSplit,
        feature: usize,
        bins: &FeatureBins,
        rows: &(impl Iterator<Item = (u8, PackedSums)> + Clone),
    ) -> Option<BestCut> {
        let n_bins = bins.n_bins();
        let (mut first, mut last, mut n_missing) = (u8::MAX, 0, 0);
        for (code, _) in rows.clone() {
            let is_known = usize::from(code) < n_bins;
            first = if is_known { first.min(code) } else { first };
            last = if is_known { last.max(code) } else { last };
            n_missing += usize::from(!is_known);
        }
        // The rows whose codes are in a range.
        let side = |from: usize, to: usize| {
            let (mut sums, mut count) = (PackedSums::default(), 0);
            for (code, word) in rows.clone() {
                let is_in = (from..to).contains(&usize::from(code));
                sums.add(if is_in { word } else { PackedSums::default() });
                count += u64::from(is_in);
            }
            Side { sums: sums.sums(), rows: count }
        };
        if first > last {
            return None;
        }
        let missing = if n_missing > 0 { side(n_bins, usize::MAX) } else { Side::default() };
        let mut cuts = CutsOfFeature::new(self, node, n_bins, missing, true);
        if let Some(code) = drawn(node, feature, first.into(), last.into()) {
            cuts.offer_after(code, side(0, code + 1));
        }
        cuts.best()
    }

    /// A node with the direction of the feature that is tested.
    fn directed(&self, node: &NodeToSplit, feature: usize) -> NodeToSplit {
        NodeToSplit { direction: self.monotonic.get(feature).copied().unwrap_or(0), ..*node }
    }

    fn split_by_cut(&self, node: &NodeToSplit, feature: usize, best: BestCut) -> Option<BestSplit> {
        let BestCut { value, bound, missing_left, left } = best;
        let test = CodeTest { feature, rule: CodeRule::Below(bound), missing_left };
        self.split(node, test, value, left)
    }

    /// A test whose sides have this value, if it has a gain.
    fn split(
        &self,
        node: &NodeToSplit,
        test: CodeTest,
        value: f64,
        left: UnitSums,
    ) -> Option<BestSplit> {
        let whole = node.sums;
        let at_whole = self.leaf(whole, node.bounds);
        let gain = value - self.of_leaf(whole.gradient as f64, whole.hessian as f64, at_whole);
        let is_gain = gain > self.min_gain && gain > ROUNDING * value;
        is_gain.then_some(BestSplit { gain, test, left })
    }

    fn best_cut(
        &self,
        node: &NodeToSplit,
        feature: usize,
        sums: &[UnitSums],
        counts: Option<&[u64]>,
    ) -> Option<BestCut> {
        let n_bins = sums.len() - 1;
        let count = |code: usize| counts.map_or(0, |counts| counts[code]);
        let side = |code: usize| Side { sums: sums[code], rows: count(code) };
        let first = sums[..n_bins].iter().position(|sums| !sums.is_empty())?;
        let last = sums[..n_bins].iter().rposition(|sums| !sums.is_empty())?;
        let mut cuts = CutsOfFeature::new(self, node, n_bins, side(n_bins), counts.is_some());
        if self.cuts == Cuts::Random {
            if let Some(code) = drawn(node, feature, first, last) {
                cuts.offer_after(code, (first..=code).map(side).sum());
            }
            return cuts.best();
        }
        // A cut comes after each occupied bin but the last.
        let mut below = Side::default();
        for (code, sums) in sums.iter().enumerate().take(last).skip(first) {
            below = below + side(code);
            if !sums.is_empty() {
                cuts.offer_after(code, below);
            }
        }
        cuts.best()
    }
}

/// The code below a random cut, given the lowest and the highest code of a node; `None` if they are
/// equal.
fn drawn(node: &NodeToSplit, feature: usize, first: usize, last: usize) -> Option<usize> {
    (first < last).then(|| first + one_of(last - first, node.random(feature)))
}

/// Searches for the best cut of a number.
struct CutsOfFeature<'a> {
    criterion: &'a SplitCriterion,
    node: &'a NodeToSplit,
    n_bins: usize,
    missing: Side,
    are_counted: bool,
    best: Option<BestCut>,
}

impl<'a> CutsOfFeature<'a> {
    /// For a number with `n_bins` bins, given the missing values; rows are counted in all sides or
    /// in none.
    fn new(
        criterion: &'a SplitCriterion,
        node: &'a NodeToSplit,
        n_bins: usize,
        missing: Side,
        are_counted: bool,
    ) -> Self {
        Self { criterion, node, n_bins, missing, are_counted, best: None }
    }

    fn offer(&mut self, node: &NodeToSplit, bound: usize, missing_left: bool, left: Side) {
        if let Some(value) = self.criterion.value(node, left)
            && self.best.as_ref().is_none_or(|best| value > best.value)
        {
            let (bound, left) = (bound as u32, left.sums);
            self.best = Some(BestCut { value, bound, missing_left, left });
        }
    }

    /// Considers the cut after a code, given the known values below it.
    fn offer_after(&mut self, code: usize, below: Side) {
        let bound = code + 1;
        if self.missing.sums.is_empty() {
            let missing_left = 2 * below.sums.hessian >= self.node.sums.hessian;
            self.offer(self.node, bound, missing_left, below);
        } else {
            self.offer(self.node, bound, true, below + self.missing);
            self.offer(self.node, bound, false, below);
        }
    }

    /// The best of the offered cuts and of known against missing values.
    fn best(mut self) -> Option<BestCut> {
        if !self.missing.sums.is_empty() {
            let rows = if self.are_counted { self.node.rows - self.missing.rows } else { 0 };
            let known = Side { sums: self.node.sums - self.missing.sums, rows };
            // A test for missing values has no direction.
            let node = NodeToSplit { direction: 0, ..*self.node };
            self.offer(&node, self.n_bins, false, known);
        }
        self.best
    }
}

/// Maximum number of categories of a node that are tried one against the others.
const MOST_SINGLE: usize = 50;

/// Number of categories, after the first, without a penalty: see `data/rates/level_rates.rs`.
const FREE: f64 = 5.0;

/// Number of standard deviations by which the spread of categories must exceed chance.
const CAUTION: f64 = 4.0;

/// The best test of categories: the codes on the left, ascending, and the side of missing ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestLevels {
    pub(super) value: f64,
    pub(super) left: Vec<u32>,
    pub(super) missing_left: bool,
    pub(super) sums: UnitSums,
}

/// The best test of the categories of a node, given the sums of each code, the missing one last,
/// and the number of rows of each if the sides have a minimum number of rows.
pub(super) fn best_levels(
    criterion: &SplitCriterion,
    node: &NodeToSplit,
    feature: usize,
    bins: &[UnitSums],
    counts: Option<&[u64]>,
) -> Option<BestLevels> {
    let (missing, known) = bins.split_last()?;
    let count = |code: usize| counts.map_or(0, |counts| counts[code]);
    let side = |code: usize| Side { sums: bins[code], rows: count(code) };
    let present: Vec<usize> = (0..known.len()).filter(|&code| !known[code].is_empty()).collect();
    let missing = Side { sums: *missing, rows: count(known.len()) };
    let mut best: Option<BestLevels> = None;
    let mut offer = |value: f64, left: &[usize], missing_left: bool, sums: UnitSums| {
        if best.as_ref().is_none_or(|best| value > best.value) {
            let mut left: Vec<u32> = left.iter().map(|&code| code as u32).collect();
            left.sort_unstable();
            best = Some(BestLevels { value, left, missing_left, sums });
        }
    };
    if missing.sums.is_empty() && present.len() < 2 {
        return None;
    }

    // Known or not.
    let all_known: Side = present.iter().map(|&code| side(code)).sum();
    if !missing.sums.is_empty()
        && !present.is_empty()
        && let Some(value) = criterion.value(node, all_known)
    {
        offer(value, &present, false, all_known.sums);
    }
    if present.len() < 2 {
        return best;
    }

    // One against the others; the missing ones are among the others.
    let mut single = present.clone();
    if single.len() > MOST_SINGLE {
        single.sort_by_key(|&code| std::cmp::Reverse(bins[code].hessian));
        single.truncate(MOST_SINGLE);
        single.sort_unstable();
    }
    let random = (criterion.cuts == Cuts::Random).then(|| node.random(feature));
    if let Some(random) = random {
        single = vec![single[one_of(single.len(), random)]];
    }
    for code in single {
        if let Some(value) = criterion.value(node, side(code)) {
            offer(value, &[code], false, bins[code]);
        }
    }
    if present.len() < 3 {
        return best;
    }

    let free = if random.is_some() { 0.0 } else { FREE };
    // Sorted by ratio, the best subset is a leading run, but with many categories that choice fits
    // noise (DECISIONS G11): categories that differ by no more than chance are not tried, and
    // ratios of the others are shrunken.
    let levels = present.iter().map(|&code| bins[code]);
    let Some(shrinkage) = GradientShrinkage::of(criterion, free, levels) else { return best };
    let mut sorted: Vec<(f64, usize)> =
        present.iter().map(|&code| (shrinkage.excess(bins[code]), code)).collect();
    sorted.sort_by(|(a, code_a), (b, code_b)| a.total_cmp(b).then(code_a.cmp(code_b)));
    let sorted: Vec<usize> = sorted.into_iter().map(|(_, code)| code).collect();
    let drawn = random.map(|random| one_of(sorted.len() - 1, mix(random)));
    let sides = if missing.sums.is_empty() { &[false][..] } else { &[false, true] };
    for &missing_left in sides {
        let mut left = if missing_left { missing } else { Side::default() };
        let mut shrunken = left.sums.gradient as f64;
        for place in 0..sorted.len() - 1 {
            let code = sorted[place];
            left = left + side(code);
            shrunken += shrinkage.shrink(bins[code]);
            if drawn.is_some_and(|drawn| drawn != place) {
                continue;
            }
            if let Some(value) = criterion.value_of_shrunken(node, left, shrunken) {
                offer(value, &sorted[..=place], missing_left, left.sums);
            }
        }
    }
    best
}

/// One of `n` places by random bits.
pub(super) fn one_of(n: usize, random: u64) -> usize {
    ((u128::from(random) * n as u128) >> 64) as usize
}

/// Shrinkage of the gradients of categories towards those of their node.
struct GradientShrinkage {
    /// Ratio of gradients to hessians in the node, both in units.
    ratio: f64,
    /// Hessian that is added to each category, with that ratio.
    added: f64,
}

impl GradientShrinkage {
    /// `None` if the categories do not differ by more than chance.
    fn of(
        criterion: &SplitCriterion,
        free: f64,
        levels: impl ExactSizeIterator<Item = UnitSums> + Clone,
    ) -> Option<Self> {
        let n_levels = levels.len() as f64;
        let all: UnitSums = levels.clone().sum();
        let ratio = all.gradient as f64 / all.hessian as f64;
        let charged = 1.0 - free / (n_levels - 1.0);
        if charged <= 0.0 {
            return Some(Self { ratio, added: 0.0 });
        }
        let spread: f64 = levels
            .map(|level| {
                let deviation = level.gradient as f64 - ratio * level.hessian as f64;
                criterion.chance(deviation * deviation / level.hessian as f64)
            })
            .sum();
        let noise =
            charged * (n_levels - 1.0) + CAUTION * (charged * 2.0 * (n_levels - 1.0)).sqrt();
        let added = all.hessian as f64 * noise / (n_levels * (spread - noise));
        (spread > noise).then_some(Self { ratio, added })
    }

    fn excess(&self, level: UnitSums) -> f64 {
        let deviation = level.gradient as f64 - self.ratio * level.hessian as f64;
        deviation / (level.hessian as f64 + self.added)
    }

    /// The gradient of a category, shrunken.
    fn shrink(&self, level: UnitSums) -> f64 {
        let hessian = level.hessian as f64;
        hessian * (self.ratio + self.excess(level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N_BINS: usize = 12;

    fn criterion(cuts: Cuts, min_rows: u64, monotonic: &[i8]) -> SplitCriterion {
        let monotonic = monotonic.to_vec();
        SplitCriterion { l2: 1000.0, min_gain: 0.0, min_rows, cuts, monotonic, mass_unit: 1.0 }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = mix(self.0);
            self.0 % n
        }

        /// Rows as code and derivatives, of a few neighbouring codes; some are missing.
        fn rows(&mut self) -> Vec<(u8, UnitSums)> {
            let (low, width) = (self.below(8), 1 + self.below(5));
            let has_missing = self.below(2) == 0;
            let mut row = || {
                let is_missing = has_missing && self.below(4) == 0;
                let code = if is_missing { N_BINS as u64 } else { low + self.below(width) };
                let gradient = self.below(2000) as i64 - 1000;
                (code as u8, UnitSums { gradient, hessian: 1 + self.below(500) as i64 })
            };
            (0..12).map(|_| row()).collect()
        }
    }

    fn side(rows: &[(u8, UnitSums)], is_in: impl Fn(u8) -> bool) -> Side {
        let of_row = |&(_, sums): &(u8, UnitSums)| Side { sums, rows: 1 };
        rows.iter().filter(|(code, _)| is_in(*code)).map(of_row).sum()
    }

    fn node(rows: &[(u8, UnitSums)], seed: u64) -> NodeToSplit {
        let all = side(rows, |_| true);
        let bounds = [f64::NEG_INFINITY, f64::INFINITY];
        NodeToSplit { sums: all.sums, rows: all.rows, bounds, seed, direction: 0 }
    }

    /// The split by the drawn cut, by the definition: the side of missing values with the greatest
    /// gain, among those where both sides have enough rows.
    fn drawn_by_definition(
        criterion: &SplitCriterion,
        node: &NodeToSplit,
        rows: &[(u8, UnitSums)],
    ) -> Option<(u32, bool, UnitSums)> {
        let missing = N_BINS as u8;
        let known = || rows.iter().map(|row| row.0).filter(|&code| code < missing);
        let (first, last) = (known().min()?, known().max()?);
        let loss =
            |sums: UnitSums| (sums.gradient as f64).powi(2) / (sums.hessian as f64 + criterion.l2);
        let mut found: Vec<(f64, (u32, bool, UnitSums))> = Vec::new();
        let mut offer = |bound: u32, missing_left: bool, left: Side| {
            let right = side(rows, |_| true).rows - left.rows;
            if left.rows.min(right) >= criterion.min_rows.max(1) {
                let value = loss(left.sums) + loss(node.sums - left.sums);
                found.push((value, (bound, missing_left, left.sums)));
            }
        };
        let has_missing = rows.iter().any(|row| row.0 == missing);
        if first < last {
            let share = node.random(0) as f64 / 2_f64.powi(64);
            let bound = first + (share * f64::from(last - first)) as u8 + 1;
            let below = side(rows, |code| code < bound);
            if has_missing {
                offer(bound.into(), true, side(rows, |code| code < bound || code == missing));
                offer(bound.into(), false, below);
            } else {
                offer(bound.into(), 2 * below.sums.hessian >= node.sums.hessian, below);
            }
        }
        if has_missing {
            offer(N_BINS as u32, false, side(rows, |code| code < missing));
        }
        let best = found.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a })?;
        (best.0 > loss(node.sums)).then_some(best.1)
    }

    #[test]
    fn a_drawn_cut_is_that_of_the_definition_from_rows_and_from_sums() {
        let cuts = (1..N_BINS).map(|cut| cut as f64).collect();
        let bins = FeatureBins::Numeric { cuts };
        let (mut random, mut n_found) = (Random(3), 0);
        for round in 0..2000 {
            let criterion = criterion(Cuts::Random, round % 4, &[]);
            let rows = random.rows();
            let node = node(&rows, round);
            let expected = drawn_by_definition(&criterion, &node, &rows);
            let described = |split: Option<BestSplit>| {
                split.map(|BestSplit { test, left, .. }| match test.rule {
                    CodeRule::Below(bound) => (bound, test.missing_left, left),
                    _ => panic!("a cut"),
                })
            };
            let packed = rows.iter().map(|&(code, sums)| (code, PackedSums::from(sums)));
            let mut memory = SearchMemory::default();
            let of_rows = criterion.best_of_rows(&node, 0, &bins, packed.clone(), &mut memory);
            assert_eq!(described(of_rows), expected, "round {round}");
            n_found += usize::from(expected.is_some());

            let by_code = |code: usize| side(&rows, |of_row| usize::from(of_row) == code);
            let sides: Vec<Side> = (0..=N_BINS).map(by_code).collect();
            let sums: Vec<UnitSums> = sides.iter().map(|side| side.sums).collect();
            let counts: Vec<u64> = sides.iter().map(|side| side.rows).collect();
            let of_sums = criterion.best_of_feature(&node, 0, &bins, &sums, Some(&counts));
            assert_eq!(described(of_sums), expected, "round {round}");
            if criterion.min_rows <= 1 {
                let words: Vec<PackedSums> = sums.iter().map(|&sums| sums.into()).collect();
                let of_words = criterion.best_of_packed(&node, 0, &bins, &words, &mut memory);
                assert_eq!(described(of_words), expected, "round {round}");
            }
        }
        assert!((500..1900).contains(&n_found), "{n_found}");
    }

    #[test]
    fn a_drawn_cut_obeys_its_direction() {
        let bins = FeatureBins::Numeric { cuts: (1..N_BINS).map(|cut| cut as f64).collect() };
        // The score is to rise from code 0 to code 1.
        let of_code = |code, gradient| (code, UnitSums { gradient, hessian: 10 }.into());
        let rows = [of_code(0, 500_i64), of_code(0, 400), of_code(1, -300), of_code(1, -700)];
        let sums = UnitSums { gradient: -100, hessian: 40 };
        let bounds = [f64::NEG_INFINITY, f64::INFINITY];
        let node = NodeToSplit { sums, rows: 4, bounds, seed: 1, direction: 0 };
        for (direction, is_found) in [(1, true), (-1, false), (0, true)] {
            let criterion = criterion(Cuts::Random, 1, &[direction, 1]);
            let mut memory = SearchMemory::default();
            let found = criterion.best_of_rows(&node, 0, &bins, rows.into_iter(), &mut memory);
            assert_eq!(found.is_some(), is_found, "{direction}");
        }
    }
}
