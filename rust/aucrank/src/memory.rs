//! Large allocations that return an error on failure, where a `Vec` would end the process.

use crate::RankError;

/// `len` copies of a value.
pub(crate) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, RankError> {
    let mut out = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    out.try_reserve_exact(len).map_err(|_| RankError::OutOfMemory { bytes })?;
    out.resize(len, value);
    Ok(out)
}

/// Checks that `bytes` more could be allocated; they are freed again.
pub(crate) fn check_room(bytes: usize) -> Result<(), RankError> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| RankError::OutOfMemory { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_allocations_are_errors() {
        let bytes = usize::MAX / 2;
        assert_eq!(check_room(bytes), Err(RankError::OutOfMemory { bytes }));
        assert!(filled(usize::MAX / 8, 0.0).is_err());
        assert_eq!(filled(3, 7), Ok(vec![7; 3]));
        assert_eq!(check_room(1000), Ok(()));
    }
}
