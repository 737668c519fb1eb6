//! AUC, curve and variance of rows that come in pieces.
//!
//! All of them are functions of one table: the distinct scores in order, each with the weights of
//! its two classes. The table is kept as a few sorted runs of geometric sizes, merged when they are
//! asked for, and sums are whole numbers, so that every result is that of one call on all rows, bit
//! for bit, whatever the batches and their order.

mod bytes;
mod cells;
mod runs;

use rayon::prelude::*;

use self::cells::{Cell, Count, cut_down};
use self::runs::Runs;
use super::sample::{Sample, Unweighted};
use super::score::Coding;
use super::sort::{Record, Sink, for_ties, sweep};
use super::{PARALLEL_FROM, RocCurve, Score, auc};
use crate::RankError;

/// Rows that are gathered before they are sorted.
const BUFFER: usize = 1 << 20;

/// The same where few scores repeat, so that an entry of the table takes more room than a row.
const LARGEST_BUFFER: usize = 1 << 24;

/// Sums of weights are exact in `f64` too.
const MAX_UNITS: u64 = 1 << 53;

/// What is known of the ROC curve of rows that come in batches.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{RocState, auc};
///
/// let mut state = RocState::new(None, 1.0).unwrap();
/// state.update(&[0.1, 0.4], &[false, false], None).unwrap();
/// let mut other = RocState::new(None, 1.0).unwrap();
/// other.update(&[0.35, 0.8], &[true, true], None).unwrap();
/// state.merge(other).unwrap();
/// assert_eq!(state.auc(), auc(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]));
/// ```
#[derive(Debug, Clone)]
pub struct RocState {
    /// A weight is a whole number of units of `2^-unit_bits`.
    unit_bits: u32,
    max_size: Option<usize>,
    /// Negative, positive rows of weight above 0.
    rows: [u64; 2],
    /// Sums of their weights.
    units: [u64; 2],
    /// Rows that are not in the table yet: scores and classes of those without weights.
    scores: Vec<f64>,
    positive: Vec<bool>,
    /// Key of the score and `units << 1 | positive` of those with weights.
    weighted: Vec<(u64, u64)>,
    /// Number of waiting rows from which on they are to be sorted, if that saves room.
    enough: usize,
    table: Table,
}

#[derive(Debug, Clone)]
enum Table {
    /// Every row counts once, every score stands alone.
    Counts(Runs<Count>),
    /// There are weights, or a greatest size.
    Cells(Runs<Cell>),
}

impl Table {
    fn is_empty(&self) -> bool {
        match self {
            Self::Counts(runs) => runs.len() == 0,
            Self::Cells(runs) => runs.len() == 0,
        }
    }
}

impl RocState {
    /// A state without rows.
    ///
    /// With a `max_size` the table keeps at most so many entries: neighbouring scores are counted
    /// as ties, and [`RocState::auc_error_bound`] says what that costs. Weights are rounded to
    /// multiples of `weight_unit`; if that is 1 they must be whole numbers.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if `max_size` is below 2, or `weight_unit` is not a power of two
    /// from 2^-52 to 1.
    pub fn new(max_size: Option<usize>, weight_unit: f64) -> Result<Self, RankError> {
        if max_size.is_some_and(|size| size < 2) {
            return Err(RankError::BadParameter {
                name: "max_size",
                value: max_size.unwrap_or_default().to_string(),
                rule: "at least 2",
            });
        }
        let unit_bits =
            (0..=52_i32).find(|&bits| weight_unit.to_bits() == 0.5_f64.powi(bits).to_bits());
        let Some(unit_bits) = unit_bits else {
            return Err(RankError::BadParameter {
                name: "weight_unit",
                value: weight_unit.to_string(),
                rule: "a power of two from 2^-52 to 1",
            });
        };
        Ok(Self {
            unit_bits: unit_bits.cast_unsigned(),
            max_size,
            rows: [0; 2],
            units: [0; 2],
            scores: Vec::new(),
            positive: Vec::new(),
            weighted: Vec::new(),
            enough: buffer(max_size),
            table: match max_size {
                None => Table::Counts(Runs::default()),
                Some(_) => Table::Cells(Runs::default()),
            },
        })
    }

    /// Greatest number of entries, if there is one.
    #[must_use]
    pub fn max_size(&self) -> Option<usize> {
        self.max_size
    }

    /// What weights are multiples of.
    #[must_use]
    pub fn weight_unit(&self) -> f64 {
        0.5_f64.powi(self.unit_bits.cast_signed())
    }

    /// Negative rows of weight above 0.
    #[must_use]
    pub fn n_neg(&self) -> u64 {
        self.rows[0]
    }

    /// Positive rows of weight above 0.
    #[must_use]
    pub fn n_pos(&self) -> u64 {
        self.rows[1]
    }

    /// Whether `n_rows` more rows, or with 0 a statistic, would make it sort so much that it takes
    /// the threads of the rayon pool it is called in.
    #[must_use]
    pub fn uses_threads(&self, n_rows: usize) -> bool {
        let waiting = self.n_waiting();
        let (size, is_one) = match &self.table {
            Table::Counts(runs) => (runs.len(), runs.is_one()),
            Table::Cells(runs) => (runs.len(), runs.is_one()),
        };
        if n_rows > 0 {
            waiting + n_rows >= self.enough
        } else {
            (waiting > 0 || !is_one) && waiting + size >= PARALLEL_FROM
        }
    }

    /// Adds rows; either class may be absent. An error leaves the state as it was.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ, a score is NaN, a weight is negative, not finite or not
    /// a multiple of the unit, or a class would weigh more than 2^53 units.
    pub fn update<S: Score>(
        &mut self,
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Result<(), RankError> {
        let n = positive.len();
        for (name, found) in
            [("y_score", scores.len()), ("sample_weight", weights.map_or(n, <[f64]>::len))]
        {
            if found != n {
                return Err(RankError::LengthMismatch { name, found, expected: n });
            }
        }
        if let Some(row) = scores.iter().position(|s| s.partial_cmp(s).is_none()) {
            return Err(RankError::NanScore(row));
        }
        let mut rows = [0_u64; 2];
        let units = if let Some(weights) = weights {
            let mut sums = [0_u128; 2];
            for (row, (&weight, &positive)) in weights.iter().zip(positive).enumerate() {
                let units = self.units_of(row, weight)?;
                rows[usize::from(positive)] += u64::from(units > 0);
                sums[usize::from(positive)] += u128::from(units);
            }
            sums
        } else {
            let n_pos = positive.iter().map(|&p| u64::from(p)).sum::<u64>();
            rows = [n as u64 - n_pos, n_pos];
            rows.map(|rows| u128::from(rows) << self.unit_bits)
        };
        self.add_totals(rows, units)?;
        if let Some(weights) = weights {
            let weigh = |(row, (&score, &positive)): (usize, (&S, &bool))| {
                let units = self.units_of(row, weights[row]).ok().filter(|&units| units > 0)?;
                Some((Into::<f64>::into(score).key(), units << 1 | u64::from(positive)))
            };
            let new: Vec<_> = scores.iter().zip(positive).enumerate().filter_map(weigh).collect();
            self.weighted.extend(new);
        } else {
            self.scores.extend(scores.iter().map(|&score| Into::<f64>::into(score)));
            self.positive.extend(positive);
        }
        self.sort_if_enough();
        Ok(())
    }

    /// Adds the rows of another state; the smaller of two greatest sizes holds.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if the units of weight differ; [`RankError::TooMuchWeight`].
    pub fn merge(&mut self, mut other: Self) -> Result<(), RankError> {
        if self.unit_bits != other.unit_bits {
            return Err(RankError::BadParameter {
                name: "weight_unit",
                value: other.weight_unit().to_string(),
                rule: "the same in states that are merged",
            });
        }
        self.add_totals(other.rows, other.units.map(u128::from))?;
        self.scores.append(&mut other.scores);
        self.positive.append(&mut other.positive);
        self.weighted.append(&mut other.weighted);
        if let Some(size) = other.max_size {
            self.max_size = Some(self.max_size.map_or(size, |own| own.min(size)));
            self.cells();
        }
        match other.table {
            Table::Counts(runs) => {
                for run in runs.into_runs() {
                    self.push_counts(run);
                }
            }
            Table::Cells(runs) => {
                for run in runs.into_runs() {
                    self.cells().push(run);
                }
            }
        }
        self.sort_if_enough();
        self.keep_size();
        Ok(())
    }

    /// Area under the ROC curve of all rows: equal to the last bit to [`auc`](super::auc) of one
    /// call, unless there is a greatest size.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn auc(&mut self) -> Result<f64, RankError> {
        let all = self.both_classes()?;
        if self.max_size.is_none() && self.table.is_empty() && self.weighted.is_empty() {
            // No table is needed, nor are rows of one class in a stretch of scores put in order.
            return auc(&self.scores, &self.positive);
        }
        let (mut half_wins, mut below) = (0_u128, 0);
        self.for_each(|cell| {
            let [neg, pos] = cell.units;
            half_wins += u128::from(pos) * u128::from(2 * below + neg);
            below += neg;
        });
        Ok(half_wins as f64 / (2 * u128::from(all[0]) * u128::from(all[1])) as f64)
    }

    /// Most by which [`RocState::auc`] can differ from the AUC of all rows; 0 without a greatest
    /// size. Pairs within a cell count one half where the order of their scores would have counted 0
    /// or 1.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn auc_error_bound(&mut self) -> Result<f64, RankError> {
        let all = self.both_classes()?;
        let mut pairs = 0_u128;
        self.for_each(|cell| {
            if cell.width > 0 {
                pairs += u128::from(cell.units[0]) * u128::from(cell.units[1]);
            }
        });
        let bound = pairs as f64 / (2 * u128::from(all[0]) * u128::from(all[1])) as f64;
        // Rounded up: three roundings of half a unit in the last place.
        Ok(bound * (1.0 + 2.0 * f64::EPSILON))
    }

    /// Variance of the AUC by `DeLong`, `DeLong` and Clarke-Pearson (1988), in one pass.
    ///
    /// With weights w and placement values V of the m rows of a class, each class contributes
    /// `m / (m - 1) * sum(w^2 (V - AUC)^2) / sum(w)^2`: the usual variance if all weights are
    /// equal. With a greatest size it is that of the scores rounded to cells.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent, [`RankError::NoVariance`] if it has one row.
    pub fn variance(&mut self) -> Result<f64, RankError> {
        let area = self.auc()?;
        let [n_neg, n_pos] = self.rows;
        if n_neg < 2 || n_pos < 2 {
            return Err(RankError::NoVariance { n_pos, n_neg });
        }
        let all = self.both_classes()?.map(|units| units as f64);
        let (mut below, mut sums) = ([0_u64; 2], [0.0; 2]);
        self.for_each(|cell| {
            // Share of the other class below, a tie counting one half.
            let place =
                |other: usize| (below[other] as f64 + 0.5 * cell.units[other] as f64) / all[other];
            let places = [1.0 - place(1), place(0)];
            for class in [0, 1] {
                sums[class] += cell.squares[class] as f64 * (places[class] - area).powi(2);
                below[class] += cell.units[class];
            }
        });
        let part = |class: usize| {
            let n = self.rows[class] as f64;
            sums[class] / (all[class] * all[class]) * (n / (n - 1.0))
        };
        Ok(part(0) + part(1))
    }

    /// Kish's effective numbers of positive and of negative rows, as
    /// [`DeLong::effective_rows`](super::DeLong::effective_rows).
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn effective_rows(&mut self) -> Result<[f64; 2], RankError> {
        let [neg, pos] = self.both_classes()?.map(|units| units as f64);
        let mut squares = [0.0; 2];
        self.for_each(|cell| {
            for class in [0, 1] {
                squares[class] += cell.squares[class] as f64;
            }
        });
        Ok([pos * pos / squares[1], neg * neg / squares[0]])
    }

    /// The ROC curve of all rows: equal to that of one call, unless there is a greatest size. Then
    /// its knots are some of those of the whole curve, with the least score of each cell.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn curve(&mut self) -> Result<RocCurve, RankError> {
        let all = self.both_classes()?;
        let (mut thresholds, mut counts) = (Vec::new(), [Vec::new(), Vec::new()]);
        let mut below = [0_u64; 2];
        self.for_each(|cell| {
            // A cell may begin below the least score of all.
            thresholds.push(f64::from_key(cell.key.max(f64::NEG_INFINITY.key())));
            for class in [0, 1] {
                counts[class].push(all[class] - below[class]);
                below[class] += cell.units[class];
            }
        });
        thresholds.push(f64::INFINITY);
        thresholds.reverse();
        let [fp, tp] = counts.map(|mut counts| {
            counts.push(0);
            counts.reverse();
            counts
        });
        RocCurve::from_counts(thresholds, fp, tp)
    }

    /// Number of entries of the table: distinct scores, or cells.
    pub fn size(&mut self) -> usize {
        self.settle();
        match &self.table {
            Table::Counts(runs) => runs.len(),
            Table::Cells(runs) => runs.len(),
        }
    }

    /// The state as bytes with a version and a checksum; without a greatest size, the same bytes
    /// for the same rows in any batches and any order, if all come with weights or all without.
    #[must_use]
    pub fn to_bytes(&mut self) -> Vec<u8> {
        bytes::write(self)
    }

    /// The state of [`RocState::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadState`], whatever the bytes are.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RankError> {
        bytes::read(bytes)
    }

    fn n_waiting(&self) -> usize {
        self.scores.len() + self.weighted.len()
    }

    fn units_of(&self, row: usize, weight: f64) -> Result<u64, RankError> {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(RankError::BadWeight { row, value: weight });
        }
        let exact = weight * 2_f64.powi(self.unit_bits.cast_signed());
        let units = exact.round();
        if self.unit_bits == 0 && exact.fract() > 0.0 || units < 1.0 && weight > 0.0 {
            return Err(RankError::BadParameter {
                name: "sample_weight",
                value: format!("{weight} in row {row}"),
                rule: "a whole number of weight_unit, to which fractions are rounded if it is below 1",
            });
        }
        // A weight beyond the integers saturates, and the total says so.
        Ok(units as u64)
    }

    fn add_totals(&mut self, rows: [u64; 2], units: [u128; 2]) -> Result<(), RankError> {
        let sums = [0, 1].map(|class| u128::from(self.units[class]) + units[class]);
        if sums.iter().any(|&sum| sum > u128::from(MAX_UNITS)) {
            return Err(RankError::TooMuchWeight { unit: self.weight_unit() });
        }
        self.units = sums.map(|sum| sum as u64);
        self.rows = [0, 1].map(|class| self.rows[class] + rows[class]);
        Ok(())
    }

    fn both_classes(&self) -> Result<[u64; 2], RankError> {
        let [n_neg, n_pos] = self.rows;
        if n_neg == 0 || n_pos == 0 {
            return Err(RankError::OneClass { n_pos: n_pos as usize, n_neg: n_neg as usize });
        }
        Ok(self.units)
    }

    /// The entries in ascending order.
    fn for_each(&mut self, visit: impl FnMut(Cell)) {
        self.settle();
        let bits = self.unit_bits;
        match &mut self.table {
            Table::Counts(runs) => {
                runs.one().iter().map(|&count| Cell::of_rows(count, bits)).for_each(visit);
            }
            Table::Cells(runs) => runs.one().iter().copied().for_each(visit),
        }
    }

    /// Brings every row into one run.
    fn settle(&mut self) {
        self.sort_waiting();
        match &mut self.table {
            Table::Counts(runs) => {
                runs.one();
            }
            Table::Cells(runs) => {
                runs.one();
            }
        }
    }

    /// Rows without weights that hardly repeat a score wait as long as there is room: they take 9
    /// bytes each, an entry of the table 24.
    fn sort_if_enough(&mut self) {
        let waiting = self.n_waiting();
        if waiting < self.enough {
            return;
        }
        let keeps = self.weighted.is_empty() && self.max_size.is_none();
        if keeps && waiting < LARGEST_BUFFER && hardly_repeat(&self.scores) {
            self.enough = (2 * waiting).min(LARGEST_BUFFER);
        } else {
            self.sort_waiting();
        }
    }

    fn sort_waiting(&mut self) {
        self.enough = buffer(self.max_size);
        if !self.scores.is_empty() {
            let (scores, positive) =
                (std::mem::take(&mut self.scores), std::mem::take(&mut self.positive));
            self.push_counts(counts_of(&scores, &positive));
        }
        if !self.weighted.is_empty() {
            let weighted = std::mem::take(&mut self.weighted);
            self.cells().push(cells_of(weighted));
        }
        self.keep_size();
    }

    fn push_counts(&mut self, run: Vec<Count>) {
        let bits = self.unit_bits;
        match &mut self.table {
            Table::Counts(runs) => runs.push(run),
            Table::Cells(runs) => {
                runs.push(run.into_iter().map(|count| Cell::of_rows(count, bits)).collect());
            }
        }
    }

    /// The table as cells, whatever it was.
    fn cells(&mut self) -> &mut Runs<Cell> {
        if let Table::Counts(runs) = &mut self.table {
            let bits = self.unit_bits;
            let run = std::mem::take(runs.one());
            let mut cells = Runs::default();
            cells.push(run.into_iter().map(|count| Cell::of_rows(count, bits)).collect());
            self.table = Table::Cells(cells);
        }
        match &mut self.table {
            Table::Cells(runs) => runs,
            Table::Counts(_) => unreachable!("made into cells above"),
        }
    }

    fn keep_size(&mut self) {
        if let (Some(max_size), Table::Cells(runs)) = (self.max_size, &mut self.table)
            && runs.len() > max_size
        {
            let run = runs.one();
            if run.len() > max_size {
                // Room for more, so that the cost of cutting is spread over many rows.
                *run = cut_down(run, max_size.div_ceil(2));
            }
        }
    }
}

/// Rows gathered at first: with a greatest size, as many as the cache holds as cells.
fn buffer(max_size: Option<usize>) -> usize {
    max_size.map_or(BUFFER, |size| size.saturating_mul(4).clamp(BUFFER >> 3, BUFFER))
}

/// Whether more than half of a sample of the scores are distinct.
fn hardly_repeat(scores: &[f64]) -> bool {
    const STEP: usize = 64;
    let mut keys: Vec<u64> = scores.iter().step_by(STEP).map(|score| score.key()).collect();
    keys.sort_unstable();
    2 * keys.chunk_by(|a, b| a == b).count() > keys.len()
}

/// Collects the distinct scores of a range.
struct Counting {
    coding: Coding<f64>,
    counts: Vec<Count>,
}

impl Sink<u64> for Counting {
    fn tie(&mut self, code: u64, positive: u64, negative: u64) {
        let key = self.coding.score(code).key();
        self.counts.push(Count { key, rows: [negative, positive] });
    }

    fn range<R: Record<u64>>(&mut self, rows: &mut [R], _: usize, top: u64) {
        rows.sort_unstable_by_key(|row| row.word());
        for_ties(rows, top, |code, positive, negative| self.tie(code, positive, negative));
    }
}

fn counts_of(scores: &[f64], positive: &[bool]) -> Vec<Count> {
    let Ok((sample, _)) = Sample::of_any_class(scores, positive, Unweighted) else {
        unreachable!("checked before they were gathered");
    };
    let parts = sweep::<f64, _, u64, _>(&sample, |coding| Counting { coding, counts: Vec::new() });
    let counts: Vec<Vec<Count>> = parts.into_iter().map(|part| part.counts).collect();
    counts.concat()
}

fn cells_of(mut rows: Vec<(u64, u64)>) -> Vec<Cell> {
    if rows.len() < PARALLEL_FROM {
        rows.sort_unstable_by_key(|row| row.0);
    } else {
        rows.par_sort_unstable_by_key(|row| row.0);
    }
    let cell = |tied: &[(u64, u64)]| {
        let mut cell = Cell { key: tied[0].0, width: 0, units: [0; 2], squares: [0; 2] };
        for &(_, word) in tied {
            let (class, units) = ((word & 1) as usize, word >> 1);
            cell.units[class] += units;
            cell.squares[class] += u128::from(units) * u128::from(units);
        }
        cell
    };
    rows.chunk_by(|a, b| a.0 == b.0).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::weighted_auc;

    type Row = (f64, bool, u8);

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let score = prop_oneof![
            (-3..4_i8).prop_map(f64::from),
            -1.0..1.0,
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(-0.0),
        ];
        prop::collection::vec((score, any::<bool>(), 0..4_u8), 0..120).prop_map(|mut rows| {
            rows.extend([(0.5, true, 1), (0.25, true, 2), (0.5, false, 1), (0.0, false, 3)]);
            rows
        })
    }

    fn parts(rows: &[Row]) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let weights = rows.iter().map(|row| f64::from(row.2)).collect();
        (rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| r.1).collect(), weights)
    }

    fn state_of(rows: &[Row], max_size: Option<usize>, weighted: bool) -> RocState {
        let mut state = RocState::new(max_size, 1.0).unwrap();
        let (scores, positive, weights) = parts(rows);
        state.update(&scores, &positive, weighted.then_some(&weights[..])).unwrap();
        state
    }

    /// Merges the states of pieces cut at random; from the left, from the right, or as a tree.
    fn pieced(
        rows: &[Row],
        cuts: &[usize],
        order: u8,
        max_size: Option<usize>,
        weighted: bool,
    ) -> RocState {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % rows.len()).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let mut states: Vec<RocState> =
            cuts.windows(2).map(|c| state_of(&rows[c[0]..c[1]], max_size, weighted)).collect();
        while states.len() > 1 {
            let (into, from) = match order {
                0 => (0, 1),
                1 => (states.len() - 2, states.len() - 1),
                _ => (states.len() - 1, 0),
            };
            let mut other = states[from].clone();
            if order == 2 {
                // Asked in between, which sorts what waits.
                other.size();
            }
            states[into].merge(other).unwrap();
            states.remove(from);
        }
        states.remove(0)
    }

    /// Sample variance of the placement values of both classes, from all pairs.
    fn variance_by_pairs(rows: &[Row], weighted: bool) -> f64 {
        let weight = |row: &Row| if weighted { f64::from(row.2) } else { 1.0 };
        let class = |positive: bool| -> Vec<&Row> {
            rows.iter().filter(|row| row.1 == positive && weight(row) > 0.0).collect()
        };
        let (pos, neg) = (class(true), class(false));
        let wins = |p: &Row, q: &Row| 0.5 * (f64::from(p.0 > q.0) + f64::from(p.0 >= q.0));
        let total = |class: &[&Row]| class.iter().map(|row| weight(row)).sum::<f64>();
        let part = |own: &[&Row], other: &[&Row], wins: &dyn Fn(&Row, &Row) -> f64| {
            let place = |row: &Row| {
                other.iter().map(|o| weight(o) * wins(row, o)).sum::<f64>() / total(other)
            };
            let mean = own.iter().map(|row| weight(row) * place(row)).sum::<f64>() / total(own);
            let sum: f64 = own.iter().map(|row| (weight(row) * (place(row) - mean)).powi(2)).sum();
            let n = own.len() as f64;
            sum / total(own).powi(2) * n / (n - 1.0)
        };
        part(&pos, &neg, &|p, q| wins(p, q)) + part(&neg, &pos, &|q, p| wins(p, q))
    }

    proptest! {
        #[test]
        fn any_pieces_in_any_order_are_one_call(
            rows in rows(),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            order in 0..3_u8,
            weighted in any::<bool>(),
        ) {
            let (scores, positive, weights) = parts(&rows);
            let mut state = pieced(&rows, &cuts, order, None, weighted);
            let (whole, curve) = if weighted {
                let curve = RocCurve::weighted(&scores, &positive, &weights);
                (weighted_auc(&scores, &positive, &weights), curve)
            } else {
                (auc(&scores, &positive), RocCurve::new(&scores, &positive))
            };
            prop_assert_eq!(state.auc(), whole);
            prop_assert_eq!(state.curve(), curve);
            prop_assert_eq!(state.auc_error_bound(), Ok(0.0));
            let variance = state.variance().unwrap();
            prop_assert!((variance - variance_by_pairs(&rows, weighted)).abs() < 1e-14);
            let mut once = state_of(&rows, None, weighted);
            prop_assert_eq!(once.variance(), Ok(variance));
            prop_assert_eq!(state.to_bytes(), once.to_bytes());
        }

        #[test]
        fn the_error_of_a_bounded_state_is_within_its_bound(
            rows in rows(),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            order in 0..3_u8,
            max_size in 2..40_usize,
        ) {
            let (scores, positive, _) = parts(&rows);
            let mut state = pieced(&rows, &cuts, order, Some(max_size), false);
            prop_assert!(state.size() <= max_size);
            let error = (state.auc().unwrap() - auc(&scores, &positive).unwrap()).abs();
            prop_assert!(error <= state.auc_error_bound().unwrap() + 1e-15);
            // Each knot counts the rows at or above its threshold.
            let curve = state.curve().unwrap();
            for knot in 1..curve.len() {
                let above = |class: bool| {
                    let at_or_above = |row: &&Row| row.0 >= curve.thresholds()[knot];
                    rows.iter().filter(|row| row.1 == class).filter(at_or_above).count() as u64
                };
                prop_assert_eq!(curve.true_positives()[knot], above(true));
                prop_assert_eq!(curve.false_positives()[knot], above(false));
            }
        }

        #[test]
        fn bytes_come_back(
            rows in rows(), max_size in prop::option::of(2..40_usize), weighted in any::<bool>(),
        ) {
            let mut state = state_of(&rows, max_size, weighted);
            let bytes = state.to_bytes();
            let mut twin = RocState::from_bytes(&bytes).unwrap();
            prop_assert_eq!(twin.to_bytes(), bytes);
            prop_assert_eq!(twin.variance(), state.variance());
        }

        #[test]
        fn changed_bytes_are_refused(
            rows in rows(), at in any::<usize>(), flip in 1..255_u8, weighted in any::<bool>(),
        ) {
            let mut bytes = state_of(&rows, None, weighted).to_bytes();
            let n = bytes.len();
            prop_assert!(RocState::from_bytes(&bytes[..at % n]).is_err());
            bytes[at % n] ^= flip;
            prop_assert!(RocState::from_bytes(&bytes).is_err());
            // With a true checksum it must still be a state, or an error; never a panic.
            let hash = crate::model::fnv1a64(&bytes[..n - 8]);
            bytes[n - 8..].copy_from_slice(&hash.to_le_bytes());
            if let Ok(mut state) = RocState::from_bytes(&bytes) {
                let _ = (state.variance(), state.curve(), state.auc_error_bound());
            }
        }
    }

    #[test]
    fn many_rows_take_every_path() {
        let n = 2 * BUFFER + 12_345;
        let score = |row: usize| {
            let bits = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            bits as f64 / 1e6 - 5.0
        };
        let scores: Vec<f64> = (0..n).map(score).collect();
        let positive: Vec<bool> = (0..n).map(|row| row % 3 == 0).collect();
        let weights: Vec<f64> = (0..n).map(|row| (row % 5) as f64).collect();
        for n_threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let (mut state, mut weighted, mut bounded) = (
                    RocState::new(None, 1.0).unwrap(),
                    RocState::new(None, 0.25).unwrap(),
                    RocState::new(Some(1000), 1.0).unwrap(),
                );
                for start in (0..n).step_by(300_000) {
                    let end = (start + 300_000).min(n);
                    let (s, p) = (&scores[start..end], &positive[start..end]);
                    state.update(s, p, None).unwrap();
                    weighted.update(s, p, Some(&weights[start..end])).unwrap();
                    bounded.update(s, p, None).unwrap();
                }
                assert_eq!(state.auc(), auc(&scores, &positive));
                assert_eq!(state.curve(), RocCurve::new(&scores, &positive));
                assert_eq!(state.auc(), auc(&scores, &positive));
                assert_eq!(weighted.auc(), weighted_auc(&scores, &positive, &weights));
                let bound = bounded.auc_error_bound().unwrap();
                let error = (bounded.auc().unwrap() - state.auc().unwrap()).abs();
                assert!(error <= bound && bound < 2e-3, "{error} {bound}");
            });
        }
    }

    #[test]
    fn rows_wait_where_they_hardly_repeat_a_score() {
        let n = 2 * BUFFER;
        let positive: Vec<bool> = (0..n).map(|row| row % 3 == 0).collect();
        for (n_distinct, waits) in [(n, true), (1000, false)] {
            let scores: Vec<f64> = (0..n).map(|row| (row * 7919 % n_distinct) as f64).collect();
            let mut state = RocState::new(None, 1.0).unwrap();
            for (s, p) in scores.chunks(100_000).zip(positive.chunks(100_000)) {
                state.update(s, p, None).unwrap();
            }
            assert_eq!(state.table.is_empty(), waits);
            assert_eq!(state.auc(), auc(&scores, &positive));
            state.update(&scores, &positive, None).unwrap();
            let twice = [scores.clone(), scores].concat();
            assert_eq!(state.auc(), auc(&twice, &positive.repeat(2)));
            assert_eq!(state.size(), n_distinct);
        }
    }

    #[test]
    fn an_error_leaves_the_state_as_it_was() {
        let mut state = RocState::new(None, 1.0).unwrap();
        let two = [false, true];
        assert_eq!(state.auc(), Err(RankError::OneClass { n_pos: 0, n_neg: 0 }));
        state.update(&[0.0, 1.0], &two, None).unwrap();
        assert_eq!(state.variance(), Err(RankError::NoVariance { n_pos: 1, n_neg: 1 }));
        let before = state.to_bytes();
        assert_eq!(state.update(&[0.0, f64::NAN], &two, None), Err(RankError::NanScore(1)));
        for bad in [0.5, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(state.update(&[0.0, 1.0], &two, Some(&[1.0, bad])).is_err(), "{bad}");
        }
        assert!(state.update(&[0.0], &two, None).is_err());
        assert!(state.update(&[0.0, 1.0], &two, Some(&[1.0])).is_err());
        let finer = RocState::new(None, 0.5).unwrap();
        assert!(state.merge(finer).is_err());
        assert_eq!(state.to_bytes(), before);
        for unit in [0.0, 2.0, 0.3, -1.0, f64::NAN, f64::INFINITY] {
            assert!(RocState::new(None, unit).is_err(), "{unit}");
        }
        assert!(RocState::new(Some(1), 1.0).is_err());
    }

    #[test]
    fn newer_and_foreign_bytes_are_named() {
        let message = |bytes: &[u8]| RocState::from_bytes(bytes).unwrap_err().to_string();
        assert!(message(b"").contains("do not begin"));
        assert!(message(b"PK\x03\x04 and more").contains("do not begin"));
        assert!(message(b"AUCRANKS").contains("cut short"));
        assert!(message(b"AUCRANKS\x07\0\0\0").contains("format version 7"));
    }
}
