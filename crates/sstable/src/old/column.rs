//! One column, with its name, flags, timestamp and value.
//!
//! ```text
//!   column           name | flags | timestamp | value
//!   expiring column  name | flags | ttl | second of expiry | timestamp | value
//!   counter          name | flags | timestamp of the last deletion | timestamp | context
//!   range tombstone  name | flags | last name | local deletion time | timestamp       (1.2 and later)
//! ```
//!
//! The value of a tombstone is its local deletion time.

use bytes::Bytes;

use super::super::atom::{Atom, read_deletion};
use super::super::counter::{CounterCell, shards_of};
use super::super::error::SstableError;
use super::super::format::{Format, flags};
use super::super::input::Input;
use base::model::{Cell, CellKind, RangeTombstone};

/// Reads the rest of a column after its name.
pub(in super::super) fn read_column(
    input: &mut Input,
    format: &Format,
    name: Bytes,
    super_column: Option<Bytes>,
) -> Result<Atom, SstableError> {
    let flags = input.u8()?;
    if flags & !format.column_flags != 0 {
        let why = format!("a column with the flags {flags:#04x}, which this version does not have");
        return Err(input.damaged(why));
    }
    if flags & flags::RANGE != 0 {
        if super_column.is_some() {
            return Err(input.damaged("a range tombstone in a super column"));
        }
        return read_range(input, name);
    }
    if flags & flags::COUNTER != 0 {
        let last_delete = input.i64()?;
        let timestamp = input.i64()?;
        let context = input.int_bytes()?;
        let shards = shards_of(&context).map_err(|why| input.damaged(why))?;
        let counter = CounterCell { name, timestamp, last_delete, shards };
        return Ok(Atom::Counter { super_column, counter });
    }
    let kind = if flags & flags::EXPIRING != 0 {
        CellKind::Expiring { ttl_s: input.i32()?, expires_at_s: input.i32()? }
    } else {
        CellKind::Live
    };
    let timestamp = input.i64()?;
    let value = input.int_bytes()?;
    if flags & flags::DELETED == 0 || matches!(kind, CellKind::Expiring { .. }) {
        return Ok(Atom::Cell { super_column, cell: Cell { name, value, timestamp, kind } });
    }
    let Ok(local_deletion_time) = value.as_ref().try_into().map(i32::from_be_bytes) else {
        let why = format!("a tombstone whose local deletion time has {} bytes", value.len());
        return Err(input.damaged(why));
    };
    Ok(Atom::Cell { super_column, cell: Cell::tombstone(name, timestamp, local_deletion_time) })
}

fn read_range(input: &mut Input, start: Bytes) -> Result<Atom, SstableError> {
    let finish = input.short_bytes()?;
    let deletion = read_deletion(input)?;
    Ok(Atom::Range(RangeTombstone { super_column: None, start, finish, deletion }))
}
