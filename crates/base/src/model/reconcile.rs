//! Reconciliation: decides which of two writes to one cell wins.
//!
//! This is decided when a write arrives, and never when a row is read:
//!
//! ```text
//!   stored              arrives            result (0.6)
//!   a = "x" @ 5         a = "y" @ 6        "y"        larger timestamp
//!   a = "x" @ 5         tombstone @ 5      tombstone  at equal timestamps a tombstone wins
//!   a = "x" @ 5         a = "y" @ 5        "y"        larger value
//!   tombstone @ 5       tombstone @ 5      the first  so that gc_grace does not begin again
//! ```
//!
//! Releases differ mainly in two points (`compat::rules::cells`). Up to 0.6 timestamps are compared by their
//! difference, which can overflow: then the smaller one wins. Recordings of these releases show it. And values of equal
//! timestamps are compared as signed or unsigned bytes, or the last write wins.

use std::cmp::Ordering;

use super::{Cell, CellKind, CellView};

use crate::compat::Behaviour;
use crate::compat::rules::{TimestampOrder, ValueTie};

/// The cell that wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Winner {
    /// The cell that is stored stays, and the new one is dropped.
    Old,
    /// The new cell replaces the one that is stored.
    New,
}

/// Returns which cell wins: the existing one or the new one. Expired cells must be passed as tombstones.
pub fn reconcile<'a>(old: &'a Cell, new: impl Into<CellView<'a>>, behaviour: &Behaviour) -> Winner {
    let (old, new) = (old.into(), new.into());
    let winner = winner_of(old, new, behaviour);
    debug_assert!(
        behaviour.cells.timestamps != TimestampOrder::Plain
            || winner == Winner::Old
            || winner_of(new, old, behaviour) == Winner::Old,
        "which of two cells wins would depend on the order in which they arrive"
    );
    winner
}

fn winner_of(old: CellView<'_>, new: CellView<'_>, behaviour: &Behaviour) -> Winner {
    if behaviour.cells.counter_deletions_are_final
        && (old.kind == CellKind::Counter) != (new.kind == CellKind::Counter)
    {
        // A counter's tombstone wins regardless of timestamps.
        match (old.is_live(), new.is_live()) {
            (true, false) => return Winner::New,
            (false, true) => return Winner::Old,
            _ => {}
        }
    }
    match by_timestamp(old, new, behaviour.cells.timestamps) {
        Ordering::Greater => Winner::Old,
        Ordering::Less => Winner::New,
        Ordering::Equal => by_kind_and_value(old, new, behaviour.cells.value_tie),
    }
}

fn by_timestamp(old: CellView<'_>, new: CellView<'_>, order: TimestampOrder) -> Ordering {
    let wraps = match order {
        TimestampOrder::WrappingUnlessOldIsDeleted => old.is_live(),
        TimestampOrder::WrappingBetweenValues => old.is_live() && new.is_live(),
        TimestampOrder::Plain => false,
    };
    if wraps { old.timestamp.wrapping_sub(new.timestamp).cmp(&0) } else { old.timestamp.cmp(&new.timestamp) }
}

fn by_kind_and_value(old: CellView<'_>, new: CellView<'_>, tie: ValueTie) -> Winner {
    match (old.is_live(), new.is_live()) {
        (false, _) => Winner::Old,
        (true, false) => Winner::New,
        (true, true) => match tie {
            ValueTie::LastWritten => Winner::New,
            ValueTie::LargerUnsigned => larger(old.value.cmp(new.value).then_with(|| by_expiry(old, new))),
            ValueTie::LargerSigned => {
                let order = signed_bytes(old.value).cmp(signed_bytes(new.value));
                larger(order.then_with(|| by_expiry(old, new)))
            }
        },
    }
}

/// Compares two cells with equal values by their expiry: the later one wins, and a cell that does not expire wins over
/// one that does.
fn by_expiry(old: CellView<'_>, new: CellView<'_>) -> Ordering {
    let end = |cell: CellView<'_>| match cell.kind {
        CellKind::Expiring { expires_at_s, ttl_s } => (expires_at_s, ttl_s),
        _ => (i32::MAX, i32::MAX),
    };
    end(old).cmp(&end(new))
}

fn larger(order: Ordering) -> Winner {
    if order == Ordering::Less { Winner::New } else { Winner::Old }
}

fn signed_bytes(value: &[u8]) -> impl Iterator<Item = i8> + '_ {
    value.iter().map(|byte| byte.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::Release;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn live(value: &'static [u8], timestamp: i64) -> Cell {
        Cell::live(Bytes::from_static(b"a"), Bytes::from_static(value), timestamp)
    }

    fn dead(timestamp: i64) -> Cell {
        Cell::tombstone(Bytes::from_static(b"a"), timestamp, 1)
    }

    #[test]
    fn equal_timestamps_are_decided_as_in_each_release() {
        let of = Behaviour::of;
        assert_eq!(reconcile(&live(b"b", 1), &live(b"a", 1), of(Release::V0_4)), Winner::New);
        assert_eq!(reconcile(&live(b"b", 1), &live(b"a", 1), of(Release::V0_6)), Winner::Old);
        assert_eq!(reconcile(&live(b"\x7f", 1), &live(b"\x80", 1), of(Release::V0_6)), Winner::New);
        assert_eq!(reconcile(&live(b"\x7f", 1), &live(b"\x80", 1), of(Release::V0_7)), Winner::Old);
        for release in Release::ALL {
            assert_eq!(reconcile(&live(b"a", 1), &dead(1), of(release)), Winner::New);
            assert_eq!(reconcile(&dead(1), &live(b"a", 1), of(release)), Winner::Old);
            assert_eq!(reconcile(&dead(1), &dead(1), of(release)), Winner::Old);
        }
    }

    #[test]
    fn differences_of_timestamps_overflow_up_to_0_6() {
        let far = (live(b"a", i64::MAX), live(b"b", -2));
        assert_eq!(reconcile(&far.0, &far.1, Behaviour::of(Release::V0_6)), Winner::New);
        assert_eq!(reconcile(&far.0, &far.1, Behaviour::of(Release::V0_7)), Winner::Old);
        assert_eq!(reconcile(&far.0, &dead(-2), Behaviour::of(Release::V0_6)), Winner::Old);
        assert_eq!(reconcile(&far.0, &dead(-2), Behaviour::of(Release::V0_4)), Winner::New);
    }

    fn expiring(value: &'static [u8], timestamp: i64, ttl_s: i32, now_s: i32) -> Cell {
        Cell::expiring(Bytes::from_static(b"a"), Bytes::from_static(value), timestamp, ttl_s, now_s)
    }

    fn counter(total: i64, timestamp: i64) -> Cell {
        Cell { kind: CellKind::Counter, ..Cell::increment(Bytes::from_static(b"a"), total, timestamp) }
    }

    #[test]
    fn of_equal_values_the_one_that_expires_later_wins() {
        for release in [Release::V0_6, Release::V0_7, Release::V2_1] {
            let of = Behaviour::of(release);
            let (short, long) = (expiring(b"a", 1, 10, 0), expiring(b"a", 1, 20, 0));
            assert_eq!(reconcile(&short, &long, of), Winner::New);
            assert_eq!(reconcile(&long, &short, of), Winner::Old);
            assert_eq!(reconcile(&live(b"a", 1), &long, of), Winner::Old);
            assert_eq!(reconcile(&long, &live(b"a", 1), of), Winner::New);
            // This holds only if values are equal and the cell has not expired.
            assert_eq!(reconcile(&live(b"a", 1), &expiring(b"b", 1, 1, 0), of), Winner::New);
            assert_eq!(reconcile(&expiring(b"b", 1, 10, 0).at(11, of), &live(b"c", 1), of), Winner::Old);
        }
    }

    #[test]
    fn a_counters_tombstone_is_final_in_2_1() {
        let of = Behaviour::of;
        assert_eq!(reconcile(&counter(5, 9), &dead(1), of(Release::V2_1)), Winner::New);
        assert_eq!(reconcile(&dead(1), &counter(5, 9), of(Release::V2_1)), Winner::Old);
        assert_eq!(reconcile(&counter(5, 9), &dead(8), of(Release::V2_0)), Winner::Old);
        assert_eq!(reconcile(&counter(5, 9), &dead(9), of(Release::V2_0)), Winner::New);
        // A combination that cannot occur does no harm.
        assert_eq!(reconcile(&counter(5, 9), &live(b"a", 10), of(Release::V2_1)), Winner::New);
    }

    fn any_cell() -> impl Strategy<Value = Cell> {
        let value = prop::sample::select(vec![&b""[..], b"a", b"b", b"ab", b"\x7f", b"\x80"]);
        (value, -3i64..3, 0..4, 0..3, 1..3).prop_map(|(value, timestamp, kind, now_s, ttl_s)| match kind {
            0 => dead(timestamp),
            1 => expiring(value, timestamp, ttl_s, now_s),
            _ => live(value, timestamp),
        })
    }

    fn merge(old: &Cell, new: &Cell, behaviour: &Behaviour) -> Cell {
        match reconcile(old, new, behaviour) {
            Winner::Old => old.clone(),
            Winner::New => new.clone(),
        }
    }

    proptest! {
        // In 0.4 and 0.5 the last write wins at equal timestamps, so the laws hold from 0.6 on (in 0.6 for timestamps
        // whose difference does not overflow).
        #[test]
        fn merging_is_commutative_associative_and_idempotent(
            a in any_cell(), b in any_cell(), c in any_cell(),
            release in prop::sample::select(vec![Release::V0_6, Release::V0_7, Release::V2_1]),
        ) {
            let behaviour = Behaviour::of(release);
            let m = |x: &Cell, y: &Cell| merge(x, y, behaviour);
            prop_assert_eq!(m(&a, &b), m(&b, &a));
            prop_assert_eq!(m(&m(&a, &b), &c), m(&a, &m(&b, &c)));
            prop_assert_eq!(m(&a, &a), a);
        }
    }
}
