//! How a caller follows a long fit, and stops it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::RankError;

/// Shared between the waiting thread, which may receive Ctrl-C, and the fit, which checks it every
/// few milliseconds and reports its parts.
///
/// # Examples
///
/// A fit that is observed:
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
/// use aucrank::boost::{FitExtras, RankBoostParams, RoundParams, fit_rank_boost};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::{Interrupt, FitPart};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// let n_rounds = Arc::new(AtomicUsize::new(0));
/// let seen = Arc::clone(&n_rounds);
/// let interrupt = Interrupt::observed_by(move |part: &FitPart<'_>| {
///     seen.store(part.number, Ordering::Relaxed);
///     part.number < 3
/// });
/// let params = RankBoostParams { rounds: RoundParams::default(), ..RankBoostParams::default() };
/// let extras = FitExtras::default();
/// let model = fit_rank_boost((&columns, &labels), &params, &extras, &interrupt).unwrap();
/// assert_eq!(model.terms().len(), n_rounds.load(Ordering::Relaxed));
/// ```
#[derive(Default)]
pub struct Interrupt {
    is_stopped: AtomicBool,
    observer: Option<Box<Observer>>,
    spent: Option<Box<dyn Fn() -> f64 + Send + Sync>>,
}

/// Called for each part; `false` requests that the fit end with what it has.
type Observer = dyn Fn(&FitPart<'_>) -> bool + Send + Sync;

/// A part of a fit that is done, such as a round, a tree or a term.
///
/// # Examples
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use aucrank::aurora::{RankOptParams, fit_rank_opt};
/// # use aucrank::data::{Columns, Labels};
/// use aucrank::{Interrupt, FitPart};
///
/// let lines = Arc::new(Mutex::new(Vec::new()));
/// let seen = Arc::clone(&lines);
/// let interrupt = Interrupt::observed_by(move |part: &FitPart<'_>| {
///     seen.lock().unwrap().push(format!("{} {} of {:?}", part.unit, part.number, part.most));
///     true
/// });
/// # let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// # let labels = Labels::new(&[false, true, false, true], None)?;
/// let params = RankOptParams { radii: vec![1.0, 2.0], ..RankOptParams::default() };
/// fit_rank_opt(&columns, &labels, &params, &interrupt)?;
/// assert_eq!(*lines.lock().unwrap(), ["radius 1 of Some(2)", "radius 2 of Some(2)"]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitPart<'a> {
    /// Unit of the part, in the singular.
    pub unit: &'static str,
    /// How many are done. 1 begins a stage: a fit may have several, such as one for each fold.
    pub number: usize,
    /// Maximum number of parts of the stage, if known.
    pub most: Option<usize>,
    /// Figures that the fit has reached, by name.
    pub figures: &'a [(&'static str, Option<f64>)],
}

impl Interrupt {
    /// With an observer that is called for each part of the fit, on the thread that has finished
    /// it. If it returns `false`, fits that can do with fewer parts end there.
    pub fn observed_by(observer: impl Fn(&FitPart<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self { observer: Some(Box::new(observer)), ..Self::default() }
    }

    /// The same, with a function for the share of its time that the fit has spent. Gradient boosting
    /// calls it before each round and before each question to rows elsewhere: once it returns 1 or
    /// more, the fit ends with the rounds that it has, at least one. Trials end earlier.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use aucrank::Interrupt;
    /// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
    /// use aucrank::data::{Columns, Labels};
    ///
    /// let values: Vec<f64> = (0..100).map(f64::from).collect();
    /// let positive: Vec<bool> = values.iter().map(|value| *value > 40.0).collect();
    /// let (columns, labels) = (Columns::from_row_major(&values, 1)?, Labels::new(&positive, None)?);
    /// let (params, extras) = (GradientParams::default(), GradientExtras::default());
    /// let (begin, limit) = (Instant::now(), Duration::from_nanos(1));
    /// let spent = move || begin.elapsed().as_secs_f64() / limit.as_secs_f64();
    /// let interrupt = Interrupt::default().limited_by(spent);
    /// let model = fit_gradient_boosting((&columns, &labels), &params, &extras, &interrupt)?;
    /// assert_eq!(model.trees().len(), 1);
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    #[must_use]
    pub fn limited_by(self, spent: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self { spent: Some(Box::new(spent)), ..self }
    }

    /// Whether the time of the fit is over.
    pub(crate) fn is_over(&self) -> bool {
        self.has_spent(1.0)
    }

    /// Whether the fit has spent a share of its time.
    pub(crate) fn has_spent(&self, share: f64) -> bool {
        self.spent.as_ref().is_some_and(|spent| spent() >= share)
    }

    /// Requests a stop; the fit returns [`RankError::Interrupted`] soon after.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// `Err` once [`Interrupt::stop`] was called.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub fn check(&self) -> Result<(), RankError> {
        if self.is_stopped.load(Ordering::Relaxed) { Err(RankError::Interrupted) } else { Ok(()) }
    }

    /// Reports a part; whether the fit is to go on.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub(crate) fn part_done(&self, part: &FitPart<'_>) -> Result<bool, RankError> {
        let goes_on = self.observer.as_ref().is_none_or(|observer| observer(part));
        self.check()?;
        Ok(goes_on)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Interrupt");
        shown.field("is_stopped", &self.is_stopped);
        shown.field("is_observed", &self.observer.is_some());
        shown.field("is_limited", &self.spent.is_some()).finish()
    }
}

/// Counts parts that are done in parallel.
#[derive(Debug)]
pub(crate) struct PartCounter<'a> {
    interrupt: &'a Interrupt,
    unit: &'static str,
    most: usize,
    n_done: Mutex<usize>,
}

impl<'a> PartCounter<'a> {
    pub(crate) fn new(interrupt: &'a Interrupt, unit: &'static str, most: usize) -> Self {
        Self { interrupt, unit, most, n_done: Mutex::default() }
    }

    /// Counts on from parts that were done before.
    pub(crate) fn after(self, n_done: usize) -> Self {
        Self { n_done: Mutex::new(n_done), ..self }
    }

    /// Reports one more part, in the order of the numbers.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub(crate) fn add(&self) -> Result<(), RankError> {
        let mut n_done = self.n_done.lock().unwrap_or_else(PoisonError::into_inner);
        *n_done += 1;
        let (unit, number, most) = (self.unit, *n_done, Some(self.most));
        self.interrupt.part_done(&FitPart { unit, number, most, figures: &[] }).map(drop)
    }
}
