//! Invalid names of super columns in get_count of 0.4 and in deletions of 0.6, which do not validate them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use crate::store_support;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::util::Release;
use bytes::Bytes;
use db::{
    ColumnOrSuper, ColumnParent, Database, DatabaseParts, Deletion, Error, MutationRequest, NewColumn,
    NewSuper, RowBatch,
};
use embedded::EmbeddedStore;
use store_support::{KEYSPACE, bytes, catalog, family, manual_clock, partitioner, wait};

const ONE: ConsistencyLevel = ConsistencyLevel::One;
const TIME: &str = "\0\0\0\0\0\0\x10\0\x012345678";
const OTHER: &str = "\0\0\0\0\0\0\x40\0\x012345678";

/// Returns a database with a Super column family for each type, which has the type's name.
fn database(types: &[&str]) -> Database {
    let catalog = catalog(types.iter().map(|name| family(name, name, Some("BytesType"))));
    let (partitioner, clock) = (partitioner("RandomPartitioner"), manual_clock());
    let store = EmbeddedStore::in_memory(partitioner.clone(), &catalog, clock.clone()).unwrap();
    Database::new(DatabaseParts::new(Arc::new(catalog), Arc::new(store), partitioner, clock))
}

/// Returns the insertion of a super column with two columns.
fn write(name: &str) -> MutationRequest {
    let column = |name: &str| NewColumn {
        name: bytes(name),
        value: Some(bytes("v")),
        timestamp: Some(1),
        ttl_s: None,
    };
    let written = NewSuper { name: bytes(name), columns: vec![column("a"), column("b")] };
    let insert = ColumnOrSuper { super_column: Some(Box::new(written)), ..ColumnOrSuper::default() };
    MutationRequest { insert: Some(insert), deletion: None }
}

fn delete(name: &str) -> MutationRequest {
    let deletion = Deletion { timestamp: Some(2), super_column: Some(bytes(name)), predicate: None };
    MutationRequest { insert: None, deletion: Some(Box::new(deletion)) }
}

/// Returns the answer of 0.6 to a batch that changes one row.
fn batch(database: &Database, of: &str, key: &str, requests: Vec<MutationRequest>) -> String {
    let row = RowBatch { key: bytes(key), families: vec![(bytes(of), requests)] };
    formatted(wait(
        database
            .request(KEYSPACE.as_bytes(), ONE, Behaviour::of(Release::V0_6))
            .writes()
            .batch_mutate(vec![row]),
    ))
}

/// Returns the count of columns in a super column by the rules of a release.
fn count(database: &Database, of: &str, (key, name): (&str, impl Into<Bytes>), release: Release) -> String {
    let parent = ColumnParent { column_family: bytes(of), super_column: Some(name.into()) };
    let behaviour = Behaviour::of(release);
    formatted(wait(
        database.request(KEYSPACE.as_bytes(), ONE, behaviour).reads().get_count(&bytes(key), &parent),
    ))
}

fn formatted<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    outcome.map_or_else(|error| error.to_string(), |found| format!("{found:?}"))
}

#[test]
fn get_count_of_0_4_counts_under_the_stored_name_that_compares_equal() {
    let types = ["LongType", "LexicalUUIDType", "TimeUUIDType", "UTF8Type"];
    let database = database(&types);
    for (of, name) in types.into_iter().zip(["12345678", OTHER, TIME, "name"]) {
        assert_eq!(batch(&database, of, "k", vec![write(name)]), "()");
    }
    let uuid = "UUIDs must be exactly 16 bytes";
    for (of, name, expected) in [
        ("LongType", "12345678 and more".to_owned(), "2"),
        ("LongType", "12345679x".to_owned(), "0"),
        ("LongType", "1234567".to_owned(), "A long is exactly 8 bytes"),
        ("LexicalUUIDType", format!("{OTHER}x"), "2"),
        ("LexicalUUIDType", OTHER[1..].to_owned(), uuid),
        ("TimeUUIDType", format!("{TIME}x"), "2"),
        ("TimeUUIDType", TIME[1..].to_owned(), uuid),
        ("TimeUUIDType", OTHER.to_owned(), "TimeUUID only makes sense with version 1 UUIDs"),
    ] {
        assert_eq!(count(&database, of, ("k", name.clone()), Release::V0_4), expected, "{of} {name:?}");
        let of_empty = count(&database, of, ("none", name.clone()), Release::V0_4);
        assert_eq!(of_empty, "0", "{of} {name:?}");
    }
    assert_eq!(count(&database, "UTF8Type", ("k", &b"\xff"[..]), Release::V0_4), "0");
}

#[test]
fn a_deletion_of_0_6_fails_only_if_there_is_a_stored_name_to_compare() {
    let database = database(&["LexicalUUIDType", "TimeUUIDType"]);
    let uuid = "UUIDs must be exactly 16 bytes";
    for (of, name) in [("LexicalUUIDType", OTHER), ("TimeUUIDType", TIME)] {
        assert_eq!(batch(&database, of, "k", vec![delete("short")]), "()");
        assert_eq!(batch(&database, of, "both", vec![write(name), delete("short")]), uuid);
        assert_eq!(count(&database, of, ("both", name), Release::V0_6), "0");
        assert_eq!(batch(&database, of, "row", vec![write(name)]), "()");
        assert_eq!(batch(&database, of, "row", vec![delete("short")]), uuid);
        assert_eq!(count(&database, of, ("row", name), Release::V0_6), "2");
    }
    // Of a longer name LexicalUUIDType compares the first 16 bytes, TimeUUIDType all.
    assert_eq!(batch(&database, "LexicalUUIDType", "row", vec![delete(&format!("{OTHER}x"))]), "()");
    assert_eq!(count(&database, "LexicalUUIDType", ("row", OTHER), Release::V0_6), "0");
    assert_eq!(batch(&database, "TimeUUIDType", "row", vec![delete(&format!("{TIME}x"))]), "()");
    assert_eq!(count(&database, "TimeUUIDType", ("row", TIME), Release::V0_6), "2");
}
