//! The best single feature, and the best single threshold, from one histogram pass.

use std::cmp::Reverse;

use super::{RankGroups, Ranker, WeakRanker, WeakRanking, WeakSample, WeakTask};
use crate::RankError;
use crate::boost::term::TiedGains;
use crate::data::{
    Binned, ClassMasses, FeatureBins, Histogram, HistogramRequest, MassRows, MemorySource,
    RateShrinkage, ReweightedRows, RowTally, RowUnits, SumSource, Tally, direction,
};

/// The feature of the highest AUC, in either direction; categories in the order of their shares of
/// positives, shrunk by [`LevelRates`](crate::data::LevelRates); missing values below or above all
/// others, whichever gives the higher AUC. Of equal features the first, ascending before
/// descending.
#[derive(Debug, Clone, Copy)]
pub(in crate::boost) struct BestFeature<'a> {
    /// The direction of each feature; empty if all are free.
    pub(in crate::boost) monotonic: &'a [i8],
}

/// The threshold, or set of categories, of the largest TPR - FPR; missing values on the side where
/// they increase it. Of equal ones the first feature and the highest threshold (DECISIONS K2).
#[derive(Debug, Clone, Copy)]
pub(in crate::boost) struct BestThreshold<'a> {
    /// As for [`BestFeature`].
    pub(in crate::boost) monotonic: &'a [i8],
}

impl WeakRanker for BestFeature<'_> {
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<WeakRanking>, RankError> {
        best_ranking(sample, task, self.monotonic, OccupiedBins::best_order)
    }

    fn bin_rule(&self) -> Option<BinRule> {
        Some(OccupiedBins::best_order)
    }
}

impl WeakRanker for BestThreshold<'_> {
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<WeakRanking>, RankError> {
        best_ranking(sample, task, self.monotonic, OccupiedBins::best_cut)
    }

    fn bin_rule(&self) -> Option<BinRule> {
        Some(OccupiedBins::best_cut)
    }
}

/// The histogram of one source of masses.
fn histogram(
    sample: &WeakSample<'_>,
    task: &WeakTask<'_>,
) -> Result<Histogram<ClassMasses>, RankError> {
    let row_tally = MassRows { positive: sample.labels.positive(), masses: task.masses };
    let source = MemorySource::borrowing(sample.binned, row_tally, task.rows, sample.interrupt);
    let wanted = HistogramRequest { cell: 0, features: task.features.map(<[usize]>::to_vec) };
    Ok(source.histograms(&[wanted])?.pop().expect("one was wanted"))
}

/// Merit and order of the ranking by a feature.
#[derive(Debug, Clone, Copy)]
pub(in crate::boost) struct FeatureOrder {
    /// Larger is better; above 0.
    merit: i128,
    grouping: Grouping,
}

/// Grouping of bins.
#[derive(Debug, Clone, Copy)]
enum Grouping {
    /// Each bin is a group, in ascending order or not.
    Each { ascending: bool, missing_last: bool },
    /// Two groups: the bins before `first` and those from it on, the lower ones scoring lower or
    /// not.
    Two { first: usize, missing_joins: bool, ascending: bool },
}

/// Ranking by a feature, from the masses of its bins; `None` if no better than chance.
pub(in crate::boost) type BinRule = fn(&OccupiedBins) -> Option<FeatureOrder>;

/// The best feature so far.
#[derive(Debug, Default)]
pub(in crate::boost) struct Best {
    found: Option<(usize, FeatureOrder)>,
    bins: OccupiedBins,
    /// Reused memory for the next feature.
    candidate: OccupiedBins,
}

impl Best {
    /// Considers one more feature. Of equal ones the first is kept. Without `level_units` the rates
    /// of categories are not shrunk.
    pub(in crate::boost) fn ask(
        &mut self,
        binned: &Binned,
        feature: usize,
        occupied: impl Iterator<Item = (u32, ClassMasses)>,
        level_units: Option<&RowUnits>,
        rule: BinRule,
    ) {
        self.ask_bound(binned, (feature, 0), occupied, level_units, rule);
    }

    /// As [`Best::ask`], for a feature whose rankings must obey a direction, if any.
    pub(in crate::boost) fn ask_bound(
        &mut self,
        binned: &Binned,
        (feature, direction): (usize, i8),
        occupied: impl Iterator<Item = (u32, ClassMasses)>,
        level_units: Option<&RowUnits>,
        rule: BinRule,
    ) {
        let mut total = ClassMasses::default();
        let occupied = occupied.inspect(|&(_, masses)| total += masses);
        self.candidate.fill(&binned.features()[feature], occupied, level_units);
        self.candidate.direction = direction;
        let Some(mut order) = rule(&self.candidate) else { return };
        order.merit = TiedGains::of(total).round(order.merit);
        if order.merit == 0 {
            return;
        }
        if key(Some((feature, order))) > key(self.found) {
            self.found = Some((feature, order));
            std::mem::swap(&mut self.bins, &mut self.candidate);
        }
    }

    /// The better of two, each over some of the features.
    pub(in crate::boost) fn join(&mut self, other: Self) {
        if key(other.found) > key(self.found) {
            *self = other;
        }
    }

    /// The ranking of all rows.
    pub(in crate::boost) fn into_ranking(self, binned: &Binned) -> Option<WeakRanking> {
        let (feature, order) = self.found?;
        Some(self.bins.ranking(feature, binned.features()[feature].n_codes(), order.grouping))
    }
}

/// Larger merit, then the first feature.
fn key(found: Option<(usize, FeatureOrder)>) -> Option<(i128, Reverse<usize>)> {
    found.map(|(feature, order)| (order.merit, Reverse(feature)))
}

fn best_ranking(
    sample: &WeakSample<'_>,
    task: &WeakTask<'_>,
    monotonic: &[i8],
    rule: BinRule,
) -> Result<Option<WeakRanking>, RankError> {
    let histogram = histogram(sample, task)?;
    let row_tally = ReweightedRows { labels: sample.labels, masses: task.masses };
    let rows = task.rows.iter().map(|&row| (row_tally.of(row as usize), 1));
    let level_units = sample.binned.shrinks_levels().then(|| RowUnits::of(rows));
    let mut best = Best::default();
    for (feature, sums) in histogram.features() {
        let occupied = sums.occupied();
        let masses =
            occupied.map(|(code, sums)| (code, ClassMasses { pos: sums.pos, neg: sums.neg }));
        let bound = (feature, direction(monotonic, feature));
        best.ask_bound(sample.binned, bound, masses, level_units.as_ref(), rule);
    }
    Ok(best.into_ranking(sample.binned))
}

/// The occupied bins of a feature.
#[derive(Debug, Default)]
pub(in crate::boost) struct OccupiedBins {
    /// Codes with their masses; those of a categorical feature shrunk, in ascending order of their
    /// shares of positives.
    known: Vec<(u32, ClassMasses)>,
    missing: Option<(u32, ClassMasses)>,
    is_categorical: bool,
    /// 1 if higher values may not rank lower, -1 if they may not rank higher, 0 if all orders are
    /// free. Missing values always are.
    direction: i8,
}

impl OccupiedBins {
    fn fill(
        &mut self,
        bins: &FeatureBins,
        occupied: impl Iterator<Item = (u32, ClassMasses)>,
        level_units: Option<&RowUnits>,
    ) {
        let missing_code = bins.n_bins() as u32;
        self.known.clear();
        self.known.extend(occupied.filter(|(_, m)| m.pos + m.neg > 0));
        self.missing = self.known.pop_if(|(code, _)| *code == missing_code);
        self.is_categorical = matches!(bins, FeatureBins::Categorical { .. });
        if !self.is_categorical {
            return;
        }
        let Some(units) = level_units else {
            self.known.sort_by(|(_, a), (_, b)| a.sums().cmp_eta(b.sums()));
            return;
        };
        let levels = || self.known.iter().chain(&self.missing).map(|&(_, masses)| masses);
        let Some(shrinkage) = RateShrinkage::of(levels(), units) else {
            // Uninformative categories.
            self.known.clear();
            self.missing = None;
            return;
        };
        let excess = |&(_, masses): &(u32, ClassMasses)| shrinkage.excess(masses);
        self.known.sort_by(|a, b| excess(a).total_cmp(&excess(b)));
        for (_, masses) in self.known.iter_mut().chain(&mut self.missing) {
            *masses = shrinkage.shrink(*masses);
        }
    }

    /// Codes of each group, in ascending order of the score.
    fn groups(&self, grouping: Grouping) -> Vec<Vec<u32>> {
        let codes = |bins: &[(u32, ClassMasses)]| bins.iter().map(|&(code, _)| code).collect();
        match grouping {
            Grouping::Each { ascending, missing_last } => {
                let mut groups: Vec<Vec<u32>> =
                    self.known.iter().map(|&(code, _)| vec![code]).collect();
                if !ascending {
                    groups.reverse();
                }
                if let Some((code, _)) = self.missing {
                    groups.insert(if missing_last { groups.len() } else { 0 }, vec![code]);
                }
                groups
            }
            Grouping::Two { first, missing_joins, ascending } => {
                let (low, high) = self.known.split_at(first);
                let mut groups: [Vec<u32>; 2] = [codes(low), codes(high)];
                if let Some((code, _)) = self.missing {
                    groups[usize::from(missing_joins)].push(code);
                }
                if !ascending {
                    groups.reverse();
                }
                groups.into()
            }
        }
    }

    fn ranking(&self, feature: usize, n_codes: usize, grouping: Grouping) -> WeakRanking {
        let groups = self.groups(grouping);
        let mut of_code = vec![None; n_codes];
        for (group, codes) in (0..).zip(&groups) {
            for &code in codes {
                of_code[code as usize] = Some(group);
            }
        }
        let mut sums = vec![ClassMasses::default(); groups.len()];
        for &(code, masses) in self.known.iter().chain(&self.missing) {
            let group = of_code[code as usize].expect("every occupied code has a group");
            sums[group as usize] += masses;
        }
        WeakRanking {
            ranker: Ranker::Feature,
            groups: RankGroups::Codes { feature, of_code },
            sums,
        }
    }

    /// One group per bin, in the direction of the higher AUC.
    fn best_order(&self) -> Option<FeatureOrder> {
        // 2 P N (AUC - 1/2) of the known values in ascending order.
        let known = ClassMasses::area(self.known.iter().map(|&(_, bin)| bin));
        // All missing rows above all others, or below.
        let missing = self.missing.map_or(0, |(_, missing)| {
            let below: ClassMasses = self.known.iter().map(|&(_, bin)| bin).sum();
            below.gain(missing)
        });
        let (merit, grouping) = if known.signum() * i128::from(self.direction) < 0 {
            // The best order of known values is not allowed: they tie.
            let ascending = missing < 0;
            (missing.abs(), Grouping::Two { first: 0, missing_joins: false, ascending })
        } else {
            let ascending = match self.direction {
                0 => self.is_categorical || known >= 0,
                direction => direction > 0,
            };
            let grouping = Grouping::Each { ascending, missing_last: missing >= 0 };
            (known.abs() + missing.abs(), grouping)
        };
        (merit > 0).then_some(FeatureOrder { merit, grouping })
    }

    /// Two groups.
    fn best_cut(&self) -> Option<FeatureOrder> {
        let missing = self.missing.map_or(ClassMasses::default(), |(_, masses)| masses);
        let total: ClassMasses = self.known.iter().chain(&self.missing).map(|&(_, m)| m).sum();
        let of_missing = total.gain(missing);
        let tied = TiedGains::of(total);
        // From the highest threshold down, and only a larger gain replaces the best: of ties the
        // highest threshold is kept (DECISIONS K2).
        let (mut above, mut best) = (ClassMasses::default(), (0_i128, 0, false));
        for (first, &(_, bin)) in self.known.iter().enumerate().rev() {
            above += bin;
            let of_above = total.gain(above);
            // If both sides are equally good, missing values join the upper one (DECISIONS K3).
            for (missing_joins, more) in [(true, of_missing), (false, 0)] {
                let signed = of_above + more;
                // Known values have an order only if they are separated.
                let is_allowed = first == 0 || signed.signum() * i128::from(self.direction) >= 0;
                if is_allowed && tied.round(signed.abs()) > tied.round(best.0.abs()) {
                    best = (signed, first, missing_joins);
                }
            }
        }
        let (signed, first, missing_joins) = best;
        // A rule ranks as well as its reverse.
        let grouping = Grouping::Two { first, missing_joins, ascending: signed > 0 };
        (signed != 0).then_some(FeatureOrder { merit: signed.abs(), grouping })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::boost::weak::tests::Draws;

    /// Twice the sum over pairs of the correctly ranked mass less the incorrectly ranked mass.
    fn area_by_pairs(groups: &[Vec<u32>], mass: impl Fn(u32) -> ClassMasses) -> i128 {
        let mut area = 0;
        for (low, low_codes) in groups.iter().enumerate() {
            for (high, high_codes) in groups.iter().enumerate() {
                let order = (high as i128 - low as i128).signum();
                for (&a, &b) in
                    low_codes.iter().flat_map(|a| high_codes.iter().map(move |b| (a, b)))
                {
                    area += order * i128::from(mass(b).pos) * i128::from(mass(a).neg);
                }
            }
        }
        area
    }

    /// Rankings of codes that obey a direction: in two groups, or in one for each code.
    fn orders(n_known: u32, direction: i8, in_two: bool) -> Vec<Vec<Vec<u32>>> {
        let codes = |range: Range<u32>| range.collect::<Vec<u32>>();
        let ascending: Vec<Vec<Vec<u32>>> = if in_two {
            (1..n_known).map(|first| vec![codes(0..first), codes(first..n_known)]).collect()
        } else {
            vec![(0..n_known).map(|code| vec![code]).collect()]
        };
        let descending = ascending.iter().map(|groups| groups.iter().rev().cloned().collect());
        let mut all = vec![vec![codes(0..n_known)]];
        all.extend(descending.filter(|_| direction <= 0));
        all.extend(ascending.into_iter().filter(|_| direction >= 0));
        all
    }

    /// A ranking with missing values in every allowed place: in their own group at an end, or, if
    /// there are at most two groups, in one of two.
    fn with_missing(groups: &[Vec<u32>], missing: u32, in_two: bool) -> Vec<Vec<Vec<u32>>> {
        let [mut low, mut high] = [groups.to_vec(), groups.to_vec()];
        if in_two && groups.len() == 2 {
            low[0].push(missing);
            high[1].push(missing);
        } else {
            low.insert(0, vec![missing]);
            high.push(vec![missing]);
        }
        vec![low, high]
    }

    #[test]
    fn no_ranking_in_an_allowed_direction_is_better() {
        let (mut draws, mut n_tied) = (Draws(3), 0);
        for _ in 0..2000 {
            let n_known = 1 + draws.below(4) as u32;
            let (has_missing, direction) = (draws.below(3) > 0, draws.below(3) as i8 - 1);
            let mut masses = || ClassMasses { pos: draws.below(6) + 1, neg: draws.below(6) + 1 };
            let known: Vec<(u32, ClassMasses)> =
                (0..n_known).map(|code| (code, masses())).collect();
            let missing = has_missing.then(|| (n_known, masses()));
            let mass =
                |code: u32| known.iter().chain(&missing).find(|bin| bin.0 == code).unwrap().1;
            let bins =
                OccupiedBins { known: known.clone(), missing, is_categorical: false, direction };
            for in_two in [true, false] {
                let mut rankings = orders(n_known, direction, in_two);
                if let Some((code, _)) = missing {
                    let placed = |groups: &Vec<Vec<u32>>| with_missing(groups, code, in_two);
                    rankings = rankings.iter().flat_map(placed).collect();
                }
                let area = |groups: &Vec<Vec<u32>>| area_by_pairs(groups, mass);
                let best = rankings.iter().map(area).max().unwrap();
                let found = if in_two { bins.best_cut() } else { bins.best_order() };
                let Some(found) = found else {
                    assert!(best <= 0);
                    continue;
                };
                let groups = bins.groups(found.grouping);
                assert_eq!(area(&groups), best, "{bins:?}");
                let place = |code: u32| groups.iter().position(|group| group.contains(&code));
                let places: Vec<usize> = (0..n_known).filter_map(place).collect();
                assert!(direction < 1 || places.is_sorted());
                assert!(direction > -1 || places.is_sorted_by(|a, b| a >= b));
                n_tied += u32::from(places.first() == places.last() && n_known > 1);
            }
        }
        assert!(n_tied > 200, "{n_tied}");
    }
}
