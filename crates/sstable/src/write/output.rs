//! Bytes of a file that is written: numbers in big-endian order, and the variable-length integers of 3.x.

use base::util::{push_signed_vint, push_vint};

/// The content of a file, or a part of it.
#[derive(Debug, Clone, Default)]
pub(super) struct FileOutput {
    pub bytes: Vec<u8>,
}

impl FileOutput {
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn u8(&mut self, number: u8) {
        self.bytes.push(number);
    }

    pub(super) fn i32(&mut self, number: i32) {
        self.put(&number.to_be_bytes());
    }

    pub(super) fn u32(&mut self, number: u32) {
        self.put(&number.to_be_bytes());
    }

    pub(super) fn i64(&mut self, number: i64) {
        self.put(&number.to_be_bytes());
    }

    pub(super) fn f64(&mut self, number: f64) {
        self.put(&number.to_be_bytes());
    }

    /// Appends a variable-length number.
    pub(super) fn vint(&mut self, number: u64) {
        push_vint(number, &mut self.bytes);
    }

    /// Appends a signed variable-length number.
    pub(super) fn signed_vint(&mut self, number: i64) {
        push_signed_vint(number, &mut self.bytes);
    }

    /// Appends bytes behind their length as a variable-length number.
    pub(super) fn vint_bytes(&mut self, bytes: &[u8]) {
        self.vint(bytes.len() as u64);
        self.put(bytes);
    }

    /// Appends bytes behind two bytes with their length. Longer ones than that are refused before.
    pub(super) fn short_bytes(&mut self, bytes: &[u8]) {
        self.put(&u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_be_bytes());
        self.put(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use proptest::prelude::*;
    use std::path::Path;

    fn read(output: FileOutput) -> u64 {
        let mut input = Input::of_memory(Path::new("memory"), output.bytes);
        let number = input.vint().unwrap();
        assert_eq!(input.remaining(), 0);
        number
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number in any::<u64>(), shift in 0u32..64) {
            let number = number >> shift;
            let mut output = FileOutput::default();
            output.vint(number);
            let bits = u64::BITS - number.leading_zeros();
            prop_assert_eq!(output.bytes.len() as u32, bits.div_ceil(7).clamp(1, 9));
            prop_assert_eq!(read(output), number);
        }
    }

    #[test]
    fn signs_are_the_lowest_bit() {
        for (number, expected) in [(0, 0), (-1, 1), (1, 2), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)] {
            let mut output = FileOutput::default();
            output.signed_vint(number);
            assert_eq!(read(output), expected);
        }
    }
}
