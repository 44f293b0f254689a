//! get_count of 0.7 and later, which counts the columns of a slice.
//!
//! 0.7 to 1.0 count the columns of the slice, so the slice's own count limits the result; 1.0 does so page by page, and
//! takes the whole row if the predicate has no range. 1.1 and 1.2 read pages of at least two columns and subtract the
//! excess: a negative count is returned unchanged, unless there are no columns. 2.0 and later do not validate the slice:
//! a slice that goes backwards is empty, and bounds that are not valid names are compared with the existing names.

use bytes::Bytes;

use super::Reads;
use super::unchecked_slice::UncheckedSlice;
use crate::Result;
use crate::args::{ColumnParent, RequestedRange, SlicePredicate};
use crate::limits::ROW_WORK;
use base::compat::features::ConsistencyLevel;
use base::compat::rules::CountBy;
use base::model::{Predicate, ReadCommand, SliceRange};
use base::util::meter;

/// The minimum number of columns in a page.
const PAGE_MIN: i32 = 2;

/// The maximum number of cells that are counted on the request's own thread; longer counts run on another thread.
const LONG_COUNT: usize = 512;

/// The number of columns that are read at a time if they are only counted.
const COUNTED_AT_ONCE: usize = 2_000;

impl Reads<'_> {
    /// Returns how many columns a slice of a row has.
    pub async fn count_slice(
        &self,
        key: &Bytes,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
    ) -> Result<i32> {
        let count_by = self.request.behaviour.reads.count_by;
        if predicate.column_names.is_some() || count_by == CountBy::Slice {
            let length = self.slice_length(key, parent, predicate).await?;
            return Ok(count_of(length));
        }
        let all =
            RequestedRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count: i32::MAX };
        let mut range = predicate.slice_range.clone().unwrap_or(all);
        if count_by == CountBy::UncheckedPages {
            return self.count_unchecked(key, parent, &range).await;
        }
        let asked = range.count;
        if count_by == CountBy::Pages {
            range.count = asked.max(PAGE_MIN);
        }
        let predicate = SlicePredicate { column_names: None, slice_range: Some(range) };
        let length = self.slice_length(key, parent, &predicate).await?;
        Ok(if length == 0 { 0 } else { count_of(length).min(asked) })
    }

    /// Does the same for 2.0 and later, which check only that the column family exists: keys, levels and bounds may
    /// be anything.
    async fn count_unchecked(
        &self,
        key: &Bytes,
        parent: &ColumnParent,
        range: &RequestedRange,
    ) -> Result<i32> {
        let checks = self.request.validation();
        let cf = checks.family(self.request.keyspace, &parent.column_family)?;
        let super_column = parent.super_column.clone().filter(|_| cf.is_super());
        let range = checks.read_unchecked(cf, range)?;
        let slice = UncheckedSlice::of(&checks, cf, super_column.clone(), &range);
        if range.count == 0 {
            return Ok(0);
        }
        let consistency = read_level(self.request.consistency);
        self.request.check_replicas(consistency, false)?;
        if checks.key(key, None).is_err() {
            // No row can have such a key.
            return Ok(0);
        }
        let read = |super_column, range| self.request.command(cf, super_column, Predicate::Range(range));
        if slice.is_in_name() && slice.is_between_names() {
            // Only the count or the direction can be wrong here.
            let Ok(range) = checks.range(cf, super_column.is_some(), &range) else { return Ok(0) };
            let count = self.count_columns(key, read(super_column, range), consistency).await?;
            return Ok(count_of(count));
        }
        let holder = super_column.filter(|_| slice.is_in_name());
        let command = read(holder, SliceRange { count: COUNTED_AT_ONCE, ..SliceRange::all() });
        let count = self.count_between(key, command, consistency, &slice).await?;
        Ok(count_of(count).min(range.count).max(0))
    }

    /// Counts the columns of a slice by comparing all columns of a row or super column with the bounds, page by page.
    async fn count_between(
        &self,
        key: &Bytes,
        mut command: ReadCommand,
        consistency: ConsistencyLevel,
        slice: &UncheckedSlice<'_>,
    ) -> Result<usize> {
        // Deleted columns are not counted, but they are compared.
        command.with_tombstones = true;
        let mut counted = 0;
        let mut last: Option<Bytes> = None;
        loop {
            if let (Predicate::Range(range), Some(last)) = (&mut command.predicate, &last) {
                range.start = last.clone();
            }
            let before = meter::mark();
            let page = self.request.store().read(key.clone(), command.clone(), consistency).await?;
            before.restore();
            meter::yield_if_due(page.len()).await?;
            let (first, end) = page.ends();
            counted += slice.count_in(&page, usize::from(last.is_some() && first == last.as_ref()))?;
            if page.len() < COUNTED_AT_ONCE {
                return Ok(counted);
            }
            last = end.cloned();
        }
    }

    /// Returns the number of columns that a read finds.
    pub(crate) async fn count_columns(
        &self,
        key: &Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> Result<usize> {
        let counted = self.request.store().count(key.clone(), command, consistency).await?;
        meter::yield_if_due(ROW_WORK + counted.min(LONG_COUNT)).await?;
        Ok(counted)
    }
}

fn count_of(columns: usize) -> i32 {
    i32::try_from(columns).unwrap_or(i32::MAX)
}

/// Returns the level for counting columns: a level that reads do not allow becomes one with as many replicas.
fn read_level(consistency: ConsistencyLevel) -> ConsistencyLevel {
    match consistency {
        ConsistencyLevel::Any => ConsistencyLevel::One,
        ConsistencyLevel::EachQuorum => ConsistencyLevel::Quorum,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::args::{ColumnPath, NewColumn};
    use crate::{Database, DatabaseParts};
    use base::compat::Behaviour;
    use base::marshal::{Types, push_component};
    use base::partitioner;
    use base::schema::{Catalog, CfDef, ColumnType, KeyspaceDef};
    use base::util::{Clock, Release};
    use embedded::EmbeddedStore;

    const ONE: ConsistencyLevel = ConsistencyLevel::One;
    const KEY: Bytes = Bytes::from_static(b"k");
    /// A version 1 UUID of 1582.
    const TIME_UUID: [u8; 16] = [0, 0, 0, 0, 0, 0, 0x11, 0xd0, 0x80, 0, 0, 0, 0, 0, 0, 1];

    fn level() -> &'static Behaviour {
        Behaviour::of(Release::V2_1)
    }

    /// A database with one column family that has the given comparators.
    struct Family {
        database: Database,
    }

    impl Family {
        fn of(comparator: &str, subcomparator: Option<&str>) -> Family {
            let types = Types::builtin();
            let column_type = match subcomparator {
                Some(subcomparator) => {
                    ColumnType::Super { subcomparator: types.parse(subcomparator).unwrap() }
                }
                None => ColumnType::Standard,
            };
            let comparator = types.parse(comparator).unwrap();
            let cf = CfDef { comparator, column_type, ..CfDef::new("Ks", "Cf") };
            let mut keyspace = KeyspaceDef::new("Ks");
            keyspace.column_families.insert("Cf".to_owned(), Arc::new(cf));
            let mut catalog = Catalog::default();
            catalog.keyspaces.insert("Ks".to_owned(), keyspace);
            let (partitioner, clock) =
                (partitioner::resolve("RandomPartitioner").unwrap(), Arc::new(Clock::system()));
            let store =
                Arc::new(EmbeddedStore::in_memory(partitioner.clone(), &catalog, clock.clone()).unwrap());
            let parts = DatabaseParts::new(Arc::new(catalog), store, partitioner, clock);
            Family { database: Database::new(parts) }
        }

        fn parent(super_column: Option<&[u8]>) -> ColumnParent {
            let super_column = super_column.map(Bytes::copy_from_slice);
            ColumnParent { column_family: Bytes::from_static(b"Cf"), super_column }
        }

        async fn write(&self, super_column: Option<&[u8]>, name: &[u8]) {
            let name = Bytes::copy_from_slice(name);
            let column = NewColumn { name, value: Some(Bytes::new()), timestamp: Some(1), ttl_s: None };
            let parent = Family::parent(super_column);
            let request = self.database.request(b"Ks", ONE, level());
            request.writes().insert_column(KEY, parent, column).await.unwrap();
        }

        async fn remove(&self, super_column: Option<&[u8]>, name: Option<&[u8]>) {
            let path = ColumnPath {
                column_family: Bytes::from_static(b"Cf"),
                super_column: super_column.map(Bytes::copy_from_slice),
                column: name.map(Bytes::copy_from_slice),
            };
            self.database.request(b"Ks", ONE, level()).writes().remove(KEY, path, 2).await.unwrap();
        }

        /// Returns the result of get_count for a row: the count, or the error.
        async fn count_of(
            &self,
            key: Bytes,
            super_column: Option<&[u8]>,
            (start, finish, count): (&[u8], &[u8], i32),
            consistency: ConsistencyLevel,
        ) -> Result<i32, String> {
            let (start, finish) = (Bytes::copy_from_slice(start), Bytes::copy_from_slice(finish));
            let mut range = RequestedRange { start, finish, reversed: false, count };
            let parent = Family::parent(super_column);
            let mut answers = Vec::new();
            for reversed in [false, true] {
                range.reversed = reversed;
                let slice_range = Some(range.clone());
                let predicate = SlicePredicate { column_names: None, slice_range };
                let request = self.database.request(b"Ks", consistency, level());
                let counted = request.reads().count_slice(&key, &parent, &predicate).await;
                answers.push(counted.map_err(|error| error.to_string()));
                (range.start, range.finish) = (range.finish, range.start);
            }
            assert_eq!(answers[0], answers[1], "the way back is another");
            answers.remove(0)
        }

        async fn count(
            &self,
            super_column: Option<&[u8]>,
            (start, finish): (&[u8], &[u8]),
        ) -> Result<i32, String> {
            self.count_of(KEY, super_column, (start, finish, 100), ONE).await
        }
    }

    fn composite(parts: &[(&[u8], u8)]) -> Vec<u8> {
        let mut name = Vec::new();
        parts.iter().for_each(|(value, end)| push_component(value, *end, &mut name));
        name
    }

    /// The comparator, the name of the only column, start, finish, and the expected count.
    type Case<'a> = (&'a str, &'a [u8], &'a [u8], &'a [u8], Result<i32, &'a str>);

    async fn check(cases: &[Case<'_>]) {
        for (comparator, name, start, finish, expected) in cases {
            let family = Family::of(comparator, None);
            family.write(None, name).await;
            let counted = family.count(None, (start, finish)).await;
            let case = format!("{comparator} {start:02x?} {finish:02x?}");
            assert_eq!(counted, expected.map_err(str::to_owned), "{case}");
        }
    }

    #[tokio::test]
    async fn bounds_that_are_not_valid_names_are_compared_with_names() {
        let (five, minus_one) = (5i64.to_be_bytes(), (-1i64).to_be_bytes());
        let double = 1f64.to_be_bytes();
        check(&[
            ("UTF8Type", b"a", b"", b"\xff", Ok(1)),
            ("UTF8Type", b"a", b"\xff", b"", Ok(0)),
            ("InetAddressType", &[127, 0, 0, 1], b"", b"\xff", Ok(1)),
            ("BooleanType", &[1], &[1, 0], &[2, 0], Ok(1)),
            ("AsciiType", b"a", b"", b"\x80", Ok(1)),
            // The first byte is compared as signed, and the length is not checked.
            ("LongType", &five, b"", b"1", Ok(1)),
            ("LongType", &five, b"1", b"", Ok(0)),
            ("LongType", &minus_one, b"", b"1", Ok(1)),
            ("Int32Type", &five[4..], b"", b"1", Ok(1)),
            ("TimestampType", &minus_one, b"", b"1", Ok(1)),
            ("DateType", &five, b"", b"1", Ok(1)),
            ("DateType", &minus_one, b"", b"1", Ok(0)),
            ("ReversedType(UTF8Type)", b"a", b"\xff", b"", Ok(1)),
            ("ReversedType(UTF8Type)", b"a", b"", b"\xff", Ok(0)),
            ("TimeUUIDType", &TIME_UUID, &[0; 16], b"", Ok(1)),
            ("TimeUUIDType", &TIME_UUID, b"", &[0; 16], Ok(0)),
            ("TimeUUIDType", &TIME_UUID, &[0; 8], b"", Ok(1)),
            ("LexicalUUIDType", &TIME_UUID, &[0; 17], b"", Ok(1)),
            ("LexicalUUIDType", &TIME_UUID, &[0x80; 17], &[0; 17], Ok(0)),
            // Names shorter than a UUID sort first.
            ("UUIDType", &TIME_UUID, b"x", b"", Ok(1)),
            ("UUIDType", &TIME_UUID, b"", b"x", Ok(0)),
            ("DoubleType", &double, b"", &[&double[..], b"\xff"].concat(), Ok(1)),
        ])
        .await;
    }

    #[tokio::test]
    async fn comparisons_with_too_short_bounds_fail() {
        let short = Err("UUID should be 16 or 0 bytes (1)");
        check(&[
            ("TimeUUIDType", &TIME_UUID, b"x", b"", short),
            ("TimeUUIDType", &TIME_UUID, b"", b"x", short),
            ("TimeUUIDType", &TIME_UUID, b"aaaaaaa", b"", Err("UUID should be 16 or 0 bytes (7)")),
            // The most significant half byte of the time decides the order already.
            ("TimeUUIDType", &TIME_UUID, b"aaaaaac", b"", Ok(0)),
            ("ReversedType(TimeUUIDType)", &TIME_UUID, b"x", b"", short),
            ("LexicalUUIDType", &TIME_UUID, b"x", b"", short),
            ("DoubleType", &[0; 8], b"x", b"", Err("Expected 8 or 0 byte value for a double (1)")),
            ("DecimalType", &[0; 5], b"x", b"", Err("Expected 0 or at least 4 bytes (1)")),
        ])
        .await;
    }

    #[tokio::test]
    async fn composite_bounds_are_parsed_before_the_read() {
        let comparator = "CompositeType(UTF8Type,LongType)";
        let name = composite(&[(b"a", 0), (&5i64.to_be_bytes(), 0)]);
        let bound = |end| composite(&[(b"a", end), (b"xx", 0)]);
        check(&[
            (comparator, &name, b"", &bound(0), Ok(1)),
            (comparator, &name, &bound(0), b"", Ok(0)),
            // Only the end-of-component byte of the last component counts.
            (comparator, &name, b"", &bound(0xff), Ok(1)),
            (comparator, &name, &bound(1), b"", Ok(0)),
            (comparator, &name, b"", &composite(&[(b"a", 1), (&[0x7f; 8], 0)]), Ok(1)),
        ])
        .await;
        let family = Family::of(comparator, None);
        family.write(None, &name).await;
        let three = composite(&[(b"a", 0), (&[0; 8], 0), (b"b", 0)]);
        for (bound, why) in [
            (&b"\0\x01"[..], "Not enough bytes"),
            (b"\0", "Not enough bytes"),
            (b"\0\x01a\x58\0\0", "Not enough bytes"),
            (&three, "Too many bytes for comparator"),
        ] {
            for (key, count) in [(KEY, 100), (KEY, 0), (KEY, -1), (Bytes::from_static(b"absent"), 100)] {
                let counted = family.count_of(key, None, (bound, b"", count), ONE).await;
                assert_eq!(counted, Err(why.to_owned()), "{bound:02x?} {count}");
            }
        }
    }

    #[tokio::test]
    async fn tombstones_are_compared_and_not_counted() {
        let family = Family::of("TimeUUIDType", None);
        let short = Err("UUID should be 16 or 0 bytes (1)".to_owned());
        assert_eq!(family.count(None, (b"x", b"")).await, Ok(0));
        family.write(None, &TIME_UUID).await;
        for (count, expected) in [(1, &short), (0, &Ok(0)), (-1, &short)] {
            assert_eq!(&family.count_of(KEY, None, (b"x", b"", count), ONE).await, expected);
        }
        assert_eq!(family.count_of(KEY, None, (&[0; 16], b"", -1), ONE).await, Ok(0));
        family.remove(None, Some(&TIME_UUID)).await;
        assert_eq!(family.count(None, (b"x", b"")).await, short);
        assert_eq!(family.count(None, (&[0; 16], b"")).await, Ok(0));
    }

    #[tokio::test]
    async fn names_of_super_columns_are_not_checked() {
        let longs = Family::of("LongType", Some("TimeUUIDType"));
        let (five, six) = (5i64.to_be_bytes(), 6i64.to_be_bytes());
        longs.write(Some(&five), &TIME_UUID).await;
        longs.write(Some(&six), &TIME_UUID).await;
        longs.remove(Some(&six), None).await;
        let too_long = vec![0; 0x1_0000];
        let short = Err("UUID should be 16 or 0 bytes (1)".to_owned());
        for (super_column, start, expected) in [
            (None, &b"1"[..], Ok(0)),
            (None, b"\0", Ok(1)),
            (Some(&b"1"[..]), b"", Ok(0)),
            (Some(b""), b"x", Ok(0)),
            (Some(&too_long), b"x", Ok(0)),
            // Only the columns of that super column are compared; a super column that no longer has any does not
            // suffice.
            (Some(&five), b"x", short),
            (Some(&five), &[0; 16], Ok(1)),
            (Some(&six), b"x", Ok(0)),
            (Some(&[0; 8]), b"x", Ok(0)),
        ] {
            let counted = longs.count(super_column, (start, b"")).await;
            assert_eq!(counted, expected, "{:02x?} {start:02x?}", super_column.map(|name| name.len()));
        }

        let times = Family::of("TimeUUIDType", Some("BytesType"));
        assert_eq!(times.count(Some(b"s"), (b"", b"")).await, Ok(0));
        times.write(Some(&TIME_UUID), b"a").await;
        let short = Err("UUID should be 16 or 0 bytes (1)".to_owned());
        assert_eq!(times.count(Some(b"s"), (b"", b"")).await, short);
        assert_eq!(times.count_of(KEY, Some(b"s"), (b"", b"", 0), ONE).await, Ok(0));
        // The tombstone of a super column is compared too.
        times.remove(Some(&TIME_UUID), None).await;
        assert_eq!(times.count(Some(b"s"), (b"", b"")).await, short);

        let lexical = Family::of("LexicalUUIDType", Some("BytesType"));
        lexical.write(Some(&TIME_UUID), b"a").await;
        lexical.write(Some(&TIME_UUID), b"b").await;
        let longer = [&TIME_UUID[..], b"x"].concat();
        assert_eq!(lexical.count(Some(&longer), (b"", b"")).await, Ok(2));
        assert_eq!(lexical.count(Some(&longer), (b"b", b"")).await, Ok(1));
    }

    #[tokio::test]
    async fn keys_and_consistency_levels_are_not_checked() {
        let family = Family::of("UTF8Type", None);
        family.write(None, b"a").await;
        let long_key = Bytes::from(vec![b'k'; 0x1_0000]);
        for finish in [&b""[..], b"\xff"] {
            for level in [ConsistencyLevel::Any, ConsistencyLevel::EachQuorum, ConsistencyLevel::All] {
                assert_eq!(family.count_of(KEY, None, (b"", finish, 9), level).await, Ok(1), "{level}");
            }
            for key in [Bytes::new(), long_key.clone()] {
                assert_eq!(family.count_of(key, None, (b"", finish, 9), ONE).await, Ok(0));
            }
        }
    }

    #[tokio::test]
    async fn columns_are_counted_over_several_pages() {
        let family = Family::of("UTF8Type", None);
        for at in 0..2 * COUNTED_AT_ONCE + 2 {
            family.write(None, format!("{at:05}").as_bytes()).await;
        }
        family.remove(None, Some(b"00007")).await;
        assert_eq!(family.count_of(KEY, None, (b"", b"\xff", i32::MAX), ONE).await, Ok(4_001));
        assert_eq!(family.count_of(KEY, None, (b"", b"03999\xff", i32::MAX), ONE).await, Ok(3_999));
        assert_eq!(family.count_of(KEY, None, (b"", b"\xff", 3_000), ONE).await, Ok(3_000));
    }
}
