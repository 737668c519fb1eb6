//! Detaches from the interpreter, runs on a pool of the call, polls for Ctrl-C, passes on the
//! progress and maps the error.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use aucrank::{FitPart, Interrupt, RankError};
use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

/// Interval at which signals are polled.
const PATIENCE: Duration = Duration::from_millis(50);

pyo3::create_exception!(
    aucrank._core,
    ColumnError,
    PyValueError,
    "An error in one column of X; its attribute `column` counts from 0."
);

/// Core errors concern the caller's data, hence `ValueError`; trouble with a file is an `OSError`.
pub fn to_py_err(err: RankError) -> PyErr {
    if err == RankError::Interrupted {
        return PyKeyboardInterrupt::new_err(());
    }
    if let RankError::OutOfMemory { .. } = err {
        return PyMemoryError::new_err(err.to_string());
    }
    if let RankError::Storage { .. } = err {
        return PyOSError::new_err(err.to_string());
    }
    let Some(column) = err.column() else { return PyValueError::new_err(err.to_string()) };
    Python::attach(|py| {
        let raised = ColumnError::new_err(err.to_string());
        match raised.value(py).setattr("column", column) {
            Ok(()) => raised,
            Err(other) => other,
        }
    })
}

/// Parameters of the core from their JSON form, which only the Python package writes.
pub fn read_params<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|err| PyValueError::new_err(format!("parameters: {err}")))
}

/// JSON text of a core value, for the Python package.
pub fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|err| PyValueError::new_err(err.to_string()))
}

/// Runs `work` on a new rayon pool of `n_threads` threads.
///
/// Never rayon's global pool: it would not survive a fork, and under `n_jobs` workers it would
/// start as many threads in each. The calling thread waits without the interpreter and polls Python
/// for signals, so that Ctrl-C reaches `work` through the [`Interrupt`].
pub fn on_pool<T, F>(py: Python<'_>, n_threads: usize, work: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Interrupt) -> Result<T, RankError> + Send,
{
    on_pool_or(py, n_threads, work, to_py_err)
}

/// As [`on_pool`], for short work that needs no pool: signals are handled once it is done.
pub fn on_this_thread<T, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Interrupt) -> Result<T, RankError> + Send,
{
    py.detach(|| work(&Interrupt::default())).map_err(to_py_err)
}

/// As [`on_pool`], for a fit: the callable `observer` is called for each part that is done, as
/// [`call_observer`] does, on the calling thread.
pub fn fit_on_pool<T, F>(
    py: Python<'_>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
    work: F,
) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Interrupt) -> Result<T, RankError> + Send,
{
    fit_calling(py, n_threads, observer, |interrupt, _| work(interrupt))
}

/// As [`fit_on_pool`], for a fit that calls Python on the calling thread.
pub fn fit_calling<T, F>(
    py: Python<'_>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
    work: F,
) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Interrupt, &CallingThread) -> Result<T, RankError> + Send,
{
    run_once(py, n_threads, observer, work)?.map_err(to_py_err)
}

/// As [`on_pool`], for work with another error type, which `to_py_err` converts.
pub fn on_pool_or<T, E, F>(
    py: Python<'_>,
    n_threads: usize,
    work: F,
    to_py_err: fn(E) -> PyErr,
) -> PyResult<T>
where
    T: Send,
    E: Send,
    F: FnOnce(&Interrupt) -> Result<T, E> + Send,
{
    run_once(py, n_threads, None, |interrupt, _| work(interrupt))?.map_err(to_py_err)
}

fn run_once<T, F>(
    py: Python<'_>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
    work: F,
) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Interrupt, &CallingThread) -> T + Send,
{
    let mut work = Some(work);
    let mut outcome = None;
    run_interruptible(py, n_threads, observer, &mut |interrupt, calling| {
        outcome = work.take().map(|work| work(interrupt, calling));
    })?;
    outcome.ok_or_else(|| PyRuntimeError::new_err("a worker thread died"))
}

/// Messages of the working threads to the one that waits.
enum Message {
    Done,
    Part(PartDone, SyncSender<bool>),
    Call(Box<dyn FnOnce() + Send>),
}

/// The thread that waits for the workers. Connections to databases, for example, can only be used
/// by it.
pub struct CallingThread(SyncSender<Message>);

impl CallingThread {
    /// Calls a function on that thread.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`] if the work is being interrupted.
    pub fn call<T: Send + 'static>(
        &self,
        function: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RankError> {
        let (answer, answered) = sync_channel(1);
        // The receiver still waits for the answer.
        let call = move || drop(answer.send(function()));
        self.0.send(Message::Call(Box::new(call))).map_err(|_| RankError::Interrupted)?;
        // A call that is not made is dropped.
        answered.recv().map_err(|_| RankError::Interrupted)
    }
}

/// Sends [`Message::Done`] when it is dropped, also by a panic.
struct SayDone(SyncSender<Message>);

impl Drop for SayDone {
    fn drop(&mut self) {
        // The receiver outlives the scope of the work, so sending cannot fail.
        let _ = self.0.send(Message::Done);
    }
}

/// A [`Part`] on its way to another thread.
struct PartDone {
    unit: &'static str,
    number: usize,
    most: Option<usize>,
    figures: Vec<(&'static str, Option<f64>)>,
}

/// An interrupt that sends each part to the waiting thread, and waits for its answer.
fn reporting_to(sender: SyncSender<Message>) -> Interrupt {
    Interrupt::observed_by(move |part: &FitPart<'_>| {
        let FitPart { unit, number, most, figures } = *part;
        let (answer, answered) = sync_channel(1);
        let done = PartDone { unit, number, most, figures: figures.to_vec() };
        // Without an answer the fit is being interrupted.
        sender.send(Message::Part(done, answer)).is_ok() && answered.recv().unwrap_or(false)
    })
}

/// The attribute `seconds_left` of an observer, if it has one: the time that a fit may take.
fn seconds_left(observer: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let left = observer.getattr_opt(intern!(observer.py(), "seconds_left"))?;
    left.map_or(Ok(None), |left| left.extract())
}

/// The share of `seconds`, of which none may be left, that `spent` are.
fn share_of(spent: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { spent / seconds } else { f64::INFINITY }
}

/// Calls `observer(unit, number, most, figures)`, which returns whether the fit goes on.
fn call_observer(observer: &Py<PyAny>, part: PartDone) -> PyResult<bool> {
    Python::attach(|py| {
        let figures: Bound<'_, PyDict> = part.figures.into_py_dict(py)?;
        observer.call1(py, (part.unit, part.number, part.most, figures))?.extract(py)
    })
}

/// Runs `work` once on a pool of its own. Not generic, so that the pool, the wait and the signal
/// handling are compiled once for all callers.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method alone is not general enough in its lifetime"
)]
fn run_interruptible(
    py: Python<'_>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
    work: &mut (dyn FnMut(&Interrupt, &CallingThread) + Send),
) -> PyResult<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().map_err(|err| {
        PyRuntimeError::new_err(format!("cannot start {n_threads} threads: {err}"))
    })?;
    let (sender, messages) = sync_channel(1);
    let calling = &CallingThread(sender.clone());
    let interrupt = &match &observer {
        Some(observer) => match seconds_left(observer.bind(py))? {
            Some(seconds) => {
                let begin = Instant::now();
                reporting_to(sender.clone())
                    .limited_by(move || share_of(begin.elapsed().as_secs_f64(), seconds))
            }
            None => reporting_to(sender.clone()),
        },
        None => Interrupt::default(),
    };
    py.detach(move || {
        pool.in_place_scope(move |scope| {
            scope.spawn(move |_| {
                let _done = SayDone(sender);
                work(interrupt, calling);
            });
            let mut raised = None;
            loop {
                let found = match messages.recv_timeout(PATIENCE) {
                    // If `work` panicked, leaving the scope resumes the panic here.
                    Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => {
                        return raised.map_or(Ok(()), Err);
                    }
                    Ok(Message::Part(part, answer)) => {
                        let reply = match (&observer, &raised) {
                            (Some(observer), None) => call_observer(observer, part),
                            _ => Ok(false),
                        };
                        // The receiver still waits for the answer.
                        let _ = answer.send(*reply.as_ref().unwrap_or(&false));
                        reply.map(drop)
                    }
                    Ok(Message::Call(call)) => {
                        if raised.is_none() {
                            call();
                        }
                        Ok(())
                    }
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        Python::attach(|py| py.check_signals())
                    }
                    Err(RecvTimeoutError::Timeout) => Ok(()),
                };
                if let Err(err) = found {
                    interrupt.stop();
                    raised = Some(err);
                }
            }
        })
    })
}
