//! Peak memory of a call, counted for each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Larger blocks are refused, which ends the process: the machine must not suffer from a finding.
const LARGEST_BLOCK: usize = 2 << 30;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The allocator of the system, with a count of the allocated bytes.
pub struct Counting;

fn count(change: isize) {
    let live = LIVE.get() + change;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

// SAFETY: every call is passed on unchanged, or refused as an allocator may; counting neither
// allocates nor panics, since the cells have no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST_BLOCK {
            return std::ptr::null_mut();
        }
        count(layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST_BLOCK {
            return std::ptr::null_mut();
        }
        count(layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size().cast_signed()));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if new_size > LARGEST_BLOCK {
            return std::ptr::null_mut();
        }
        count(new_size.cast_signed() - layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

/// The result of a call, and the peak of bytes that this thread held during it, beyond those
/// before.
pub fn peak_of<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let answer = call();
    (answer, PEAK.get().saturating_sub(before).max(0).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_includes_freed_memory() {
        let ((), peak) = peak_of(|| drop(std::hint::black_box(vec![1_u8; 100_000])));
        assert!((100_000..101_000).contains(&peak), "{peak}");
        assert_eq!(peak_of(|| ()).1, 0);
    }
}
