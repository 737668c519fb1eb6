//! The paths of rows through a tree for all points of a grid at once.
//!
//! By the definition every row is scored once for each point of a grid, with the features in
//! question set to the point. Here a row goes through the tree once with all points: a test of one
//! of these features separates the points that are still with the row, any other test depends on
//! the row alone. At the leaves only the weights of the rows are added up, which are integers: the
//! result does not depend on threads or on the order of rows.
//!
//! Points with equal outcomes at every test of the tree (a class below) are equivalent, so a set of
//! points is a bit set of classes.

use std::collections::HashMap;
use std::ops::Range;

use crate::data::{Columns, FixedWeights};
use crate::formula::Test;
use crate::parallel::prelude::*;
use crate::tree::model::{RankingTree, RouteTarget, Router, TILE_ROWS};
use crate::{Interrupt, RankError};

/// The paths through one tree for the points of a grid.
pub(super) struct Paths<'a> {
    router: Router<'a, Test>,
    n_leaves: usize,
    /// For each test of the router, the classes that it sends left; empty if it depends on the row.
    goes_left: Vec<Vec<u64>>,
    /// The set of all classes.
    all: Vec<u64>,
    pub(super) n_classes: usize,
    pub(super) class_of_point: Vec<usize>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(tree: &'a RankingTree, features: &[usize], points: &[f64]) -> Self {
        let router = Router::new(tree, Test::clone);
        let asks_point: Vec<usize> = (0..router.steps.len())
            .filter(|&step| features.contains(&router.stump(step).feature))
            .collect();

        // A point as a row without other known values, and the outcomes of its tests as bits.
        let mut row = vec![f64::NAN; tree.n_levels().len()];
        let mut classes = HashMap::new();
        let mut answers_of_class: Vec<Vec<u64>> = Vec::new();
        let class_of_point = points
            .chunks_exact(features.len())
            .map(|point| {
                for (&feature, &value) in features.iter().zip(point) {
                    row[feature] = value;
                }
                let answers = asks_point.iter().map(|&step| router.stump(step).goes_left(&row));
                let answers = to_bits(answers);
                *classes.entry(answers).or_insert_with_key(|answers| {
                    answers_of_class.push(answers.clone());
                    answers_of_class.len() - 1
                })
            })
            .collect();

        let n_classes = answers_of_class.len();
        let mut goes_left = vec![Vec::new(); router.steps.len()];
        for (bit, &step) in asks_point.iter().enumerate() {
            let left = answers_of_class.iter().map(|bits| bits[bit / 64] >> (bit % 64) & 1 == 1);
            goes_left[step] = to_bits(left);
        }
        let all = to_bits((0..n_classes).map(|_| true));
        Self { router, n_leaves: tree.n_leaves(), goes_left, all, n_classes, class_of_point }
    }

    /// Sends all rows through the tree; returns the weight that arrives, leaf by leaf and in each
    /// leaf class by class.
    pub(super) fn send(
        &self,
        columns: &Columns<'_>,
        weights: &RowWeights,
        interrupt: &Interrupt,
    ) -> Result<Vec<u64>, RankError> {
        (0..columns.n_rows().div_ceil(TILE_ROWS))
            .into_par_iter()
            .with_min_len(16)
            .try_fold(
                || Walker::new(self),
                |mut walker, tile| {
                    interrupt.check()?;
                    let end = columns.n_rows().min((tile + 1) * TILE_ROWS);
                    walker.send_tile(columns, weights, tile * TILE_ROWS..end)?;
                    Ok(walker)
                },
            )
            .map(|walker| walker.map(Walker::finish))
            .try_reduce(
                || self.nothing_arrived(),
                |mut a, b| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    Ok(a)
                },
            )
    }

    fn nothing_arrived(&self) -> Vec<u64> {
        vec![0; self.n_leaves * self.n_classes]
    }
}

/// Position of a row in the tree with a set of classes. A set is split in the same way for every
/// row, so that rows share states, and a row only follows numbers.
enum PathState {
    /// A leaf, and the weight that reached it.
    Leaf { place: usize, weight: u64 },
    /// A test of the row, and the states on its two sides, made when first needed.
    Question { step: usize, next: [Option<u32>; 2] },
    /// A test that sends some of the classes left and some right.
    Fork { next: [u32; 2] },
}

/// Size of all states, in words, above which they are dropped and made anew: some tens of MB. Tests
/// reach it with small data.
const MOST_WORDS: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// Sends rows through a tree, one after the other.
struct Walker<'a> {
    paths: &'a Paths<'a>,
    /// The first is the start of every row.
    states: Vec<PathState>,
    /// The sets of all states, concatenated.
    sets: Vec<u64>,
    number_of: HashMap<(RouteTarget, Box<[u64]>), u32>,
    /// States from which the row continues.
    waiting: Vec<u32>,
    tile: Vec<f64>,
    arrived: Vec<u64>,
}

impl<'a> Walker<'a> {
    fn new(paths: &'a Paths) -> Self {
        Self {
            paths,
            states: Vec::new(),
            sets: Vec::new(),
            number_of: HashMap::new(),
            waiting: Vec::new(),
            tile: Vec::new(),
            arrived: paths.nothing_arrived(),
        }
    }

    fn send_tile(
        &mut self,
        columns: &Columns<'_>,
        weights: &RowWeights,
        rows: Range<usize>,
    ) -> Result<(), RankError> {
        let mut tile = std::mem::take(&mut self.tile);
        tile.resize(rows.len() * columns.n_features(), 0.0);
        if columns.read_rows(rows.clone(), &mut tile) {
            return Err(columns.refusal());
        }
        for (row, values) in rows.zip(tile.chunks_exact(columns.n_features())) {
            let weight = weights.of(row);
            if weight > 0 && self.paths.n_classes > 0 {
                self.send_row(values, weight);
            }
        }
        self.tile = tile;
        Ok(())
    }

    fn send_row(&mut self, row: &[f64], weight: u64) {
        // A state takes about eight words in addition to its set.
        // Weights at leaves are sums, so that states may be dropped at any row: the bound costs
        // time, not exactness.
        if self.states.len() * (self.paths.all.len() + 8) > MOST_WORDS {
            self.unload();
        }
        let start = match self.states.len() {
            0 => self.state(self.paths.router.start, &self.paths.all),
            _ => 0,
        };
        self.waiting.push(start);
        while let Some(number) = self.waiting.pop() {
            match &mut self.states[number as usize] {
                PathState::Leaf { weight: arrived, .. } => *arrived += weight,
                PathState::Fork { next } => self.waiting.extend(*next),
                PathState::Question { step, next } => {
                    let goes_left = self.paths.router.stump(*step).goes_left(row);
                    let next = match next[usize::from(!goes_left)] {
                        Some(next) => next,
                        None => self.answer(number, goes_left),
                    };
                    self.waiting.push(next);
                }
            }
        }
    }

    /// Makes the state on one side of a test.
    #[cold]
    fn answer(&mut self, number: u32, goes_left: bool) -> u32 {
        let PathState::Question { step, .. } = self.states[number as usize] else {
            unreachable!("only a question is answered")
        };
        let n_words = self.paths.all.len();
        let set = self.sets[number as usize * n_words..][..n_words].to_vec();
        let (left, right) = self.paths.router.sides(step);
        let found = self.state(if goes_left { left } else { right }, &set);
        if let PathState::Question { next, .. } = &mut self.states[number as usize] {
            next[usize::from(!goes_left)] = Some(found);
        }
        found
    }

    /// Number of the state of a set of classes at a target, after the tests that send the whole set
    /// to one side.
    fn state(&mut self, mut target: RouteTarget, set: &[u64]) -> u32 {
        let router = &self.paths.router;
        let (step, goes_left) = loop {
            let step = match target.resolve() {
                Err(place) => {
                    return self.number(target, set, PathState::Leaf { place, weight: 0 });
                }
                Ok(step) => step,
            };
            let goes_left = &self.paths.goes_left[step];
            if goes_left.is_empty() {
                return self.number(target, set, PathState::Question { step, next: [None; 2] });
            }
            let (left, right) = router.sides(step);
            target = if set.iter().zip(goes_left).all(|(set, left)| set & left == 0) {
                right
            } else if set.iter().zip(goes_left).all(|(set, left)| set & !left == 0) {
                left
            } else {
                break (step, goes_left);
            };
        };
        if let Some(&number) = self.number_of.get(&(target, set.into())) {
            return number;
        }
        // The fork is numbered before its sides, so that the first state remains the start.
        let number = self.number(target, set, PathState::Fork { next: [0; 2] });
        let (left, right) = router.sides(step);
        let part = |keep: fn(u64, u64) -> u64| -> Vec<u64> {
            set.iter().zip(goes_left).map(|(&set, &left)| keep(set, left)).collect()
        };
        let next = [
            self.state(left, &part(|set, left| set & left)),
            self.state(right, &part(|set, left| set & !left)),
        ];
        self.states[number as usize] = PathState::Fork { next };
        number
    }

    /// Number of a state, added as `new` if there was none.
    fn number(&mut self, target: RouteTarget, set: &[u64], new: PathState) -> u32 {
        let Self { states, sets, number_of, .. } = self;
        *number_of.entry((target, set.into())).or_insert_with(|| {
            states.push(new);
            sets.extend_from_slice(set);
            states.len() as u32 - 1
        })
    }

    /// Adds up the weights that reached the leaves, and drops all states.
    fn unload(&mut self) {
        let (n_words, n_classes) = (self.paths.all.len(), self.paths.n_classes);
        for (state, set) in self.states.iter().zip(self.sets.chunks_exact(n_words.max(1))) {
            let PathState::Leaf { place, weight } = *state else { continue };
            let arrived = &mut self.arrived[place * n_classes..][..n_classes];
            for (word, mut set) in set.iter().copied().enumerate() {
                while set != 0 {
                    arrived[64 * word + set.trailing_zeros() as usize] += weight;
                    set &= set - 1;
                }
            }
        }
        self.states.clear();
        self.sets.clear();
        self.number_of.clear();
    }

    fn finish(mut self) -> Vec<u64> {
        self.unload();
        self.arrived
    }
}

/// Packs bits into words, the first bit lowest.
fn to_bits(bits: impl Iterator<Item = bool>) -> Vec<u64> {
    let mut words = Vec::new();
    for (place, bit) in bits.enumerate() {
        if place % 64 == 0 {
            words.push(0);
        }
        words[place / 64] |= u64::from(bit) << (place % 64);
    }
    words
}

/// Weights as integers, in one unit.
pub(super) struct RowWeights {
    /// `None` for 1 each.
    units: Option<Vec<u64>>,
    pub(super) total: u64,
}

impl RowWeights {
    pub(super) fn new(weight: Option<&[f64]>, n_rows: usize) -> Result<Self, RankError> {
        let units = match weight {
            None => None,
            Some(weight) if weight.len() != n_rows => {
                return Err(bad("the number of weights", weight.len(), "that of the rows"));
            }
            Some(weight) => Some(FixedWeights::new(weight)?.units().to_vec()),
        };
        let total = units.as_ref().map_or(n_rows as u64, |units| units.iter().sum());
        if total == 0 {
            return Err(bad("the sum of sample_weight", 0, "positive"));
        }
        Ok(Self { units, total })
    }

    #[inline]
    pub(super) fn of(&self, row: usize) -> u64 {
        self.units.as_ref().map_or(1, |units| units[row])
    }
}

pub(super) fn bad(name: &'static str, value: usize, rule: &'static str) -> RankError {
    RankError::BadParameter { name, value: value.to_string(), rule }
}
