//! Crashes and failures in every kind of change of the schema, by CQL statements on a database.
//!
//! A script runs once without a fault, and the state of the database after each statement is recorded. Then it runs with a
//! crash in each call of the disk. The directory must open again in the state before or after the interrupted statement,
//! and the rest of the script must lead to the recorded states.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::model::RowColumns;
use base::schema::Catalog;
use base::util::Release;
use bytes::Bytes;
use cql::{CqlError, Outcome, QueryOptions, QueryState, query};
use db::{Authenticator, Database, DatabaseParts, Hasher, RoleKeeper, User};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use store::StoreChange;

use crate::faulty_disk::{Chance, Crash, Fault, FaultyDisk, Tally, work_directory};
use crate::store_support as support;

/// The duration of each test, in seconds.
const SECONDS: u64 = 8;

/// Each statement is acknowledged before the next one. Each kind of change occurs, some of them with indexes and grants
/// on what is dropped.
const SCRIPT: &[&str] = &[
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE t (p text PRIMARY KEY, v text, w text)",
    "INSERT INTO t (p, v, w) VALUES ('one', 'x', 'y')",
    "INSERT INTO t (p, v, w) VALUES ('two', 'x', 'z')",
    "CREATE INDEX ON t (v)",
    "CREATE TABLE other (p int PRIMARY KEY, v text)",
    "INSERT INTO other (p, v) VALUES (1, 'x')",
    "CREATE INDEX ON other (v)",
    "CREATE TYPE address (street text)",
    "ALTER TYPE address ADD city text",
    "CREATE ROLE anna WITH PASSWORD = 'a' AND LOGIN = true",
    "GRANT SELECT ON t TO anna",
    "GRANT MODIFY ON KEYSPACE k TO anna",
    "GRANT SELECT ON other TO anna",
    "ALTER TABLE t ADD x frozen<address>",
    "INSERT INTO t (p, v, x) VALUES ('three', 'x', {street: 's', city: 'c'})",
    "TRUNCATE t",
    "INSERT INTO t (p, v, w) VALUES ('four', 'x', 'y')",
    "CREATE INDEX ON t (w)",
    "DROP INDEX t_v_idx",
    "DROP TABLE t",
    "CREATE TABLE t (p int PRIMARY KEY, v int)",
    "INSERT INTO t (p, v) VALUES (1, 2)",
    "REVOKE SELECT ON other FROM anna",
    "DROP TYPE address",
    "ALTER KEYSPACE k WITH durable_writes = false",
    "DROP KEYSPACE k",
    "DROP ROLE anna",
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
];

/// The metadata records and the rows of a database. Passwords have random salts, and the marks of unfinished indexes
/// disappear at some time, so neither is compared.
#[derive(Debug, Clone, PartialEq)]
struct State {
    records: BTreeMap<String, String>,
    rows: Vec<String>,
}

/// A database on a faulty disk, whose user is a superuser.
struct Session {
    runtime: tokio::runtime::Runtime,
    database: Arc<Database>,
    user: Option<User>,
}

impl Session {
    fn open(disk: &FaultyDisk) -> Result<Session, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (random, clock) = (support::partitioner("RandomPartitioner"), support::manual_clock());
        let catalog = Arc::new(Catalog::default());
        // A power failure must not lose acknowledged rows either.
        let options = EmbeddedOptions { sync: SyncMode::Batch, ..support::options(&disk.data()) };
        let store =
            EmbeddedStore::open_on(Arc::new(disk.clone()), options, random.clone(), &catalog, clock.clone());
        let store = Arc::new(store.map_err(|error| error.to_string())?);
        let authenticator = Authenticator::Password { are_permissions_enforced: true };
        let parts = DatabaseParts { authenticator, ..DatabaseParts::new(catalog, store, random, clock) };
        let database = Arc::new(Database::new(parts).with_roles(RoleKeeper::new(Hasher::with_cost(4))));
        let mut session = Session { runtime, database, user: None };
        session.log_in()?;
        Ok(session)
    }

    fn log_in(&mut self) -> Result<(), String> {
        let credentials = ["username", "password"].map(|key| (key.into(), Bytes::from("cassandra")));
        let user = self.runtime.block_on(async {
            self.database.stored_schema().load().await?;
            self.database.logins().authenticate(&credentials, Release::V2_1).await
        });
        self.user = user.map_err(|error| error.to_string())?;
        Ok(())
    }

    fn query(&self, statement: &str) -> Result<Outcome, CqlError> {
        let state = QueryState {
            database: &self.database,
            behaviour: Behaviour::of(Release::V2_1),
            reported: ReportedVersion::of_release(Behaviour::of(Release::V2_1)),
            language: Language::Newest,
            keyspace: Some("k"),
            user: self.user.as_ref(),
            sees_new_indexes: false,
        };
        self.runtime.block_on(query(&state, statement, &QueryOptions::default()))
    }

    fn run(&self, statement: &str) -> Result<(), String> {
        self.query(statement).map(drop).map_err(|error| error.to_string())
    }

    /// Makes the manifest so large that changes are appended to a file.
    fn enlarge(&self) -> Result<(), String> {
        let record = ("large".to_owned(), Some(Bytes::from(vec![b'x'; 70_000])));
        let change = self.database.store().change_schema(StoreChange::of_records(vec![record]));
        self.runtime.block_on(change).map_err(|error| error.to_string())
    }

    /// Reads the state, and checks that each index finds all rows with its value.
    fn state(&self) -> State {
        let store = &**self.database.store();
        let records = self.runtime.block_on(store.records()).unwrap().into_iter();
        let records = records.filter(|(name, _)| !name.starts_with("index/") && name != "large");
        let text = |value: Bytes| {
            let text = String::from_utf8_lossy(&value).into_owned();
            let hash =
                text.find("\"$2").map(|begin| (begin, begin + 1 + text[begin + 1..].find('"').unwrap()));
            hash.map_or(text.clone(), |(begin, end)| format!("{}{}", &text[..begin], &text[end..]))
        };
        let records = records.map(|(name, value)| (name, text(value))).collect();
        let catalog = Arc::clone(&self.database.catalog());
        let mut rows = Vec::new();
        for cf in catalog.column_families().filter(|cf| cf.keyspace == "k") {
            let found = support::scan_all(store, cf).unwrap().into_iter();
            rows.extend(found.map(|row| format!("{}: {:?} {:?}", cf.name, row.key, values_of(row.columns))));
            for column in cf.index_families.keys() {
                let column = String::from_utf8_lossy(column);
                let with_value =
                    |value: &str| format!("SELECT p FROM {} WHERE {column} = '{value}'", cf.name);
                self.runtime.block_on(self.database.indexes().until_built());
                for statement in ["x", "y"].map(with_value) {
                    rows.push(format!("{statement}: {:?}", self.query(&statement)));
                }
            }
        }
        rows.push(format!("undefined: {:?}", store.status().undefined));
        State { records, rows }
    }

    /// Returns whether all indexes are complete. A builder that an error of the disk has stopped goes on after a restart.
    fn is_built(&self) -> bool {
        self.runtime.block_on(self.database.indexes().until_built());
        let catalog = self.database.catalog();
        let mut columns =
            catalog.column_families().flat_map(|cf| cf.index_families.keys().map(move |column| (cf, column)));
        columns.all(|(cf, column)| self.database.indexes().is_built(cf, column))
    }

    /// Closes the store, if the disk lets it.
    fn close(self) {
        self.runtime.block_on(self.database.indexes().stop_builders());
        let _ = self.runtime.block_on(self.database.store().close());
        self.kill();
    }

    /// Drops the database with its tasks.
    fn kill(self) {
        drop(self.user);
        drop(self.runtime);
        assert_eq!(Arc::strong_count(&self.database), 1, "a task still uses the database");
        drop(self.database);
    }
}

/// Returns names and values, without timestamps, which depend on the number of statements since the start.
fn values_of(columns: RowColumns) -> Vec<(Bytes, Bytes)> {
    let RowColumns::Cells(cells) = columns else { panic!("a super column in a table") };
    cells.into_iter().map(|cell| (cell.name, cell.value)).collect()
}

/// Runs the whole script. Returns the states: first that of the empty database, then those after each statement; and the
/// number of calls of the disk.
fn recorded(is_large: bool) -> (Vec<State>, u64) {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), 1);
    let session = Session::open(&disk).unwrap();
    if is_large {
        session.enlarge().unwrap();
    }
    let mut states = vec![session.state()];
    for statement in SCRIPT {
        session.run(statement).unwrap_or_else(|why| panic!("{statement}: {why}"));
        states.push(session.state());
    }
    session.close();
    (states, disk.calls())
}

/// Runs the statements from `done` on, until one fails. Returns how many are done.
fn run_from(session: &Session, done: usize) -> (usize, Option<String>) {
    for (number, statement) in SCRIPT.iter().enumerate().skip(done) {
        if let Err(why) = session.run(statement) {
            return (number, Some(why));
        }
    }
    (SCRIPT.len(), None)
}

/// Opens a database and runs the script until its end or the planned fault. Returns how many statements are done, or
/// `None` if the database was not even complete.
fn run_until_crash(disk: &FaultyDisk, is_large: bool) -> Option<usize> {
    let session = Session::open(disk).ok()?;
    let is_ready = !is_large || session.enlarge().is_ok();
    let done = is_ready.then(|| run_from(&session, 0).0);
    session.kill();
    done
}

fn crash_at(call: u64, crash: Crash, is_large: bool, states: &[State], seed: u64) -> Result<(), String> {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), seed);
    disk.plan(Some(Fault::CrashAt(call)));
    let done = run_until_crash(&disk, is_large);
    if !disk.has_crashed() {
        // There are fewer calls than in the recorded run.
        disk.plan(Some(Fault::CrashAt(disk.calls() + 1)));
    }
    disk.crash(crash);
    let session = Session::open(&disk).map_err(|why| format!("the database does not open: {why}"))?;
    let found = session.state();
    let possible = done.map_or(0..=0, |done| done..=(done + 1).min(SCRIPT.len()));
    let Some(done) = possible.clone().find(|done| states[*done] == found) else {
        let expected: Vec<_> = possible.map(|done| &states[done]).collect();
        let statement = done.and_then(|done| SCRIPT.get(done));
        return Err(format!("{statement:?} is half done: {found:#?}\nexpected one of {expected:#?}"));
    };
    let (end, failure) = run_from(&session, done);
    let state = session.state();
    session.close();
    match failure {
        Some(why) => Err(format!("{} fails after the crash: {why}", SCRIPT[end])),
        None if state != states[SCRIPT.len()] => Err(format!("the end is another: {state:#?}")),
        None => Ok(()),
    }
}

#[test]
fn every_change_of_the_schema_is_done_completely_or_not_at_all() {
    let mut chance = Chance::new(Chance::seed_from("CRASH_SEED"));
    let mut tally = Tally::new("changes of the schema", SECONDS);
    let of_both = [false, true].map(recorded);
    let (mut call, mut round) = (0, 0);
    while tally.has_time() {
        for (is_large, (states, calls)) in [false, true].into_iter().zip(&of_both) {
            for crash in Crash::ALL {
                let at = 1 + (call * 7 + round) % calls;
                tally.points += 1;
                let seed = chance.next();
                crash_at(at, crash, is_large, states, seed).unwrap_or_else(|why| {
                    panic!("{crash:?} in call {at} of {calls}, large: {is_large}, seed {seed}: {why}")
                });
            }
        }
        call += 1;
        if call % 1000 == 0 {
            round += 1;
        }
    }
}

/// A statement that fails because of the disk has changed nothing, and succeeds when it is repeated.
fn fail_at(call: u64, kind: ErrorKind, is_large: bool, states: &[State], seed: u64) -> Result<(), String> {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), seed);
    let mut session = Session::open(&disk)?;
    if is_large {
        session.enlarge()?;
    }
    let call = disk.calls() + call;
    disk.plan(Some(Fault::FailAt { call, kind, is_lasting: false }));
    let mut done = 0;
    while done < SCRIPT.len() {
        let (end, failure) = run_from(&session, done);
        done = end;
        let Some(why) = failure else { break };
        let is_final = session.database.store().status().read_only.is_some_and(|why| !why.contains("full"));
        if is_final || !session.is_built() {
            session.close();
            session = Session::open(&disk)?;
        }
        let found = session.state();
        // Only after a failure that stops all writes it is unknown whether the change was made.
        let mut possible = done..=done + usize::from(is_final);
        done = possible.find(|done| states[*done] == found).ok_or_else(|| {
            format!("{} has failed ({why}) and left {found:#?}, not {:#?}", SCRIPT[done], states[done])
        })?;
    }
    if !session.is_built() {
        session.close();
        session = Session::open(&disk)?;
    }
    let state = session.state();
    session.close();
    if state == states[SCRIPT.len()] { Ok(()) } else { Err(format!("the end is another: {state:#?}")) }
}

#[test]
fn a_change_of_the_schema_that_fails_changes_nothing() {
    let mut chance = Chance::new(Chance::seed_from("CRASH_SEED"));
    let mut tally = Tally::new("failing changes of the schema", SECONDS);
    let of_both = [false, true].map(recorded);
    while tally.has_time() {
        for (is_large, (states, calls)) in [false, true].into_iter().zip(&of_both) {
            for kind in [ErrorKind::Other, ErrorKind::StorageFull] {
                let (at, seed) = (1 + chance.next() % calls, chance.next());
                tally.points += 1;
                fail_at(at, kind, is_large, states, seed).unwrap_or_else(|why| {
                    panic!("{kind:?} in call {at} of {calls}, large: {is_large}, seed {seed}: {why}")
                });
            }
        }
    }
}
