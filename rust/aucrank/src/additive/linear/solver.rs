//! The minimum of the mean logistic loss plus a ridge penalty, by Newton's method.
//!
//! With few columns the Hessian is formed from sums over the cells of pairs of parts, at a cost of
//! `n d^2 / 2` for `d` parts whatever the number of their columns, and factorised (Cholesky). With
//! many columns each Newton step is found by conjugate gradients, whose products with the Hessian
//! cost `2 n d`, preconditioned by the blocks of single features. A factorised Hessian serves for
//! further steps, which then cost a gradient, `2 n d`, as long as they approach the minimum fast.
//! With many rows, a sixteenth of them is solved first, a random sample since rows are in the order
//! of a hash.
//!
//! Partial sums over fixed groups of rows are added in a fixed order: results do not depend on the
//! number of threads.

use super::design::{Design, DesignBlock, FeatureParts, UNIT};
use crate::{FitPart, Interrupt, RankError, parallel};

/// Number of groups of blocks, each summed by one thread.
const N_GROUPS: usize = 16;

/// Number of blocks from which a sample is solved first; and the stride of its blocks.
const SAMPLED_FROM: usize = 64;
const SAMPLE_STRIDE: usize = 16;

/// Tolerance of the solution for the sample.
const SAMPLE_TOLERANCE: f64 = 1e-5;

/// Share of the predicted decrease that a step must reach.
const LEAST_DECREASE: f64 = 1e-4;

/// A factorised Hessian of an earlier point serves while each step promises at most this share of
/// the decrease of the step before.
const SLOWEST: f64 = 0.02;

/// Share of the tolerance for the decrease of a step by an earlier Hessian: what is left to the
/// minimum is a share of that step, not its square. Down to rounding, if the tolerance is above it.
const SHARE_OF_EARLIER: f64 = 1e-4;
const ROUNDING: f64 = 1e-15;

/// Halvings of a step after which there is no decrease beyond rounding.
const MOST_HALVINGS: usize = 30;

/// Conjugate gradients end when the residual is this share of the gradient.
const RESIDUAL: f64 = 1e-3;

/// Maximum number of products with the Hessian for a step.
const MOST_PRODUCTS: usize = 500;

/// Maximum number of columns for which the Hessian is formed.
const MOST_COLUMNS: usize = 768;

/// Cost of conjugate gradients for a step, in operations per row and part.
const PRODUCT_COST: f64 = 100.0;

/// The objective: the mean loss of the rows, weighted by their shares, plus `ridge / 2` times the
/// sum of squared weights.
pub(super) struct Problem<'a> {
    pub(super) design: &'a Design,
    pub(super) positive: &'a [bool],
    pub(super) shares: &'a [f64],
    pub(super) ridge: f64,
    pub(super) max_iterations: usize,
    /// An iteration that would decrease the objective by less is the last.
    pub(super) tolerance: f64,
    pub(super) interrupt: &'a Interrupt,
}

/// The minimum.
pub(super) struct Solution {
    /// Weights of the columns.
    pub(super) columns: Vec<f64>,
    pub(super) intercept: f64,
    pub(super) n_iterations: usize,
    pub(super) has_converged: bool,
}

/// A point, with the score and derivatives of each row.
struct WeightPoint {
    columns: Vec<f64>,
    intercept: f64,
    scores: Vec<f64>,
    loss: f64,
    /// Derivative of the loss of a row by its score, and the second derivative.
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

/// The slope of the objective at a point.
struct Slope {
    columns: Vec<f64>,
    intercept: f64,
}

/// The second derivatives at a point.
struct Curvature {
    /// Those by each column and the intercept, and by the intercept twice.
    with_intercept: Vec<f64>,
    total: f64,
    /// The Hessian of the columns with the intercept eliminated; `None` where each step is found by
    /// conjugate gradients.
    factor: Option<Cholesky>,
}

/// A direction in the space of weights.
struct SearchDirection {
    columns: Vec<f64>,
    intercept: f64,
    /// Decrease of the objective predicted by its derivatives.
    decrease: f64,
}

impl Problem<'_> {
    /// Solves the problem, from a point if one is given: weights of the first columns, and an
    /// intercept.
    pub(super) fn solve(&self, from: Option<(&[f64], f64)>) -> Result<Solution, RankError> {
        let mut columns = vec![0.0; self.design.n_columns()];
        let intercept = if let Some((first, intercept)) = from {
            columns[..first.len()].copy_from_slice(first);
            intercept
        } else {
            let prevalence: f64 = self.rows(1).map(|row| self.positive_share(row)).sum();
            libm::log(prevalence / (1.0 - prevalence))
        };
        let mut solution = Solution { columns, intercept, n_iterations: 0, has_converged: false };
        if from.is_none() && self.design.n_blocks() >= SAMPLED_FROM {
            self.descend(&mut solution, SAMPLE_STRIDE, SAMPLE_TOLERANCE)?;
        }
        if solution.n_iterations < self.max_iterations {
            self.descend(&mut solution, 1, self.tolerance)?;
        }
        Ok(solution)
    }

    fn positive_share(&self, row: usize) -> f64 {
        if self.positive[row] { self.shares[row] } else { 0.0 }
    }

    /// The rows of every `stride`-th block.
    fn rows(&self, stride: usize) -> impl Iterator<Item = usize> {
        let blocks = (0..self.design.n_blocks()).step_by(stride);
        blocks.flat_map(|block| self.design.block(block).rows())
    }

    /// Newton's method on every `stride`-th block of rows, from and to `solution`.
    fn descend(
        &self,
        solution: &mut Solution,
        stride: usize,
        tolerance: f64,
    ) -> Result<(), RankError> {
        let share: f64 = self.rows(stride).map(|row| self.shares[row]).sum();
        let of_positive: f64 = self.rows(stride).map(|row| self.positive_share(row)).sum();
        if stride > 1 && !(of_positive > 0.0 && of_positive < share) {
            return Ok(());
        }
        let sample = BlockSample { problem: self, stride, scale: share.recip() };
        let (columns, intercept) = (solution.columns.clone(), solution.intercept);
        let mut at = sample.point(columns, intercept)?;
        solution.has_converged = false;
        let (mut earlier, mut last_decrease) = (None::<Curvature>, f64::INFINITY);
        let of_earlier = (SHARE_OF_EARLIER * tolerance).max(tolerance.min(ROUNDING));
        while !solution.has_converged && solution.n_iterations < self.max_iterations {
            let slope = sample.slope(&at)?;
            let by_earlier = match earlier.take() {
                Some(curvature) if curvature.factor.is_some() => {
                    let step = sample.step(&at, &slope, &curvature)?;
                    let is_fast = step.decrease <= (SLOWEST * last_decrease).max(of_earlier);
                    is_fast.then_some((curvature, step))
                }
                _ => None,
            };
            let is_by_earlier = by_earlier.is_some();
            let (curvature, step) = if let Some(found) = by_earlier {
                found
            } else {
                let curvature = sample.curvature(&at)?;
                let step = sample.step(&at, &slope, &curvature)?;
                (curvature, step)
            };
            let least = if is_by_earlier { of_earlier } else { tolerance };
            solution.has_converged = step.decrease <= least;
            let is_better = sample.go(&mut at, &step)?;
            // A direction of the Hessian here would go on.
            solution.has_converged |= !is_better && !is_by_earlier;
            last_decrease = step.decrease;
            earlier = is_better.then_some(curvature);
            solution.n_iterations += 1;
            let goes_on = self.interrupt.part_done(&FitPart {
                unit: "iteration",
                number: solution.n_iterations,
                most: Some(self.max_iterations),
                figures: &[("log_loss", Some(at.loss))],
            })?;
            if !goes_on {
                break;
            }
        }
        (solution.columns, solution.intercept) = (at.columns, at.intercept);
        Ok(())
    }
}

/// The problem on some of the blocks.
struct BlockSample<'a> {
    problem: &'a Problem<'a>,
    stride: usize,
    /// Inverse of the share of the rows.
    scale: f64,
}

/// A group of blocks, with the places of its rows in some vectors.
struct BlockGroup<'a, const N: usize> {
    blocks: Vec<usize>,
    /// The first row of the places.
    start: usize,
    places: [&'a mut [f64]; N],
}

impl BlockSample<'_> {
    /// Numbers of the blocks of each group.
    fn groups(&self) -> Vec<Vec<usize>> {
        let blocks: Vec<usize> = (0..self.problem.design.n_blocks()).step_by(self.stride).collect();
        blocks.chunks(blocks.len().div_ceil(N_GROUPS).max(1)).map(<[usize]>::to_vec).collect()
    }

    /// The groups, each with its part of vectors that have a place for every row.
    fn places<'b, const N: usize>(&self, mut rest: [&'b mut [f64]; N]) -> Vec<BlockGroup<'b, N>> {
        let groups = self.groups();
        let design = self.problem.design;
        let starts: Vec<usize> = groups.iter().map(|group| design.block(group[0]).start).collect();
        let ends: Vec<usize> = starts.iter().skip(1).copied().chain([design.n_rows()]).collect();
        let of_group = |(blocks, (start, end)): (Vec<usize>, (usize, usize))| {
            let places = rest.each_mut().map(|rest| {
                let (here, after) = std::mem::take(rest).split_at_mut(end - start);
                *rest = after;
                here
            });
            BlockGroup { blocks, start, places }
        };
        groups.into_iter().zip(starts.into_iter().zip(ends)).map(of_group).collect()
    }

    fn point(&self, columns: Vec<f64>, intercept: f64) -> Result<WeightPoint, RankError> {
        let n_rows = self.problem.design.n_rows();
        let scores = self.scores(&columns, intercept)?;
        let (slopes, curvatures) = (vec![0.0; n_rows], vec![0.0; n_rows]);
        let mut point = WeightPoint { columns, intercept, scores, loss: 0.0, slopes, curvatures };
        self.look(&mut point)?;
        Ok(point)
    }

    /// The scores of the rows; 0 for those of other blocks.
    fn scores(&self, columns: &[f64], intercept: f64) -> Result<Vec<f64>, RankError> {
        let design = self.problem.design;
        let cells = design.to_cells(columns);
        let mut scores = vec![0.0; design.n_rows()];
        let of_group = |BlockGroup { blocks, start, places: [scores] }: BlockGroup<'_, 1>| {
            self.problem.interrupt.check()?;
            for block in blocks {
                let block = design.block(block);
                let scores = &mut scores[block.start - start..][..block.n_rows];
                scores.fill(intercept);
                add_scores(design, &block, &cells, scores);
            }
            Ok(())
        };
        parallel::try_map(self.places([&mut scores]), of_group)?;
        Ok(scores)
    }

    /// Computes the loss and its derivatives from the scores.
    fn look(&self, point: &mut WeightPoint) -> Result<(), RankError> {
        let Problem { design, positive, shares, ridge, interrupt, .. } = self.problem;
        let of_group = |group: BlockGroup<'_, 3>| {
            interrupt.check()?;
            let BlockGroup { blocks, start, places: [scores, slopes, curvatures] } = group;
            let mut sum = 0.0;
            for block in blocks {
                for row in design.block(block).rows() {
                    let place = row - start;
                    let share = self.scale * shares[row];
                    let score = scores[place];
                    // exp(-|score|) does not overflow.
                    let odds = libm::exp(-score.abs());
                    let (rarer, other) = (odds / (1.0 + odds), 1.0 / (1.0 + odds));
                    let probability = if score > 0.0 { other } else { rarer };
                    let of_class = if positive[row] { -score } else { score };
                    sum += share * (of_class.max(0.0) + libm::log1p(odds));
                    let label = if positive[row] { 1.0 } else { 0.0 };
                    slopes[place] = share * (probability - label);
                    curvatures[place] = share * rarer * other;
                }
            }
            Ok(sum)
        };
        let WeightPoint { columns, scores, slopes, curvatures, .. } = point;
        let places = self.places([scores, slopes, curvatures]);
        let sums = parallel::try_map(places, of_group)?;
        let loss: f64 = sums.iter().sum();
        point.loss = loss + 0.5 * ridge * dot(columns, columns);
        Ok(())
    }

    /// Takes a step as far as the objective decreases; returns whether it does, beyond rounding.
    fn go(&self, at: &mut WeightPoint, step: &SearchDirection) -> Result<bool, RankError> {
        let direction = self.scores(&step.columns, step.intercept)?;
        let n_rows = direction.len();
        let mut next = WeightPoint {
            columns: Vec::new(),
            intercept: 0.0,
            scores: Vec::new(),
            loss: 0.0,
            slopes: vec![0.0; n_rows],
            curvatures: vec![0.0; n_rows],
        };
        let along = |from: &[f64], step: &[f64], length: f64| -> Vec<f64> {
            from.iter().zip(step).map(|(from, step)| from + length * step).collect()
        };
        let mut length = 1.0;
        for _ in 0..MOST_HALVINGS {
            next.columns = along(&at.columns, &step.columns, length);
            next.intercept = at.intercept + length * step.intercept;
            // The scores of the direction are known: a shorter step costs a pass over the scores,
            // not over the columns.
            next.scores = along(&at.scores, &direction, length);
            self.look(&mut next)?;
            // The derivatives predict twice the decrease of the whole step.
            let rounding = 4.0 * f64::EPSILON * at.loss;
            if next.loss <= at.loss - 2.0 * LEAST_DECREASE * length * step.decrease + rounding {
                let gain = at.loss - next.loss;
                *at = next;
                return Ok(gain > rounding);
            }
            length /= 2.0;
        }
        Ok(false)
    }

    /// The slope of the objective at a point.
    fn slope(&self, at: &WeightPoint) -> Result<Slope, RankError> {
        let Problem { design, ridge, .. } = self.problem;
        let (of_cells, intercept) = self.gradient(&at.slopes)?;
        let mut columns = design.to_columns(&of_cells);
        columns.iter_mut().zip(&at.columns).for_each(|(slope, weight)| *slope += ridge * weight);
        Ok(Slope { columns, intercept })
    }

    /// The second derivatives at a point.
    fn curvature(&self, at: &WeightPoint) -> Result<Curvature, RankError> {
        let Problem { design, ridge, .. } = self.problem;
        // At the intercept the curvature is that of all rows.
        let (of_cells, total) = self.gradient(&at.curvatures)?;
        let total = total.max(f64::MIN_POSITIVE);
        let with_intercept = design.to_columns(&of_cells);
        let size = design.n_parts() as f64;
        let n_rows = (design.n_rows() / self.stride) as f64;
        let n_columns = design.n_columns() as f64;
        let direct = n_rows * size * size / 2.0 + n_columns.powi(3) / 6.0;
        let is_small = design.n_columns() <= MOST_COLUMNS;
        let factor = if is_small && direct < PRODUCT_COST * n_rows * size {
            // The intercept eliminated: the rows are centred by their curvature.
            let mut lower = self.hessian(&at.curvatures)?;
            for (i, row) in lower.iter_mut().enumerate() {
                for (entry, with) in row.iter_mut().zip(&with_intercept) {
                    *entry -= with_intercept[i] * with / total;
                }
                row[i] = row[i].max(0.0) + ridge;
            }
            Some(Cholesky::of(lower))
        } else {
            None
        };
        Ok(Curvature { with_intercept, total, factor })
    }

    /// The Newton step from a point, by its curvature or that of an earlier point.
    fn step(
        &self,
        at: &WeightPoint,
        slope: &Slope,
        curvature: &Curvature,
    ) -> Result<SearchDirection, RankError> {
        let Curvature { with_intercept, total, factor } = curvature;
        let right: Vec<f64> = slope
            .columns
            .iter()
            .zip(with_intercept)
            .map(|(of_column, with)| with * slope.intercept / total - of_column)
            .collect();
        let columns = if let Some(factor) = factor {
            let mut columns = right;
            factor.solve(&mut columns);
            columns
        } else {
            Centred { sample: self, at, with_intercept, total: *total }.solve(right)?
        };
        let intercept = -(slope.intercept + dot(with_intercept, &columns)) / total;
        let decrease = -0.5 * (dot(&slope.columns, &columns) + slope.intercept * intercept);
        Ok(SearchDirection { columns, intercept, decrease })
    }

    /// Sums of numbers of the rows by cell, and over all rows.
    fn gradient(&self, of_rows: &[f64]) -> Result<(Vec<f64>, f64), RankError> {
        let design = self.problem.design;
        let of_group = |blocks: Vec<usize>| {
            self.problem.interrupt.check()?;
            let (mut sums, mut total) = (vec![0.0; design.n_cells()], 0.0);
            for block in blocks {
                let block = design.block(block);
                let of_rows = &of_rows[block.rows()];
                add_sums(design, &block, of_rows, &mut sums);
                total += of_rows.iter().sum::<f64>();
            }
            Ok((sums, total))
        };
        let parts = parallel::try_map(self.groups(), of_group)?;
        let (mut sums, mut total) = (vec![0.0; design.n_cells()], 0.0);
        for (part, of_all) in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            total += of_all;
        }
        Ok((sums, total))
    }

    /// Lower triangle of the Hessian of the mean loss, without the intercept.
    fn hessian(&self, curvatures: &[f64]) -> Result<Vec<Vec<f64>>, RankError> {
        let design = self.problem.design;
        let size = design.n_cells();
        let of_group = |blocks: Vec<usize>| {
            let mut products = Products::new(design);
            for block in blocks {
                self.problem.interrupt.check()?;
                let block = design.block(block);
                products.add(&block, &curvatures[block.rows()]);
            }
            Ok(products.sums)
        };
        let parts = parallel::try_map(self.groups(), of_group)?;
        let mut of_cells = vec![0.0; size * size];
        for part in parts {
            of_cells.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        // Only the part below the diagonal was summed.
        for row in 0..size {
            for column in 0..row {
                of_cells[column * size + row] = of_cells[row * size + column];
            }
        }
        let half: Vec<Vec<f64>> =
            of_cells.chunks_exact(size.max(1)).map(|row| design.to_columns(row)).collect();
        let lower = (0..design.n_columns()).map(|column| {
            let cells: Vec<f64> = half.iter().map(|row| row[column]).collect();
            let mut row = design.to_columns(&cells);
            row.truncate(column + 1);
            row
        });
        Ok(lower.collect())
    }
}

/// Adds the weighted parts of some rows to their scores.
fn add_scores(design: &Design, block: &DesignBlock<'_>, cells: &[f64], scores: &mut [f64]) {
    for (place, weight) in (0..design.numbers.len()).zip(cells) {
        let weight = weight * UNIT;
        for (score, &value) in scores.iter_mut().zip(block.number(place)) {
            *score += weight * f64::from(value);
        }
    }
    for (place, table) in design.tables.iter().enumerate() {
        let cells = &cells[table.cells()];
        for (score, &cell) in scores.iter_mut().zip(block.table(place)) {
            *score += cells[usize::from(cell)];
        }
    }
}

/// Adds numbers of some rows to sums by cell: the transpose of [`add_scores`].
fn add_sums(design: &Design, block: &DesignBlock<'_>, of_rows: &[f64], sums: &mut [f64]) {
    for (place, sum) in sums[..design.numbers.len()].iter_mut().enumerate() {
        *sum += UNIT * dot_units(of_rows, block.number(place));
    }
    for (place, table) in design.tables.iter().enumerate() {
        let sums = &mut sums[table.cells()];
        for (number, &cell) in of_rows.iter().zip(block.table(place)) {
            sums[usize::from(cell)] += number;
        }
    }
}

/// As [`dot`], of numbers and standardised values in units.
fn dot_units(a: &[f64], b: &[i32]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a.remainder().iter().zip(b.remainder()).map(|(a, &b)| a * f64::from(b)).sum::<f64>();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * f64::from(b[lane]);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// Sums of products of two parts by their cells, weighted by curvatures, below the diagonal.
struct Products<'a> {
    design: &'a Design,
    sums: Vec<f64>,
    /// The numbers of a block, and their products with the curvatures.
    values: Vec<Vec<f64>>,
    weighted: Vec<Vec<f64>>,
}

impl<'a> Products<'a> {
    fn new(design: &'a Design) -> Self {
        let n_numbers = design.numbers.len();
        let sums = vec![0.0; design.n_cells() * design.n_cells()];
        Self { design, sums, values: vec![vec![]; n_numbers], weighted: vec![vec![]; n_numbers] }
    }

    fn add(&mut self, block: &DesignBlock<'_>, curvatures: &[f64]) {
        let size = self.design.n_cells();
        for (place, (values, weighted)) in
            self.values.iter_mut().zip(&mut self.weighted).enumerate()
        {
            values.clear();
            values.extend(block.number(place).iter().map(|&value| UNIT * f64::from(value)));
            weighted.clear();
            weighted.extend(values.iter().zip(curvatures).map(|(value, weight)| value * weight));
        }
        for (row, weighted) in self.weighted.iter().enumerate() {
            for (column, values) in self.values[..=row].iter().enumerate() {
                self.sums[row * size + column] += dot(weighted, values);
            }
        }
        for (place, table) in self.design.tables.iter().enumerate() {
            let first = table.cells().start;
            let cells = block.table(place);
            for (number, weighted) in self.weighted.iter().enumerate() {
                for (&cell, product) in cells.iter().zip(weighted) {
                    self.sums[(first + usize::from(cell)) * size + number] += product;
                }
            }
            for (other, of_other) in self.design.tables[..place].iter().enumerate() {
                let column = of_other.cells().start;
                let others = block.table(other);
                for ((&cell, &other), weight) in cells.iter().zip(others).zip(curvatures) {
                    let row = first + usize::from(cell);
                    self.sums[row * size + column + usize::from(other)] += weight;
                }
            }
            for (&cell, weight) in cells.iter().zip(curvatures) {
                let row = first + usize::from(cell);
                self.sums[row * size + row] += weight;
            }
        }
    }
}

/// The Hessian with the intercept eliminated: `A - b b' / c`, plus the ridge.
struct Centred<'a> {
    sample: &'a BlockSample<'a>,
    at: &'a WeightPoint,
    with_intercept: &'a [f64],
    total: f64,
}

impl Centred<'_> {
    /// Solves the system by conjugate gradients.
    fn solve(&self, mut residual: Vec<f64>) -> Result<Vec<f64>, RankError> {
        let blocks = self.blocks()?;
        let mut found = vec![0.0; residual.len()];
        let mut scaled = precondition(&blocks, &residual);
        let mut product = dot(&residual, &scaled);
        let least = RESIDUAL * RESIDUAL * product;
        let mut direction = scaled.clone();
        for _ in 0..MOST_PRODUCTS {
            if product <= least || product <= 0.0 {
                break;
            }
            let turned = self.times(&direction)?;
            let length = product / dot(&direction, &turned);
            if !length.is_finite() {
                break;
            }
            found.iter_mut().zip(&direction).for_each(|(x, step)| *x += length * step);
            residual.iter_mut().zip(&turned).for_each(|(x, step)| *x -= length * step);
            scaled = precondition(&blocks, &residual);
            let before = std::mem::replace(&mut product, dot(&residual, &scaled));
            let share = product / before;
            direction.iter_mut().zip(&scaled).for_each(|(x, new)| *x = new + share * *x);
        }
        Ok(found)
    }

    /// The product with a vector.
    fn times(&self, columns: &[f64]) -> Result<Vec<f64>, RankError> {
        let BlockSample { problem: Problem { design, ridge, .. }, .. } = self.sample;
        let cells = design.to_cells(columns);
        let of_group = |blocks: Vec<usize>| {
            self.sample.problem.interrupt.check()?;
            let (mut sums, mut scores) = (vec![0.0; design.n_cells()], Vec::new());
            for block in blocks {
                let block = design.block(block);
                scores.clear();
                scores.resize(block.n_rows, 0.0);
                add_scores(design, &block, &cells, &mut scores);
                let curvatures = &self.at.curvatures[block.rows()];
                scores.iter_mut().zip(curvatures).for_each(|(score, weight)| *score *= weight);
                add_sums(design, &block, &scores, &mut sums);
            }
            Ok(sums)
        };
        let parts = parallel::try_map(self.sample.groups(), of_group)?;
        let mut sums = vec![0.0; design.n_cells()];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        let mut product = design.to_columns(&sums);
        let of_intercept = dot(self.with_intercept, columns) / self.total;
        for ((product, with), weight) in product.iter_mut().zip(self.with_intercept).zip(columns) {
            *product += ridge * weight - with * of_intercept;
        }
        Ok(product)
    }

    /// The blocks of single features, factorised, each with its columns.
    fn blocks(&self) -> Result<Vec<(Vec<usize>, Cholesky)>, RankError> {
        let BlockSample { problem: Problem { design, ridge, interrupt, .. }, .. } = *self.sample;
        let of_feature = |parts: FeatureParts| {
            interrupt.check()?;
            let columns = design.columns_of(parts);
            let within = self.within(parts, &columns);
            let with: Vec<f64> =
                columns.iter().map(|&column| self.with_intercept[column]).collect();
            let lower = within.into_iter().enumerate().map(|(i, mut row)| {
                for (entry, with_j) in row.iter_mut().zip(&with) {
                    *entry -= with[i] * with_j / self.total;
                }
                row[i] = row[i].max(0.0) + ridge;
                row
            });
            Ok((columns, Cholesky::of(lower.collect())))
        };
        parallel::try_map(design.features(), of_feature)
    }

    /// Lower triangle of the Hessian among the columns of one feature.
    fn within(&self, parts: FeatureParts, columns: &[usize]) -> Vec<Vec<f64>> {
        let FeatureParts { number, table } = parts;
        let design = self.sample.problem.design;
        let n_cells = table.map_or(0, |table| design.tables[table].cells().len());
        // Sums of the squared number, and for each cell of the curvature and of curvature times
        // number.
        let (mut squares, mut masses) = (0.0, vec![[0.0; 2]; n_cells]);
        for block in self.sample.groups().into_iter().flatten() {
            let block = design.block(block);
            let curvatures = &self.at.curvatures[block.rows()];
            for (place, &weight) in curvatures.iter().enumerate() {
                let value = number.map_or(0.0, |n| UNIT * f64::from(block.number(n)[place]));
                squares += weight * value * value;
                if let Some(table) = table {
                    let mass = &mut masses[usize::from(block.table(table)[place])];
                    mass[0] += weight;
                    mass[1] += weight * value;
                }
            }
        }
        let mut rows: Vec<Vec<f64>> = number.map(|_| vec![squares]).into_iter().collect();
        let n_numbers = rows.len();
        let Some(table) = table.map(|table| &design.tables[table]) else { return rows };
        let n_columns = columns.len() - n_numbers;
        let (mut cells, mut products) = (vec![0.0; n_cells], vec![0.0; n_columns]);
        for column in 0..n_columns {
            let mut weights = vec![0.0; n_columns];
            weights[column] = 1.0;
            table.to_cells(&weights, &mut cells);
            let with_number: f64 = cells.iter().zip(&masses).map(|(x, mass)| x * mass[1]).sum();
            cells.iter_mut().zip(&masses).for_each(|(x, mass)| *x *= mass[0]);
            table.to_columns(&cells, &mut products);
            let with_number = std::iter::repeat_n(with_number, n_numbers);
            rows.push(with_number.chain(products[..=column].iter().copied()).collect());
        }
        rows
    }
}

/// Solves the systems of all blocks.
fn precondition(blocks: &[(Vec<usize>, Cholesky)], residual: &[f64]) -> Vec<f64> {
    let mut found = vec![0.0; residual.len()];
    for (columns, factor) in blocks {
        let mut part: Vec<f64> = columns.iter().map(|&column| residual[column]).collect();
        factor.solve(&mut part);
        columns.iter().zip(part).for_each(|(&column, value)| found[column] = value);
    }
    found
}

/// Number of partial sums of a dot product.
const LANES: usize = 8;

/// Minimum remaining share of a diagonal entry: rounding may cancel the rest.
const LEAST_PIVOT: f64 = 1e-13;

/// The factor `L` of `A = L L'`, by the rows of its lower triangle.
#[derive(Debug)]
pub(super) struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    /// Factorises a matrix, given by the rows of its lower triangle, whose diagonal is positive.
    pub(super) fn of(mut lower: Vec<Vec<f64>>) -> Self {
        for j in 0..lower.len() {
            let (above, rest) = lower.split_at_mut(j);
            let row = &mut rest[0];
            for (k, of_k) in above.iter().enumerate() {
                row[k] = (row[k] - dot(&row[..k], &of_k[..k])) / of_k[k];
            }
            let least = LEAST_PIVOT * row[j];
            row[j] = (row[j] - dot(&row[..j], &row[..j])).max(least).sqrt();
        }
        Self(lower)
    }

    /// Solves `A x = b` in place.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let Self(lower) = self;
        for (j, row) in lower.iter().enumerate() {
            b[j] = (b[j] - dot(&row[..j], &b[..j])) / row[j];
        }
        for (j, row) in lower.iter().enumerate().rev() {
            b[j] /= row[j];
            let found = b[j];
            b[..j].iter_mut().zip(row).for_each(|(b, entry)| *b -= found * entry);
        }
    }
}

/// Dot product, summed in an order that depends on the length only.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::additive::linear::design::DistinctRows;
    use crate::data::{Column, Columns, Labels, MISSING_CODE, mix};

    const N_ROWS: usize = 3000;

    /// A number with gaps, another one, and categories, one of them rare.
    fn raw() -> (Vec<f64>, Vec<f64>, Vec<u32>, Vec<bool>) {
        let draw = |i: usize| (mix(i as u64) >> 11) as f64 / 2_f64.powi(53);
        let a: Vec<f64> =
            (0..N_ROWS).map(|i| if i % 11 == 0 { f64::NAN } else { draw(i).ln() }).collect();
        let b: Vec<f64> = (0..N_ROWS).map(|i| (10.0 * draw(i + N_ROWS)).floor()).collect();
        let codes: Vec<u32> = (0..N_ROWS as u32)
            .map(|i| {
                if i < 3 {
                    3
                } else if i % 13 == 0 {
                    MISSING_CODE
                } else {
                    i % 3
                }
            })
            .collect();
        let positive = (0..N_ROWS)
            .map(|i| {
                let level = if codes[i] == 1 { 0.3 } else { 0.0 };
                draw(i + 2 * N_ROWS) < 0.1 + level + 0.05 * b[i]
            })
            .collect();
        (a, b, codes, positive)
    }

    fn with_problem(n_thresholds: usize, test: impl Fn(&Problem<'_>)) {
        let (a, b, codes, positive) = raw();
        let codes = Column::Codes { codes: &codes, n_levels: 4 };
        let columns = vec![a.as_slice().into(), b.as_slice().into(), codes];
        let columns = Columns::new(columns, N_ROWS).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let interrupt = Interrupt::default();
        let rows = DistinctRows::of(&columns, &labels, &interrupt).unwrap();
        let n_with_lines = columns.n_features();
        let design =
            Design::new(&columns, &labels, &rows, n_thresholds, n_with_lines, &interrupt).unwrap();
        let shares = rows.shares();
        test(&Problem {
            design: &design,
            positive: &rows.positive,
            shares: &shares,
            ridge: 1e-3,
            max_iterations: 50,
            tolerance: 1e-14,
            interrupt: &interrupt,
        });
    }

    /// The matrix in full: for each row its columns.
    fn matrix(design: &Design) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; design.n_columns()]; design.n_rows()];
        for column in 0..design.n_columns() {
            let mut weights = vec![0.0; design.n_columns()];
            weights[column] = 1.0;
            let cells = design.to_cells(&weights);
            for block in (0..design.n_blocks()).map(|block| design.block(block)) {
                let mut scores = vec![0.0; block.n_rows];
                add_scores(design, &block, &cells, &mut scores);
                for (row, score) in block.rows().zip(scores) {
                    rows[row][column] = score;
                }
            }
        }
        rows
    }

    /// Slopes of the objective by the weights and the intercept, by their definition.
    fn slopes(problem: &Problem<'_>, columns: &[f64], intercept: f64) -> Vec<f64> {
        let mut slopes: Vec<f64> = columns.iter().map(|weight| problem.ridge * weight).collect();
        slopes.push(0.0);
        for (i, row) in matrix(problem.design).iter().enumerate() {
            let score: f64 = row.iter().zip(columns).map(|(x, weight)| x * weight).sum();
            let probability = 1.0 / (1.0 + (-score - intercept).exp());
            let label = if problem.positive[i] { 1.0 } else { 0.0 };
            let slope = problem.shares[i] * (probability - label);
            for (sum, x) in slopes.iter_mut().zip(row.iter().chain([&1.0])) {
                *sum += slope * x;
            }
        }
        slopes
    }

    #[test]
    fn the_objective_has_zero_gradient_at_the_solution() {
        for n_thresholds in [0, 4, 24] {
            with_problem(n_thresholds, |problem| {
                let found = problem.solve(None).unwrap();
                assert!(found.has_converged && found.n_iterations < 12);
                for slope in slopes(problem, &found.columns, found.intercept) {
                    assert!(slope.abs() < 1e-9, "{slope}");
                }
            });
        }
    }

    #[test]
    fn without_a_tolerance_the_fit_ends_at_rounding_errors() {
        with_problem(4, |problem| {
            let endless = Problem { tolerance: 0.0, max_iterations: usize::MAX, ..*problem };
            let found = endless.solve(None).unwrap();
            assert!(found.has_converged && found.n_iterations < 20);
        });
    }

    #[test]
    fn sums_by_cell_are_the_products_of_the_matrix() {
        with_problem(4, |problem| {
            let design = problem.design;
            let sample = BlockSample { problem, stride: 1, scale: 1.0 };
            let columns: Vec<f64> =
                (0..design.n_columns()).map(|column| (column as f64).sin()).collect();
            let at = sample.point(columns.clone(), -0.5).unwrap();
            let matrix = matrix(design);
            let (with, total) = sample.gradient(&at.curvatures).unwrap();
            let with = design.to_columns(&with);
            let hessian = sample.hessian(&at.curvatures).unwrap();
            let plain = |j: usize, k: usize| -> f64 {
                let rows = matrix.iter().zip(&at.curvatures);
                rows.map(|(row, weight)| weight * row[j] * row[k]).sum()
            };
            for (j, row) in hessian.iter().enumerate() {
                for (k, &entry) in row.iter().enumerate() {
                    assert!((entry - plain(j, k)).abs() < 1e-12, "{j} {k}");
                }
            }
            let system = Centred { sample: &sample, at: &at, with_intercept: &with, total };
            let product = system.times(&columns).unwrap();
            for (j, found) in product.into_iter().enumerate() {
                let expected: f64 = (0..columns.len())
                    .map(|k| (plain(j, k) - with[j] * with[k] / total) * columns[k])
                    .sum();
                assert!((found - expected - problem.ridge * columns[j]).abs() < 1e-12);
            }
            for parts in design.features() {
                let of_feature = design.columns_of(parts);
                for (i, row) in system.within(parts, &of_feature).iter().enumerate() {
                    for (k, &entry) in row.iter().enumerate() {
                        let expected = plain(of_feature[i], of_feature[k]);
                        assert!((entry - expected).abs() < 1e-12, "{i} {k}");
                    }
                }
            }
        });
    }

    #[test]
    fn conjugate_gradients_approximate_the_solution_of_the_system() {
        with_problem(24, |problem| {
            let sample = BlockSample { problem, stride: 1, scale: 1.0 };
            let n_columns = problem.design.n_columns();
            let at = sample.point(vec![0.0; n_columns], 0.0).unwrap();
            let (with, total) = sample.gradient(&at.curvatures).unwrap();
            let with = problem.design.to_columns(&with);
            let system = Centred { sample: &sample, at: &at, with_intercept: &with, total };
            let right: Vec<f64> = (0..n_columns).map(|column| (column as f64).cos()).collect();
            let found = system.solve(right.clone()).unwrap();
            let product = system.times(&found).unwrap();
            let norm = |vector: &[f64]| dot(vector, vector).sqrt();
            let rest: Vec<f64> = product.iter().zip(&right).map(|(a, b)| a - b).collect();
            assert!(norm(&rest) < 0.02 * norm(&right), "{} {}", norm(&rest), norm(&right));
        });
    }

    #[test]
    fn the_solution_solves_the_equations() {
        for size in [0, 1, 2, 9, 40] {
            let draw = |i: u64| (mix(i) >> 11) as f64 / 2_f64.powi(53) - 0.5;
            let factor: Vec<Vec<f64>> =
                (0..size).map(|i| (0..size).map(|j| draw(i * 97 + j)).collect()).collect();
            let entry = |i: usize, j: usize| {
                let product: f64 = factor[i].iter().zip(&factor[j]).map(|(a, b)| a * b).sum();
                product + if i == j { 0.1 } else { 0.0 }
            };
            let size = size as usize;
            let lower = (0..size).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
            let b: Vec<f64> = (0..size as u64).map(|i| draw(i + 5000)).collect();
            let mut x = b.clone();
            Cholesky::of(lower).solve(&mut x);
            for (i, expected) in b.into_iter().enumerate() {
                let found: f64 = (0..size).map(|j| entry(i, j) * x[j]).sum();
                assert!((found - expected).abs() < 1e-10, "{found} {expected}");
            }
        }
    }
}
