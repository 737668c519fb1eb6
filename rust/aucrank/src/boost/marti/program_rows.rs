//! What a program asks of rows, wherever they are.

use super::program::BranchingProgram;
use super::walk::LayerNodes;
use crate::RankError;
use crate::boost::term::Term;
use crate::boost::two_sided::TwoSided;
use crate::data::ClassSums;

/// Rows to which programs are fitted.
pub(super) trait ProgramRows {
    /// Some of the rows.
    type Subset;

    /// All of them.
    fn all(&self) -> Self::Subset;

    /// The remaining rows, and a held-out share of the rows of each class; `None` if a class has a
    /// single distinct row.
    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Self::Subset; 2]>, RankError>;

    /// Their class weights.
    fn total(&self, subset: &Self::Subset) -> Result<ClassSums, RankError>;

    /// Fits all layers to some of the rows, at a share of flipped labels.
    fn layers(&self, subset: &Self::Subset, noise_rate: f64) -> Result<CutLayers, RankError>;

    /// For each feature its number of categories, or `None` if it is numeric.
    fn n_levels(&self) -> Vec<Option<u32>>;

    /// The score of largest TPR - FPR.
    fn threshold(&self, program: &BranchingProgram) -> Result<f64, RankError>;

    /// The AUC of some of the rows.
    fn auc(&self, program: &BranchingProgram, subset: &Self::Subset) -> Result<f64, RankError>;
}

/// The layers of a program, with the classifier of each node.
pub(super) struct CutLayers {
    pub(super) nodes: LayerNodes<(Term, TwoSided)>,
    pub(super) row_bits: u32,
    pub(super) exponent: i32,
}
