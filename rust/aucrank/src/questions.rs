//! All questions to rows elsewhere. Each learner has its own; this list decodes them.

use crate::RankError;
use crate::boost::{AskBag, AskMass, AskProgram, AskRound, AskTrial};
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

const OF_LEARNERS: [(&str, QuestionReader); 6] = [
    (AskLeaves::NAME, read::<AskLeaves>),
    (AskProgram::NAME, read::<AskProgram>),
    (AskRound::NAME, read::<AskRound>),
    (AskMass::NAME, read::<AskMass>),
    (AskBag::NAME, read::<AskBag>),
    (AskTrial::NAME, read::<AskTrial>),
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
        let log = r#"{"fit":0,"number":0,"n_begun":0,"open":[]}"#;
        for line in [
            String::new(),
            "{}".to_owned(),
            "{}\nnull\n".to_owned(),
            format!(r#"{{"name":"totals","head":{{"log":{log},"view":"All"}}}}"#) + "\n",
            format!("{{\"name\":\"x\",\"head\":{{\"log\":{log},\"view\":\"All\"}}}}\nnull\n"),
            format!("{{\"name\":\"totals\",\"head\":{{\"log\":{log},\"view\":\"All\"}}}}\n[1]\n"),
        ] {
            assert!(matches!(sent(&line), RankError::BadAnswer(_)), "{line}");
        }
    }
}
