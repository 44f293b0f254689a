//! Schemas with many definitions and with large ones: the cost of one more definition, the limits, and restarts.
//!
//! `SCHEMA_FAMILIES=10000`, `SCHEMA_KEYSPACES=10000` and `SCHEMA_TYPES=10000` set the number of definitions; the
//! default is 2,000. The tests print the time for each thousand.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::store_support::SchemaCalls as _;
use crate::{counting_disk, store_support};
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::marshal::{CollectionForm, CqlType, UserType};
use base::schema::{Catalog, KeyspaceDef, keyspace_to_json};
use base::util::{Clock, Release};
use bytes::Bytes;
use counting_disk::CountingDisk;
use cql::{CqlError, Outcome, QueryOptions, QueryState, query};
use db::{CfRequest, Database, DatabaseParts};
use embedded::EmbeddedStore;
use embedded::disk::{Disk, RealDisk};
use store::Store;
use store_support as stores;

fn level() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

fn store_in(directory: &Path, disk: Arc<dyn Disk>) -> EmbeddedStore {
    let random = stores::partitioner("RandomPartitioner");
    let clock = Arc::new(Clock::system());
    EmbeddedStore::open_on(disk, stores::options(directory), random, &Catalog::default(), clock).unwrap()
}

async fn open_on(directory: &Path, disk: Arc<dyn Disk>) -> Arc<Database> {
    let (catalog, clock) = (Arc::new(Catalog::default()), Arc::new(Clock::system()));
    let random = stores::partitioner("RandomPartitioner");
    let store = Arc::new(store_in(directory, disk));
    let database = Arc::new(Database::new(DatabaseParts::new(catalog, store, random, clock)));
    database.stored_schema().load().await.unwrap();
    database
}

async fn open(directory: &Path) -> Arc<Database> {
    open_on(directory, Arc::new(RealDisk)).await
}

async fn close(database: Arc<Database>) {
    database.store().close().await.unwrap();
    stores::wait_until_unused(database).await;
}

async fn run(database: &Arc<Database>, text: &str) -> Result<Outcome, CqlError> {
    let state = QueryState {
        database,
        behaviour: level(),
        reported: ReportedVersion::of_release(level()),
        language: Language::Newest,
        keyspace: Some("k"),
        user: None,
        sees_new_indexes: false,
    };
    let options = QueryOptions { collection_form: CollectionForm::Long, ..QueryOptions::default() };
    query(&state, text, &options).await
}

async fn done(database: &Arc<Database>, text: &str) {
    if let Err(error) = run(database, text).await {
        panic!("{text}: {error}");
    }
}

async fn refusal(database: &Arc<Database>, text: &str) -> String {
    run(database, text).await.unwrap_err().to_string()
}

/// A statement or a start takes less than this, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

const KEYSPACE: &str =
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// Returns the total size of the metadata records.
async fn record_bytes(database: &Database) -> usize {
    database.store().records().await.unwrap().iter().map(|(_, value)| value.len()).sum()
}

#[tokio::test]
async fn a_chain_of_doubling_types_is_refused_when_it_becomes_too_long() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(directory.path()).await;
    done(&database, KEYSPACE).await;
    done(&database, "CREATE TYPE u0 (a int)").await;
    let (mut made, mut slowest) = (0, Duration::ZERO);
    for number in 1..=64 {
        let statement =
            format!("CREATE TYPE u{number} (a frozen<u{}>, b frozen<u{}>)", number - 1, number - 1);
        let begin = Instant::now();
        let outcome = run(&database, &statement).await;
        slowest = slowest.max(begin.elapsed());
        match outcome {
            Ok(_) => made = number,
            Err(error) if number == made + 1 => {
                let why = error.to_string();
                assert!(why.starts_with(&format!("User type k.u{number} has a class name of ")), "{why}");
                assert!(why.contains("at most 65535 are allowed"), "{why}");
            }
            Err(error) => assert_eq!(error.to_string(), format!("Unknown type k.u{}", number - 1)),
        }
    }
    assert!((7..=12).contains(&made), "{made}");
    let why =
        refusal(&database, &format!("CREATE TABLE t (k int PRIMARY KEY, v frozen<tuple<u{made}, u{made}>>)"))
            .await;
    assert!(why.contains("at most 65535 are allowed"), "{why}");
    // A longer type makes the types that use it longer.
    let fields: Vec<String> = (0..20).map(|number| format!("ALTER TYPE u0 ADD f{number} text")).collect();
    let mut refused = 0;
    for statement in fields {
        if let Err(error) = run(&database, &statement).await {
            assert!(error.to_string().contains("at most 65535 are allowed"), "{error}");
            refused += 1;
        }
    }
    assert!(refused > 0);
    done(&database, &format!("CREATE TABLE t (k int PRIMARY KEY, v frozen<u{made}>)")).await;
    assert!(record_bytes(&database).await < 20_000);
    let before = keyspace_to_json(database.catalog().keyspace("k").unwrap());
    close(database).await;
    let begin = Instant::now();
    let database = open(directory.path()).await;
    let restart = begin.elapsed();
    println!("{made} types of a chain of 64: the slowest took {slowest:?}, the restart {restart:?}");
    // If each type were stored with a copy of all types in it, the last ones would take far longer.
    assert!(slowest < PATIENCE && restart < PATIENCE);
    assert_eq!(keyspace_to_json(database.catalog().keyspace("k").unwrap()), before);
    done(&database, "INSERT INTO t (k) VALUES (1)").await;
    close(database).await;
}

#[tokio::test]
async fn the_nesting_depth_of_types_is_limited() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(directory.path()).await;
    done(&database, KEYSPACE).await;
    done(&database, "CREATE TYPE u0 (a int)").await;
    for number in 1..15 {
        done(&database, &format!("CREATE TYPE u{number} (a frozen<u{}>)", number - 1)).await;
    }
    let why = refusal(&database, "CREATE TYPE u15 (a frozen<u14>)").await;
    assert!(why.contains("nests types 16 deep, and at most 15 levels are allowed"), "{why}");
    done(&database, "CREATE TABLE t (k int PRIMARY KEY, v frozen<u14>)").await;
    let text = |database: &Database| {
        let keyspace = database.catalog().keyspace("k").unwrap().clone();
        keyspace.user_types["u14"].class_name()
    };
    let before = text(&database);
    assert_eq!(before.matches("UserType(").count(), 15);
    close(database).await;
    let database = open(directory.path()).await;
    assert_eq!(text(&database), before);
    close(database).await;
}

/// Returns the record of a keyspace as versions without limits wrote it: each type with a copy of all types in it.
fn record_without_limits(count: usize) -> String {
    let marshal = "org.apache.cassandra.db.marshal";
    let hex = |name: &str| name.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut class = format!("{marshal}.UserType(k,{},61:{marshal}.Int32Type)", hex("u0"));
    let mut types = vec![format!(r#"{{"name":"u0","fields":[["a","{marshal}.Int32Type"]]}}"#)];
    for number in 1..=count {
        types.push(format!(r#"{{"name":"u{number}","fields":[["a","{class}"],["b","{class}"]]}}"#));
        class = format!("{marshal}.UserType(k,{},61:{class},62:{class})", hex(&format!("u{number}")));
    }
    format!(
        r#"{{"version":1,"name":"k","strategy_class":"{locator}.SimpleStrategy","strategy_options":
        {{"replication_factor":"1"}},"replication_factor":1,"durable_writes":true,"column_families":[{{"name":"t",
        "id":1000,"comparator":"{marshal}.CompositeType({marshal}.UTF8Type)","gc_grace_seconds":864000,
        "default_validator":"{marshal}.BytesType","key_validator":"{marshal}.Int32Type","table":{{"partition_key":
        [{{"name":"k","type":"{marshal}.Int32Type"}}],"columns":[{{"name":"v","type":"{class}"}},
        {{"name":"w","type":"{marshal}.Int32Type"}}]}}}}],"user_types":[{types}]}}"#,
        locator = "org.apache.cassandra.locator",
        types = types.join(",")
    )
}

#[tokio::test]
async fn a_directory_with_expanded_types_opens_and_is_rewritten_without_expansion() {
    let directory = tempfile::tempdir().unwrap();
    let store = store_in(directory.path(), Arc::new(RealDisk));
    let record = record_without_limits(14);
    assert!(record.len() > 1_000_000);
    store.put_records(vec![("keyspace/k".to_owned(), Some(Bytes::from(record)))]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    for _ in 0..2 {
        let database = open(directory.path()).await;
        assert!(record_bytes(&database).await < 10_000);
        let keyspace = database.catalog().keyspace("k").unwrap().clone();
        let of = |user: &UserType, at: usize| match &user.fields[at].1 {
            CqlType::User { user, .. } => user.clone(),
            other => panic!("{other}"),
        };
        for number in 1..=14 {
            let (user, below) = (&keyspace.user_types[&*format!("u{number}")], format!("u{}", number - 1));
            let known = &keyspace.user_types[&*below];
            assert!(Arc::ptr_eq(&of(user, 0), known) && Arc::ptr_eq(&of(user, 1), known), "u{number}");
        }
        for statement in [
            "INSERT INTO t (k, w) VALUES (1, 2)",
            "SELECT * FROM t",
            "SELECT * FROM system.schema_usertypes",
            "SELECT * FROM system.schema_columns",
            "CREATE TYPE IF NOT EXISTS other (a int)",
        ] {
            done(&database, statement).await;
        }
        let why = refusal(&database, "CREATE TABLE t2 (k int PRIMARY KEY, v frozen<u14>)").await;
        assert!(why.contains("at most 65535 are allowed"), "{why}");
        close(database).await;
    }
}

#[tokio::test]
async fn the_number_of_columns_of_a_table_is_limited() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(directory.path()).await;
    done(&database, KEYSPACE).await;
    let columns = |count: usize| (0..count).map(|number| format!("c{number} int, ")).collect::<String>();
    let why =
        refusal(&database, &format!("CREATE TABLE t (k int PRIMARY KEY, {}x int)", columns(9_999))).await;
    assert!(why.contains("has 10001 columns, and at most 10000 are allowed"), "{why}");
    done(&database, &format!("CREATE TABLE t (k int PRIMARY KEY, {}x int)", columns(9_998))).await;
    let why = refusal(&database, "ALTER TABLE t ADD y int").await;
    assert!(why.contains("has 10001 columns, and at most 10000 are allowed"), "{why}");
    let fields: String = (0..1_000).map(|number| format!("f{number} text, ")).collect();
    done(&database, &format!("CREATE TYPE large ({fields}x int)")).await;
    let columns: String = (0..90).map(|number| format!("c{number} frozen<large>, ")).collect();
    let why = refusal(&database, &format!("CREATE TABLE t2 (k int PRIMARY KEY, {columns}x int)")).await;
    assert!(why.contains("at most 4194304 are allowed"), "{why}");
    close(database).await;
}

/// Creates column families, by turns with CQL and Thrift.
async fn make_families(database: &Arc<Database>, numbers: std::ops::Range<usize>) {
    for number in numbers {
        if number % 2 == 0 {
            done(database, &format!("CREATE TABLE f{number} (k int PRIMARY KEY, v text)")).await;
        } else {
            let request =
                CfRequest { keyspace: "k".to_owned(), name: format!("f{number}"), ..CfRequest::default() };
            database.schema_changes(level()).add_column_family(request).await.unwrap();
        }
    }
}

fn families(keyspace: &KeyspaceDef) -> Vec<&String> {
    keyspace.column_families.keys().collect()
}

/// Returns the number of definitions to create.
fn setting(name: &str) -> usize {
    std::env::var(name).ok().and_then(|count| count.parse().ok()).unwrap_or(2_000)
}

/// If each change rewrote the whole schema, 2,000 column families would cost four times as much as 1,000.
#[tokio::test]
async fn the_cost_of_a_column_family_does_not_grow_with_their_number() {
    let directory = tempfile::tempdir().unwrap();
    let disk = CountingDisk::default();
    let database = open_on(directory.path(), Arc::new(disk.clone())).await;
    done(&database, KEYSPACE).await;
    make_families(&database, 0..1_000).await;
    let first = disk.written();
    for begin in (1_000..setting("SCHEMA_FAMILIES")).step_by(1_000) {
        let (before, started) = (disk.written(), Instant::now());
        make_families(&database, begin..begin + 1_000).await;
        let more = disk.written() - before;
        println!("1,000 column families after {begin}: {:?}, {more} bytes", started.elapsed());
        // In a thousand changes the manifest may be rewritten once, with all definitions.
        assert!(
            more < 2 * first + 1_000 * begin as u64,
            "the first 1,000 wrote {first} bytes, those after {begin} {more}"
        );
    }
    let version = database.schema_version();
    let count = setting("SCHEMA_FAMILIES");
    for number in (0..count).step_by(100) {
        database.schema_changes(level()).drop_column_family("k", &format!("f{number}")).await.unwrap();
    }
    assert_ne!(database.schema_version(), version);
    let version = database.schema_version();
    let before = database.catalog().keyspace("k").unwrap().clone();
    assert_eq!(before.column_families.len(), count - count.div_ceil(100));
    done(&database, "INSERT INTO f1998 (k, v) VALUES (1, 'x')").await;
    close(database).await;

    let database = open(directory.path()).await;
    assert_eq!(families(database.catalog().keyspace("k").unwrap()), families(&before));
    assert_eq!(database.schema_version(), version);
    let Outcome::Rows(found) = run(&database, "SELECT * FROM f1998").await.unwrap() else { panic!() };
    assert_eq!(found.rows.len(), 1);
    make_families(&database, 0..1).await;
    database.schema_changes(level()).drop_keyspace("k").await.unwrap();
    let names: Vec<String> =
        database.store().records().await.unwrap().into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| !name.contains("/k")), "{names:?}");
    close(database).await;
    let database = open(directory.path()).await;
    assert!(database.catalog().keyspace("k").is_none());
    close(database).await;
}

/// Creates definitions by statements, and checks that later thousands do not write much more than the first.
async fn make_with_equal_costs(directory: &Path, count: usize, name: &str, each: impl Fn(usize) -> String) {
    let disk = CountingDisk::default();
    let database = open_on(directory, Arc::new(disk.clone())).await;
    done(&database, KEYSPACE).await;
    let mut first = u64::MAX;
    for begin in (0..count).step_by(1_000) {
        let (before, started) = (disk.written(), Instant::now());
        for number in begin..count.min(begin + 1_000) {
            done(&database, &each(number)).await;
        }
        let more = disk.written() - before;
        println!("1,000 {name} after {begin}: {:?}, {more} bytes", started.elapsed());
        // In a thousand changes the manifest may be rewritten once, with all definitions.
        let allowed = first.saturating_mul(2).saturating_add(1_000 * begin as u64);
        assert!(more < allowed, "the first 1,000 {name} wrote {first} bytes, those after {begin} {more}");
        first = first.min(more);
    }
    let version = database.schema_version();
    close(database).await;
    let started = Instant::now();
    let database = open(directory).await;
    println!("restart with {count} {name}: {:?}", started.elapsed());
    assert_eq!(database.schema_version(), version);
    close(database).await;
}

#[tokio::test]
async fn the_cost_of_a_keyspace_does_not_grow_with_their_number() {
    let directory = tempfile::tempdir().unwrap();
    // One keyspace already exists.
    let count = setting("SCHEMA_KEYSPACES") - 1;
    let name = |number: usize| format!("k{number}");
    make_with_equal_costs(directory.path(), count, "keyspaces", |number| {
        KEYSPACE.replacen(" k ", &format!(" {} ", name(number)), 1)
    })
    .await;
    let database = open(directory.path()).await;
    assert!((0..count).all(|number| database.catalog().keyspace(name(number)).is_some()));
    close(database).await;
}

#[tokio::test]
async fn the_cost_of_a_type_does_not_grow_with_their_number() {
    let directory = tempfile::tempdir().unwrap();
    let count = setting("SCHEMA_TYPES");
    make_with_equal_costs(directory.path(), count, "types", |number| {
        format!("CREATE TYPE u{number} (a int, b frozen<list<text>>)")
    })
    .await;
    let database = open(directory.path()).await;
    assert_eq!(database.catalog().keyspace("k").unwrap().user_types.len(), count);
    close(database).await;
}
