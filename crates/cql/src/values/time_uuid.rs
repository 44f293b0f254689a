//! Version 1 UUIDs that the server generates.

use std::sync::LazyLock;

use db::Database;

/// The time from the start of the UUID clock, in 1582, to 1970, in units of 100 ns.
const UUID_EPOCH: u64 = 0x01B2_1DD2_1381_4000;

/// The start of 2010, in microseconds since 1970. The times of prepended list elements are mirrored around it.
const MIRROR_MICROS: i64 = 1_262_304_000_000_000;

/// The clock sequence and node of this process. The node is random, and marked as not being a network address.
static CLOCK_AND_NODE: LazyLock<[u8; 8]> = LazyLock::new(|| {
    let [.., a, b, c, d, e, f, g, h] = *uuid::Uuid::new_v4().as_bytes();
    [a & 0x3F | 0x80, b, c | 1, d, e, f, g, h]
});

/// Returns the UUID of a time in units of 100 ns.
fn with_time(time: u64, clock_and_node: [u8; 8]) -> [u8; 16] {
    let [h0, h1, m0, m1, l0, l1, l2, l3] = time.to_be_bytes();
    let [c0, c1, n0, n1, n2, n3, n4, n5] = clock_and_node;
    [l0, l1, l2, l3, m0, m1, h0 & 0x0F | 0x10, h1, c0, c1, n0, n1, n2, n3, n4, n5]
}

fn of_micros(micros: i64, clock_and_node: [u8; 8]) -> [u8; 16] {
    let ticks = micros.wrapping_mul(10).cast_unsigned();
    with_time(UUID_EPOCH.wrapping_add(ticks), clock_and_node)
}

/// Returns the smallest UUID of a millisecond, in the order of timeuuid.
pub(super) fn min_of_ms(ms: i64) -> [u8; 16] {
    of_micros(ms.wrapping_mul(1000), [0x80; 8])
}

/// Returns a UUID of a millisecond, as Cassandra converts dates (`UUIDGen.getTimeUUIDBytes`). It is the same for the same
/// millisecond until the server restarts.
pub(crate) fn uuid_of_ms(ms: i64) -> [u8; 16] {
    of_micros(ms.wrapping_mul(1000), *CLOCK_AND_NODE)
}

/// Returns the largest UUID of a millisecond.
pub(super) fn max_of_ms(ms: i64) -> [u8; 16] {
    let ticks = ms.wrapping_mul(10_000).wrapping_add(9_999).cast_unsigned();
    with_time(UUID_EPOCH.wrapping_add(ticks), [0x7F; 8])
}

/// Returns the milliseconds since 1970 of a version 1 UUID.
pub(super) fn unix_ms(uuid: [u8; 16]) -> i64 {
    let [l0, l1, l2, l3, m0, m1, h0, h1, ..] = uuid;
    let time = u64::from_be_bytes([h0 & 0x0F, h1, m0, m1, l0, l1, l2, l3]);
    time.wrapping_sub(UUID_EPOCH).cast_signed().div_euclid(10_000)
}

/// Returns a UUID of the current time, larger than all earlier ones. Used for `now()` and for the names of appended
/// list elements.
pub fn append_uuid(database: &Database) -> [u8; 16] {
    of_micros(database.next_micros(), *CLOCK_AND_NODE)
}

/// Returns the names of `count` prepended list elements, in their order. They are smaller than all earlier ones.
pub(crate) fn prepend_uuids(database: &Database, count: usize) -> Vec<[u8; 16]> {
    let mut uuids: Vec<[u8; 16]> = (0..count)
        .map(|_| {
            let micros = MIRROR_MICROS.wrapping_mul(2).wrapping_sub(database.next_micros());
            of_micros(micros, *CLOCK_AND_NODE)
        })
        .collect();
    uuids.reverse();
    uuids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_time_uuid_can_be_read() {
        for ms in [0i64, 1_262_304_000_000, -1, 1_700_000_000_123] {
            assert_eq!(unix_ms(min_of_ms(ms)), ms);
            assert_eq!(unix_ms(max_of_ms(ms)), ms);
            assert_eq!(unix_ms(of_micros(ms * 1000 + 999, *CLOCK_AND_NODE)), ms);
            assert_eq!(min_of_ms(ms)[6] >> 4, 1);
        }
        assert_eq!(uuid::Uuid::from_bytes(min_of_ms(0)).to_string(), "13814000-1dd2-11b2-8080-808080808080");
        assert_eq!(CLOCK_AND_NODE[0] >> 6, 2);
    }
}
