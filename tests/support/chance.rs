//! Pseudorandom numbers from a seed.

/// A small pseudorandom generator. The same seed always gives the same numbers, so a failure can be repeated.
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// Returns the seed from an environment variable, or a new one from the clock. Tests print it, so that a failure
    /// can be repeated.
    pub fn seed_from(variable: &str) -> u64 {
        match std::env::var(variable) {
            Ok(text) => text.parse().expect("a seed is a number"),
            Err(_) => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
                since.as_secs() ^ u64::from(since.subsec_nanos()) << 20
            }
        }
    }

    pub fn next(&mut self) -> u64 {
        // The SplitMix64 generator.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `end`, exclusive.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
