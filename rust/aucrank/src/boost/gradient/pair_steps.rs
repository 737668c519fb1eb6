//! Pairs of categories of two features by their rates, in steps.

use serde::{Deserialize, Serialize};

use crate::data::{Column, Columns, FoldRates, LearnedRows, MISSING_CODE, quantile_cuts};
use crate::parallel;

/// Maximum number of steps, whose numbers are bytes.
const MOST_STEPS: usize = 250;

/// The step of the rate of each pair of categories of two features.
///
/// In a model it is a number of the row like those of its features: trees test whether the step is
/// below another one. Pairs not seen in the fit, and rows with one of the two values missing, are
/// in the step of the mean rate.
///
/// Pairs are sorted by the category of the first feature, so that a look-up searches those of one
/// category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PairSteps {
    /// The first is the lower one.
    features: [usize; 2],
    /// For each category of the first feature the place of its first pair; then their number.
    starts: Vec<u32>,
    /// For each pair the category of the second feature, ascending within the same first category.
    seconds: Vec<u32>,
    /// For each pair its step.
    steps: Vec<u8>,
    /// The step of all others.
    of_others: u8,
}

/// The column of codes of a pair during a fit: the thresholds, and the step of each row.
pub(super) type PairColumn = (Vec<f64>, Vec<u8>);

/// The thresholds of a pair of features between the rates of pairs of categories.
pub(super) struct PairCuts(pub(super) Vec<f64>);

impl PairCuts {
    /// The step of a rate.
    pub(super) fn step(&self, rate: f64) -> u8 {
        self.0.partition_point(|&cut| cut <= rate) as u8
    }
}

impl PairSteps {
    /// The steps of two categorical features, at most `most` and of nearly equal mass, by some
    /// rows, and the codes of all. Training rows have the step of the rate in the other folds,
    /// other rows that of all training rows. `None` if no threshold separates the pairs.
    pub(super) fn new(
        features: [usize; 2],
        columns: &Columns<'_>,
        learned: LearnedRows<'_>,
        most: usize,
    ) -> Option<(Self, PairColumn)> {
        let LearnedRows { labels, rows: training, folds } = learned;
        let [first, second] = features.map(|feature| match columns[feature] {
            Column::Codes { codes, n_levels } => (codes, n_levels),
            _ => unreachable!("pairs are of categories"),
        });
        let pair = |row: usize| {
            let (a, b) = (first.0[row], second.0[row]);
            (a < first.1 && b < second.1).then_some([a, b])
        };
        let mut pairs: Vec<[u32; 2]> =
            training.iter().filter_map(|&row| pair(row as usize)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let all = Self::listed(features, first.1, &pairs);
        let place = |row| pair(row).and_then(|pair| all.place(pair));
        let codes: Vec<u32> = parallel::values(columns.n_rows(), |row| {
            place(row).map_or(MISSING_CODE, |place| place as u32)
        });
        let rates = FoldRates::of(&codes, pairs.len() as u32, labels, training, folds);
        let (all, cuts) = all.stepped(&rates, most)?;
        let step = |&code: &u32| all.steps.get(code as usize).copied().unwrap_or(all.of_others);
        let mut of_row: Vec<u8> = codes.iter().map(step).collect();
        for row in training.iter().map(|&row| row as usize) {
            of_row[row] = cuts.step(rates.outside(codes[row], folds.of_row[row]));
        }
        Some((all.without_others(), (cuts.0, of_row)))
    }

    /// Pairs of categories, ascending, before they have steps.
    pub(super) fn listed(features: [usize; 2], n_first: u32, pairs: &[[u32; 2]]) -> Self {
        let start = |level| pairs.partition_point(|pair| pair[0] < level) as u32;
        Self {
            features,
            starts: (0..=n_first).map(start).collect(),
            seconds: pairs.iter().map(|pair| pair[1]).collect(),
            steps: Vec::new(),
            of_others: 0,
        }
    }

    /// The same pairs with steps, by their rates in the order of the pairs; `None` if no threshold
    /// separates them.
    pub(super) fn stepped(mut self, rates: &FoldRates, most: usize) -> Option<(Self, PairCuts)> {
        let overall: Vec<f64> = (0..rates.n_levels()).map(|pair| rates.overall(pair)).collect();
        let cuts = PairCuts(distinct_cuts(rates, &overall, most.min(MOST_STEPS)));
        if cuts.0.is_empty() {
            return None;
        }
        self.steps = overall.iter().map(|&rate| cuts.step(rate)).collect();
        self.of_others = cuts.step(0.0);
        Some((self, cuts))
    }

    /// The same without pairs that are in the step of the others.
    pub(super) fn without_others(self) -> Self {
        let Self { features, starts, seconds, steps, of_others } = self;
        let mut kept = Self {
            features,
            starts: Vec::with_capacity(starts.len()),
            seconds: Vec::new(),
            steps: Vec::new(),
            of_others,
        };
        kept.starts.push(0);
        for range in starts.windows(2) {
            for place in range[0] as usize..range[1] as usize {
                if steps[place] != of_others {
                    kept.seconds.push(seconds[place]);
                    kept.steps.push(steps[place]);
                }
            }
            kept.starts.push(kept.seconds.len() as u32);
        }
        kept
    }

    /// The two features, ascending.
    pub(super) fn features(&self) -> [usize; 2] {
        self.features
    }

    fn place(&self, [first, second]: [u32; 2]) -> Option<usize> {
        let start = *self.starts.get(first as usize)? as usize;
        let end = *self.starts.get(first as usize + 1)? as usize;
        self.seconds[start..end].binary_search(&second).ok().map(|place| start + place)
    }

    /// The step of a row in the form that [`Columns::read_rows`] returns.
    pub(super) fn step(&self, row: &[f64]) -> u8 {
        let [first, second] = self.features.map(|feature| row[feature]);
        if first.is_nan() || second.is_nan() {
            return self.of_others;
        }
        self.place([first as u32, second as u32]).map_or(self.of_others, |place| self.steps[place])
    }

    /// Whether pairs that are not listed are below a step.
    pub(super) fn others_below(&self, step: f64) -> bool {
        f64::from(self.of_others) < step
    }

    /// For each category of the first feature, those of the second on the side of a step opposite
    /// to unlisted pairs.
    pub(super) fn apart(&self, step: f64) -> Vec<(u32, Vec<u32>)> {
        let are_below = self.others_below(step);
        let groups = self.starts.windows(2).zip(0..).map(|(range, first)| {
            let places = range[0] as usize..range[1] as usize;
            let apart = places.filter(|&place| (f64::from(self.steps[place]) < step) != are_below);
            (first, apart.map(|place| self.seconds[place]).collect::<Vec<u32>>())
        });
        groups.filter(|(_, seconds)| !seconds.is_empty()).collect()
    }

    /// The number of pairs on the side of a step opposite to unlisted pairs.
    pub(super) fn n_apart(&self, step: f64) -> usize {
        let are_below = self.others_below(step);
        self.steps.iter().filter(|&&of_pair| (f64::from(of_pair) < step) != are_below).count()
    }

    /// Checks what was read from a file, given the number of categories of each feature.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let [a, b] = self.features;
        let levels = [a, b].map(|feature| n_levels.get(feature).copied().flatten());
        let [Some(n_first), Some(n_second)] = levels else {
            return Err(format!("features {a} and {b} are not two features of categories"));
        };
        if a >= b {
            return Err(format!("features {a} and {b} are not in order"));
        }
        let n_pairs = self.seconds.len();
        if self.starts.len() != n_first as usize + 1
            || self.starts[0] != 0
            || !self.starts.is_sorted()
            || self.starts[n_first as usize] as usize != n_pairs
            || self.steps.len() != n_pairs
        {
            return Err("the pairs are not those of the categories of the first feature".to_owned());
        }
        let are_ascending = self.starts.windows(2).all(|range| {
            self.seconds[range[0] as usize..range[1] as usize].is_sorted_by(|a, b| a < b)
        });
        if !are_ascending || self.seconds.iter().any(|&second| second >= n_second) {
            return Err(format!("the pairs are not those of the categories of feature {b}"));
        }
        let mut steps = self.steps.iter().chain([&self.of_others]);
        match steps.find(|&&step| usize::from(step) > MOST_STEPS) {
            Some(step) => Err(format!("{step} is not a step")),
            None => Ok(()),
        }
    }
}

/// Thresholds on rates that each split the pairs differently: equal splits are the same test once
/// the fit is over.
fn distinct_cuts(rates: &FoldRates, overall: &[f64], most: usize) -> Vec<f64> {
    let mut cuts = quantile_cuts(rates.weighted(), most);
    let mut sorted = overall.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut last = None;
    cuts.retain(|&cut| {
        let parts = (cut > 0.0, sorted.partition_point(|&rate| rate < cut));
        let parts_none = parts == (true, sorted.len()) || parts == (false, 0);
        !parts_none && last.replace(parts) != Some(parts)
    });
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Folds, Labels, mix};

    const N_ROWS: usize = 2000;
    const N_LEVELS: [u32; 2] = [12, 8];

    fn draw(row: usize, what: u64) -> u64 {
        mix(mix(row as u64) ^ what) >> 8
    }

    fn codes(feature: usize) -> Vec<u32> {
        let n_levels = u64::from(N_LEVELS[feature]);
        let code = |row| match draw(row, feature as u64) {
            word if word % 10 == 0 => MISSING_CODE,
            word => (word % 997 % n_levels) as u32,
        };
        (0..N_ROWS).map(code).collect()
    }

    /// Two features whose pairs of categories determine the class, and the steps learned from some
    /// rows.
    struct Sample {
        codes: [Vec<u32>; 2],
        positive: Vec<bool>,
        training: Vec<u32>,
        folds: Folds,
    }

    impl Sample {
        fn new() -> Self {
            let codes = [codes(0), codes(1)];
            let of_pair = |row: usize| draw(codes[0][row] as usize, u64::from(codes[1][row])) % 4;
            Self {
                positive: (0..N_ROWS).map(|row| draw(row, 7) % 4 < of_pair(row)).collect(),
                training: (0..N_ROWS as u32)
                    .filter(|&row| !draw(row as usize, 8).is_multiple_of(4))
                    .collect(),
                folds: Folds {
                    of_row: (0..N_ROWS).map(|row| (row % 5) as u16).collect(),
                    n_folds: 5,
                },
                codes,
            }
        }

        fn columns(&self) -> Columns<'_> {
            let column = |feature: usize| Column::Codes {
                codes: &self.codes[feature],
                n_levels: N_LEVELS[feature],
            };
            Columns::new(vec![column(0), column(1)], N_ROWS).unwrap()
        }

        fn fit(&self, most: usize) -> (PairSteps, PairColumn) {
            let labels = Labels::new(&self.positive, None).unwrap();
            let learned = LearnedRows { labels: &labels, rows: &self.training, folds: &self.folds };
            PairSteps::new([0, 1], &self.columns(), learned, most).unwrap()
        }

        /// The shrunken excess of the pair of a row by the counted training rows: the definition.
        fn excess(&self, row: usize, is_counted: impl Fn(usize) -> bool) -> f64 {
            let pair = |row: usize| [self.codes[0][row], self.codes[1][row]];
            if pair(row).contains(&MISSING_CODE) {
                return 0.0;
            }
            let [mut n, mut p, mut n_all, mut p_all] = [0.0; 4];
            let counted = self.training.iter().map(|&row| row as usize);
            for other in counted.filter(|&row| is_counted(row)) {
                let positive = f64::from(u8::from(self.positive[other]));
                (n_all, p_all) = (n_all + 1.0, p_all + positive);
                if pair(other) == pair(row) {
                    (n, p) = (n + 1.0, p + positive);
                }
            }
            (p - n * p_all / n_all) / (n + 10.0)
        }
    }

    #[test]
    fn a_training_row_has_the_step_of_the_other_folds_and_any_other_that_of_all() {
        let sample = Sample::new();
        let (steps, (cuts, codes)) = sample.fit(40);
        assert!(cuts.len() > 20 && cuts.is_sorted_by(|a, b| a < b));
        let rows = sample.columns();
        for (row, &code) in codes.iter().enumerate() {
            let fold = sample.folds.of_row[row];
            let is_learned = sample.training.contains(&(row as u32));
            let excess =
                sample.excess(row, |other| !is_learned || sample.folds.of_row[other] != fold);
            // Sums of the definition have rounding errors.
            let near = |by: f64| cuts.partition_point(|&cut| cut <= excess + by) as u8;
            assert!((near(-1e-12)..=near(1e-12)).contains(&code));

            let mut values = [0.0; 2];
            rows.read_rows(row..row + 1, &mut values);
            let overall = sample.excess(row, |_| true);
            let near = |by: f64| cuts.partition_point(|&cut| cut <= overall + by) as u8;
            let step = steps.step(&values);
            assert!((near(-1e-12)..=near(1e-12)).contains(&step));
            assert!(is_learned || code == step);
        }
        assert_eq!(steps.step(&[f64::NAN, 0.0]), steps.of_others);
        assert_eq!(steps.step(&[7.0, 900.0]), steps.of_others);
        assert_eq!(steps.step(&[900.0, 7.0]), steps.of_others);
    }

    #[test]
    fn the_listed_pairs_are_those_on_the_other_side() {
        let (steps, (cuts, _)) = Sample::new().fit(30);
        for bound in (1..=cuts.len()).map(|bound| bound as f64) {
            let apart = steps.apart(bound);
            for first in 0..N_LEVELS[0] {
                for second in 0..N_LEVELS[1] {
                    let is_below = f64::from(steps.step(&[first.into(), second.into()])) < bound;
                    let is_apart =
                        apart.iter().any(|(a, seconds)| *a == first && seconds.contains(&second));
                    assert_eq!(is_apart, is_below != steps.others_below(bound));
                }
            }
            let n_apart: usize = apart.iter().map(|(_, seconds)| seconds.len()).sum();
            assert!(n_apart > 0 && n_apart == steps.n_apart(bound));
        }
    }

    #[test]
    fn invalid_tables_of_pairs_are_refused() {
        let n_levels = [Some(2), Some(3), None];
        let good = PairSteps {
            features: [0, 1],
            starts: vec![0, 2, 3],
            seconds: vec![0, 2, 1],
            steps: vec![0, 3, 2],
            of_others: 1,
        };
        assert_eq!(good.check(&n_levels), Ok(()));
        let refused = |change: &dyn Fn(&mut PairSteps)| {
            let mut steps = good.clone();
            change(&mut steps);
            steps.check(&n_levels).unwrap_err()
        };
        for features in [[0, 2], [2, 0], [0, 9], [9, 0]] {
            assert!(refused(&|steps| steps.features = features).contains("not two features"));
        }
        for features in [[1, 0], [1, 1]] {
            assert!(refused(&|steps| steps.features = features).contains("not in order"));
        }
        for starts in [vec![], vec![0, 3], vec![1, 2, 3], vec![0, 4, 3], vec![0, 2, 4]] {
            let found = refused(&|steps| steps.starts.clone_from(&starts));
            assert!(found.contains("categories of the first feature"));
        }
        assert!(refused(&|steps| steps.steps.truncate(2)).contains("of the first feature"));
        for seconds in [[2, 0, 1], [0, 0, 1], [0, 3, 1]] {
            let found = refused(&|steps| steps.seconds = seconds.to_vec());
            assert!(found.contains("categories of feature 1"));
        }
        assert_eq!(refused(&|steps| steps.steps[0] = 251), "251 is not a step");
        assert_eq!(refused(&|steps| steps.of_others = 255), "255 is not a step");
    }

    #[test]
    fn one_pair_or_none_has_no_threshold() {
        let sample = Sample { codes: [vec![0; N_ROWS], vec![1; N_ROWS]], ..Sample::new() };
        let labels = Labels::new(&sample.positive, None).unwrap();
        let learned = LearnedRows { labels: &labels, rows: &sample.training, folds: &sample.folds };
        assert_eq!(PairSteps::new([0, 1], &sample.columns(), learned, 40), None);
    }
}
