//! The rows of all tables of a column family, merged in a store, are those that the server answered.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use base::compat::Behaviour;
use base::compat::features::{ConsistencyLevel, Language, ReportedVersion};
use base::marshal::Types;
use base::model::{Cell, CellKind, Change, Mutation, Predicate, ReadCommand, SliceRange};
use base::partitioner;
use base::schema::{Catalog, CfDef, ColumnDef, ColumnType, KeyspaceDef, TableDef};
use base::util::{Clock, Release};
use bytes::Bytes;
use config::Config;
use cql::{ColumnSpec, Outcome, QueryOptions, QueryState};
use db::{Authenticator, Database, DatabaseParts};
use embedded::EmbeddedStore;
use serde_json::Value;
use sstable::{Atom, CounterState, SstableError, TableOptions, TableReader, Unit};
use tokio::runtime::{Builder, Runtime};

use crate::contents::{Differences, columns_read, hex, rows_in_tables, unhex};
use crate::fixture::{Fixture, RELEASES, line_of};

/// The clock of reads of the first directories, which do not say when they were made.
pub const NOW_S: i32 = 1_795_400_000;

/// Returns the clock of reads: the columns that expire within seconds have expired, and those of ten years have not.
pub fn now_s(contents: &Value) -> i32 {
    contents["read_at_unix_time"].as_i64().map_or(NOW_S, |time| i32::try_from(time).unwrap())
}

/// A counter's row, super column and name.
type CounterPlace = (Bytes, Option<Bytes>, Bytes);

/// The values of a row by their columns: as protocol 3 and later have them, and as the older ones do.
pub type Selected = BTreeMap<String, Option<(String, String)>>;

/// Returns a value in hex. Before protocol 3, lengths in a collection have two bytes.
fn short_form(column: &ColumnSpec, value: &[u8]) -> String {
    if !column.has_short_form() {
        return hex(value);
    }
    let (count, mut rest) = value.split_at(4);
    let mut short = count[2..].to_vec();
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let (content, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
        short.extend([&length[2..], content].concat());
        rest = tail;
    }
    hex(&short)
}

/// A database in memory with the schema of a server, into which tables are merged.
pub struct Merged {
    pub runtime: Runtime,
    pub database: Arc<Database>,
    behaviour: &'static Behaviour,
    pub now_s: i32,
}

impl Merged {
    pub fn new(contents: &Value) -> Merged {
        let mut catalog = Catalog::default();
        for (name, described) in contents["describe_keyspace"].as_object().unwrap() {
            if name != "key_space_test" {
                catalog.keyspaces.insert(name.clone(), keyspace_of(name, described));
            }
        }
        let merged = Merged::with_catalog(contents, catalog);
        merged.create_tables(contents);
        merged
    }

    pub fn without_schema(contents: &Value) -> Merged {
        Merged::with_catalog(contents, Catalog::default())
    }

    fn with_catalog(contents: &Value, catalog: Catalog) -> Merged {
        let mut config = config::parse(EMPTY, "schema of the test", &Types::builtin()).unwrap();
        config.partitioner = partitioner::resolve(contents["partitioner"].as_str().unwrap()).unwrap();
        config.catalog = catalog;
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let behaviour = Behaviour::of(line_of(contents));
        let now_s = now_s(contents);
        Merged { runtime, database: database(config, now_s), behaviour, now_s }
    }

    /// Creates the CQL tables of the server.
    fn create_tables(&self, contents: &Value) {
        let mut statements = contents["cql_schema"].as_array().into_iter().flatten().peekable();
        if statements.peek().is_none() {
            return;
        }
        let mut script = "CREATE KEYSPACE key_space_test WITH replication = {'class': 'SimpleStrategy', \
                          'replication_factor': 1};\nUSE key_space_test;\n"
            .to_owned();
        for statement in statements {
            script.push_str(statement.as_str().unwrap());
            script.push_str(";\n");
        }
        let reported = ReportedVersion::new(contents["version"].as_str().unwrap()).unwrap();
        self.runtime.block_on(cql::run_script(&self.state(&reported), &script)).unwrap();
    }

    fn state<'s>(&'s self, reported: &'s ReportedVersion) -> QueryState<'s> {
        QueryState {
            database: &self.database,
            behaviour: Behaviour::of(Release::V2_1),
            reported,
            language: Language::Newest,
            keyspace: Some("key_space_test"),
            user: None,
            sees_new_indexes: false,
        }
    }

    /// Returns the rows of a CQL table, in hex.
    pub fn selected(&self, contents: &Value, table: &str) -> Vec<Selected> {
        self.selected_by(contents, &format!("SELECT * FROM {table}"))
    }

    /// Returns the rows of a SELECT, in hex.
    pub fn selected_by(&self, contents: &Value, text: &str) -> Vec<Selected> {
        let version = ReportedVersion::new(contents["version"].as_str().unwrap());
        // The server can report no later one.
        let reported = version.or_else(|_| ReportedVersion::new("4.1.10")).unwrap();
        let (state, options) = (self.state(&reported), QueryOptions::default());
        let outcome = self.runtime.block_on(cql::query(&state, text, &options)).unwrap();
        let Outcome::Rows(result) = outcome else { panic!("no rows") };
        let row = |values: Vec<Option<Bytes>>| {
            let columns = result.columns.iter().zip(values);
            let value = |(column, value): (&ColumnSpec, Option<Bytes>)| {
                (column.name.clone(), value.map(|value| (hex(&value), short_form(column, &value))))
            };
            columns.map(value).collect()
        };
        result.rows.into_iter().map(row).collect()
    }

    /// Reads a table into the store. Counters are returned through `counters`, since their shards must be merged first.
    fn add(
        &self,
        cf: &Arc<CfDef>,
        table: &mut TableReader,
        counters: &mut HashMap<CounterPlace, CounterState>,
    ) -> Result<(), SstableError> {
        let mut row_key = Bytes::new();
        let mut changes = Vec::new();
        while let Some(unit) = table.next_unit()? {
            match unit {
                Unit::Row { key, deletion } => {
                    row_key = key;
                    changes =
                        if deletion.is_deleted() { vec![Change::DeleteRow { deletion }] } else { vec![] };
                }
                Unit::Atom(Atom::Counter { super_column, counter }) => {
                    let place = (row_key.clone(), super_column, counter.name.clone());
                    self.count(counters, place, CounterState::Live(counter));
                }
                Unit::Atom(atom) => {
                    if let Atom::Cell { super_column, cell } = &atom
                        && let CellKind::Deleted { .. } = cell.kind
                    {
                        let place = (row_key.clone(), super_column.clone(), cell.name.clone());
                        self.count(counters, place, CounterState::Deleted { timestamp: cell.timestamp });
                    }
                    changes.extend(atom.into_change());
                }
                Unit::EndOfRow if changes.is_empty() => {}
                Unit::EndOfRow => {
                    let mutation = Mutation::of(row_key.clone(), cf.clone(), std::mem::take(&mut changes));
                    self.apply(vec![mutation]);
                }
            }
        }
        Ok(())
    }

    fn count(
        &self,
        counters: &mut HashMap<CounterPlace, CounterState>,
        place: CounterPlace,
        state: CounterState,
    ) {
        let is_final = self.behaviour.cells.counter_deletions_are_final;
        let merged = match counters.remove(&place) {
            Some(before) => before.merged(state, is_final),
            None => state,
        };
        counters.insert(place, merged);
    }

    pub fn apply(&self, mutations: Vec<Mutation>) {
        let applied = self.database.store().apply(mutations, self.behaviour, ConsistencyLevel::One);
        self.runtime.block_on(applied).unwrap();
    }

    /// Writes the totals of counters.
    fn write_counters(&self, cf: &Arc<CfDef>, counters: HashMap<CounterPlace, CounterState>) {
        for ((row_key, super_column, _), state) in counters {
            let CounterState::Live(counter) = state else { continue };
            let cell = Cell { kind: CellKind::Increment, ..counter.to_cell() };
            self.apply(vec![Mutation::of(row_key, cf.clone(), vec![Change::Cell { super_column, cell }])]);
        }
    }

    pub fn read(&self, cf: &Arc<CfDef>, key: &str) -> Vec<crate::contents::Column> {
        let command = ReadCommand {
            cf: cf.clone(),
            super_column: None,
            predicate: Predicate::Range(SliceRange::all()),
            behaviour: self.behaviour,
            with_tombstones: false,
            gc_before: self.now_s - 864_000,
            now_s: self.now_s,
        };
        let read = self.database.store().read(unhex(key).into(), command, ConsistencyLevel::One);
        columns_read(&self.runtime.block_on(read).unwrap())
    }
}

const EMPTY: &str = "<Storage>
  <ClusterName>test</ClusterName>
  <Partitioner>org.apache.cassandra.dht.Murmur3Partitioner</Partitioner>
</Storage>";

fn database(config: Config, now_s: i32) -> Arc<Database> {
    let clock = Arc::new(Clock::manual(i64::from(now_s) * 1000));
    let store = EmbeddedStore::in_memory(config.partitioner.clone(), &config.catalog, clock.clone()).unwrap();
    Arc::new(Database::new(DatabaseParts {
        catalog: Arc::new(config.catalog),
        store: Arc::new(store),
        partitioner: config.partitioner,
        authenticator: Authenticator::AllowAll,
        clock,
        types: Types::builtin(),
        cluster_name: config.cluster_name,
        config_text: config.text,
        token: "0".to_owned(),
        endpoint: "127.0.0.1".to_owned(),
    }))
}

/// Returns a keyspace as the API of the server described it, in the form of 0.6 or that of 0.7 and later.
fn keyspace_of(name: &str, described: &Value) -> KeyspaceDef {
    let types = Types::builtin();
    let mut keyspace = KeyspaceDef::new(name);
    let families: Vec<(String, Value)> = match described["cf_defs"].as_array() {
        Some(list) => list.iter().map(|cf| (cf["name"].as_str().unwrap().to_owned(), cf.clone())).collect(),
        None => described.as_object().unwrap().clone().into_iter().collect(),
    };
    for (family, described) in families {
        let class = |modern: &str, old: &str| {
            let text = described[modern].as_str().or(described[old].as_str())?;
            Some(types.resolve(text).unwrap())
        };
        let mut cf = CfDef::new(name, &family);
        cf.comparator = class("comparator_type", "CompareWith").unwrap();
        if let Some(subcomparator) = class("subcomparator_type", "CompareSubcolumnsWith") {
            cf.column_type = ColumnType::Super { subcomparator };
        }
        if let Some(validator) = class("default_validation_class", "") {
            cf.default_validator = validator;
        }
        // The API of 3.x shows columns of a super column family that no older release has.
        if !cf.is_super() {
            for column in described["column_metadata"].as_array().into_iter().flatten() {
                let text = column["name"].as_str().unwrap();
                let is_hex = text.bytes().all(|digit| digit.is_ascii_hexdigit());
                let name = Bytes::from(if is_hex { unhex(text) } else { text.as_bytes().to_vec() });
                let class = column["validation_class"].as_str().unwrap_or("BytesType");
                let validator = types.resolve(class).unwrap();
                cf.column_metadata.insert(name.clone(), ColumnDef { name, validator, index: None });
            }
        }
        keyspace.column_families.insert(family, Arc::new(cf));
    }
    keyspace
}

/// Returns the layout of a table, and of a family whose definition the API describes without its columns.
fn options(cf: &CfDef, contents: &Value) -> TableOptions {
    let partitioner = partitioner::resolve(contents["partitioner"].as_str().unwrap());
    TableOptions { layout: Some(TableDef::of(cf, Release::V2_1).layout), partitioner }
}

#[test]
fn rows_of_all_releases_are_those_that_the_server_answered() {
    let mut differences = Differences::default();
    for release in RELEASES {
        let fixture = Fixture::of(release);
        let contents = fixture.contents;
        let merged = Merged::new(contents);
        let catalog = merged.database.catalog().clone();
        let mut families = 0;
        for (keyspace, described) in contents["rows"].as_object().unwrap() {
            for family in described.as_object().unwrap().keys() {
                let cf = catalog.column_family(keyspace, family).unwrap();
                let mut counters = HashMap::new();
                for file in fixture.files_of(keyspace, family) {
                    let table = TableReader::open(&file, &options(cf, contents));
                    let added = table.and_then(|mut table| {
                        assert_eq!(table.check_digest()?, None);
                        merged.add(cf, &mut table, &mut counters)
                    });
                    added.unwrap_or_else(|error| panic!("{release}: {error}"));
                }
                if counters.values().any(|state| matches!(state, CounterState::Live(_))) {
                    merged.write_counters(cf, counters);
                }
                let expected = rows_in_tables(contents, keyspace, family);
                for (key, columns) in &expected {
                    let found = merged.read(cf, key);
                    differences.compare(&format!("{release} {keyspace}.{family} {key}"), &found, columns);
                }
                families += 1;
            }
        }
        assert!(families > 10, "{release} has more families");
    }
    differences.assert_none();
}

/// Checks that each row of a table is found by its key, and is the same as when all rows are read.
pub fn check_rows_by_key(file: &Path) {
    let open = || TableReader::open(file, &TableOptions::default()).unwrap();
    let mut rows: BTreeMap<Bytes, Vec<Unit>> = BTreeMap::new();
    let (mut table, mut present) = (open(), Bytes::new());
    while let Some(unit) = table.next_unit().unwrap() {
        if let Unit::Row { key, .. } = &unit {
            present = key.clone();
        }
        rows.entry(present.clone()).or_default().push(unit);
    }
    for (key, units) in &rows {
        let mut table = open();
        assert!(table.seek_to_key(key).unwrap(), "{} has {}", file.display(), hex(key));
        for unit in units {
            assert_eq!(table.next_unit().unwrap().as_ref(), Some(unit));
        }
    }
    assert!(!open().seek_to_key(b"no such key").unwrap());
}

#[test]
fn each_row_is_found_by_its_key() {
    for release in RELEASES {
        let fixture = Fixture::of(release);
        for file in fixture.data_files("BloggyAppy") {
            check_rows_by_key(&file);
        }
    }
}
