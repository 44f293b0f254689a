//! The fuzzed functions that read what an import reads, besides SSTables and commit logs (`targets.rs`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thriftstore::config;
use thriftstore::copy::Side;
use thriftstore::db::{Authenticator, Database, DatabaseParts};
use thriftstore::import::{self, Defined, FoundSchema, ImportOptions, Inventory, Summary};
use thriftstore::marshal::Types;
use thriftstore::partitioner;
use thriftstore::storage::EmbeddedStore;
use thriftstore::util::Clock;
use tokio::runtime::{Builder, Runtime};

/// A standard column family, a super column family, and counters.
const CONFIG: &str = "<Storage>
  <ClusterName>fuzz</ClusterName>
  <Partitioner>org.apache.cassandra.dht.Murmur3Partitioner</Partitioner>
  <Keyspaces><Keyspace Name=\"Ks\">
    <ColumnFamily Name=\"Standard\" CompareWith=\"BytesType\"/>
    <ColumnFamily Name=\"Super\" ColumnType=\"Super\" CompareWith=\"BytesType\" CompareSubcolumnsWith=\"BytesType\"/>
    <ColumnFamily Name=\"Counters\" CompareWith=\"BytesType\" DefaultValidationClass=\"CounterColumnType\"/>
  </Keyspace></Keyspaces>
</Storage>";

/// The families of `CONFIG`, of which the input selects one.
const FAMILIES: [&str; 3] = ["Standard", "Super", "Counters"];

/// Longest name of a fuzzed table.
const NAME_LENGTH_MAX: usize = 40;

/// A directory of its own, which is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder =
            format!("thriftstore-fuzz-{name}-{}-{:?}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&path).expect("a directory for the files");
        Scratch(path)
    }

    fn write(&self, place: &str, content: &[u8]) {
        let path = self.0.join(place);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("the directory can be made");
        std::fs::write(path, content).expect("the file can be written");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn database() -> (Arc<Database>, Arc<Clock>) {
    let config = config::parse(CONFIG, "fuzz", &Types::builtin()).expect("the configuration is right");
    let clock = Arc::new(Clock::manual(1_250_558_004_000));
    let store = EmbeddedStore::in_memory(config.partitioner.clone(), &config.catalog, clock.clone());
    let database = Database::new(DatabaseParts {
        catalog: Arc::new(config.catalog),
        store: Arc::new(store.expect("a store in memory")),
        partitioner: config.partitioner,
        authenticator: Authenticator::AllowAll,
        clock: clock.clone(),
        types: Types::builtin(),
        cluster_name: config.cluster_name,
        config_text: config.text,
        token: "0".to_owned(),
        endpoint: "127.0.0.1".to_owned(),
    });
    (Arc::new(database), clock)
}

fn options(progress_file: Option<PathBuf>) -> ImportOptions {
    let partitioner = partitioner::resolve("Murmur3Partitioner").expect("a known partitioner");
    ImportOptions { skips_damage: true, progress_file, ..ImportOptions::new(partitioner) }
}

/// Takes bytes behind three bytes with their length.
fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_first_chunk::<3>()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let (content, tail) = tail.split_at(length.min(tail.len()));
    *rest = tail;
    Some(content)
}

/// Fuzzes the tables in which a server kept its schema. The first byte selects the release. Then comes, for each table,
/// its name, its Data file and its Statistics file, each behind three bytes with its length. Nothing may panic, and each
/// error must have a text. Returns the number of column families that were defined.
pub fn system_tables(data: &[u8]) -> usize {
    let Some((choice, mut rest)) = data.split_first() else { return 0 };
    let scratch = Scratch::new("schema");
    let id = "9786ac1cdd583201a7cdad556410c985";
    let mut generation = 0;
    while let (Some(name), Some(data), Some(statistics)) = (take(&mut rest), take(&mut rest), take(&mut rest))
    {
        let name: String = name
            .iter()
            .map(|byte| char::from(*byte))
            .filter(|letter| letter.is_ascii_lowercase() || *letter == '_')
            .take(NAME_LENGTH_MAX)
            .collect();
        generation += 1;
        let prefix = match choice % 3 {
            0 => format!("system/{name}/system-{name}-ic-{generation}"),
            1 => format!("system/{name}-{id}/system-{name}-ka-{generation}"),
            _ => format!("system_schema/{name}-{id}/me-{generation}-big"),
        };
        scratch.write(&format!("{prefix}-Data.db"), data);
        if !statistics.is_empty() {
            scratch.write(&format!("{prefix}-Statistics.db"), statistics);
        }
    }
    let inventory = Inventory::of(std::slice::from_ref(&scratch.0)).expect("the directory can be read");
    let (database, _) = database();
    let found = match FoundSchema::of(&inventory, database.types()) {
        Ok(found) => found,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without a text");
            return 0;
        }
    };
    let Defined { failed, left_out } = runtime().block_on(found.define(&database));
    assert!(failed.iter().chain(&left_out).all(|why| !why.is_empty()), "an error without a text");
    let catalog = database.catalog().clone();
    let defined: usize = catalog.keyspaces.values().map(|keyspace| keyspace.column_families.len()).sum();
    defined - FAMILIES.len()
}

fn import_all(from: &[PathBuf], progress_file: Option<PathBuf>) -> Result<Summary, String> {
    let inventory = Inventory::of(from).map_err(|error| error.to_string())?;
    let (database, clock) = database();
    let to = Arc::new(Side::of_database("memory", database, clock.clone()));
    let options = options(progress_file);
    let imported = import::import(&inventory, Some(to), clock, &options);
    runtime().block_on(imported).map_err(|error| error.to_string())
}

/// Fuzzes an import that skips damage. The first byte selects the version of the format and the column family. Then come
/// the components of an SSTable, as in `targets::sstable`. The same files are those of two nodes. Nothing may panic, and
/// each report must have a text. Returns the number of rows that were read.
pub fn import(data: &[u8], letters: &[&str], components: &[&str]) -> usize {
    let Some((choice, mut rest)) = data.split_first() else { return 0 };
    let count = letters.len();
    let letters = letters[usize::from(*choice) % count];
    let family = FAMILIES[usize::from(*choice) / count % FAMILIES.len()];
    let scratch = Scratch::new("import");
    let prefix = match letters {
        "" => format!("Ks/{family}-1"),
        letters if letters >= "la" => {
            format!("Ks/{family}-9786ac1cdd583201a7cdad556410c985/{letters}-1-big")
        }
        letters => format!("Ks/{family}/Ks-{family}-{letters}-1"),
    };
    for component in components {
        let Some(content) = take(&mut rest) else { break };
        for node in ["a", "b"] {
            if !content.is_empty() {
                scratch.write(&format!("{node}/{prefix}-{component}.db"), content);
            }
        }
    }
    let nodes = ["a", "b"].map(|node| scratch.0.join(node));
    match import_all(&nodes, None) {
        Ok(summary) => {
            assert!(summary.lost.iter().all(|lost| !lost.what.is_empty()), "a report without a text");
            usize::try_from(summary.total().rows).expect("inputs are short")
        }
        Err(error) => {
            assert!(!error.is_empty(), "an error without a text");
            0
        }
    }
}

/// Fuzzes the progress file of an import. Nothing may panic, and each error must have a text. Returns whether the import
/// went on.
pub fn progress(data: &[u8]) -> bool {
    let scratch = Scratch::new("progress");
    scratch.write("import.json", data);
    let empty: PathBuf = scratch.0.join("data");
    std::fs::create_dir_all(&empty).expect("the directory can be made");
    match import_all(&[empty], Some(scratch.0.join("import.json"))) {
        Ok(_) => true,
        Err(error) => {
            assert!(!error.is_empty(), "an error without a text");
            false
        }
    }
}

/// Returns the components of `targets::sstable` beside a Data file that exist, each behind its length.
#[allow(dead_code, reason = "only the stable test has files as seeds")]
pub fn joined(prefix: &str, components: &[&str]) -> Vec<u8> {
    let mut joined = Vec::new();
    for component in components {
        let content = std::fs::read(Path::new(&format!("{prefix}{component}.db"))).unwrap_or_default();
        joined.extend(&u32::try_from(content.len()).expect("files are small").to_be_bytes()[1..]);
        joined.extend(content);
    }
    joined
}
