//! Code that the store tests share: schemas, stores in temporary directories, calls, and user-defined comparators.
#![allow(dead_code, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "../dump.rs"]
mod dump;
#[path = "../schema_calls.rs"]
mod schema_calls;

use std::cmp::Ordering;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal::{AbstractType, MarshalError, StoredOrder, TypeRef, Types};
use base::model::{
    Bounds, Cell, Change, DeletionTime, Mutation, Predicate, RangeCommand, ReadCommand, Row, RowColumns,
    SliceRange,
};
use base::partitioner;
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, CfDef, ColumnType, KeyspaceDef};
use base::util::{Clock, Release};
use bytes::Bytes;
use db::Database;
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use store::{RowPiece, Store, StoreError};

#[allow(unused_imports, reason = "every test binary uses its own part of it")]
pub use schema_calls::SchemaCalls;

/// The keyspace of all tests.
pub const KEYSPACE: &str = "K";
/// The time at which manual clocks start, in seconds.
pub const START_S: i64 = 1_000_000_000;

/// Returns the scripts (`*.txt`) of a folder in `tests/`, with their paths.
pub fn scripts(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "txt")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "the folder has no scripts");
    let script = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(script).collect()
}

/// Checks that each script equals what `answer` makes of it: its commands with the actual answers. With `REWRITE=1` the
/// script is overwritten instead.
pub fn check_scripts(folder: &str, answer: impl Fn(&str) -> String) {
    for (path, script) in scripts(folder) {
        let answered = answer(&script);
        if is_rewriting() {
            std::fs::write(&path, answered).unwrap();
        } else {
            assert_eq!(answered, script, "{} (REWRITE=1 rewrites it)", path.display());
        }
    }
}

/// Drops a database, and returns when its directory is unlocked. A task that builds an index may still hold the
/// database.
pub async fn wait_until_unused(mut database: Arc<Database>) {
    while let Err(still_held) = Arc::try_unwrap(database) {
        database = still_held;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Returns whether scripts are overwritten instead of compared.
pub fn is_rewriting() -> bool {
    std::env::var_os("REWRITE").is_some()
}

/// Runs a future of a store to its end.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Returns all rows of a column family as `Store::dump` returns them, in pages of this many bytes. The pieces of a row
/// are joined.
pub fn dumped(store: &dyn Store, cf: &Arc<CfDef>, max_bytes: usize) -> Vec<RowPiece> {
    wait(dump::dumped(store, cf, max_bytes))
}

/// Returns a built-in comparator or one of `own_types`.
pub fn comparator(name: &str) -> TypeRef {
    let mut types = Types::builtin();
    for own in [own_types::any_case(), own_types::folded(), own_types::backwards()] {
        types.register(own);
    }
    types.resolve(name).unwrap_or_else(|| panic!("comparator {name}"))
}

pub fn partitioner(name: &str) -> PartitionerRef {
    partitioner::resolve(name).unwrap_or_else(|| panic!("partitioner {name}"))
}

/// Returns the definition of a column family. It is Standard if there is no subcomparator.
pub fn family(name: &str, compare_with: &str, compare_subcolumns_with: Option<&str>) -> CfDef {
    let column_type = match compare_subcolumns_with {
        None => ColumnType::Standard,
        Some(sub) => ColumnType::Super { subcomparator: comparator(sub) },
    };
    CfDef {
        column_type,
        comparator: comparator(compare_with),
        gc_grace_s: i32::MAX,
        ..CfDef::new(KEYSPACE, name)
    }
}

pub fn catalog(families: impl IntoIterator<Item = CfDef>) -> Catalog {
    let mut keyspace = KeyspaceDef::new(KEYSPACE);
    for cf in families {
        keyspace.column_families.insert(cf.name.clone(), Arc::new(cf));
    }
    let mut catalog = Catalog::default();
    catalog.keyspaces.insert(KEYSPACE.to_owned(), keyspace);
    catalog
}

pub fn cf_of(catalog: &Catalog, name: &str) -> Arc<CfDef> {
    catalog.column_family(KEYSPACE, name).unwrap_or_else(|| panic!("column family {name}")).clone()
}

pub fn manual_clock() -> Arc<Clock> {
    Arc::new(Clock::manual(START_S * 1000))
}

pub fn options(directory: &Path) -> EmbeddedOptions {
    EmbeddedOptions {
        directory: directory.to_owned(),
        sync: SyncMode::Periodic(Duration::from_secs(10)),
        cache_bytes: 2 << 20,
    }
}

/// Opens a store with a manual clock and the RandomPartitioner.
pub fn open(directory: &Path, catalog: &Catalog) -> Result<EmbeddedStore, StoreError> {
    EmbeddedStore::open(options(directory), partitioner("RandomPartitioner"), catalog, manual_clock())
}

/// Closes a store as the server does at shutdown.
pub fn close(store: EmbeddedStore) {
    wait(store.close()).unwrap();
}

pub fn bytes(text: impl AsRef<[u8]>) -> Bytes {
    Bytes::copy_from_slice(text.as_ref())
}

pub fn deletion(timestamp: i64, local_deletion_time: i64) -> DeletionTime {
    DeletionTime {
        marked_for_delete_at: timestamp,
        local_deletion_time: i32::try_from(local_deletion_time).unwrap(),
    }
}

/// Returns a mutation that writes one cell of a Standard row.
pub fn put(cf: &Arc<CfDef>, key: &str, name: &str, value: &str, timestamp: i64) -> Mutation {
    let cell = Cell::live(bytes(name), bytes(value), timestamp);
    change(cf, key, vec![Change::Cell { super_column: None, cell }])
}

/// Returns a mutation that writes one cell of a Super row.
pub fn put_super(cf: &Arc<CfDef>, key: &str, (holder, name): (&str, &str), timestamp: i64) -> Mutation {
    let cell = Cell::live(bytes(name), bytes("v"), timestamp);
    change(cf, key, vec![Change::Cell { super_column: Some(bytes(holder)), cell }])
}

pub fn change(cf: &Arc<CfDef>, key: &str, changes: Vec<Change>) -> Mutation {
    Mutation::of(bytes(key), cf.clone(), changes)
}

pub fn behaviour() -> &'static Behaviour {
    Behaviour::of(Release::V0_6)
}

pub fn apply(store: &dyn Store, mutation: Mutation) -> Result<(), StoreError> {
    wait(store.apply(vec![mutation], behaviour(), ConsistencyLevel::One))
}

pub fn read_all(cf: &Arc<CfDef>) -> ReadCommand {
    slice(cf, SliceRange::all())
}

pub fn slice(cf: &Arc<CfDef>, range: SliceRange) -> ReadCommand {
    ReadCommand {
        cf: cf.clone(),
        super_column: None,
        predicate: Predicate::Range(range),
        behaviour: behaviour(),
        with_tombstones: false,
        gc_before: i32::MIN,
        now_s: i32::MIN,
    }
}

pub fn read(store: &dyn Store, key: &str, command: ReadCommand) -> Result<RowColumns, StoreError> {
    wait(store.read(bytes(key), command, ConsistencyLevel::One))
}

/// Returns the names of the columns or super columns of a row.
pub fn names(store: &dyn Store, key: &str, cf: &Arc<CfDef>) -> Vec<String> {
    match read(store, key, read_all(cf)).unwrap() {
        RowColumns::Cells(cells) => cells.iter().map(|cell| text(&cell.name)).collect(),
        RowColumns::Supers(supers) => supers.iter().map(|found| text(&found.name)).collect(),
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns all rows in token order.
pub fn scan_all(store: &dyn Store, cf: &Arc<CfDef>) -> Result<Vec<Row>, StoreError> {
    let bounds = Bounds::Keys { start: Bytes::new(), end: Bytes::new() };
    let command = RangeCommand { bounds, max_rows: usize::MAX, read: read_all(cf), skip_empty: false };
    wait(store.scan(command, ConsistencyLevel::One))
}

/// Comparators as a user's own crate could define them.
pub mod own_types {
    use super::*;

    /// The user-defined comparators, which use different defaults of the trait.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Kind {
        /// Compares without regard to case. Uses the trait's defaults, with which rows are sorted in memory.
        AnyCase,
        /// Compares without regard to case. Its ordered bytes are lower case and sort like the names. They do not
        /// contain the original name, so names cannot be restored from them.
        Folded,
        /// Compares names from the last byte to the first. Its ordered bytes are not sorted, and names cannot be
        /// restored from them.
        Backwards,
    }

    #[derive(Debug)]
    struct Own(Kind);

    pub fn any_case() -> TypeRef {
        Arc::new(Own(Kind::AnyCase))
    }

    pub fn folded() -> TypeRef {
        Arc::new(Own(Kind::Folded))
    }

    pub fn backwards() -> TypeRef {
        Arc::new(Own(Kind::Backwards))
    }

    impl AbstractType for Own {
        fn class_name(&self) -> &str {
            match self.0 {
                Kind::AnyCase => "com.example.AnyCaseType",
                Kind::Folded => "com.example.FoldedType",
                Kind::Backwards => "com.example.BackwardsType",
            }
        }

        fn validate(&self, _value: &[u8]) -> Result<(), MarshalError> {
            Ok(())
        }

        fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
            match self.0 {
                Kind::AnyCase | Kind::Folded => left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase()),
                Kind::Backwards => left.iter().rev().cmp(right.iter().rev()),
            }
        }

        fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
            match self.0 {
                Kind::AnyCase => out.extend_from_slice(name),
                Kind::Folded => out.extend(name.to_ascii_lowercase()),
                // The bytes are changed, so that the test fails if a name is read from the key instead of from the
                // value.
                Kind::Backwards => out.extend(name.iter().map(|byte| byte ^ 0x55)),
            }
        }

        fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
            (self.0 == Kind::AnyCase).then(|| ordered.to_vec())
        }

        fn stored_order(&self) -> StoredOrder {
            if self.0 == Kind::Folded { StoredOrder::Exact } else { StoredOrder::WithinPrefix(0) }
        }

        fn to_text(&self, value: &[u8]) -> String {
            text(value)
        }

        fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
            Ok(text.as_bytes().to_vec())
        }
    }
}
