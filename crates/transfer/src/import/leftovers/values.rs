//! Whether a column family has counters, by the values in its SSTables: the schema is read later.

use crate::import::SstableFile;
use sstable::{Atom, SstableError, TableOptions, TableReader, Unit};

/// Parts of rows of an SSTable that are read to see whether it has counters.
const UNITS_READ: usize = 100_000;

/// The kind of the values in an SSTable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Counters,
    Others,
    /// There are deletions only.
    None,
    /// Damage hides them.
    Unknown,
}

/// Returns the kind of the values of a column family: either all of them are counters, or none.
pub(super) fn values_of_all(tables: &[SstableFile]) -> Values {
    let mut found = Values::None;
    for table in tables {
        match values_of(table) {
            Values::None => {}
            Values::Unknown => found = Values::Unknown,
            known => return known,
        }
    }
    found
}

/// Returns the kind of the first value of an SSTable, past its damage.
fn values_of(table: &SstableFile) -> Values {
    let opened = TableReader::open_damaged(&table.path, &TableOptions::default());
    let Ok((mut reader, _)) = opened else { return Values::Unknown };
    let mut without = Values::None;
    for _ in 0..UNITS_READ {
        match reader.next_unit() {
            Ok(Some(Unit::Atom(Atom::Counter { .. }))) => return Values::Counters,
            Ok(Some(Unit::Atom(Atom::Cell { cell, .. }))) if cell.is_live() => return Values::Others,
            Ok(Some(_)) => {}
            Ok(None) => return without,
            Err(SstableError::Damaged(damage)) if reader.skip_damage(&damage).is_ok() => {
                without = Values::Unknown;
            }
            Err(_) => return Values::Unknown,
        }
    }
    Values::Unknown
}
