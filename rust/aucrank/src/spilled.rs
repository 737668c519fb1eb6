//! What lies in files for a while, or travels: files for their owner alone, and a checksum.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file that is not there yet, which nobody else may read: scores and labels may be secret.
pub(crate) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Tells changed bytes, not a forger; their number is a multiple of 8. Four sums at once, since one
/// would wait for each product.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let add = |sum: &mut u64, word: &[u8; 8]| {
        *sum = (sum.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
    };
    let (words, []) = bytes.as_chunks() else { unreachable!("whole words") };
    let mut sums = [1_u64, 2, 3, words.len() as u64];
    let (fours, rest) = words.as_chunks::<4>();
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, word)| add(sum, word));
    }
    for word in rest {
        add(&mut sums[0], word);
    }
    sums.iter().fold(0, |sum, next| (sum.rotate_left(17) ^ next).wrapping_mul(FACTOR))
}
