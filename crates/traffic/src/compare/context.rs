//! The context of a comparison: the facts about both runs.

/// Both runs so far, and the contents of the recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub recorded: RunSpan,
    pub candidate: RunSpan,
    /// Whether a statement has called `uuid()`.
    pub has_random_uuids: bool,
    /// Whether a call has let the server set timestamps of columns: a statement, or `cas`.
    pub has_server_timestamps: bool,
}

/// A span of time, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunSpan {
    pub from_us: i64,
    pub to_us: i64,
}

/// By how much the clocks of a server and of the recorder may differ, in microseconds.
const CLOCKS_DIFFER_US: i64 = 60_000_000;
/// Microseconds from 1582, when the times of UUIDs begin, to 1970.
const UUID_EPOCH_US: i64 = 12_219_292_800_000_000;

impl RunSpan {
    /// Returns whether a time is within the span, as far as clocks agree.
    pub(crate) fn has(self, at_us: i64) -> bool {
        let (from, to) =
            (self.from_us.saturating_sub(CLOCKS_DIFFER_US), self.to_us.saturating_add(CLOCKS_DIFFER_US));
        (from..=to).contains(&at_us)
    }

    /// Returns its length in seconds, rounded up.
    pub(crate) fn seconds(self) -> i64 {
        self.to_us.saturating_sub(self.from_us).saturating_add(999_999) / 1_000_000
    }
}

impl Context {
    /// Returns whether both numbers are times of the run of their side, in microseconds.
    pub(crate) fn are_times_us(&self, recorded: i64, candidate: i64) -> bool {
        self.recorded.has(recorded) && self.candidate.has(candidate)
    }

    /// Returns whether both values are UUIDs with the time of the run of their side.
    pub(crate) fn are_time_uuids(&self, recorded: &[u8], candidate: &[u8]) -> bool {
        let time = |uuid| time_of_uuid(uuid).unwrap_or(i64::MIN);
        self.are_times_us(time(recorded), time(candidate))
    }

    /// Returns whether both values are random UUIDs that the servers may have made.
    pub(crate) fn are_random_uuids(&self, recorded: &[u8], candidate: &[u8]) -> bool {
        self.has_random_uuids && [recorded, candidate].into_iter().all(|uuid| version_of(uuid) == Some(4))
    }
}

/// Returns the version of a UUID; `None` if the bytes are none.
fn version_of(uuid: &[u8]) -> Option<u8> {
    let [_, _, _, _, _, _, version, _, variant, ..] = <[u8; 16]>::try_from(uuid).ok()?;
    (variant & 0xc0 == 0x80).then_some(version >> 4)
}

/// Returns the time of a UUID of version 1, in microseconds since 1970.
fn time_of_uuid(uuid: &[u8]) -> Option<i64> {
    if version_of(uuid)? != 1 {
        return None;
    }
    let uuid = <&[u8; 16]>::try_from(uuid).ok()?;
    let [a, b, c, d, e, f, g, h, ..] = *uuid;
    let ticks = i64::from_be_bytes([g & 0x0f, h, e, f, a, b, c, d]);
    Some(ticks / 10 - UUID_EPOCH_US)
}

#[cfg(test)]
pub mod testing {
    use super::*;

    /// Returns the context of a recording of 100 seconds in 2001 that is replayed in 2017.
    pub fn context() -> Context {
        let span = |from_s: i64| RunSpan { from_us: from_s * 1_000_000, to_us: (from_s + 100) * 1_000_000 };
        Context {
            recorded: span(1_000_000_000),
            candidate: span(1_500_000_000),
            has_random_uuids: false,
            has_server_timestamps: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::context;
    use super::*;

    #[test]
    fn the_time_of_a_uuid_is_that_of_its_fields() {
        // 13814000-1dd2-11b2-8080-808080808080 is the first UUID of 1970.
        let mut uuid =
            [0x13, 0x81, 0x40, 0x00, 0x1d, 0xd2, 0x11, 0xb2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];
        assert_eq!(time_of_uuid(&uuid), Some(0));
        uuid[3] = 20;
        assert_eq!(time_of_uuid(&uuid), Some(2));
        uuid[6] = 0x41;
        assert_eq!(time_of_uuid(&uuid), None);
        assert_eq!(time_of_uuid(&uuid[1..]), None);
    }

    #[test]
    fn times_belong_to_the_run_of_their_side() {
        let (context, second) = (context(), 1_000_000);
        assert!(context.are_times_us(1_000_000_050 * second, 1_500_000_000 * second));
        assert!(!context.are_times_us(1_500_000_000 * second, 1_000_000_050 * second));
        assert!(!context.are_times_us(5, 5));
        assert_eq!(context.recorded.seconds(), 100);
    }
}
