//! Search of the features of a score and of their lines and points.

use super::params::IntegerScoreParams;
use super::rows::BinnedRows;
use super::shifts::PairsByShift;
use super::steps::{
    FeaturePoints, LEAST_GAIN, LineLimits, best_steps, first_steps, n_questions, small_moves,
};
use crate::{Interrupt, RankError, parallel};

/// Factors of all points from which a score is improved anew: single moves cannot change the scale.
const SCALES: [f64; 4] = [0.5, 0.75, 1.5, 2.0];

/// Greatest number of features that are exchanged, one after another.
const MOST_SWAPS: usize = 5;

/// Sets of features that are built up side by side.
const WIDTH: usize = 3;

/// Factors of the price of a question, to find scores of few questions.
const PRICES: [f64; 8] = [1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, 40.0];

/// Least price of these, in units of gain.
const LEAST_PRICE: f64 = 0.1;

/// A score: features by their position among the rows, with their points by bin.
#[derive(Debug, Clone)]
pub(super) struct PointsOfFeatures {
    pub(super) features: Vec<(usize, Vec<i32>)>,
    /// Its AUC less the price of its questions.
    pub(super) net: f64,
}

impl PointsOfFeatures {
    fn nothing() -> Self {
        Self { features: Vec::new(), net: 0.5 }
    }

    fn has(&self, feature: usize) -> bool {
        self.features.iter().any(|&(other, _)| other == feature)
    }
}

/// Sums of the points of some features.
struct OtherSums {
    of_rows: Vec<u32>,
    /// Number of sums that there may be, from 0.
    n_sums: usize,
}

/// Where the search of the points of a feature starts.
#[derive(Debug, Clone, Copy)]
enum PointsStart<'a> {
    /// From one step or none.
    Nothing,
    /// From its points.
    Points(&'a [i32]),
    /// From either.
    Both(&'a [i32]),
}

/// What a score is searched among.
#[derive(Debug, Clone, Copy)]
pub(super) struct PointSearch<'a> {
    pub(super) rows: &'a BinnedRows,
    pub(super) params: &'a IntegerScoreParams,
    /// Least weight of a line.
    pub(super) least_weight: f64,
    /// AUC that a question must gain.
    pub(super) price: f64,
    pub(super) most_questions: usize,
    pub(super) interrupt: &'a Interrupt,
}

impl PointSearch<'_> {
    /// The best score that is found.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`]; [`RankError::NoLines`] for a required feature that no line
    /// divides.
    pub(super) fn best(&self) -> Result<PointsOfFeatures, RankError> {
        let free = self.free().built_up()?;
        if self.n_questions(&free) <= self.most_questions {
            return Ok(free);
        }
        self.best_of_few_questions()
    }

    /// The best score that is found of each number of features, from as many as are required, while
    /// more of them gain.
    ///
    /// # Errors
    ///
    /// As for [`PointSearch::best`].
    pub(super) fn best_by_size(&self) -> Result<Vec<PointsOfFeatures>, RankError> {
        let free = self.free();
        let mut built: Vec<PointsOfFeatures> = Vec::new();
        let mut kept = vec![PointsOfFeatures::nothing()];
        while !kept.is_empty() {
            kept = free.with_one_more(&kept, WIDTH)?;
            built.extend(kept.iter().cloned());
        }
        let mut found: Vec<PointsOfFeatures> = Vec::new();
        for size in self.params.required.len().max(1)..=self.params.max_features {
            let params = IntegerScoreParams { max_features: size, ..self.params.clone() };
            let of_size = PointSearch { params: &params, ..free };
            let mut best = found.last().cloned().unwrap_or_else(PointsOfFeatures::nothing);
            for score in built.iter().filter(|score| score.features.len() <= size) {
                self.keep_better(&mut best, score);
            }
            of_size.finish(&mut best)?;
            if self.n_questions(&best) > self.most_questions {
                let limited = PointSearch { most_questions: self.most_questions, ..of_size };
                best = limited.best_of_few_questions()?;
            }
            if found.last().is_some_and(|fewer| best.net <= fewer.net + LEAST_GAIN) {
                break;
            }
            found.push(best);
        }
        Ok(found)
    }

    /// The same search without a limit on questions.
    fn free(&self) -> Self {
        Self { most_questions: usize::MAX, ..*self }
    }

    /// The best score that is found where questions are limited: at their price, or at a rising
    /// one.
    fn best_of_few_questions(&self) -> Result<PointsOfFeatures, RankError> {
        let mut best = self.built_up()?;
        let base = self.price.max(LEAST_PRICE * self.rows.unit_of_gain);
        for factor in PRICES {
            let price = factor * base;
            let cheaper = Self { price, most_questions: usize::MAX, ..*self };
            let mut found = cheaper.built_up()?;
            if self.n_questions(&found) <= self.most_questions {
                found.net = self.net(&found);
                self.improve(&mut found)?;
                if found.net > best.net + LEAST_GAIN {
                    best = found;
                }
                break;
            }
        }
        Ok(best)
    }

    /// A score built up feature by feature.
    fn built_up(&self) -> Result<PointsOfFeatures, RankError> {
        let mut score = PointsOfFeatures::nothing();
        self.add(&mut score, WIDTH)?;
        self.finish(&mut score)?;
        Ok(score)
    }

    /// Exchanges features, and changes pairs of them.
    fn finish(&self, score: &mut PointsOfFeatures) -> Result<(), RankError> {
        self.swap(score)?;
        self.shake(score, true)
    }

    /// Adds a feature with some points.
    fn join(&self, score: &mut PointsOfFeatures, feature: usize, mut points: Vec<i32>) {
        if score.features.is_empty() {
            // Whatever its scale, it ranks alike; others need room below.
            let top = points.iter().copied().max().unwrap_or(1).max(1);
            for at in &mut points {
                *at = *at * self.params.max_points as i32 / top;
            }
        }
        score.features.push((feature, points));
        score.net = self.net(score);
    }

    /// Changes a line by a point, or a cut by a bin, and improves the other features next to that,
    /// since two may gain only together. `is_anew` is as for [`PointSearch::sweep_once`].
    fn shake(&self, best: &mut PointsOfFeatures, is_anew: bool) -> Result<(), RankError> {
        // How many places in turn have no move that gains.
        let (mut place, mut n_settled) = (0, 0);
        while n_settled < best.features.len() && !self.interrupt.is_over() {
            place %= best.features.len();
            if self.shake_one(best, place, is_anew)? {
                n_settled = 0;
            } else {
                n_settled += 1;
            }
            place += 1;
        }
        Ok(())
    }

    /// Whether a change of one feature gains, which then is made.
    fn shake_one(
        &self,
        best: &mut PointsOfFeatures,
        place: usize,
        is_anew: bool,
    ) -> Result<bool, RankError> {
        let (feature, points) = &best.features[place];
        for points in small_moves(&self.rows.features[*feature], points) {
            let mut shaken = best.clone();
            shaken.features[place].1 = points;
            let Some(net) = self.allowed_net(&shaken) else { continue };
            shaken.net = net;
            self.sweep_once(&mut shaken, Some(place), is_anew)?;
            if shaken.net > best.net + LEAST_GAIN {
                self.sweep(&mut shaken)?;
                *best = shaken;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Improves a score by all moves.
    fn improve(&self, score: &mut PointsOfFeatures) -> Result<(), RankError> {
        self.sweep(score)?;
        self.add(score, 1)?;
        self.swap(score)
    }

    fn n_questions(&self, score: &PointsOfFeatures) -> usize {
        let of = |(feature, points): &(usize, Vec<i32>)| {
            n_questions(&self.rows.features[*feature], points)
        };
        score.features.iter().map(of).sum()
    }

    /// Sums of all features of a score but the one at a place.
    fn sums(&self, score: &PointsOfFeatures, without: Option<usize>) -> OtherSums {
        let mut sums = OtherSums { of_rows: vec![0; self.rows.n_rows()], n_sums: 1 };
        for (place, (feature, points)) in score.features.iter().enumerate() {
            if Some(place) == without {
                continue;
            }
            let points: Vec<u32> = points.iter().map(|&points| points as u32).collect();
            let bins = &self.rows.features[*feature].bins_of_rows;
            for (sum, &bin) in sums.of_rows.iter_mut().zip(bins) {
                *sum += points[usize::from(bin)];
            }
            sums.n_sums += points.iter().copied().max().unwrap_or(0) as usize;
        }
        sums
    }

    /// The limits of a feature next to those of a score but the one at a place, and the price of
    /// the questions of these.
    fn limits(
        &self,
        score: &PointsOfFeatures,
        without: Option<usize>,
        feature: usize,
    ) -> (LineLimits, f64) {
        let others = score.features.iter().enumerate().filter(|&(place, _)| Some(place) != without);
        let mut n_others = 0;
        for (_, (other, points)) in others {
            n_others += n_questions(&self.rows.features[*other], points);
        }
        // Each required feature that is still to come needs a question.
        let is_to_come = |other: &&usize| **other != feature && !score.has(**other);
        let n_to_come = self.params.required.iter().filter(is_to_come).count();
        let limits = LineLimits {
            most_points: self.params.max_points as i32,
            most_lines: self.params.max_lines,
            most_questions: self.most_questions.saturating_sub(n_others + n_to_come),
            least_weight: self.least_weight,
            price: self.price,
            is_required: self.params.required.contains(&feature),
        };
        (limits, self.price * n_others as f64)
    }

    /// The AUC of a score less the price of its questions.
    fn net(&self, score: &PointsOfFeatures) -> f64 {
        let OtherSums { of_rows, n_sums } = self.sums(score, None);
        let mut of_sums = vec![[0_u64; 2]; n_sums];
        for (&sum, weight) in of_rows.iter().zip(&self.rows.weights) {
            let of_sum = &mut of_sums[sum as usize];
            *of_sum = [of_sum[0] + weight[0], of_sum[1] + weight[1]];
        }
        let (mut below, mut area) = (0.0, 0.0);
        for sums in of_sums {
            let [negative, positive] = sums.map(|sum| sum as f64);
            area += positive * (2.0 * below + negative);
            below += negative;
        }
        area * self.rows.share_of_half_pair - self.price * self.n_questions(score) as f64
    }

    /// The best points of a feature next to those of a score but the one at a place, with the net
    /// area of the whole.
    fn best_of(
        &self,
        score: &PointsOfFeatures,
        without: Option<usize>,
        feature: usize,
        sums: &OtherSums,
        start: PointsStart<'_>,
    ) -> Option<FeaturePoints> {
        let placed = &self.rows.features[feature];
        if !placed.divides() {
            return None;
        }
        let (limits, of_others) = self.limits(score, without, feature);
        let most = self.params.max_points as usize;
        let pairs = PairsByShift::of(self.rows, placed, &sums.of_rows, sums.n_sums, most);
        let mut best: Option<FeaturePoints> = None;
        let mut starts = match start {
            PointsStart::Nothing | PointsStart::Both(_) => first_steps(placed, &pairs, &limits),
            PointsStart::Points(_) => Vec::new(),
        };
        if let PointsStart::Points(points) | PointsStart::Both(points) = start {
            starts.insert(0, points.to_vec());
        }
        for start in starts {
            let found = best_steps(placed, &pairs, &start, &limits);
            let floor = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.net + LEAST_GAIN);
            best = found.filter(|found| found.net > floor).or(best);
        }
        best.map(|best| FeaturePoints { net: best.net - of_others, ..best })
    }

    /// Adds features one after another, and improves the points of all after each. So many sets of
    /// features are kept at a time, those that gain most.
    fn add(&self, best: &mut PointsOfFeatures, width: usize) -> Result<(), RankError> {
        let mut kept = vec![best.clone()];
        while !kept.is_empty() {
            kept = self.with_one_more(&kept, width)?;
            for score in &kept {
                self.keep_better(best, score);
            }
        }
        Ok(())
    }

    /// Replaces a score by another one that has all required features, if that gains, or if the
    /// first lacks some of them.
    fn keep_better(&self, best: &mut PointsOfFeatures, score: &PointsOfFeatures) {
        let gains = score.net > best.net + LEAST_GAIN || !self.missing(best).is_empty();
        if gains && self.missing(score).is_empty() {
            best.clone_from(score);
        }
    }

    /// The scores that gain most of those with one more feature than some, of different sets.
    fn with_one_more(
        &self,
        scores: &[PointsOfFeatures],
        width: usize,
    ) -> Result<Vec<PointsOfFeatures>, RankError> {
        let mut found: Vec<(usize, usize, FeaturePoints)> = Vec::new();
        for (from, score) in scores.iter().enumerate() {
            let missing = self.missing(score);
            let is_full = score.features.len() >= self.params.max_features;
            let is_over = !score.features.is_empty() && self.interrupt.is_over();
            if missing.is_empty() && (is_full || is_over) {
                continue;
            }
            let must_join = missing.first().copied();
            let tried = if must_join.is_some() { missing } else { self.joining(score, None) };
            let sums = self.sums(score, None);
            let joined = self.each(tried, |feature| {
                self.best_of(score, None, feature, &sums, PointsStart::Nothing)
            })?;
            let joined = joined
                .into_iter()
                .flatten()
                .filter(|(_, steps)| must_join.is_some() || steps.net > score.net + LEAST_GAIN);
            let n_before = found.len();
            found.extend(joined.map(|(feature, steps)| (from, feature, steps)));
            if let Some(column) = must_join.filter(|_| found.len() == n_before) {
                return Err(RankError::NoLines { column });
            }
        }
        // A stable sort: of equal gains, the first feature.
        found.sort_by(|a, b| b.2.net.total_cmp(&a.2.net));
        let mut sets: Vec<Vec<usize>> = Vec::new();
        found.retain(|&(from, feature, _)| {
            let mut set: Vec<usize> = scores[from].features.iter().map(|&(at, _)| at).collect();
            set.push(feature);
            set.sort_unstable();
            let is_new = sets.len() < width && !sets.contains(&set);
            if is_new {
                sets.push(set);
            }
            is_new
        });
        parallel::try_map(found, |(from, feature, steps)| {
            let mut score = scores[from].clone();
            self.join(&mut score, feature, steps.points);
            self.sweep(&mut score)?;
            if width > 1 {
                self.shake(&mut score, false)?;
            }
            Ok::<_, RankError>(score)
        })
    }

    /// Required features that are not in a score.
    fn missing(&self, score: &PointsOfFeatures) -> Vec<usize> {
        self.params.required.iter().copied().filter(|&feature| !score.has(feature)).collect()
    }

    /// Features that may join those of a score but the one at a place.
    fn joining(&self, score: &PointsOfFeatures, without: Option<usize>) -> Vec<usize> {
        let others = || {
            let kept = score.features.iter().enumerate().filter(|&(at, _)| Some(at) != without);
            kept.map(|(_, &(feature, _))| feature)
        };
        let left = without.map(|place| score.features[place].0);
        let may_join =
            |&feature: &usize| Some(feature) != left && self.params.may_join(feature, others());
        (0..self.rows.features.len()).filter(may_join).collect()
    }

    /// The steps of each of some items.
    fn each<I: Copy + Send>(
        &self,
        items: Vec<I>,
        steps: impl Fn(I) -> Option<FeaturePoints> + Sync,
    ) -> Result<Vec<Option<(I, FeaturePoints)>>, RankError> {
        parallel::try_map(items, |item| {
            self.interrupt.check()?;
            Ok(steps(item).map(|found| (item, found)))
        })
    }

    /// The best of some items, the first of equal ones.
    fn best_of_each<I: Copy + Send>(
        &self,
        items: Vec<I>,
        best_of: impl Fn(I) -> Option<FeaturePoints> + Sync,
    ) -> Result<Option<(I, FeaturePoints)>, RankError> {
        let mut best: Option<(I, FeaturePoints)> = None;
        for (item, found) in self.each(items, best_of)?.into_iter().flatten() {
            if best.as_ref().is_none_or(|(_, best)| found.net > best.net + LEAST_GAIN) {
                best = Some((item, found));
            }
        }
        Ok(best)
    }

    /// Improves the points of each feature in turn, until none gains; and from other scales of all
    /// points. Features without a question leave the score.
    fn sweep(&self, score: &mut PointsOfFeatures) -> Result<(), RankError> {
        loop {
            let before = score.net;
            self.sweep_once(score, None, true)?;
            if !self.interrupt.is_over() {
                for factor in SCALES {
                    let mut scaled = score.clone();
                    let points = scaled.features.iter_mut().flat_map(|(_, points)| points);
                    points.for_each(|at| *at = (f64::from(*at) * factor).round() as i32);
                    if let Some(net) = self.allowed_net(&scaled) {
                        scaled.net = net;
                        self.sweep_once(&mut scaled, None, false)?;
                        if scaled.net > score.net + LEAST_GAIN {
                            *score = scaled;
                        }
                    }
                }
            }
            score
                .features
                .retain(|(feature, points)| n_questions(&self.rows.features[*feature], points) > 0);
            if score.net <= before + LEAST_GAIN || self.interrupt.is_over() {
                return Ok(());
            }
        }
    }

    /// The net area of a score whose points may be out of their limits; `None` if they are.
    fn allowed_net(&self, score: &PointsOfFeatures) -> Option<f64> {
        for (place, (feature, points)) in score.features.iter().enumerate() {
            let (limits, _) = self.limits(score, Some(place), *feature);
            limits.price(&self.rows.features[*feature], points)?;
        }
        Some(self.net(score))
    }

    /// Improves the points of each feature once, but for one that stays: from what they are, and if
    /// `is_anew` from no points, too.
    fn sweep_once(
        &self,
        score: &mut PointsOfFeatures,
        fixed: Option<usize>,
        is_anew: bool,
    ) -> Result<(), RankError> {
        for place in (0..score.features.len()).filter(|&place| Some(place) != fixed) {
            self.interrupt.check()?;
            let (feature, points) = score.features[place].clone();
            let sums = self.sums(score, Some(place));
            let start =
                if is_anew { PointsStart::Both(&points) } else { PointsStart::Points(&points) };
            let found = self.best_of(score, Some(place), feature, &sums, start);
            if let Some(found) = found.filter(|found| found.net > score.net + LEAST_GAIN) {
                score.features[place].1 = found.points;
                score.net = found.net;
            }
        }
        Ok(())
    }

    /// Exchanges one feature for another while that gains.
    fn swap(&self, score: &mut PointsOfFeatures) -> Result<(), RankError> {
        for _ in 0..MOST_SWAPS {
            if self.interrupt.is_over() {
                break;
            }
            let is_free = |&place: &usize| !self.params.required.contains(&score.features[place].0);
            let mut best: Option<((usize, usize), FeaturePoints)> = None;
            for place in (0..score.features.len()).filter(is_free) {
                let sums = self.sums(score, Some(place));
                let joining = self.joining(score, Some(place));
                let found = self.best_of_each(joining, |feature| {
                    self.best_of(score, Some(place), feature, &sums, PointsStart::Nothing)
                })?;
                if let Some((feature, found)) = found {
                    let floor = best.as_ref().map_or(score.net, |(_, best)| best.net);
                    if found.net > floor + LEAST_GAIN {
                        best = Some(((place, feature), found));
                    }
                }
            }
            let Some(((place, feature), found)) = best else { break };
            score.features[place] = (feature, found.points);
            score.net = found.net;
            self.sweep(score)?;
            self.add(score, 1)?;
        }
        Ok(())
    }
}
