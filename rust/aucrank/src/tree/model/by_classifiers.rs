//! Trees whose nodes are split by external classifiers.

use super::ranking_tree::RankingTree;
use super::split_form::SplitForm;
use crate::RankError;
use crate::data::Columns;
use crate::external::{ExternalModels, called_positive};

impl RankingTree {
    /// Numbers of the classifiers in the order of the nodes, to be changed.
    pub(in crate::tree) fn classifiers_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        self.splits_mut().filter_map(|split| match &mut split.form {
            SplitForm::Classifier { number, .. } => Some(number),
            SplitForm::Stump(_) | SplitForm::Cuts(_) | SplitForm::Cubes(_) => None,
        })
    }

    /// Place in the ranking of the leaf of each row. From the root down, every classifier is asked
    /// once, about the rows that reach its node. The rows are those of `columns`.
    pub(in crate::tree) fn places_by(
        &self,
        columns: &Columns<'_>,
        rows: &[u32],
        classifiers: &dyn ExternalModels,
    ) -> Result<Vec<u32>, RankError> {
        let mut place_of_leaf = vec![0; self.nodes().len()];
        for (place, leaf) in (0..).zip(self.leaves()) {
            place_of_leaf[leaf] = place;
        }
        let mut places = vec![0; rows.len()];
        let mut reached: Vec<Vec<usize>> = vec![Vec::new(); self.nodes().len()];
        reached[0] = (0..rows.len()).collect();
        for (number, node) in self.nodes().iter().enumerate() {
            let here = std::mem::take(&mut reached[number]);
            let Some(split) = &node.split else {
                for row in here {
                    places[row] = place_of_leaf[number];
                }
                continue;
            };
            let SplitForm::Classifier { number: classifier, positive_left } = split.form else {
                unreachable!("either all splits are classifiers or none is");
            };
            if here.is_empty() {
                continue;
            }
            columns.check_interrupt()?;
            let asked: Vec<u32> = here.iter().map(|&row| rows[row]).collect();
            let answers = called_positive(classifiers, classifier, &asked)?;
            for (row, is_positive) in here.into_iter().zip(answers) {
                let side = if is_positive == positive_left { split.left() } else { split.right() };
                reached[side].push(row);
            }
        }
        Ok(places)
    }

    /// For each row one of the values, which are those of the leaves in ranking order.
    pub(super) fn leaf_values_by<V: Copy>(
        &self,
        columns: &Columns<'_>,
        classifiers: &dyn ExternalModels,
        values: &[V],
    ) -> Result<Vec<V>, RankError> {
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        let rows: Vec<u32> = (0..columns.n_rows() as u32).collect();
        let places = self.places_by(columns, &rows, classifiers)?;
        Ok(places.into_iter().map(|place| values[place as usize]).collect())
    }
}
