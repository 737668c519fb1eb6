//! A program on codes, as it is sent to who holds the rows.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::chance::Chance;
use super::learner::{Outcome, RowChance};
use super::program::{n_layers_of, place};
use crate::RankError;
use crate::data::{Binned, FeatureBins, FeatureTerm};

/// What happens to a row of codes at a node.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum CodedNode {
    /// By its code of a feature it goes right.
    Cut {
        feature: usize,
        /// For each run of codes of one probability, how many they are, and the probability in
        /// units of 2^-31.
        runs: Vec<(u32, u32)>,
    },
    /// By a fair coin it does.
    Coin,
    /// Its way ends; what that is worth.
    End(u32),
}

impl CodedNode {
    /// The node of a function of one feature.
    pub(super) fn of_term(term: &FeatureTerm, features: &[FeatureBins]) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for value in term.values_by_code(&features[term.feature]) {
            let units = Chance::new(value).units();
            match runs.last_mut() {
                Some((n, last)) if *last == units => *n += 1,
                _ => runs.push((1, units)),
            }
        }
        Self::Cut { feature: term.feature, runs }
    }
}

/// A program that goes to work on the rows of a part.
pub(super) struct PartProgram<'a> {
    /// Layer by layer.
    nodes: Vec<Outcome<CodeChance<'a>>>,
    /// Of each node, if ways end there.
    worths: Vec<u32>,
    /// Number of layers.
    pub(super) n_layers: usize,
}

/// Probabilities by the code of a feature.
pub(super) struct CodeChance<'a> {
    binned: &'a Binned,
    feature: usize,
    of_code: Vec<Chance>,
}

impl RowChance for CodeChance<'_> {
    #[inline]
    fn chance(&self, row: usize) -> Chance {
        self.of_code[self.binned.code(row, self.feature) as usize]
    }

    fn chances(&self, rows: std::ops::Range<usize>, chances: &mut [Chance]) {
        match self.binned.narrow_codes(rows.clone(), self.feature) {
            Some(codes) => {
                for (code, chance) in codes.zip(chances) {
                    *chance = self.of_code[usize::from(code)];
                }
            }
            None => {
                for (row, chance) in rows.zip(chances) {
                    *chance = self.chance(row);
                }
            }
        }
    }
}

impl<'a> PartProgram<'a> {
    /// Reads a program of whole layers.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for one that is not of these features.
    pub(super) fn new(nodes: &[CodedNode], binned: &'a Binned) -> Result<Self, RankError> {
        let bad = |why: &str| RankError::BadAnswer(why.to_owned());
        let n_layers = n_layers_of(nodes.len());
        if place(n_layers + 1, 0) != nodes.len() {
            return Err(bad("a layer of the program is cut off"));
        }
        let outcome = |node: &CodedNode| match node {
            CodedNode::Cut { feature, runs } => {
                let bins = binned.features().get(*feature);
                let bins = bins.ok_or_else(|| bad("the program asks for another feature"))?;
                let n_codes: u64 = runs.iter().map(|&(n, _)| u64::from(n)).sum();
                if n_codes != bins.n_codes() as u64 {
                    return Err(bad("the program is of other bins"));
                }
                let mut of_code = Vec::with_capacity(bins.n_codes());
                for &(n, units) in runs {
                    let chance =
                        Chance::of_units(units).ok_or_else(|| bad("a probability above 1"))?;
                    of_code.extend(std::iter::repeat_n(chance, n as usize));
                }
                Ok(Outcome::Classifier(CodeChance { binned, feature: *feature, of_code }))
            }
            CodedNode::Coin => Ok(Outcome::Coin),
            CodedNode::End(_) => Ok(Outcome::Terminal),
        };
        let worth = |node: &CodedNode| if let CodedNode::End(worth) = node { *worth } else { 0 };
        Ok(Self {
            worths: nodes.iter().map(worth).collect(),
            nodes: nodes.iter().map(outcome).collect::<Result<_, _>>()?,
            n_layers,
        })
    }

    /// The nodes of a layer, counted from 1.
    pub(super) fn layer(&self, number: usize) -> &[Outcome<CodeChance<'a>>] {
        &self.nodes[place(number, 0)..place(number + 1, 0)]
    }

    /// What the ends of ways in a layer are worth.
    pub(super) fn worths(&self, number: usize) -> &[u32] {
        &self.worths[place(number, 0)..place(number + 1, 0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{BinningParams, Columns, Labels};
    use crate::{Interrupt, boost::MartiParams};

    #[test]
    fn programs_of_other_rows_are_errors() {
        let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
        let labels = Labels::new(&[false, true, false, true], None).unwrap();
        let params: BinningParams = MartiParams::default().binning;
        let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
        let cut = |feature, runs| CodedNode::Cut { feature, runs };
        assert!(PartProgram::new(&[cut(0, vec![(2, 5), (3, 1 << 31)])], &binned).is_ok());
        assert_eq!(PartProgram::new(&[], &binned).unwrap().n_layers, 0);
        for nodes in [
            vec![cut(1, vec![(5, 0)])],
            vec![cut(0, vec![(4, 0)])],
            vec![cut(0, vec![(u32::MAX, 0), (6, 0)])],
            vec![cut(0, vec![(5, (1 << 31) + 1)])],
            vec![CodedNode::Coin, CodedNode::Coin],
        ] {
            assert!(PartProgram::new(&nodes, &binned).is_err(), "{nodes:?}");
        }
    }
}
