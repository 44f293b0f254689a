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
    Flags, candidate, check_cells, check_old, connect, count, delete_old, ended, fill_old, get,
    insert_arguments, primary, run, wait_for, writers,
};
use crate::support;
use support::client::PATIENCE;

/// The proxy of a move. Dropping it kills the process.
struct Proxy {
    child: Child,
    _output: BufReader<ChildStdout>,
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
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening for Thrift clients on ")
            .unwrap_or_else(|| panic!("{line:?}"));
        Proxy { child, address: address.parse().unwrap(), _output: output }
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
    let (succeeded, text) = try_step("verify", &directory, &[]);
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
    step("back", &directory, &["--force"]);
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
