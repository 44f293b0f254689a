//! The fuzzed functions, which `cargo fuzz` here and `tests/project/fuzz.rs` call. The latter needs no nightly
//! compiler.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, LazyLock};

use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::marshal::Types;
use base::model::BoundValue;
use base::util::{Clock, Release};
use bytes::{Bytes, BytesMut};
use config::Config;
use cql::{QueryOptions, QueryState, cql2};
use db::{Authenticator, Database, DatabaseParts};
use embedded::EmbeddedStore;
use server::limits::HANDSHAKE_BYTES_MAX;
use server::native;
use server::native::{
    FailedOperation, Handshake, NativeError, NativeService, Reply as NativeReply, open_body,
};
use server::thrift::{Compat, Service, Session, answer};
use tokio::runtime::{Builder, Runtime};
use wire::native::{Frame, FrameCutter, NextFrame, RequestCode, SegmentCodec};
use wire::thrift::frame::{Detection, MessageCutter, NextMessage, Transport, detect};
use wire::thrift::{MessageHeader, MessageKind, Reader, TType};

/// Longest message that the fuzzed connection accepts, in bytes.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    let sample = include_bytes!("../storage-conf.xml");
    config::parse_bytes(sample, "storage-conf.xml", &Types::builtin()).expect("the sample is right")
});

/// Fuzzes a Thrift connection: the first byte selects the release, the others are sent by a client. Nothing may panic,
/// and all output must be complete replies. Returns the number of replies.
pub fn frames(data: &[u8]) -> usize {
    let Some((first, sent)) = data.split_first() else { return 0 };
    let Detection::Found(transport) = detect(sent, MESSAGE_BYTES_MAX) else { return 0 };
    let mut compat = Compat::default();
    compat.set(Release::ALL[usize::from(*first) % Release::ALL.len()]);
    let service = Service::new(Arc::new(empty_database()), compat);
    let mut session = Session::default();
    let mut cutter = MessageCutter::new(transport, MESSAGE_BYTES_MAX);
    let mut input = BytesMut::from(sent);
    let mut output = BytesMut::new();
    while let Ok(NextMessage::Message(message)) = cutter.next_message(&mut input) {
        let answered =
            at_once(answer(&service, &mut session, &message, cutter.arguments(), transport, &mut output));
        if answered.is_err() {
            break;
        }
    }
    count_replies(transport, output)
}

fn empty_database() -> Database {
    let clock = Arc::new(Clock::system());
    let store = EmbeddedStore::in_memory(CONFIG.partitioner.clone(), &CONFIG.catalog, clock);
    Database::new(DatabaseParts {
        catalog: Arc::new(CONFIG.catalog.clone()),
        store: Arc::new(store.expect("a store in memory")),
        partitioner: CONFIG.partitioner.clone(),
        authenticator: Authenticator::AllowAll,
        clock: Arc::new(Clock::manual(1_250_558_004_000)),
        types: Types::builtin(),
        cluster_name: CONFIG.cluster_name.clone(),
        config_text: CONFIG.text.clone(),
        token: "0".to_owned(),
        endpoint: "127.0.0.1".to_owned(),
    })
}

/// Runs a call to its end. Long reads run on the store's own threads.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Counts the replies, and checks that each is complete.
fn count_replies(transport: Transport, mut output: BytesMut) -> usize {
    let mut cutter = MessageCutter::new(transport, i32::MAX as usize);
    let mut count = 0;
    while !output.is_empty() {
        let Ok(NextMessage::Message(reply)) = cutter.next_message(&mut output) else {
            panic!("the replies end within a message: {output:?}");
        };
        let mut reader = Reader::new(&reply);
        let header = MessageHeader::read(&mut reader).expect("a reply has a header");
        assert!(header.strict && matches!(header.kind, MessageKind::Reply | MessageKind::Exception));
        reader.skip(TType::Struct).expect("a reply is a struct");
        assert_eq!(reader.remaining(), 0, "bytes are left over after a reply");
        count += 1;
    }
    count
}

/// Fuzzes a connection of the native protocol: the bytes are sent by a client. Nothing may panic, and every answer must
/// be a complete frame. Returns the number of requests that succeeded.
pub fn native(data: &[u8]) -> usize {
    // The runtime needs timers, because a schema change waits until indexes are built.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(conversation(data))
}

async fn conversation(data: &[u8]) -> usize {
    let service = NativeService::new(Arc::new(empty_database()), Arc::default(), ReportedVersion::default());
    let mut handshake = Handshake::new(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
    let (mut cutter, mut segments) = (FrameCutter::default(), None::<SegmentCodec>);
    let (mut input, mut frames) = (BytesMut::from(data), BytesMut::new());
    let mut succeeded = 0;
    loop {
        if let Some(codec) = segments {
            while codec.take(&mut input, &mut frames).unwrap_or(false) {}
        }
        let source = if segments.is_some() { &mut frames } else { &mut input };
        let frame = match cutter.next_frame(source) {
            Ok(NextFrame::Frame(frame)) => frame,
            Ok(NextFrame::TooLong { .. }) => continue,
            Ok(NextFrame::Incomplete) | Err(_) => return succeeded,
        };
        let reply = native_reply(&service, &mut handshake, &frame).await;
        succeeded += usize::from(!reply.is_error());
        let mut output = BytesMut::new();
        reply.write(frame.version, handshake.compression, &mut output);
        let header = frame.version.header_bytes();
        let length = u32::from_be_bytes(output[header - 4..header].try_into().expect("four bytes"));
        assert_eq!(output.len(), header + length as usize, "the answer is not a frame");
        assert_eq!(output[0], frame.version.number() | 0x80, "the answer has another version");
        if frame.version.has_segments() && segments.is_none() && handshake.has_started() {
            segments = Some(SegmentCodec { is_compressed: handshake.compression.is_some() });
        }
    }
}

/// Answers a frame as a connection does.
async fn native_reply(service: &NativeService, handshake: &mut Handshake, frame: &Frame) -> NativeReply {
    let opened = RequestCode::of_number(frame.opcode).ok_or_else(|| NativeError::protocol("unknown"));
    let opened = opened.and_then(|code| {
        handshake.check(code, frame.version)?;
        Ok(code)
    });
    match opened {
        Err(error) => NativeReply::error(frame.stream, &error, FailedOperation::default(), frame.version),
        Ok(code) if code.has_statement() => {
            let identity = handshake.identity.clone();
            native::answer(service, &identity, code, frame, handshake.compression).await
        }
        Ok(code) => match open_body(frame, handshake.compression, HANDSHAKE_BYTES_MAX) {
            Ok(body) => handshake.answer(service, code, frame.stream, body).await,
            Err(error) => NativeReply::error(frame.stream, &error, FailedOperation::default(), frame.version),
        },
    }
}

/// Tables of every layout, which random statements use.
const TABLES: [&str; 9] = [
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TYPE k.address (street text, zip int)",
    "CREATE TABLE k.t (k int, c int, d text, a int, b text, s text static, PRIMARY KEY (k, c, d)) \
     WITH CLUSTERING ORDER BY (c DESC, d ASC)",
    "CREATE TABLE k.collections (k int PRIMARY KEY, l list<int>, m map<text, int>, s set<text>, \
     f frozen<list<int>>, u frozen<address>, p frozen<tuple<int, text>>)",
    "CREATE TABLE k.counters (k int PRIMARY KEY, n counter)",
    "CREATE TABLE k.plain (k int PRIMARY KEY, a int, b text) WITH COMPACT STORAGE",
    "CREATE TABLE k.dense (k int, c int, v text, PRIMARY KEY (k, c)) WITH COMPACT STORAGE",
    "CREATE TABLE k.wide (k int, k2 text, c int, d uuid, v text, PRIMARY KEY ((k, k2), c, d)) WITH COMPACT STORAGE",
    "CREATE INDEX ON k.t (a)",
];

/// Fuzzes statements of CQL 2 and 3. The first byte selects the release, zero bytes separate statements, and bytes 1
/// separate the text of a statement from the values of its markers. Each statement is run, prepared and explained.
/// Nothing may panic, and each error must have a text. Returns the number of statements that succeeded.
pub fn cql(data: &[u8]) -> usize {
    let Some((first, statements)) = data.split_first() else { return 0 };
    let releases = [Release::V1_1, Release::V1_2, Release::V2_0, Release::V2_1];
    let behaviour = Behaviour::of(releases[usize::from(*first) % releases.len()]);
    let database = Arc::new(empty_database());
    // The runtime needs timers, because a schema change waits until indexes are built.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let reported = ReportedVersion::of_release(behaviour);
        let state = QueryState {
            database: &database,
            behaviour,
            reported,
            language: Language::Newest,
            keyspace: Some("k"),
            user: None,
            sees_new_indexes: false,
        };
        let maker = QueryState { behaviour: Behaviour::of(Release::V2_1), ..state };
        for table in TABLES {
            cql::query(&maker, table, &QueryOptions::default()).await.expect("the tables can be made");
        }
        let mut count = 0;
        for statement in statements.split(|byte| *byte == 0) {
            let mut parts = statement.split(|byte| *byte == 1);
            let text = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
            let values: Vec<Bytes> = parts.map(Bytes::copy_from_slice).collect();
            count += run_statement(&state, &text, &values).await;
        }
        count
    })
}

async fn run_statement(state: &QueryState<'_>, text: &str, values: &[Bytes]) -> usize {
    let options = QueryOptions {
        values: values.iter().cloned().map(BoundValue::Value).collect(),
        page_size: values.first().map(|value| 1 + value.len()),
        ..QueryOptions::default()
    };
    let explained = cql::explain(state, text, &options).await;
    let new = match cql::prepare(state, text) {
        Ok(prepared) => {
            // As many values as there are markers, so that the values are decoded.
            let markers = prepared.markers.len();
            let value = |at: usize| options.values.get(at).cloned().unwrap_or(BoundValue::Unset);
            let options = QueryOptions { values: (0..markers).map(value).collect(), ..options };
            cql::execute_prepared(state, &prepared, &options).await.map(drop)
        }
        Err(error) => Err(error),
    };
    let old = match cql2::prepare(text) {
        Ok(prepared) => cql2::run(state, &prepared, values).await.map(drop),
        Err(error) => Err(error),
    };
    for error in [explained.map(drop), new.clone(), old.clone()].into_iter().filter_map(Result::err) {
        assert!(!error.to_string().is_empty(), "an error without a text");
    }
    usize::from(new.is_ok()) + usize::from(old.is_ok())
}

/// Fuzzes a storage-conf.xml: it is accepted, or its mistakes can be shown. Nothing may panic. Returns whether it was
/// accepted.
pub fn storage_conf(data: &[u8]) -> bool {
    match config::parse_bytes(data, "storage-conf.xml", &Types::builtin()) {
        Ok(_) => true,
        Err(errors) => {
            assert!(!errors.to_string().is_empty(), "an error without a text");
            false
        }
    }
}
