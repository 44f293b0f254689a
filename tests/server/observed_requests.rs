//! Sinks of requests, such as metrics, logs and the journal: each request of each protocol is in each of them once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::support;
use base::compat::features::ReportedVersion;
use base::marshal::Types;
use base::util::Clock;
use base::util::metrics::RequestOutcome;
use db::faults::SoughtRequests;
use db::request_log::{RequestLogMode, RequestLogOutput, RequestLogSwitch};
use db::{Authenticator, Database, DatabaseParts};
use embedded::EmbeddedStore;
use server::native::{self, Identity, NativeService};
use server::thrift::{Compat, Service, request_slots};
use support::calls::{ONE, insert_args, path};
use support::client::Client;
use support::in_process::{self, InProcess};
use support::native_body::Body;
use support::server::storage_conf;
use support::value::{Value, fields, text};
use wire::native::{Frame, ProtocolVersion, RequestCode, flag};

/// A rule that refuses all requests.
const REFUSING: &str = r#"{"error": "unavailable"}"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Thrift,
    CqlOverThrift,
    Native,
}

impl Protocol {
    fn method(self) -> &'static str {
        match self {
            Protocol::Thrift => "insert",
            Protocol::CqlOverThrift => "execute_cql3_query",
            Protocol::Native => "QUERY",
        }
    }
}

/// The number of entries of a method in each sink so far.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entries {
    /// In the metrics, with an outcome.
    counted: u64,
    /// Lines of the log.
    lines: usize,
    /// Lines of the log with arguments.
    lines_with_arguments: usize,
    journal: usize,
    slow: usize,
    /// Of all methods: a text is counted for the last of them that had it.
    errors: u64,
    traces: usize,
}

/// Collects the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A database whose sinks are all on, with a client of each protocol.
struct Bench {
    database: Arc<Database>,
    runtime: Runtime,
    thrift: Client<InProcess>,
    native: NativeService,
    lines: Lines,
    _log: DefaultGuard,
}

impl Bench {
    fn new(authenticator: Authenticator) -> Bench {
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt::layer().with_writer(move || writer.clone()).with_ansi(false);
        let filter: Targets = "requests=debug".parse().unwrap();
        let log = tracing::subscriber::set_default(tracing_subscriber::registry().with(log).with(filter));

        let config = config::parse(&storage_conf(""), "storage-conf.xml", &Types::builtin()).unwrap();
        let clock = Arc::new(Clock::system());
        let store = EmbeddedStore::in_memory(config.partitioner.clone(), &config.catalog, clock.clone());
        let store = Arc::new(store.unwrap());
        let parts = DatabaseParts::new(Arc::new(config.catalog), store, config.partitioner, clock);
        let with_arguments = RequestLogSwitch::new(RequestLogMode::All, RequestLogOutput::Log, false);
        let database = Database::new(DatabaseParts { authenticator, ..parts });
        let database = Arc::new(database.with_faults().with_request_log(with_arguments));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { database.activity().begin() });
        let service = Service::new(database.clone(), Compat::default());
        let thrift = in_process::client(&service, &runtime);
        let native = NativeService::new(database.clone(), service.statements, ReportedVersion::default());
        Bench { database, runtime, thrift, native, lines, _log: log }
    }

    /// Sends a request that succeeds with these arguments if the keyspace exists.
    fn send(&mut self, protocol: Protocol, keyspace: &str) {
        let statement = format!("SELECT * FROM {keyspace}.local");
        match protocol {
            Protocol::Thrift => {
                let keyspace = if keyspace == "system" { "Keyspace1" } else { keyspace };
                let place = path("Standard1", None, Some(b"name"));
                self.thrift.call("insert", &insert_args(keyspace, b"key", place, (b"value", 1), ONE));
            }
            Protocol::CqlOverThrift => {
                const UNCOMPRESSED: Value = Value::I32(2);
                let args = fields([(1, text(&statement)), (2, UNCOMPRESSED), (3, Value::I32(ONE))]);
                self.thrift.call("execute_cql3_query", &args);
            }
            Protocol::Native => {
                let frame = Frame {
                    version: ProtocolVersion::V4,
                    flags: flag::TRACING,
                    stream: 0,
                    opcode: 0x07,
                    body: Bytes::from(Body::new().long_string(&statement).u16(1).u8(0).0),
                };
                let identity = Identity::new(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
                let answer = native::answer(&self.native, &identity, RequestCode::Query, &frame, None);
                self.runtime.block_on(answer);
            }
        }
    }

    /// Returns the entries of a method so far, and removes them from the sinks that can forget.
    fn entries(&self, method: &str, outcome: RequestOutcome) -> Entries {
        let slots = request_slots().iter().copied().chain([RequestCode::Query.slot()]);
        let totals = slots.filter(|slot| slot.method == method);
        let totals = totals.filter_map(|slot| self.database.metrics().requests.totals(slot.number));
        let log = String::from_utf8(std::mem::take(&mut *self.lines.0.lock())).unwrap();
        let (with_arguments, lines): (Vec<&str>, Vec<&str>) =
            log.lines().partition(|line| line.contains("requests: {"));
        let of_log = lines.iter().filter(|line| line.contains(&format!(" method={method}")));
        let named = format!("\"method\":\"{method}\"");
        let activity = self.database.activity();
        let journal = &self.database.faults().unwrap().journal;
        let entries = Entries {
            counted: totals.map(|totals| totals.outcomes[outcome as usize]).sum(),
            lines: of_log.count(),
            lines_with_arguments: with_arguments.iter().filter(|line| line.contains(&named)).count(),
            journal: journal
                .find(&SoughtRequests::default(), usize::MAX)
                .iter()
                .filter(|entry| entry.method == method)
                .count(),
            slow: activity.slow.list().iter().filter(|request| request.method == method).count(),
            errors: activity.errors.list().0.iter().map(|error| error.count).sum(),
            traces: self.database.traces().all().len(),
        };
        journal.clear();
        self.database.traces().clear();
        entries
    }
}

#[test]
fn each_request_is_once_in_each_sink() {
    let mut bench = Bench::new(Authenticator::AllowAll);
    let mut failed = 0;
    for protocol in [Protocol::Thrift, Protocol::CqlOverThrift, Protocol::Native] {
        let requests = [
            ("system", false, RequestOutcome::Ok),
            ("nix", false, RequestOutcome::Invalid),
            ("system", true, RequestOutcome::Unavailable),
        ];
        for (sent, (keyspace, is_refused, outcome)) in (1..).zip(requests) {
            let faults = bench.database.faults().unwrap().clone();
            if is_refused {
                faults.set("refusing", serde_json::from_str(REFUSING).unwrap()).unwrap();
            }
            bench.send(protocol, keyspace);
            failed += u64::from(outcome != RequestOutcome::Ok);
            let expected = Entries {
                counted: 1,
                lines: 1,
                lines_with_arguments: 1,
                journal: 1,
                // These are not forgotten between the requests.
                slow: sent,
                errors: failed,
                traces: usize::from(protocol == Protocol::Native),
            };
            assert_eq!(bench.entries(protocol.method(), outcome), expected, "{protocol:?}, {outcome:?}");
            let hits = faults.list().iter().map(|rule| rule.hits).sum::<u64>();
            assert_eq!(hits, u64::from(is_refused), "{protocol:?}: requests under the rule");
            faults.remove("refusing");
        }
    }
}

#[test]
fn calls_without_a_login_are_in_all_sinks_of_requests_that_do_not_run() {
    let mut bench = Bench::new(Authenticator::Password { are_permissions_enforced: false });
    for (protocol, errors) in [(Protocol::Thrift, 1), (Protocol::CqlOverThrift, 2)] {
        bench.send(protocol, "system");
        let expected = Entries { counted: 1, lines: 1, slow: 1, errors, ..Entries::default() };
        assert_eq!(bench.entries(protocol.method(), RequestOutcome::Invalid), expected, "{protocol:?}");
    }
}

#[test]
fn unknown_methods_are_counted_as_one() {
    let mut bench = Bench::new(Authenticator::AllowAll);
    for count in 1..=2 {
        bench.thrift.call(&format!("no_method_{count}"), &fields([]));
        let expected = Entries { counted: count, errors: count, ..Entries::default() };
        assert_eq!(bench.entries("unknown", RequestOutcome::Protocol), expected);
    }
    assert_eq!(bench.database.activity().errors.list().0.len(), 1, "the names are not in the texts");
}
