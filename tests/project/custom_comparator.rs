//! The example of a custom comparator: its laws, its order in the stores, and the example program.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

#[path = "../../examples/custom_comparator/version_type.rs"]
mod version_type;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal::{AbstractType, MarshalError, Types};
use base::model::RowColumns;
use base::util::{Clock, Release};
use bytes::Bytes;
use db::{Authenticator, ColumnParent, ColumnPath, Database, DatabaseParts, RequestedRange, SlicePredicate};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use proptest::prelude::*;
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TFieldIdentifier, TInputProtocol, TMessageIdentifier,
    TMessageType, TOutputProtocol, TStructIdentifier, TType,
};

use version_type::VersionType;

/// Names in the order in which a client writes them, and in the order in which they are returned.
const WRITTEN: [&str; 7] = ["1.10", "2.0", "1.9", "1", "1.10.1", "10.0", "1.9.0"];
const SORTED: [&str; 7] = ["1", "1.9", "1.9.0", "1.10", "1.10.1", "2.0", "10.0"];

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/custom_comparator").join(file)
}

fn any_version() -> impl Strategy<Value = String> {
    let number = prop_oneof![0..12u32, any::<u32>(), Just(u32::MAX)];
    let join = |numbers: Vec<u32>| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    prop::collection::vec(number, 1..5).prop_map(join)
}

fn ordered(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    VersionType.ordered(name.as_bytes(), &mut bytes);
    bytes
}

proptest! {
    #[test]
    fn stored_bytes_sort_as_names_do(left in any_version(), right in any_version()) {
        let order = VersionType.compare(left.as_bytes(), right.as_bytes());
        prop_assert_eq!(order, ordered(&left).cmp(&ordered(&right)));
        prop_assert_eq!(order.is_eq(), left == right);
    }

    #[test]
    fn names_are_restored(name in any_version()) {
        prop_assert_eq!(VersionType.restore(&ordered(&name)), Some(name.clone().into_bytes()));
        prop_assert_eq!(VersionType.parse_text(&name), Ok(name.into_bytes()));
    }
}

#[test]
fn a_name_that_is_not_a_version_is_refused() {
    for name in ["1.", ".1", "1..2", "01", "1.00", "1.x", "+1", " 1", "4294967296", "1.é"] {
        assert!(VersionType.validate(name.as_bytes()).is_err(), "{name}");
    }
    for name in ["", "0", "0.0.1", "4294967295"] {
        assert!(VersionType.validate(name.as_bytes()).is_ok(), "{name}");
    }
}

/// The example's comparator with only the required methods.
#[derive(Debug)]
struct OnlyCompares;

impl AbstractType for OnlyCompares {
    fn class_name(&self) -> &str {
        VersionType.class_name()
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        VersionType.validate(value)
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        VersionType.compare(left, right)
    }

    fn to_text(&self, value: &[u8]) -> String {
        VersionType.to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        VersionType.parse_text(text)
    }
}

#[test]
fn a_comparator_with_a_stored_order_sorts_rows_on_disk() {
    check_order(Arc::new(VersionType));
}

#[test]
fn a_comparator_without_a_stored_order_sorts_rows_in_memory() {
    check_order(Arc::new(OnlyCompares));
}

/// Writes and reads columns with the example's configuration.
fn check_order(comparator: Arc<dyn AbstractType>) {
    let mut types = Types::builtin();
    types.register(comparator);
    let directory = tempfile::tempdir().unwrap();
    let database = open(directory.path(), &types);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let slice = |start: &str, finish: &str, reversed: bool, count: i32| {
        runtime.block_on(names(&database, start, finish, reversed, count))
    };
    for name in WRITTEN {
        runtime.block_on(insert(&database, name)).unwrap();
    }
    assert_eq!(slice("", "", false, 100), SORTED);
    assert_eq!(slice("1.9.0", "", false, 2), ["1.9.0", "1.10"]);
    assert_eq!(slice("", "1.10", true, 2), ["10.0", "2.0"]);
    assert_eq!(slice("1.9", "1.10", false, 100), ["1.9", "1.9.0", "1.10"]);
    let refused = runtime.block_on(insert(&database, "1.09")).unwrap_err();
    assert_eq!(refused.to_string(), "'1.09' is not a version: numbers separated by dots, as in 1.10.2");
    runtime.block_on(database.store().close()).unwrap();
}

fn open(directory: &Path, types: &Types) -> Database {
    let config = config::load(&example("storage-conf.xml"), types).unwrap();
    let clock = Arc::new(Clock::system());
    let options = EmbeddedOptions {
        directory: directory.to_owned(),
        sync: SyncMode::Periodic(Duration::from_secs(10)),
        cache_bytes: 1 << 20,
    };
    let store =
        EmbeddedStore::open(options, config.partitioner.clone(), &config.catalog, clock.clone()).unwrap();
    Database::new(DatabaseParts {
        catalog: Arc::new(config.catalog),
        store: Arc::new(store),
        partitioner: config.partitioner,
        authenticator: Authenticator::AllowAll,
        clock,
        types: Types::builtin(),
        cluster_name: config.cluster_name,
        config_text: config.text,
        token: "0".to_owned(),
        endpoint: config.listen_address,
    })
}

async fn insert(database: &Database, name: &'static str) -> Result<(), db::Error> {
    let path = ColumnPath {
        column_family: Bytes::from("Versions"),
        super_column: None,
        column: Some(Bytes::from(name)),
    };
    let behaviour = Behaviour::of(Release::V0_6);
    database
        .request(b"Releases", ConsistencyLevel::One, behaviour)
        .writes()
        .insert("guitar".into(), path, Bytes::from("what is new"), 1)
        .await
}

async fn names(database: &Database, start: &str, finish: &str, reversed: bool, count: i32) -> Vec<String> {
    let parent = ColumnParent { column_family: Bytes::from("Versions"), super_column: None };
    let [start, finish] = [start, finish].map(|bound| Bytes::copy_from_slice(bound.as_bytes()));
    let range = RequestedRange { start, finish, reversed, count };
    let predicate = SlicePredicate { column_names: None, slice_range: Some(range) };
    let behaviour = Behaviour::of(Release::V0_6);
    let key = Bytes::from("guitar");
    let columns = database
        .request(b"Releases", ConsistencyLevel::One, behaviour)
        .reads()
        .get_slice(&key, &parent, &predicate)
        .await;
    let RowColumns::Cells(cells) = columns.unwrap() else { panic!("a Standard row has cells") };
    cells.iter().map(|cell| String::from_utf8_lossy(&cell.name).into_owned()).collect()
}

/// The example program as a server, which is killed when this value is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(data: &Path) -> Server {
        let mut child = serve(&example("storage-conf.xml"), data).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().rsplit(' ').next().unwrap_or_default().to_owned();
        Server { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command that serves a configuration with the example program.
fn serve(config: &Path, data: &Path) -> Command {
    let mut command = Command::new(program());
    command.arg("serve").arg("--config").arg(config).arg("--data-dir").arg(data);
    command.args(["--thrift", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Builds the example program and returns its path. `cargo test` builds it too, but not with `--test`.
fn program() -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_thriftstore")).parent().unwrap();
    let program = profile.join("examples/custom_comparator");
    let mut build = Command::new(env!("CARGO"));
    build
        .args(["build", "--quiet", "--workspace", "--example", "custom_comparator"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.file_name().is_some_and(|name| name == "release") {
        build.arg("--release");
    }
    // With other features, or without `--workspace` as `./run-tests` has it, cargo would build all libraries again.
    if cfg!(feature = "full") {
        build.args(["--features", "full"]);
    }
    // The parent of the profile's directory is the target directory, which an option may have set for this test.
    build.arg("--target-dir").arg(profile.parent().unwrap());
    assert!(build.status().unwrap().success());
    program
}

#[test]
fn the_example_program_serves_and_reopens_data_with_its_comparator() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    {
        let server = Server::start(&data);
        let mut client = Client::connect(&server.address);
        for name in WRITTEN {
            assert_eq!(client.insert(name), Ok(()));
        }
        assert_eq!(client.names(), SORTED);
        assert!(client.insert("one").unwrap_err().starts_with("'one' is not a version"));
        // Ended by SIGKILL, as Drop does it: what was acknowledged stays.
    }
    let server = Server::start(&data);
    assert_eq!(Client::connect(&server.address).names(), SORTED);
    drop(server);

    let config = std::fs::read_to_string(example("storage-conf.xml")).unwrap();
    let changed = directory.path().join("storage-conf.xml");
    std::fs::write(&changed, config.replace("com.example.marshal.VersionType", "UTF8Type")).unwrap();
    let output = serve(&changed, &data).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(
            "column family Releases.Versions holds data written with CompareWith \
             com.example.marshal.VersionType, but is now defined with org.apache.cassandra.db.marshal.UTF8Type"
        ),
        "{said}"
    );
}

#[test]
fn the_error_of_the_standard_program_names_the_unknown_class() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.arg("serve").arg("--config").arg(example("storage-conf.xml")).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("Unable to load class com.example.marshal.VersionType"), "{said}");
}

/// A client of 0.6 with two calls, which uses the official Thrift library.
struct Client {
    input: TBinaryInputProtocol<TcpStream>,
    output: TBinaryOutputProtocol<TcpStream>,
}

/// A Thrift value of a kind that replies contain.
#[derive(Debug)]
enum Value {
    Struct(BTreeMap<i16, Value>),
    List(Vec<Value>),
    Text(String),
    /// A timestamp, which the test does not compare.
    Number,
}

impl Value {
    fn field(&self, id: i16) -> &Value {
        match self {
            Value::Struct(fields) => &fields[&id],
            other => panic!("{other:?} has no fields"),
        }
    }

    fn text(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            other => panic!("{other:?} is not a text"),
        }
    }
}

impl Client {
    fn connect(address: &str) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let input = TBinaryInputProtocol::new(stream.try_clone().unwrap(), true);
        Client { input, output: TBinaryOutputProtocol::new(stream, true) }
    }

    /// Writes a column of the row "guitar". Returns the message if the server refuses it.
    fn insert(&mut self, name: &str) -> Result<(), String> {
        self.begin("insert");
        self.texts(&[(1, "Releases"), (2, "guitar")]);
        self.open(3);
        self.texts(&[(3, "Versions"), (5, name)]);
        self.output.write_field_stop().unwrap();
        self.texts(&[(4, "what is new")]);
        self.field(5, TType::I64);
        self.output.write_i64(1).unwrap();
        self.number(6, 1);
        match self.end().get(&1) {
            None => Ok(()),
            Some(refusal) => Err(refusal.field(1).text()),
        }
    }

    /// Returns the names of the row's columns in the order of get_slice.
    fn names(&mut self) -> Vec<String> {
        self.begin("get_slice");
        self.texts(&[(1, "Releases"), (2, "guitar")]);
        self.open(3);
        self.texts(&[(3, "Versions")]);
        self.output.write_field_stop().unwrap();
        self.open(4);
        self.open(2);
        self.texts(&[(1, ""), (2, "")]);
        self.field(3, TType::Bool);
        self.output.write_bool(false).unwrap();
        self.number(4, 100);
        self.output.write_field_stop().unwrap();
        self.output.write_field_stop().unwrap();
        self.number(5, 1);
        let reply = self.end();
        let Value::List(columns) = &reply[&0] else { panic!("{reply:?}") };
        columns.iter().map(|column| column.field(1).field(1).text()).collect()
    }

    fn begin(&mut self, method: &str) {
        let message = TMessageIdentifier::new(method, TMessageType::Call, 7);
        self.output.write_message_begin(&message).unwrap();
        self.output.write_struct_begin(&TStructIdentifier::new("args")).unwrap();
    }

    /// Sends the call and returns the fields of the reply.
    fn end(&mut self) -> BTreeMap<i16, Value> {
        self.output.write_field_stop().unwrap();
        self.output.flush().unwrap();
        let message = self.input.read_message_begin().unwrap();
        assert_eq!((message.message_type, message.sequence_number), (TMessageType::Reply, 7));
        let Value::Struct(fields) = self.read(TType::Struct) else { panic!("the reply is not a struct") };
        fields
    }

    fn field(&mut self, id: i16, kind: TType) {
        self.output.write_field_begin(&TFieldIdentifier::new("field", kind, id)).unwrap();
    }

    fn open(&mut self, id: i16) {
        self.field(id, TType::Struct);
    }

    fn texts(&mut self, texts: &[(i16, &str)]) {
        for (id, text) in texts {
            self.field(*id, TType::String);
            self.output.write_string(text).unwrap();
        }
    }

    fn number(&mut self, id: i16, number: i32) {
        self.field(id, TType::I32);
        self.output.write_i32(number).unwrap();
    }

    fn read(&mut self, kind: TType) -> Value {
        match kind {
            TType::Struct => {
                self.input.read_struct_begin().unwrap();
                let mut fields = BTreeMap::new();
                loop {
                    let field = self.input.read_field_begin().unwrap();
                    if field.field_type == TType::Stop {
                        return Value::Struct(fields);
                    }
                    let value = self.read(field.field_type);
                    fields.insert(field.id.unwrap(), value);
                }
            }
            TType::List => {
                let list = self.input.read_list_begin().unwrap();
                Value::List((0..list.size).map(|_| self.read(list.element_type)).collect())
            }
            TType::String => {
                Value::Text(String::from_utf8_lossy(&self.input.read_bytes().unwrap()).into_owned())
            }
            TType::I64 => {
                self.input.read_i64().unwrap();
                Value::Number
            }
            other => panic!("a reply with {other:?}"),
        }
    }
}
