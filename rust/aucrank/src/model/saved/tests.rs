//! Documents: read as written, damaged, forged, and of a later version.

use serde_json::{Value, json};

use super::document::checksum;
use super::*;
use crate::additive::{LinearParams, Mad2cParams, Thresholds, fit_linear, fit_mad2c};
use crate::aurora::{
    AuroraParams, BinarizerParams, Radius, RankOptParams, SearchDepth, Selection,
    SelectionCriterion as PathCriterion, fit_aurora, fit_rank_opt, fit_threshold_binarizer,
};
use crate::boost::{
    AucBoostParams, FitExtras, HeldOutParams, HeldOutRule, MartiParams, Output, ProgramScore,
    RoundParams, Routing, ThresholdCriterion, WeakRankerParams, fit_auc_boost, fit_marti_rank,
};
use crate::calibration::{Calibration, CalibrationMethod};
use crate::data::{BinningParams, Column, Columns, Labels, NewRows, mix};
use crate::formula::Opaque;
use crate::model::{Model, TwoSidedModel};
use crate::tree::{
    Aggregation, BootstrapParams, ForestParams, GrowParams, LeafOrder, LeafRankParams, SplitRule,
    TreeRankParams, fit, fit_forest,
};
use crate::{Interrupt, RankError};

const VALUES: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, f64::NAN, 0.8];
const CODES: [u32; 8] = [0, 1, 0, 1, 2, 2, 1, 0];
const POSITIVE: [bool; 8] = [false, true, false, true, true, false, true, false];

fn columns() -> Columns<'static> {
    let column = Column::Codes { codes: &CODES, n_levels: 3 };
    Columns::new(vec![Column::from(&VALUES[..]), column], 8).unwrap()
}

fn fit_params(split_depth: usize) -> TreeRankParams {
    TreeRankParams::new(
        GrowParams {
            max_depth: 4,
            min_samples_leaf: 1,
            leaf_order: LeafOrder::Tree,
            ..GrowParams::default()
        },
        SplitRule::Stumps(LeafRankParams {
            max_depth: split_depth,
            ..LeafRankParams::orthogonal(1)
        }),
    )
}

fn document_of(class: &str, model: Model) -> Document {
    let levels = ["blue", "green", "red"].map(Value::from).to_vec().try_into().unwrap();
    let header = Header {
        estimator: Estimator { class: class.to_owned(), params: json!({"max_depth": 4}).into() },
        classes: Some(Classes {
            dtype: "int64".to_owned(),
            values: [json!(0).into(), json!(1).into()],
        }),
        features: vec![
            Feature { name: Some("size".to_owned()), kind: FeatureKind::Numeric, counts: None },
            Feature {
                name: Some("colour".to_owned()),
                kind: FeatureKind::Categorical { levels },
                counts: None,
            },
        ],
        sample: None,
        reading: None,
        report: None,
    };
    Document { header, model, calibration: None }
}

fn document() -> Document {
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let model = fit((&columns(), &labels), &fit_params(2), &Interrupt::default()).unwrap();
    document_of("TreeRank", Model::TreeRank(model))
}

/// A forest of weighted and of unweighted rows, of stumps and of trees of them, grown in one fit
/// and in two on other data.
fn forest_document(split_depth: usize, aggregation: Aggregation) -> Document {
    let mut params = ForestParams {
        tree: fit_params(split_depth),
        leaf_sizes: Vec::new(),
        criteria: Vec::new(),
        n_trees: 4,
        bootstrap: Some(BootstrapParams { share: 1.0 }),
        aggregation,
        out_of_bag: true,
        early_stopping: None,
    };
    let fit_on = |columns: &Columns<'_>, weights: Option<&[f64]>, params: &_, earlier| {
        let labels = Labels::new(&POSITIVE, weights).unwrap();
        fit_forest(columns, &labels, params, earlier, &Interrupt::default()).unwrap()
    };
    let mut forest = fit_on(&columns(), None, &params, None);
    if aggregation == Aggregation::Eta {
        // Out-of-bag estimates need the same rows.
        (params.n_trees, params.out_of_bag) = (7, false);
        let known = [0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
        let column = Column::Codes { codes: &CODES, n_levels: 3 };
        let columns = Columns::new(vec![Column::from(&known[..]), column], 8).unwrap();
        let weights = [0.5, 2.0, 1.5, 0.3, 1.0, 0.0, 4.0, 1.25];
        forest = fit_on(&columns, Some(&weights), &params, Some(forest));
    }
    document_of("RankingForest", Model::RankingForest(forest))
}

/// A program with nodes of all kinds.
fn program_document(score: ProgramScore) -> Document {
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let params = MartiParams {
        binning: BinningParams::default(),
        weak_ranker: WeakRankerParams::Feature,
        n_rounds: 3,
        criterion: ThresholdCriterion::Sum,
        routing: Routing::Expected,
        score,
        noise_rate: Some(0.0),
        epsilon: Some(0.9),
        min_samples_class: 0.5,
        sample_size: None,
        seed: 0,
    };
    let program =
        fit_marti_rank((&columns(), &labels), &params, None, &Interrupt::default()).unwrap();
    document_of("SMartiRank", Model::BranchingProgram(program))
}

/// A sum of step functions of both features and kinds, with and without a path of rows held out.
fn boosted_document(held_out: Option<HeldOutRule>) -> Document {
    let rounds = RoundParams {
        weak_ranker: WeakRankerParams::Threshold,
        n_rounds: 5,
        learning_rate: 0.5,
        held_out: held_out.map(|rule| HeldOutParams { fraction: 0.25, rule, refit: true }),
        ..RoundParams::default()
    };
    let output = if held_out.is_some() { Output::Sign } else { Output::Real };
    let params =
        AucBoostParams { rounds, criterion: ThresholdCriterion::Sum, output, max_fpr: 1.0 };
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let given = FitExtras::default();
    let model =
        fit_auc_boost((&columns(), &labels), &params, &given, &Interrupt::default()).unwrap();
    assert!(model.terms().len() > usize::from(held_out.is_none()));
    document_of("AUCBoost", Model::Boosted(model))
}

/// Bins of both kinds, some for special values.
fn mad2c_document() -> Document {
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let params = Mad2cParams { special: vec![vec![0.3, -1.0], Vec::new()], directions: Vec::new() };
    let table = fit_mad2c((&columns(), &labels), &params, &Interrupt::default()).unwrap();
    document_of("MAD2C", Model::Mad2c(table))
}

/// Binary terms of both kinds and of missing values.
fn terms_document(has_labels: bool) -> Document {
    let rows = NewRows::new(8, has_labels.then_some(&POSITIVE), None).unwrap();
    let params = BinarizerParams::default();
    let model = fit_threshold_binarizer(&columns(), &rows, &params, &Interrupt::default()).unwrap();
    assert_eq!(model.n_terms(), 10);
    let mut document = document_of("ThresholdBinarizer", Model::ThresholdBinarizer(model));
    document.header.classes = document.header.classes.filter(|_| has_labels);
    document
}

/// Numbers alone, the third of them constant.
const NUMBERS: [f64; 24] = [
    0.1, 4.0, 1.0, 0.2, 0.5, 1.0, 0.3, 2.5, 1.0, 0.4, 1.0, 1.0, 0.5, 7.0, 1.0, 0.6, 0.0, 1.0, 0.7,
    3.0, 1.0, 0.8, 1.5, 1.0,
];

fn numbers() -> Columns<'static> {
    Columns::from_row_major(&NUMBERS, 3).unwrap()
}

fn linear_document() -> Document {
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let params = RankOptParams::default();
    let model = fit_rank_opt(&numbers(), &labels, &params, &Interrupt::default()).unwrap();
    let mut document = document_of("RankOpt", Model::RankOpt(model));
    let feature = Feature { name: None, kind: FeatureKind::Numeric, counts: None };
    document.header.features = vec![feature; 3];
    document
}

/// The score of each row, or the output of a model that is not a ranker.
fn outputs(document: &Document) -> Vec<f64> {
    match &document.model {
        Model::Mad2c(table) => table.bins(&columns()).unwrap(),
        Model::ThresholdBinarizer(model) => {
            let mut on = vec![0.0; 8 * model.n_terms()];
            model.fill(&columns(), &mut on, 1.0).unwrap();
            on
        }
        Model::RankOpt(_) => document.score(&numbers()).unwrap(),
        _ => document.score(&columns()).unwrap(),
    }
}

fn aurora_document() -> Document {
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let params = AuroraParams {
        binarizer: BinarizerParams::default(),
        max_features: 4,
        order: 2,
        radius: Radius::Fixed(1.0),
        depth: SearchDepth::default(),
        first_gain: 0.01,
        last_gain: 1e-6,
        radius_terms: None,
        patience: None,
        tol: None,
        selection: Selection::Keep,
        criterion: PathCriterion::Auc,
        monotonic: Vec::new(),
        max_fpr: 1.0,
        seed: 0,
    };
    let model = fit_aurora(&columns(), &labels, &params, None, &Interrupt::default());
    let model = model.unwrap();
    assert_eq!(model.all_terms().len(), 4);
    document_of("AURORA", Model::Aurora(model))
}

fn logistic_document() -> Document {
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let params = LinearParams { thresholds: Thresholds::AtMost(2), ..LinearParams::default() };
    let model = fit_linear(&columns(), &labels, &params, &Interrupt::default()).unwrap();
    document_of("LinearRanker", Model::Linear(model))
}

/// A program that is cut at one of its scores.
fn two_sided_document(theta: f64) -> Document {
    let ranker = program_document(ProgramScore::Votes);
    let cut = crate::boost::TwoSided {
        n_low: 4,
        low: 0.25,
        high: 1.0,
        zeta: 0.25,
        p_pos: 0.5,
        p_neg: 0.25,
        error: 0.375,
    };
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let scores = ranker.score(&columns()).unwrap();
    let (calibration, _) = Calibration::fit(&scores, &labels, CalibrationMethod::Sigmoid).unwrap();
    let model = TwoSidedModel::new(ranker.model, Some(calibration), theta, &cut).unwrap();
    let mut document = document_of("TwoSidedClassifier", Model::TwoSided(model));
    document.header.report = Some(json!({"ranker": {"__class__": "MartiRank"}}).into());
    document
}

fn documents() -> [Document; 16] {
    [
        two_sided_document(0.0),
        two_sided_document(f64::INFINITY),
        logistic_document(),
        aurora_document(),
        linear_document(),
        mad2c_document(),
        terms_document(true),
        terms_document(false),
        document(),
        program_document(ProgramScore::Votes),
        program_document(ProgramScore::NodeRate),
        forest_document(1, Aggregation::Eta),
        forest_document(1, Aggregation::Kendall),
        forest_document(2, Aggregation::RankMean),
        boosted_document(None),
        boosted_document(Some(HeldOutRule::Window)),
    ]
}

#[test]
fn the_date_unit_of_a_column_is_saved_with_it() {
    let opened = Feature { counts: Some(DateUnit::Days), ..Feature::numeric("opened") };
    let features = [opened, Feature::numeric("age")];
    let header = Header::builder("RIMARC").features(features.clone()).build().unwrap();
    let text = header.to_json().unwrap();
    assert_eq!(text.matches("counts").count(), 1, "{text}");
    assert_eq!(Header::from_json(&text).unwrap().features, features);
    assert!(Header::from_json(&text.replace("days", "weeks")).is_err());
}

#[test]
fn a_document_is_read_as_it_was_written() {
    for document in documents() {
        let text = document.to_json().unwrap();
        let read = Document::from_json(&text).unwrap();
        assert_eq!(read.to_json().unwrap(), text);
        assert_eq!(outputs(&read), outputs(&document));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value.to_string(), text, "compact, its keys sorted");
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(Document::from_json(&pretty).unwrap(), read);
    }
}

#[test]
fn a_formula_gives_the_score_bit_for_bit() {
    let mut without = Vec::new();
    for document in documents() {
        let formula = document.model.family().formula();
        if let Some(opaque) = formula.opaque() {
            without.push(opaque);
            continue;
        }
        let columns =
            if matches!(document.model, Model::RankOpt(_)) { numbers() } else { columns() };
        let bits = |scores: Vec<f64>| scores.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(formula.values(&columns).unwrap()), bits(outputs(&document)));
    }
    assert_eq!(without, [Opaque::NoScore, Opaque::NoScore, Opaque::NoScore, Opaque::Consensus]);
}

#[test]
fn the_trees_of_a_forest_are_read_as_they_were_written() {
    for document in &documents() {
        let Model::RankingForest(forest) = &document.model else { continue };
        let read = Document::from_json(&document.to_json().unwrap()).unwrap();
        let Model::RankingForest(read) = &read.model else { unreachable!() };
        assert_eq!(read.trees().len(), forest.trees().len());
        for (read, tree) in read.trees().iter().zip(forest.trees()) {
            assert_eq!(read, tree);
        }
    }
}

#[test]
fn a_damaged_text_is_refused_wherever_the_damage() {
    for document in documents() {
        let text = document.to_json().unwrap();
        for end in 0..text.len() {
            let err = Document::from_json(&text[..end]).unwrap_err();
            assert!(matches!(err, ModelError::NotJson(_)), "cut at {end}: {err}");
        }
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'7' { b'3' } else { b'7' };
            let damaged = String::from_utf8(bytes).unwrap();
            // The version of the library alone is not content.
            if let Ok(read) = Document::from_json(&damaged) {
                assert_eq!(read.to_json().unwrap(), text, "byte {place}");
            }
        }
    }
}

#[test]
fn a_later_format_is_named() {
    let text = document().to_json().unwrap();
    let later = text.replace("\"format_version\":5", "\"format_version\":6");
    let err = Document::from_json(&later).unwrap_err();
    assert!(matches!(err, ModelError::Newer { found: 6, .. }), "{err}");
}

/// Changes the body and gives it a matching checksum.
fn forged(document: &Document, change: impl FnOnce(&mut Value)) -> Result<Document, ModelError> {
    let mut document: Value = serde_json::from_str(&document.to_json().unwrap()).unwrap();
    change(&mut document["body"]);
    document["checksum"] = checksum(&document["body"].to_string()).into();
    Document::from_json(&document.to_string())
}

#[test]
fn a_forged_tree_is_refused() {
    assert!(forged(&document(), |_| ()).is_ok());
    let changes: [fn(&mut Value); 8] = [
        |body| body["model"]["tree"]["nodes"][0]["split"]["left"] = json!(0),
        |body| body["model"]["tree"]["nodes"][0]["split"]["right"] = json!(10_000),
        |body| body["model"]["tree"]["nodes"][0]["sums"]["pos"] = json!(0),
        |body| body["model"]["tree"]["nodes"][1]["sums"]["neg"] = json!(u64::MAX),
        |body| body["model"]["tree"]["nodes"] = json!([]),
        |body| body["model"]["tree"]["nodes"][0]["split"]["cuts"] = json!([]),
        |body| body["header"]["features"] = json!([]),
        |body| {
            let cut = &mut body["model"]["tree"]["nodes"][0]["split"]["cuts"][0]["cut"];
            cut["test"]["feature"] = json!(7);
        },
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let err = forged(&document(), change).unwrap_err();
        assert!(matches!(err, ModelError::Malformed(_)), "change {i}: {err}");
    }
}

/// Swaps the two leaves below a node.
fn turn_a_split_round(model: &mut Value) {
    let nodes = model["tree"]["nodes"].as_array_mut().unwrap();
    let children = |node: &Value| {
        let child = |side: &str| node["split"][side].as_u64().map(|child| child as usize);
        Some((child("left")?, child("right")?))
    };
    let is_leaf = |child: usize| nodes[child]["split"].is_null();
    let (node, (left, right)) = (0..nodes.len())
        .filter_map(|node| Some((node, children(&nodes[node])?)))
        .find(|&(_, (left, right))| is_leaf(left) && is_leaf(right))
        .unwrap();
    let sums = nodes[left]["sums"].take();
    nodes[left]["sums"] = nodes[right]["sums"].take();
    nodes[right]["sums"] = sums;
    for cut in nodes[node]["split"]["cuts"].as_array_mut().into_iter().flatten() {
        if let Some(goes_left) = cut.pointer_mut("/part/goes_left") {
            *goes_left = (!goes_left.as_bool().unwrap()).into();
        }
    }
}

#[test]
fn a_split_with_a_negative_gain_is_refused() {
    let turned: &[(&str, Change<'_>)] = &[("ranks its sides the wrong way", &turn_a_split_round)];
    assert_refused(&document(), turned);
}

#[test]
fn reading_and_writing_end_once_they_are_interrupted() {
    let interrupt = Interrupt::default();
    interrupt.stop();
    for document in documents() {
        let text = document.to_json().unwrap();
        let found = Document::from_json_interruptible(&text, &interrupt);
        assert_eq!(found, Err(ModelError::Interrupted));
        let found = document.model.family().as_model().to_json_interruptible(
            &document.header,
            document.calibration.as_ref(),
            &interrupt,
        );
        assert_eq!(found, Err(ModelError::Interrupted));
        // After the check of the text.
        let model = serde_json::to_string(&document.model.family().as_model()).unwrap();
        assert_eq!(Model::from_json(&model, &interrupt), Err(ModelError::Interrupted));
    }
}

#[test]
fn long_texts_are_read_piece_by_piece_with_the_same_result() {
    let model = serde_json::to_string(&document().model.family().as_model()).unwrap();
    let long = model.replacen('{', &("{".to_owned() + &" ".repeat(9 << 20)), 1);
    let (stopped, interrupt) = (Interrupt::default(), Interrupt::default());
    stopped.stop();
    assert_eq!(Model::from_json(&long, &stopped), Err(ModelError::Interrupted));
    let whole = Model::from_json(&model, &interrupt).unwrap();
    assert_eq!(Model::from_json(&long, &interrupt), Ok(whole));
    let cut = &long[..long.len() - 1];
    assert!(matches!(Model::from_json(cut, &interrupt), Err(ModelError::Malformed(_))));
}

type Change<'a> = &'a dyn Fn(&mut Value);

/// Checks that the model is refused after any of the changes, with an error that describes it.
fn assert_refused(document: &Document, changes: &[(&str, Change<'_>)]) {
    assert!(forged(document, |_| ()).is_ok());
    for (number, (what, change)) in changes.iter().enumerate() {
        let err = forged(document, |body| change(&mut body["model"])).unwrap_err();
        assert!(matches!(err, ModelError::Malformed(_)), "change {number}, {what}: {err}");
        assert!(err.to_string().contains(what), "change {number}, {what}: {err}");
    }
}

#[test]
fn a_forged_forest_is_refused() {
    let document = forest_document(1, Aggregation::Eta);
    let append =
        |text: &mut Value, end: &str| *text = (text.as_str().unwrap().to_owned() + end).into();
    let changes: [(&str, Change<'_>); 18] = [
        ("no trees", &|model| model["trees"] = json!([])),
        ("its frame is absent", &|model| model["trees"][0]["frame"] = json!(9)),
        ("missing at the end", &|model| model["trees"][0]["nodes"] = json!("")),
        ("missing at the end", &|model| model["trees"][0]["nodes"] = json!("k")),
        ("behind the last leaf", &|model| append(&mut model["trees"][0]["nodes"], ".")),
        ("behind the last leaf", &|model| append(&mut model["trees"][0]["nodes"], "<..")),
        ("'x' is not a kind", &|model| model["trees"][0]["nodes"] = json!("x..")),
        ("behind the last node", &|model| append(&mut model["trees"][0]["missing"], "l")),
        ("not a side for missing", &|model| model["trees"][0]["missing"] = json!("xxxxxxx")),
        ("before the last node", &|model| model["trees"][0]["pos"] = json!([])),
        ("too large", &|model| model["trees"][0]["pos"][0] = json!(u64::MAX)),
        ("lacks a class", &|model| model["trees"][0]["pos"][0] = json!(1_u64 << 61)),
        ("before the last node", &|model| model["trees"][0]["rows"] = json!([1])),
        ("has no threshold", &|model| model["thresholds"] = json!([[], []])),
        ("asks feature 9", &|model| {
            model["trees"][0]["nodes"] = json!("k..");
            for (key, column) in [("features", json!([9])), ("missing", json!("l"))] {
                model["trees"][0][key] = column;
            }
            for key in ["pos", "neg"] {
                model["trees"][0][key] = json!([1, 1]);
            }
            model["trees"][0]["thresholds"] = json!([]);
            model["trees"][0].as_object_mut().unwrap().remove("level_sets");
        }),
        ("no set of categories 0", &|model| model["level_sets"] = json!([])),
        ("does not suit its feature", &|model| model["level_sets"][0] = json!({"only": [7]})),
        ("a calibration", &|model| model["aggregation"] = json!("rank_mean")),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn a_forged_program_is_refused() {
    let document = program_document(ProgramScore::Votes);
    let Model::BranchingProgram(program) = &document.model else { unreachable!() };
    let asks_number =
        |node: &&Value| !node["kind"]["ranker"]["term"]["feature"]["numeric"].is_null();
    let value = serde_json::to_value(program).unwrap();
    let nodes = value["nodes"].as_array().unwrap();
    let place = nodes.iter().position(|node| asks_number(&node)).unwrap();
    assert!(nodes.iter().any(|node| !node["kind"]["frozen"].is_null()));
    let end = nodes.iter().position(|node| node["kind"] == json!("terminal")).unwrap();
    let term = |model: &mut Value, change: &dyn Fn(&mut Value)| {
        change(&mut model["nodes"][place]["kind"]["ranker"]["term"]["feature"]);
    };
    let changes: [(&str, Change<'_>); 14] = [
        ("10 nodes for 4 rounds", &|model| model["n_rounds"] = json!(4)),
        ("nodes for", &|model| model["n_rounds"] = json!(u64::MAX)),
        ("nodes for", &|model| model["nodes"] = json!([])),
        ("a row of 32 bits", &|model| model["row_bits"] = json!(32)),
        ("a row of 0 bits", &|model| model["row_bits"] = json!(0)),
        ("a unit of", &|model| model["exponent"] = json!(i32::MIN)),
        ("too large a mass", &|model| model["nodes"][0]["masses"]["pos"] = json!(u64::MAX)),
        ("its masses belie", &|model| model["nodes"][0]["kind"] = json!("unreached")),
        ("its layer belies", &|model| model["nodes"][0]["kind"] = json!("terminal")),
        ("its layer belies", &|model| model["nodes"][end]["kind"] = json!("coin")),
        ("there is no feature 9", &|model| term(model, &|term| term["feature"] = json!(9))),
        ("of another kind", &|model| term(model, &|term| term["feature"] = json!(1))),
        ("1.5 is not a chance", &|model| term(model, &|term| term["missing"] = json!(1.5))),
        ("not finite and ascending", &|model| {
            let numeric = json!({"thresholds": [2.0, 1.0], "values": [0.0, 0.5, 1.0]});
            term(model, &|term| term["numeric"] = numeric.clone());
        }),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn a_forged_sum_of_terms_is_refused() {
    let document = boosted_document(Some(HeldOutRule::Window));
    let features = json!({"feature": {"feature": 1, "numeric": {"thresholds": [], "values": [0.5]},
        "missing": 0.0}});
    let scored = json!({"scored": {"thresholds": [1.0, 0.0], "values": [0.0, 0.5, 1.0],
        "scorer": {"outside": {"number": 0, "is_reversed": false}}}});
    let of_first = |missing: f64, thresholds: Value, values: Value| {
        json!({"feature": {"feature": 0, "missing": missing,
            "numeric": {"thresholds": thresholds, "values": values}}})
    };
    let colours = |values: Value| json!({"feature": {"feature": 1, "missing": 0.0, "categorical": {"values": values}}});
    let terms = [
        ("another kind", features),
        ("not finite and ascending", scored),
        ("no feature 2", {
            let mut term = of_first(0.0, json!([]), json!([0.5]));
            term["feature"]["feature"] = json!(2);
            term
        }),
        ("one value more", of_first(0.0, json!([0.5]), json!([0.5]))),
        ("ascending", of_first(0.0, json!([0.5, 0.5]), json!([0.5, 0.0, 0.5]))),
        ("not a value of a term", of_first(0.0, json!([]), json!([0.1]))),
        ("not a value of a term", of_first(0.3, json!([]), json!([0.0]))),
        ("not a value of a term", of_first(1e7, json!([]), json!([0.0]))),
        ("more values", colours(json!([0.0, 0.0, 0.5, 0.5]))),
    ];
    for (what, term) in terms {
        assert_refused(&document, &[(what, &|model| model["terms"][0] = term.clone())]);
    }
    let changes: [(&str, Change<'_>); 6] = [
        ("not of as many", &|model| model["advantages"] = json!([])),
        ("not of as many", &|model| model["mean_exponentials"] = json!([])),
        ("below 0", &|model| model["mean_exponentials"][0][1] = json!(-0.5)),
        ("not in [0, 1]", &|model| model["advantages"][0] = json!(0.7)),
        ("too large", &|model| model["threshold"] = json!(1e300)),
        ("the AUC by round", &|model| model["held_out"]["smoothed"] = json!([])),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn forged_bins_are_refused() {
    let document = mad2c_document();
    let changes: [(&str, Change<'_>); 18] = [
        ("lack a class", &|table| table["total"]["neg"] = json!(0)),
        ("weigh too much", &|table| table["total"]["pos"] = json!(u64::MAX)),
        ("weigh too much", &|table| table["total"]["pos"] = json!(1_u64 << 53)),
        ("weigh too much", &|table| table["total"]["rows"] = json!(1_u64 << 54)),
        ("2^2000", &|table| table["exponent"] = json!(2000)),
        ("1 features, expected 2", &|table| {
            table["features"].as_array_mut().unwrap().pop();
        }),
        ("do not add up", &|table| table["features"][0]["sums"][0]["rows"] = json!(50)),
        ("do not add up", &|table| table["features"][1]["sums"][0]["pos"] = json!(u64::MAX)),
        ("rows of", &|table| table["features"][1]["sums"] = json!([])),
        ("direction", &|table| table["features"][0]["direction"] = json!(null)),
        ("direction", &|table| table["features"][1]["direction"] = json!("increasing")),
        ("ascending", &|table| {
            table["features"][0]["bins"]["numeric"]["cuts"] = json!([0.5, 0.5]);
        }),
        ("twice", &|table| {
            table["features"][0]["bins"]["numeric"]["special"] = json!([0.0, -0.0]);
        }),
        ("expected 3", &|table| {
            table["features"][1]["bins"]["categorical"]["bin_of_level"] = json!([0, 1]);
        }),
        ("in bin 9", &|table| {
            table["features"][1]["bins"]["categorical"]["bin_of_level"][0] = json!(9);
        }),
        ("no category is in bin 0", &|table| {
            table["features"][1]["bins"]["categorical"]["bin_of_level"] = json!([1, 1, 1]);
        }),
        ("bins of 3 categories", &|table| {
            table["features"][1]["bins"]["categorical"]["n_bins"] = json!(1_u64 << 60);
        }),
        ("of a number", &|table| {
            table["features"][1]["bins"] = table["features"][0]["bins"].clone();
        }),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn forged_terms_are_refused() {
    let document = terms_document(true);
    let numeric = |model: &mut Value, thresholds: Value| {
        model["features"][0]["rule"]["at_least"] = thresholds;
    };
    let equals = |model: &mut Value, levels: Value| {
        model["features"][1]["rule"]["equals"]["levels"] = levels;
    };
    let changes: [(&str, Change<'_>); 18] = [
        ("lack a class", &|model| model["total"]["neg"] = json!(0)),
        ("weigh too much", &|model| model["total"]["pos"] = json!(u64::MAX)),
        ("2^2000", &|model| model["exponent"] = json!(2000)),
        ("without labels", &|model| model["has_labels"] = json!(false)),
        ("terms of 1 features, expected 2", &|model| {
            model["features"].as_array_mut().unwrap().pop();
        }),
        ("rows of 1 features, expected 2", &|model| {
            model["sums"].as_array_mut().unwrap().pop();
        }),
        ("feature 0: rows of 0 values", &|model| model["sums"][0] = json!([])),
        ("do not add up", &|model| model["sums"][0][0]["rows"] = json!(50)),
        ("do not add up", &|model| model["sums"][1][0]["pos"] = json!(u64::MAX)),
        ("ascending", &|model| numeric(model, json!([0.5, 0.5]))),
        ("values, expected", &|model| numeric(model, json!([0.5]))),
        ("for all rows or for none", &|model| {
            model["sums"][0][5] = json!({"pos": 0, "neg": 2, "rows": 2});
            model["sums"][0][6] = json!({"pos": 0, "neg": 0, "rows": 0});
        }),
        ("ascending", &|model| equals(model, json!([1, 0]))),
        ("category 3, and there are 3", &|model| equals(model, json!([0, 3]))),
        ("terms of 4 categories, expected 3", &|model| {
            model["features"][1]["rule"]["equals"]["n_levels"] = json!(4);
        }),
        ("for all rows or for none", &|model| model["features"][1]["missing"] = json!(true)),
        ("thresholds of a category", &|model| {
            model["features"][1] = model["features"][0].clone();
        }),
        ("categories of a number", &|model| {
            model["features"][0] = model["features"][1].clone();
        }),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn forged_weights_are_refused() {
    let document = linear_document();
    let changes: [(&str, Change<'_>); 9] = [
        ("not a number", &|model| model["n_levels"][0] = json!(3)),
        ("2 weights for 3 features", &|model| model["coefficients"] = json!([1.0, 2.0])),
        ("0 means for 3 features", &|model| model["means"] = json!([])),
        ("4 importances for 3", &|model| model["importances"] = json!([0.0, 0.0, 0.0, 0.0])),
        ("not a difference of AUCs", &|model| model["importances"][0] = json!(1.5)),
        ("positive and ascending", &|model| model["path"][0]["radius"] = json!(-1.0)),
        ("out of its range", &|model| model["path"][0]["auc"] = json!(1.01)),
        ("radius 9 was chosen", &|model| model["chosen"] = json!(9)),
        ("was chosen of 0", &|model| model["path"] = json!([])),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn forged_binary_scores_are_refused() {
    let document = aurora_document();
    let changes: [(&str, Change<'_>); 12] = [
        ("binary terms are not those", &|model| model["n_levels"] = json!([])),
        ("thresholds of a category", &|model| model["n_levels"][0] = json!(3)),
        ("ascending", &|model| {
            model["binarizer"]["features"][0]["rule"]["at_least"][0] = json!(5.0);
        }),
        ("no term 99 of feature 0", &|model| {
            model["terms"][1] = json!({"first": {"feature": 0, "slot": 99}});
        }),
        ("no term 0 of feature 7", &|model| {
            model["terms"][1] = json!({"first": {"feature": 7, "slot": 0}});
        }),
        ("5 weights do not fit", &|model| model["values"] = json!([1.0, 1.0, 1.0, 1.0, 1.0])),
        ("4 weights do not fit", &|model| model["gains"] = json!([0.5])),
        ("4 weights do not fit", &|model| model["path"] = json!([])),
        ("multiples of 2^-32", &|model| model["values"][0] = json!(0.1)),
        ("multiples of 2^-32", &|model| model["values"][0] = json!(1e300)),
        ("out of its range", &|model| model["threshold"] = json!(1e300)),
        ("the radius", &|model| model["radius"] = json!(-1.0)),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn a_forged_cut_is_refused() {
    let document = two_sided_document(0.0);
    let changes: [(&str, Change<'_>); 7] = [
        ("is one itself", &|model| model["ranker"] = model.clone()),
        ("ranks no rows", &|model| {
            let table = mad2c_document().to_json().unwrap();
            model["ranker"] =
                serde_json::from_str::<Value>(&table).unwrap()["body"]["model"].take();
        }),
        ("out of order", &|model| model["low"] = json!(1.0)),
        ("from 0 to 1", &|model| model["p_pos"] = json!(-0.5)),
        ("from 0 to 1", &|model| model["error"] = json!(1.5)),
        ("Threshold", &|model| model["theta"] = Value::Null),
        ("log-odds that do not rise", &|model| {
            model["ranker_calibration"]["slopes"][0] = json!(-1.0);
        }),
    ];
    assert_refused(&document, &changes);
}

#[test]
fn a_report_is_kept_as_it_is_up_to_a_size() {
    let document = two_sided_document(0.0);
    let report = |body: &mut Value, value: Value| body["header"]["report"] = value;
    let found = json!({"leaderboard": [0.5, "ensemble", null], "more": {"a": [[], {}]}});
    let read = forged(&document, |body| report(body, found.clone())).unwrap();
    assert_eq!(read.header.report, Some(found.into()));
    let none = forged(&document, |body| report(body, Value::Null)).unwrap();
    assert_eq!(none.header.report, None);
    let long = json!(vec![Vec::<u8>::new(); 100_000]);
    let err = forged(&document, |body| report(body, long)).unwrap_err();
    assert!(err.to_string().contains("its report holds 100001 lists and objects"), "{err}");
}

#[test]
fn a_document_has_classes_exactly_if_its_model_has() {
    let classes = json!({"dtype": "int64", "values": [0, 1]});
    let none = Value::Null;
    for (document, classes) in [
        (document(), &none),
        (mad2c_document(), &none),
        (terms_document(true), &none),
        (terms_document(false), &classes),
    ] {
        let err =
            forged(&document, |body| body["header"]["classes"] = classes.clone()).unwrap_err();
        assert!(err.to_string().contains("the classes are not those of the model"), "{err}");
    }
}

/// Changes a random value.
fn damage(value: &mut Value, draw: &mut impl FnMut(usize) -> usize) {
    if draw(8) > 0 {
        match value {
            Value::Array(items) if !items.is_empty() => {
                let place = draw(items.len());
                return damage(&mut items[place], draw);
            }
            Value::Object(entries) if !entries.is_empty() => {
                let place = draw(entries.len());
                return damage(entries.values_mut().nth(place).unwrap(), draw);
            }
            _ => {}
        }
    }
    let big = [2, 7, 200, 1 << 16, 1 << 28, u32::MAX.into(), 1 << 60, u64::MAX];
    match (draw(3), &mut *value) {
        (0, _) => {
            *value = match draw(12) {
                0 => Value::Null,
                1 => json!(0),
                2 => json!(-1),
                3 => json!(0.5),
                4 => json!(""),
                5 => json!("<."),
                6 => json!([]),
                7 => json!({}),
                8 => json!([0, 1]),
                _ => json!(big[draw(big.len())]),
            }
        }
        (1, Value::Array(items)) => {
            items.pop();
        }
        (2, Value::Array(items)) if !items.is_empty() => {
            let item = items[draw(items.len())].clone();
            items.insert(draw(items.len() + 1), item);
        }
        (_, Value::Object(entries)) => {
            let key = entries.keys().nth(draw(entries.len().max(1))).cloned();
            key.map(|key| entries.remove(&key));
        }
        (_, Value::Number(number)) => {
            let other =
                number.as_u64().map(|n| (n.wrapping_add(1)).saturating_sub(2 * draw(2) as u64));
            *value = other.map_or(json!(0.35), Value::from);
        }
        (_, Value::String(text)) => {
            let mut letters: Vec<char> = text.chars().collect();
            let place = draw(letters.len() + 1);
            let letter = ['<', '>', '.', 'k', 'u', '=', 'c', 'l', 'r', '\u{e9}'][draw(10)];
            match draw(3) {
                0 => letters.insert(place, letter),
                1 if place < letters.len() => letters[place] = letter,
                _ => letters.truncate(place),
            }
            *value = letters.into_iter().collect::<String>().into();
        }
        _ => *value = Value::Bool(draw(2) == 0),
    }
}

#[test]
fn random_damage_gives_an_error_or_a_model_that_scores() {
    let (mut n_read, mut n_refused) = (0, 0);
    for (number, document) in documents().iter().enumerate() {
        for seed in 0..2000 {
            let mut state = mix(seed ^ (number as u64) << 32);
            let mut draw = |n: usize| {
                state = mix(state);
                (state % n as u64) as usize
            };
            let changed = forged(document, |body| {
                for _ in 0..=draw(3) {
                    damage(&mut body["model"], &mut draw);
                }
            });
            match changed {
                Ok(read) => {
                    n_read += 1;
                    assert!(outputs(&read).iter().all(|output| output.is_finite()));
                    let again = Document::from_json(&read.to_json().unwrap()).unwrap();
                    assert_eq!(again, read);
                }
                Err(err) => {
                    n_refused += 1;
                    assert!(matches!(err, ModelError::Malformed(_)), "{err}");
                }
            }
        }
    }
    assert!(n_read > 500 && n_refused > 2000, "{n_read} {n_refused}");
}

#[test]
fn probabilities_are_read_as_written_and_agree_with_the_score() {
    let plain = aurora_document();
    let (columns, labels) = (columns(), Labels::new(&POSITIVE, None).unwrap());
    assert_eq!(plain.probability(&columns), Err(RankError::NoProbability));
    assert!(!plain.to_json().unwrap().contains("calibration"));

    let raw = plain.score(&columns).unwrap();
    for method in [CalibrationMethod::Sigmoid, CalibrationMethod::Isotonic] {
        let (calibration, cut) = Calibration::fit(&raw, &labels, method).unwrap();
        let Model::Aurora(model) = &plain.model else { panic!("of another family") };
        let threshold = model.threshold() + cut;
        let model = plain.model.clone().with_threshold(threshold).unwrap();
        let document = Document { model, calibration: Some(calibration), ..plain.clone() };
        let read = Document::from_json(&document.to_json().unwrap()).unwrap();
        assert_eq!(read, document);
        let scores = read.score(&columns).unwrap();
        for ((score, probability), raw) in
            scores.iter().zip(read.probability(&columns).unwrap()).zip(&raw)
        {
            assert_eq!(*score > 0.0, probability > 0.5);
            assert!((score - (raw - cut)).abs() < 1e-12);
        }
    }
}

#[test]
fn a_calibration_that_falls_or_has_no_score_is_refused() {
    let labels = Labels::new(&POSITIVE, None).unwrap();
    let scores: Vec<f64> = (0..8).map(f64::from).collect();
    let (calibration, _) = Calibration::fit(&scores, &labels, CalibrationMethod::Sigmoid).unwrap();
    let falling = serde_json::from_value(json!({
        "scores": [0.0, 1.0], "log_odds": [0.0, -1.0], "slopes": [1.0, 1.0],
    }));
    for document in [
        Document { calibration: Some(falling.unwrap()), ..aurora_document() },
        Document { calibration: Some(calibration), ..mad2c_document() },
    ] {
        let read = Document::from_json(&document.to_json().unwrap());
        assert!(matches!(read, Err(ModelError::Malformed(_))), "{read:?}");
    }
}

#[test]
fn only_a_threshold_can_be_moved() {
    assert!(document().model.with_threshold(1.0).is_err());
    assert!(aurora_document().model.with_threshold(f64::INFINITY).is_err());
}
