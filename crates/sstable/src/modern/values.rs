//! The parts of rows of 3.x: flags, times relative to the baselines of the file, clustering values, sets of columns.

use std::sync::Arc;

use bytes::Bytes;

use super::super::error::SstableError;
use super::super::input::Input;
use super::super::statistics::{RowHeader, StoredColumn, ValueType, low_half, moved};
use base::model::DeletionTime;

/// Flags of a row or of a bound of a range tombstone.
pub(super) mod row_flags {
    /// Ends the partition.
    pub(crate) const END: u8 = 0x01;
    /// A bound of a range tombstone, and not a row.
    pub(crate) const MARKER: u8 = 0x02;
    /// The row has a timestamp of its own: CQL's row marker.
    pub(crate) const TIMESTAMP: u8 = 0x04;
    /// The row marker expires.
    pub(crate) const TTL: u8 = 0x08;
    /// The row was deleted.
    pub(crate) const DELETION: u8 = 0x10;
    /// The row has all columns of the file.
    pub(crate) const ALL_COLUMNS: u8 = 0x20;
    /// Complex columns have deletions.
    pub(crate) const COMPLEX_DELETION: u8 = 0x40;
    /// A second byte of flags follows.
    pub(crate) const EXTENDED: u8 = 0x80;
    /// In the second byte: the static row.
    pub(crate) const STATIC: u8 = 0x01;
    /// In the second byte: the deletion is shadowed by newer cells, in materialized views.
    pub(crate) const SHADOWABLE: u8 = 0x02;
}

/// The last second of expiry of 3.x, 2038-01-19, to which 3.x moves a later one (`ExpirationDateOverflowHandling`).
pub(super) const LAST_SECOND: i32 = i32::MAX - 1;

/// Clustering values that share one bit field of null and empty values.
const BATCH: usize = 32;

/// From this number of columns on, the set of a row's columns is a list of positions and not of bits.
const LARGE_SET: usize = 64;

/// Reads values relative to the baselines of the file.
impl RowHeader {
    pub(super) fn timestamp(&self, input: &mut Input) -> Result<i64, SstableError> {
        Ok(self.least_timestamp.wrapping_add(input.vint()?.cast_signed()))
    }

    /// Reads a local deletion time, or the second of expiry. Cells of this server end in 2038, as those up to 4.1: a later time is
    /// the last one that these releases have for it.
    pub(super) fn deletion_time_s(&self, input: &mut Input) -> Result<i32, SstableError> {
        let at_s = moved(self.least_deletion_time, input.vint()?, self.has_unsigned_times);
        Ok(i32::try_from(at_s).unwrap_or(LAST_SECOND))
    }

    pub(super) fn ttl_s(&self, input: &mut Input) -> Result<i32, SstableError> {
        Ok(self.least_ttl.wrapping_add(low_half(input.vint()?)))
    }

    pub(super) fn deletion(&self, input: &mut Input) -> Result<DeletionTime, SstableError> {
        let marked_for_delete_at = self.timestamp(input)?;
        let local_deletion_time = self.deletion_time_s(input)?;
        Ok(match marked_for_delete_at {
            i64::MIN => DeletionTime::LIVE,
            _ => DeletionTime { marked_for_delete_at, local_deletion_time },
        })
    }
}

/// The first byte of a deletion of 5.0 without one. Its highest bit is the sign of the timestamp otherwise.
const LIVE: u8 = 0x80;

/// Reads the deletion of a partition of 5.0: timestamp and local deletion time, or one byte if there is none.
pub(super) fn read_short_deletion(input: &mut Input) -> Result<DeletionTime, SstableError> {
    let first = input.u8()?;
    if first == LIVE {
        return Ok(DeletionTime::LIVE);
    }
    if first & LIVE != 0 {
        return Err(input.damaged(format!("a deletion that begins with {first:#04x}")));
    }
    let rest = input.bytes(7)?;
    let marked_for_delete_at =
        rest.iter().fold(i64::from(first), |number, byte| number << 8 | i64::from(*byte));
    let local_deletion_time = i32::try_from(input.u32()?).unwrap_or(LAST_SECOND);
    Ok(DeletionTime { marked_for_delete_at, local_deletion_time })
}

/// Reads a value of a type.
pub(super) fn read_value(input: &mut Input, of: &ValueType) -> Result<Bytes, SstableError> {
    match of.length {
        Some(length) => input.bytes(length),
        None => input.vint_bytes(),
    }
}

/// Reads clustering values. A value can be null in dense tables, where it ends the name.
pub(super) fn read_clustering(
    input: &mut Input,
    types: &[ValueType],
) -> Result<Vec<Option<Bytes>>, SstableError> {
    let mut values = Vec::with_capacity(types.len());
    for batch in types.chunks(BATCH) {
        let bits = input.vint()?;
        for (at, of) in batch.iter().enumerate() {
            let (is_empty, is_null) = (bits >> (2 * at) & 1 == 1, bits >> (2 * at + 1) & 1 == 1);
            values.push(match (is_null, is_empty) {
                (true, _) => None,
                (false, true) => Some(Bytes::new()),
                (false, false) => Some(read_value(input, of)?),
            });
        }
    }
    Ok(values)
}

/// Reads the values of a bound: of the first clustering columns.
pub(in super::super) fn read_bound(
    input: &mut Input,
    types: &[ValueType],
) -> Result<Vec<Option<Bytes>>, SstableError> {
    let count = usize::from(input.u16()?);
    let types = types.get(..count).ok_or_else(|| input.damaged(format!("a bound of {count} values")))?;
    if types.is_empty() { Ok(Vec::new()) } else { read_clustering(input, types) }
}

/// Reads which columns of the file the row has, and returns their positions in order.
pub(super) fn read_columns(
    input: &mut Input,
    columns: &[Arc<StoredColumn>],
) -> Result<Vec<usize>, SstableError> {
    let number = input.vint()?;
    if columns.len() >= LARGE_SET {
        return read_large_set(input, number, columns.len());
    }
    if number >> columns.len() != 0 {
        return Err(input.damaged("a row with more columns than the file"));
    }
    // A bit is set for each column that is missing.
    Ok((0..columns.len()).filter(|at| number >> at & 1 == 0).collect())
}

/// Reads the positions of the columns that the row has, or the positions of the others if they are fewer. `missing` is
/// the number of columns that it does not have.
fn read_large_set(input: &mut Input, missing: u64, columns: usize) -> Result<Vec<usize>, SstableError> {
    let missing = usize::try_from(missing).ok().filter(|missing| *missing <= columns);
    let missing = missing.ok_or_else(|| input.damaged("a row with fewer than no columns"))?;
    let present = columns - missing;
    let lists_present = present < columns / 2;
    let mut listed = Vec::new();
    for _ in 0..if lists_present { present } else { missing } {
        let position = usize::try_from(input.vint()?).unwrap_or(usize::MAX);
        if position >= columns || listed.last().is_some_and(|last| *last >= position) {
            return Err(input.damaged("a row with columns that the file does not have"));
        }
        listed.push(position);
    }
    if lists_present {
        return Ok(listed);
    }
    Ok((0..columns).filter(|at| listed.binary_search(at).is_err()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn over(content: &[u8]) -> Input {
        Input::of_memory(Path::new("memory"), content.to_vec())
    }

    fn columns(count: usize) -> Vec<Arc<StoredColumn>> {
        let value = ValueType { class: String::new(), length: None };
        let column = StoredColumn {
            name: Bytes::new(),
            value,
            is_complex: false,
            is_user_type: false,
            is_counter: false,
        };
        let column = Arc::new(column);
        vec![column; count]
    }

    #[test]
    fn sets_of_columns_are_read_in_all_forms() {
        assert_eq!(read_columns(&mut over(&[0]), &columns(3)).unwrap(), [0, 1, 2]);
        assert_eq!(read_columns(&mut over(&[0b101]), &columns(3)).unwrap(), [1]);
        read_columns(&mut over(&[0b1000]), &columns(3)).expect_err("a fourth column");
        assert_eq!(read_columns(&mut over(&[68, 3, 69]), &columns(70)).unwrap(), [3, 69]);
        let most = read_columns(&mut over(&[2, 0, 69]), &columns(70)).unwrap();
        assert_eq!(most, (1..69).collect::<Vec<_>>());
        assert_eq!(read_columns(&mut over(&[0]), &columns(70)).unwrap().len(), 70);
        for wrong in [&[71][..], &[69, 70], &[2, 5, 5], &[68, 1]] {
            read_columns(&mut over(wrong), &columns(70)).expect_err("a wrong set");
        }
    }

    #[test]
    fn clustering_values_can_be_null_and_empty() {
        let types = [
            ValueType { class: String::new(), length: Some(2) },
            ValueType { class: String::new(), length: None },
            ValueType { class: String::new(), length: None },
        ];
        let found = read_clustering(&mut over(&[0b10_01_00, 7, 8]), &types).unwrap();
        assert_eq!(found, [Some(Bytes::from_static(&[7, 8])), Some(Bytes::new()), None]);
    }
}
