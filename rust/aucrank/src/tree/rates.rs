//! Trees that grow on the features and on columns of rates: in the finished tree they ask sets of
//! categories.

use std::sync::Arc;

use super::fit::TreeRankParams;
use super::model::{RankingTree, TreeFrame};
use crate::data::{Columns, Labels, RareLevels, RateColumns};
use crate::formula::Test;
use crate::{Interrupt, RankError};

impl TreeRankParams {
    /// The rare categories whose rates trees may test, for splits by stumps.
    pub(super) fn rare_levels(
        &self,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Option<RareLevels>, RankError> {
        if !self.split.rule().is_of_stumps() {
            return Ok(None);
        }
        RareLevels::find(columns, labels, self.binning.level_rates, seed, interrupt)
    }

    /// The parameters of a tree for columns of rates as well.
    pub(crate) fn with_rates(&self, rates: &RateColumns) -> Self {
        let mut params = self.clone();
        if !params.monotonic.is_empty() {
            params.monotonic.resize(rates.n_columns(), 0);
        }
        params
    }
}

impl TreeFrame {
    /// That of the tree while it grows.
    pub(super) fn with_rates(&self, rates: &RateColumns) -> Self {
        let mut frame = self.clone();
        frame.n_levels.resize(rates.n_columns(), None);
        frame.has_missing.resize(rates.n_columns(), false);
        if !frame.monotonic.is_empty() {
            frame.monotonic.resize(rates.n_columns(), 0);
        }
        frame
    }

    /// That of the finished tree.
    pub(super) fn without_rates(&self, rates: &RateColumns) -> Self {
        let mut frame = self.clone();
        frame.n_levels.truncate(rates.n_features());
        frame.has_missing.truncate(rates.n_features());
        frame.monotonic.truncate(rates.n_features());
        frame
    }
}

impl RankingTree {
    /// A finished tree as it was while it grew, if it grew with these rates.
    pub(crate) fn with_rates(mut self, rates: &RateColumns) -> Self {
        let frame = Arc::new(self.frame().with_rates(rates));
        self.change(&frame, |test| test.with_rates(rates));
        self
    }

    /// The tree in questions to features.
    pub(crate) fn without_rates(mut self, rates: &RateColumns) -> Self {
        let frame = Arc::new(self.frame().without_rates(rates));
        self.change(&frame, |test| test.without_rates(rates));
        self
    }

    /// Changes its questions and what it holds apart from its nodes.
    pub(super) fn change(
        &mut self,
        frame: &Arc<TreeFrame>,
        of_test: impl Fn(&Test) -> Option<Test>,
    ) {
        for test in self.splits_mut().flat_map(|split| split.form.tests_mut()) {
            if let Some(changed) = of_test(test) {
                *test = changed;
            }
        }
        self.set_frame(frame);
    }
}
