//! A question to a row, in raw values and in codes.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::data::{CodeRule, CodeTest, FeatureBins};

/// Which known values go left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Numbers below the threshold.
    Below(f64),
    /// Numbers from the threshold on.
    AtLeast(f64),
    /// All of them, or none: the question is whether the value is known.
    Known(bool),
    /// The categories marked; saved as their codes.
    #[serde(serialize_with = "marks_to_codes", deserialize_with = "codes_to_marks")]
    Levels(Vec<bool>),
}

/// A question to a row that sends it left or right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// The feature asked.
    pub feature: usize,
    /// Which of its known values go left.
    pub left: Rule,
    /// Whether rows that miss it go left.
    pub missing_left: bool,
}

impl Test {
    /// The side of a row, given as [`Columns::read_rows`](crate::data::Columns) gives it.
    #[inline]
    pub(super) fn goes_left(&self, row: &[f64]) -> bool {
        let value = row[self.feature];
        if value.is_nan() {
            return self.missing_left;
        }
        match &self.left {
            Rule::Below(threshold) => value < *threshold,
            Rule::AtLeast(threshold) => value >= *threshold,
            Rule::Known(known) => *known,
            Rule::Levels(left) => left.get(value as usize).copied().unwrap_or(false),
        }
    }

    /// Whether the question can be put to a feature of so many levels, or to a number.
    pub(super) fn suits(&self, n_levels: Option<u32>) -> bool {
        match (&self.left, n_levels) {
            (Rule::Below(threshold) | Rule::AtLeast(threshold), None) => threshold.is_finite(),
            (Rule::Levels(left), Some(n_levels)) => left.len() <= n_levels as usize,
            (Rule::Known(_), _) => true,
            _ => false,
        }
    }

    /// The question that gives the same answers to raw values as `test` gives to codes.
    pub(super) fn of_codes(test: &CodeTest, bins: &FeatureBins) -> Self {
        let n_bins = bins.n_bins() as u32;
        let left = match (&test.rule, bins) {
            (CodeRule::Below(bound), _) if *bound >= n_bins => Rule::Known(true),
            (CodeRule::AtLeast(bound), _) if *bound >= n_bins => Rule::Known(false),
            (CodeRule::Below(bound), FeatureBins::Numeric { cuts }) => {
                Rule::Below(cuts[*bound as usize - 1])
            }
            (CodeRule::AtLeast(bound), FeatureBins::Numeric { cuts }) => {
                Rule::AtLeast(cuts[*bound as usize - 1])
            }
            (CodeRule::Levels(left), _) => Rule::Levels(left.clone()),
            (_, FeatureBins::Categorical { .. }) => unreachable!("levels have no order to cut"),
        };
        Self { feature: test.feature, left, missing_left: test.missing_left }
    }

    /// The question that gives the same answers to codes, where all thresholds are cuts of `bins`.
    pub(super) fn to_codes(&self, bins: &FeatureBins) -> CodeTest {
        let bound = |threshold: f64| match bins {
            FeatureBins::Numeric { cuts } => cuts.partition_point(|&cut| cut <= threshold) as u32,
            FeatureBins::Categorical { .. } => unreachable!("levels have no order to cut"),
        };
        let rule = match &self.left {
            Rule::Below(threshold) => CodeRule::Below(bound(*threshold)),
            Rule::AtLeast(threshold) => CodeRule::AtLeast(bound(*threshold)),
            Rule::Known(true) => CodeRule::Below(bins.n_bins() as u32),
            Rule::Known(false) => CodeRule::AtLeast(bins.n_bins() as u32),
            Rule::Levels(left) => CodeRule::Levels(left.clone()),
        };
        CodeTest { feature: self.feature, rule, missing_left: self.missing_left }
    }
}

fn marks_to_codes<S: Serializer>(marks: &[bool], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(codes_of_marks(marks))
}

fn codes_to_marks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<bool>, D::Error> {
    marks_of_codes(&Vec::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The categories marked.
pub(super) fn codes_of_marks(marks: &[bool]) -> impl Iterator<Item = u32> {
    (0..).zip(marks).filter_map(|(code, &mark)| mark.then_some(code))
}

/// Marks of categories. Those beyond the last marked one go right, so the marks need not reach them.
pub(super) fn marks_of_codes(codes: &[u32]) -> Result<Vec<bool>, String> {
    /// More categories than any column can hold distinct values for in a file worth reading.
    const MOST_LEVELS: u32 = 1 << 28;
    let n_levels = codes.iter().max().map_or(0, |&code| code.saturating_add(1));
    if n_levels > MOST_LEVELS {
        return Err(format!("category code {} is too large", n_levels - 1));
    }
    let mut marks = vec![false; n_levels as usize];
    for &code in codes {
        marks[code as usize] = true;
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_values_and_codes_get_the_same_answer() {
        let bins = FeatureBins::Numeric { cuts: vec![0.5, 1.5, 2.5] };
        let values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, f64::NAN];
        for rule in [Rule::Below(1.5), Rule::AtLeast(2.5), Rule::Known(true), Rule::Known(false)] {
            for missing_left in [true, false] {
                let test = Test { feature: 0, left: rule.clone(), missing_left };
                let in_codes = test.to_codes(&bins);
                assert_eq!(Test::of_codes(&in_codes, &bins), test);
                for value in values {
                    let code = if value.is_nan() { 4 } else { (value + 0.5).floor() as u32 };
                    assert_eq!(test.goes_left(&[value]), in_codes.goes_left(code, 4));
                }
            }
        }
    }

    #[test]
    fn levels_are_saved_as_the_codes_that_go_left() {
        let test =
            Test { feature: 2, left: Rule::Levels(vec![false, true, true]), missing_left: false };
        let json = serde_json::to_string(&test).unwrap();
        assert_eq!(json, r#"{"feature":2,"left":{"levels":[1,2]},"missing_left":false}"#);
        assert_eq!(serde_json::from_str::<Test>(&json).unwrap(), test);
    }
}
