//! Trees of few leaves on many rows, one bit per row.
//!
//! A walk waits for each step of each row. Here a test is evaluated once for a block of rows, for
//! all trees that share it, and its outcomes are one bit per row; a tree then combines bits:
//!
//! - Each split passes on the rows that reach it to its two sides, in two operations on the bits of
//!   all rows of the block.
//! - Leaves are numbered in bits, too, in eight planes: plane `i` holds bit `i` of the number of
//!   the leaf of each row. Numbers are in the order of the tree, as reflected binary code (Gray
//!   code), the side of fewer leaves first: the two sides of a split then differ in few bits, one
//!   if the first is a leaf, and only the rows of the second side change these.
//! - The planes are transposed to one byte per row, which finds the value of its leaf.
//!
//! Small trees share the eight planes, with the sums of their values. Sums of values are exact (see
//! `data::LARGEST_SUM`), so that their order does not matter.
//!
//! The work is proportional to the leaves, not to their depth: some 15 operations of the processor
//! per row and tree of 64 leaves in place of 100. Trees of many leaves are left to the walk.

use std::collections::HashMap;
use std::ops::Range;

use super::scorer::{ColumnCoding, ForestScorer, ForestStep, LISTED, MISSING, SET};
use crate::data::Columns;

/// Maximum number of leaves of a tree: one byte numbers them.
const MOST_LEAVES: usize = 1 << N_PLANES;

/// Bits of the number of a leaf.
const N_PLANES: usize = 8;

/// Bytes of the bits of a large block of rows (a cache line), and of a small one.
const LARGE: usize = 64;
const SMALL: usize = 16;

/// Number of packs whose values are added to a row at a time.
const PACKS: usize = 4;

/// Maximum number of categories whose rows are united for the test of a set; beyond that, each row
/// is looked up in the set.
const MOST_UNITED: usize = 128;

/// Maximum number of categories of a column whose rows are collected by category.
const MOST_LEVELS: usize = 1 << 10;

/// Maximum number of sets in which a tree looks up each row.
const MOST_LOOKUPS: usize = 32;

/// Maximum number of tests; their bits take 64 MiB.
const MOST_TESTS: usize = 1 << 20;

/// A bit for each row of a block: row `r` of `8 * N` is bit `r / N` of byte `r % N`.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
struct RowBits<const N: usize>([u8; N]);

impl<const N: usize> RowBits<N> {
    const NONE: Self = Self([0; N]);
    const ALL: Self = Self([u8::MAX; N]);

    #[expect(clippy::inline_always, reason = "its loop is vectorised only once inlined")]
    #[inline(always)]
    fn with(mut self, other: &Self, operation: impl Fn(u8, u8) -> u8) -> Self {
        // Not an iterator over both, which some builds did not inline: they took three times as long.
        for place in 0..N {
            self.0[place] = operation(self.0[place], other.0[place]);
        }
        self
    }
}

/// A split at least one side of which is a split.
#[derive(Debug)]
struct UpperSplit {
    /// Its test.
    test: u32,
    /// Where the rows are that reach it, and where those of its sides go.
    from: u8,
    sides: [u8; 2],
}

/// A split into two leaves, or what the second side of one adds to a further plane.
#[derive(Debug)]
struct LeafPair {
    test: u32,
    from: u8,
    /// The plane in which the numbers of the two leaves differ.
    plane: u8,
}

/// A bit in which the numbers of the leaves of the two sides of an upper split differ.
#[derive(Debug)]
struct SideBit {
    /// Where the rows of the second side are.
    side: u8,
    plane: u8,
}

/// Trees whose leaves are numbered together in eight planes.
#[derive(Debug)]
struct TreePack {
    upper: Range<usize>,
    pairs: Range<usize>,
    side_bits: Range<usize>,
    /// Start of the values by number.
    values: usize,
}

/// How the tests of a column are evaluated.
#[derive(Debug)]
struct BitColumn {
    /// First test.
    start: usize,
    tests: ColumnTests,
}

#[derive(Debug)]
enum ColumnTests {
    /// No tree in this form tests it.
    None,
    /// Tests whether a value lies below each cut, all but the last one; then whether it is known,
    /// and whether it is missing; last, if some tests count missing values as high and some as low,
    /// the tests below cuts again, with missing values.
    Cuts { n_cuts: usize, missing: MissingSides },
    /// Rows by category, if there are such sets, and then the sets.
    Levels { n_codes: usize, sets: Vec<BitSet> },
}

/// The side of missing values in the tests of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingSides {
    High,
    Low,
    Both,
}

/// A set of categories that is tested.
#[derive(Debug)]
enum BitSet {
    /// The union of the rows of some categories, or its complement.
    Union { levels: Vec<u32>, is_complement: bool },
    /// Each row is looked up.
    Lookup(ForestStep),
}

/// Trees in this form.
#[derive(Debug)]
pub(super) struct BitTrees {
    /// For each column of the coder.
    columns: Vec<BitColumn>,
    n_tests: usize,
    upper: Vec<UpperSplit>,
    pairs: Vec<LeafPair>,
    side_bits: Vec<SideBit>,
    packs: Vec<TreePack>,
    /// Values of the leaves by number, pack by pack.
    values: Vec<f64>,
    /// Trees that have another form.
    pub(super) others: Vec<usize>,
}

/// Memory that [`BitTrees::add`] uses.
#[derive(Debug, Default)]
pub(super) struct BitTile {
    values: Vec<f64>,
    codes: Vec<u32>,
    large: BitBlock<LARGE>,
    small: BitBlock<SMALL>,
}

/// Memory for a block of rows.
#[derive(Debug, Default)]
struct BitBlock<const N: usize> {
    tests: Vec<RowBits<N>>,
    /// Rows that reach each split of a pack; the first are all rows.
    reach: Vec<RowBits<N>>,
}

/// Place of what nothing reads: the rows that reach a leaf.
const UNREAD: u8 = u8::MAX;

/// A node of a tree.
#[derive(Debug)]
struct PlainNode {
    /// Its step.
    step: usize,
    /// The nodes of the sides of a split: of those that pass the test, and of the others.
    sides: Option<[usize; 2]>,
    n_leaves: usize,
}

/// Nodes of a tree from some step on, the root last; `None` if there are too many.
fn unrolled(
    scorer: &ForestScorer,
    mut at: usize,
    depth: usize,
    nodes: &mut Vec<PlainNode>,
) -> Option<usize> {
    loop {
        let step = scorer.step(at);
        if step.first as usize == at {
            nodes.push(PlainNode { step: at, sides: None, n_leaves: 1 });
        } else if step.more == 1 && step.bound == u32::MAX {
            // All rows pass.
            at = step.first as usize;
            continue;
        } else if depth == MOST_LEAVES {
            return None;
        } else {
            let first = step.first as usize;
            let first_side = unrolled(scorer, first, depth + 1, nodes)?;
            let second_side = unrolled(scorer, first + 1, depth + 1, nodes)?;
            let n_leaves = nodes[first_side].n_leaves + nodes[second_side].n_leaves;
            nodes.push(PlainNode { step: at, sides: Some([first_side, second_side]), n_leaves });
        }
        return (nodes.len() < 2 * MOST_LEAVES).then(|| nodes.len() - 1);
    }
}

/// Reflected binary code: the codes of neighbours differ in one bit.
fn gray(number: usize) -> usize {
    number ^ (number >> 1)
}

/// Bits that number some leaves.
fn n_bits(n_leaves: usize) -> usize {
    n_leaves.next_power_of_two().ilog2() as usize
}

/// Groups of trees, given the bits that number the leaves of each, that share eight planes.
fn packed(n_bits: &[usize]) -> Vec<Vec<usize>> {
    let mut trees: Vec<usize> = (0..n_bits.len()).collect();
    trees.sort_by_key(|&tree| n_bits[tree]);
    let mut packs = Vec::new();
    let mut trees = &trees[..];
    while let [rest @ .., largest] = trees {
        trees = rest;
        let mut pack = vec![*largest];
        let mut left = N_PLANES - n_bits[*largest];
        while let [smallest, rest @ ..] = trees
            && n_bits[*smallest] <= left
        {
            trees = rest;
            left -= n_bits[*smallest];
            pack.push(*smallest);
        }
        packs.push(pack);
    }
    packs
}

/// A test of a set: the column, and what the step says of the set.
type SetKey = (u32, u32, u32);

fn key(step: &ForestStep) -> SetKey {
    (step.column, step.more, step.bound)
}

/// The tests of some trees.
#[derive(Debug, Default)]
struct BitTests {
    /// For each column of the coder.
    columns: Vec<BitColumn>,
    n_tests: usize,
    /// The number of each set of categories.
    sets: HashMap<SetKey, usize>,
}

impl BitTests {
    /// Tests of the given steps.
    fn new(scorer: &ForestScorer, steps: impl Iterator<Item = ForestStep>) -> Self {
        let mut found = Self::default();
        let mut sets = vec![Vec::new(); scorer.coder.columns.len()];
        // Whether some test counts missing values as high, or as low.
        let mut sides = vec![[false; 2]; scorer.coder.columns.len()];
        for step in steps {
            let column = step.column as usize;
            if step.more < SET {
                sides[column][step.more as usize] = true;
            } else if found.sets.insert(key(&step), 0).is_none() {
                sets[column].push(step);
            }
        }
        for (((_, coding), sets), sides) in scorer.coder.columns.iter().zip(sets).zip(sides) {
            found.push(scorer, coding, &sets, sides);
        }
        found
    }

    /// Adds those of a column.
    fn push(
        &mut self,
        scorer: &ForestScorer,
        coding: &ColumnCoding,
        steps: &[ForestStep],
        sides: [bool; 2],
    ) {
        let start = self.n_tests;
        let tests = match coding {
            ColumnCoding::Cuts(_) if sides == [false; 2] => ColumnTests::None,
            ColumnCoding::Levels(_) if steps.is_empty() => ColumnTests::None,
            ColumnCoding::Cuts(grid) => {
                let n_cuts = grid.cuts().len();
                let (missing, n_tests) = match sides {
                    [true, true] => (MissingSides::Both, 2 * n_cuts + 2),
                    [_, true] => (MissingSides::Low, n_cuts + 2),
                    _ => (MissingSides::High, n_cuts + 2),
                };
                self.n_tests += n_tests;
                ColumnTests::Cuts { n_cuts, missing }
            }
            ColumnCoding::Levels(n_levels) => {
                let of_step = |&step: &ForestStep| bit_set(scorer, step, *n_levels);
                let sets: Vec<BitSet> = steps.iter().map(of_step).collect();
                let is_union = |set: &BitSet| matches!(set, BitSet::Union { .. });
                let n_codes = if sets.iter().any(is_union) { *n_levels as usize + 2 } else { 0 };
                for (number, step) in (start + n_codes..).zip(steps) {
                    self.sets.insert(key(step), number);
                }
                self.n_tests += n_codes + sets.len();
                ColumnTests::Levels { n_codes, sets }
            }
        };
        self.columns.push(BitColumn { start, tests });
    }

    /// The number of the test of a step.
    fn number(&self, step: &ForestStep) -> u32 {
        let BitColumn { start, tests } = &self.columns[step.column as usize];
        let number = match tests {
            ColumnTests::Cuts { n_cuts, missing } => match (step.more, step.bound) {
                (0, MISSING) => start + n_cuts,
                (0, bound) => start + bound as usize - 1,
                // Without the number that is added to the codes.
                (_, bound) if *missing == MissingSides::Low => start + bound as usize - 2,
                (_, bound) => start + n_cuts + bound as usize,
            },
            _ => self.sets[&key(step)],
        };
        number as u32
    }
}

/// Number of sets of a tree in which each row is looked up.
fn n_lookups(
    scorer: &ForestScorer,
    nodes: &[PlainNode],
    known: &mut HashMap<SetKey, bool>,
) -> usize {
    let is_lookup = |node: &&PlainNode| {
        let step = scorer.step(node.step);
        let ColumnCoding::Levels(n_levels) = &scorer.coder.columns[step.column as usize].1 else {
            return false;
        };
        let is_lookup = || matches!(bit_set(scorer, step, *n_levels), BitSet::Lookup(_));
        *known.entry(key(&step)).or_insert_with(is_lookup)
    };
    nodes.iter().filter(|node| node.sides.is_some()).filter(is_lookup).count()
}

/// The form of the test of a set.
fn bit_set(scorer: &ForestScorer, step: ForestStep, n_levels: u32) -> BitSet {
    let n_codes = n_levels.saturating_add(2);
    if step.more == LISTED || n_codes as usize > MOST_LEVELS {
        return BitSet::Lookup(step);
    }
    let (inside, outside): (Vec<u32>, Vec<u32>) =
        (0..n_codes).partition(|&code| scorer.is_first(&step, code));
    let is_complement = outside.len() < inside.len();
    let levels = if is_complement { outside } else { inside };
    if levels.len() > MOST_UNITED {
        return BitSet::Lookup(step);
    }
    BitSet::Union { levels, is_complement }
}

impl BitTrees {
    /// The trees of a scorer of at most 256 leaves each, with the values of their leaves by step;
    /// `None` if the tests of all trees are too many for what they gain.
    pub(super) fn new(scorer: &ForestScorer, values: &[f64]) -> Option<Self> {
        let mut others = Vec::new();
        let mut trees = Vec::new();
        let mut lookups = HashMap::new();
        for tree in 0..scorer.n_trees() {
            let mut nodes = Vec::new();
            if unrolled(scorer, scorer.root(tree), 0, &mut nodes).is_some()
                && n_lookups(scorer, &nodes, &mut lookups) <= MOST_LOOKUPS
            {
                trees.push(nodes);
            } else {
                others.push(tree);
            }
        }
        let splits = || trees.iter().flatten().filter(|node| node.sides.is_some());
        let tests = BitTests::new(scorer, splits().map(|node| scorer.step(node.step)));
        // Each costs about as much as a split.
        let most_tests = MOST_TESTS.min(2 * splits().count() + 1024);
        if tests.n_tests > most_tests || trees.is_empty() {
            return None;
        }
        let mut found = Self {
            columns: Vec::new(),
            n_tests: tests.n_tests,
            upper: Vec::new(),
            pairs: Vec::new(),
            side_bits: Vec::new(),
            packs: Vec::new(),
            values: Vec::new(),
            others,
        };
        let n_bits: Vec<usize> =
            trees.iter().map(|nodes| n_bits(nodes[nodes.len() - 1].n_leaves)).collect();
        for pack in packed(&n_bits) {
            let starts = [found.upper.len(), found.pairs.len(), found.side_bits.len()];
            let (mut shift, mut n_places) = (0, 1);
            let mut sums = vec![0.0];
            for tree in pack {
                let nodes = &trees[tree];
                let mut of_tree = vec![0.0; 1 << n_bits[tree]];
                let mut numbering =
                    Numbering { scorer, tests: &tests, nodes, values, shift, n_places };
                numbering.push(&mut found, &mut of_tree);
                n_places = numbering.n_places;
                shift += n_bits[tree];
                let high = of_tree.iter().flat_map(|value| sums.iter().map(move |sum| sum + value));
                sums = high.collect();
            }
            let places = found.values.len();
            found.values.extend(sums);
            found.packs.push(TreePack {
                upper: starts[0]..found.upper.len(),
                pairs: starts[1]..found.pairs.len(),
                side_bits: starts[2]..found.side_bits.len(),
                values: places,
            });
        }
        // So that 256 values follow each start.
        found.values.resize(found.values.len() + MOST_LEAVES, 0.0);
        found.columns = tests.columns;
        Some(found)
    }
}

/// Numbers the leaves of a tree.
struct Numbering<'a> {
    scorer: &'a ForestScorer,
    tests: &'a BitTests,
    nodes: &'a [PlainNode],
    values: &'a [f64],
    /// First plane of the tree.
    shift: usize,
    /// Number of places for rows that reach splits of the pack so far; the first is that of roots.
    n_places: usize,
}

impl Numbering<'_> {
    /// Adds the splits of the tree, and its values by number.
    fn push(&mut self, trees: &mut BitTrees, values: &mut [f64]) {
        self.push_node(self.nodes.len() - 1, 0, 0, trees, values);
    }

    /// The same for a node, whose rows are at the place `from`, with leaves from `number` on.
    fn push_node(
        &mut self,
        node: usize,
        from: u8,
        number: usize,
        trees: &mut BitTrees,
        values: &mut [f64],
    ) {
        let PlainNode { step, sides, .. } = self.nodes[node];
        let Some(sides) = sides else {
            values[gray(number)] = self.values[step];
            return;
        };
        let test = self.tests.number(&self.scorer.step(step));
        let n_leaves = sides.map(|side| self.nodes[side].n_leaves);
        // The side of fewer leaves comes first.
        let second = usize::from(n_leaves[0] <= n_leaves[1]);
        let mut numbers = [number; 2];
        numbers[second] += n_leaves[1 - second];
        let changed = gray(numbers[0]) ^ gray(numbers[1]);
        let planes = (0..N_PLANES).filter(|plane| changed >> plane & 1 == 1);
        let planes = planes.map(|plane| (self.shift + plane) as u8);
        if n_leaves == [1, 1] {
            trees.pairs.extend(planes.map(|plane| LeafPair { test, from, plane }));
            values[gray(numbers[0])] = self.values[self.nodes[sides[0]].step];
            values[gray(numbers[1])] = self.values[self.nodes[sides[1]].step];
            return;
        }
        let places = n_leaves.map(|n_leaves| {
            if n_leaves == 1 {
                return UNREAD;
            }
            self.n_places += 1;
            (self.n_places - 1) as u8
        });
        trees.upper.push(UpperSplit { test, from, sides: places });
        let side = places[second];
        trees.side_bits.extend(planes.map(|plane| SideBit { side, plane }));
        for side in 0..2 {
            self.push_node(sides[side], places[side], numbers[side], trees, values);
        }
    }
}

impl BitTrees {
    /// Adds the values of the trees to the sums of some rows; `false` if [`Columns::refusal`] has a
    /// reason to reject them.
    pub(super) fn add(
        &self,
        scorer: &ForestScorer,
        columns: &Columns<'_>,
        rows: Range<usize>,
        memory: &mut BitTile,
        sums: &mut [f64],
    ) -> bool {
        if columns.check_interrupt().is_err() {
            return false;
        }
        let BitTile { values, codes, large, small } = memory;
        let mut start = rows.start;
        let mut sums = sums;
        while !sums.is_empty() {
            // Two small blocks take less time than a large one.
            let is_large = sums.len() > 2 * 8 * SMALL;
            let n_rows = sums.len().min(8 * if is_large { LARGE } else { SMALL });
            let (of_block, rest) = sums.split_at_mut(n_rows);
            values.resize(n_rows, 0.0);
            codes.resize(n_rows, 0);
            let rows = start..start + n_rows;
            let is_usable = if is_large {
                self.evaluate(scorer, columns, rows, (values, codes), &mut large.tests)
            } else {
                self.evaluate(scorer, columns, rows, (values, codes), &mut small.tests)
            };
            if !is_usable {
                return false;
            }
            if is_large {
                self.add_block(large, of_block);
            } else {
                self.add_block(small, of_block);
            }
            start += n_rows;
            sums = rest;
        }
        true
    }

    /// Evaluates all tests on a block of rows; `false` if a number is infinite.
    fn evaluate<const N: usize>(
        &self,
        scorer: &ForestScorer,
        columns: &Columns<'_>,
        rows: Range<usize>,
        (values, codes): (&mut [f64], &mut [u32]),
        tests: &mut Vec<RowBits<N>>,
    ) -> bool {
        tests.resize(self.n_tests, RowBits::NONE);
        let mut tested = scorer.coder.columns.iter().zip(&self.columns).peekable();
        for (feature, numbers) in columns.iter().enumerate() {
            // Infinity is an error even in a feature that no tree tests.
            if numbers.read(rows.clone(), &mut *values) {
                return false;
            }
            let Some(((_, coding), BitColumn { start, tests: of_column })) =
                tested.next_if(|((tested, _), _)| *tested == feature)
            else {
                continue;
            };
            let tests = &mut tests[*start..];
            match of_column {
                ColumnTests::None => {}
                ColumnTests::Cuts { n_cuts, missing } => {
                    let low = *missing == MissingSides::Low;
                    coding.fill(values, codes, if low { 0 } else { *n_cuts as u32 + 1 });
                    let (tests, with_missing) = tests.split_at_mut(n_cuts + 2);
                    collect(codes, tests);
                    let mut below = RowBits::NONE;
                    for test in &mut tests[..=*n_cuts] {
                        below = below.with(test, |a, b| a | b);
                        *test = below;
                    }
                    if *missing == MissingSides::Both {
                        let missing = tests[n_cuts + 1];
                        for (with, test) in with_missing.iter_mut().zip(&tests[..*n_cuts]) {
                            *with = missing.with(test, |a, b| a | b);
                        }
                    }
                }
                ColumnTests::Levels { n_codes, sets } => {
                    coding.fill(values, codes, MISSING);
                    let (levels, tests) = tests.split_at_mut(*n_codes);
                    if *n_codes > 0 {
                        collect(codes, levels);
                    }
                    for (test, set) in tests.iter_mut().zip(sets) {
                        *test = set.rows(scorer, codes, levels);
                    }
                }
            }
        }
        true
    }

    /// Adds the values of the trees to the sums of a block of rows whose tests have been evaluated.
    fn add_block<const N: usize>(&self, block: &mut BitBlock<N>, sums: &mut [f64]) {
        let BitBlock { tests, reach } = block;
        reach.resize(MOST_LEAVES, RowBits::ALL);
        let reach = reach.first_chunk_mut().expect("it has this size");
        let mut numbers = [[[0; N]; N_PLANES]; PACKS];
        for packs in self.packs.chunks(PACKS) {
            for (pack, numbers) in packs.iter().zip(&mut numbers) {
                *numbers = self.numbers(pack, tests, reach);
            }
            let values = |pack: &TreePack| -> &[f64; MOST_LEAVES] {
                self.values[pack.values..].first_chunk().expect("they are padded")
            };
            if let [a, b, c, d] = packs {
                let [a, b, c, d] = [a, b, c, d].map(values);
                let [of_a, of_b, of_c, of_d] =
                    numbers.each_ref().map(|numbers| numbers.as_flattened());
                let rows = sums.iter_mut().zip(of_a).zip(of_b).zip(of_c).zip(of_d);
                for ((((sum, &i), &j), &k), &l) in rows {
                    *sum += (a[usize::from(i)] + b[usize::from(j)])
                        + (c[usize::from(k)] + d[usize::from(l)]);
                }
            } else {
                for (pack, numbers) in packs.iter().zip(&numbers) {
                    let values = values(pack);
                    for (sum, &number) in sums.iter_mut().zip(numbers.as_flattened()) {
                        *sum += values[usize::from(number)];
                    }
                }
            }
        }
    }

    /// The numbers of the leaves of the rows of a block in a pack of trees.
    #[inline(never)]
    fn numbers<const N: usize>(
        &self,
        pack: &TreePack,
        tests: &[RowBits<N>],
        reach: &mut [RowBits<N>; MOST_LEAVES],
    ) -> [[u8; N]; N_PLANES] {
        for split in &self.upper[pack.upper.clone()] {
            let from = reach[usize::from(split.from)];
            let test = &tests[split.test as usize];
            reach[usize::from(split.sides[0])] = from.with(test, |a, b| a & b);
            reach[usize::from(split.sides[1])] = from.with(test, |a, b| a & !b);
        }
        let mut planes = [RowBits::NONE; N_PLANES];
        for pair in &self.pairs[pack.pairs.clone()] {
            let second =
                reach[usize::from(pair.from)].with(&tests[pair.test as usize], |a, b| a & !b);
            let plane = &mut planes[usize::from(pair.plane) % N_PLANES];
            *plane = plane.with(&second, |a, b| a ^ b);
        }
        for bit in &self.side_bits[pack.side_bits.clone()] {
            let plane = &mut planes[usize::from(bit.plane) % N_PLANES];
            *plane = plane.with(&reach[usize::from(bit.side)], |a, b| a ^ b);
        }
        transposed(planes.map(|plane| plane.0))
    }
}

impl BitSet {
    /// The rows whose category is in the set, given the codes of all rows and the rows by code.
    fn rows<const N: usize>(
        &self,
        scorer: &ForestScorer,
        codes: &[u32],
        levels: &[RowBits<N>],
    ) -> RowBits<N> {
        match self {
            Self::Union { levels: united, is_complement } => {
                let start = if *is_complement { RowBits::ALL } else { RowBits::NONE };
                // No row has two categories.
                let with = |rows: RowBits<N>, &level: &u32| {
                    rows.with(&levels[level as usize], |a, b| a ^ b)
                };
                united.iter().fold(start, with)
            }
            Self::Lookup(step) => {
                let mut rows = RowBits::NONE;
                for (bit, codes) in codes.chunks(N).enumerate() {
                    for (byte, &code) in rows.0.iter_mut().zip(codes) {
                        *byte |= u8::from(scorer.is_first(step, code)) << bit;
                    }
                }
                rows
            }
        }
    }
}

/// Collects the rows of each code.
fn collect<const N: usize>(codes: &[u32], rows: &mut [RowBits<N>]) {
    rows.fill(RowBits::NONE);
    for (bit, codes) in codes.chunks(N).enumerate() {
        for (byte, &code) in (0..N).zip(codes) {
            rows[code as usize].0[byte] |= 1 << bit;
        }
    }
}

/// Exchanges the plane and the place of each bit in its byte: bit `i` of byte `b` of plane `k` of
/// the result is bit `k` of byte `b` of plane `i`.
#[inline]
fn transposed<const N: usize>(mut planes: [[u8; N]; N_PLANES]) -> [[u8; N]; N_PLANES] {
    // Squares of 4 by 4 bits, of 2 by 2 and single bits change places across the diagonal.
    exchange::<N, 4>(&mut planes, 0x0F);
    exchange::<N, 2>(&mut planes, 0x33);
    exchange::<N, 1>(&mut planes, 0x55);
    planes
}

/// Exchanges the high bits of some planes with the low bits, given by a mask, of those `WIDTH`
/// places on.
#[inline]
fn exchange<const N: usize, const WIDTH: usize>(planes: &mut [[u8; N]; N_PLANES], low: u8) {
    for first in 0..N_PLANES {
        let second = first + WIDTH;
        if first & WIDTH > 0 {
            continue;
        }
        let (before, after) = planes.split_at_mut(second);
        for (a, b) in before[first].iter_mut().zip(&mut after[0]) {
            let differ = (*a >> WIDTH ^ *b) & low;
            *a ^= differ << WIDTH;
            *b ^= differ;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::{Column, LevelSet, MISSING_CODE};
    use crate::formula::{Rule, Test};
    use crate::tree::model::Router;

    /// Tests by number, each with the numbers of the tests or leaves of its sides.
    pub(in super::super) type Routes = Vec<(Test, [Result<usize, usize>; 2])>;

    /// Sets of the fourth are looked up row by row, those of the last lie in lists.
    pub(in super::super) const N_LEVELS: [Option<u32>; 7] =
        [None, Some(3), None, Some(40), Some(600), None, Some(5000)];

    /// Which tests count missing values to the left.
    #[derive(Debug, Clone, Copy)]
    enum MissingLeft {
        All,
        None,
        Some,
    }

    pub(in super::super) struct TreeDraws(pub u64);

    impl TreeDraws {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % n
        }

        fn test(&mut self, missing_left: MissingLeft) -> Test {
            // Rarely one whose sets are looked up: a tree may have only some of these.
            let feature = match self.below(24) {
                0 => 4,
                1 => 6,
                other => [0, 1, 2, 3, 5][other % 5],
            };
            let left = match (N_LEVELS[feature], self.below(9)) {
                (_, 0) => Rule::Known(self.below(2) == 0),
                (None, kind) => {
                    // Of the third feature more than one byte counts.
                    let threshold = self.below(if feature == 2 { 400 } else { 9 }) as f64 / 2.0;
                    if kind < 6 { Rule::Below(threshold) } else { Rule::AtLeast(threshold) }
                }
                (Some(n_levels), kind) => {
                    let n_listed = if n_levels == 5000 { 9 } else { n_levels as usize / 2 };
                    let listed = (0..n_listed).map(|_| self.below(n_levels as usize) as u32);
                    let listed: Vec<u32> = listed.collect();
                    if kind < 5 { LevelSet::only(listed) } else { LevelSet::all_but(listed) }.into()
                }
            };
            let missing_left = match missing_left {
                MissingLeft::All => true,
                MissingLeft::None => false,
                MissingLeft::Some => self.below(2) == 0,
            };
            Test { feature, left, missing_left }
        }

        fn grow(
            &mut self,
            n_leaves: usize,
            missing_left: MissingLeft,
            (routes, next_leaf): (&mut Routes, &mut usize),
        ) -> Result<usize, usize> {
            if n_leaves == 1 {
                *next_leaf += 1;
                return Err(*next_leaf - 1);
            }
            let place = routes.len();
            routes.push((self.test(missing_left), [Err(0); 2]));
            // Even sides, a leaf on one side, and anything between.
            let n_left = match self.below(4) {
                0 => 1,
                1 => n_leaves - 1,
                2 => n_leaves / 2,
                _ => 1 + self.below(n_leaves - 1),
            };
            let sides = [n_left, n_leaves - n_left]
                .map(|n_leaves| self.grow(n_leaves, missing_left, (routes, next_leaf)));
            routes[place].1 = sides;
            Ok(place)
        }

        /// A tree and the values of its leaves.
        pub(in super::super) fn tree(&mut self, n_leaves: usize) -> (Routes, Vec<f64>) {
            self.tree_with(n_leaves, MissingLeft::Some)
        }

        fn tree_with(&mut self, n_leaves: usize, missing: MissingLeft) -> (Routes, Vec<f64>) {
            let mut routes = Routes::new();
            let _ = self.grow(n_leaves, missing, (&mut routes, &mut 0));
            let values = (0..n_leaves).map(|_| self.below(1 << 20) as f64 / 1024.0 - 512.0);
            (routes, values.collect())
        }

        pub(in super::super) fn rows(&mut self, n_rows: usize) -> TestedRows {
            let numbers = N_LEVELS.iter().enumerate().map(|(feature, _)| {
                let n = if feature == 2 { 410 } else { 11 };
                let number =
                    |number| if number == 0 { f64::NAN } else { number as f64 / 2.0 - 0.5 };
                (0..n_rows).map(|_| number(self.below(n))).collect()
            });
            let numbers = numbers.collect();
            let codes = N_LEVELS.iter().map(|n_levels| {
                // Some are unknown to the trees.
                let n_codes = n_levels.unwrap_or(0) as usize + 2;
                let code = |code| if code == n_codes { MISSING_CODE } else { code as u32 };
                (0..n_rows).map(|_| code(self.below(n_codes + 1))).collect()
            });
            TestedRows { numbers, codes: codes.collect(), n_rows }
        }
    }

    impl From<LevelSet> for Rule {
        fn from(levels: LevelSet) -> Self {
            Self::Levels(levels)
        }
    }

    /// Values of all features; of those with categories, only the codes count.
    pub(in super::super) struct TestedRows {
        numbers: Vec<Vec<f64>>,
        codes: Vec<Vec<u32>>,
        n_rows: usize,
    }

    impl TestedRows {
        pub(in super::super) fn columns(&self) -> Columns<'_> {
            let column = |feature: usize| match N_LEVELS[feature] {
                None => Column::from(&self.numbers[feature][..]),
                Some(n_levels) => Column::Codes { codes: &self.codes[feature], n_levels },
            };
            Columns::new((0..N_LEVELS.len()).map(column).collect(), self.n_rows).unwrap()
        }

        fn row(&self, row: usize) -> Vec<f64> {
            let value = |feature: usize| match (N_LEVELS[feature], self.codes[feature][row]) {
                (None, _) => self.numbers[feature][row],
                (Some(_), MISSING_CODE) => f64::NAN,
                (Some(_), code) => code.into(),
            };
            (0..N_LEVELS.len()).map(value).collect()
        }

        /// Sums of the values of each row's leaves, one tree at a time.
        pub(in super::super) fn sums(&self, trees: &[(Routes, Vec<f64>)]) -> Vec<f64> {
            let of_row = |row| {
                let row = self.row(row);
                let value = |(routes, values): &(Routes, Vec<f64>)| {
                    let mut at = if routes.is_empty() { Err(0) } else { Ok(0) };
                    while let Ok(test) = at {
                        let (test, sides): &(Test, [_; 2]) = &routes[test];
                        at = sides[usize::from(!test.goes_left(&row))];
                    }
                    values[at.unwrap_err()]
                };
                trees.iter().map(value).sum()
            };
            (0..self.n_rows).map(of_row).collect()
        }
    }

    fn scorer_of(trees: &[(Routes, Vec<f64>)]) -> (ForestScorer, Vec<f64>) {
        let routers: Vec<_> =
            trees.iter().map(|(routes, _)| Router::of_tests(routes.clone())).collect();
        let values: Vec<Vec<f64>> = trees.iter().map(|(_, values)| values.clone()).collect();
        let scorer = ForestScorer::of_routers(&routers, &N_LEVELS);
        let values = scorer.values_of_steps(&values);
        (scorer, values)
    }

    /// Sums that these trees add to 0.25, in one call.
    fn sums_of(trees: &[(Routes, Vec<f64>)], rows: &TestedRows) -> Vec<f64> {
        let (scorer, values) = scorer_of(trees);
        let bits = BitTrees::new(&scorer, &values).unwrap();
        assert!(bits.others.is_empty());
        let mut sums = vec![0.25; rows.n_rows];
        let mut memory = BitTile::default();
        let n_rows = rows.n_rows;
        assert!(bits.add(&scorer, &rows.columns(), 0..n_rows, &mut memory, &mut sums));
        sums
    }

    #[test]
    fn sums_are_those_of_a_walk_down_each_tree() {
        let mut draws = TreeDraws(1);
        let n_rows = [0, 1, 31, 33, 127, 128, 129, 256, 257, 511, 513, 1029];
        let sizes: [&[usize]; 8] = [
            &[2],
            &[3, 1],
            &[128],
            &[255],
            &[256],
            &[2; 9],
            &[16, 16, 16, 17, 1],
            &[1, 2, 3, 5, 9, 31, 32, 33, 64, 200, 2, 2, 4, 8],
        ];
        for missing in [MissingLeft::All, MissingLeft::None, MissingLeft::Some] {
            for (round, sizes) in sizes.iter().enumerate() {
                let trees: Vec<_> =
                    sizes.iter().map(|&size| draws.tree_with(size, missing)).collect();
                for n_rows in n_rows.into_iter().skip(round % 2).step_by(2) {
                    let rows = draws.rows(n_rows);
                    let expected: Vec<f64> =
                        rows.sums(&trees).into_iter().map(|sum| sum + 0.25).collect();
                    assert_eq!(sums_of(&trees, &rows), expected, "{missing:?} {sizes:?} {n_rows}");
                }
            }
        }
    }

    #[test]
    fn small_trees_share_the_planes() {
        let sizes = |packs: &[Vec<usize>], n_bits: &[usize]| -> Vec<usize> {
            packs.iter().map(|pack| pack.iter().map(|&tree| n_bits[tree]).sum()).collect()
        };
        for (n_bits, expected) in [
            (vec![1; 9], vec![8, 1]),
            (vec![8, 8, 0, 5, 3], vec![8, 8, 8]),
            (vec![4, 5, 4, 5], vec![5, 5, 8]),
            (vec![], vec![]),
        ] {
            let packs = packed(&n_bits);
            assert_eq!(sizes(&packs, &n_bits), expected);
            let mut trees = packs.concat();
            trees.sort_unstable();
            assert_eq!(trees, (0..n_bits.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn trees_of_more_leaves_are_left_to_the_walk() {
        // Not drawn trees: where all rows pass a test, leaves that none reaches are left out.
        let chain = |n_leaves: usize| {
            let split = |place: usize| {
                let test = Test { feature: 0, left: Rule::Below(place as f64), missing_left: true };
                let second = if place + 2 == n_leaves { Err(place + 1) } else { Ok(place + 1) };
                (test, [Err(place), second])
            };
            ((0..n_leaves - 1).map(split).collect(), vec![1.0; n_leaves])
        };
        let trees = [257, 3, 2000, 256, 258].map(chain);
        let (scorer, values) = scorer_of(&trees);
        // They share the 1,999 tests of the largest.
        let mut more = trees.to_vec();
        more.extend((0..9).map(|_| chain(256)));
        assert!(BitTrees::new(&scorer, &values).is_none());
        let (scorer, values) = scorer_of(&more);
        assert_eq!(BitTrees::new(&scorer, &values).unwrap().others, [0, 2, 4]);
        let (scorer, values) = scorer_of(&trees[..1]);
        assert!(BitTrees::new(&scorer, &values).is_none());
    }

    #[test]
    fn planes_are_transposed() {
        let mut draws = TreeDraws(3);
        let planes = [0; N_PLANES].map(|_| [0; SMALL].map(|_: u8| draws.below(256) as u8));
        let found = transposed(planes);
        for (bit, place) in (0..8).flat_map(|bit| (0..SMALL).map(move |place| (bit, place))) {
            for (plane, bits) in planes.iter().enumerate() {
                assert_eq!(found[bit][place] >> plane & 1, bits[place] >> bit & 1);
            }
        }
    }

    #[test]
    fn infinity_is_detected() {
        let mut draws = TreeDraws(4);
        let trees = [draws.tree(9)];
        let mut rows = draws.rows(600);
        rows.numbers[5][599] = f64::INFINITY;
        let (scorer, values) = scorer_of(&trees);
        let bits = BitTrees::new(&scorer, &values).unwrap();
        let add = |rows: &TestedRows, range: Range<usize>| {
            let mut sums = vec![0.0; range.len()];
            bits.add(&scorer, &rows.columns(), range, &mut BitTile::default(), &mut sums)
        };
        assert!(add(&rows, 0..599));
        assert!(!add(&rows, 0..600));
    }
}
