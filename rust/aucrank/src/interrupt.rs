//! A flag by which a caller stops a long fit.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::RankError;

/// Shared between the waiting thread, which may receive Ctrl-C, and the fit, which checks it every
/// few milliseconds.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicBool);

impl Interrupt {
    /// Requests a stop; the fit returns [`RankError::Interrupted`] soon after.
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
