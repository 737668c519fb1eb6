//! Sets of categories to split a node by.
//!
//! A single category against the others is a question like a threshold, of which a feature offers one
//! for each of its [`MOST_SINGLE`] most frequent categories. The best of all sets lies along the order
//! of the categories by `gradient / hessian` (Fisher, 1958,
//! <https://doi.org/10.1080/01621459.1958.10501479>), but it fits noise: of `K` uninformative categories
//! about half of the apparent spread goes to either side. So sets are sorted and judged by sums that are
//! shrunk towards the ratio of the node as far as chance explains their spread, by the estimator that
//! `data/level_rates.rs` describes: with gradients `g` and hessians `h` of a category and the ratio `r`
//! of the node, `Q`, the sum of `(g - r h)^2 / h`, is about `K - 1` by chance, since the variance of a
//! gradient of log loss is its hessian.
//!
//! Where numbers are cut at random, a feature must not offer the best of many questions: a column of
//! noise would gain more than most cuts of what matters. Then one category is drawn, and one place in
//! the order of the categories, if they differ by more than chance with none free of charge.

use super::best_split::{Criterion, Node, Side};
use super::sums::Sums;
use crate::data::mix;
use crate::tree::Cuts;

/// Categories of a node that may be parted from the others one by one.
const MOST_SINGLE: usize = 50;

/// Categories, beside the first, that are free of charge: see `data/level_rates.rs`.
const FREE: f64 = 5.0;

/// Number of standard deviations by which the spread of categories must exceed chance.
const CAUTION: f64 = 4.0;

/// The best question about categories: the codes on the left, ascending, with where missing ones go.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestLevels {
    pub(super) value: f64,
    pub(super) left: Vec<u32>,
    pub(super) missing_left: bool,
    pub(super) sums: Sums,
}

/// The best question about the categories of a node, given the sums of each code, the missing one
/// last; and the number of rows of each, where the sides are held to a number of rows.
pub(super) fn best_levels(
    criterion: &Criterion,
    node: &Node,
    feature: usize,
    bins: &[Sums],
    counts: Option<&[u64]>,
) -> Option<BestLevels> {
    let (missing, known) = bins.split_last()?;
    let count = |code: usize| counts.map_or(0, |counts| counts[code]);
    let side = |code: usize| Side { sums: bins[code], rows: count(code) };
    let present: Vec<usize> = (0..known.len()).filter(|&code| !known[code].is_empty()).collect();
    let missing = Side { sums: *missing, rows: count(known.len()) };
    let mut best: Option<BestLevels> = None;
    let mut offer = |value: f64, left: &[usize], missing_left: bool, sums: Sums| {
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
    let levels = present.iter().map(|&code| bins[code]);
    let Some(shrinkage) = Shrinkage::of(criterion, free, levels) else { return best };
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

/// How far the gradients of categories are moved towards those of their node.
struct Shrinkage {
    /// Ratio of gradients to hessians in the node, both in units.
    ratio: f64,
    /// Hessian that is added to each category at that ratio.
    added: f64,
}

impl Shrinkage {
    /// `None` where the categories do not differ by more than chance.
    fn of(
        criterion: &Criterion,
        free: f64,
        levels: impl ExactSizeIterator<Item = Sums> + Clone,
    ) -> Option<Self> {
        let n_levels = levels.len() as f64;
        let all: Sums = levels.clone().sum();
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

    fn excess(&self, level: Sums) -> f64 {
        let deviation = level.gradient as f64 - self.ratio * level.hessian as f64;
        deviation / (level.hessian as f64 + self.added)
    }

    /// The gradient of a category, shrunken.
    fn shrink(&self, level: Sums) -> f64 {
        let hessian = level.hessian as f64;
        hessian * (self.ratio + self.excess(level))
    }
}
