//! The random generator SplitMix64: a few instructions a number, and good enough to choose keys and faults.

/// A state of the generator. The same state gives the same numbers.
#[derive(Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Returns the next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, which is below 2^32.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((self.next_number() >> 32) * limit) >> 32
    }
}
