//! A file of the answers of rows, from which a fit that was interrupted goes on.
//!
//! Learners are deterministic functions of the answers, so these suffice. Each record has the key
//! of its question, which depends on all questions before: what is sent depends on what holders of
//! the rows have been sent already. A fit that goes on sends the steps since the last question, as
//! if it had sent that one: holders that have not followed those before say that they are behind,
//! and this answer is kept like any other.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::question::{Answer, Ask, PackedQuestion};
use super::{RowFrame, Rows, sums_by_code, words};
use crate::data::combine;
use crate::spilled::{checksum, storage};
use crate::{Interrupt, RankError, VERSION};

/// A file of the answers of rows to the questions of one fit.
///
/// A second fit with the same parameters to the same rows is given these answers, and queries the
/// rows once they are exhausted. A last answer that was not written to its end is dropped; if a
/// question differs, so are the answers from it on.
///
/// # Examples
///
/// ```
/// use aucrank::rows::{AnswerLog, LoggedRows};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
/// # use aucrank::Interrupt;
/// # use aucrank::data::{Batch, BinningParams, Columns};
/// # use aucrank::rows::{StoredRows, Survey};
/// # let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// # let (positive, interrupt) = ([false, true, false, true], Interrupt::default());
/// # let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// # let batch = Batch::new(&columns, &positive);
/// # survey.add(&batch, &interrupt)?;
/// # let mut rows = StoredRows::new(survey.frame()?, None)?;
/// # rows.add(&batch, &interrupt)?;
/// # rows.finish()?;
/// # let path = std::env::temp_dir().join(format!("aucrank-doc-{}.answers", std::process::id()));
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let logged_fit = |fit_number| {
///     let log = AnswerLog::open(&path, &rows, fit_number, &interrupt)?;
///     let logged = LoggedRows::new(&rows, &log);
///     Ok::<_, aucrank::RankError>((fit((&logged, fit_number), &params, &interrupt)?, log))
/// };
/// let (model, log) = logged_fit(1)?;
/// assert_eq!(log.n_read(), 0);
/// let (again, second) = logged_fit(2)?;
/// assert_eq!((again, second.n_read(), second.n_added()), (model, log.n_added(), 0));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug)]
pub struct AnswerLog {
    file: Mutex<LogFile>,
    n_read: AtomicU64,
    n_added: AtomicU64,
}

/// Rows whose answers are kept in a file.
///
/// For an example see [`AnswerLog`].
#[derive(Clone, Copy)]
pub struct LoggedRows<'a> {
    rows: &'a dyn Rows,
    log: &'a AnswerLog,
}

/// First line of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct LogHeader {
    format: String,
    format_version: u32,
    /// Version of the crate, whose questions may differ from those of another.
    version: String,
    /// Digest of bins and class sums of the rows.
    rows: String,
}

const FORMAT: &str = "aucrank answers";
const FORMAT_VERSION: u32 = 1;

/// A header is shorter.
const MOST_OF_HEADER: usize = 1024;

/// Key of the question, number of bytes of the answer, and the checksum of both.
const RECORD_HEAD: usize = 24;

#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    /// Position of the next record.
    next: u64,
    /// Size of the file: at `next`, records are appended.
    end: u64,
    /// Key of the question before.
    key: u64,
}

impl AnswerLog {
    /// Opens a file, or creates it; queries the rows once to check that they are those of the file.
    ///
    /// `fit_number` distinguishes the fit from others that query the rows at the same time.
    ///
    /// # Errors
    ///
    /// [`RankError::BadLog`] for a file of other rows, of another version, or of another kind;
    /// [`RankError::Storage`] if it cannot be read or written; errors of the holder of the rows.
    pub fn open(
        path: &Path,
        rows: &dyn Rows,
        fit_number: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let header = LogHeader {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            version: VERSION.to_owned(),
            rows: format!("{:016x}", digest_of_rows(rows, fit_number, interrupt)?),
        };
        let file = LogFile::open(path, &header)?;
        let (n_read, n_added) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { file: Mutex::new(file), n_read, n_added })
    }

    /// Number of answers that were given from the file.
    #[must_use]
    pub fn n_read(&self) -> u64 {
        self.n_read.load(Ordering::Relaxed)
    }

    /// Number of answers that were added to the file.
    #[must_use]
    pub fn n_added(&self) -> u64 {
        self.n_added.load(Ordering::Relaxed)
    }
}

impl<'a> LoggedRows<'a> {
    /// Rows with the file of their answers.
    #[must_use]
    pub fn new(rows: &'a dyn Rows, log: &'a AnswerLog) -> Self {
        Self { rows, log }
    }
}

impl Rows for LoggedRows<'_> {
    fn frame(&self) -> &RowFrame {
        self.rows.frame()
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        interrupt.check()?;
        // Held while the rows are queried: keys depend on the order of the questions.
        let mut file = self.log.file.lock().unwrap_or_else(PoisonError::into_inner);
        let key = combine(file.key, digest_of_question(ask));
        let answer = if let Some(bytes) = file.read(key)? {
            let answer = Answer::from_bytes(&bytes, ask, self.frame());
            self.log.n_read.fetch_add(1, Ordering::Relaxed);
            answer.map_err(|_| file.damaged())?
        } else {
            let mut answer = self.rows.pass(ask, interrupt)?;
            file.append(key, &answer.to_bytes())?;
            self.log.n_added.fetch_add(1, Ordering::Relaxed);
            answer
        };
        file.key = key;
        Ok(answer)
    }
}

impl LogFile {
    fn open(path: &Path, header: &LogHeader) -> Result<Self, RankError> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        // Class sums may be secret.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|err| storage(path, &err.to_string()))?;
        let mut log = Self { path: path.to_owned(), file, next: 0, end: 0, key: 0 };
        log.end = log.file.metadata().map_err(|err| log.trouble(&err))?.len();
        let mut line = serde_json::to_vec(header).expect("numbers and texts");
        line.push(b'\n');
        let found = log.bytes_at(0, MOST_OF_HEADER)?;
        match found.iter().position(|&byte| byte == b'\n') {
            Some(n_bytes) => {
                log.check_header(&found[..n_bytes], header)?;
                log.next = n_bytes as u64 + 1;
            }
            // Nothing, or what a crash left.
            None if line.starts_with(&found) => {
                log.truncate(0)?;
                log.write(&line)?;
            }
            None => return Err(log.foreign()),
        }
        Ok(log)
    }

    fn check_header(&self, line: &[u8], own: &LogHeader) -> Result<(), RankError> {
        let found: LogHeader = serde_json::from_slice(line).map_err(|_| self.foreign())?;
        if found.format != own.format {
            return Err(self.foreign());
        }
        let (version, format_version) = (&found.version, found.format_version);
        if format_version != own.format_version || *version != own.version {
            let (is, was) = (&own.version, version);
            return Err(self.bad(&format!(
                "these answers are of version {was}, and this is {is}: go on with that version, or \
                 delete the file to begin anew"
            )));
        }
        if found.rows != own.rows {
            return Err(self.bad(
                "these are answers of other rows, or of the same rows in other bins: name another \
                 folder, or delete the file to begin anew",
            ));
        }
        Ok(())
    }

    /// The next answer, if it is that to the question of this key. If it is not, all answers from
    /// it on are dropped.
    fn read(&mut self, key: u64) -> Result<Option<Vec<u8>>, RankError> {
        if self.next == self.end {
            return Ok(None);
        }
        let head = self.bytes_at(self.next, RECORD_HEAD)?;
        if head.len() < RECORD_HEAD {
            self.truncate(self.next)?;
            return Ok(None);
        }
        let (fields, sum) = head.split_at(RECORD_HEAD - 8);
        if sum != checksum(fields).to_le_bytes() {
            return Err(self.damaged());
        }
        let ([own, size], _) = fields.as_chunks() else { unreachable!("two words") };
        let [own, size] = [own, size].map(|word| u64::from_le_bytes(*word));
        let first = self.next + RECORD_HEAD as u64;
        if own != key || size > self.end - first {
            self.truncate(self.next)?;
            return Ok(None);
        }
        let is_last = first + size == self.end;
        let bytes = self.bytes_at(first, size as usize)?;
        if words::from_bytes(&bytes).is_err() {
            // Space that was allocated, and never written.
            if is_last {
                self.truncate(self.next)?;
                return Ok(None);
            }
            return Err(self.damaged());
        }
        self.next = first + size;
        Ok(Some(bytes))
    }

    fn append(&mut self, key: u64, answer: &[u8]) -> Result<(), RankError> {
        let mut record = Vec::with_capacity(RECORD_HEAD + answer.len());
        record.extend(key.to_le_bytes());
        record.extend((answer.len() as u64).to_le_bytes());
        record.extend(checksum(&record).to_le_bytes());
        record.extend(answer);
        self.write(&record)
    }

    /// Up to `n_bytes`, fewer at the end of the file.
    fn bytes_at(&mut self, offset: u64, n_bytes: usize) -> Result<Vec<u8>, RankError> {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(offset)).and_then(|_| {
            Read::by_ref(&mut self.file).take(n_bytes as u64).read_to_end(&mut bytes)
        });
        read.map_err(|err| self.trouble(&err))?;
        Ok(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RankError> {
        let end = SeekFrom::Start(self.end);
        let written = self.file.seek(end).and_then(|_| self.file.write_all(bytes));
        written.map_err(|err| self.trouble(&err))?;
        self.end += bytes.len() as u64;
        self.next = self.end;
        Ok(())
    }

    fn truncate(&mut self, n_bytes: u64) -> Result<(), RankError> {
        self.file.set_len(n_bytes).map_err(|err| self.trouble(&err))?;
        (self.next, self.end) = (n_bytes, n_bytes);
        Ok(())
    }

    fn trouble(&self, err: &std::io::Error) -> RankError {
        storage(&self.path, &err.to_string())
    }

    fn bad(&self, message: &str) -> RankError {
        let message = message.to_owned();
        RankError::BadLog { path: self.path.display().to_string(), message }
    }

    fn foreign(&self) -> RankError {
        self.bad("this is not a file of the answers of a fit")
    }

    fn damaged(&self) -> RankError {
        self.bad("the file is damaged: delete it to begin the fit anew")
    }
}

/// Digest of a question without the numbers of fit and tree: these depend on what else runs, and
/// the answer does not depend on them.
fn digest_of_question(ask: &Ask) -> u64 {
    let mut bytes = Vec::new();
    for PackedQuestion { head, question } in &ask.0 {
        let head = serde_json::to_vec(&(question.name(), &head.view, &head.coding));
        bytes.extend(head.expect("numbers and lists"));
        bytes.extend(question.to_json().expect("numbers and lists"));
    }
    digest(bytes)
}

/// Digest of bins, units and class sums of all rows, in total and by bin.
fn digest_of_rows(
    rows: &dyn Rows,
    fit_number: u64,
    interrupt: &Interrupt,
) -> Result<u64, RankError> {
    let mut bytes = rows.frame().to_bytes();
    for sums in sums_by_code(rows, fit_number, interrupt)? {
        for (code, sums) in sums {
            let words = [u64::from(code), sums.pos, sums.neg, sums.rows];
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.push(b'\n');
    }
    Ok(digest(bytes))
}

fn digest(mut bytes: Vec<u8>) -> u64 {
    let n_bytes = bytes.len();
    bytes.resize(n_bytes.next_multiple_of(8), 0);
    combine(checksum(&bytes), n_bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{FitExtras, RankBoostParams, RoundParams, fit_rank_boost};
    use crate::data::BinningParams;
    use crate::rows::tests::{Counted, Data, Weights, everywhere, path_of, raw, uneven};
    use crate::tree::{
        CvParams, GrowParams, LeafRankParams, PruningRule, SplitRule, TreeRankParams, fit,
    };

    /// Rows that cannot be reached after some questions.
    struct Failing<'a> {
        rows: &'a dyn Rows,
        n_left: AtomicU64,
    }

    impl Rows for Failing<'_> {
        fn frame(&self) -> &RowFrame {
            self.rows.frame()
        }

        fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
            if self.n_left.fetch_sub(1, Ordering::Relaxed) == 0 {
                return Err(RankError::Interrupted);
            }
            self.rows.pass(ask, interrupt)
        }
    }

    /// A number that no other fit has: the same rows keep states of earlier ones.
    fn new_fit() -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        LAST.fetch_add(1, Ordering::Relaxed)
    }

    /// Fits by a log at a path; returns what the fit gives, and the answers read and added.
    fn logged<T>(
        rows: &dyn Rows,
        path: &Path,
        fit: impl Fn(&dyn Rows) -> Result<T, RankError>,
    ) -> Result<(Result<T, RankError>, u64, u64), RankError> {
        let log = AnswerLog::open(path, rows, new_fit(), &Interrupt::default())?;
        let found = fit(&LoggedRows::new(rows, &log));
        Ok((found, log.n_read(), log.n_added()))
    }

    /// Each log of steps that goes on may find parts behind, which are then queried again with all
    /// steps: the logs of the tree and of those without each of three folds.
    const MOST_MORE: u64 = 4;

    fn tree_params() -> TreeRankParams {
        let grow = GrowParams { max_depth: 4, ..GrowParams::default() };
        let cv = CvParams { n_folds: 3, one_standard_error: false, seed: 9 };
        TreeRankParams {
            pruning: Some(PruningRule::CrossValidation(cv)),
            ..TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(5)))
        }
    }

    fn boost_params() -> RankBoostParams {
        RankBoostParams {
            rounds: RoundParams { n_rounds: 5, ..RoundParams::default() },
            ..RankBoostParams::default()
        }
    }

    #[test]
    fn a_fit_goes_on_where_it_was_interrupted() {
        let (data, interrupt) = (Data::new(600, Weights::Fractions), Interrupt::default());
        let path = path_of("goes-on");
        let tree = |rows: &dyn Rows| fit((rows, new_fit()), &tree_params(), &interrupt);
        let boost = |rows: &dyn Rows| {
            fit_rank_boost((rows, new_fit()), &boost_params(), &FitExtras::default(), &interrupt)
        };
        everywhere(&data, raw(BinningParams::default()), ("goes-on-rows", 3), |rows| {
            let (whole, counted) = (tree(rows).unwrap(), Counted::new(rows));
            let boosted = boost(rows).unwrap();
            let (_, _, n_added) = logged(&counted, &path, tree).unwrap();
            std::fs::remove_file(&path).unwrap();
            // And one that checks which rows they are.
            assert_eq!(counted.n_passes.into_inner() as u64, n_added + 1);
            for n_before in [0, 1, n_added / 2, n_added - 1, n_added] {
                let failing = Failing { rows, n_left: AtomicU64::new(n_before + 1) };
                let (found, n_read, n_written) = logged(&failing, &path, tree).unwrap();
                assert_eq!((found.is_ok(), n_read, n_written), (n_before == n_added, 0, n_before));
                let (found, n_read, n_written) = logged(rows, &path, tree).unwrap();
                assert_eq!(n_read, n_before);
                assert!((0..=MOST_MORE).contains(&(n_read + n_written - n_added)));
                assert_eq!(found.as_ref(), Ok(&whole));
                std::fs::remove_file(&path).unwrap();
            }
            for n_before in 0..12 {
                let failing = Failing { rows, n_left: AtomicU64::new(n_before + 1) };
                let (found, ..) = logged(&failing, &path, boost).unwrap();
                assert_eq!(found, Err(RankError::Interrupted));
                let (found, n_read, _) = logged(rows, &path, boost).unwrap();
                assert_eq!((found.as_ref(), n_read), (Ok(&boosted), n_before));
                std::fs::remove_file(&path).unwrap();
            }
        });
    }

    /// Rows in memory, and the bytes of the log of a tree.
    fn log_of(data: &Data, path: &Path) -> (crate::rows::StoredRows, Vec<u8>, u64) {
        let bounds = uneven(data.positive.len(), 2);
        let rows = data.store(data.survey(&bounds, raw(BinningParams::default())), &bounds, None);
        let interrupt = Interrupt::default();
        let tree = |rows: &dyn Rows| fit((rows, new_fit()), &tree_params(), &interrupt);
        let (_, _, n_added) = logged(&rows, path, tree).unwrap();
        let bytes = std::fs::read(path).unwrap();
        (rows, bytes, n_added)
    }

    #[test]
    fn a_file_that_was_cut_off_is_read_up_to_its_last_whole_answer() {
        let path = path_of("cut-off");
        let (rows, bytes, n_added) = log_of(&Data::new(200, Weights::None), &path);
        let interrupt = Interrupt::default();
        let tree = |rows: &dyn Rows| fit((rows, new_fit()), &tree_params(), &interrupt);
        let whole = tree(&rows).unwrap();
        let mut most = 0;
        for n_bytes in (0..bytes.len()).step_by(bytes.len() / 150) {
            std::fs::write(&path, &bytes[..n_bytes]).unwrap();
            let (found, n_read, n_written) = logged(&rows, &path, tree).unwrap();
            let n_all = n_read + n_written;
            assert_eq!(found.as_ref(), Ok(&whole));
            assert!((0..=MOST_MORE).contains(&(n_all - n_added)));
            assert!(n_read >= most && n_read < n_added);
            most = n_read;
            if n_all == n_added {
                assert_eq!(std::fs::read(&path).unwrap(), bytes);
            }
            let (found, n_read, n_written) = logged(&rows, &path, tree).unwrap();
            assert_eq!((found.as_ref(), n_read, n_written), (Ok(&whole), n_all, 0));
        }
        // The space of the last answer, without its bytes.
        let mut zeros = bytes.clone();
        *zeros.last_chunk_mut().unwrap() = [0; 64];
        std::fs::write(&path, &zeros).unwrap();
        let (found, n_read, n_written) = logged(&rows, &path, tree).unwrap();
        assert_eq!((found.as_ref(), n_read), (Ok(&whole), n_added - 1));
        assert!((1..=1 + MOST_MORE).contains(&n_written));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it() {
        let path = path_of("damaged");
        let (rows, bytes, n_added) = log_of(&Data::new(200, Weights::None), &path);
        let interrupt = Interrupt::default();
        let tree = |rows: &dyn Rows| fit((rows, new_fit()), &tree_params(), &interrupt);
        let whole = tree(&rows).unwrap();
        let first = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let mut n_errors = 0;
        for place in (0..bytes.len()).step_by(bytes.len() / 150) {
            let mut other = bytes.clone();
            other[place] ^= 4;
            std::fs::write(&path, &other).unwrap();
            let found = logged(&rows, &path, tree)
                .and_then(|(found, n_read, _)| found.map(|tree| (tree, n_read)));
            match found {
                // In the last answer, which might not have been written to its end.
                Ok((tree, n_read)) => assert_eq!((tree, n_read), (whole.clone(), n_added - 1)),
                Err(RankError::BadLog { path: named, .. }) => {
                    assert_eq!(named, path.display().to_string());
                    n_errors += 1;
                }
                Err(err) => panic!("{place}, {err}"),
            }
        }
        assert!(n_errors > 100);
        std::fs::write(&path, [&bytes[..first], b"not a record that anybody wrote"].concat())
            .unwrap();
        let (found, ..) = logged(&rows, &path, tree).unwrap();
        assert!(matches!(found, Err(RankError::BadLog { .. })));
        std::fs::write(&path, "x,y\n1,2\n").unwrap();
        let message = logged(&rows, &path, tree).unwrap_err().to_string();
        assert!(message.contains("not a file of the answers"), "{message}");
        let line = String::from_utf8(bytes[..first].to_vec()).unwrap();
        std::fs::write(&path, line.replace(VERSION, "0.0.1")).unwrap();
        let message = logged(&rows, &path, tree).unwrap_err().to_string();
        assert!(message.contains("of version 0.0.1"), "{message}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn answers_of_other_rows_are_rejected() {
        let path = path_of("other-rows");
        let mut data = Data::new(200, Weights::None);
        let (_, bytes, _) = log_of(&data, &path);
        // Class totals and bins are the same.
        let changed = (0..200).find(|&row| data.positive[row] != data.positive[0]).unwrap();
        data.positive.swap(0, changed);
        let bounds = uneven(200, 2);
        let rows = data.store(data.survey(&bounds, raw(BinningParams::default())), &bounds, None);
        let opened = AnswerLog::open(&path, &rows, new_fit(), &Interrupt::default());
        let message = opened.unwrap_err().to_string();
        assert!(message.contains("of other rows"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn answers_to_other_questions_are_dropped() {
        let path = path_of("other-questions");
        let (rows, bytes, n_added) = log_of(&Data::new(200, Weights::None), &path);
        let interrupt = Interrupt::default();
        let boost = |rows: &dyn Rows| {
            fit_rank_boost((rows, new_fit()), &boost_params(), &FitExtras::default(), &interrupt)
        };
        let tree = |rows: &dyn Rows| fit((rows, new_fit()), &tree_params(), &interrupt);
        let (found, n_read, n_written) = logged(&rows, &path, boost).unwrap();
        assert_eq!((found, n_read), (boost(&rows), 0));
        assert!(n_written > 0);
        let (_, n_read, n_written) = logged(&rows, &path, tree).unwrap();
        assert_eq!((n_read, n_written), (0, n_added));
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        std::fs::remove_file(&path).unwrap();
    }
}
