//! Items in order, joined to groups of about as many rows each.

/// The group of each item: its own if at most `most` items have rows; or groups of about as many
/// rows each. Items without rows join the one before.
pub(crate) fn row_groups(sizes: &[u64], most: usize) -> Vec<u8> {
    let n_occupied = sizes.iter().filter(|&&size| size > 0).count();
    let total: u64 = sizes.iter().sum();
    let (mut before, mut group, mut last) = (0_u64, 0_usize, None);
    let mut groups = Vec::with_capacity(sizes.len());
    for &size in sizes {
        if size > 0 {
            // The part of the rows in which the middle row of the item lies.
            let part = if n_occupied <= most {
                last.map_or(0, |last| last + 1)
            } else {
                let middle = u128::from(2 * before + size) * most as u128;
                (middle / (2 * u128::from(total))) as usize
            };
            if last.is_some_and(|last| last < part) {
                group += 1;
            }
            last = Some(part);
        }
        groups.push(group as u8);
        before += size;
    }
    groups
}
