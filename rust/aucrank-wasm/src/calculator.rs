//! What the calculator of the documentation asks: statistics of scores, and points of scorecards.
//!
//! Every answer is an object as JSON; that to a bad input has only an `error`.

use std::str;
use std::sync::{Mutex, PoisonError};

use aucrank::additive::Scorecard;
use aucrank::data::{Bins, Column, Columns, MISSING_CODE};
use aucrank::measures::{
    AucInterval, Estimate, IntervalMethod, NetBenefit, auc_interval, calibration, compare_aucs,
    decision_curve,
};
use aucrank::model::{Document, FeatureKind, Header, TextRows};
use aucrank::roc::{Knots, RocCurve};
use serde_json::{Value, json};

use crate::{say, taken};

const CONFIDENCE: f64 = 0.95;

/// Most knots of a curve that is returned whole. Of a longer one, knots are left out that are nearer
/// to the last one than a pixel of a picture of a thousand.
const MOST_KNOTS: usize = 2000;
const PIXEL: f64 = 1e-3;

static CARD: Mutex<Option<(Header, Scorecard)>> = Mutex::new(None);

/// Statistics of one or two scores of the same rows. Returns the number of bytes of the answer.
///
/// The input is the number of scores and whether they are probabilities, a byte each; a byte for each
/// row, 1 if it is positive; and the numbers of each score.
///
/// # Safety
///
/// The input lies in a room of so many bytes, which this call frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn measure(room: *mut u8, n_bytes: usize) -> usize {
    // SAFETY: promised by who calls.
    let input = unsafe { taken(room, n_bytes) };
    say_result(measures(&input))
}

/// Reads a saved scorecard, and describes it.
///
/// # Safety
///
/// As of [`measure`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn load_card(room: *mut u8, n_bytes: usize) -> usize {
    // SAFETY: promised by who calls.
    let text = unsafe { taken(room, n_bytes) };
    say_result(described(&text))
}

/// Points and probabilities of rows, as JSON: the numbers of the rows, by which errors name them, and a
/// list of lists of texts, of which the first has the names of the columns. Of a single row also the
/// bin of each feature.
///
/// # Safety
///
/// As of [`measure`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn score_card(room: *mut u8, n_bytes: usize) -> usize {
    // SAFETY: promised by who calls.
    let text = unsafe { taken(room, n_bytes) };
    say_result(scored(&text))
}

fn say_result(result: Result<Value, String>) -> usize {
    say(result.unwrap_or_else(|error| json!({ "error": error })).to_string())
}

/// An error in the words of the crate.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
fn in_words(error: impl ToString) -> String {
    error.to_string()
}

fn measures(input: &[u8]) -> Result<Value, String> {
    let [n_scores, are_probabilities, rest @ ..] = input else {
        return Err("the input is empty".to_owned());
    };
    let n_scores = usize::from(*n_scores);
    let n_rows = rest.len() / (1 + 8 * n_scores);
    let (labels, numbers) = rest.split_at(n_rows);
    let positive: Vec<bool> = labels.iter().map(|&label| label != 0).collect();
    let (numbers, _) = numbers.as_chunks::<8>();
    let numbers: Vec<f64> = numbers.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    let scores: Vec<&[f64]> = numbers.chunks(n_rows.max(1)).take(n_scores).collect();
    let models: Result<Vec<Value>, String> = scores
        .iter()
        .map(|scores| of_scores(scores, &positive, *are_probabilities != 0).map_err(in_words))
        .collect();
    let comparison = match scores[..] {
        [first, second] => {
            let found = compare_aucs([first, second], &positive, CONFIDENCE).map_err(in_words)?;
            json!({
                "difference": found.difference,
                "low": found.low,
                "high": found.high,
                "standard_error": found.standard_error,
                "z": found.z,
                "p_value": found.p_value,
                "method": name_of(found.method),
            })
        }
        _ => Value::Null,
    };
    let n_pos = positive.iter().filter(|&&positive| positive).count();
    Ok(json!({
        "n_rows": n_rows, "n_pos": n_pos, "models": models?, "comparison": comparison,
    }))
}

fn of_scores(
    scores: &[f64],
    positive: &[bool],
    are_probabilities: bool,
) -> Result<Value, aucrank::RankError> {
    let interval = |method| auc_interval(scores, positive, CONFIDENCE, method).map(of_interval);
    let curve = RocCurve::with_knots(scores, positive, None, Knots::WithoutIntermediate)?;
    let mut found = json!({
        "auc": interval(IntervalMethod::Logit)?,
        "delong": interval(IntervalMethod::DeLong)?,
        "curve": of_curve(&curve),
    });
    if are_probabilities {
        found["calibration"] = of_calibration(scores, positive)?;
        let thresholds: Vec<f64> = (1..100).map(|percent| f64::from(percent) / 100.0).collect();
        let [model, all] = decision_curve(scores, positive, &thresholds, CONFIDENCE)?;
        found["decision"] = json!({ "model": of_benefits(&model), "all": of_benefits(&all) });
    }
    Ok(found)
}

fn name_of(method: IntervalMethod) -> &'static str {
    match method {
        IntervalMethod::Logit => "logit",
        IntervalMethod::DeLong => "delong",
        IntervalMethod::Student => "student",
        IntervalMethod::HanleyMcNeil => "hanley-mcneil",
        IntervalMethod::Exact => "exact",
    }
}

fn of_interval(interval: AucInterval) -> Value {
    let AucInterval { auc, low, high, standard_error, method } = interval;
    json!({
        "auc": auc, "low": low, "high": high, "standard_error": standard_error,
        "method": name_of(method),
    })
}

fn of_curve(curve: &RocCurve) -> Value {
    let (fpr, tpr, thresholds) = (curve.fpr(), curve.tpr(), curve.thresholds());
    let mut kept: Vec<usize> = Vec::new();
    for knot in 0..curve.len() {
        let is_far = kept.last().is_none_or(|&last: &usize| {
            fpr[knot] - fpr[last] >= PIXEL || tpr[knot] - tpr[last] >= PIXEL
        });
        if curve.len() <= MOST_KNOTS || is_far || knot + 1 == curve.len() {
            kept.push(knot);
        }
    }
    let of = |values: &[f64]| kept.iter().map(|&knot| values[knot]).collect::<Vec<f64>>();
    json!({ "fpr": of(&fpr), "tpr": of(&tpr), "thresholds": of(thresholds) })
}

fn of_estimate(Estimate { value, low, high }: Estimate) -> Value {
    json!([value, low, high])
}

fn of_calibration(scores: &[f64], positive: &[bool]) -> Result<Value, aucrank::RankError> {
    let found = calibration(scores, positive, CONFIDENCE)?;
    let point = |point: &aucrank::measures::SmoothPoint| {
        let Estimate { value, low, high } = point.observed;
        json!([point.probability, value, low, high])
    };
    let [e50, e90, e_max] = found.distances.map(|value| json!([value, null, null]));
    let only = |value: f64| json!([value, null, null]);
    Ok(json!({
        "measures": {
            "intercept": of_estimate(found.intercept),
            "slope": of_estimate(found.slope),
            "observed_to_expected": of_estimate(found.observed_to_expected),
            "brier": of_estimate(found.brier),
            "miscalibration": only(found.miscalibration),
            "discrimination": only(found.discrimination),
            "uncertainty": only(found.uncertainty),
            "ici": only(found.ici),
            "e50": e50,
            "e90": e90,
            "e_max": e_max,
        },
        "curve": found.curve.iter().map(point).collect::<Vec<_>>(),
        "isotonic": found
            .isotonic
            .iter()
            .map(|step| json!([step.low, step.high, step.size, step.observed]))
            .collect::<Vec<_>>(),
    }))
}

fn of_benefits(benefits: &[NetBenefit]) -> Value {
    let of = |found: &NetBenefit| {
        json!([found.threshold, found.tpr, found.fpr, found.value, found.low, found.high])
    };
    benefits.iter().map(of).collect()
}

fn described(text: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(text).map_err(in_words)?;
    let (header, card) = Document::read_as::<Scorecard>(text).map_err(in_words)?;
    let features: Vec<Value> = card
        .features()
        .iter()
        .map(|of_card| {
            let feature = &header.features[of_card.feature];
            let levels = match &feature.kind {
                FeatureKind::Numeric => Value::Null,
                FeatureKind::Categorical { levels } => levels.values().into(),
            };
            let bins = match &of_card.bins {
                Bins::Numeric { cuts, special } => json!({ "cuts": cuts, "special": special }),
                Bins::Categorical { bin_of_level, n_bins } => {
                    json!({ "bin_of_level": bin_of_level, "n_bins": n_bins })
                }
            };
            let counts = feature.counts.is_some();
            json!({
                "name": feature.name, "levels": levels, "is_date": counts, "bins": bins,
                "points": of_card.points,
            })
        })
        .collect();
    let classes = header.classes.as_ref().map(|classes| {
        classes.values.iter().map(aucrank::model::Json::value).collect::<Vec<Value>>()
    });
    let (least, most) = card.points_range();
    let all: Vec<Option<&str>> =
        header.features.iter().map(|feature| feature.name.as_deref()).collect();
    let answer = json!({
        "class": header.estimator.class, "classes": classes, "features": features, "columns": all,
        "initial_points": card.initial_points(), "range": [least, most],
    });
    *CARD.lock().unwrap_or_else(PoisonError::into_inner) = Some((header, card));
    Ok(answer)
}

fn scored(text: &[u8]) -> Result<Value, String> {
    let card = CARD.lock().unwrap_or_else(PoisonError::into_inner);
    let (header, card) = card.as_ref().ok_or("no card is loaded")?;
    let (numbers, table): (Vec<usize>, Vec<Vec<String>>) =
        serde_json::from_slice(text).map_err(in_words)?;
    let (names, table) = table.split_first().ok_or("there are no names of columns")?;
    let names = names.iter().map(String::as_str);
    let mut rows = TextRows::new(&header.features, names).map_err(in_words)?;
    for (number, row) in numbers.iter().zip(table) {
        let error = |err| format!("row {number} of the file: {err}");
        rows.push(row.iter().map(String::as_str)).map_err(error)?;
    }
    let columns = rows.columns().map_err(in_words)?;
    let bins = if table.len() == 1 { bins_of_first(card, &columns) } else { Vec::new() };
    Ok(json!({
        "points": card.points(&columns).map_err(in_words)?,
        "probability": card.probability(&columns).map_err(in_words)?,
        "bins": bins,
    }))
}

/// For each feature of the card, the place of the first row's bin among its bins.
fn bins_of_first(card: &Scorecard, columns: &Columns<'_>) -> Vec<usize> {
    let raw: Vec<f64> = columns
        .iter()
        .map(|column| match column {
            Column::F64(numbers) => numbers.get(0),
            Column::F32(numbers) => numbers.get(0),
            Column::Codes { codes, .. } if codes[0] == MISSING_CODE => f64::NAN,
            Column::Codes { codes, .. } => f64::from(codes[0]),
        })
        .collect();
    card.features().iter().map(|of_card| of_card.bins.bin(raw[of_card.feature])).collect()
}
