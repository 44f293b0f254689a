//! The time until the end of a long task.

use std::time::Duration;

/// Returns how long the rest of a task takes at the speed so far: `done` parts took `elapsed`, and `left` parts are left.
/// `None` if nothing is done yet, or if the time is out of the range of a duration.
pub fn time_left(elapsed: Duration, done: u64, left: u64) -> Option<Duration> {
    if done == 0 {
        return None;
    }
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * left as f64 / done as f64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_the_parts_before() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(time_left(elapsed, 1, 3), Some(Duration::from_secs(30)));
        assert_eq!(time_left(elapsed, 4, 0), Some(Duration::ZERO));
        assert_eq!(time_left(elapsed, 0, 3), None);
        assert_eq!(time_left(Duration::MAX, 1, u64::MAX), None);
    }
}
