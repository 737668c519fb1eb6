//! The loop of Basic `MartiBoost` over the layers of a program, wherever the rows are.

use super::freezing::{Freezing, Reach};
use super::learner::Outcome;
use super::program::place;
use crate::data::ClassMasses;
use crate::{Interrupt, Part, RankError};

/// Rows that go through a program, layer by layer.
pub(super) trait LayerRows {
    /// What sends rows on at a node.
    type Classifier;

    /// Number of rows of each class at the root, negatives first.
    fn class_rows(&self) -> [f64; 2];

    /// Takes the rows to the layer after `before`, whose nodes come after `earlier` ones; returns
    /// the mass of each class in each of its nodes. If it `learns`, sums are gathered as well.
    fn step(
        &mut self,
        earlier: &[(ClassMasses, Outcome<Self::Classifier>)],
        before: &[Outcome<Self::Classifier>],
        learns: bool,
    ) -> Result<Vec<ClassMasses>, RankError>;

    /// Estimates the mass of each class in each node where nodes learn from samples; `total` is
    /// the mass at the root.
    fn estimates(
        &mut self,
        layer: usize,
        total: ClassMasses,
        masses: &[ClassMasses],
    ) -> Result<Vec<ClassMasses>, RankError>;

    /// A classifier for each of the open nodes, from the sums of the last step.
    fn learn(&mut self, layer: &OpenLayer<'_>) -> Result<Vec<Option<Self::Classifier>>, RankError>;

    /// Frees what only the rows needed of a classifier whose step was the last.
    fn settle(&self, classifier: &mut Self::Classifier) {
        let _ = classifier;
    }
}

/// A layer whose open nodes learn.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenLayer<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    /// The nodes that learn, ascending.
    pub(super) open: &'a [usize],
    pub(super) masses: &'a [ClassMasses],
    pub(super) estimates: &'a [ClassMasses],
}

/// The nodes of layers, each with the mass of each class that reaches it.
pub(super) type LayerNodes<C> = Vec<(ClassMasses, Outcome<C>)>;

/// Learns all layers, and returns their nodes.
pub(super) fn boost_layers<R: LayerRows>(
    rows: &mut R,
    n_rounds: usize,
    freezing: &Freezing,
    interrupt: &Interrupt,
) -> Result<LayerNodes<R::Classifier>, RankError> {
    let class_rows = rows.class_rows();
    let mut nodes: LayerNodes<R::Classifier> = Vec::new();
    let mut before: Vec<Outcome<R::Classifier>> = Vec::new();
    let mut total = ClassMasses::default();
    for layer in 1..=n_rounds + 1 {
        let masses = rows.step(&nodes, &before, layer <= n_rounds)?;
        for (node, outcome) in (place(layer, 0) - before.len()..).zip(&mut before) {
            if let Outcome::Classifier(classifier) = outcome {
                rows.settle(classifier);
            }
            nodes[node].1 = std::mem::replace(outcome, Outcome::Unreached);
        }
        if layer == 1 {
            total = masses[0];
        }
        let estimates = rows.estimates(layer, total, &masses)?;
        before = masses
            .iter()
            .zip(&estimates)
            .map(|(masses, &node)| {
                if masses.pos + masses.neg == 0 {
                    return Outcome::Unreached;
                }
                if layer > n_rounds {
                    return Outcome::Terminal;
                }
                let label = freezing.label(&Reach { node, total, rows: class_rows }, n_rounds);
                label.map_or(Outcome::Coin, |positive| Outcome::Frozen { positive })
            })
            .collect();
        if layer <= n_rounds {
            let is_open = |&node: &usize| matches!(before[node], Outcome::Coin);
            let open: Vec<usize> = (0..layer).filter(is_open).collect();
            let task =
                OpenLayer { number: layer, open: &open, masses: &masses, estimates: &estimates };
            let found = rows.learn(&task)?;
            for (node, classifier) in open.into_iter().zip(found) {
                if let Some(classifier) = classifier {
                    before[node] = Outcome::Classifier(classifier);
                }
            }
        }
        nodes.extend(masses.into_iter().map(|masses| (masses, Outcome::Unreached)));
        if layer <= n_rounds {
            // The program needs all of its layers.
            let (number, most) = (layer, Some(n_rounds));
            interrupt.part_done(&Part { unit: "layer", number, most, figures: &[] })?;
        }
    }
    let last = nodes.len() - before.len();
    for (node, outcome) in nodes[last..].iter_mut().zip(before) {
        node.1 = outcome;
    }
    Ok(nodes)
}
