//! One row of a large table is found by its key, without reading the others.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use base::model::{Cell, DeletionTime};
use base::partitioner;
use bytes::Bytes;
use sstable::{Partition, SstableWriter, TableOptions, TableReader, Unfiltered, Unit, WrittenColumns};

const ROWS: usize = 100_000;
const WIDE_CELLS: usize = 100_000;
const BYTES_TYPE: &str = "org.apache.cassandra.db.marshal.BytesType";

fn row(key: Bytes, cells: usize) -> Partition {
    let items = (0..cells).map(|cell| {
        let name = Bytes::from(format!("column {cell:06}"));
        Unfiltered::Row {
            clustering: vec![name.clone()],
            cell: Cell::live(name, Bytes::from_static(b"v"), 5),
        }
    });
    Partition { key, deletion: DeletionTime::LIVE, items: items.collect() }
}

/// Writes rows in the order of their keys. The first and the middle one are wide.
fn large_table(directory: &Path) -> PathBuf {
    let columns = WrittenColumns {
        key: BYTES_TYPE.to_owned(),
        clustering: vec![BYTES_TYPE.to_owned()],
        value: BYTES_TYPE.to_owned(),
    };
    let partitioner = partitioner::resolve("ByteOrderedPartitioner").unwrap();
    let rows: Vec<Partition> = (0..ROWS)
        .map(|number| {
            let is_wide = number == 0 || number == ROWS / 2;
            row(Bytes::from(format!("row {number:06}")), if is_wide { WIDE_CELLS } else { 1 })
        })
        .collect();
    SstableWriter::new(directory, columns, partitioner).write(&rows).unwrap()
}

#[test]
fn a_row_of_a_large_table_is_found_by_its_key() {
    let directory = tempfile::tempdir().unwrap();
    let data = large_table(directory.path());
    let start = Instant::now();
    let mut whole = TableReader::open(&data, &TableOptions::default()).unwrap();
    let mut rows = 0;
    while let Some(unit) = whole.next_unit().unwrap() {
        rows += usize::from(unit == Unit::EndOfRow);
    }
    let of_all = start.elapsed();
    assert_eq!(rows, ROWS);
    for (key, cells) in [("row 099999", 1), ("row 000001", 1), ("row 050000", WIDE_CELLS)] {
        let start = Instant::now();
        let mut table = TableReader::open(&data, &TableOptions::default()).unwrap();
        assert!(table.seek_to_key(key.as_bytes()).unwrap());
        let Some(Unit::Row { key: found, .. }) = table.next_unit().unwrap() else { panic!("{key}") };
        assert_eq!(found, key);
        let took = start.elapsed();
        // The entries of the Index are read up to that of the row, and nothing else of the Data file.
        assert!(took < of_all / 3, "{key}: {took:?}, all rows: {of_all:?}");
        let mut units = 0;
        while table.next_unit().unwrap().unwrap() != Unit::EndOfRow {
            units += 1;
        }
        assert_eq!(units, cells);
    }
    assert!(!TableReader::open(&data, &TableOptions::default()).unwrap().seek_to_key(b"row 1").unwrap());

    // A Data file that is damaged elsewhere is no obstacle, nor is a missing checksum.
    let mut content = std::fs::read(&data).unwrap();
    content[30] ^= 1;
    std::fs::write(&data, content).unwrap();
    std::fs::remove_file(directory.path().join("me-1-big-CRC.db")).unwrap();
    let show = |key: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.args(["sstable", "show", "--layout", "dense", "--key", key]).arg(&data).output().unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let shown = show("row 099999");
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    assert_eq!(
        text(&shown.stdout),
        "row key 726f7720303939393939  key=0x726f7720303939393939\n  column1=0x636f6c756d6e20303030303030 value=0x76  \
         => (name=636f6c756d6e20303030303030, value=76, timestamp=5)\n"
    );
    assert!(text(&shown.stderr).contains("CRC.db is missing"), "{}", text(&shown.stderr));
    let missing = show("row x");
    assert!(text(&missing.stderr).contains("has no row with the key row x"), "{}", text(&missing.stderr));

    // Without its Index all rows before it are read. Without its Statistics file nothing can be.
    std::fs::remove_file(directory.path().join("me-1-big-Index.db")).unwrap();
    assert!(text(&show("row 000000").stderr).contains("Index.db is missing"));
    std::fs::remove_file(directory.path().join("me-1-big-Statistics.db")).unwrap();
    let shown = show("row 099999");
    let errors = text(&shown.stderr);
    assert!(
        !shown.status.success()
            && errors.contains("Statistics.db")
            && errors.contains("is missing: rows of 3.x"),
        "{errors}"
    );
}
