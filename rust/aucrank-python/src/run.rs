//! Leave the interpreter, run on a pool of this call, poll for Ctrl-C, map the error.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use aucrank::{Interrupt, RankError};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Interval at which signals are polled.
const PATIENCE: Duration = Duration::from_millis(50);

pyo3::create_exception!(
    aucrank,
    ColumnError,
    PyValueError,
    "An error in one column of X; its attribute `column` counts from 0."
);

/// Core errors concern the caller's data, hence `ValueError`.
pub fn to_py_err(err: RankError) -> PyErr {
    if err == RankError::Interrupted {
        return PyKeyboardInterrupt::new_err(());
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
    let mut work = Some(work);
    let mut outcome = None;
    run_heeding_signals(py, n_threads, &mut |interrupt| {
        outcome = work.take().map(|work| work(interrupt));
    })?;
    match outcome {
        Some(outcome) => outcome.map_err(to_py_err),
        None => Err(PyRuntimeError::new_err("a worker thread died")),
    }
}

/// Runs `work` once on a pool of its own. Not generic, so that the pool, the wait and the signal
/// handling are compiled once for all callers.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method alone is not general enough in its lifetime"
)]
fn run_heeding_signals(
    py: Python<'_>,
    n_threads: usize,
    work: &mut (dyn FnMut(&Interrupt) + Send),
) -> PyResult<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().map_err(|err| {
        PyRuntimeError::new_err(format!("cannot start {n_threads} threads: {err}"))
    })?;
    let interrupt = &Interrupt::default();
    py.detach(move || {
        let (done, end) = sync_channel(1);
        pool.in_place_scope(move |scope| {
            scope.spawn(move |_| {
                work(interrupt);
                // The receiver outlives the scope, so sending cannot fail.
                let _ = done.send(());
            });
            let mut signal = None;
            loop {
                match end.recv_timeout(PATIENCE) {
                    // If `work` panicked, leaving the scope resumes the panic here.
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                        return signal.map_or(Ok(()), Err);
                    }
                    Err(RecvTimeoutError::Timeout) if signal.is_none() => {
                        if let Err(err) = Python::attach(|py| py.check_signals()) {
                            interrupt.stop();
                            signal = Some(err);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    })
}
