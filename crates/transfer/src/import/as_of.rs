//! The clock of the old servers, if it is not ours.
//!
//! Files have seconds of the old clock: when a column expires, and when something was deleted. Left as they are, columns
//! with a time to live have expired while the disk was on a shelf, and old tombstones are past gc_grace. `--as-of` sets
//! the second at which the import is to happen; all seconds are shifted by the distance from there to now:
//!
//! ```text
//!   the old clock      deleted 10:00    --as-of 12:00    expires 13:00
//!   now, 8 years on    deleted 10:00          now        expires 13:00      2 hours ago, and in an hour
//! ```
//!
//! Timestamps do not change: they only order writes.

use std::str::FromStr;

use super::overflow::restored;
use base::marshal::parse_date;
use base::model::{Cell, CellKind, DeletionTime, RangeTombstone};
use sstable::Atom;

/// A second of the old clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsOf(i32);

impl FromStr for AsOf {
    type Err = String;

    /// Parses a date, or a date with a time and a zone. Without a zone the time is in UTC.
    fn from_str(text: &str) -> Result<AsOf, String> {
        let is_date = text.contains('-');
        let ms = parse_date(text).filter(|_| is_date).ok_or_else(|| {
            format!("{text:?} is not a date: write it as 2014-03-01 or 2014-03-01T12:00:00Z")
        })?;
        let second = i32::try_from(ms.div_euclid(1000));
        second.map(AsOf).map_err(|_| format!("{text:?} is not between 1901 and 2038"))
    }
}

impl AsOf {
    /// Returns the second since 1970.
    pub fn second(self) -> i32 {
        self.0
    }
}

/// The changes of seconds in files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockShift {
    /// By how many seconds the clock of the old servers is behind. 0: it is not.
    pub seconds: i32,
    /// Whether cells whose time to live has overflowed are restored.
    pub restores_overflow: bool,
}

impl ClockShift {
    /// Shifts a second. The ends of time stay where they are.
    fn second(self, second: i32) -> i32 {
        if second == i32::MAX { second } else { second.saturating_add(self.seconds) }
    }

    /// Shifts a deletion.
    pub fn deletion(self, deletion: DeletionTime) -> DeletionTime {
        if !deletion.is_deleted() {
            return deletion;
        }
        DeletionTime { local_deletion_time: self.second(deletion.local_deletion_time), ..deletion }
    }

    fn cell(self, cell: Cell) -> Cell {
        if self.restores_overflow
            && let Some(restored) = restored(&cell)
        {
            return restored;
        }
        let kind = match cell.kind {
            CellKind::Expiring { ttl_s, expires_at_s } => {
                CellKind::Expiring { ttl_s, expires_at_s: self.second(expires_at_s) }
            }
            CellKind::Deleted { local_deletion_time } => {
                CellKind::Deleted { local_deletion_time: self.second(local_deletion_time) }
            }
            kind => kind,
        };
        Cell { kind, ..cell }
    }

    /// Shifts a part of a row. Counters have no seconds.
    pub fn atom(self, atom: Atom) -> Atom {
        match atom {
            _ if self == ClockShift::default() => atom,
            Atom::Cell { super_column, cell } => Atom::Cell { super_column, cell: self.cell(cell) },
            Atom::SuperDeletion { name, deletion } => {
                Atom::SuperDeletion { name, deletion: self.deletion(deletion) }
            }
            Atom::Range(range) => {
                Atom::Range(RangeTombstone { deletion: self.deletion(range.deletion), ..range })
            }
            counter @ Atom::Counter { .. } => counter,
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn deletion(second: i32) -> DeletionTime {
        DeletionTime { marked_for_delete_at: 7, local_deletion_time: second }
    }

    #[test]
    fn seconds_are_shifted_and_timestamps_are_not() {
        let shift = ClockShift { seconds: 100, ..ClockShift::default() };
        assert_eq!(shift.deletion(deletion(5)), deletion(105));
        assert_eq!(shift.deletion(DeletionTime::LIVE), DeletionTime::LIVE);
        assert_eq!(shift.deletion(deletion(i32::MAX - 3)), deletion(i32::MAX));
        let cell = |kind| Atom::Cell {
            super_column: None,
            cell: Cell { kind, ..Cell::live(Bytes::from("a"), Bytes::from("b"), 9) },
        };
        let expiring = |expires_at_s| cell(CellKind::Expiring { ttl_s: 3, expires_at_s });
        assert_eq!(shift.atom(expiring(50)), expiring(150));
        let restores = ClockShift { restores_overflow: true, ..shift };
        let Atom::Cell { cell: restored, .. } = restores.atom(expiring(i32::MIN + 5)) else { panic!() };
        assert_eq!(restored.kind, CellKind::Expiring { ttl_s: 3, expires_at_s: i32::MAX - 1 });
        assert_eq!((restored.timestamp, restores.atom(expiring(50))), (10, expiring(150)));
        let deleted = |local_deletion_time| cell(CellKind::Deleted { local_deletion_time });
        assert_eq!(shift.atom(deleted(50)), deleted(150));
        assert_eq!(shift.atom(cell(CellKind::Live)), cell(CellKind::Live));
    }

    #[test]
    fn dates_are_in_utc_unless_they_have_a_zone() {
        let second = |text: &str| text.parse::<AsOf>().map(AsOf::second);
        assert_eq!(second("2014-03-01"), Ok(1_393_632_000));
        assert_eq!(second("2014-03-01T12:00:00Z"), Ok(1_393_675_200));
        assert_eq!(second("2014-03-01T12:00:00+02:00"), Ok(1_393_668_000));
        assert!(second("1393632000").unwrap_err().contains("is not a date"));
        assert!(second("2040-01-01").unwrap_err().contains("2038"));
    }
}
