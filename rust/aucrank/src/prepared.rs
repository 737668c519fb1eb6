//! A form of a model that scores fast.

use std::sync::OnceLock;

/// A form of a model that scores fast, made when rows are first scored: making it takes longer than
/// scoring a few rows.
///
/// It is not part of the model: a clone makes its own, and comparisons ignore it. The model must
/// not change any more.
#[derive(Debug)]
pub(crate) struct Prepared<T>(OnceLock<T>);

impl<T> Prepared<T> {
    /// The form, made on first use.
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }
}

impl<T> Default for Prepared<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for Prepared<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Prepared<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
