//! The fuzzed functions that read what an import reads, besides SSTables and commit logs (`targets.rs`).

use std::path::PathBuf;
use std::sync::Arc;

use base::marshal::Types;
use base::partitioner;
use base::schema::{Catalog, CfDef, ColumnType, KeyspaceDef, keyspace_to_json};
use base::util::Clock;
use db::{Authenticator, Database, DatabaseParts};
use embedded::EmbeddedStore;
use sstable::FORMATS;
use tokio::runtime::{Builder, Runtime};
use transfer::Interruption;
use transfer::copy::Selection;
use transfer::endpoint::Endpoint;
use transfer::export::read_back;
use transfer::import;
use transfer::import::{Defined, FoundSchema, ImportOptions, Inventory, Summary};

use super::input::{COMPONENTS, Scratch, file_name, is_named_by_directory, kind_of, take, with_checksums};

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
        // Without a list, a Data file without a CRC file is perhaps compressed.
        scratch.write(&format!("{prefix}-TOC.txt"), b"Data.db\n");
        if !statistics.is_empty() {
            scratch.write(&format!("{prefix}-Statistics.db"), statistics);
        }
    }
    define(&scratch)
}

/// Returns the catalog that a schema makes.
#[allow(dead_code, reason = "only the stable test has files as seeds")]
pub fn catalog_of(schema: &FoundSchema) -> Arc<Catalog> {
    let (database, _) = database();
    runtime().block_on(schema.define(&database));
    database.catalog().clone()
}

/// Creates the column families of the system tables in a directory. Returns how many there are.
fn define(scratch: &Scratch) -> usize {
    let inventory = Inventory::of(&[scratch.path().to_owned()]).expect("the directory can be read");
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

/// Fuzzes the schema of 0.7 to 1.0: its types in Avro, and values of them. The input has a text with the types, and the
/// keyspaces, each behind three bytes with its length. They are written as a version of the schema. Nothing may panic, and
/// each error must have a text. Returns the number of column families that were defined.
pub fn avro(data: &[u8]) -> usize {
    let mut rest = data;
    let Some(types) = take(&mut rest) else { return 0 };
    let cell = |name: &str, value: &[u8]| {
        let lengths = (u16::try_from(name.len()).expect("a short name"), u32::try_from(value.len()));
        let length = lengths.1.expect("inputs are short").to_be_bytes();
        [&lengths.0.to_be_bytes()[..], name.as_bytes(), &[0], &7_i64.to_be_bytes(), &length, value].concat()
    };
    let mut cells = vec![cell("Avro/Schema", types)];
    while let Some(keyspace) = take(&mut rest) {
        cells.push(cell(&format!("Keyspace{}", cells.len()), keyspace));
    }
    let count = u32::try_from(cells.len()).expect("inputs are short").to_be_bytes();
    // Without a Bloom filter and an index of columns, and not deleted.
    let head = [&[0; 8][..], &i32::MAX.to_be_bytes(), &i64::MIN.to_be_bytes(), &count].concat();
    let row = [&head[..], &cells.concat()].concat();
    let id = b"e7ed2547-e842-11f1-b15a-e700f669bcfc";
    let key = [&u16::try_from(id.len()).expect("an id").to_be_bytes()[..], id].concat();
    let scratch = Scratch::new("avro");
    scratch.write("system/Schema-f-1-Data.db", &[&key[..], &(row.len() as u64).to_be_bytes(), &row].concat());
    define(&scratch)
}

fn import_all(from: &[PathBuf], progress_file: Option<PathBuf>) -> Result<Summary, String> {
    let inventory = Inventory::of(from).map_err(|error| error.to_string())?;
    let (database, clock) = database();
    let to = Arc::new(Endpoint::of_database("memory", database, clock.clone()));
    let options = options(progress_file);
    let imported = import::import(&inventory, Some(to), clock, &options);
    runtime().block_on(imported).map_err(|error| error.to_string())
}

/// Fuzzes an import that skips damage. The first byte selects the version of the format and the column family. Then come
/// the components of an SSTable, as in `targets::sstable`. The same files are those of two nodes. Nothing may panic, and
/// each report must have a text. Returns the number of rows that were read.
pub fn import(data: &[u8]) -> usize {
    let Some((choice, mut rest)) = data.split_first() else { return 0 };
    let count = FORMATS.len();
    let letters = FORMATS[usize::from(*choice) % count].letters;
    let family = FAMILIES[usize::from(*choice) / count % FAMILIES.len()];
    let scratch = Scratch::new("import");
    let prefix = match letters {
        "" => format!("Ks/{family}-1"),
        letters if is_named_by_directory(letters) => {
            format!("Ks/{family}-9786ac1cdd583201a7cdad556410c985/{letters}-1-{}", kind_of(letters))
        }
        letters => format!("Ks/{family}/Ks-{family}-{letters}-1"),
    };
    for component in COMPONENTS {
        let Some(content) = take(&mut rest) else { break };
        for node in ["a", "b"] {
            if !content.is_empty() {
                let content = with_checksums(letters, component, content);
                scratch.write(&format!("{node}/{prefix}-{}", file_name(letters, component)), &content);
            }
        }
    }
    let nodes = ["a", "b"].map(|node| scratch.path().join(node));
    match import_all(&nodes, None) {
        Ok(summary) => {
            assert!(
                summary.losses.first().iter().all(|lost| !lost.what.is_empty()),
                "a report without a text"
            );
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
    let empty: PathBuf = scratch.path().join("data");
    std::fs::create_dir_all(&empty).expect("the directory can be made");
    match import_all(&[empty], Some(scratch.path().join("import.json"))) {
        Ok(_) => true,
        Err(error) => {
            assert!(!error.is_empty(), "an error without a text");
            false
        }
    }
}

/// The manifest of an export in JSON with one table, whose file is `lines.jsonl`.
fn manifest(cf: CfDef, lines: usize) -> String {
    let (keyspace, table) = (cf.keyspace.clone(), cf.name.clone());
    let mut definition = KeyspaceDef::new(&keyspace);
    definition.column_families.insert(table.clone(), Arc::new(cf));
    format!(
        "{{\"version\":1,\"from\":\"fuzz\",\"format\":\"json\",\"all_cells\":false,\"is_complete\":true,\"left_out\":[],\"lost\":[],\
         \"tables\":[{{\"keyspace\":\"{keyspace}\",\"table\":\"{table}\",\"file\":\"lines.jsonl\",\"line\":\"row\",\"lines\":{lines},\
         \"rows\":0,\"bytes\":0,\"columns\":[]}}],\"definitions\":[{}]}}",
        keyspace_to_json(&definition)
    )
}

/// Fuzzes the lines of an export in JSON. The first byte selects the column family: of bytes, of super columns, of counters, or
/// with composite names and decimals. Nothing may panic, and each error must have a text. Returns the number of cells.
pub fn json_lines(data: &[u8]) -> usize {
    let Some((choice, lines)) = data.split_first() else { return 0 };
    let scratch = Scratch::new("json");
    scratch.write("lines.jsonl", lines);
    let types = Types::builtin();
    let of = |class: &str| types.parse(class).expect("a known class");
    let plain = CfDef::new("Ks", "T");
    let cf = match choice % 4 {
        0 => plain,
        1 => CfDef { column_type: ColumnType::Super { subcomparator: of("UTF8Type") }, ..plain },
        2 => CfDef { default_validator: of("CounterColumnType"), ..plain },
        _ => CfDef {
            comparator: of("CompositeType(Int32Type,UTF8Type)"),
            default_validator: of("DecimalType"),
            key_validator: Some(of("TimeUUIDType")),
            ..plain
        },
    };
    let count = lines.split_inclusive(|byte| *byte == b'\n').count();
    scratch.write("export.json", manifest(cf, count).as_bytes());
    let partitioner = partitioner::resolve("Murmur3Partitioner").expect("a known partitioner");
    let clock = Arc::new(Clock::manual(1_250_558_004_000));
    let to = Endpoint::in_memory("memory", Catalog::default(), &types, partitioner, &clock);
    let to = Arc::new(to.expect("a store in memory"));
    let everything = Selection::default();
    let reading = read_back(scratch.path(), to, &everything, clock, Interruption::default());
    match runtime().block_on(reading) {
        Ok(read) => usize::try_from(read.cells).expect("inputs are short"),
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without a text");
            0
        }
    }
}
