//! The rows of a search: for each feature a place in an order of its values, such that every cut
//! divides the places into lower and higher ones.
//!
//! Numbers are in the order of their bins, categories in that of their shrunken rates in the rows
//! of the search. Missing numbers have a place of their own, which goes to either side; a missing
//! category is a category.

use std::cmp::Ordering;

use crate::data::{
    Binned, ClassSums, CodeRule, CodeTest, FeatureBins, RateShrinkage, RowTally, RowUnits, Tally,
    direction, row_groups,
};
use crate::formula::Test;
use crate::parallel;
use crate::tree::sample::Sample;
use crate::tree::split::stump::{levels_test, middle_of};

/// Greatest number of places of a feature, apart from that of missing values.
pub(super) const MOST_PLACES: usize = 255;

/// A cut of the places of a feature. What is low are the known places below `bound`, and the
/// missing ones if `missing_low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlaceCut {
    /// Position among the features of the search.
    pub(super) feature: usize,
    pub(super) bound: usize,
    pub(super) missing_low: bool,
}

/// The cuts of a feature with its missing values on one side, by ascending bounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep {
    pub(super) missing_low: bool,
    /// The greatest bound.
    most: usize,
}

impl Sweep {
    /// The bounds in ascending order, each with the place that becomes low with it; first 0, with
    /// the place of missing values, if these are low.
    pub(super) fn bounds(self, n_known: usize) -> impl Iterator<Item = (usize, usize)> {
        let place = move |bound: usize| if bound == 0 { n_known } else { bound - 1 };
        (usize::from(!self.missing_low)..=self.most).map(move |bound| (bound, place(bound)))
    }
}

/// A feature of a search.
#[derive(Debug, Clone)]
pub(super) struct PlacedFeature {
    feature: usize,
    /// Its first cell in histograms.
    pub(super) first: usize,
    /// Number of places of known values.
    pub(super) n_known: usize,
    /// Whether there is one more place, of missing values.
    pub(super) has_missing: bool,
    /// As in [`StumpTerms::monotonic`](crate::tree::split::StumpTerms).
    direction: i8,
}

impl PlacedFeature {
    pub(super) fn n_places(&self) -> usize {
        self.n_known + usize::from(self.has_missing)
    }

    #[inline]
    fn is_low(&self, cut: PlaceCut, place: usize) -> bool {
        if place == self.n_known { cut.missing_low } else { place < cut.bound }
    }
}

/// Rows in places.
#[derive(Debug)]
pub(super) struct PlacedRows<T> {
    pub(super) features: Vec<PlacedFeature>,
    /// Number of cells of a histogram.
    pub(super) n_cells: usize,
    /// First cell of each feature.
    firsts: Vec<usize>,
    /// Row by row.
    places: Vec<u8>,
    pub(super) tallies: Vec<T>,
    /// Least number of rows on each side of a cut.
    pub(super) least: u64,
}

/// What the places of a feature are, for its tests.
#[derive(Debug)]
enum PlaceValues {
    /// For each place after the first the code at which it begins.
    Numbers { starts: Vec<u32> },
    /// For each place its codes.
    Levels { codes: Vec<Vec<u32>> },
}

/// What the places of all features are.
#[derive(Debug)]
pub(super) struct PlaceTests<'a> {
    binned: &'a Binned,
    values: Vec<PlaceValues>,
}

impl<T: Tally> PlacedRows<T> {
    /// Some rows of a sample, and what their places are.
    pub(super) fn of<'a, R: RowTally<Tally = T> + Copy>(
        sample: &Sample<'a, R>,
        rows: &[u32],
        units: Option<&RowUnits>,
        least: u64,
    ) -> (Self, PlaceTests<'a>) {
        let binned: &Binned = sample.binned;
        let placed = |feature: usize| {
            let bins = &binned.features()[feature];
            let mut sums = vec![ClassSums::default(); bins.n_codes()];
            let code = |row: u32| binned.code(row as usize, feature) as usize;
            for &row in rows {
                sums[code(row)] += sample.sums(row);
            }
            let (values, of_code) = match bins {
                FeatureBins::Numeric { .. } => places_of_numbers(&sums),
                FeatureBins::Categorical { .. } => places_of_levels(&sums, units)?,
            };
            let has_missing =
                matches!(bins, FeatureBins::Numeric { .. }) && sums[bins.n_bins()].rows > 0;
            let n_known = match &values {
                PlaceValues::Numbers { starts } => starts.len() + 1,
                PlaceValues::Levels { codes } => codes.len(),
            };
            let placed = PlacedFeature {
                feature,
                first: 0,
                n_known,
                has_missing,
                direction: direction(&sample.frame.monotonic, feature),
            };
            (placed.n_places() > 1).then(|| {
                let places: Vec<u8> = rows.iter().map(|&row| of_code[code(row)]).collect();
                (placed, values, places)
            })
        };
        let features = match &sample.features {
            Some(features) => features.clone(),
            None => (0..binned.features().len()).collect(),
        };
        let found: Vec<_> = parallel::map(features, placed).into_iter().flatten().collect();
        let tallies = rows.iter().map(|&row| sample.tally(row)).collect();
        let (rows, values) = Self::of_columns(found, tallies, least);
        (rows, PlaceTests { binned, values })
    }

    /// From features, each with something else and the places of the rows; returns what else.
    fn of_columns<F>(
        found: Vec<(PlacedFeature, F, Vec<u8>)>,
        tallies: Vec<T>,
        least: u64,
    ) -> (Self, Vec<F>) {
        let (mut features, mut others, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_cells = 0;
        for (feature, other, places) in found {
            let first = n_cells;
            n_cells += feature.n_places();
            features.push(PlacedFeature { first, ..feature });
            others.push(other);
            columns.push(places);
        }
        let mut places = Vec::with_capacity(tallies.len() * columns.len());
        for row in 0..tallies.len() {
            places.extend(columns.iter().map(|column| column[row]));
        }
        let firsts = features.iter().map(|feature| feature.first).collect();
        (Self { features, n_cells, firsts, places, tallies, least }, others)
    }

    /// Some of these rows in at most `most` places of about as many rows each; and for each
    /// feature what the bounds of the new places are among those here.
    pub(super) fn coarse(&self, rows: &[u32], most: usize) -> (Self, Vec<Vec<usize>>) {
        let histogram = self.histogram(rows);
        let of_feature = |position: usize| {
            let feature = &self.features[position];
            let sums = &histogram[feature.first..][..feature.n_known];
            let sizes: Vec<u64> = sums.iter().map(|tally| tally.sums().rows).collect();
            let of_place = row_groups(&sizes, most);
            let n_known = of_place.last().map_or(1, |&last| usize::from(last) + 1);
            let bounds = (0..=n_known)
                .map(|bound| of_place.partition_point(|&place| usize::from(place) < bound))
                .collect();
            let place = |row: &u32| match usize::from(self.row(*row)[position]) {
                missing if missing == feature.n_known => n_known as u8,
                place => of_place[place],
            };
            let places: Vec<u8> = rows.iter().map(place).collect();
            (PlacedFeature { n_known, ..feature.clone() }, bounds, places)
        };
        let found = parallel::map((0..self.features.len()).collect(), of_feature);
        let tallies = rows.iter().map(|&row| self.tallies[row as usize]).collect();
        Self::of_columns(found, tallies, self.least)
    }

    /// Whether some features are bound to rise or to fall.
    pub(super) fn has_directions(&self) -> bool {
        self.features.iter().any(|feature| feature.direction != 0)
    }

    pub(super) fn n_rows(&self) -> usize {
        self.tallies.len()
    }

    /// The places of a row.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[u8] {
        let n_features = self.firsts.len();
        &self.places[row as usize * n_features..][..n_features]
    }

    #[inline]
    pub(super) fn is_low(&self, cut: PlaceCut, row: u32) -> bool {
        let place = self.places[row as usize * self.firsts.len() + cut.feature];
        self.features[cut.feature].is_low(cut, usize::from(place))
    }

    /// Divides rows into low and high ones.
    pub(super) fn sides(&self, rows: &[u32], cut: PlaceCut) -> [Vec<u32>; 2] {
        let (low, high) = rows.iter().partition(|&&row| self.is_low(cut, row));
        [low, high]
    }

    /// Class sums of some rows.
    pub(super) fn sums(&self, rows: &[u32]) -> ClassSums {
        let mut sums = T::default();
        for &row in rows {
            sums += self.tallies[row as usize];
        }
        sums.sums()
    }

    /// Class sums of all rows that have the same places, in the order of their places.
    pub(super) fn sums_of_distinct(&self) -> Vec<ClassSums> {
        let mut order: Vec<u32> = (0..self.n_rows() as u32).collect();
        order.sort_unstable_by(|&a, &b| self.row(a).cmp(self.row(b)));
        order.chunk_by(|&a, &b| self.row(a) == self.row(b)).map(|rows| self.sums(rows)).collect()
    }

    /// Sums by place of every feature.
    pub(super) fn histogram(&self, rows: &[u32]) -> Vec<T> {
        let mut cells = vec![T::default(); self.n_cells];
        self.add_rows(rows, &mut cells);
        cells
    }

    pub(super) fn add_rows(&self, rows: &[u32], cells: &mut [T]) {
        for &row in rows {
            let tally = self.tallies[row as usize];
            for (first, &place) in self.firsts.iter().zip(self.row(row)) {
                cells[first + usize::from(place)] += tally;
            }
        }
    }

    /// The sweeps over the bounds of a feature: with missing values high, and also with them low if
    /// there are any.
    pub(super) fn sweeps(&self, feature: usize) -> impl Iterator<Item = Sweep> + use<T> {
        let PlacedFeature { n_known, has_missing, .. } = self.features[feature];
        // All known values are low where missing ones are alone high; the other way round is the
        // same cut.
        let high = Sweep { missing_low: false, most: n_known - usize::from(!has_missing) };
        let low = Sweep { missing_low: true, most: n_known - 1 };
        std::iter::once(high).chain(has_missing.then_some(low))
    }

    /// Whether a node may be cut so, given the sums of both sides.
    #[inline]
    pub(super) fn may_cut(&self, cut: PlaceCut, low: ClassSums, high: ClassSums) -> bool {
        let is_allowed = || {
            let order = high.cmp_eta(low);
            match self.direction(cut) {
                0 => true,
                1.. => order.is_ge(),
                _ => order.is_le(),
            }
        };
        low.rows >= self.least && high.rows >= self.least && is_allowed()
    }

    /// The direction that binds the sides of a cut; 0 if none does.
    #[inline]
    pub(super) fn direction(&self, cut: PlaceCut) -> i8 {
        let PlacedFeature { direction, n_known, .. } = self.features[cut.feature];
        // The side of missing values is free.
        if cut.bound == n_known { 0 } else { direction }
    }

    /// Whether the low side of a cut ranks above its high side.
    pub(super) fn ranks_low_first(&self, cut: PlaceCut, low: ClassSums, high: ClassSums) -> bool {
        match low.cmp_eta(high) {
            // Of equal sides the order is that of the feature.
            Ordering::Equal => self.features[cut.feature].direction < 0,
            order => order.is_gt(),
        }
    }

    /// Calls `visit` with each cut of a node that divides its rows and is allowed, and with the
    /// sums of its low side.
    pub(super) fn cuts(
        &self,
        cells: &[T],
        total: ClassSums,
        mut visit: impl FnMut(PlaceCut, ClassSums),
    ) {
        self.divisions(0, cells, |cut, low| {
            if self.may_cut(cut, low, total - low) {
                visit(cut, low);
            }
        });
    }

    /// The same with each cut by the features from `first` on that moves rows.
    pub(super) fn divisions(
        &self,
        first: usize,
        cells: &[T],
        mut visit: impl FnMut(PlaceCut, ClassSums),
    ) {
        for (feature, placed) in self.features.iter().enumerate().skip(first) {
            let cells = &cells[placed.first..][..placed.n_places()];
            for sweep in self.sweeps(feature) {
                let mut low = ClassSums::default();
                for (bound, place) in sweep.bounds(placed.n_known) {
                    let more = cells[place].sums();
                    low += more;
                    // An empty place moves no row.
                    if bound > 0 && more.rows > 0 {
                        visit(PlaceCut { feature, bound, missing_low: sweep.missing_low }, low);
                    }
                }
            }
        }
    }
}

impl PlaceTests<'_> {
    /// A test of values.
    pub(super) fn of_values(&self, test: &CodeTest) -> Test {
        Test::of_codes(test, &self.binned.features()[test.feature])
    }

    /// The test by which a node is cut, given its sums by place of the feature; the higher side in
    /// the ranking is left.
    pub(super) fn test<T: Tally>(
        &self,
        rows: &PlacedRows<T>,
        cut: PlaceCut,
        cells: &[T],
        left_is_low: bool,
    ) -> CodeTest {
        let placed = &rows.features[cut.feature];
        let sums: Vec<ClassSums> =
            cells[placed.first..][..placed.n_places()].iter().map(|tally| tally.sums()).collect();
        let on_left = |place: usize| placed.is_low(cut, place) == left_is_low;
        let (mut left, mut all) = (0, 0);
        for (place, sums) in sums.iter().enumerate() {
            all += sums.rows;
            left += if on_left(place) { sums.rows } else { 0 };
        }
        let larger_is_left = 2 * left >= all;
        let feature = placed.feature;
        let bins = &self.binned.features()[feature];
        match (&self.values[cut.feature], bins) {
            (PlaceValues::Levels { codes }, _) => {
                let occupied = (0..codes.len()).filter(|&place| sums[place].rows > 0);
                let mut listed: Vec<(u32, bool)> = occupied
                    .flat_map(|place| codes[place].iter().map(move |&code| (code, on_left(place))))
                    .collect();
                listed.sort_unstable();
                let (codes, is_left): (Vec<u32>, Vec<bool>) = listed.into_iter().unzip();
                let missing = bins.n_bins() as u32;
                let missing_left = match codes.binary_search(&missing) {
                    Ok(place) => is_left[place],
                    Err(_) => larger_is_left,
                };
                levels_test(feature, bins, &codes, &is_left, missing_left)
            }
            (PlaceValues::Numbers { starts }, FeatureBins::Numeric { cuts }) => {
                let has_rows = |place: &usize| sums[*place].rows > 0;
                let below = (0..cut.bound).rfind(has_rows);
                let above = (cut.bound..placed.n_known).find(has_rows);
                let bound = match (below, above) {
                    (Some(below), Some(above)) => {
                        middle_of((starts[below], starts[above - 1]), cuts)
                    }
                    // All known values on one side.
                    _ => cuts.len() as u32 + 1,
                };
                let rule = if left_is_low { CodeRule::Below } else { CodeRule::AtLeast };
                let missing_left = if placed.has_missing && sums[placed.n_known].rows > 0 {
                    on_left(placed.n_known)
                } else {
                    larger_is_left
                };
                CodeTest { feature, rule: rule(bound), missing_left }
            }
            (PlaceValues::Numbers { .. }, FeatureBins::Categorical { .. }) => {
                unreachable!("categories have places of levels")
            }
        }
    }
}

/// The places of numbers, given the sums by code, and the place of each code.
fn places_of_numbers(sums: &[ClassSums]) -> (PlaceValues, Vec<u8>) {
    let (known, _) = sums.split_at(sums.len() - 1);
    let sizes: Vec<u64> = known.iter().map(|sums| sums.rows).collect();
    let mut of_code = row_groups(&sizes, MOST_PLACES);
    let changes = (1..of_code.len()).filter(|&code| of_code[code] > of_code[code - 1]);
    let starts: Vec<u32> = changes.map(|code| code as u32).collect();
    of_code.push(starts.len() as u8 + 1);
    (PlaceValues::Numbers { starts }, of_code)
}

/// The places of categories, and the place of each code; `None` if they do not differ beyond
/// chance, or if what their order promises is mostly chance.
fn places_of_levels(
    sums: &[ClassSums],
    units: Option<&RowUnits>,
) -> Option<(PlaceValues, Vec<u8>)> {
    let occupied = sums.iter().filter(|sums| sums.rows > 0);
    let shrinkage = match units {
        Some(units) => RateShrinkage::of(occupied.map(|&sums| sums.into()), units)?,
        None => RateShrinkage::none(sums.iter().copied().sum::<ClassSums>().into()),
    };
    let order = shrinkage.order(sums)?;
    let sizes: Vec<u64> = order.iter().map(|&code| sums[code].rows).collect();
    let of_order = row_groups(&sizes, MOST_PLACES);
    let mut codes = vec![Vec::new(); of_order.last().map_or(0, |&last| usize::from(last) + 1)];
    let mut of_code = vec![0; sums.len()];
    for (&code, &place) in order.iter().zip(&of_order) {
        codes[usize::from(place)].push(code as u32);
        of_code[code] = place;
    }
    Some((PlaceValues::Levels { codes }, of_code))
}
