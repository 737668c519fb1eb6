//! Trees whose nodes are split by external classifiers.

use std::fmt::Debug;

use super::ranking_tree::RankingTree;
use super::split_form::SplitForm;
use crate::RankError;
use crate::data::Columns;

/// Answers of fitted classifiers about rows, which both sides know by their numbers.
pub trait RowDecider: Debug + Sync {
    /// Which of the `rows` the classifier calls positive: one answer for each.
    ///
    /// # Errors
    ///
    /// [`RankError::External`] where the classifier fails.
    fn decide(&self, classifier: usize, rows: &[u32]) -> Result<Vec<bool>, RankError>;
}

impl RankingTree {
    /// Numbers the classifiers anew, 0, 1, ... in the order of the nodes, and returns their old
    /// numbers.
    pub(in crate::tree) fn number_classifiers(&mut self) -> Vec<usize> {
        let mut old = Vec::new();
        for split in self.splits_mut() {
            if let SplitForm::Classifier { number, .. } = &mut split.form {
                old.push(std::mem::replace(number, old.len()));
            }
        }
        old
    }

    /// Place in the ranking of the leaf of each row. From the root down, every classifier is asked
    /// once, about the rows that reach its node.
    pub(in crate::tree) fn places_by(
        &self,
        rows: &[u32],
        classifiers: &dyn RowDecider,
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
            let asked: Vec<u32> = here.iter().map(|&row| rows[row]).collect();
            let answers = classifiers.decide(classifier, &asked)?;
            check_answers(&asked, &answers)?;
            for (row, is_positive) in here.into_iter().zip(answers) {
                let side = if is_positive == positive_left { split.left() } else { split.right() };
                reached[side].push(row);
            }
        }
        Ok(places)
    }

    /// [`RankingTree::apply`] for a tree that asks classifiers, about the rows of `columns`.
    ///
    /// # Errors
    ///
    /// As [`RankingTree::apply`], and what the classifiers run into.
    pub fn apply_by(
        &self,
        columns: &Columns<'_>,
        classifiers: &dyn RowDecider,
    ) -> Result<Vec<u32>, RankError> {
        self.leaf_values_by(columns, classifiers, &(0..self.n_leaves() as u32).collect::<Vec<_>>())
    }

    /// [`RankingTree::score`] for a tree that asks classifiers.
    ///
    /// # Errors
    ///
    /// As [`RankingTree::apply_by`].
    pub fn score_by(
        &self,
        columns: &Columns<'_>,
        classifiers: &dyn RowDecider,
    ) -> Result<Vec<f64>, RankError> {
        self.leaf_values_by(columns, classifiers, &self.leaf_scores())
    }

    /// [`RankingTree::probability`] for a tree that asks classifiers.
    ///
    /// # Errors
    ///
    /// As [`RankingTree::apply_by`].
    pub fn probability_by(
        &self,
        columns: &Columns<'_>,
        classifiers: &dyn RowDecider,
    ) -> Result<Vec<f64>, RankError> {
        self.leaf_values_by(columns, classifiers, &self.probabilities())
    }

    fn leaf_values_by<V: Copy + Default + Send + Sync>(
        &self,
        columns: &Columns<'_>,
        classifiers: &dyn RowDecider,
        values: &[V],
    ) -> Result<Vec<V>, RankError> {
        if self.classifiers().is_empty() {
            return self.of_rows(columns, values);
        }
        self.check_columns(columns)?;
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        let rows: Vec<u32> = (0..columns.n_rows() as u32).collect();
        let places = self.places_by(&rows, classifiers)?;
        Ok(places.into_iter().map(|place| values[place as usize]).collect())
    }
}

/// Checks that there is an answer for each row.
pub(in crate::tree) fn check_answers(rows: &[u32], answers: &[bool]) -> Result<(), RankError> {
    if rows.len() == answers.len() {
        return Ok(());
    }
    let (n_answers, n_rows) = (answers.len(), rows.len());
    Err(RankError::External(format!("a classifier gave {n_answers} answers about {n_rows} rows")))
}
