//! `thriftstore move`: an application moves from one server to another while it runs, and loses nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::queue::{
    Flags, SCHEMA, candidate, check_cells, check_old, connect, count, delete_old, ended, fill_old, get,
    insert_arguments, primary, run, wait_for, writers,
};
use crate::support;
use support::client::PATIENCE;
use support::native::{NativeClient, Packing, opcode};
use support::native_body::{Asked, Body, int};

/// The proxy of a move. Dropping it kills the process.
struct Proxy {
    child: Child,
    output: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    fn start(directory: &Path, listen: &str) -> Proxy {
        Proxy::start_with(directory, listen, &[])
    }

    fn start_with(directory: &Path, listen: &str, more: &[&str]) -> Proxy {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.args([
            "move",
            "start",
            directory.to_str().unwrap(),
            "--listen",
            listen,
            "--timeout-ms",
            "2000",
        ]);
        command.args(more);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening for Thrift clients on ")
            .unwrap_or_else(|| panic!("{line:?}"));
        Proxy { child, address: address.parse().unwrap(), output }
    }

    /// Returns the address of the native protocol, which the proxy prints next.
    fn native_address(&mut self) -> SocketAddr {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().strip_prefix("listening for CQL clients on ").unwrap().parse().unwrap()
    }
}

/// Runs a step. Returns whether it succeeded, and what it has printed.
fn try_step(step: &str, directory: &Path, more: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_thriftstore"))
        .args(["move", step, directory.to_str().unwrap()])
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.success(), text)
}

fn step(step: &str, directory: &Path, more: &[&str]) -> String {
    let (succeeded, text) = try_step(step, directory, more);
    assert!(succeeded, "{step}: {text}");
    text
}

/// Waits until both queues are empty.
fn wait_until_sent(directory: &Path) {
    let end = Instant::now() + PATIENCE;
    loop {
        let text = step("status", directory, &[]);
        if text.matches(" 0 waiting").count() == 2 {
            return;
        }
        assert!(Instant::now() < end, "{text}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn an_application_moves_under_traffic_and_back() {
    let (primary, directories) = (primary(), tempfile::tempdir().unwrap());
    let (directory, home) = (directories.path().join("moving"), directories.path().join("new"));
    fs::create_dir(&home).unwrap();
    let mut new = candidate(&home, None);
    let address = new.address;
    fill_old(&mut connect(primary.thrift_address()));
    let (from, to) = (format!("thrift:{}", primary.thrift_address()), format!("thrift:{address}"));
    let text = run(&["move", "plan", directory.to_str().unwrap(), "--from", &from, "--to", &to]);
    assert!(text.contains(" column families:") && text.contains("k.Counts: counters"), "{text}");
    assert!(text.contains("will be created") && text.contains("Not moved: users"), "{text}");
    let (succeeded, text) = try_step("backfill", &directory, &[]);
    assert!(!succeeded && text.contains("the proxy does not run"), "{text}");

    // Double writes begin, then old rows are deleted while they are copied.
    let proxy = Proxy::start(&directory, "127.0.0.1:0");
    let listen = proxy.address;
    let flags = Arc::new(Flags::default());
    let writers = writers(listen, &flags);
    wait_for(&flags.done, 200);
    let (succeeded, text) = try_step("cutover", &directory, &[]);
    assert!(!succeeded && text.contains("the servers were not compared"), "{text}");
    delete_old(&mut connect(listen));
    step("backfill", &directory, &["--rate", "20"]);
    // The new server is killed, and comes back; then the proxy.
    drop(new);
    wait_for(&flags.done, 200);
    new = candidate(&home, Some(address));
    wait_for(&flags.done, 200);
    drop(proxy);
    let proxy = Proxy::start(&directory, &listen.to_string());
    wait_for(&flags.done, 200);
    // Nobody adds to counters while they are compared.
    flags.rests.store(true, Ordering::Relaxed);
    wait_for(&flags.done, 20);
    wait_until_sent(&directory);
    let text = step("verify", &directory, &["--repair-after", "2"]);
    assert!(text.contains("both servers have the same data"), "{text}");
    flags.rests.store(false, Ordering::Relaxed);

    let running = fs::File::create(directory.join("step.lock")).unwrap();
    running.lock().unwrap();
    for other in ["cutover", "backfill", "verify"] {
        let (succeeded, text) = try_step(other, &directory, &[]);
        assert!(!succeeded && text.contains("another step of the move"), "{other}: {text}");
    }
    drop(running);
    step("cutover", &directory, &[]);
    assert!(step("status", &directory, &[]).contains("the new server answers"));
    wait_for(&flags.done, 200);
    // A proxy that is killed remembers who answers.
    drop(proxy);
    let proxy = Proxy::start(&directory, &listen.to_string());
    wait_for(&flags.done, 200);
    let (succeeded, text) = try_step("backfill", &directory, &[]);
    assert!(!succeeded && text.contains("the new server answers already"), "{text}");
    let models = ended(writers, &flags);
    wait_until_sent(&directory);
    // Columns with a time to live have expired.
    std::thread::sleep(Duration::from_millis(2_500));
    for server in [address, primary.thrift_address()] {
        let mut server = connect(server);
        assert!(check_cells(&mut server, &models) > 100);
        check_old(&mut server);
    }
    let mut direct = connect(address);
    for model in &models {
        for (key, added) in &model.added {
            let (found, tried) = (count(&mut direct, key), model.tried[key]);
            assert!(found >= *added && found <= tried, "{key}: {found} of {added}, {tried} tried");
        }
    }
    assert!((0..300).all(|number| count(&mut direct, &format!("old{number}")) == 3));

    // The way back, with a write that only the new server has answered.
    let mut client = connect(listen);
    client.call("insert", &insert_arguments("back", "c", "v", 7)).void();
    let (succeeded, text) = try_step("back", &directory, &[]);
    assert!(!succeeded && text.contains("the proxy was killed"), "{text}");
    // A row that only the old server has, and one that only the new one has.
    for (server, key) in [(primary.thrift_address(), "only-old"), (address, "only-new")] {
        connect(server).call("insert", &insert_arguments(key, "c", "v", 7)).void();
    }
    step("verify", &directory, &["--repair-after", "1"]);
    let mut old = connect(primary.thrift_address());
    assert_eq!(get(&mut old, "only-old", "c"), None);
    assert_eq!(get(&mut old, "only-new", "c").as_deref(), Some(&b"v"[..]));
    step("back", &directory, &[]);
    assert_eq!(get(&mut connect(primary.thrift_address()), "back", "c").as_deref(), Some(&b"v"[..]));
    assert!(
        client.try_call("describe_cluster_name", &support::value::fields([])).is_err(),
        "the connection is closed"
    );
    let mut client = connect(listen);
    client.call("insert", &insert_arguments("again", "c", "v", 8)).void();
    assert_eq!(get(&mut connect(primary.thrift_address()), "again", "c").as_deref(), Some(&b"v"[..]));
    let (succeeded, text) = try_step("finish", &directory, &[]);
    assert!(!succeeded && text.contains("the old server answers"), "{text}");
    step("cutover", &directory, &["--force"]);
    assert_eq!(get(&mut connect(address), "again", "c").as_deref(), Some(&b"v"[..]));
    assert!(step("finish", &directory, &[]).contains("finished"));
    drop(proxy);
    new.stop();
}

/// Returns the rows of a statement, sorted.
fn rows(address: SocketAddr, text: &str) -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows = NativeClient::ready(address, 4).rows(text).rows;
    rows.sort();
    rows
}

#[test]
fn an_application_of_the_native_protocol_moves() {
    let (old, new, directories) = (primary(), primary(), tempfile::tempdir().unwrap());
    let directory = directories.path().join("moving");
    old.cql(
        "CREATE TABLE k.t (p int, c int, s text static, v text, m map<text, int>, PRIMARY KEY (p, c));
         CREATE TABLE k.n (p int PRIMARY KEY, n counter);
         CREATE INDEX t_v ON k.t (v);
         CREATE TYPE k.point (x int, y int);
         CREATE TYPE k.place (at frozen<point>, name text);
         CREATE TABLE k.u (p int PRIMARY KEY, home frozen<place>, all map<text, frozen<place>>);
         INSERT INTO k.u (p, home, all) VALUES (1, {at: {x: 1, y: 2}, name: 'n'}, {'a': {name: 'm'}}) USING TIMESTAMP 7;
         INSERT INTO k.t (p, c, s, v, m) VALUES (1, 1, 'static', 'old', {'a': 1, 'b': 2}) USING TIMESTAMP 7;
         INSERT INTO k.t (p, c, v) VALUES (1, 2, 'expires') USING TTL 1000;
         INSERT INTO k.t (p, c, v) VALUES (1, 3, 'deleted');
         UPDATE k.n SET n = n + 5 WHERE p = 1",
    )
    .unwrap();
    let (from, to) = (format!("thrift:{}", old.thrift_address()), format!("thrift:{}", new.thrift_address()));
    let [from_cql, to_cql] = [&old, &new].map(|server| server.native_address().to_string());
    let plan = ["--from", &from, "--to", &to, "--from-cql", &from_cql, "--to-cql", &to_cql];
    let text = step("plan", &directory, &plan);
    assert!(text.contains("k.t: Standard") && text.contains("k.n: counters"), "{text}");
    let mut proxy = Proxy::start_with(&directory, "127.0.0.1:0", &["--listen-cql", "127.0.0.1:0"]);
    let listen = proxy.native_address();

    let mut client = NativeClient::ready(listen, 4);
    client.run("USE k");
    client.run("DELETE FROM t WHERE p = 1 AND c = 3");
    let insert = client.prepare("INSERT INTO t (p, c, v) VALUES (2, ?, 'prepared')");
    for number in 0..5 {
        client.execute(&insert, &Asked::values([int(number)])).void();
    }
    client.run("UPDATE n SET n = n + 1 WHERE p = 1");
    client.run("INSERT INTO t (p, c, v) VALUES (3, 1, 'condition') IF NOT EXISTS");
    wait_until_sent(&directory);
    step("backfill", &directory, &[]);
    let (succeeded, text) = try_step("cutover", &directory, &["--force"]);
    assert!(succeeded, "{text}");
    step("back", &directory, &["--force"]);
    step("verify", &directory, &["--repair-after", "1"]);
    step("cutover", &directory, &[]);

    assert_eq!(client.next(), None, "the connection is closed");
    let mut client = NativeClient::ready(listen, 4);
    client.run("USE k");
    let select = client.prepare("SELECT c FROM t WHERE p = 2");
    let mut asked = Asked { page_size: Some(2), ..Asked::values([]) };
    let mut found = Vec::new();
    loop {
        let page = client.execute(&select, &asked).rows();
        found.extend(page.ints());
        asked.paging_state = page.metadata.paging_state;
        if asked.paging_state.is_none() {
            break;
        }
    }
    assert_eq!(found, [0, 1, 2, 3, 4]);
    let text = "SELECT p, c, s, v, m, writetime(v), ttl(v) FROM k.t";
    let there = rows(new.native_address(), text);
    let values: Vec<_> = there.iter().filter_map(|row| row[3].clone()).collect();
    assert_eq!(values.len(), 8, "{values:?}");
    let without_ttl = |rows: Vec<Vec<Option<Vec<u8>>>>| -> Vec<_> {
        rows.into_iter().map(|row| (row[..6].to_vec(), row[6].is_some())).collect()
    };
    assert_eq!(without_ttl(there), without_ttl(rows(old.native_address(), text)));
    let places = "SELECT p, home, all FROM k.u";
    assert_eq!(rows(new.native_address(), places), rows(old.native_address(), places));
    let total = "SELECT n FROM k.n WHERE p = 1";
    assert_eq!(rows(listen, total), [vec![Some(6_i64.to_be_bytes().to_vec())]]);
    assert_eq!(rows(new.native_address(), "SELECT c FROM k.t WHERE v = 'old'").len(), 1, "by the index");
    client.run("INSERT INTO t (p, c, v) VALUES (4, 1, 'new')");
    step("back", &directory, &[]);
    assert_eq!(rows(listen, "SELECT v FROM k.t WHERE p = 4"), [vec![Some(b"new".to_vec())]]);
}

#[test]
fn prepared_statements_of_another_proxy_are_prepared_again() {
    let (old, new, directories) = (primary(), primary(), tempfile::tempdir().unwrap());
    let directory = directories.path().join("moving");
    old.cql("CREATE TABLE k.t (p int PRIMARY KEY, v text); CREATE TABLE k.large (p int PRIMARY KEY, v text)")
        .unwrap();
    let (from, to) = (format!("thrift:{}", old.thrift_address()), format!("thrift:{}", new.thrift_address()));
    let [from_cql, to_cql] = [&old, &new].map(|server| server.native_address().to_string());
    step("plan", &directory, &["--from", &from, "--to", &to, "--from-cql", &from_cql, "--to-cql", &to_cql]);
    let connections = [
        (1, Packing::None),
        (2, Packing::Snappy),
        (3, Packing::None),
        (4, Packing::Lz4),
        (5, Packing::None),
        (5, Packing::Lz4),
    ];
    let mut proxy = Proxy::start_with(&directory, "127.0.0.1:0", &["--listen-cql", "127.0.0.1:0"]);
    let listen = proxy.native_address();
    // Connections share the ids of texts.
    let text = |number: i32| format!("INSERT INTO t (p, v) VALUES (?, 'prepared {number}')");
    let mut numbers = 0..;
    let kept = connections.map(|(version, packing)| {
        let mut client = NativeClient::packed(listen, version, packing);
        client.run("USE k");
        client.prepare(&text(numbers.next().unwrap()))
    });
    NativeClient::ready(listen, 4)
        .run(&format!("INSERT INTO k.large (p, v) VALUES (1, '{}')", "0123456789".repeat(30_000)));
    drop(proxy);

    let mut proxy = Proxy::start_with(&directory, "127.0.0.1:0", &["--listen-cql", &listen.to_string()]);
    assert_eq!(proxy.native_address(), listen);
    for ((number, (version, packing)), kept) in (0..).zip(connections).zip(&kept) {
        let mut client = NativeClient::packed(listen, version, packing);
        client.run("USE k");
        let asked = |number| Asked::values([int(number)]);
        // The proxy replies while the server sends long frames.
        let select = client.query_body("SELECT v FROM large", &Asked::values([]));
        let execute = client.execute_body(kept, &asked(number));
        for stream in 0..10 {
            client.send(2 * stream, opcode::QUERY, &select.0);
            client.send(2 * stream + 1, opcode::EXECUTE, &execute.0);
        }
        let answers: Vec<_> = (0..20).map(|_| client.receive()).collect();
        for answer in answers {
            if answer.stream % 2 == 0 {
                assert_eq!(answer.rows().rows[0][0].as_ref().unwrap().len(), 300_000);
                continue;
            }
            let (code, _, id) = answer.error();
            assert_eq!((code, id), (0x2500, Body::new().short_bytes(&kept.id).0), "version {version}");
        }
        if version > 1 {
            let batch =
                Body::new().u8(0).u16(1).u8(1).short_bytes(&kept.id).values(&[int(10 + number)]).u16(1);
            let batch = if version > 2 { batch.flags(version, 0) } else { batch };
            assert_eq!(client.call(opcode::BATCH, batch.clone()).error().0, 0x2500, "version {version}");
            let again = client.prepare(&text(number));
            client.call(opcode::BATCH, batch).void();
            client.execute(&again, &asked(number)).void();
        } else {
            let again = client.prepare(&text(number));
            client.execute(&again, &asked(number)).void();
        }
    }
    // The status is half a second old at most.
    std::thread::sleep(Duration::from_secs(1));
    wait_until_sent(&directory);
    let status = step("status", &directory, &[]);
    assert!(
        status.contains("compare again: k.t (1 writes)") && status.matches("compare again").count() == 2,
        "{status}"
    );
    assert_eq!(rows(old.native_address(), "SELECT p FROM k.t").len(), 11);
    assert_eq!(rows(new.native_address(), "SELECT p FROM k.t").len(), 10, "version 1 is listed");
}

#[cfg(feature = "tls")]
#[test]
fn both_servers_may_require_tls() {
    use support::certificates::Authority;
    use support::server::Server;

    let directories = tempfile::tempdir().unwrap();
    let path = |name: &str| directories.path().join(name);
    let (directory, authority, other) = (path("moving"), Authority::new(), Authority::new());
    let [trusted, distrusted] = [("ca.pem", &authority), ("other.pem", &other)].map(|(name, authority)| {
        fs::write(path(name), authority.pem()).unwrap();
        path(name).to_str().unwrap().to_owned()
    });
    let [certificate, key] = authority.sign().write(directories.path());
    let mut servers = ["old", "new"].map(|name| {
        let home = path(name);
        fs::create_dir(&home).unwrap();
        let files = [certificate.to_str().unwrap(), key.to_str().unwrap()];
        let tls = ["--thrift", "0.0.0.0:0", "--tls-certificate", files[0], "--tls-key", files[1]];
        let config =
            support::server::storage_conf("").replace("<ReplicationFactor>5", "<ReplicationFactor>1");
        Server::start(&home, &config, &tls)
    });
    let [from_cql, to_cql] =
        servers.each_mut().map(|server| format!("localhost:{}", server.native_address().port()));
    let ports = servers.each_ref().map(|server| server.address.port());
    let plan = |host: &str, ca: &str| {
        let [from, to] = ports.map(|port| format!("thrift:{host}:{port}?tls-ca={ca}"));
        let cql = ["--from-cql", &from_cql, "--to-cql", &to_cql];
        try_step("plan", &directory, &[&["--from", &from, "--to", &to][..], &cql].concat())
    };
    for (host, ca) in [("localhost", &distrusted), ("127.0.0.2", &trusted)] {
        let (succeeded, text) = plan(host, ca);
        assert!(!succeeded && text.contains("invalid peer certificate"), "{host}: {text}");
    }
    let (succeeded, text) = plan("localhost", &trusted);
    assert!(succeeded, "{text}");
    let mut proxy = Proxy::start_with(&directory, "127.0.0.1:0", &["--listen-cql", "127.0.0.1:0"]);
    let mut native = NativeClient::ready(proxy.native_address(), 4);
    SCHEMA.split(';').for_each(|text| native.run(text));
    native.run("CREATE TABLE k.t (p int PRIMARY KEY, v text)");
    native.run("INSERT INTO k.t (p, v) VALUES (1, 'native')");
    let mut client = connect(proxy.address);
    client.call("insert", &insert_arguments("k", "c", "v", 7)).void();
    wait_until_sent(&directory);
    step("backfill", &directory, &[]);
    assert!(step("verify", &directory, &["--repair-after", "1"]).contains("the same data"));
    step("cutover", &directory, &[]);
    let mut client = connect(proxy.address);
    assert_eq!(get(&mut client, "k", "c").as_deref(), Some(&b"v"[..]));
    let listen = native.stream.peer_addr().unwrap();
    assert_eq!(rows(listen, "SELECT v FROM k.t"), [vec![Some(b"native".to_vec())]]);
}
