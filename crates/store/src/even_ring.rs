//! A ring of numbers over which rows are distributed evenly: computes the share of a range, and splits ranges.

use base::partitioner::Partitioner;

/// The ring of a partitioner whose tokens are hashes.
#[derive(Debug, Clone, Copy)]
pub struct EvenRing {
    /// Bytes of a token.
    width: usize,
    /// Number of tokens.
    size: u128,
}

impl EvenRing {
    /// Returns the ring of a partitioner. `None` if tokens have the order of the keys: then the distribution of rows is
    /// not known.
    pub fn of(partitioner: &dyn Partitioner) -> Option<EvenRing> {
        let last = partitioner.maximum_token()?;
        assert!(last.len() <= size_of::<u128>(), "tokens of {} bytes are not numbers", last.len());
        Some(EvenRing { width: last.len(), size: number(&last).saturating_add(1) })
    }

    /// Returns the number of tokens after `start` up to `end`. The range wraps around the ring if `end` is not after
    /// `start`.
    fn length(self, start: u128, end: u128) -> u128 {
        debug_assert!(start < self.size && end < self.size, "a place is outside of the ring");
        if start < end { end - start } else { self.size - (start - end) }
    }

    /// Returns the share of the ring after `start` up to `end`: more than 0, and 1 if both are equal.
    pub fn share(self, start: &[u8], end: &[u8]) -> f64 {
        self.length(self.place(start), self.place(end)) as f64 / self.size as f64
    }

    /// Returns the tokens between `parts` parts of equal length.
    pub fn cut(self, start: &[u8], end: &[u8], parts: usize) -> Vec<Vec<u8>> {
        let (start, end) = (self.place(start), self.place(end));
        let length = self.length(start, end);
        let parts = (parts.max(1) as u128).min(length);
        (1..parts)
            .map(|part| {
                // In two steps, since the product may be too large.
                let after = length / parts * part + length % parts * part / parts;
                let room = self.size - start;
                let token = if after < room { start + after } else { after - room };
                debug_assert!(
                    token < self.size && token != end,
                    "a part would be empty or outside of the ring"
                );
                token.to_be_bytes()[size_of::<u128>() - self.width..].to_vec()
            })
            .collect()
    }

    fn place(self, token: &[u8]) -> u128 {
        number(token).min(self.size - 1)
    }
}

/// Returns a token as a number. Bytes after the 16th are ignored; no such ring has them.
fn number(token: &[u8]) -> u128 {
    token.iter().take(size_of::<u128>()).fold(0, |number, byte| number << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::partitioner::{ByteOrderedPartitioner, Murmur3Partitioner, RandomPartitioner};

    fn cut(partitioner: &dyn Partitioner, start: &str, end: &str, parts: usize) -> Vec<String> {
        let token = |text| partitioner.parse_token(text).unwrap();
        let points = EvenRing::of(partitioner).unwrap().cut(&token(start), &token(end), parts);
        points.iter().map(|point| partitioner.token_text(point)).collect()
    }

    #[test]
    fn a_range_is_cut_into_equal_parts() {
        assert_eq!(cut(&Murmur3Partitioner, "-100", "100", 4), ["-50", "0", "50"]);
        assert_eq!(cut(&RandomPartitioner, "0", "10", 2), ["5"]);
        assert_eq!(cut(&RandomPartitioner, "0", "10", 1), [""; 0]);
        // There cannot be more parts than tokens.
        assert_eq!(cut(&RandomPartitioner, "0", "3", 100), ["1", "2"]);
    }

    #[test]
    fn a_range_may_wrap_around_the_ring() {
        let all = cut(&Murmur3Partitioner, "0", "0", 4);
        assert_eq!(all, ["4611686018427387904", "-9223372036854775808", "-4611686018427387904"]);
        let last = "9223372036854775807";
        assert_eq!(
            cut(&Murmur3Partitioner, last, "-9223372036854775805", 3),
            ["-9223372036854775808", "-9223372036854775807"]
        );
        let (half, most) =
            ("85070591730234615865843651857942052864", "170141183460469231731687303715884105728");
        assert_eq!(cut(&RandomPartitioner, most, half, 2), ["42535295865117307932921825928971026431"]);
    }

    #[test]
    fn shares_are_fractions_of_the_ring() {
        let token = |text| Murmur3Partitioner.parse_token(text).unwrap();
        let ring = EvenRing::of(&Murmur3Partitioner).unwrap();
        let low = token("-9223372036854775808");
        assert_eq!(ring.share(&low, &token("0")), 0.5);
        assert_eq!(ring.share(&token("0"), &low), 0.5);
        assert_eq!(ring.share(&token("7"), &token("7")), 1.0);
        assert!(EvenRing::of(&ByteOrderedPartitioner).is_none());
    }
}
