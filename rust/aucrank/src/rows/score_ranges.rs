//! The cut of largest TPR - FPR if the scores are elsewhere: class weights of ranges of scores are
//! requested, and ranges that may contain a better cut are divided again.

use super::words::WordReader;
use crate::RankError;
use crate::data::{ClassMasses, ClassSums, midpoint, times_power_of_two};
use crate::roc::{Score, auc_up_to};

/// Ranges that are requested at once.
const MOST_RANGES: usize = 512;

/// Most questions; rows whose answers keep changing raise an error.
const MOST_QUERIES: usize = 1000;

/// The scores of a range that occur in rows of positive weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    /// Class weights.
    sums: ClassMasses,
    /// Keys of the lowest and of the highest score.
    least: u64,
    most: u64,
    /// Whether its parts were requested.
    is_open: bool,
}

/// Sums of the rows of consecutive ranges of scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScoreRanges(Vec<Option<Range>>);

impl ScoreRanges {
    /// `n_ranges` ranges without rows.
    pub(crate) fn none(n_ranges: usize) -> Self {
        Self(vec![None; n_ranges])
    }

    /// Adds a row of positive weight; `edges` are the keys at which all ranges but the first begin,
    /// ascending.
    pub(crate) fn add(&mut self, edges: &[u64], score: f64, sums: ClassMasses) {
        let key = score.key();
        let place = edges.partition_point(|&edge| edge <= key);
        join(&mut self.0[place], Range { sums, least: key, most: key, is_open: false });
    }

    pub(crate) fn merge(&mut self, more: &Self) {
        for (own, more) in self.0.iter_mut().zip(&more.0) {
            if let Some(more) = more {
                join(own, *more);
            }
        }
    }

    pub(crate) fn put_words(&self, words: &mut Vec<u64>) {
        words.push(self.0.iter().flatten().count() as u64);
        for (place, range) in self.0.iter().enumerate() {
            if let Some(Range { sums, least, most, .. }) = range {
                words.extend([place as u64, sums.pos, sums.neg, *least, *most]);
            }
        }
    }

    pub(crate) fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for _ in 0..reader.word()? {
            let &[place, pos, neg, least, most] = reader.array()?;
            let place = usize::try_from(place).ok().and_then(|place| self.0.get_mut(place));
            let is_good = least <= most && pos.checked_add(neg).is_some_and(|sum| sum > 0);
            let place = place.filter(|_| is_good).ok_or_else(bad)?;
            *place = Some(Range { sums: ClassMasses { pos, neg }, least, most, is_open: false });
        }
        Ok(())
    }
}

fn join(own: &mut Option<Range>, more: Range) {
    *own = Some(match *own {
        None => more,
        Some(mut own) => {
            own.sums += more.sums;
            Range { least: own.least.min(more.least), most: own.most.max(more.most), ..own }
        }
    });
}

/// The cut that [`largest_gap`](crate::roc::largest_gap) finds, given class weights, numbers
/// between which most scores lie, and a function that asks for the sums of ranges between keys.
pub(crate) fn largest_gap_of_ranges(
    total: ClassSums,
    (low, high): (f64, f64),
    mut ask: impl FnMut(Vec<u64>) -> Result<ScoreRanges, RankError>,
) -> Result<f64, RankError> {
    let first = Range {
        sums: ClassMasses::default(),
        least: low.min(high).key(),
        most: low.max(high).key(),
        is_open: false,
    };
    let (mut edges, mut known) = (edges_of(&[first], &[0]), Vec::new());
    for _ in 0..MOST_QUERIES {
        let found: Vec<Range> = ask(edges)?.0.into_iter().flatten().collect();
        let all: ClassMasses = found.iter().map(|range| range.sums).sum();
        if (all.pos, all.neg) != (total.pos, total.neg) {
            return Err(bad());
        }
        known = if known.is_empty() { found } else { refined(known, &found)? };
        match next_edges(total, &known) {
            Ok(cut) => return Ok(cut),
            Err(finer) => {
                edges = edges_of(&known, &finer);
                for place in finer {
                    known[place].is_open = true;
                }
            }
        }
    }
    Err(bad())
}

/// Replaces divided ranges by their subranges.
fn refined(known: Vec<Range>, found: &[Range]) -> Result<Vec<Range>, RankError> {
    let mut all = Vec::with_capacity(known.len() + found.len());
    let mut rest = found;
    for range in known {
        if !range.is_open {
            all.push(range);
            continue;
        }
        rest = &rest[rest.partition_point(|part| part.most < range.least)..];
        let (inside, others) = rest.split_at(rest.partition_point(|part| part.most <= range.most));
        let sum: ClassMasses = inside.iter().map(|part| part.sums).sum();
        let is_same = sum == range.sums && inside.first().is_some_and(|p| p.least == range.least);
        if !is_same {
            return Err(bad());
        }
        all.extend(inside);
        rest = others;
    }
    Ok(all)
}

/// The best cut, or the ranges in which a better one may lie.
fn next_edges(total: ClassSums, ranges: &[Range]) -> Result<f64, Vec<usize>> {
    let (n_pos, n_neg) = (i128::from(total.pos), i128::from(total.neg));
    let gain = |sums: ClassMasses| i128::from(sums.neg) * n_pos - i128::from(sums.pos) * n_neg;
    // The gap at the lower end of each range; of equal ones, the highest cut.
    let mut below = Vec::with_capacity(ranges.len());
    let (mut sum, mut best) = (0, (0, 0));
    for (place, range) in ranges.iter().enumerate() {
        below.push(sum);
        if sum > 0 && sum >= best.0 {
            best = (sum, place);
        }
        sum += gain(range.sums);
    }
    // Inside a range a gap is at most the one with all of its negatives first.
    let may_be_better = |place: &usize| {
        let Range { sums, least, most, .. } = ranges[*place];
        let highest = below[*place] + i128::from(sums.neg) * n_pos;
        least < most && sums.neg > 0 && sums.pos > 0 && highest > 0 && highest >= best.0
    };
    let finer: Vec<usize> = (0..ranges.len()).filter(may_be_better).collect();
    if finer.is_empty() {
        let score = f64::from_key;
        return Ok(match best {
            (0, _) => ranges.last().map_or(0.0, |range| score(range.most)),
            (_, place) => midpoint(score(ranges[place - 1].most), score(ranges[place].least)),
        });
    }
    Err(finer)
}

/// Edges that divide some of the ranges.
fn edges_of(ranges: &[Range], finer: &[usize]) -> Vec<u64> {
    let n_parts = (MOST_RANGES / finer.len()).max(2);
    let mut edges = Vec::new();
    for Range { least, most, .. } in finer.iter().map(|&place| ranges[place]) {
        // Halving the keys separates the lowest score from the highest, whatever the numbers.
        edges.extend([least, least + (most - least).div_ceil(2)]);
        edges.extend(most.checked_add(1));
        let (low, high) = (f64::from_key(least), f64::from_key(most));
        let inside = (1..n_parts).map(|part| low + (high - low) * (part as f64 / n_parts as f64));
        let keys = inside.filter(|edge| edge.is_finite()).map(Score::key);
        edges.extend(keys.filter(|key| (least..=most).contains(key)));
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn bad() -> RankError {
    RankError::BadAnswer("the weights of ranges of scores are not those of the rows".to_owned())
}

/// Keys of scores, ascending, with the class weight of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScoreCounts(Vec<(u64, ClassMasses)>);

impl ScoreCounts {
    /// Adds scores in any order.
    pub(crate) fn add(&mut self, scores: impl Iterator<Item = (f64, ClassMasses)>) {
        self.0.extend(scores.map(|(score, weight)| (score.key(), weight)));
        // Merges runs that are sorted already.
        self.0.sort_by_key(|&(key, _)| key);
        self.0.dedup_by(|(key, weight), (kept, sum)| {
            let is_same = key == kept;
            if is_same {
                *sum += *weight;
            }
            is_same
        });
    }

    pub(crate) fn merge(&mut self, more: &Self) {
        self.add(more.0.iter().map(|&(key, weight)| (f64::from_key(key), weight)));
    }

    /// The AUC, up to a false positive rate, where weights have a unit with this exponent.
    pub(crate) fn auc_up_to(&self, max_fpr: f64, exponent: i32) -> Result<f64, RankError> {
        let (mut scores, mut positive, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for &(key, ClassMasses { pos, neg }) in &self.0 {
            for (class, units) in [(false, neg), (true, pos)] {
                if units > 0 {
                    scores.push(f64::from_key(key));
                    positive.push(class);
                    weights.push(times_power_of_two(units as f64, exponent));
                }
            }
        }
        auc_up_to(max_fpr, &scores, &positive, Some(&weights))
    }

    pub(crate) fn put_words(&self, words: &mut Vec<u64>) {
        words.push(self.0.len() as u64);
        words.extend(self.0.iter().flat_map(|(key, weight)| [*key, weight.pos, weight.neg]));
    }

    pub(crate) fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for _ in 0..reader.word()? {
            let &[key, pos, neg] = reader.array()?;
            if f64::from_key(key).is_nan() || self.0.last().is_some_and(|last| last.0 >= key) {
                return Err(RankError::BadAnswer("scores do not rise".to_owned()));
            }
            self.0.push((key, ClassMasses { pos, neg }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, mix};
    use crate::roc::largest_gap;

    fn by_ranges(scores: &[f64], labels: &Labels<'_>) -> (f64, usize, usize) {
        let (mut n_queries, mut n_words) = (0, 0);
        let cut = largest_gap_of_ranges(labels.total(), (0.0, 1.0), |edges| {
            n_queries += 1;
            // Two holders, whose answers are sent.
            let mut sum = ScoreRanges::none(edges.len() + 1);
            for holder in 0..2 {
                let mut own = ScoreRanges::none(edges.len() + 1);
                for row in (holder..scores.len()).step_by(2) {
                    let ClassSums { pos, neg, .. } = labels.sums(row);
                    if pos + neg > 0 {
                        own.add(&edges, scores[row], ClassMasses { pos, neg });
                    }
                }
                let mut words = Vec::new();
                own.put_words(&mut words);
                n_words += words.len();
                let mut received = ScoreRanges::none(edges.len() + 1);
                received.take_words(&mut WordReader::new(&words))?;
                assert_eq!(received, own);
                sum.merge(&received);
            }
            Ok(sum)
        });
        (cut.unwrap(), n_queries, n_words)
    }

    #[test]
    fn the_cut_is_that_of_all_scores() {
        for seed in 0..300 {
            let draw = |row: usize, what: u64| mix(seed ^ mix(what << 32 | row as u64));
            let n_rows = 2 + (draw(0, 9) % 300) as usize;
            let (n_values, shift) = (1 + draw(1, 9) % 400, draw(2, 9) % 4);
            let score =
                |row| (draw(row, 1) % n_values) as f64 - (n_values / 2 * (shift / 2)) as f64;
            let scores: Vec<f64> = (0..n_rows).map(|row| score(row) * 1e-3).collect();
            let positive: Vec<bool> = (0..n_rows)
                .map(|row| {
                    row == 0 || row > 1 && draw(row, 2) % (n_values + 2) < draw(row, 1) % n_values
                })
                .collect();
            let weights: Vec<f64> = (0..n_rows)
                .map(|row| if row < 2 { 1.0 } else { (draw(row, 3) % 3) as f64 })
                .collect();
            for weights in [None, Some(&weights[..])] {
                let labels = Labels::new(&positive, weights).unwrap();
                let found = by_ranges(&scores, &labels).0;
                assert_eq!(Ok(found), largest_gap(&scores, &labels), "seed {seed}");
            }
        }
    }

    #[test]
    fn far_fewer_words_are_sent_than_there_are_scores() {
        let draw = |row: usize, what: u64| mix(mix(what) ^ row as u64);
        let n_rows = 400_000;
        let unit = |row, what| (draw(row, what) >> 11) as f64 * 2_f64.powi(-53);
        let scores: Vec<f64> = (0..n_rows).map(|row| unit(row, 1)).collect();
        let positive: Vec<bool> = (0..n_rows).map(|row| unit(row, 2) < scores[row]).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let (cut, n_queries, n_words) = by_ranges(&scores, &labels);
        assert_eq!(Ok(cut), largest_gap(&scores, &labels));
        assert!(n_queries < 8 && n_words < n_rows / 8, "{n_words} words in {n_queries} answers");
    }

    #[test]
    fn infinite_and_equal_scores_are_cut_alike() {
        let (inf, positive) = (f64::INFINITY, [false, true, false, true]);
        let labels = Labels::new(&positive, None).unwrap();
        for scores in
            [[-inf, 0.0, -0.0, inf], [-inf, inf, -inf, inf], [1.0; 4], [4.0, 3.0, 2.0, 1.0]]
        {
            let found = by_ranges(&scores, &labels).0;
            let expected = largest_gap(&scores, &labels).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{scores:?}");
        }
    }

    #[test]
    fn answers_of_other_rows_are_errors() {
        let labels = Labels::new(&[false, true], None).unwrap();
        let cut = largest_gap_of_ranges(labels.total(), (1.0, 0.0), |edges| {
            Ok(ScoreRanges::none(edges.len() + 1))
        });
        assert!(matches!(cut, Err(RankError::BadAnswer(_))));
        for words in [&[1, 1, 1, 0, 5, 5][..], &[1, 0, 0, 0, 5, 5], &[1, 0, 1, 1, 6, 5], &[2, 0]] {
            assert!(ScoreRanges::none(1).take_words(&mut WordReader::new(words)).is_err());
        }
    }
}
