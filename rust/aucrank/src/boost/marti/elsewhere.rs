//! Fits of programs to rows elsewhere, which are queried for sums.

use std::sync::Arc;

use super::ask::{
    AskProgram, CodedScore, NarrowSums, NodeHashes, NodeSamples, ProgramAnswer, ProgramWant,
    SampleOrder,
};
use super::freezing::Freezing;
use super::in_memory::CodedNode;
use super::marti_boost::share_of;
use super::outcome::Outcome;
use super::params::{MartiParams, ProgramScore, Routing};
use super::places::place;
use super::program::{BranchingProgram, MartiNode, NodeKind};
use super::program_fit::fit_program;
use super::program_rows::{CutLayers, ProgramRows};
use super::start::MassScale;
use super::walk::{
    Cut, Cutter, LayerRows, OpenLayer, WideSums, best_narrow, boost_layers, seed_of,
};
use crate::boost::term::Term;
use crate::boost::two_sided::TwoSided;
use crate::boost::weak::feature::{Best, BinRule};
use crate::data::{Binned, ClassMasses, ClassSums, MOST_COPIES, RowSquares, RowUnits, mix};
use crate::rows::{
    AskClassUnits, ClassUnits, FitId, NumberedRows, Question, Rows, View, largest_gap_of_ranges,
    other,
};
use crate::{Interrupt, RankError};

/// Fits a program to rows elsewhere.
pub(super) fn fit_marti_rank_rows(
    NumberedRows { rows, fit_number }: NumberedRows<'_>,
    params: &MartiParams,
    interrupt: &Interrupt,
) -> Result<BranchingProgram, RankError> {
    params.validate()?;
    let refuse = |name, value: &str, rule| {
        Err(RankError::BadParameter { name, value: value.to_owned(), rule })
    };
    let Some(rule) = params.weak_ranker.bin_rule() else {
        let rule = "'feature' or 'threshold' where rows are read in parts";
        return refuse("weak_ranker", "another one", rule);
    };
    if params.routing == Routing::Sampled {
        return refuse("routing", "'sampled'", "'expected' where rows are read in parts");
    }
    let binned = rows.frame().no_rows();
    let fit = FitId::new(fit_number);
    fit_program(&ProgramElsewhere { rows, fit, binned, rule, params, interrupt }, params)
}

/// Rows elsewhere.
struct ProgramElsewhere<'a> {
    rows: &'a dyn Rows,
    fit: FitId,
    /// No rows, in the bins of all.
    binned: Binned,
    rule: BinRule,
    params: &'a MartiParams,
    interrupt: &'a Interrupt,
}

impl ProgramElsewhere<'_> {
    fn ask<Q: Question>(&self, view: &View, question: Q) -> Result<Q::Answer, RankError> {
        self.fit.ask(self.rows, view.clone(), question, self.interrupt)
    }

    fn units(&self, view: &View) -> Result<ClassUnits, RankError> {
        let found = self.ask(view, AskClassUnits)?;
        found.total().check_classes()?;
        Ok(found)
    }

    /// Conversion of the weights of the rows of a view to masses.
    fn scale(&self, units: &ClassUnits) -> MassScale {
        let (frame, total) = (self.rows.frame(), units.total());
        if frame.counts_copies() && total.pos + total.neg <= MOST_COPIES {
            MassScale::of_copies(total)
        } else {
            let [neg, pos] = units.largest;
            MassScale::of_fractions(frame.n_rows(), neg.max(pos))
        }
    }

    /// The questions about scores of a program.
    fn scored(
        &self,
        program: &BranchingProgram,
        want: impl Fn(CodedScore) -> ProgramWant,
    ) -> AskProgram {
        let node = |(layer, index, node): (usize, usize, &MartiNode)| match &node.kind {
            NodeKind::Ranker { term: Term::Feature(term), .. } => {
                CodedNode::of_term(term, self.binned.features())
            }
            NodeKind::Ranker { .. } => unreachable!("rankers are of single features"),
            NodeKind::Coin => CodedNode::Coin,
            _ => CodedNode::End(program.worth(layer, index, node)),
        };
        let score = CodedScore { row_bits: program.row_bits, score: program.score };
        let nodes = Arc::new(program.nodes().map(node).collect());
        AskProgram { scale: MassScale::Copies(0), nodes, want: want(score) }
    }
}

impl ProgramRows for ProgramElsewhere<'_> {
    type Subset = View;

    fn all(&self) -> View {
        View::All
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[View; 2]>, RankError> {
        self.fit.hold_out(self.rows, share, seed, self.interrupt)
    }

    fn total(&self, view: &View) -> Result<ClassSums, RankError> {
        Ok(self.units(view)?.total())
    }

    fn layers(&self, view: &View, noise_rate: f64) -> Result<CutLayers, RankError> {
        let units = self.units(view)?;
        let scale = self.scale(&units);
        let (row_bits, exponent) = scale.row_bits(self.rows.frame().exponent());
        let freezing = Freezing::of(self.params, noise_rate);
        let mut layers = QueriedLayers {
            rows: self,
            view,
            scale,
            class_rows: units.rows.map(|rows| rows as f64),
            cutter: Cutter::new(self.params.criterion, noise_rate),
            sent: Arc::default(),
            found: None,
        };
        let nodes = boost_layers(&mut layers, self.params.n_rounds, &freezing, self.interrupt)?;
        Ok(CutLayers { nodes, row_bits, exponent })
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.rows.frame().n_levels()
    }

    fn threshold(&self, program: &BranchingProgram) -> Result<f64, RankError> {
        let total = self.units(&View::All)?.total();
        let highest = match program.score {
            ProgramScore::Votes => program.n_rounds as f64,
            ProgramScore::Sign | ProgramScore::NodeRate => 1.0,
        };
        largest_gap_of_ranges(total, (0.0, highest), |edges| {
            let want = |score| ProgramWant::Ranges { score, edges: edges.clone() };
            match self.ask(&View::All, self.scored(program, want))? {
                ProgramAnswer::Ranges(ranges) => Ok(ranges),
                _ => Err(other()),
            }
        })
    }

    fn auc(&self, program: &BranchingProgram, view: &View) -> Result<f64, RankError> {
        let ask = self.scored(program, ProgramWant::Scores);
        match self.ask(view, ask)? {
            ProgramAnswer::Scores(found) => found.auc_up_to(1.0, self.rows.frame().exponent()),
            _ => Err(other()),
        }
    }
}

/// The class that has no mass at the root.
fn without_mass(root: ClassMasses) -> Option<&'static str> {
    match (root.pos, root.neg) {
        (0, _) => Some("positive"),
        (_, 0) => Some("negative"),
        _ => None,
    }
}

/// The layers of a program for which rows elsewhere are queried.
struct QueriedLayers<'a> {
    rows: &'a ProgramElsewhere<'a>,
    view: &'a View,
    scale: MassScale,
    class_rows: [f64; 2],
    cutter: Cutter,
    /// The layers so far.
    sent: Arc<Vec<CodedNode>>,
    /// Answers of the rows to the last step.
    found: Option<NodeFindings>,
}

/// Sums from which nodes learn.
struct NodeFindings {
    sums: NarrowSums,
    /// The samples of the nodes, if they learn from samples.
    samples: Option<Arc<NodeSamples>>,
}

impl QueriedLayers<'_> {
    fn ask(&self, want: ProgramWant) -> Result<ProgramAnswer, RankError> {
        let ask = AskProgram { scale: self.scale, nodes: Arc::clone(&self.sent), want };
        self.rows.ask(self.view, ask)
    }

    /// The samples of the nodes of a layer.
    fn samples(&self, layer: usize, size: usize) -> Result<NodeSamples, RankError> {
        let seed = self.rows.params.seed;
        let from = (0..layer).map(|node| seed_of(seed, layer, node)).collect();
        let order = SampleOrder { seed: mix(seed), from };
        let want = ProgramWant::Least { from: order.clone(), size };
        let ProgramAnswer::Least { nodes: least, .. } = self.ask(want)? else {
            return Err(other());
        };
        let reaches = |which: usize| {
            let of_node = |hashes: &NodeHashes| {
                [0, 1].map(|class: usize| hashes[class][which].last().copied())
            };
            least.iter().map(of_node).collect()
        };
        Ok(NodeSamples { order, of_all: reaches(0), inside: reaches(1) })
    }

    /// Compares wide features to the best one-byte features of the open nodes.
    fn best_wide(
        &self,
        best: &mut [Best],
        open: &[usize],
        units: &[Option<RowUnits>],
        samples: Option<&Arc<NodeSamples>>,
    ) -> Result<(), RankError> {
        let ProgramElsewhere { binned, rule, .. } = self.rows;
        let n_features = binned.features().len();
        for feature in (0..n_features).filter(|&feature| !binned.is_narrow(feature)) {
            let n_at_once = WideSums::n_at_once(binned.features()[feature].n_codes());
            for (open, best) in open.chunks(n_at_once).zip(best.chunks_mut(n_at_once)) {
                let (nodes, samples) = (open.to_vec(), samples.cloned());
                let want = ProgramWant::Wide { feature, nodes, samples };
                let ProgramAnswer::Wide(sums) = self.ask(want)? else { return Err(other()) };
                let units = open.iter().map(|&node| units[node].as_ref());
                sums.ask(*rule, binned, feature, best.iter_mut().zip(units));
            }
        }
        Ok(())
    }
}

impl LayerRows for QueriedLayers<'_> {
    type Classifier = (Term, TwoSided);

    fn class_rows(&self) -> [f64; 2] {
        self.class_rows
    }

    fn step(
        &mut self,
        _earlier: &[(ClassMasses, Outcome<(Term, TwoSided)>)],
        before: &[Outcome<(Term, TwoSided)>],
        learns: bool,
    ) -> Result<Vec<ClassMasses>, RankError> {
        let node = |outcome: &Outcome<(Term, TwoSided)>| match outcome {
            Outcome::Classifier((Term::Feature(term), _)) => {
                CodedNode::of_term(term, self.rows.binned.features())
            }
            Outcome::Classifier(_) => unreachable!("rankers are of single features"),
            Outcome::Coin => CodedNode::Coin,
            Outcome::Frozen { .. } | Outcome::Terminal | Outcome::Unreached => CodedNode::End(0),
        };
        let nodes: Vec<CodedNode> = before.iter().map(node).collect();
        Arc::make_mut(&mut self.sent).extend(nodes);
        debug_assert_eq!(self.sent.len(), place(before.len() + 1, 0));
        let learns = learns && self.rows.params.sample_size.is_none();
        match self.ask(ProgramWant::Layer { learns })? {
            ProgramAnswer::Layer { masses, sums } => {
                if let Some(class) = without_mass(masses[0]).filter(|_| before.is_empty()) {
                    return Err(RankError::ClassWithoutWeight { class });
                }
                self.found = sums.map(|sums| NodeFindings { sums, samples: None });
                Ok(masses)
            }
            _ => Err(other()),
        }
    }

    fn estimates(
        &mut self,
        layer: usize,
        total: ClassMasses,
        masses: &[ClassMasses],
    ) -> Result<Vec<ClassMasses>, RankError> {
        let MartiParams { sample_size: Some(size), n_rounds, .. } = *self.rows.params else {
            return Ok(masses.to_vec());
        };
        if layer > n_rounds {
            return Ok(masses.to_vec());
        }
        let samples = Arc::new(self.samples(layer, size)?);
        let answer = self.ask(ProgramWant::Sampled(Arc::clone(&samples)))?;
        let ProgramAnswer::Sampled { shares, sums } = answer else { return Err(other()) };
        self.found = Some(NodeFindings { sums, samples: Some(samples) });
        let estimate = |[here, all]: &[ClassMasses; 2]| ClassMasses {
            pos: share_of(total.pos, here.pos, all.pos),
            neg: share_of(total.neg, here.neg, all.neg),
        };
        Ok(shares.iter().map(estimate).collect())
    }

    fn learn(&mut self, layer: &OpenLayer<'_>) -> Result<Vec<Option<(Term, TwoSided)>>, RankError> {
        let NodeFindings { sums, samples } = self.found.take().expect("of the step before");
        let ProgramElsewhere { binned, rule, .. } = self.rows;
        let unit = |node: usize| sums.squares.get(node).map(RowSquares::units);
        let units: Vec<Option<RowUnits>> = (0..layer.number).map(unit).collect();
        let mut best = best_narrow(*rule, binned, &sums.histogram, layer.open, &units);
        self.best_wide(&mut best, layer.open, &units, samples.as_ref())?;
        let cut = |(best, &node): (Best, &usize)| {
            let natural = samples.as_ref().map(|_| layer.estimates[node]);
            let ranking = best.into_ranking(binned);
            let found = ranking.and_then(|ranking| self.cutter.cut(binned, ranking, natural));
            let Some(Cut { term, two_sided, .. }) = found else { return Ok(None) };
            self.cutter.spend(&term)?;
            Ok(Some((term, two_sided)))
        };
        best.into_iter().zip(layer.open).map(cut).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{ThresholdCriterion, WeakRankerParams, fit_marti_rank};
    use crate::data::{BinningParams, Labels, LevelRates};
    use crate::rows::tests::{Data, Weights, everywhere};
    use crate::rows::{Answer, Ask, words};

    fn in_memory(data: &Data, params: &MartiParams) -> BranchingProgram {
        data.with_columns(0..data.positive.len(), |columns| {
            let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
            fit_marti_rank((columns, &labels), params, None, &Interrupt::default()).unwrap()
        })
    }

    #[test]
    fn programs_are_the_same_from_memory_a_file_and_a_cluster() {
        let plain = MartiParams { n_rounds: 5, ..MartiParams::default() };
        let freezing = MartiParams {
            epsilon: Some(0.2),
            min_samples_class: 20.0,
            n_rounds: 6,
            ..plain.clone()
        };
        let sampled = MartiParams { sample_size: Some(100), n_rounds: 4, ..freezing.clone() };
        let raw = BinningParams { level_rates: LevelRates::Raw, max_bins: None, seed: 3 };
        for (name, params) in [
            ("plain", plain.clone()),
            (
                "threshold",
                MartiParams {
                    weak_ranker: WeakRankerParams::Threshold,
                    criterion: ThresholdCriterion::Error,
                    score: ProgramScore::NodeRate,
                    ..freezing.clone()
                },
            ),
            ("wide", MartiParams { binning: raw, score: ProgramScore::Sign, ..plain.clone() }),
            ("guessed", MartiParams { noise_rate: None, n_rounds: 3, ..freezing.clone() }),
            ("noisy", MartiParams { noise_rate: Some(0.1), ..freezing }),
            ("sampled", sampled.clone()),
            ("sampled and wide", MartiParams { binning: raw, ..sampled }),
        ] {
            for (weights, n_parts) in
                [(Weights::None, 3), (Weights::Whole, 7), (Weights::Fractions, 2)]
            {
                let data = Data::new(1500, weights);
                let expected = in_memory(&data, &params);
                let at = (&*format!("{name}-{weights:?}"), n_parts);
                everywhere(&data, params.binning, at, |rows| {
                    let found = fit_marti_rank((rows, 7), &params, None, &Interrupt::default());
                    assert_eq!(found.as_ref(), Ok(&expected), "{at:?}");
                });
            }
        }
    }

    #[test]
    fn an_option_that_needs_more_than_sums_is_named() {
        let data = Data::new(101, Weights::None);
        let params = MartiParams::default();
        everywhere(&data, params.binning, ("refused", 1), |rows| {
            let refused = |params: &MartiParams| {
                fit_marti_rank((rows, 0), params, None, &Interrupt::default())
                    .unwrap_err()
                    .to_string()
            };
            let linear = MartiParams { weak_ranker: WeakRankerParams::Linear, ..params.clone() };
            assert!(refused(&linear).starts_with("weak_ranker is another one, but must be"));
            let sampled = MartiParams { routing: Routing::Sampled, ..params.clone() };
            assert!(refused(&sampled).starts_with("routing is 'sampled', but must be 'expected'"));
            let noisy = MartiParams { noise_rate: Some(0.499), ..params.clone() };
            assert!(
                refused(&noisy).starts_with("noise_rate is 0.499, but must be below the share")
            );
        });
    }

    #[test]
    fn damaged_questions_and_answers_are_errors() {
        let data = Data::new(300, Weights::Fractions);
        let (fit, interrupt) = (FitId::new(0), Interrupt::default());
        everywhere(&data, BinningParams::default(), ("damaged", 2), |rows| {
            let cut = |feature, n| CodedNode::Cut { feature, runs: vec![(n, 1 << 30)] };
            let ask = |nodes: Vec<CodedNode>, want| {
                let scale = MassScale::Fractions(-10);
                let ask = AskProgram { scale, nodes: Arc::new(nodes), want };
                fit.question(View::All, ask)
            };
            let layer = || ProgramWant::Layer { learns: true };
            let n_codes = rows.frame().features()[0].n_codes() as u32;
            let good = ask(vec![cut(0, n_codes)], layer());
            let bytes = rows.pass(&good, &interrupt).unwrap().to_bytes();
            let words = words::from_bytes(&bytes).unwrap();
            let received =
                |n: usize| Answer::from_bytes(&words::to_bytes(&words[..n]), &good, rows.frame());
            assert!(received(words.len()).is_ok());
            for n in (0..words.len()).step_by(7) {
                assert!(matches!(received(n), Err(RankError::BadAnswer(_))), "{n} words");
            }
            let order = || SampleOrder { seed: 0, from: vec![0] };
            for bad in [
                ask(vec![cut(9, n_codes)], layer()),
                ask(vec![cut(0, n_codes + 1)], layer()),
                ask(vec![CodedNode::Coin; 2], layer()),
                ask(
                    vec![CodedNode::Coin],
                    ProgramWant::Wide { feature: 0, nodes: vec![2], samples: None },
                ),
                ask(
                    vec![CodedNode::Coin],
                    ProgramWant::Wide { feature: 99, nodes: vec![0], samples: None },
                ),
                ask(vec![CodedNode::Coin], ProgramWant::Least { from: order(), size: 3 }),
                ask(
                    vec![CodedNode::Coin],
                    ProgramWant::Sampled(Arc::new(NodeSamples {
                        order: order(),
                        of_all: vec![[None; 2]],
                        inside: vec![[None; 2]],
                    })),
                ),
                ask(
                    vec![CodedNode::End(1)],
                    ProgramWant::Scores(CodedScore { row_bits: 99, score: params().score }),
                ),
            ] {
                let bad = Ask::from_bytes(&bad.to_bytes()).unwrap();
                let err = rows.pass(&bad, &interrupt).unwrap_err();
                assert!(matches!(err, RankError::BadAnswer(_)), "{err}");
            }
        });
    }

    fn params() -> MartiParams {
        MartiParams::default()
    }
}
