//! A flag by which a caller stops a long fit.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::RankError;

/// Shared between the thread that waits (and may hear Ctrl-C) and the fit, which looks at it
/// between pieces of work of some milliseconds.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicBool);

impl Interrupt {
    /// Asks the fit to stop; it returns [`RankError::Interrupted`] soon after.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// `Err` once [`Interrupt::stop`] was called.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub fn check(&self) -> Result<(), RankError> {
        if self.0.load(Ordering::Relaxed) { Err(RankError::Interrupted) } else { Ok(()) }
    }
}
