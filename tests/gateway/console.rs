//! The console of a gateway: statements are run by the cluster, as those of clients are.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use base::compat::features::ReportedVersion;
use base::schema::Catalog;
use base::util::meter::RequestLimits;
use bytes::Bytes;
use console::metrics::ServerReadings;
use console::{
    ADMIN_TIMES, AdminAccess, AdminParts, AdminState, ConsoleSettings, Served, StatusPage, admin_service,
};
use db::Database;
use net::{Admission, Listener, Shutdown};
use server::thrift::Compat;
use store::{RemoteOutcome, RemoteRows};
use tokio::runtime::Runtime;
use web::HostNames;

use super::remote_support::Cluster;
use super::requests;
use super::statements::{Bench, column};
use super::support::client::PATIENCE;

/// The console of a database, whose visitors may change data.
struct Console {
    address: SocketAddr,
    /// Keeps the server running.
    _shutdown: Shutdown,
}

impl Console {
    fn of(database: Arc<Database>, runtime: &Runtime) -> Console {
        let _inside = runtime.enter();
        let shutdown = Shutdown::new();
        let admission = || shutdown.signal().unwrap();
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let limits = RequestLimits::default();
        let compat = Compat::default();
        let served = Served {
            thrift: listener.address,
            native: None,
            status: None,
            control: None,
            admin: Some(listener.address),
            is_encrypted: false,
            compat,
            reported: ReportedVersion::default(),
        };
        let parts = AdminParts {
            status: StatusPage::new(database.clone(), "a cluster"),
            database,
            access: AdminAccess::new(None, false),
            served,
            control: None,
            server: ServerReadings::new(Admission::new(admission()), limits.memory.clone()),
            console: ConsoleSettings { limits, compat, may_change: true },
        };
        let address = listener.address;
        let service = admin_service(
            &Arc::new(AdminState::new(parts)),
            HostNames::new("--admin-host", None),
            ADMIN_TIMES,
        );
        let _entered = runtime.enter();
        listener.start(service, Admission::for_admin(admission()));
        Console { address, _shutdown: shutdown }
    }

    fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    fn get(&self, path: &str) -> String {
        let host = self.address;
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// Returns the reply to `GET /ask` with these fields.
    fn ask(&self, fields: &[(&str, &str)]) -> String {
        self.get(&format!("/ask?{}", encoded(fields)))
    }

    /// Returns the reply to the button that runs a statement with changes.
    fn run(&self, statement: &str) -> String {
        let page = self.ask(&[]);
        let cookie = page.split("set-cookie: ").nth(1).or(page.split("Set-Cookie: ").nth(1)).unwrap();
        let cookie = cookie.split(';').next().unwrap();
        let csrf = page.split("name=\"csrf\" content=\"").nth(1).unwrap().split('"').next().unwrap();
        let body = encoded(&[("csrf", csrf), ("cql", statement)]);
        self.send(&format!(
            "POST /ask HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: {cookie}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        ))
    }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let value = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let fields: Vec<String> = fields.iter().map(|(name, text)| format!("{name}={}", value(text))).collect();
    fields.join("&")
}

#[track_caller]
fn has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
}

#[test]
fn the_cluster_runs_statements_on_tables_that_only_it_has() {
    let bench = Bench::new();
    let console = Console::of(bench.service.database.clone(), &bench.runtime);
    let row = vec![Some(Bytes::from_static(b"emma")), None];
    let rows = RemoteRows {
        columns: vec![column("title", "UTF8Type"), column("year", "Int32Type")],
        rows: vec![row],
    };
    let select = "SELECT title, year FROM \"theirs\".books";
    bench.script.answer(select, Ok(RemoteOutcome::Rows(rows.clone())));
    let page = console.ask(&[("keyspace", "theirs"), ("cql", "SELECT title, year FROM books")]);
    has(&page, &[" 200 OK", "emma", "<span class=\"void\">null</span>", "1 row."]);
    has(&page, &["This server is a gateway: its cluster plans and runs CQL"]);
    assert!(!page.contains("id=\"explanation") && !page.contains(">CQL 2<"), "{page}");
    let fields = [("keyspace", "theirs"), ("cql", "SELECT title, year FROM books")];
    let cells = console.ask(&[&fields[..], &[("view", "cells")]].concat());
    has(&cells, &["The cluster has read the cells of this result, and does not return them."]);
    has(&console.ask(&[&fields[..], &[("view", "json")]].concat()), &["&#34;title&#34;: &#34;emma&#34;"]);
    // A statement that only the cluster can parse.
    let nearest = "SELECT title, year FROM theirs.books WHERE v ANN OF [1.0] LIMIT 1";
    bench.script.answer(nearest, Ok(RemoteOutcome::Rows(rows)));
    has(&console.ask(&[("cql", nearest)]), &[" 200 OK", "emma"]);
    assert_eq!(bench.script.texts(), [select, select, select, nearest]);
}

#[test]
fn nodes_are_shown_with_what_they_have_answered() {
    let bench = Bench::new();
    let console = Console::of(bench.service.database.clone(), &bench.runtime);
    let page = console.get("/cluster");
    has(&page, &[" 200 OK", "<li><a href=\"/cluster\" aria-current=\"page\">Cluster</a>", "east, r1"]);
    has(&page, &["<td class=\"number\">1,234</td>\n<td class=\"number\">1.5 ms</td>"]);
    has(&page, &["2 read_timeout, 1 unavailable", "<strong>not connected</strong>"]);
    has(&page, &["answer in time</dt>\n<dd>3</dd>", "<dt>LOCAL_QUORUM</dt>\n<dd>4,321</dd>"]);
    let metrics = console.get("/metrics");
    for line in [
        "thriftstore_cluster_requests_timed_out_total 3.0\n",
        "thriftstore_cluster_attempts_total{consistency=\"LOCAL_QUORUM\"} 4321",
        "thriftstore_cluster_node_answers_total{node=\"10.0.0.1:9042\"} 1234",
        "thriftstore_cluster_node_answers_total{node=\"10.0.0.2:9042\"} 0",
        "thriftstore_cluster_node_seconds_total{node=\"10.0.0.1:9042\"} 2.5",
        "thriftstore_cluster_node_errors_total{node=\"10.0.0.1:9042\",kind=\"read_timeout\"} 2",
    ] {
        has(&metrics, &[line]);
    }
}

#[test]
fn questions_by_get_send_no_changes_to_the_cluster() {
    let bench = Bench::new();
    let console = Console::of(bench.service.database.clone(), &bench.runtime);
    for change in [
        "INSERT INTO theirs.books (title) VALUES ('emma')",
        "INSERT INTO theirs.books JSON '{}' DEFAULT UNSET",
        "TRUNCATE theirs.books",
        "CREATE MATERIALIZED VIEW v AS SELECT * FROM t",
    ] {
        let page = console.ask(&[("cql", change)]);
        has(&page, &[" 400 ", "Nothing was sent to it.", "its cluster plans and runs statements"]);
    }
    let page = console.ask(&[("with", "cql2"), ("cql", "SELECT * FROM Served")]);
    has(&page, &[" 400 ", "its cluster only runs CQL 3: ask in CQL, or by a Thrift call"]);
    let page = console.ask(&[("cql", "SELECT * FROM thriftstore.notes")]);
    has(&page, &[" 403 ", "the keyspace thriftstore is not open to clients of this server"]);
    assert_eq!(bench.script.texts(), <[String; 0]>::default());
    let insert = "INSERT INTO theirs.books (title) VALUES ('emma')";
    has(&console.run(insert), &[" 200 OK", "Done. The statement has no result."]);
    assert_eq!(bench.script.texts(), [insert]);
}

#[test]
fn thrift_calls_are_run_and_explained_as_on_other_servers() {
    let runtime = Runtime::new().unwrap();
    let cluster = Cluster::new();
    let database = runtime.block_on(requests::gateway(&cluster));
    runtime.block_on(requests::insert(&database, "anna", "state", "UT"));
    let console = Console::of(database, &runtime);
    let place = [("with", "thrift"), ("keyspace", "Ks"), ("family", "People")];
    // The cluster checks the levels: it has three replicas.
    let slice = [("method", "get_slice"), ("keys", "anna"), ("level", "QUORUM")];
    has(&console.ask(&[&place[..], &slice].concat()), &[" 200 OK", ">UT<", "Read one row"]);
    let indexed = [("method", "get_indexed_slices"), ("filter", "state = UT")];
    has(&console.ask(&[&place[..], &indexed].concat()), &[" 200 OK", ">UT<", "anna"]);
    assert!(cluster.take_log().iter().any(|line| line.starts_with("index from key")));
}

#[test]
fn a_call_finds_a_column_family_that_another_gateway_has_just_created() {
    let runtime = Runtime::new().unwrap();
    let cluster = Cluster::new();
    let console = Console::of(runtime.block_on(cluster.gateway(Catalog::default())), &runtime);
    let other = runtime.block_on(requests::gateway(&cluster));
    runtime.block_on(requests::insert(&other, "anna", "state", "UT"));
    let fields = [("with", "thrift"), ("keyspace", "Ks"), ("family", "People"), ("keys", "anna")];
    has(&console.ask(&fields), &[" 200 OK", ">UT<"]);
}
