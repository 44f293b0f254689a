//! Bulk loads: what is durable after a checkpoint, after the end of a load, and after a store that ends without either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;
use std::sync::Arc;

use crate::store_support;
use base::schema::{Catalog, CfDef};
use embedded::EmbeddedStore;
use store::Store;
use store_support::{apply, catalog, cf_of, close, dumped, family, open, put, wait};

/// The size of a page of a dump, in bytes.
const PIECE_BYTES: usize = 1 << 20;

fn schema() -> (Catalog, Arc<CfDef>) {
    let catalog = catalog([family("Plain", "UTF8Type", None)]);
    let cf = cf_of(&catalog, "Plain");
    (catalog, cf)
}

/// Returns the row keys of a store.
fn keys(store: &EmbeddedStore, cf: &Arc<CfDef>) -> Vec<String> {
    let rows = dumped(store, cf, PIECE_BYTES);
    let mut keys: Vec<String> = rows.iter().map(|row| String::from_utf8(row.key.to_vec()).unwrap()).collect();
    keys.sort();
    keys
}

fn keys_after_start(directory: &Path) -> Vec<String> {
    let (catalog, cf) = schema();
    keys(&open(directory, &catalog).unwrap(), &cf)
}

#[test]
fn a_load_is_durable_at_its_checkpoints() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    let (catalog, cf) = schema();
    let write = |store: &EmbeddedStore, key| apply(store, put(&cf, key, "n", "v", 1)).unwrap();

    let store = open(directory, &catalog).unwrap();
    write(&store, "logged");
    let bulk = store.capabilities().bulk_load.unwrap();
    bulk.begin_load().unwrap();
    write(&store, "first");
    wait(bulk.checkpoint_load()).unwrap();
    write(&store, "second");
    assert_eq!(keys(&store, &cf), ["first", "logged", "second"]);
    drop(store);
    assert_eq!(keys_after_start(directory), ["first", "logged"]);

    let store = open(directory, &catalog).unwrap();
    let bulk = store.capabilities().bulk_load.unwrap();
    bulk.begin_load().unwrap();
    write(&store, "second");
    wait(bulk.end_load()).unwrap();
    write(&store, "third");
    drop(store);
    assert_eq!(keys_after_start(directory), ["first", "logged", "second", "third"]);
}

#[test]
fn a_load_that_is_not_ended_is_durable_when_the_store_is_closed() {
    let place = tempfile::tempdir().unwrap();
    let (catalog, cf) = schema();
    let store = open(place.path(), &catalog).unwrap();
    store.capabilities().bulk_load.unwrap().begin_load().unwrap();
    apply(&store, put(&cf, "first", "n", "v", 1)).unwrap();
    close(store);
    assert_eq!(keys_after_start(place.path()), ["first"]);
}
