//! The default parameters are those of the Python package, whose tests compare the same file.

use aucrank::additive::LinearParams;
use aucrank::aurora::{AuroraParams, RankOptParams};
use aucrank::boost::{AucBoostParams, MartiParams, RankBoostParams};
use serde::de::DeserializeOwned;
use serde_json::Value;

const DEFAULTS: &str = include_str!("defaults.json");

fn of<T: DeserializeOwned>(estimator: &str) -> T {
    let all: Value = serde_json::from_str(DEFAULTS).unwrap();
    serde_json::from_value(all[estimator].clone()).unwrap()
}

#[test]
fn default_parameters_are_those_of_python() {
    assert_eq!(of::<AuroraParams>("AURORA"), AuroraParams::default());
    assert_eq!(of::<RankOptParams>("RankOpt"), RankOptParams::default());
    assert_eq!(of::<MartiParams>("MartiRank"), MartiParams::default());
    assert_eq!(of::<AucBoostParams>("AUCBoost"), AucBoostParams::default());
    assert_eq!(of::<RankBoostParams>("RankBoost"), RankBoostParams::default());
    assert_eq!(of::<LinearParams>("LinearRanker"), LinearParams::default());
}
