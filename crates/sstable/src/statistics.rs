//! The Statistics component of 2.1 and later: the partitioner, and the types and baselines of rows of 3.x.
//!
//! ```text
//!   number of parts | (kind, offset) of each | parts
//!   validation part   class name of the partitioner | ...
//!   statistics part   two histograms | position in the commit log | first and last timestamp | ...
//!   header part       least timestamp, deletion time and ttl | type of the key | types of clustering columns
//!                     | static columns | regular columns            each column: name, type
//!
//!   .. of 4.0         number of parts | CRC-32 | (kind, offset) of each | CRC-32 | each part and its CRC-32
//! ```
//!
//! Up to 3.11 the file has no checksum. All timestamps of a file of 3.x are stored as distances to the least one, so a
//! changed bit there would move all of them. The statistics part has the first and last timestamp once more, with which
//! the timestamps of the rows are compared.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::error::SstableError;
use super::format::Format;
use super::input::Input;
use crate::limits::SSTABLE_STATISTICS_BYTES_MAX;
use base::marshal::{split_arguments, split_class};
use base::util::limits::{TABLE_COLUMNS_MAX, TYPE_NESTING_MAX, TYPE_TEXT_BYTES_MAX};

/// The kinds of parts.
pub(super) const VALIDATION: i32 = 0;
pub(super) const STATISTICS: i32 = 2;
pub(super) const HEADER: i32 = 3;

/// Parts of a file: four are known.
const PARTS_MAX: i32 = 16;

/// Bytes of a checksum.
const CHECKSUM_BYTES: u64 = 4;

/// Bytes of a bucket of a histogram, and of a position in the commit log.
const HISTOGRAM_BUCKET_BYTES: u64 = 16;
const LOG_POSITION_BYTES: u64 = 12;

/// The timestamp that baselines are relative to: 2015-09-22, in microseconds.
pub(super) const TIMESTAMP_EPOCH_US: i64 = 1_442_880_000_000_000;

/// The local deletion time that baselines are relative to: 2015-09-22, in seconds.
pub(super) const DELETION_EPOCH_S: i32 = 1_442_880_000;

/// The contents of the Statistics component.
#[derive(Debug, Clone, Default)]
pub(super) struct Statistics {
    /// The class name of the partitioner.
    pub partitioner: Option<String>,
    /// The stored form of rows of 3.x.
    pub header: Option<RowHeader>,
    /// The first and the last timestamp of cells and deletions. `None` if the file does not know any.
    pub timestamps: Option<(i64, i64)>,
}

/// The types and baselines of rows of 3.x.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowHeader {
    /// Timestamps are stored as their distance to this one.
    pub least_timestamp: i64,
    /// Local deletion times are stored as their distance to this one.
    pub least_deletion_time: i64,
    /// Whether local deletion times are unsigned, and end in 2106 instead of 2038.
    pub has_unsigned_times: bool,
    /// Times to live are stored as their distance to this one.
    pub least_ttl: i32,
    /// The row key; `None` in a commit log.
    pub key: Option<ValueType>,
    /// The clustering columns.
    pub clustering: Vec<ValueType>,
    /// The static columns, in the order of rows.
    pub static_columns: Vec<Arc<StoredColumn>>,
    /// The regular columns, in the order of rows.
    pub regular_columns: Vec<Arc<StoredColumn>>,
}

/// The stored form of the values of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueType {
    /// The class name.
    pub class: String,
    /// The length of values in bytes, if all have the same and it is not stored.
    pub length: Option<u64>,
}

/// A column of a table of 3.x.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredColumn {
    /// The name.
    pub name: Bytes,
    /// The type of values.
    pub value: ValueType,
    /// Whether the column has several cells in a row: a collection or user type that is not frozen.
    pub is_complex: bool,
    /// Whether the column has a user type that is not frozen, or seems to: see `ModernRows::find_frozen_types`.
    pub is_user_type: bool,
    /// Whether the values are counters.
    pub is_counter: bool,
}

/// Reads the file. Only files of 3.x and later have more than the partitioner that is needed.
pub(super) fn read_statistics(path: &Path, format: &Format) -> Result<Statistics, SstableError> {
    let mut input = open_checked(path, format)?;
    let mut found = Statistics::default();
    if seek_part(&mut input, VALIDATION, format)? {
        found.partitioner = Some(input.utf()?);
    }
    if !format.has_modern_rows {
        return Ok(found);
    }
    if seek_part(&mut input, STATISTICS, format)? {
        found.timestamps = read_timestamps(&mut input)?;
    }
    if seek_part(&mut input, HEADER, format)? {
        found.header = Some(read_header(&mut input, format)?);
    }
    Ok(found)
}

/// Opens a file, and compares all of it with its checksums if it has them.
pub(super) fn open_checked(path: &Path, format: &Format) -> Result<Input, SstableError> {
    let mut input = Input::of_file(path)?;
    if !format.has_stored_chunks {
        return Ok(input);
    }
    if input.length() > SSTABLE_STATISTICS_BYTES_MAX {
        let why = format!("it has {} bytes; at most {SSTABLE_STATISTICS_BYTES_MAX} are read", input.length());
        return Err(input.damaged(why));
    }
    let parts = parts(&mut input, format)?;
    let ends = parts.iter().skip(1).map(|(_, offset)| *offset).chain([input.length()]);
    for ((_, start), end) in parts.iter().zip(ends.collect::<Vec<_>>()) {
        let length = end.checked_sub(*start).and_then(|length| length.checked_sub(CHECKSUM_BYTES));
        input.seek(*start)?;
        let length = length.ok_or_else(|| input.damaged("its parts overlap"))?;
        let content = input.bytes(length)?;
        check_sum(&mut input, crc32fast::hash(&content))?;
    }
    Ok(input)
}

fn check_sum(input: &mut Input, computed: u32) -> Result<(), SstableError> {
    let at = input.position();
    match input.u32()? {
        stored if stored == computed => Ok(()),
        _ => Err(SstableError::damaged(input.path(), at, "the checksum of what is before it is wrong")),
    }
}

/// Returns the kinds and offsets of the parts.
fn parts(input: &mut Input, format: &Format) -> Result<Vec<(i32, u64)>, SstableError> {
    input.seek(0)?;
    let count = input.i32()?;
    if !(0..=PARTS_MAX).contains(&count) {
        return Err(input.damaged(format!("{count} parts")));
    }
    // The checksum of the list covers the count too.
    let mut sum = crc32fast::Hasher::new();
    sum.update(&count.to_be_bytes());
    if format.has_stored_chunks {
        check_sum(input, sum.clone().finalize())?;
    }
    let mut parts = Vec::new();
    for _ in 0..count {
        let (kind, offset) = (input.i32()?, input.u32()?);
        sum.update(&kind.to_be_bytes());
        sum.update(&offset.to_be_bytes());
        parts.push((kind, u64::from(offset)));
    }
    if format.has_stored_chunks {
        check_sum(input, sum.finalize())?;
    }
    Ok(parts)
}

/// Moves to the part of a kind. Returns whether there is one.
pub(super) fn seek_part(input: &mut Input, wanted: i32, format: &Format) -> Result<bool, SstableError> {
    let parts = parts(input, format)?;
    let Some((_, offset)) = parts.into_iter().find(|(kind, _)| *kind == wanted) else { return Ok(false) };
    input.seek(offset)?;
    Ok(true)
}

/// Reads the statistics part up to the timestamps.
fn read_timestamps(input: &mut Input) -> Result<Option<(i64, i64)>, SstableError> {
    // Histograms of the sizes of rows, and of their numbers of columns.
    for _ in 0..2 {
        let buckets = input.i32()?;
        let bytes =
            u64::try_from(buckets).ok().and_then(|buckets| buckets.checked_mul(HISTOGRAM_BUCKET_BYTES));
        let bytes = bytes.ok_or_else(|| input.damaged(format!("a histogram of {buckets} buckets")))?;
        input.skip(bytes)?;
    }
    input.skip(LOG_POSITION_BYTES)?;
    let (first, last) = (input.i64()?, input.i64()?);
    // Both have these values in a file without any timestamp.
    Ok(Some((first, last)).filter(|range| *range != (i64::MIN, i64::MAX)))
}

fn read_header(input: &mut Input, format: &Format) -> Result<RowHeader, SstableError> {
    let mut header = read_baselines(input, format.has_unsigned_times)?;
    header.key = Some(read_type(input)?);
    for _ in 0..count_of_columns(input)? {
        header.clustering.push(read_type(input)?);
    }
    header.static_columns = read_columns(input)?;
    header.regular_columns = read_columns(input)?;
    header.sort_columns();
    Ok(header)
}

impl RowHeader {
    /// Puts the columns in the order of rows: simple ones before complex ones, each by their names. Cassandra writes them so
    /// into the file, and ScyllaDB by names alone; both sort them when they read it (`SerializationHeader.toHeader`).
    pub(super) fn sort_columns(&mut self) {
        for columns in [&mut self.static_columns, &mut self.regular_columns] {
            columns.sort_by(|one, other| (one.is_complex, &one.name).cmp(&(other.is_complex, &other.name)));
        }
    }
}

/// Reads the baselines of a header that has no columns yet.
pub(super) fn read_baselines(input: &mut Input, has_unsigned_times: bool) -> Result<RowHeader, SstableError> {
    Ok(RowHeader {
        least_timestamp: TIMESTAMP_EPOCH_US.wrapping_add(input.vint()?.cast_signed()),
        least_deletion_time: moved(DELETION_EPOCH_S.into(), input.vint()?, has_unsigned_times),
        has_unsigned_times,
        least_ttl: low_half(input.vint()?),
        key: None,
        clustering: Vec::new(),
        static_columns: Vec::new(),
        regular_columns: Vec::new(),
    })
}

/// Returns a local deletion time that is stored as its distance to another one: up to 4.1 servers add numbers of four bytes.
pub(super) fn moved(from_s: i64, distance: u64, has_unsigned_times: bool) -> i64 {
    let sum = from_s.wrapping_add(distance.cast_signed());
    // Up to 4.1 the first time is a number of four bytes, too.
    if has_unsigned_times { sum } else { i64::from(low_half(sum.cast_unsigned())) }
}

/// Returns the number that Java gets from a long by a cast to int.
pub(super) fn low_half(number: u64) -> i32 {
    let [_, _, _, _, a, b, c, d] = number.to_be_bytes();
    i32::from_be_bytes([a, b, c, d])
}

/// Reads a number of columns.
pub(super) fn count_of_columns(input: &mut Input) -> Result<u64, SstableError> {
    let count = input.vint()?;
    if count > TABLE_COLUMNS_MAX as u64 {
        return Err(input.damaged(format!("{count} columns; at most {TABLE_COLUMNS_MAX} are read")));
    }
    Ok(count)
}

fn read_columns(input: &mut Input) -> Result<Vec<Arc<StoredColumn>>, SstableError> {
    let mut columns = Vec::new();
    for _ in 0..count_of_columns(input)? {
        let name = input.vint_bytes()?;
        columns.push(Arc::new(StoredColumn::new(name, read_type(input)?)));
    }
    Ok(columns)
}

/// Reads a type.
pub(super) fn read_type(input: &mut Input) -> Result<ValueType, SstableError> {
    let length = input.vint()?;
    if length > TYPE_TEXT_BYTES_MAX as u64 {
        return Err(input.damaged(format!("a type of {length} bytes")));
    }
    Ok(ValueType::of_class(String::from_utf8_lossy(&input.bytes(length)?).into_owned()))
}

impl ValueType {
    /// Returns the type of a class name.
    pub(crate) fn of_class(class: String) -> ValueType {
        let length = fixed_length(&class);
        ValueType { class, length }
    }
}

impl StoredColumn {
    /// Returns a column with values of a type.
    pub(crate) fn new(name: Bytes, value: ValueType) -> StoredColumn {
        let (class, held) = split_class(&value.class);
        let is_user_type = class == "UserType";
        let is_complex = is_user_type || matches!(class, "ListType" | "SetType" | "MapType");
        // The columns of super columns are the elements of a map.
        let of_map = held.filter(|_| class == "MapType").and_then(|held| split_arguments(held).pop());
        let is_counter = split_class(of_map.unwrap_or(class)).0 == "CounterColumnType";
        StoredColumn { name, value, is_complex, is_user_type, is_counter }
    }
}

/// Returns the length of values of a type if 3.x does not store it. Types that came with 2.2 have a fixed length too,
/// and 3.x stores it nevertheless. A vector of 5.0 has the lengths of its elements.
pub(super) fn fixed_length(class: &str) -> Option<u64> {
    let (mut class, mut count) = (class, 1_u64);
    for _ in 0..TYPE_NESTING_MAX {
        match split_class(class) {
            ("ReversedType" | "FrozenType", Some(inner)) => class = inner,
            ("VectorType", Some(inner)) => {
                let [element, dimension] = split_arguments(inner)[..] else { return None };
                count = count.checked_mul(dimension.parse().ok()?)?;
                class = element;
            }
            (name, _) => {
                let length: Option<u64> = match name {
                    "BooleanType" => Some(1),
                    "FloatType" | "Int32Type" => Some(4),
                    "DateType" | "DoubleType" | "LongType" | "TimestampType" => Some(8),
                    "LexicalUUIDType" | "TimeUUIDType" | "UUIDType" => Some(16),
                    "EmptyType" => Some(0),
                    _ => None,
                };
                return u64::checked_mul(length?, count);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_innermost_type() {
        const PACKAGE: &str = base::marshal::PACKAGE;
        assert_eq!(fixed_length(&format!("{PACKAGE}Int32Type")), Some(4));
        assert_eq!(fixed_length(&format!("{PACKAGE}ReversedType({PACKAGE}UUIDType)")), Some(16));
        assert_eq!(fixed_length(&format!("{PACKAGE}ShortType")), None);
        assert_eq!(fixed_length(&format!("{PACKAGE}ListType({PACKAGE}Int32Type)")), None);
        assert_eq!(fixed_length(&"ReversedType(".repeat(5000)), None);
        let vector =
            |element: &str, dimension: &str| format!("{PACKAGE}VectorType({PACKAGE}{element} , {dimension})");
        assert_eq!(fixed_length(&vector("FloatType", "3")), Some(12));
        assert_eq!(fixed_length(&vector(&vector("LongType", "2").replace(PACKAGE, ""), "4")), Some(64));
        assert_eq!(fixed_length(&vector("UTF8Type", "2")), None);
        assert_eq!(fixed_length(&vector("FloatType", "99999999999999999999")), None);
        assert_eq!(fixed_length("VectorType(FloatType)"), None);
    }

    /// The comparators whose values have a length in SSTables of 3.x. A new comparator is here or in `fixed_length`.
    const WITH_LENGTH: [&str; 12] = [
        "AsciiType",
        "ByteType",
        "BytesType",
        "CounterColumnType",
        "DecimalType",
        "DurationType",
        "InetAddressType",
        "IntegerType",
        "ShortType",
        "SimpleDateType",
        "TimeType",
        "UTF8Type",
    ];

    #[test]
    fn each_comparator_has_a_fixed_or_a_stored_length() {
        for (class, _) in base::marshal::TYPES {
            let is_stored = WITH_LENGTH.contains(class);
            assert_ne!(fixed_length(class).is_some(), is_stored, "does 3.x store the length of {class}?");
        }
    }

    #[test]
    fn casts_are_those_of_java() {
        assert_eq!(low_half(5), 5);
        assert_eq!(low_half(0xFFFF_FFFF), -1);
        assert_eq!(low_half(0x1_0000_0002), 2);
        assert_eq!(moved(7, u64::MAX, false), 6);
        assert_eq!(moved(i64::from(i32::MAX), 1, false), i64::from(i32::MIN));
        assert_eq!(moved(i64::from(i32::MAX), 1, true), 1 << 31);
    }
}
