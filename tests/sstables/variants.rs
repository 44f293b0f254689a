//! Files that the servers of the fixtures do not write, and that other servers do: made from theirs.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use sstable::{Component, Descriptor, TableOptions, TableReader, Unit};

use crate::fixture::{Fixture, copy_of_table};

fn units(data: &Path) -> Vec<Unit> {
    let mut table = TableReader::open(data, &TableOptions::default()).unwrap();
    std::iter::from_fn(|| table.next_unit().unwrap()).collect()
}

/// Reads big-endian numbers and texts.
struct Fields<'c> {
    content: &'c [u8],
    at: usize,
}

impl<'c> Fields<'c> {
    fn of(content: &'c [u8], at: usize) -> Fields<'c> {
        Fields { content, at }
    }

    fn bytes(&mut self, count: usize) -> &'c [u8] {
        let found = &self.content[self.at..self.at + count];
        self.at += count;
        found
    }

    fn number(&mut self, bytes: usize) -> usize {
        self.bytes(bytes).iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn vint(&mut self) -> usize {
        let first = self.number(1);
        let more = u8::try_from(first).unwrap().leading_ones() as usize;
        let rest = self.number(more);
        (first & (0xFF >> more)).checked_shl(8 * u32::try_from(more).unwrap()).unwrap_or(0) | rest
    }

    fn text(&mut self) -> &'c [u8] {
        let length = self.vint();
        self.bytes(length)
    }
}

/// Returns the compressed chunks of a Data file without their checksums.
fn chunks(data: &Path) -> Vec<u8> {
    let info = fs::read(Descriptor::of_data_file(data).unwrap().path(Component::CompressionInfo)).unwrap();
    let mut fields = Fields::of(&info, 0);
    let class = fields.number(2);
    fields.bytes(class);
    for _ in 0..2 * fields.number(4) {
        let option = fields.number(2);
        fields.bytes(option);
    }
    fields.bytes(4 + 8);
    let count = fields.number(4);
    let content = fs::read(data).unwrap();
    let offsets: Vec<usize> = (0..count).map(|_| fields.number(8)).chain([content.len()]).collect();
    offsets.windows(2).flat_map(|chunk| content[chunk[0]..chunk[1] - 4].to_vec()).collect()
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut one, mut two) = (1, 0);
    for byte in bytes {
        one = (one + u32::from(*byte)) % 65_521;
        two = (two + one) % 65_521;
    }
    two << 16 | one
}

/// 2.1.0 to 2.1.4 left the checksums of chunks out of the digest of a compressed file.
#[test]
fn digests_of_early_2_1_are_right() {
    let fixture = Fixture::of("2.1.22");
    let mut compressed = 0;
    for original in fixture.data_files("Cmp") {
        let folder = tempfile::tempdir().unwrap();
        let data = copy_of_table(&original, folder.path());
        let descriptor = Descriptor::of_data_file(&data).unwrap();
        let digest = descriptor.digest_path().unwrap();
        let check = || TableReader::open(&data, &TableOptions::default()).unwrap().check_digest();
        assert_eq!(check().unwrap(), None);
        if descriptor.path(Component::CompressionInfo).is_file() {
            fs::write(&digest, adler32(&chunks(&data)).to_string()).unwrap();
            assert_eq!(check().unwrap(), None, "{}", data.display());
            compressed += 1;
        }
        // Another digest is a remark, because each block has a checksum.
        fs::write(&digest, "7").unwrap();
        let remark = check().unwrap().unwrap();
        assert!(remark.contains("it is not the checksum of the Data file"), "{remark}");
        assert_eq!(units(&data), units(&original));
        // .. but for blocks that are missing.
        if descriptor.path(Component::CompressionInfo).is_file() {
            continue;
        }
        fs::write(&data, b"").unwrap();
        check().unwrap_err();
    }
    assert!(compressed > 0);
}

/// Puts the columns in the header of a file of 3.x in the order of their names, as ScyllaDB writes them. Returns the names of
/// the regular columns before and after, if that changes them.
fn sort_by_name(statistics: &Path) -> Option<[Vec<Bytes>; 2]> {
    let content = fs::read(statistics).unwrap();
    let mut fields = Fields::of(&content, 0);
    let parts = fields.number(4);
    let parts: Vec<(usize, usize)> = (0..parts).map(|_| (fields.number(4), fields.number(4))).collect();
    let header = parts.iter().find(|(kind, _)| *kind == 3).unwrap().1;
    let mut fields = Fields::of(&content, header);
    let _baselines = [fields.vint(), fields.vint(), fields.vint()];
    fields.text();
    for _ in 0..fields.vint() {
        fields.text();
    }
    let mut changed = content[..fields.at].to_vec();
    let mut names = None;
    for _ in 0..2 {
        let start = fields.at;
        let count = fields.vint();
        changed.extend(&content[start..fields.at]);
        let mut column = || {
            let start = fields.at;
            let name = Bytes::copy_from_slice(fields.text());
            fields.text();
            (name, &content[start..fields.at])
        };
        let mut columns: Vec<_> = (0..count).map(|_| column()).collect();
        let before: Vec<Bytes> = columns.iter().map(|(name, _)| name.clone()).collect();
        columns.sort();
        let after: Vec<Bytes> = columns.iter().map(|(name, _)| name.clone()).collect();
        columns.iter().for_each(|(_, stored)| changed.extend(*stored));
        names = Some([before, after]);
    }
    changed.extend(&content[fields.at..]);
    assert_eq!(changed.len(), content.len());
    fs::write(statistics, changed).unwrap();
    names.filter(|[before, after]| before != after)
}

#[test]
fn columns_in_the_order_of_scylladb_are_read() {
    let mut changed = 0;
    for release in ["3.0.29", "3.11.19", "3.11.19-2"] {
        let fixture = Fixture::of(release);
        for original in fixture.data_files("key_space_test") {
            let folder = tempfile::tempdir().unwrap();
            let data = copy_of_table(&original, folder.path());
            let statistics = Descriptor::of_data_file(&data).unwrap().path(Component::Statistics);
            if let Some([before, after]) = sort_by_name(&statistics) {
                assert_eq!(units(&data), units(&original), "{release} {before:?} {after:?}");
                changed += 1;
            }
        }
    }
    assert!(changed >= 3, "{changed}");
}
