//! The best single feature, and the best single threshold: one histogram pass.

use super::{Groups, Ranker, Ranking, WeakRanker, WeakSample, WeakTask};
use crate::RankError;
use crate::boost::two_sided::gain;
use crate::data::{
    Binned, ClassMasses, FeatureBins, Histogram, MassRows, MemorySource, SumSource, Tally, Wanted,
};

/// The feature of the highest AUC, in either direction; categories in the order of their shares of
/// positives, missing values below all others or above, where they serve the AUC. Of equal features
/// the first, ascending before descending.
#[derive(Debug, Clone, Copy)]
pub(in crate::boost) struct BestFeature;

/// The threshold, or set of categories, of the largest TPR - FPR; missing values on the side where
/// they add to it. Of equal ones the first feature and the highest threshold (DECISIONS K2).
#[derive(Debug, Clone, Copy)]
pub(in crate::boost) struct BestThreshold;

impl WeakRanker for BestFeature {
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<Ranking>, RankError> {
        best_ranking(sample, task, Bins::best_order)
    }

    fn bin_rule(&self) -> Option<BinRule> {
        Some(Bins::best_order)
    }
}

impl WeakRanker for BestThreshold {
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<Ranking>, RankError> {
        best_ranking(sample, task, Bins::best_cut)
    }

    fn bin_rule(&self) -> Option<BinRule> {
        Some(Bins::best_cut)
    }
}

/// The histogram of one source of masses.
fn histogram(
    sample: &WeakSample<'_>,
    task: &WeakTask<'_>,
) -> Result<Histogram<ClassMasses>, RankError> {
    let row_tally = MassRows { positive: sample.labels.positive(), masses: task.masses };
    let source = MemorySource::borrowing(sample.binned, row_tally, task.rows, sample.interrupt);
    let wanted = Wanted { cell: 0, features: task.features.map(<[usize]>::to_vec) };
    Ok(source.histograms(&[wanted])?.pop().expect("one was wanted"))
}

/// How well a feature ranks, and how: groups of codes in ascending order of the score.
#[derive(Debug)]
pub(in crate::boost) struct Order {
    /// Larger is better; 0 or less is no better than chance.
    merit: i128,
    groups: Vec<Vec<u32>>,
}

/// How a feature ranks, by the masses of its bins; `None` where no better than chance.
pub(in crate::boost) type BinRule = fn(&Bins) -> Option<Order>;

/// The best feature so far.
#[derive(Debug, Default)]
pub(in crate::boost) struct Best(Option<(usize, Bins, Order)>);

impl Best {
    /// Asks one more feature. Of equal ones the first stays.
    pub(in crate::boost) fn ask(
        &mut self,
        binned: &Binned,
        feature: usize,
        occupied: impl Iterator<Item = (u32, ClassMasses)>,
        rule: BinRule,
    ) {
        let bins = Bins::of(&binned.features()[feature], occupied);
        let Some(order) = rule(&bins) else { return };
        self.join(Self(Some((feature, bins, order))));
    }

    /// The better of two, each of some of the features.
    pub(in crate::boost) fn join(&mut self, other: Self) {
        // Larger merit, then the first feature.
        let key = |best: &Self| {
            best.0.as_ref().map(|(feature, _, order)| (order.merit, std::cmp::Reverse(*feature)))
        };
        if key(&other) > key(self) {
            *self = other;
        }
    }

    /// The ranking of all rows.
    pub(in crate::boost) fn into_ranking(self, binned: &Binned) -> Option<Ranking> {
        self.0.map(|(feature, bins, order)| {
            bins.ranking(feature, binned.features()[feature].n_codes(), &order.groups)
        })
    }
}

fn best_ranking(
    sample: &WeakSample<'_>,
    task: &WeakTask<'_>,
    rule: BinRule,
) -> Result<Option<Ranking>, RankError> {
    let histogram = histogram(sample, task)?;
    let mut best = Best::default();
    for (feature, sums) in histogram.features() {
        let occupied = sums.occupied();
        let masses =
            occupied.map(|(code, sums)| (code, ClassMasses { pos: sums.pos, neg: sums.neg }));
        best.ask(sample.binned, feature, masses, rule);
    }
    Ok(best.into_ranking(sample.binned))
}

/// The occupied bins of a feature.
#[derive(Debug)]
pub(in crate::boost) struct Bins {
    /// Codes with their masses; those of a categorical feature in ascending order of their shares of
    /// positives.
    known: Vec<(u32, ClassMasses)>,
    missing: Option<(u32, ClassMasses)>,
    is_categorical: bool,
    total: ClassMasses,
}

impl Bins {
    pub(super) fn of(
        bins: &FeatureBins,
        occupied: impl Iterator<Item = (u32, ClassMasses)>,
    ) -> Self {
        let missing_code = bins.n_bins() as u32;
        let mut known: Vec<(u32, ClassMasses)> =
            occupied.filter(|(_, m)| m.pos + m.neg > 0).collect();
        let missing = known.pop_if(|(code, _)| *code == missing_code);
        let is_categorical = matches!(bins, FeatureBins::Categorical { .. });
        if is_categorical {
            known.sort_by(|(_, a), (_, b)| a.sums().cmp_eta(b.sums()));
        }
        let total = known.iter().chain(&missing).map(|(_, masses)| *masses).sum();
        Self { known, missing, is_categorical, total }
    }

    fn ranking(self, feature: usize, n_codes: usize, groups: &[Vec<u32>]) -> Ranking {
        let mut of_code = vec![None; n_codes];
        for (group, codes) in (0..).zip(groups) {
            for &code in codes {
                of_code[code as usize] = Some(group);
            }
        }
        let mut sums = vec![ClassMasses::default(); groups.len()];
        for (code, masses) in self.known.into_iter().chain(self.missing) {
            let group = of_code[code as usize].expect("every occupied code has a group");
            sums[group as usize] += masses;
        }
        Ranking { ranker: Ranker::Feature, groups: Groups::Codes { feature, of_code }, sums }
    }

    /// One group a bin, in the direction of the higher AUC.
    pub(super) fn best_order(&self) -> Option<Order> {
        // 2 P N (AUC - 1/2) of the known values in ascending order.
        let (mut below, mut merit) = (ClassMasses::default(), 0_i128);
        for &(_, bin) in &self.known {
            merit += area(below, bin);
            below += bin;
        }
        // All missing rows above all others, or below.
        let missing = self.missing.map_or(0, |(_, missing)| area(below, missing));
        let ascending = self.is_categorical || merit >= 0;
        let mut codes: Vec<u32> = self.known.iter().map(|&(code, _)| code).collect();
        if !ascending {
            codes.reverse();
        }
        let mut groups: Vec<Vec<u32>> = codes.into_iter().map(|code| vec![code]).collect();
        if let Some((code, _)) = self.missing {
            groups.insert(if missing >= 0 { groups.len() } else { 0 }, vec![code]);
        }
        let merit = merit.abs() + missing.abs();
        (merit > 0).then_some(Order { merit, groups })
    }

    /// Two groups.
    pub(super) fn best_cut(&self) -> Option<Order> {
        let missing = self.missing.map_or(ClassMasses::default(), |(_, masses)| masses);
        let of_missing = gain(self.total, missing);
        let (mut above, mut best) = (ClassMasses::default(), (0_i128, 0, false));
        for (first, &(_, bin)) in self.known.iter().enumerate().rev() {
            above += bin;
            let of_above = gain(self.total, above);
            // Where both sides serve alike, missing values join the upper one (DECISIONS K3).
            for (missing_joins, more) in [(true, of_missing), (false, 0)] {
                if (of_above + more).abs() > best.0.abs() {
                    best = (of_above + more, first, missing_joins);
                }
            }
        }
        let (signed, first, missing_joins) = best;
        let codes = |bins: &[(u32, ClassMasses)]| bins.iter().map(|&(code, _)| code).collect();
        let [mut low, mut high]: [Vec<u32>; 2] =
            [codes(&self.known[..first]), codes(&self.known[first..])];
        if let Some((code, _)) = self.missing {
            if missing_joins { high.push(code) } else { low.push(code) }
        }
        // A rule ranks as well as its reverse.
        let groups = if signed > 0 { vec![low, high] } else { vec![high, low] };
        (signed != 0).then_some(Order { merit: signed.abs(), groups })
    }
}

/// `2 P N` times what a group adds to the AUC, less one half, by ranking above the groups below it.
fn area(below: ClassMasses, group: ClassMasses) -> i128 {
    let cross = |a: u64, b: u64| i128::from(a) * i128::from(b);
    cross(group.pos, below.neg) - cross(group.neg, below.pos)
}
