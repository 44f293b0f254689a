//! Large allocations, which fail with an error instead of ending the process.

use super::meter::MeterError;

/// Returns an empty list with room for exactly `bytes` bytes.
///
/// # Errors
/// `OutOfMemory` if the operating system refuses the memory.
pub fn buffer_of(bytes: usize) -> Result<Vec<u8>, MeterError> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes).map_err(|_| MeterError::OutOfMemory { bytes })?;
    Ok(buffer)
}

/// Returns a list of `bytes` zeros.
///
/// # Errors
/// Fails like [`buffer_of`].
pub fn zeros(bytes: usize) -> Result<Vec<u8>, MeterError> {
    let mut buffer = buffer_of(bytes)?;
    buffer.resize(bytes, 0);
    Ok(buffer)
}

/// Makes room for further items in a list, which doubles if it grows.
///
/// # Errors
/// `OutOfMemory` if the operating system refuses the memory.
pub fn make_room<T>(list: &mut Vec<T>, further: usize) -> Result<(), MeterError> {
    let bytes = (list.len() + further).saturating_mul(size_of::<T>());
    list.try_reserve(further).map_err(|_| MeterError::OutOfMemory { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_no_machine_has_is_an_error() {
        assert_eq!(buffer_of(1 << 60), Err(MeterError::OutOfMemory { bytes: 1 << 60 }));
        assert_eq!(buffer_of(usize::MAX), Err(MeterError::OutOfMemory { bytes: usize::MAX }));
        let buffer = buffer_of(5000).unwrap();
        assert_eq!((buffer.len(), buffer.capacity(), zeros(3).unwrap()), (0, 5000, vec![0; 3]));
    }
}
