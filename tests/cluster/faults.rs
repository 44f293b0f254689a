//! Gateways of a ring whose nodes are killed, freeze and return.
// ring: --nodes 3
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cluster_support;
use crate::gateway;
use crate::support;
use cluster_support::own_name;
use gateway::{Modern, Old, cf_def, counters_def, eventually, exception, ks_def, ring, value};
use support::Chance;
use support::calls::{ALL, ONE, QUORUM, columns};
use support::client::Reply;
use support::server::{Server, wait_for_log};

/// Writes that are to be acknowledged while a node is killed and returns.
const WRITES: u64 = 100_000;
const WRITERS: usize = 12;
const READERS: usize = 2;
const COUNTERS: usize = 2;
/// How long one who counts rests: an addition costs the ring more than other writes.
const COUNT_PAUSE: Duration = Duration::from_millis(10);
/// How long all go on once the killed node is back.
const AFTER_RETURN: Duration = Duration::from_secs(5);
/// Columns of each writer that are written again and again.
const REGISTERS: u64 = 8;
/// Columns of a row that are written once.
const ROW: u64 = 1000;

/// The fields of exceptions.
const OLD_INSERT: (i16, i16) = (2, 3);
const GET: (i16, i16) = (3, 4);
const MODERN_WRITE: (i16, i16) = (2, 3);

/// Says that it is over, however a test ends: threads that go on until then would otherwise be waited for.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The ring is whole before each test, and a keyspace of its own is made.
fn begin(what: &str, directory: &Path, nodes: &[String]) -> (Server, String) {
    ring(&["heal"]);
    let gateway = gateway::start(directory, nodes, "");
    let keyspace = own_name(what);
    let families = vec![cf_def(&keyspace, "Cf"), counters_def(&keyspace, "Counts")];
    Modern::idle(&gateway).call("system_add_keyspace", ks_def(&keyspace, families)).value();
    (gateway, keyspace)
}

/// What the writers have been told.
struct Journal {
    /// How many writes are acknowledged.
    acknowledged: AtomicU64,
    /// The last acknowledged value of each register.
    registers: Vec<AtomicU64>,
    /// How many requests ended in an exception, and were sent again by their client.
    failures: AtomicU64,
    /// The longest that a request took, in milliseconds.
    slowest_ms: AtomicU64,
    reads: AtomicU64,
    is_over: AtomicBool,
}

impl Journal {
    fn new() -> Journal {
        Journal {
            acknowledged: AtomicU64::new(0),
            registers: (0..WRITERS as u64 * REGISTERS).map(|_| AtomicU64::new(0)).collect(),
            failures: AtomicU64::new(0),
            slowest_ms: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::SeqCst) || self.acknowledged.load(Ordering::SeqCst) < WRITES
    }

    fn wait_for(&self, acknowledged: u64) {
        while self.acknowledged.load(Ordering::SeqCst) < acknowledged {
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn time<T>(&self, request: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let answer = request();
        self.slowest_ms.fetch_max(began.elapsed().as_millis() as u64, Ordering::Relaxed);
        answer
    }
}

enum AnyClient {
    Old(Old),
    Modern(Modern),
}

impl AnyClient {
    fn insert(&mut self, at: (&str, &str), value: &str, stamp: i64) -> Reply {
        match self {
            AnyClient::Old(old) => old.insert("Cf", at, value, stamp, QUORUM),
            AnyClient::Modern(modern) => modern.insert("Cf", at, value, stamp, QUORUM),
        }
    }
}

/// A register's place.
fn register(number: usize) -> (String, &'static str) {
    (format!("register{number}"), "value")
}

/// Where a writer's own column stands that is written once.
fn own_column(writer: usize, step: u64) -> (String, String) {
    (format!("writer{writer} row{}", step / ROW), format!("{step:07}"))
}

/// Writes, every second time to a register, until all is over; answers with how many steps it took.
fn write(writer: usize, mut client: AnyClient, journal: &Journal) -> u64 {
    let mut step = 0;
    while journal.goes_on() {
        step += 1;
        let number = writer * REGISTERS as usize + (step / 2 % REGISTERS) as usize;
        let (key, name) = if step % 2 == 0 {
            let (key, name) = register(number);
            (key, name.to_owned())
        } else {
            own_column(writer, step)
        };
        // The same write again until it is acknowledged.
        loop {
            let reply = journal.time(|| client.insert((&key, &name), &step.to_string(), step as i64));
            match exception(&reply) {
                None => break,
                Some(2 | 3) => journal.failures.fetch_add(1, Ordering::SeqCst),
                Some(_) => panic!("{reply:?}"),
            };
        }
        if step % 2 == 0 {
            journal.registers[number].store(step, Ordering::SeqCst);
        }
        journal.acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    step
}

/// Reads registers, none of which may go back behind what was acknowledged before.
fn read(mut client: Modern, journal: &Journal, seed: u64) {
    let mut chance = Chance::new(seed);
    while journal.goes_on() {
        let number = chance.below(journal.registers.len());
        let (key, name) = register(number);
        let floor = journal.registers[number].load(Ordering::SeqCst);
        let reply = journal.time(|| client.get("Cf", (&key, name), QUORUM));
        if exception(&reply).is_some_and(|field| field == GET.0 || field == GET.1) {
            journal.failures.fetch_add(1, Ordering::SeqCst);
            continue;
        }
        let found = value(&reply).map_or(0, |value| value.parse().unwrap());
        assert!(found >= floor, "register {number} has {found} after {floor} was acknowledged");
        journal.reads.fetch_add(1, Ordering::SeqCst);
    }
}

/// Counts; answers with how many additions are acknowledged, and with those whose outcome is not known.
fn count(mut client: Modern, name: &str, journal: &Journal) -> (i64, i64) {
    let (mut acknowledged, mut unsure) = (0, 0);
    while journal.goes_on() {
        let reply = journal.time(|| client.add("Counts", ("row", name), QUORUM));
        match exception(&reply) {
            None => acknowledged += 1,
            // Nothing was done.
            Some(2) => {}
            Some(3) => unsure += 1,
            Some(_) => panic!("{reply:?}"),
        }
        thread::sleep(COUNT_PAUSE);
    }
    (acknowledged, unsure)
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn nothing_acknowledged_is_lost_when_a_node_is_killed_and_returns() {
    let directory = tempfile::tempdir().unwrap();
    let (gateway, keyspace) = begin("killed", directory.path(), &cluster_support::ring());
    let journal = Journal::new();
    thread::scope(|scope| {
        let over = Over(&journal.is_over);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let client = match writer % 2 {
                    0 => AnyClient::Old(Old::connect(&gateway, &keyspace)),
                    _ => AnyClient::Modern(Modern::connect(&gateway, &keyspace)),
                };
                let journal = &journal;
                scope.spawn(move || write(writer, client, journal))
            })
            .collect();
        for seed in 0..READERS {
            let (client, journal) = (Modern::connect(&gateway, &keyspace), &journal);
            scope.spawn(move || read(client, journal, seed as u64));
        }
        let counters: Vec<_> = (0..COUNTERS)
            .map(|number| {
                let (client, journal) = (Modern::connect(&gateway, &keyspace), &journal);
                scope.spawn(move || count(client, &format!("counter{number}"), journal))
            })
            .collect();
        journal.wait_for(WRITES / 8);
        ring(&["kill", "2"]);
        ring(&["wait"]);
        all_needs_each_node(&gateway, &keyspace);
        let while_down = journal.acknowledged.load(Ordering::SeqCst);
        journal.wait_for(while_down + WRITES / 8);
        ring(&["start-node", "2"]);
        // A node that has forgotten additions tells so only when it leads others.
        thread::sleep(AFTER_RETURN);
        drop(over);
        let steps: Vec<u64> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        let counts: Vec<_> = counters.into_iter().map(|counter| counter.join().unwrap()).collect();
        println!(
            "{} writes and {} reads, {} exceptions, the slowest request took {} ms; counters: {counts:?}",
            journal.acknowledged.load(Ordering::SeqCst),
            journal.reads.load(Ordering::SeqCst),
            journal.failures.load(Ordering::SeqCst),
            journal.slowest_ms.load(Ordering::SeqCst),
        );
        assert_eq!(steps.iter().sum::<u64>(), journal.acknowledged.load(Ordering::SeqCst));
        let began = Instant::now();
        check_all(&gateway, &keyspace, &journal, &steps);
        check_counters(&gateway, &keyspace, &counts);
        println!("checked in {:.1} s", began.elapsed().as_secs_f64());
    });
    gateway.stop();
}

/// At ALL with a node down, clients of every generation are told so.
fn all_needs_each_node(gateway: &Server, keyspace: &str) {
    let mut old = Old::connect(gateway, keyspace);
    let at = ("all", "name");
    assert_eq!(exception(&old.insert("Cf", at, "value", 1, ALL)), Some(OLD_INSERT.0));
    assert_eq!(exception(&old.get("Cf", at, ALL)), Some(GET.0));
    assert_eq!(exception(&old.insert("Cf", at, "value", 1, QUORUM)), None);
    let mut modern = Modern::connect(gateway, keyspace);
    assert_eq!(exception(&modern.insert("Cf", at, "value", 1, ALL)), Some(MODERN_WRITE.0));
    assert_eq!(exception(&modern.add("Counts", at, ALL)), Some(MODERN_WRITE.0));
    assert_eq!(exception(&modern.get("Cf", at, ALL)), Some(GET.0));
    assert_eq!(value(&modern.get("Cf", at, QUORUM)).as_deref(), Some("value"));
    // It takes all nodes.
    let reply = modern.call("truncate", support::value::text("Counts"));
    assert_eq!(exception(&reply), Some(2));
}

/// Every column that was written once is there, and every register has its last value.
fn check_all(gateway: &Server, keyspace: &str, journal: &Journal, steps: &[u64]) {
    let mut client = Modern::connect(gateway, keyspace);
    for (writer, last) in steps.iter().enumerate() {
        for row in 0..=last / ROW {
            let expected: Vec<(String, String)> = (row * ROW..(row + 1) * ROW)
                .filter(|step| step % 2 == 1 && step <= last)
                .map(|step| (own_column(writer, step).1, step.to_string()))
                .collect();
            let (key, _) = own_column(writer, row * ROW);
            let reply = client.slice("Cf", &key, ROW as i32, QUORUM);
            let found: Vec<(String, String)> = columns(reply.value())
                .into_iter()
                .map(|(name, value)| (String::from_utf8(name).unwrap(), String::from_utf8(value).unwrap()))
                .collect();
            assert!(found == expected, "{key} has {} columns of {}", found.len(), expected.len());
        }
    }
    for (number, last) in journal.registers.iter().enumerate() {
        let (key, name) = register(number);
        let found = value(&client.get("Cf", (&key, name), QUORUM)).unwrap();
        assert_eq!(found, last.load(Ordering::SeqCst).to_string(), "{key}");
    }
}

/// No counter has lost what was acknowledged, and none has counted anything twice.
fn check_counters(gateway: &Server, keyspace: &str, counts: &[(i64, i64)]) {
    let mut client = Modern::connect(gateway, keyspace);
    for (number, (acknowledged, unsure)) in counts.iter().enumerate() {
        let reply = client.get("Counts", ("row", &format!("counter{number}")), QUORUM);
        let found = reply.value().field(3).field(2).int();
        let possible = *acknowledged..=acknowledged + unsure;
        assert!(possible.contains(&found), "counter {number} is {found}, not one of {possible:?}");
    }
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_frozen_node_is_gone_around() {
    let directory = tempfile::tempdir().unwrap();
    let (gateway, keyspace) = begin("frozen", directory.path(), &cluster_support::ring());
    let is_over = AtomicBool::new(false);
    let frozen_at = Instant::now();
    thread::scope(|scope| {
        let over = Over(&is_over);
        ring(&["freeze", "3"]);
        let clients: Vec<_> = (0..4)
            .map(|number| {
                let (client, is_over) = (Modern::connect(&gateway, &keyspace), &is_over);
                scope.spawn(move || go_on(client, number, is_over, frozen_at))
            })
            .collect();
        // The schema changes without the node, and it learns of that later.
        let mut modern = Modern::connect(&gateway, &keyspace);
        let began = Instant::now();
        modern.call("system_add_column_family", cf_def(&keyspace, "Late")).value();
        println!("a column family was made in {:.1} s", began.elapsed().as_secs_f64());
        assert_eq!(exception(&modern.insert("Late", ("key", "name"), "value", 1, QUORUM)), None);
        // Too slow, until the others hold the node for down.
        let told = exception(&modern.insert("Cf", ("all", "name"), "value", 1, ALL));
        assert!(told == Some(MODERN_WRITE.0) || told == Some(MODERN_WRITE.1), "{told:?}");
        thread::sleep(Duration::from_secs(2));
        drop(over);
        for client in clients {
            let (requests, timeouts, slowest, late) = client.join().unwrap();
            println!("{requests} requests, {timeouts} timed out, the slowest {slowest:?}, later {late:?}");
            assert!(slowest < Duration::from_secs(13), "{slowest:?}");
        }
        ring(&["thaw", "3"]);
        // It comes back without the column family, and whoever asks it is sent on.
        let thawed = Instant::now();
        while thawed.elapsed() < Duration::from_secs(3) {
            let reply = modern.insert("Late", ("thawed", "name"), "value", 1, QUORUM);
            assert_eq!(exception(&reply), None, "{reply:?}");
        }
        // When it asks the others for the schema is not for sure; a restart, which operators are advised, ends the matter.
        ring(&["stop-node", "3"]);
        ring(&["start-node", "3"]);
        eventually("all nodes are asked again", Duration::from_secs(60), || {
            exception(&modern.insert("Late", ("all", "name"), "value", 1, ALL)).is_none().then_some(())
        });
        // The node may have been asked to make the column family before others were, and have come to it last.
        assert_eq!(value(&modern.get("Late", ("key", "name"), ALL)).as_deref(), Some("value"));
        for number in 0..100 {
            let key = format!("key{number}");
            let reply = modern.insert("Late", (&key, "name"), "value", 1, ALL);
            assert_eq!(exception(&reply), None, "{reply:?}");
        }
    });
    gateway.stop();
}

/// Writes and reads until it is over. Answers with the number of requests, how many timed out, and the slowest of all
/// and of those that began when the node had been frozen for a while.
fn go_on(
    mut client: Modern,
    number: usize,
    is_over: &AtomicBool,
    since: Instant,
) -> (u64, u64, Duration, Duration) {
    let (mut requests, mut timeouts, mut step) = (0, 0, 0);
    let (mut slowest, mut late) = (Duration::ZERO, Duration::ZERO);
    while !is_over.load(Ordering::SeqCst) {
        step += 1;
        let key = format!("client{number} {step}");
        let began = Instant::now();
        let wrote = exception(&client.insert("Cf", (&key, "name"), "value", 1, QUORUM));
        assert!(matches!(wrote, None | Some(3)), "{wrote:?}");
        let half = began.elapsed();
        let reply = client.get("Cf", (&key, "name"), QUORUM);
        let took = half.max(began.elapsed() - half);
        match exception(&reply) {
            Some(4) => timeouts += 1,
            _ if wrote.is_none() => assert_eq!(value(&reply).as_deref(), Some("value"), "{key}"),
            _ => {}
        }
        requests += 2;
        timeouts += u64::from(wrote.is_some());
        slowest = slowest.max(took);
        if began - since > Duration::from_secs(9) {
            late = late.max(took);
        }
    }
    (requests, timeouts, slowest, late)
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn fronts_outlive_their_contact_points() {
    let (directory, waiting, ended) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let nodes = cluster_support::ring();
    let (gateway, keyspace) = begin("points", directory.path(), &nodes[..2]);
    let mut old = Old::connect(&gateway, &keyspace);
    let mut modern = Modern::connect(&gateway, &keyspace);
    let at = ("key", "name");
    assert_eq!(exception(&old.insert("Cf", at, "before", 1, ALL)), None);
    ring(&["kill", "1"]);
    ring(&["kill", "2"]);
    ring(&["wait"]);
    // The one that is left was found through those that are gone.
    assert_eq!(exception(&old.insert("Cf", at, "after", 2, ONE)), None);
    assert_eq!(value(&modern.get("Cf", at, ONE)).as_deref(), Some("after"));
    for level in [QUORUM, ALL] {
        assert_eq!(exception(&old.insert("Cf", at, "never", 3, level)), Some(OLD_INSERT.0));
        assert_eq!(exception(&old.get("Cf", at, level)), Some(GET.0));
        assert_eq!(exception(&modern.insert("Cf", at, "never", 3, level)), Some(MODERN_WRITE.0));
        assert_eq!(exception(&modern.get("Cf", at, level)), Some(GET.0));
        assert_eq!(exception(&modern.add("Counts", at, level)), Some(MODERN_WRITE.0));
    }
    assert!(matches!(
        modern.call("system_add_column_family", cf_def(&keyspace, "Later")),
        Reply::Exception { .. }
    ));

    thread::scope(|scope| {
        let late = scope.spawn(|| {
            let late = gateway::start(waiting.path(), &nodes[..2], "");
            let mut client = Modern::connect(&late, &keyspace);
            // What was written at ONE is on the node that was left, and at ALL that is asked too.
            let found = eventually("the late gateway serves", Duration::from_secs(60), || {
                let reply = client.get("Cf", at, ALL);
                matches!(exception(&reply), None | Some(2)).then(|| value(&reply))
            });
            late.stop();
            found
        });
        // One that waits ends when it is told to.
        std::fs::write(ended.path().join("storage-conf.xml"), gateway::config(&nodes[..2], "")).unwrap();
        let mut hopeless = Server::spawn_silent(ended.path(), &["--cluster", &nodes[..2].join(",")]);
        wait_for_log(ended.path(), "cannot reach the cluster");
        let pid = rustix::process::Pid::from_raw(hopeless.id().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = eventually("it ends", Duration::from_secs(10), || hopeless.try_wait().unwrap());
        assert!(status.success(), "{status}");
        wait_for_log(waiting.path(), "cannot reach the cluster");
        ring(&["heal"]);
        assert_eq!(late.join().unwrap().as_deref(), Some("after"));
    });
    eventually("all nodes are asked again", Duration::from_secs(60), || {
        exception(&modern.insert("Cf", at, "at last", 4, ALL)).is_none().then_some(())
    });
    modern.call("system_add_column_family", cf_def(&keyspace, "Later")).value();
    assert_eq!(exception(&modern.insert("Later", at, "value", 1, ALL)), None);
    gateway.stop();
}
