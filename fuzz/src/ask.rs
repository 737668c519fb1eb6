//! Calls made with a text: reading it, scoring rows, explaining scores, and writing it again.

use std::time::{Duration, Instant};

use aucrank::additive::BinnedFeature;
use aucrank::aurora::ThresholdBinarizer;
use aucrank::data::{Column, Columns, MISSING_CODE};
use aucrank::model::{Document, Ensemble, Model, ModelError};
use aucrank::tree::{LeafValue, RankingTree};

use crate::json::{Kind, parts_of};
use crate::memory;
use crate::random::Random;

/// Bytes of memory that a call may take for each byte of the file and of the rows.
const MEMORY_RATIO: usize = 20;

/// Additional memory of a call: buffers for the rows of a tile.
const MEMORY_FLOOR: usize = 2 << 20;

/// The same without rows.
const LOADING_FLOOR: usize = 64 << 10;

/// Time limit of a call for ten megabytes of file and rows; the minimum is that for one megabyte.
const TIME_FOR_10_MB: Duration = Duration::from_secs(1);

/// Maximum number of rows scored at once, and of values in them.
const MOST_ROWS: usize = 24;
const MOST_VALUES: usize = 200_000;

/// Longest text that is written again: longer ones take too much time and memory.
const LONGEST_WRITTEN: usize = 100_000;

const EXTREMES: [f64; 12] = [
    f64::NAN,
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::MAX,
    f64::MIN,
    5e-324,
    -5e-324,
    1e300,
    9_007_199_254_740_993.0,
    f64::MIN_POSITIVE,
];

/// The model with a corrected checksum, if the text is a model apart from that.
pub fn mended(text: &str) -> Option<String> {
    let Err(ModelError::Checksum { found, expected }) = Document::from_json(text) else {
        return None;
    };
    let at = text.rfind(&format!("\"{found}\""))? + 1;
    let mut mended = text.to_owned();
    mended.replace_range(at..at + found.len(), &expected);
    Some(mended)
}

/// Whether a text is read as a model.
///
/// # Errors
///
/// A description of the finding. A panic is a finding, too, but is passed on.
pub fn ask(text: &str, random: &mut Random) -> Result<bool, String> {
    let room = |_: &_| (text.len(), LOADING_FLOOR);
    let loaded = within_limits("load", room, || Document::from_json(text))?;
    let Ok(document) = loaded else { return Ok(false) };
    let values = values_near(text, random);
    let sample = Sample::new(document.model.n_levels(), &values, random);
    let asking = Asking { columns: &sample.columns(), n_bytes: text.len() + sample.n_bytes() };
    asking.scores("score", |columns| document.score(columns))?;
    asking.about(&document.model)?;
    if text.len() < LONGEST_WRITTEN {
        if !sample.has_strangers() {
            agrees_with_its_formula(&document, &sample.columns())?;
        }
        let written = document.to_json().map_err(|err| format!("it cannot be written: {err}"))?;
        match Document::from_json(&written) {
            Err(err) => return Err(format!("it is written, but not read again: {err}")),
            Ok(again) if again != document => {
                return Err("it is read as another after it is written".to_owned());
            }
            Ok(_) => (),
        }
    }
    Ok(true)
}

/// Whether the formula of a model gives its scores bit for bit. Weighted sums that overflow are not
/// compared.
fn agrees_with_its_formula(document: &Document, columns: &Columns<'_>) -> Result<(), String> {
    let formula = document.model.family().formula();
    if formula.opaque().is_some() || matches!(document.model, Model::RankOpt(_)) {
        return Ok(());
    }
    let bits = |scores: Vec<f64>| scores.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let scores = document.score(columns).map(bits);
    let values = formula.values(columns).map(bits);
    if scores == values {
        Ok(())
    } else {
        Err(format!("its scores are {scores:?}, and those of its formula {values:?}"))
    }
}

/// Some numbers of the text with their neighbours, since models test thresholds.
fn values_near(text: &str, random: &mut Random) -> Vec<f64> {
    let mut values = EXTREMES.to_vec();
    let parts = parts_of(text);
    let numbers: Vec<f64> = parts
        .iter()
        .filter(|part| part.kind == Kind::Number)
        .filter_map(|part| text[part.place.clone()].parse().ok())
        .filter(|number: &f64| number.is_finite())
        .collect();
    for _ in 0..numbers.len().min(20) {
        let number = *random.one_of(&numbers);
        values.extend([number, number.next_up(), number.next_down()]);
    }
    values.retain(|value| !value.is_infinite());
    values
}

/// The values of a feature.
enum Values {
    Wide(Vec<f64>),
    Narrow(Vec<f32>),
    Codes { codes: Vec<u32>, n_levels: u32 },
}

/// Rows for a model.
struct Sample {
    features: Vec<Values>,
    n_rows: usize,
}

impl Sample {
    /// Whether a code is out of the range of its feature.
    fn has_strangers(&self) -> bool {
        self.features.iter().any(|values| match values {
            Values::Codes { codes, n_levels } => codes.contains(n_levels),
            Values::Wide(_) | Values::Narrow(_) => false,
        })
    }

    fn new(n_levels: &[Option<u32>], values: &[f64], random: &mut Random) -> Self {
        let n_rows = (MOST_VALUES / n_levels.len().max(1)).clamp(1, MOST_ROWS);
        let rows = 0..n_rows;
        let features = n_levels.iter().map(|n_levels| match *n_levels {
            Some(n_levels) => {
                let ends = [0, 1, n_levels.saturating_sub(1), MISSING_CODE];
                // Sometimes a code that was not in the fit, which must be an error and nothing
                // worse.
                let stranger = random.once_in(30).then_some(n_levels);
                let code = |_| {
                    let code = *random.one_of(&ends);
                    stranger.filter(|_| code == 1).unwrap_or(code)
                };
                Values::Codes { codes: rows.clone().map(code).collect(), n_levels }
            }
            None if random.once_in(4) => {
                let narrow = |_| *random.one_of(values) as f32;
                let finite = |value: f32| if value.is_infinite() { 0.0 } else { value };
                Values::Narrow(rows.clone().map(narrow).map(finite).collect())
            }
            None => Values::Wide(rows.clone().map(|_| *random.one_of(values)).collect()),
        });
        Self { features: features.collect(), n_rows }
    }

    fn columns(&self) -> Columns<'_> {
        let columns = self.features.iter().map(|values| match values {
            Values::Wide(values) => Column::from(&values[..]),
            Values::Narrow(values) => Column::from(&values[..]),
            Values::Codes { codes, n_levels } => Column::Codes { codes, n_levels: *n_levels },
        });
        Columns::new(columns.collect(), self.n_rows).expect("all columns have as many rows")
    }

    fn n_bytes(&self) -> usize {
        self.n_rows * self.features.len() * size_of::<f64>()
    }
}

/// Rows, and the sizes that bound an answer about them.
struct Asking<'a> {
    columns: &'a Columns<'a>,
    n_bytes: usize,
}

impl Asking<'_> {
    /// Calls a method on the rows, which returns numbers or an error.
    fn scores<E: std::fmt::Debug>(
        &self,
        what: &str,
        method: impl Fn(&Columns<'_>) -> Result<Vec<f64>, E>,
    ) -> Result<(), String> {
        let answer = self.about_rows(what, method)?;
        if answer.iter().any(|value| !value.is_finite()) {
            return Err(format!("{what}: not finite"));
        }
        Ok(())
    }

    /// The same for any type of answer; an empty list for an error.
    fn about_rows<T, E: std::fmt::Debug>(
        &self,
        what: &str,
        method: impl Fn(&Columns<'_>) -> Result<Vec<T>, E>,
    ) -> Result<Vec<T>, String> {
        let room = |answer: &Result<Vec<T>, E>| {
            let n_bytes = answer.as_ref().map_or(0, |answer| size_of_val(&answer[..]));
            (self.n_bytes + n_bytes, MEMORY_FLOOR)
        };
        Ok(within_limits(what, room, || method(self.columns))?.unwrap_or_default())
    }

    /// Calls a method without rows.
    fn about_model<T>(&self, what: &str, method: impl Fn() -> T) -> Result<T, String> {
        within_limits(what, |_| (self.n_bytes, MEMORY_FLOOR), method)
    }

    /// Calls all public methods of a model of its kind.
    fn about(&self, model: &Model) -> Result<(), String> {
        match model {
            Model::TreeRank(model) => self.about_tree(&model.tree)?,
            Model::RankingForest(forest) => {
                self.scores("probability", |columns| forest.probability(columns))?;
                self.about_model("importances", || forest.importances())?;
                for value in LEAF_VALUES {
                    self.about_model("leaf values", || value.of_forest(forest))?;
                }
                for tree in forest.trees().iter().take(2) {
                    self.about_tree(tree)?;
                }
            }
            Model::Boosted(model) => {
                if model.is_additive() {
                    self.scores("explain", |columns| model.explain(columns))?;
                    self.about_model("terms", || model.merged_terms())?;
                }
                self.about_model("importances", || model.importances())?;
                for round in 0..model.terms().len().min(3) {
                    self.scores("round", |columns| model.round_values(columns, round, None))?;
                }
            }
            Model::BranchingProgram(program) => {
                self.about_model("votes", || {
                    program
                        .nodes()
                        .filter_map(|(layer, index, _)| program.twice_votes(layer, index))
                        .count()
                })?;
            }
            Model::Mad2c(table) => {
                self.about_rows("bins", |columns| table.bins(columns))?;
                let ginis = || table.features().iter().map(BinnedFeature::gini).sum::<f64>();
                self.about_model("AUC", ginis)?;
            }
            Model::Rimarc(model) => {
                self.scores("probability", |columns| model.probability(columns))?;
                self.scores("explain", |columns| model.explain(columns))?;
                self.about_model("terms", || model.terms())?;
                for feature in 0..model.n_levels().len().min(100) {
                    self.about_model("bin scores", || model.bin_scores(feature))?;
                }
            }
            Model::Scorecard(card) => {
                self.scores("probability", |columns| card.probability(columns))?;
                self.scores("explain", |columns| card.explain(columns))?;
                self.about_rows("points", |columns| card.points(columns))?;
                self.about_model("importances", || card.importances())?;
                let bounds = || (card.points_range(), card.auc(), card.exact_auc());
                self.about_model("range of points", bounds)?;
            }
            Model::Aurora(model) => {
                self.scores("explain", |columns| model.explain(columns))?;
                self.about_model("terms", || model.feature_terms())?;
                self.about_model("importances", || model.importances())?;
            }
            Model::ThresholdBinarizer(model) => self.about_binarizer(model)?,
            Model::Linear(model) => {
                self.scores("probability", |columns| model.probability(columns))?;
                self.scores("explain", |columns| model.explain(columns))?;
            }
            Model::RankOpt(model) => {
                self.scores("explain", |columns| model.explain(columns))?;
            }
            Model::GradientBoosted(model) => {
                self.scores("probability", |columns| model.probability(columns))?;
                if model.is_additive() {
                    self.scores("explain", |columns| model.explain(columns))?;
                }
                self.about_model("terms", || model.merged_terms().is_ok())?;
                self.about_model("terms of pairs", || model.pair_terms().is_ok())?;
                self.about_model("importances", || model.importances())?;
                for round in 0..model.trees().len().min(3) {
                    self.scores("round", |columns| model.round_values(columns, round))?;
                }
            }
            Model::ImportedTrees(model) => {
                self.scores("probability", |columns| model.probability(columns))?;
                self.about_model("trees", || model.trees().len())?;
            }
            Model::ImportedLinear(model) => {
                self.scores("probability", |columns| model.probability(columns))?;
            }
            Model::Ensemble(model) => self.about_ensemble(model)?,
            Model::TwoSided(model) => self.about(model.ranker())?,
        }
        Ok(())
    }

    fn about_binarizer(&self, model: &ThresholdBinarizer) -> Result<(), String> {
        let counts = self.about_rows("count", |columns| model.count(columns))?;
        let n_terms = model.n_terms();
        let terms = |columns: &Columns<'_>| {
            let mut on = vec![0_u8; columns.n_rows() * n_terms];
            model.fill(columns, &mut on, 1).map(|()| on)
        };
        self.about_rows("terms of rows", terms)?;
        let indices = |columns: &Columns<'_>| {
            let n_on: i64 = counts.iter().sum();
            let mut indices = vec![0; usize::try_from(n_on).unwrap_or(0)];
            model.fill_indices(columns, &counts, &mut indices).map(|()| indices)
        };
        self.about_rows("indices", indices)?;
        self.about_model("terms", || model.terms())?;
        Ok(())
    }

    fn about_ensemble(&self, model: &Ensemble) -> Result<(), String> {
        // A model of external rankers cannot score without them.
        if model.external_rankers().is_empty() {
            self.scores("probability", |columns| model.probability(columns, None))?;
        }
        let models = model.members().iter().flat_map(|member| &member.models);
        models.take(3).try_for_each(|model| self.about(model))
    }

    fn about_tree(&self, tree: &RankingTree) -> Result<(), String> {
        // A tree of classifiers cannot score without them.
        if tree.classifiers().is_empty() {
            self.scores("probability", |columns| tree.probability(columns, None))?;
            self.about_rows("apply", |columns| tree.apply(columns, None))?;
        }
        let table = || (tree.depths(), tree.leaf_sums(), tree.roc(), tree.auc());
        self.about_model("table of a tree", table)?;
        for value in LEAF_VALUES {
            self.about_model("leaf values", || value.of(tree))?;
        }
        if tree.has_importances() {
            self.about_model("importances", || tree.importances())?;
        }
        self.about_model("pruning path", || tree.pruning_path())?;
        self.about_model("pruned tree", || tree.prune(1e-3))?;
        // Its table has a row and a column for each leaf, as documented.
        if tree.n_leaves() < 200 {
            self.about_model("best subtree", || tree.best_subtree(3).is_ok())?;
        }
        Ok(())
    }
}

const LEAF_VALUES: [LeafValue; 4] =
    [LeafValue::Rank, LeafValue::Eta, LeafValue::Score, LeafValue::Probability];

/// CPU time of this thread so far; only on Linux.
fn time_on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Makes a call, and repeats it if it is slow, since other programs may slow it down. `room`
/// returns the number of bytes that an answer is in proportion to, and its additional memory.
fn within_limits<T>(
    what: &str,
    room: impl Fn(&T) -> (usize, usize),
    call: impl Fn() -> T,
) -> Result<T, String> {
    let mut least_time = Duration::MAX;
    for n_left in (0..4).rev() {
        let (start, busy) = (Instant::now(), time_on_processor());
        let (answer, peak) = memory::peak_of(&call);
        let mut time = start.elapsed();
        let (n_bytes, floor) = room(&answer);
        if peak > MEMORY_RATIO * n_bytes + floor {
            return Err(format!("{what}: memory of {} times the size", peak / n_bytes.max(1)));
        }
        let most_time = TIME_FOR_10_MB.mul_f64((n_bytes as f64 / 1e7).max(0.1));
        if let (Some(before), Some(after)) = (busy, time_on_processor()) {
            time = time.min(after.saturating_sub(before));
        }
        least_time = least_time.min(time);
        if least_time <= most_time {
            return Ok(answer);
        }
        if n_left == 0 {
            let milliseconds = least_time.as_millis();
            return Err(format!("{what}: {milliseconds} ms for {n_bytes} bytes"));
        }
    }
    unreachable!("the last time returns")
}
