//! Memory that is to be near soon.

/// Bytes of memory that come together.
const LINE_BYTES: usize = 64;

/// Asks the processor to bring the memory at an address near, without waiting for it. What is there is not read: the
/// address may be of what is gone, or of nothing.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the instruction cannot be had otherwise")]
pub fn prefetch(address: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: The instruction has no effect that a program could see, whatever the address, and does not fault.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) }
}

/// Elsewhere there is no such instruction in stable Rust.
#[cfg(not(target_arch = "x86_64"))]
pub fn prefetch(_: usize) {}

/// Asks for all lines of so many bytes.
pub fn prefetch_all(address: usize, bytes: usize) {
    (0..bytes).step_by(LINE_BYTES).for_each(|at| prefetch(address.wrapping_add(at)));
    // It may begin within a line, and end in one more.
    prefetch(address.wrapping_add(bytes).wrapping_sub(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_will_do() {
        [0, 1, usize::MAX].into_iter().for_each(prefetch);
        [0, 1, usize::MAX].into_iter().for_each(|address| prefetch_all(address, 200));
    }
}
