//! CQL over Thrift on a store that runs statements itself, as a cluster does: which statements reach the store, and how
//! its answers look to Thrift clients.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::{Arc, Mutex};

use crate::{reference_model, support};
use base::compat::features::ConsistencyLevel;
use base::marshal::CqlType;
use base::partitioner::{Murmur3Partitioner, PartitionerRef};
use base::schema::{Catalog, CfDef, ColumnDef, IndexDef, IndexKind, KeyspaceDef};
use base::util::{Clock, Release};
use bytes::Bytes;
use db::{Authenticator, Database, DatabaseParts, PasswordMode, SimpleAuthenticator};
use reference_model::ReferenceModel;
use server::thrift::{Compat, Service};
use store::{
    Capabilities, ClusterStatus, NodeCounts, NodeStatus, RemoteColumn, RemoteCql, RemoteLevels,
    RemoteOutcome, RemoteRows, SharedSchemaStore, Store, StoreError, StoreFuture, StoreStatus,
};
use support::client::{Client, Reply};
use support::in_process::{self, InProcess};
use support::value::{Value, fields, map, text, texts};
use wire::thrift::TType;

const ONE: Value = Value::I32(1);
const NONE: Value = Value::I32(2);

/// A statement that reached the store.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    text: String,
    values: Vec<Bytes>,
    consistency: ConsistencyLevel,
    is_paged: bool,
}

/// A store that answers statements from a table and records them.
#[derive(Default)]
pub struct Script {
    answers: Mutex<HashMap<String, Result<RemoteOutcome, StoreError>>>,
    markers: Mutex<Vec<RemoteColumn>>,
    sent: Mutex<Vec<Sent>>,
}

impl Script {
    pub fn answer(&self, text: &str, answer: Result<RemoteOutcome, StoreError>) {
        self.answers.lock().unwrap().insert(text.to_owned(), answer);
    }

    fn sent(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    pub fn texts(&self) -> Vec<String> {
        self.sent().into_iter().map(|sent| sent.text).collect()
    }

    fn run(&self, text: &str, values: &[Bytes], levels: RemoteLevels) -> Result<RemoteOutcome, StoreError> {
        let (text, values) = (text.to_owned(), values.to_vec());
        let answer = self.answers.lock().unwrap().get(&text).cloned();
        let RemoteLevels { consistency, is_paged, .. } = levels;
        self.sent.lock().unwrap().push(Sent { text, values, consistency, is_paged });
        answer.unwrap_or(Ok(RemoteOutcome::Void))
    }
}

impl RemoteCql for Script {
    fn own_keyspace(&self) -> &str {
        "thriftstore"
    }

    fn has_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(async move { Ok(name == "theirs") })
    }

    fn query<'a>(&'a self, text: &'a str, levels: RemoteLevels) -> StoreFuture<'a, RemoteOutcome> {
        Box::pin(async move { self.run(text, &[], levels) })
    }

    fn prepare<'a>(&'a self, _text: &'a str) -> StoreFuture<'a, Vec<RemoteColumn>> {
        Box::pin(async move { Ok(self.markers.lock().unwrap().clone()) })
    }

    fn execute<'a>(
        &'a self,
        text: &'a str,
        values: &'a [Bytes],
        levels: RemoteLevels,
    ) -> StoreFuture<'a, RemoteOutcome> {
        Box::pin(async move { self.run(text, values, levels) })
    }
}

/// A store with rows in memory, whose statements the script answers.
struct Remote {
    rows: ReferenceModel,
    script: Arc<Script>,
}

impl Store for Remote {
    support::forward::forward_to!(rows);

    fn status(&self) -> StoreStatus {
        let errors = BTreeMap::from([("read_timeout", 2), ("unavailable", 1)]);
        let counts = NodeCounts { answers: 1234, micros: 2_500_000, recent_micros: 1500, errors };
        let (data_center, rack) = (Some("east".to_owned()), Some("r1".to_owned()));
        let up = NodeStatus { address: "10.0.0.1:9042".to_owned(), data_center, rack, is_up: true, counts };
        let lost = NodeStatus { address: "10.0.0.2:9042".to_owned(), ..NodeStatus::default() };
        let cluster = ClusterStatus {
            nodes: vec![up, lost],
            requests_in_flight: 7,
            requests_waiting: 5,
            requests_timed_out: 3,
            attempts: BTreeMap::from([("LOCAL_QUORUM", 4321)]),
        };
        StoreStatus { cluster: Some(cluster), ..self.rows.status() }
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { shared_schema: Some(self), cql: Some(&*self.script), ..Capabilities::default() }
    }
}

impl SharedSchemaStore for Remote {
    fn is_own_keyspace(&self, name: &str) -> bool {
        name.starts_with("system_") || name == self.script.own_keyspace()
    }

    fn records_version(&self) -> StoreFuture<'_, i64> {
        Box::pin(async { Ok(0) })
    }

    fn drop_keyspace<'a>(&'a self, _name: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn follow(&self, _catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

/// A service whose statements the script answers. Its schema is the keyspace `Ks` with the column family `Served`.
pub struct Bench {
    pub script: Arc<Script>,
    pub service: Service,
    pub runtime: tokio::runtime::Runtime,
}

impl Bench {
    pub fn new() -> Bench {
        Bench::of(Release::V2_1, Authenticator::AllowAll)
    }

    pub fn of(release: Release, authenticator: Authenticator) -> Bench {
        let clock = Arc::new(Clock::manual(1_700_000_000_000));
        let partitioner: PartitionerRef = Arc::new(Murmur3Partitioner);
        let script = Arc::new(Script::default());
        let rows = ReferenceModel::new(partitioner.clone(), clock.clone());
        let store = Arc::new(Remote { rows, script: script.clone() });
        let mut keyspace = KeyspaceDef::new("Ks");
        let mut served = CfDef::new("Ks", "Served");
        let indexed = ColumnDef {
            name: Bytes::from_static(b"state"),
            validator: served.default_validator.clone(),
            index: Some(IndexDef { kind: IndexKind::Keys, name: None, options: None }),
        };
        served.column_metadata.insert(indexed.name.clone(), indexed);
        keyspace.column_families.insert("Served".to_owned(), Arc::new(served));
        let mut catalog = Catalog::default();
        catalog.keyspaces.insert("Ks".to_owned(), keyspace);
        let parts = DatabaseParts::new(Arc::new(catalog), store, partitioner, clock);
        let database = Arc::new(Database::new(DatabaseParts { authenticator, ..parts }));
        let mut compat = Compat::default();
        compat.set(release);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Bench { script, service: Service::new(database, compat), runtime }
    }

    fn client(&self) -> Client<InProcess> {
        in_process::client(&self.service, &self.runtime)
    }
}

fn cql(client: &mut Client<InProcess>, statement: &str) -> Reply {
    client.call("execute_cql3_query", &fields([(1, text(statement)), (2, NONE), (3, ONE)]))
}

fn void() -> Value {
    fields([(1, Value::I32(2))])
}

pub fn column(name: &str, class: &str) -> RemoteColumn {
    let cql_type = CqlType::of_class(class);
    RemoteColumn { keyspace: "Ks".to_owned(), table: "t".to_owned(), name: name.to_owned(), cql_type }
}

fn prepare(client: &mut Client<InProcess>, statement: &str) -> Reply {
    client.call("prepare_cql3_query", &fields([(1, text(statement)), (2, NONE)]))
}

fn execute(client: &mut Client<InProcess>, id: i64, values: &[&[u8]]) -> Reply {
    let id = Value::I32(id.try_into().unwrap());
    client.call("execute_prepared_cql3_query", &fields([(1, id), (2, texts(values)), (3, Value::I32(2))]))
}

fn use_keyspace(client: &mut Client<InProcess>, name: &str) -> Reply {
    client.call("set_keyspace", &fields([(1, text(name))]))
}

fn types(types: &[(&str, &str)]) -> Value {
    let class = |class: &str| text(format!("org.apache.cassandra.db.marshal.{class}"));
    map(TType::String, types.iter().map(|(name, of)| (*name, class(of))).collect())
}

#[test]
fn rows_have_the_form_of_the_old_servers() {
    let bench = Bench::new();
    let mut client = bench.client();
    let list = Bytes::from_static(b"\0\0\0\x01\0\0\0\x02ab");
    let rows = RemoteRows {
        columns: vec![
            column("k", "Int32Type"),
            column("l", "ListType(UTF8Type)"),
            column("f", "FrozenType(ListType(UTF8Type))"),
            column("n", "TimestampType"),
        ],
        rows: vec![vec![Some(Bytes::from_static(b"\0\0\0\x07")), Some(list.clone()), Some(list), None]],
    };
    bench.script.answer("SELECT * FROM ks.t", Ok(RemoteOutcome::Rows(rows)));
    let reply = cql(&mut client, "SELECT * FROM ks.t");
    let result = reply.value();
    assert_eq!(result.field(1), &Value::I32(1));
    let expected = vec![
        fields([(1, text("k")), (2, text(b"\0\0\0\x07"))]),
        fields([(1, text("l")), (2, text(b"\0\x01\0\x02ab"))]),
        fields([(1, text("f")), (2, text(b"\0\0\0\x01\0\0\0\x02ab"))]),
        fields([(1, text("n"))]),
    ];
    let row = fields([(1, text("")), (2, Value::List(TType::Struct, expected))]);
    assert_eq!(result.field(2), &Value::List(TType::Struct, vec![row]));
    let metadata = result.field(4);
    let value_types = [
        (
            "f",
            "FrozenType(org.apache.cassandra.db.marshal.ListType(org.apache.cassandra.db.marshal.UTF8Type))",
        ),
        ("k", "Int32Type"),
        ("l", "ListType(org.apache.cassandra.db.marshal.UTF8Type)"),
        ("n", "TimestampType"),
    ];
    assert_eq!(metadata.field(2), &types(&value_types));
    let name_types = ["f", "k", "l", "n"].map(|name| (name, text("UTF8Type")));
    assert_eq!(metadata.field(1), &map(TType::String, name_types.to_vec()));
    assert_eq!((metadata.field(3), metadata.field(4)), (&text("UTF8Type"), &text("UTF8Type")));
    assert_eq!(cql(&mut client, "CREATE TABLE ks.t (k int PRIMARY KEY)").value(), &void());
}

#[test]
fn columns_of_function_calls_have_the_names_in_the_client_s_statement() {
    let bench = Bench::new();
    let columns = [("a", "Int32Type"), ("system.totimestamp(u)", "TimestampType"), ("b", "LongType")];
    let columns = columns.map(|(name, class)| column(name, class)).to_vec();
    let answer = RemoteOutcome::Rows(RemoteRows { columns, rows: vec![vec![None, None, None]] });
    bench.script.answer("SELECT a, toTimestamp(u), token(a) AS b FROM ks.t", Ok(answer));
    let reply = cql(&mut bench.client(), "SELECT a, dateOf(u), token(a) AS b FROM ks.t");
    let row = ["a", "dateOf(u)", "b"].map(|name| fields([(1, text(name))])).to_vec();
    let row = fields([(1, text("")), (2, Value::List(TType::Struct, row))]);
    assert_eq!(reply.value().field(2), &Value::List(TType::Struct, vec![row]));
}

#[test]
fn clients_of_1_2_see_timestamps_as_date_type() {
    let bench = Bench::of(Release::V1_2, Authenticator::AllowAll);
    let columns = vec![column("t", "TimestampType"), column("s", "SetType(TimestampType)")];
    let answer = RemoteOutcome::Rows(RemoteRows { columns, rows: Vec::new() });
    bench.script.answer("SELECT * FROM ks.t", Ok(answer));
    let reply = cql(&mut bench.client(), "SELECT * FROM ks.t");
    let expected = types(&[("s", "SetType(org.apache.cassandra.db.marshal.DateType)"), ("t", "DateType")]);
    assert_eq!(reply.value().field(4).field(2), &expected);
}

#[test]
fn prepared_statements_keep_their_keyspace_and_send_long_collections() {
    let bench = Bench::new();
    let mut client = bench.client();
    use_keyspace(&mut client, "Ks").void();
    *bench.script.markers.lock().unwrap() = vec![
        column("l", "ListType(UTF8Type)"),
        column("m", "MapType(UTF8Type,UTF8Type)"),
        column("k", "UTF8Type"),
    ];
    let statement = "UPDATE t SET l = ?, m = ? WHERE k = ?";
    let reply = prepare(&mut client, statement);
    let prepared = reply.value();
    assert_eq!(prepared.field(2), &Value::I32(3));
    let classes = [
        "org.apache.cassandra.db.marshal.ListType(org.apache.cassandra.db.marshal.UTF8Type)",
        "org.apache.cassandra.db.marshal.MapType(org.apache.cassandra.db.marshal.UTF8Type,\
         org.apache.cassandra.db.marshal.UTF8Type)",
        "org.apache.cassandra.db.marshal.UTF8Type",
    ];
    let note = |(name, class): (&str, &str)| format!("ColumnSpecification{{name={name}, type={class}}}");
    let notes: Vec<String> = ["l", "m", "k"].into_iter().zip(classes).map(note).collect();
    assert_eq!((prepared.field(3), prepared.field(4)), (&texts(&classes), &texts(&notes)));
    let id = prepared.field(1).int();

    use_keyspace(&mut client, "theirs").void();
    let values: [&[u8]; 3] = [b"\0\x01\0\x01a", b"\0\x01\0\x01a\0\x01b", b"key"];
    assert_eq!(execute(&mut client, id, &values).value(), &void());
    let expected = Sent {
        text: "UPDATE \"Ks\".t SET l = ?, m = ? WHERE k = ?".to_owned(),
        values: vec![
            Bytes::from_static(b"\0\0\0\x01\0\0\0\x01a"),
            Bytes::from_static(b"\0\0\0\x01\0\0\0\x01a\0\0\0\x01b"),
            Bytes::from_static(b"key"),
        ],
        consistency: ConsistencyLevel::Quorum,
        is_paged: true,
    };
    assert_eq!(bench.script.sent(), [expected]);

    let why = execute(&mut client, id, &[b"\0\0"]).why().to_owned();
    assert_eq!(why, "there were 3 markers(?) in CQL but 1 bound variables");
    let why = execute(&mut client, id, &[b"\0\x02\0\x01a", b"\0\0", b"k"]).why().to_owned();
    assert_eq!(why, "Not enough bytes to read a list");
    assert!(execute(&mut client, id + 1, &[]).why().starts_with("Prepared query with ID"));
    // Other connections can execute it too.
    let mut other = bench.client();
    let short: [&[u8]; 3] = [b"\0\0", b"\0\0", b""];
    assert_eq!(execute(&mut other, id, &short).value(), &void());
}

#[test]
fn statements_use_the_keyspace_of_the_session() {
    let bench = Bench::new();
    let mut client = bench.client();
    let why = cql(&mut client, "SELECT a FROM t").why().to_owned();
    assert!(why.starts_with("No keyspace has been specified"), "{why}");
    assert_eq!(cql(&mut client, "USE \"Ks\"").value(), &void());
    cql(&mut client, "SELECT a FROM t");
    // A keyspace of the cluster that no Thrift client has created.
    assert_eq!(cql(&mut client, "use theirs").value(), &void());
    cql(&mut client, "SELECT a FROM t");
    assert_eq!(cql(&mut client, "USE nobodys").why(), "Keyspace 'nobodys' does not exist");
    assert_eq!(use_keyspace(&mut client, "nobodys").why(), "Keyspace 'nobodys' does not exist");
    cql(&mut client, "SELECT a FROM t");
    let expected = ["SELECT a FROM \"Ks\".t", "SELECT a FROM \"theirs\".t", "SELECT a FROM \"theirs\".t"];
    assert_eq!(bench.script.texts(), expected);
}

#[test]
fn statements_on_internal_keyspaces_and_users_do_not_reach_the_cluster() {
    let bench = Bench::new();
    let mut client = bench.client();
    for statement in [
        "CREATE USER anna WITH PASSWORD 'a' SUPERUSER",
        "CREATE ROLE r WITH ACCESS TO ALL DATACENTERS",
        "LIST USERS",
        "SELECT * FROM thriftstore.notes",
        "SELECT * FROM \"thriftstore\".notes WHERE scope LIKE 'x'",
        "INSERT INTO thriftstore.notes (scope, name) VALUES ('a', 'b')",
        "DROP KEYSPACE thriftstore",
        "BEGIN BATCH INSERT INTO a.b (c) VALUES (1); DELETE FROM thriftstore.notes WHERE scope = 'schema'; \
         APPLY BATCH",
        "CREATE FUNCTION ks.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'thriftstore'",
        "SELECT salted_hash FROM system_auth.roles",
        "SELECT proposal FROM system.paxos",
        "SELECT * FROM system.batches",
        "SELECT salted_hash FROM \"system\".\"roles\"",
        "SELECT proposal FROM \"system\" . paxos WHERE v ANN OF [1.0] LIMIT 1",
        "CREATE TABLE system_distributed_everywhere.t (k int PRIMARY KEY)",
        "ALTER KEYSPACE system_replicated_keys WITH durable_writes = false",
        "ALTER KEYSPACE IF EXISTS system_distributed WITH durable_writes = false",
        "ALTER TABLE IF EXISTS system_distributed.t ADD IF NOT EXISTS a int",
        "DELETE FROM system.local WHERE key = 'local'",
        "USE thriftstore",
    ] {
        assert!(!cql(&mut client, statement).why().is_empty(), "{statement}");
    }
    // Thrift calls cannot create or change these keyspaces either.
    for keyspace in ["thriftstore", "ThriftStore", "system_distributed", "system_distributed_everywhere"] {
        let options = map(TType::String, vec![("replication_factor", text("1"))]);
        let definition = fields([
            (1, text(keyspace)),
            (2, text("SimpleStrategy")),
            (3, options),
            (5, Value::List(TType::Struct, Vec::new())),
        ]);
        for call in ["system_add_keyspace", "system_update_keyspace"] {
            let why = client.call(call, &fields([(1, definition.clone())])).why().to_owned();
            assert_eq!(why, format!("{keyspace} keyspace is not user-modifiable"), "{call}");
        }
    }
    assert!(use_keyspace(&mut client, "thriftstore").why().contains("not open to clients"));
    assert_eq!(bench.script.texts(), <[String; 0]>::default());
    // Every client may read the cluster's schema.
    assert_eq!(cql(&mut client, "SELECT * FROM system_schema.tables").value(), &void());
}

#[test]
fn cql_cannot_change_the_schema_that_thrift_clients_created() {
    let bench = Bench::new();
    let mut client = bench.client();
    use_keyspace(&mut client, "Ks").void();
    for (statement, call) in [
        ("DROP TABLE \"Served\"", "system_drop_column_family"),
        ("DROP COLUMNFAMILY IF EXISTS \"Ks\".\"Served\"", "system_drop_column_family"),
        ("DROP INDEX \"Served_value\"", "system_update_column_family"),
        ("ALTER TABLE \"Served\" ADD a int", "system_update_column_family"),
        ("ALTER TABLE IF EXISTS \"Served\" ADD IF NOT EXISTS a int", "system_update_column_family"),
        ("DROP KEYSPACE \"Ks\"", "system_drop_keyspace"),
        ("ALTER KEYSPACE \"Ks\" WITH durable_writes = false", "system_update_keyspace"),
        ("ALTER KEYSPACE IF EXISTS \"Ks\" WITH durable_writes = false", "system_update_keyspace"),
    ] {
        let why = cql(&mut client, statement).why().to_owned();
        assert!(why.contains(call), "{statement}: {why}");
    }
    assert_eq!(bench.script.texts(), <[String; 0]>::default());
    for statement in ["DROP TABLE other", "TRUNCATE \"Served\"", "DROP KEYSPACE theirs"] {
        assert_eq!(cql(&mut client, statement).value(), &void(), "{statement}");
    }
    let expected = ["DROP TABLE \"Ks\".other", "TRUNCATE \"Ks\".\"Served\"", "DROP KEYSPACE theirs"];
    assert_eq!(bench.script.texts(), expected);
}

#[test]
fn cql_2_is_refused() {
    let bench = Bench::new();
    let mut client = bench.client();
    let query = fields([(1, text("SELECT * FROM Served")), (2, NONE)]);
    for method in ["execute_cql_query", "prepare_cql_query"] {
        let why = client.call(method, &query).why().to_owned();
        assert!(why.contains("CQL 2 is not supported"), "{why}");
    }
    let version = |version: &str| fields([(1, text(version))]);
    assert!(client.call("set_cql_version", &version("2.0.0")).why().contains("CQL 2 is not supported"));
    client.call("set_cql_version", &version("3.0.0")).void();

    // In 1.1 the same calls are used for CQL 2 and CQL 3.
    let bench = Bench::of(Release::V1_1, Authenticator::AllowAll);
    let mut client = bench.client();
    client.call("set_cql_version", &version("3.0.0-beta1")).void();
    let query = fields([(1, text("SELECT * FROM ks.t")), (2, NONE)]);
    assert_eq!(client.call("execute_cql_query", &query).value(), &void());
    assert_eq!(bench.script.texts(), ["SELECT * FROM ks.t"]);
}

#[test]
fn errors_of_the_cluster_become_the_exceptions_of_the_call() {
    let bench = Bench::new();
    let mut client = bench.client();
    let unavailable = StoreError::Unavailable { why: "none".to_owned(), required: 2, alive: 1 };
    let why = || "why".to_owned();
    for (error, field) in [
        (StoreError::Invalid(why()), 1),
        (unavailable, 2),
        (StoreError::Overloaded(why()), 2),
        (StoreError::TimedOut(why()), 3),
        (StoreError::SchemaDisagreement(why()), 4),
    ] {
        bench.script.answer("SELECT a FROM ks.t", Err(error));
        let expected = if field == 1 { "why" } else { "" };
        assert_eq!(cql(&mut client, "SELECT a FROM ks.t").thrown(field), expected);
    }
}

#[test]
fn statements_require_the_same_permissions_as_thrift_calls() {
    let directory = tempfile::tempdir().unwrap();
    let (passwd_file, access_file) = (directory.path().join("passwd"), directory.path().join("access"));
    fs::write(&passwd_file, "reader=r\nroot=r\n").unwrap();
    fs::write(&access_file, "<modify-keyspaces>=root\nKs.Served.<ro>=reader\nKs.t.<rw>=reader\n").unwrap();
    let simple =
        SimpleAuthenticator { passwd_file, access_file: Some(access_file), mode: PasswordMode::Plain };
    let bench = Bench::of(Release::V2_1, Authenticator::Simple(simple));
    let mut client = bench.client();
    assert_eq!(cql(&mut client, "SELECT a FROM \"Ks\".t").why(), "You have not logged in");
    let credentials = map(TType::String, vec![("username", text("reader")), ("password", text("r"))]);
    client.call("login", &fields([(1, fields([(1, credentials)]))])).void();
    use_keyspace(&mut client, "Ks").void();

    let allowed = [
        "SELECT a FROM \"Served\"",
        "INSERT INTO t (a) VALUES (1)",
        "BEGIN BATCH UPDATE t SET a = 1 WHERE k = 1; APPLY BATCH",
        "SELECT * FROM system.local",
    ];
    for statement in allowed {
        assert_eq!(cql(&mut client, statement).value(), &void(), "{statement}");
    }
    assert_eq!(bench.script.sent().len(), allowed.len());
    for (statement, permission) in [
        ("SELECT a FROM other", "no SELECT permission on <table Ks.other>"),
        ("SELECT a FROM theirs.t", "no SELECT permission on <table theirs.t>"),
        ("INSERT INTO \"Served\" (a) VALUES (1)", "no MODIFY permission on <table Ks.Served>"),
        ("TRUNCATE \"Served\"", "no MODIFY permission on <table Ks.Served>"),
        (
            "BEGIN BATCH UPDATE t SET a = 1 WHERE k = 1; UPDATE \"Served\" SET a = 1 WHERE k = 1; APPLY BATCH",
            "no MODIFY permission on <table Ks.Served>",
        ),
        ("CREATE TABLE n (k int PRIMARY KEY)", "no CREATE permission on <keyspace Ks>"),
        ("CREATE INDEX ON t (a)", "no ALTER permission on <table Ks.t>"),
        ("DROP TABLE t", "no DROP permission on <table Ks.t>"),
        ("DROP INDEX i", "no ALTER permission on <keyspace Ks>"),
        ("CREATE KEYSPACE k WITH replication = {'class': 'X'}", "no CREATE permission on <all keyspaces>"),
        (
            "SELECT * FROM system.prepared_statements",
            "no SELECT permission on <table system.prepared_statements>",
        ),
        ("SELECT * FROM system.paxos", "system.paxos is not open to clients"),
        ("SELECT * FROM system_views.clients", "no SELECT permission on <table system_views.clients>"),
        ("SELECT a FROM t WHERE v ANN OF [1.0] LIMIT 1", "may not run this statement"),
        ("CREATE FUNCTION f (a int) RETURNS int", "may not run this statement"),
    ] {
        let why = cql(&mut client, statement).why().to_owned();
        assert!(why.contains(permission), "{statement}: {why}");
        assert_eq!(prepare(&mut client, statement).why(), why);
    }
    assert_eq!(bench.script.texts(), <[String; 0]>::default());
}

#[test]
fn executing_a_prepared_statement_requires_the_executing_user_s_permission() {
    let directory = tempfile::tempdir().unwrap();
    let (passwd_file, access_file) = (directory.path().join("passwd"), directory.path().join("access"));
    fs::write(&passwd_file, "writer=r\nreader=r\n").unwrap();
    fs::write(&access_file, "Ks.t.<rw>=writer\nKs.t.<ro>=reader\n").unwrap();
    let simple =
        SimpleAuthenticator { passwd_file, access_file: Some(access_file), mode: PasswordMode::Plain };
    let bench = Bench::of(Release::V2_1, Authenticator::Simple(simple));
    let [mut writer, mut reader] = ["writer", "reader"].map(|user| {
        let mut client = bench.client();
        let credentials = map(TType::String, vec![("username", text(user)), ("password", text("r"))]);
        client.call("login", &fields([(1, fields([(1, credentials)]))])).void();
        client
    });
    let id = prepare(&mut writer, "INSERT INTO \"Ks\".t (a) VALUES (1)").value().field(1).int();
    assert_eq!(execute(&mut writer, id, &[]).value(), &void());
    assert!(execute(&mut reader, id, &[]).why().contains("no MODIFY permission on <table Ks.t>"));
    assert_eq!(bench.script.sent().len(), 1);
}
