//! All questions to rows elsewhere. Each learner has its own; this list decodes them.

use crate::RankError;
use crate::boost::{GradientAsk, ProgramAsk, RoundAsk};
use crate::rows::{Ask, Question, QuestionReader, SHARED_QUESTIONS, read};
use crate::tree::AskLeaves;

impl Ask {
    /// Reads questions written by [`Ask::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RankError> {
        Self::received(bytes, reader_of)
    }
}

const OF_LEARNERS: [(&str, QuestionReader); 4] = [
    (AskLeaves::NAME, read::<AskLeaves>),
    (ProgramAsk::NAME, read::<ProgramAsk>),
    (RoundAsk::NAME, read::<RoundAsk>),
    (GradientAsk::NAME, read::<GradientAsk>),
];

fn reader_of(name: &str) -> Option<QuestionReader> {
    let mut all = SHARED_QUESTIONS.iter().chain(&OF_LEARNERS);
    all.find(|(known, _)| *known == name).map(|&(_, reader)| reader)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_of_questions_are_unique() {
        let all = || SHARED_QUESTIONS.iter().chain(&OF_LEARNERS);
        let names: BTreeSet<&str> = all().map(|&(name, _)| name).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn other_bytes_are_rejected() {
        let sent = |line: &str| Ask::from_bytes(line.as_bytes()).unwrap_err();
        let tree = r#"{"fit":0,"number":0,"oldest":0}"#;
        for line in [
            String::new(),
            "{}".to_owned(),
            "{}\nnull\n".to_owned(),
            format!(r#"{{"name":"totals","head":{{"tree":{tree},"view":"All"}}}}"#) + "\n",
            format!("{{\"name\":\"x\",\"head\":{{\"tree\":{tree},\"view\":\"All\"}}}}\nnull\n"),
            format!("{{\"name\":\"totals\",\"head\":{{\"tree\":{tree},\"view\":\"All\"}}}}\n[1]\n"),
        ] {
            assert!(matches!(sent(&line), RankError::BadAnswer(_)), "{line}");
        }
    }
}
