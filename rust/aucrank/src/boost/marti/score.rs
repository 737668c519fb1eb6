//! Scores of a branching program.
//!
//! A program takes O(T^2) small steps per row, most of them alike: compare a number, split a mass
//! by one of two probabilities. Rows are processed in tiles, column by column, and the masses of a
//! node are contiguous for all rows of a tile, so that a step is a few vector instructions for
//! several rows.

use std::ops::Range;

use super::params::{ProgramScore, Routing};
use super::program::{BranchingProgram, MartiNode, NodeKind, coin_at, place};
use super::step::{Chance, split_mass};
use crate::boost::term::Term;
use crate::data::{Columns, FeatureSteps, FeatureTerm, coin};
use crate::external::ExternalModels;
use crate::{RankError, parallel};

/// Rows scored together.
const TILE_ROWS: usize = 512;

/// The action of a node on a row.
#[derive(Debug)]
enum NodeAction<'p> {
    /// A threshold test on a number.
    Number { column: usize, threshold: f64, low: Chance, high: Chance, missing: Chance },
    /// Any other function of one feature.
    Feature { column: usize, term: &'p FeatureTerm },
    /// The probabilities from another kind of ranker, evaluated on all rows beforehand.
    Rows(Vec<Chance>),
    /// A fair coin.
    Coin,
    /// The end of a path, with its worth.
    End(u32),
}

/// A program prepared for fast scoring.
#[derive(Debug)]
struct ProgramScorer<'p> {
    program: &'p BranchingProgram,
    /// Layer by layer.
    steps: Vec<NodeAction<'p>>,
    /// Features in use, ascending.
    features: Vec<usize>,
}

/// Buffers for a tile of rows.
#[derive(Debug, Default)]
struct ProgramTile {
    /// Values by column.
    values: Vec<f64>,
    has_missing: Vec<bool>,
    /// Masses by node.
    masses: Vec<u32>,
    chances: Vec<Chance>,
}

impl BranchingProgram {
    /// Score of each row, above 0 if it is called positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity,
    /// and errors of external rankers.
    pub fn score(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        let scorer = ProgramScorer::new(self, columns, external)?;
        let mut scores = vec![0.0; columns.n_rows()];
        let of_tile = |tile: &mut ProgramTile, (number, scores): (usize, &mut [f64])| {
            columns.check_interrupt()?;
            let first = number * TILE_ROWS;
            scorer.score_rows(columns, first..first + scores.len(), tile, scores);
            Ok(())
        };
        let tiles = scores.chunks_mut(TILE_ROWS).enumerate().collect();
        let done: Result<(), RankError> =
            parallel::map_with(tiles, 1, ProgramTile::default, of_tile).into_iter().collect();
        done.map(|()| scores)
    }
}

impl<'p> ProgramScorer<'p> {
    fn new(
        program: &'p BranchingProgram,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Self, RankError> {
        let mut features: Vec<usize> = Vec::new();
        for node in &program.nodes {
            if let NodeKind::Ranker { term: Term::Feature(term), .. } = &node.kind {
                features.push(term.feature);
            }
        }
        features.sort_unstable();
        features.dedup();
        let column = |feature: usize| features.partition_point(|&asked| asked < feature);
        let nodes = program.nodes();
        let steps = nodes.map(|(layer, index, node)| {
            Ok(match &node.kind {
                NodeKind::Ranker { term: Term::Feature(term), .. } => {
                    step_of(term, column(term.feature))
                }
                NodeKind::Ranker { term, .. } => {
                    let mut chances = vec![0.0; columns.n_rows()];
                    term.add_values(columns, external, &mut chances)?;
                    NodeAction::Rows(chances.into_iter().map(Chance::new).collect())
                }
                NodeKind::Coin => NodeAction::Coin,
                _ => NodeAction::End(program.worth(layer, index, node)),
            })
        });
        let steps = steps.collect::<Result<_, RankError>>()?;
        Ok(Self { program, steps, features })
    }

    fn score_rows(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        tile: &mut ProgramTile,
        scores: &mut [f64],
    ) {
        tile.read(columns, &self.features, rows.clone());
        let mut sums = [0_u64; TILE_ROWS];
        let sums = &mut sums[..rows.len()];
        match self.program.routing {
            Routing::Expected => self.spread(tile, rows, sums),
            Routing::Sampled => {
                for (place, (row, sum)) in rows.zip(sums.iter_mut()).enumerate() {
                    let coin = coin(columns, row, self.program.seed);
                    *sum = u64::from(self.walk(tile, place, row, coin)) << self.program.row_bits;
                }
            }
        }
        for (score, &sum) in scores.iter_mut().zip(&*sums) {
            *score = self.program.score_of(sum) - self.program.threshold;
        }
    }

    /// Sums the worth of all ends, times the mass that reaches them.
    fn spread(&self, tile: &mut ProgramTile, rows: Range<usize>, sums: &mut [u64]) {
        let n_rows = sums.len();
        let n_layers = self.program.n_rounds + 1;
        tile.masses.resize((n_layers + 1) * n_rows, 0);
        tile.masses[..n_rows].fill(1 << self.program.row_bits);
        tile.chances.resize(n_rows, Chance::HALF);
        let (masses, chances) = (&mut tile.masses, &mut tile.chances[..n_rows]);
        for layer in 1..=n_layers {
            masses[layer * n_rows..(layer + 1) * n_rows].fill(0);
            // From the last node on: a node's left part must be written before the node below adds
            // to it.
            for node in (0..layer).rev() {
                let (here, next) = masses[node * n_rows..].split_at_mut(n_rows);
                let next = &mut next[..n_rows];
                let column = |column: usize| &tile.values[column * n_rows..(column + 1) * n_rows];
                match &self.steps[place(layer, node)] {
                    NodeAction::Number { column: asked, threshold, low, high, missing } => {
                        let values = column(*asked);
                        let side = |value: f64| if value >= *threshold { *high } else { *low };
                        if tile.has_missing[*asked] {
                            let chance =
                                |value: f64| if value.is_nan() { *missing } else { side(value) };
                            split_mass(here, next, values, chance);
                        } else {
                            split_mass(here, next, values, side);
                        }
                    }
                    NodeAction::Feature { column: asked, term } => {
                        for (chance, &value) in chances.iter_mut().zip(column(*asked)) {
                            *chance = Chance::new(term.value(value));
                        }
                        split_mass(here, next, chances, |chance| chance);
                    }
                    NodeAction::Rows(of_row) => {
                        split_mass(here, next, &of_row[rows.clone()], |chance| chance);
                    }
                    NodeAction::Coin => {
                        chances.fill(Chance::HALF);
                        split_mass(here, next, chances, |chance| chance);
                    }
                    NodeAction::End(worth) => {
                        for (sum, mass) in sums.iter_mut().zip(here) {
                            *sum += u64::from(*mass) * u64::from(*worth);
                            *mass = 0;
                        }
                    }
                }
            }
        }
    }

    /// The worth of the end of the single path of a row.
    fn walk(&self, tile: &ProgramTile, place_in_tile: usize, row: usize, coin: u64) -> u32 {
        let n_rows = tile.values.len().checked_div(self.features.len()).unwrap_or(0);
        let mut node = 0;
        for layer in 1..=self.program.n_rounds + 1 {
            let chance = match &self.steps[place(layer, node)] {
                NodeAction::Number { column, threshold, low, high, missing } => {
                    let value = tile.values[column * n_rows + place_in_tile];
                    if value.is_nan() {
                        *missing
                    } else if value >= *threshold {
                        *high
                    } else {
                        *low
                    }
                }
                NodeAction::Feature { column, term } => {
                    Chance::new(term.value(tile.values[column * n_rows + place_in_tile]))
                }
                NodeAction::Rows(of_row) => of_row[row],
                NodeAction::Coin => Chance::HALF,
                NodeAction::End(worth) => return *worth,
            };
            node += usize::from(chance.falls_right(coin_at(coin, layer, node)));
        }
        unreachable!("in the last layer ways end")
    }
}

fn step_of(term: &FeatureTerm, column: usize) -> NodeAction<'_> {
    match &term.steps {
        FeatureSteps::Numeric { thresholds, values } if thresholds.len() == 1 => {
            NodeAction::Number {
                column,
                threshold: thresholds[0],
                low: Chance::new(values[0]),
                high: Chance::new(values[1]),
                missing: Chance::new(term.missing),
            }
        }
        _ => NodeAction::Feature { column, term },
    }
}

impl BranchingProgram {
    /// Contribution of the end of a path to the score, in units of [`BranchingProgram::score_of`].
    pub(super) fn worth(&self, layer: usize, index: usize, node: &MartiNode) -> u32 {
        let twice_votes = self.twice_votes(layer, index).expect("ways end here") as u32;
        match (self.score, &node.kind) {
            (ProgramScore::Votes, _) => twice_votes,
            (ProgramScore::Sign, NodeKind::Frozen { positive }) => u32::from(*positive),
            // A draw counts as positive (DECISIONS B15).
            (ProgramScore::Sign, _) => u32::from(twice_votes as usize >= self.n_rounds),
            (ProgramScore::NodeRate, kind) => {
                let is_unreached = matches!(kind, NodeKind::Unreached);
                let masses = if is_unreached { self.nodes[0].masses } else { node.masses };
                let (pos, neg) = (masses.pos as f64, masses.neg as f64);
                (pos / (pos + neg) * f64::from(1_u32 << 31)).round() as u32
            }
        }
    }

    fn score_of(&self, sum: u64) -> f64 {
        score_of(self.score, self.row_bits, sum)
    }

    /// What the mean worth of a row is multiplied by, and what is then added to it. The product is
    /// exact.
    pub(in crate::boost) fn scale_of_worth(&self) -> (f64, f64) {
        scale_of_worth(self.score)
    }
}

#[inline]
fn scale_of_worth(score: ProgramScore) -> (f64, f64) {
    match score {
        ProgramScore::Votes => (0.5, 0.0),
        ProgramScore::Sign => (2.0, -1.0),
        ProgramScore::NodeRate => (1.0 / (1_u64 << 31) as f64, 0.0),
    }
}

/// The score from a sum of worths, each times its mass, where a row has 2 to the power of `row_bits`.
/// Equal sums give equal scores, since sums are integers.
#[inline]
pub(super) fn score_of(score: ProgramScore, row_bits: u32, sum: u64) -> f64 {
    let mean = sum as f64 / (1_u64 << row_bits) as f64;
    let (factor, constant) = scale_of_worth(score);
    factor * mean + constant
}

impl ProgramTile {
    fn read(&mut self, columns: &Columns<'_>, features: &[usize], rows: Range<usize>) {
        self.values.resize(features.len() * rows.len(), 0.0);
        self.has_missing.clear();
        for (values, &feature) in self.values.chunks_mut(rows.len()).zip(features) {
            columns[feature].read(rows.clone(), &mut *values);
            self.has_missing.push(values.iter().any(|value| value.is_nan()));
        }
    }
}
