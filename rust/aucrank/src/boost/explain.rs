//! Additive explanations of a boosted score whose terms each use one feature.

use super::boosted_model::BoostedModel;
use super::term::Term;
use crate::RankError;
use crate::data::Columns;

impl BoostedModel {
    /// Whether every term uses one feature, so that the score is a sum of step functions.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.terms().iter().all(|term| matches!(term, Term::Feature(_)))
    }

    /// The contributions to the score of each row, row by row, one for each feature: the value of
    /// its step function. They add up to the score plus the threshold, exactly and in any order.
    ///
    /// # Errors
    ///
    /// [`RankError::NotAdditive`] if a term uses several features; otherwise as
    /// [`BoostedModel::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        if !self.is_additive() {
            return Err(RankError::NotAdditive);
        }
        let mut of_feature = vec![None; columns.n_features()];
        for term in self.merged_terms() {
            let feature = term.feature;
            of_feature[feature] = Some(term);
        }
        let n_features = columns.n_features();
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        columns.by_tile(&mut parts, n_features, |(): &mut (), _, values, parts| {
            let rows = values.chunks(n_features).zip(parts.chunks_mut(n_features));
            for (values, parts) in rows {
                for ((part, &value), term) in parts.iter_mut().zip(values).zip(&of_feature) {
                    *part = term.as_ref().map_or(0.0, |term| term.value(value));
                }
            }
        })?;
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::boost::{FitExtras, RankBoostParams, RoundParams, WeakRankerParams, fit_rank_boost};
    use crate::data::{Labels, mix};

    const N_ROWS: usize = 5000;

    /// Three features, the last of which is uninformative; every ninth value is missing.
    fn sample() -> (Vec<f64>, Vec<bool>) {
        let unit =
            |row: usize, j: u64| (mix(row as u64 ^ j << 40) >> 11) as f64 / (1_u64 << 53) as f64;
        let value = |row: usize, j: u64| match mix(row as u64 ^ j << 50) % 9 {
            0 => f64::NAN,
            _ if j == 2 => 1.0,
            _ => unit(row, j),
        };
        let values = (0..N_ROWS).flat_map(|row| (0..3).map(move |j| value(row, j))).collect();
        let positive =
            (0..N_ROWS).map(|row| unit(row, 0) + unit(row, 1) + unit(row, 5) > 1.5).collect();
        (values, positive)
    }

    fn fit(values: &[f64], positive: &[bool]) -> BoostedModel {
        let rounds = RoundParams {
            weak_ranker: WeakRankerParams::Threshold,
            n_rounds: 50,
            ..RoundParams::default()
        };
        let params = RankBoostParams { rounds, ..RankBoostParams::default() };
        let columns = Columns::from_row_major(values, 3).unwrap();
        let labels = Labels::new(positive, None).unwrap();
        fit_rank_boost(&columns, &labels, &params, &FitExtras::default(), &Interrupt::default())
            .unwrap()
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the parts are exact")]
    fn parts_are_values_of_the_terms_and_add_up_to_the_score() {
        let (values, positive) = sample();
        let model = fit(&values, &positive);
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let (parts, scores) =
            (model.explain(&columns).unwrap(), model.score(&columns, None).unwrap());
        assert_eq!(parts.len(), 3 * N_ROWS);
        for ((row, parts), score) in values.chunks(3).zip(parts.chunks(3)).zip(scores) {
            assert_eq!(parts.iter().sum::<f64>() - model.threshold(), score);
            for (feature, part) in parts.iter().enumerate() {
                let of_feature = model.terms().iter().filter_map(|term| match term {
                    Term::Feature(term) if term.feature == feature => {
                        Some(term.value(row[feature]))
                    }
                    _ => None,
                });
                assert_eq!(of_feature.sum::<f64>(), *part);
            }
        }
    }

    #[test]
    fn what_cannot_be_explained_is_refused() {
        let (mut values, positive) = sample();
        let model = fit(&values, &positive);
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let err = RankError::ColumnMismatch { found: 2, expected: 3 };
        assert_eq!(model.explain(&columns), Err(err));
        values[3 * (N_ROWS - 1) + 1] = f64::INFINITY;
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let err = RankError::InfiniteValue { column: 1, row: N_ROWS - 1, value: f64::INFINITY };
        assert_eq!(model.explain(&columns), Err(err));
    }

    /// A tree comes among the terms by way of the JSON of a model.
    #[cfg(feature = "serde")]
    mod of_trees {
        use super::*;
        use crate::boost::TreeTerm;
        use crate::tree::{
            self, GrowParams, LeafOrder, LeafRankParams, RankingTree, SplitRule, TreeRankParams,
        };

        fn tree(values: &[f64], positive: &[bool]) -> RankingTree {
            let grow = GrowParams {
                max_depth: 2,
                min_samples_leaf: 1,
                leaf_order: LeafOrder::Tree,
                ..GrowParams::default()
            };
            let params =
                TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
            let columns = Columns::from_row_major(values, 3).unwrap();
            let labels = Labels::new(positive, None).unwrap();
            tree::fit(&columns, &labels, &params, &Interrupt::default()).unwrap().tree
        }

        #[test]
        fn a_sum_with_a_tree_cannot_be_explained() {
            let (values, positive) = sample();
            let model = fit(&values, &positive);
            let tree = tree(&values, &positive);
            let n_leaves = tree.leaves().len();
            let term = Term::Tree(TreeTerm { tree, values: vec![0.0; n_leaves] });
            let mut document = serde_json::to_value(&model).unwrap();
            document["terms"].as_array_mut().unwrap().push(serde_json::to_value(term).unwrap());
            let with_tree: BoostedModel = serde_json::from_value(document).unwrap();
            let columns = Columns::from_row_major(&values, 3).unwrap();
            assert_eq!(with_tree.explain(&columns), Err(RankError::NotAdditive));
        }
    }
}
