//! Gateways of a ring whose nodes are killed, frozen and restarted.
// ring: --nodes 3
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{cluster_support, gateway, support};
use cluster_support::own_name;
use gateway::{Modern, Old, cf_def, counters_def, eventually, exception, ks_def, ring, value};
use support::Chance;
use support::calls::{ALL, ONE, QUORUM, columns};
use support::client::Reply;
use support::server::{Server, wait_for_log};

/// The number of writes that are acknowledged while a node is killed and restarted.
const WRITES: u64 = 100_000;
const WRITERS: usize = 12;
const READERS: usize = 2;
const COUNTERS: usize = 2;
/// The pause of a client that increments a counter. Increments cost the ring more than other writes.
const COUNT_PAUSE: Duration = Duration::from_millis(10);
/// How long all clients continue after the killed node is back.
const AFTER_RETURN: Duration = Duration::from_secs(5);
/// Number of columns that each writer overwrites repeatedly.
const REGISTERS: u64 = 8;
/// Number of columns in a row whose columns are written once.
const ROW: u64 = 1000;

/// The fields of UnavailableException and TimedOutException in results.
const OLD_INSERT: (i16, i16) = (2, 3);
const GET: (i16, i16) = (3, 4);
const MODERN_WRITE: (i16, i16) = (2, 3);

/// Sets a flag when dropped, even if a test panics. Otherwise the threads that run until then would never end.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Waits until all nodes of the ring are up, starts a gateway and creates a keyspace for the test.
fn begin(what: &str, directory: &Path, nodes: &[String]) -> (Server, String) {
    ring(&["heal"]);
    let gateway = gateway::start(directory, nodes, "");
    let keyspace = own_name(what);
    let families = vec![cf_def(&keyspace, "Cf"), counters_def(&keyspace, "Counts")];
    Modern::idle(&gateway).call("system_add_keyspace", ks_def(&keyspace, families)).value();
    (gateway, keyspace)
}

/// The answers that the writers have received.
struct Journal {
    /// The number of acknowledged writes.
    acknowledged: AtomicU64,
    /// The last acknowledged value of each register.
    registers: Vec<AtomicU64>,
    /// The number of requests that ended with an exception and were sent again.
    failures: AtomicU64,
    /// The longest time of a request, in milliseconds.
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

    fn is_running(&self) -> bool {
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

/// Returns the row key and column name of a register.
fn register(number: usize) -> (String, &'static str) {
    (format!("register{number}"), "value")
}

/// Returns the row key and name of a column that a writer writes once.
fn own_column(writer: usize, step: u64) -> (String, String) {
    (format!("writer{writer} row{}", step / ROW), format!("{step:07}"))
}

/// Writes until the test is over, every second time to a register. Returns the number of writes.
fn write(writer: usize, mut client: AnyClient, journal: &Journal) -> u64 {
    let mut step = 0;
    while journal.is_running() {
        step += 1;
        let number = writer * REGISTERS as usize + (step / 2 % REGISTERS) as usize;
        let (key, name) = if step % 2 == 0 {
            let (key, name) = register(number);
            (key, name.to_owned())
        } else {
            own_column(writer, step)
        };
        // The same write is sent until it is acknowledged.
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

/// Reads registers. None may have an older value than was acknowledged before the read.
fn read(mut client: Modern, journal: &Journal, seed: u64) {
    let mut chance = Chance::new(seed);
    while journal.is_running() {
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

/// Increments a counter. Returns the number of acknowledged increments, and of those with an unknown outcome.
fn count(mut client: Modern, name: &str, journal: &Journal) -> (i64, i64) {
    let (mut acknowledged, mut unsure) = (0, 0);
    while journal.is_running() {
        let reply = journal.time(|| client.add("Counts", ("row", name), QUORUM));
        match exception(&reply) {
            None => acknowledged += 1,
            // UnavailableException: the increment was not applied.
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
        check_level_all(&gateway, &keyspace);
        let while_down = journal.acknowledged.load(Ordering::SeqCst);
        journal.wait_for(while_down + WRITES / 8);
        ring(&["start-node", "2"]);
        // A node that has lost increments shows that only when it coordinates further ones.
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

/// With a node down, requests at ALL fail with UnavailableException in every API generation.
fn check_level_all(gateway: &Server, keyspace: &str) {
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
    // A truncate requires all nodes.
    let reply = modern.call("truncate", support::value::text("Counts"));
    assert_eq!(exception(&reply), Some(2));
}

/// Checks that every column that was written once exists and that every register has its last value.
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

/// Checks that no counter has lost an acknowledged increment or counted one twice.
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
fn requests_succeed_while_a_node_is_frozen() {
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
        // The schema changes without the frozen node.
        let mut modern = Modern::connect(&gateway, &keyspace);
        let began = Instant::now();
        modern.call("system_add_column_family", cf_def(&keyspace, "Late")).value();
        println!("a column family was made in {:.1} s", began.elapsed().as_secs_f64());
        assert_eq!(exception(&modern.insert("Late", ("key", "name"), "value", 1, QUORUM)), None);
        // TimedOutException until the other nodes consider the frozen one down, then UnavailableException.
        let failure = exception(&modern.insert("Cf", ("all", "name"), "value", 1, ALL));
        assert!(failure == Some(MODERN_WRITE.0) || failure == Some(MODERN_WRITE.1), "{failure:?}");
        thread::sleep(Duration::from_secs(2));
        drop(over);
        for client in clients {
            let (requests, timeouts, slowest, late) = client.join().unwrap();
            println!("{requests} requests, {timeouts} timed out, the slowest {slowest:?}, later {late:?}");
            assert!(slowest < Duration::from_secs(13), "{slowest:?}");
        }
        ring(&["thaw", "3"]);
        // The node comes back without the column family; the gateway sends requests that it refuses to other nodes.
        let thawed = Instant::now();
        while thawed.elapsed() < Duration::from_secs(3) {
            let reply = modern.insert("Late", ("thawed", "name"), "value", 1, QUORUM);
            assert_eq!(exception(&reply), None, "{reply:?}");
        }
        // The node may take long to fetch the schema from the others. A restart, which docs/cluster.md recommends,
        // makes it do so.
        ring(&["stop-node", "3"]);
        ring(&["start-node", "3"]);
        eventually("all nodes are asked again", Duration::from_secs(60), || {
            exception(&modern.insert("Late", ("all", "name"), "value", 1, ALL)).is_none().then_some(())
        });
        // The node may have received the creation of the column family first and applied it last.
        assert_eq!(value(&modern.get("Late", ("key", "name"), ALL)).as_deref(), Some("value"));
        for number in 0..100 {
            let key = format!("key{number}");
            let reply = modern.insert("Late", (&key, "name"), "value", 1, ALL);
            assert_eq!(exception(&reply), None, "{reply:?}");
        }
    });
    gateway.stop();
}

/// Writes and reads until the test is over. Returns the number of requests, the number of time-outs, the longest time
/// of all requests, and the longest of those that began when the node had been frozen for a while.
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
fn gateways_keep_serving_without_their_contact_points() {
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
    // The gateway has found the remaining node through the nodes that are now down.
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
            // The value written at ONE is on the node that remained, which a read at ALL includes.
            let found = eventually("the late gateway serves", Duration::from_secs(60), || {
                let reply = client.get("Cf", at, ALL);
                matches!(exception(&reply), None | Some(2)).then(|| value(&reply))
            });
            late.stop();
            found
        });
        // A gateway that waits for the cluster stops on SIGTERM.
        std::fs::write(ended.path().join("storage-conf.xml"), gateway::config(&nodes[..2], "")).unwrap();
        let mut hopeless = Server::spawn_only(ended.path(), &["--cluster", &nodes[..2].join(",")]);
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
