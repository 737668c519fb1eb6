//! Several tasks that query the same rows: all that wait are answered in one pass.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Rows;
use super::{Answer, Ask, RowFrame};
use crate::parallel;
use crate::{Interrupt, RankError};

/// Runs tasks, each on the rows that it is given, as many at a time as there are threads. Once all
/// remaining tasks wait for answers, their questions are sent as one.
///
/// # Errors
///
/// The first error in the order of the tasks; [`RankError::NoThread`].
pub(crate) fn together<T: Send, W: FnOnce(&dyn Rows) -> Result<T, RankError> + Send>(
    rows: &dyn Rows,
    mut works: Vec<W>,
    interrupt: &Interrupt,
) -> Result<Vec<T>, RankError> {
    if works.len() == 1 {
        // It has all threads of the pool for itself.
        return works.pop().map(|work| work(rows)).into_iter().collect();
    }
    let table = Exchange::new(works.len(), parallel::current_num_threads());
    std::thread::scope(|scope| {
        let work_at = |(place, work): (usize, W)| {
            let seat = Seat { rows, table: &table, place };
            // It may block its thread, which must not be one of a shared pool.
            scope.spawn(move || {
                let found = parallel::in_own_pool(1, || {
                    seat.begin();
                    work(&seat)
                });
                seat.end(found.unwrap_or_else(Err))
            })
        };
        let begun: Vec<_> = works.into_iter().enumerate().map(work_at).collect();
        table.answer_all(interrupt, rows);
        let ends = begun.into_iter().map(std::thread::ScopedJoinHandle::join);
        ends.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Questions and answers of the tasks.
struct Exchange {
    state: Mutex<ExchangeState>,
    changed: Condvar,
}

struct ExchangeState {
    /// Number of further tasks that may run.
    n_free: usize,
    /// State of each task.
    places: Vec<WorkState>,
    /// Error of a task: the others get it for their next question.
    failed: Option<RankError>,
}

enum WorkState {
    /// Waits for a turn.
    Ready,
    Runs,
    Asks(Ask),
    Answered(Result<Answer, RankError>),
    Ended,
}

impl Exchange {
    fn new(n_works: usize, n_free: usize) -> Self {
        let places = (0..n_works).map(|_| WorkState::Ready).collect();
        let state = Mutex::new(ExchangeState { n_free, places, failed: None });
        Self { state, changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, ExchangeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(
        &self,
        is_early: impl Fn(&ExchangeState) -> bool,
    ) -> MutexGuard<'_, ExchangeState> {
        let state = self.lock();
        let wait = self.changed.wait_while(state, |state| is_early(state));
        wait.unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers questions until all tasks have ended.
    fn answer_all(&self, interrupt: &Interrupt, rows: &dyn Rows) {
        loop {
            let waits = |place: &WorkState| matches!(place, WorkState::Asks(_) | WorkState::Ended);
            let mut state = self.wait_while(|state| !state.places.iter().all(waits));
            let mut asks = Vec::new();
            for (number, place) in state.places.iter_mut().enumerate() {
                if let WorkState::Asks(ask) = place {
                    asks.push((number, ask.clone()));
                }
            }
            let failed = state.failed.clone();
            drop(state);
            if asks.is_empty() {
                return;
            }
            let (numbers, asks): (Vec<usize>, Vec<Ask>) = asks.into_iter().unzip();
            let answers = match failed {
                None => rows.pass(&Ask::joined(&asks), interrupt).map(|all| all.parts_of(&asks)),
                Some(err) => Err(err),
            };
            let of_each = match answers {
                Ok(answers) => answers.into_iter().map(Ok).collect(),
                Err(err) => vec![Err(err); numbers.len()],
            };
            let mut state = self.lock();
            for (number, answer) in numbers.into_iter().zip(of_each) {
                state.places[number] = WorkState::Answered(answer);
            }
            drop(state);
            self.changed.notify_all();
        }
    }
}

/// The place of a task, through which it queries the rows.
struct Seat<'a> {
    rows: &'a dyn Rows,
    table: &'a Exchange,
    place: usize,
}

impl Seat<'_> {
    /// Waits for a turn.
    fn begin(&self) {
        let mut state = self.table.wait_while(|state| state.n_free == 0);
        state.n_free -= 1;
        state.places[self.place] = WorkState::Runs;
    }

    fn end<T>(&self, found: Result<T, RankError>) -> Result<T, RankError> {
        if let Err(err) = &found {
            self.table.lock().failed.get_or_insert_with(|| err.clone());
        }
        found
    }
}

impl Rows for Seat<'_> {
    fn frame(&self) -> &RowFrame {
        self.rows.frame()
    }

    fn pass(&self, ask: &Ask, _: &Interrupt) -> Result<Answer, RankError> {
        let mut state = self.table.lock();
        state.places[self.place] = WorkState::Asks(ask.clone());
        state.n_free += 1;
        drop(state);
        self.table.changed.notify_all();
        let mut state = self.table.wait_while(|state| {
            state.n_free == 0 || !matches!(state.places[self.place], WorkState::Answered(_))
        });
        state.n_free -= 1;
        match std::mem::replace(&mut state.places[self.place], WorkState::Runs) {
            WorkState::Answered(answer) => answer,
            _ => unreachable!("it has waited for an answer"),
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.table.lock();
        if matches!(state.places[self.place], WorkState::Runs) {
            state.n_free += 1;
        }
        state.places[self.place] = WorkState::Ended;
        drop(state);
        self.table.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::BinningParams;
    use crate::rows::tests::{Counted, Data, Weights, everywhere};
    use crate::rows::{FitId, View};

    #[test]
    fn waiting_tasks_are_answered_in_one_pass_each_as_if_it_were_alone() {
        let data = Data::new(500, Weights::Fractions);
        let interrupt = Interrupt::default();
        everywhere(&data, BinningParams::default(), ("together", 3), |rows| {
            let fit = FitId::new(1);
            // Task `k` asks 1 + k questions.
            let sums = |rows: &dyn Rows, number: u64| {
                let order = fit.order(rows, number, &interrupt)?;
                let part = order.held_out(0.3).expect("both classes have many rows");
                let view = |inside| View::Held { part: part.clone(), inside };
                let of = |inside| Ok(fit.totals(rows, view(inside), &interrupt)?.sums);
                (0..number).map(|k| of(k % 2 == 0)).collect::<Result<Vec<_>, RankError>>()
            };
            let alone: Vec<_> = (0..5).map(|number| sums(rows, number).unwrap()).collect();
            for n_threads in [1, 2, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let counted = Counted::new(rows);
                let sums = &sums;
                let works = || (0..5).map(|number| move |rows: &dyn Rows| sums(rows, number));
                let found = pool.install(|| together(&counted, works().collect(), &interrupt));
                assert_eq!(found.unwrap(), alone);
                assert_eq!(counted.n_passes.into_inner(), 5);
            }
        });
    }

    #[test]
    fn a_single_task_has_all_threads() {
        let data = Data::new(50, Weights::None);
        let rows = data.store(data.survey(&[0, 50], BinningParams::default()), &[0, 50], None);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let n_threads = |n_works: usize| {
            let work = |_| |_: &dyn Rows| Ok(parallel::current_num_threads());
            let works = (0..n_works).map(work).collect();
            pool.install(|| together(&rows, works, &Interrupt::default())).unwrap()
        };
        assert_eq!(n_threads(1), [3]);
        assert_eq!(n_threads(2), [1, 1]);
    }

    #[test]
    fn an_error_ends_all_tasks() {
        let data = Data::new(100, Weights::None);
        let interrupt = Interrupt::default();
        everywhere(&data, BinningParams::default(), ("together fails", 2), |rows| {
            let fit = &FitId::new(1);
            let work = |number: u64| {
                let interrupt = &interrupt;
                move |rows: &dyn Rows| {
                    for seed in 0..1000 {
                        fit.order(rows, seed, interrupt)?;
                        if number == 2 && seed == 3 {
                            return Err(RankError::BadAnswer("of the third".to_owned()));
                        }
                    }
                    Ok(())
                }
            };
            let counted = Counted::new(rows);
            let found = together(&counted, (0..4).map(work).collect(), &interrupt);
            assert_eq!(found, Err(RankError::BadAnswer("of the third".to_owned())));
            assert_eq!(counted.n_passes.into_inner(), 4);
            assert_eq!(together(rows, (0..0).map(work).collect(), &interrupt), Ok(Vec::new()));
        });
    }
}
