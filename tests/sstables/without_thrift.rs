//! Directories of 4.0 and later, whose servers have no Thrift: the tables of CQL, imported with the schema that is in the
//! directory, are what the servers answered.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use base::marshal::Types;
use serde_json::Value;
use sstable::{Component, Descriptor};
use transfer::import::{Defined, FoundSchema, Inventory, Summary};

use crate::contents::Differences;
use crate::fixture::{Fixture, WITHOUT_THRIFT, has_logs};
use crate::import::import_in_order;
use crate::rows::{Merged, check_rows_by_key};

/// Returns the kinds of answers of a directory, with or without the writes that were in the commit log only.
fn answers<'c>(contents: &'c Value, kind: &str, has_commit_logs: bool) -> BTreeMap<&'c String, &'c Value> {
    let mut found: BTreeMap<&String, &Value> = contents[kind].as_object().unwrap().iter().collect();
    if !has_commit_logs {
        found.extend(contents[format!("{kind}_before_commitlog_writes")].as_object().unwrap());
    }
    found
}

/// Compares what each SELECT of a server returned. Returns the number of rows.
fn compare(
    merged: &Merged,
    fixture: &Fixture,
    has_commit_logs: bool,
    differences: &mut Differences,
) -> usize {
    let contents = fixture.contents;
    let version = contents["version"].as_str().unwrap();
    let mut count = 0;
    for (table, answer) in answers(contents, "cql3", has_commit_logs) {
        let expected = answer["rows"].as_array().unwrap();
        count += expected.len();
        let found = merged.selected(contents, table);
        differences.compare_selected(&format!("{version} SELECT {table}"), &found, expected);
    }
    for (table, answer) in answers(contents, "written", has_commit_logs) {
        let found = merged.selected_by(contents, answer["statement"].as_str().unwrap());
        let expected = answer["rows"].as_array().unwrap();
        differences.compare_selected(&format!("{version} WRITETIME {table}"), &found, expected);
    }
    count
}

/// Imports a directory with its own schema.
fn import(fixture: &Fixture) -> (Merged, FoundSchema, Summary) {
    let merged = Merged::without_schema(fixture.contents);
    let inventory = Inventory::of(&[fixture.data()]).unwrap();
    let schema = FoundSchema::of(&inventory, &Types::builtin()).unwrap();
    assert_eq!(schema.missing, [""; 0]);
    let Defined { failed, .. } = merged.runtime.block_on(schema.define(&merged.database));
    assert_eq!(failed, [""; 0]);
    let partitioner = fixture.contents["partitioner"].as_str().unwrap();
    let summary = import_in_order(partitioner, &merged, fixture.contents, &[fixture.data()], false);
    (merged, schema, summary.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn imported_rows_are_those_that_select_returned() {
    let mut differences = Differences::default();
    for release in WITHOUT_THRIFT {
        let fixture = Fixture::of(release);
        let (merged, _, summary) = import(&fixture);
        assert_eq!((summary.losses.count(), &summary.undefined[..]), (0, &[][..]), "{release}");
        let rows = compare(&merged, &fixture, false, &mut differences);
        assert!(rows > 100, "{release}: {rows} rows");
    }
    differences.assert_none();
}

#[test]
fn commit_logs_have_what_was_not_flushed() {
    let mut differences = Differences::default();
    for release in WITHOUT_THRIFT.into_iter().filter(|release| has_logs(release)) {
        let fixture = Fixture::with_commit_logs(release);
        let (merged, _, summary) = import(&fixture);
        assert!(summary.commit_logs >= 1, "{release}");
        assert_eq!((summary.losses.first(), summary.doubts.first()), (&[][..], &[][..]), "{release}");
        assert_eq!(summary.unfound.missing(), 0, "{release}: {:?}", summary.unfound);
        compare(&merged, &fixture, true, &mut differences);
    }
    differences.assert_none();
}

/// What has no place here is named.
#[test]
fn vectors_masks_and_late_expiry_are_reported() {
    for release in ["5.0.9", "5.0.9-bti"] {
        let fixture = Fixture::of(release);
        let (_, schema, summary) = import(&fixture);
        for what in [
            "the type vector<float, 3> of v of key_space_test.vectors: it is blob",
            "the type vector<text, 2> of t of key_space_test.vectors: it is blob",
            "the mask mask_inner of the column name of key_space_test.masked",
        ] {
            assert!(schema.left_out.iter().any(|left_out| left_out.contains(what)), "{:?}", schema.left_out);
        }
        let notes = summary.total().notes;
        assert!(notes.iter().any(|note| note.contains("2 values expire after 2038-01-19")), "{notes:?}");
    }
}

/// A Data file is cut where a block and a row end, so that each block that is left has its checksum. The Index file shows what
/// is missing, and without it the checksums of blocks that are not there.
#[test]
fn rows_that_a_cut_file_may_lack_are_a_loss() {
    for has_index in [true, false] {
        let fixture = Fixture::unpack("4.1.10");
        let data = &fixture.files_of("key_space_test", "with_none")[0];
        let descriptor = Descriptor::of_data_file(data).unwrap();
        let (index_path, content) = (descriptor.path(Component::Index), fs::read(data).unwrap());
        // Keys of four bytes with their length; position and length of the rest have one or two bytes each.
        let index = fs::read(&index_path).unwrap();
        let first_length = usize::from(index[7]);
        let position = &index[8 + first_length + 6..];
        let second = usize::from(u16::from_be_bytes([position[0] & 0x3F, position[1]]));
        assert!(index[6] == 0 && first_length < 0x80 && position[0] >> 6 == 0b10, "{index:?}");
        let sums = content.chunks(second).flat_map(|block| crc32fast::hash(block).to_be_bytes());
        let head = u32::try_from(second).unwrap().to_be_bytes();
        fs::write(descriptor.path(Component::Crc), head.into_iter().chain(sums).collect::<Vec<u8>>())
            .unwrap();
        fs::write(data, &content[..second]).unwrap();
        if !has_index {
            fs::remove_file(index_path).unwrap();
        }
        let merged = Merged::without_schema(fixture.contents);
        let inventory = Inventory::of(&[fixture.data()]).unwrap();
        let schema = FoundSchema::of(&inventory, &Types::builtin()).unwrap();
        merged.runtime.block_on(schema.define(&merged.database));
        let partitioner = fixture.contents["partitioner"].as_str().unwrap();
        let summary =
            import_in_order(partitioner, &merged, fixture.contents, &[fixture.data()], true).unwrap();
        let what: Vec<&str> = summary.losses.first().iter().map(|lost| &lost.what[..]).collect();
        let why = if has_index {
            "which the Index component has; lost: "
        } else {
            "lost: the rows at the end, if there were more"
        };
        assert!(what.iter().any(|what| what.contains(why)), "{what:?}");
    }
}

/// Without an Index component all rows are read.
#[test]
fn each_row_is_found_by_its_key() {
    for release in WITHOUT_THRIFT {
        let fixture = Fixture::of(release);
        for file in fixture.data_files("key_space_test") {
            check_rows_by_key(&file);
        }
    }
}

#[test]
fn files_are_shown_with_the_types_of_their_directory() {
    for release in WITHOUT_THRIFT {
        let fixture = Fixture::of(release);
        for file in fixture.files_of("key_space_test", "statics") {
            let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
            let output = command.args(["sstable", "show"]).arg(&file).output().unwrap();
            let [text, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            assert!(output.status.success() && !errors.contains("damaged"), "{release}: {errors}");
            assert!(text.contains("row key 61  k='a'") && text.contains("sm['"), "{release}: {text}");
        }
    }
}
