//! Rights of users in the access file: keyspaces, column families, and the login of each API generation.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::Path;

use crate::support;
use base::compat::features::ApiGeneration;
use base::model::StatementId;
use base::util::Release;
use server::thrift::methods::{DeclaredException, METHODS, Method};
use support::calls::*;
use support::client::{Client, Reply, Style};
use support::first;
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, structs, text, texts};
use wire::thrift::TType;

const SIMPLE: &str = "<Authenticator>org.apache.cassandra.auth.SimpleAuthenticator</Authenticator>";
const PASSWD: &str = "root=r\nreader=r\nwriter=w\nowner=o\nold=o\nnobody=n\n";
const ACCESS: &str = "\
<modify-keyspaces>=root
Made.<rw>=root,owner
Made.C.<rw>=root
Keyspace1.<rw>=owner
Keyspace1.Standard1.<ro>=reader
Keyspace1.Standard1.<rw>=writer
BloggyAppy=old
";

fn guarded(directory: &Path, more_conf: &str, more: &[&str]) -> Server {
    fs::write(directory.join("passwd"), PASSWD).unwrap();
    fs::write(directory.join("access"), ACCESS).unwrap();
    let flags = ["--ephemeral", "--passwd", "passwd", "--access", "access"];
    let flags: Vec<&str> = flags.iter().chain(more).copied().collect();
    Server::start(directory, &storage_conf(&format!("{SIMPLE}{more_conf}")), &flags)
}

fn login(client: &mut Client, user: &str, password: &str) -> Reply {
    let credentials = map(TType::String, vec![("username", text(user)), ("password", text(password))]);
    client.call("login", &fields([(1, fields([(1, credentials)]))]))
}

fn old_login(client: &mut Client, keyspace: &str, user: &str, password: &str) -> Reply {
    let credentials = map(TType::String, vec![("username", text(user)), ("password", text(password))]);
    client.call("login", &fields([(1, text(keyspace)), (2, fields([(1, credentials)]))]))
}

/// Returns a client that has logged in. Every password is the first letter of the user name.
fn client_of(server: &Server, user: &str, keyspace: &str) -> Client {
    let mut client = server.client(Style::FRAMED);
    login(&mut client, user, &user[..1]).void();
    client.call("set_keyspace", &fields([(1, text(keyspace))])).void();
    client
}

fn one(arg: Value) -> Value {
    fields([(1, arg)])
}

fn insert(family: &str) -> Value {
    fields([(1, text("k")), (2, parent(family, None)), (3, column(b"c", b"v", 1)), (4, Value::I32(ONE))])
}

fn get_slice(family: &str) -> Value {
    fields([(1, text("k")), (2, parent(family, None)), (3, everything()), (4, Value::I32(ONE))])
}

fn batch(families: &[&'static str]) -> Value {
    let changes = |family: &&'static str| (*family, vec![write(column(b"c", b"v", 1))]);
    fields([(1, rows(vec![("k", families.iter().map(changes).collect())])), (2, Value::I32(ONE))])
}

fn cf_def(keyspace: &str, name: &str) -> Value {
    fields([(1, text(keyspace)), (2, text(name))])
}

fn ks_def(name: &str, families: Vec<Value>) -> Value {
    fields([
        (1, text(name)),
        (2, text("SimpleStrategy")),
        (3, map(TType::String, vec![("replication_factor", text("1"))])),
        (4, Value::I32(1)),
        (5, structs(families)),
    ])
}

const CQL2: &str = "SELECT * FROM Standard1";
const CQL3: &str = "SELECT * FROM \"Standard1\"";

/// Returns the id of a prepared statement.
fn id_of(keyspace: Option<&str>, statement: &str) -> Value {
    match StatementId::hash(keyspace, statement) {
        StatementId::Hash(id) => Value::I32(id),
        StatementId::Md5(_) => unreachable!("Thrift has numbers"),
    }
}

/// Returns arguments with which a call of the method needs a right to Standard1 of Keyspace1, or to a keyspace.
fn args_of(method: &str) -> Value {
    let level = || Value::I32(ONE);
    let of = |family: &str| parent(family, None);
    let target = "Standard1";
    let query = || text(CQL2);
    match method {
        "get" => fields([(1, text("k")), (2, path(target, None, Some(b"c"))), (3, level())]),
        "get_slice" | "get_count" => get_slice(target),
        "multiget_slice" | "multiget_count" => {
            fields([(1, texts(&["k"])), (2, of(target)), (3, everything()), (4, level())])
        }
        "get_multi_slice" => one(fields([(1, text("k")), (2, of(target)), (3, structs(vec![]))])),
        "get_range_slices" => {
            fields([(1, of(target)), (2, everything()), (3, key_range("", "", 10)), (4, level())])
        }
        "get_paged_slice" => {
            fields([(1, text(target)), (2, key_range("", "", 10)), (3, text("")), (4, level())])
        }
        "get_indexed_slices" => {
            let clause = fields([(1, structs(vec![])), (2, text("")), (3, Value::I32(10))]);
            fields([(1, of(target)), (2, clause), (3, everything()), (4, level())])
        }
        "insert" => insert(target),
        "batch_mutate" | "atomic_batch_mutate" => batch(&[target]),
        "remove" => fields([(1, text("k")), (2, path(target, None, None)), (3, Value::I64(9)), (4, level())]),
        "cas" => fields([
            (1, text("k")),
            (2, text(target)),
            (3, structs(vec![])),
            (4, structs(vec![column(b"c", b"v", 1)])),
        ]),
        "truncate" => one(text(target)),
        "add" => {
            let counter = fields([(1, text("c")), (2, Value::I64(1))]);
            fields([(1, text("k")), (2, of(target)), (3, counter), (4, level())])
        }
        "remove_counter" => fields([(1, text("k")), (2, path(target, None, None)), (3, level())]),
        "system_add_keyspace" => one(ks_def("Other", vec![])),
        "system_update_keyspace" => one(ks_def("Keyspace1", vec![])),
        "system_drop_keyspace" | "describe_keyspace" => one(text("Keyspace1")),
        "system_add_column_family" => one(cf_def("Keyspace1", "Other")),
        "system_update_column_family" => one(cf_def("Keyspace1", target)),
        "system_drop_column_family" => one(text(target)),
        "execute_cql_query" | "prepare_cql_query" => fields([(1, query()), (2, Value::I32(2))]),
        "prepare_cql3_query" => fields([(1, text(CQL3)), (2, Value::I32(2))]),
        "execute_cql3_query" => fields([(1, text(CQL3)), (2, Value::I32(2)), (3, level())]),
        "execute_prepared_cql_query" => fields([(1, id_of(None, CQL2)), (2, texts::<&str>(&[]))]),
        "execute_prepared_cql3_query" => {
            fields([(1, id_of(Some("Keyspace1"), CQL3)), (2, texts::<&str>(&[])), (3, level())])
        }
        "describe_keyspaces" | "trace_next_query" => fields([]),
        other => panic!("add arguments for {other} here, and check that the call looks at the user's rights"),
    }
}

/// Calls that need a login but no right: they return definitions, or nothing.
const OPEN: [&str; 5] = [
    "describe_keyspaces",
    "describe_keyspace",
    "trace_next_query",
    // Rights are checked when a prepared statement is executed.
    "prepare_cql_query",
    "prepare_cql3_query",
];

/// Returns the methods of 0.7 and later that need a login, in one release.
fn guarded_calls(release: Release) -> impl Iterator<Item = &'static Method> {
    let is_of = move |method: &&Method| method.releases.has(release);
    METHODS
        .iter()
        .filter(|method| method.generation() == ApiGeneration::AfterSetKeyspace && method.needs_login)
        .filter(is_of)
}

/// Returns the text of the InvalidRequestException, or of a TApplicationException if the method does not declare the
/// former.
fn refusal(method: &Method, reply: &Reply) -> String {
    match method.throws.iter().find(|(_, thrown)| *thrown == DeclaredException::InvalidRequest) {
        Some((field, _)) => reply.thrown(*field).to_owned(),
        None => reply.application(6).to_owned(),
    }
}

/// 0.3 has no login. Its calls need the login of 0.6; that of 0.7 does not allow them.
#[test]
fn calls_of_0_3_need_a_login_of_0_6() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &[]);
    let mut client = server.client(Style::UNFRAMED);
    let key = b"k";
    let guarded = [
        ("insert", first::insert_args("BloggyAppy", key, "Authors:c", (b"v", 1), true)),
        ("remove", first::remove_args("BloggyAppy", key, "Authors:c", 1, true)),
        ("batch_insert", first::batch_args("BloggyAppy", key, Vec::new(), true)),
        ("batch_insert_superColumn", first::batch_args("BloggyAppy", key, Vec::new(), true)),
        ("get_slice", first::slice_args("BloggyAppy", key, "Authors", -1, -1)),
        ("get_slice_super", first::slice_args("BloggyAppy", key, "Comments", -1, -1)),
        ("get_slice_by_names", first::names_args("BloggyAppy", key, "Authors", &["c"])),
        ("get_slice_super_by_names", first::names_args("BloggyAppy", key, "Comments", &[])),
        ("get_columns_since", first::since_args("BloggyAppy", key, "Authors", 1)),
        ("get_column", first::args("BloggyAppy", key, "Authors:c")),
        ("get_superColumn", first::args("BloggyAppy", key, "Authors:c")),
        ("get_column_count", first::args("BloggyAppy", key, "Authors")),
        ("get_key_range", first::keys_args("BloggyAppy", "", "", 9)),
    ];
    let names: Vec<&str> = guarded.iter().map(|(method, _)| *method).chain(["executeQuery"]).collect();
    for method in METHODS.iter().filter(|method| method.generation() == ApiGeneration::WithTextPaths) {
        assert_eq!(names.contains(&method.name), method.needs_login, "{}", method.name);
    }
    let text_of_refusal = "Login is required before any other API calls";
    login(&mut client, "reader", "r").void();
    for (method, args) in &guarded {
        assert_eq!(client.call(method, args).why(), text_of_refusal, "{method}");
    }
    client.call("executeQuery", &first::about_args("SELECT")).application(6);
    client.call("describeTable", &first::about_args("BloggyAppy")).value();
    old_login(&mut client, "BloggyAppy", "old", "o").void();
    client.call("insert", &guarded[0].1).void();
}

/// Calls every row of the method table, in a release that has it.
#[test]
fn every_call_checks_the_right() {
    let mut seen = 0;
    for (release, denied) in
        [(Release::V0_7, " does not have permission "), (Release::V2_1, " permission on ")]
    {
        let directory = tempfile::tempdir().unwrap();
        let server = guarded(directory.path(), "", &["--compat", release.name()]);
        let mut stranger = server.client(Style::FRAMED);
        stranger.call("set_keyspace", &one(text("Keyspace1"))).void();
        let mut nobody = client_of(&server, "nobody", "Keyspace1");
        for method in guarded_calls(release) {
            let args = args_of(method.name);
            let reply = stranger.call(method.name, &args);
            assert_eq!(refusal(method, &reply), "You have not logged in", "{}", method.name);
            let reply = nobody.call(method.name, &args);
            if OPEN.contains(&method.name) {
                reply.value();
            } else {
                let why = refusal(method, &reply);
                let is_denied = why.contains("nobody") && why.contains(denied);
                assert!(is_denied, "{}: {why}", method.name);
            }
            seen += 1;
        }
    }
    let guarded = METHODS
        .iter()
        .filter(|method| method.generation() == ApiGeneration::AfterSetKeyspace && method.needs_login);
    let both = guarded_calls(Release::V0_7).filter(|method| method.releases.has(Release::V2_1)).count();
    assert_eq!(seen - both, guarded.count(), "a row exists in neither release");
}

#[test]
fn rights_are_granted_for_each_column_family() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &["--compat", "0.8"]);
    let mut writer = client_of(&server, "writer", "Keyspace1");
    writer.call("insert", &insert("Standard1")).void();
    assert_eq!(writer.call("get_slice", &get_slice("Standard1")).value().items().len(), 1);

    let mut reader = client_of(&server, "reader", "Keyspace1");
    assert_eq!(reader.call("get_slice", &get_slice("Standard1")).value().items().len(), 1);
    let denied = |user: &str, permission: &str, of: &str| {
        format!(
            "#<User {user} groups=[]> does not have permission {permission} for /cassandra/keyspaces/{of}"
        )
    };
    let why = reader.call("insert", &insert("Standard1"));
    assert_eq!(why.why(), denied("reader", "WRITE", "Keyspace1/Standard1"));
    let why = reader.call("truncate", &one(text("Standard1")));
    assert_eq!(why.why(), denied("reader", "WRITE", "Keyspace1/Standard1"));
    let why = reader.call("get_slice", &get_slice("Super1"));
    assert_eq!(why.why(), denied("reader", "READ", "Keyspace1/Super1"));
    reader.call("set_keyspace", &one(text("BloggyAppy"))).void();
    let why = reader.call("get_slice", &get_slice("Standard1"));
    assert_eq!(why.why(), denied("reader", "READ", "BloggyAppy/Standard1"));

    let why = writer.call("batch_mutate", &batch(&["Standard1", "Standard2"]));
    assert_eq!(why.why(), denied("writer", "WRITE", "Keyspace1/Standard2"));
    writer.call("batch_mutate", &batch(&["Standard1"])).void();

    let mut owner = client_of(&server, "owner", "Keyspace1");
    let why = owner.call("get_slice", &get_slice("Standard1"));
    assert_eq!(
        why.why(),
        denied("owner", "READ", "Keyspace1/Standard1"),
        "a right to a keyspace is no right to its column families"
    );
}

#[test]
fn refusals_have_the_text_of_the_release() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &[]);
    let mut client = server.client(Style::UNFRAMED);
    let wrong = login(&mut client, "reader", "guess");
    assert_eq!(wrong.thrown(1), "Username and/or password are incorrect");
    assert_eq!(login(&mut client, "carl", "c"), wrong);
    let nameless = one(one(map(TType::String, vec![("password", text("r"))])));
    assert_eq!(client.call("login", &nameless).thrown(1), "Required key 'username' is missing");
    login(&mut client, "reader", "r").void();
    client.call("set_keyspace", &one(text("Keyspace1"))).void();
    assert_eq!(
        client.call("insert", &insert("Standard1")).why(),
        "User reader has no MODIFY permission on <table Keyspace1.Standard1> or any of its parents"
    );
    assert_eq!(
        client.call("system_add_keyspace", &one(ks_def("Made", vec![]))).why(),
        "User reader has no CREATE permission on <all keyspaces> or any of its parents"
    );

    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &["--compat", "0.8"]);
    let mut client = server.client(Style::FRAMED);
    let expected = "Given password in password mode PLAIN could not be validated for user";
    assert_eq!(login(&mut client, "reader", "guess").thrown(1), format!("{expected} reader"));
    assert_eq!(login(&mut client, "carl", "c").thrown(1), format!("{expected} carl"));
    let missing = "Authentication request was missing the required key 'username'";
    assert_eq!(client.call("login", &nameless).thrown(1), missing);
}

#[test]
fn schema_changes_need_a_right_to_the_changed_object() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &[]);
    let made = one(ks_def("Made", vec![cf_def("Made", "C")]));
    let mut owner = client_of(&server, "owner", "Keyspace1");
    let create = "User owner has no CREATE permission on <all keyspaces> or any of its parents";
    assert_eq!(owner.call("system_add_keyspace", &made).why(), create);
    let mut root = client_of(&server, "root", "Keyspace1");
    root.call("system_add_keyspace", &made).value();

    // The right to the changed keyspace is needed, not to the session's keyspace.
    let mut old = client_of(&server, "old", "BloggyAppy");
    let denied = |user: &str, permission: &str, of: &str| {
        format!("User {user} has no {permission} permission on {of} or any of its parents")
    };
    let add = |name: &str| one(cf_def("Made", name));
    let why = old.call("system_add_column_family", &add("D"));
    assert_eq!(why.why(), denied("old", "CREATE", "<keyspace Made>"));
    let why = old.call("system_add_column_family", &one(cf_def("BloggyAppy", "D")));
    assert_eq!(why.why(), denied("old", "CREATE", "<keyspace BloggyAppy>"));
    owner.call("system_add_column_family", &add("D")).value();
    owner.call("system_update_column_family", &add("D")).value();
    let why = old.call("system_update_column_family", &add("D"));
    assert_eq!(why.why(), denied("old", "ALTER", "<table Made.D>"));
    owner.call("set_keyspace", &one(text("Made"))).void();
    owner.call("system_drop_column_family", &one(text("D"))).value();
    let why = owner.call("system_drop_keyspace", &one(text("Made")));
    assert_eq!(why.why(), denied("owner", "DROP", "<keyspace Made>"));

    root.call("set_keyspace", &one(text("Made"))).void();
    root.call("insert", &insert("C")).void();
    root.call("system_drop_keyspace", &one(text("Made"))).value();
}

#[test]
fn an_access_line_of_0_6_allows_all_data_of_its_keyspace() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &[]);
    let mut old = client_of(&server, "old", "BloggyAppy");
    for family in ["Authors", "BlogEntries"] {
        old.call("insert", &insert(family)).void();
        assert_eq!(old.call("get_slice", &get_slice(family)).value().items().len(), 1);
    }
    old.call("set_keyspace", &one(text("Keyspace1"))).void();
    assert!(old.call("get_slice", &get_slice("Standard1")).why().contains("no SELECT permission"));
}

/// The logins of 0.6 and 0.7 each only allow the calls of their generation. The login of 0.6 needs a line of the access
/// file in the format of 0.6.
#[test]
fn a_login_allows_calls_of_its_own_generation() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &[]);
    let old_insert = insert_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
    let mut reader = client_of(&server, "reader", "Keyspace1");
    let why = reader.call("insert", &old_insert);
    assert_eq!(why.why(), "Login is required before any other API calls");

    let mut client = server.client(Style::FRAMED);
    for keyspace in ["Keyspace1", "Keyspace1.<rw>", "Keyspace1.Standard1.<rw>", "<modify-keyspaces>"] {
        for user in ["owner", "writer", "root"] {
            let refused = old_login(&mut client, keyspace, user, &user[..1]);
            let expected = format!("User {user} could not be authorized to use keyspace {keyspace}");
            assert_eq!(refused.thrown(2), expected);
        }
    }
    old_login(&mut client, "BloggyAppy", "old", "o").void();
    client.call("insert", &old_insert).void();
    client.call("set_keyspace", &one(text("BloggyAppy"))).void();
    assert_eq!(client.call("insert", &insert("Authors")).why(), "You have not logged in");
    login(&mut client, "old", "o").void();
    client.call("insert", &insert("Authors")).void();
}

#[test]
fn the_last_successful_login_sets_user_and_rights() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "", &[]).expecting("cannot read the access file");
    let mut client = client_of(&server, "writer", "Keyspace1");
    login(&mut client, "reader", "guess").thrown(1);
    client.call("insert", &insert("Standard1")).void();
    login(&mut client, "reader", "r").void();
    assert!(client.call("insert", &insert("Standard1")).why().contains("reader has no MODIFY"));

    fs::write(directory.path().join("access"), "Keyspace1.Standard1.<rw>=reader\n").unwrap();
    assert!(client.call("insert", &insert("Standard1")).why().contains("reader has no MODIFY"));
    login(&mut client, "reader", "r").void();
    client.call("insert", &insert("Standard1")).void();
    fs::remove_file(directory.path().join("access")).unwrap();
    assert_eq!(login(&mut client, "reader", "r").thrown(1), "the server cannot read its access file");
    client.call("insert", &insert("Standard1")).void();
}

#[test]
fn without_an_authority_a_login_is_enough() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("passwd"), PASSWD).unwrap();
    let authority = |class: &str| format!("{SIMPLE}<Authority>{class}</Authority>");
    let config = storage_conf(&authority("org.apache.cassandra.auth.AllowAllAuthority"));
    let server = Server::start(directory.path(), &config, &["--ephemeral", "--passwd", "passwd"]);
    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &one(text("Keyspace1"))).void();
    assert_eq!(client.call("insert", &insert("Standard1")).why(), "You have not logged in");
    login(&mut client, "nobody", "n").void();
    client.call("insert", &insert("Standard1")).void();
    client.call("system_add_keyspace", &one(ks_def("Made", vec![]))).value();
    let mut old = server.client(Style::UNFRAMED);
    old_login(&mut old, "Keyspace1", "nobody", "wrong").thrown(1);
    old_login(&mut old, "Keyspace1", "nobody", "n").void();
    drop(server);

    let fail = |config: &str, part: &str| {
        fs::write(directory.path().join("storage-conf.xml"), storage_conf(config)).unwrap();
        let (status, output) = Server::fail(directory.path(), &["--ephemeral", "--passwd", "passwd"]);
        assert!(!status.success() && output.contains(part), "{output}");
    };
    fail(&authority("SimpleAuthority"), "--access FILE");
    fail("<Authority>SimpleAuthority</Authority>", "needs SimpleAuthenticator");
    fail(&authority("SimpelAuthority"), "did you mean SimpleAuthority?");
}
