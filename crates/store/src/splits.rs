//! Splits a range of the ring into parts with equal numbers of rows, for batch jobs.

/// Returns the inner boundaries of the parts: every `keys_per_split`th token after `start` up to `end`. The range wraps
/// around the ring if `end` is not after `start`. `tokens` must be sorted.
pub fn split_points(
    mut tokens: Vec<Vec<u8>>,
    start: &[u8],
    end: &[u8],
    keys_per_split: usize,
) -> Vec<Vec<u8>> {
    debug_assert!(tokens.is_sorted(), "parts would have unequal numbers of rows");
    let first_after_start = tokens.partition_point(|token| &token[..] <= start);
    tokens.rotate_left(first_after_start);
    let wraps = start >= end;
    tokens.retain(|token| {
        let (after_start, to_end) = (&token[..] > start, &token[..] <= end);
        if wraps { after_start || to_end } else { after_start && to_end }
    });
    tokens.into_iter().skip(keys_per_split.max(1)).step_by(keys_per_split.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_equal_numbers_of_keys_and_may_wrap() {
        let ring: Vec<Vec<u8>> = (1u8..=9).map(|token| vec![token]).collect();
        assert_eq!(split_points(ring.clone(), &[0], &[9], 4), [[5], [9]]);
        assert_eq!(split_points(ring.clone(), &[7], &[2], 2), [[1]]);
        assert!(split_points(ring, &[0], &[9], 100).is_empty());
    }
}
