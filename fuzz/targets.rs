//! What is fuzzed: the same functions for `cargo fuzz` here and for `tests/fuzz.rs`, which needs no nightly compiler.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};

use bytes::BytesMut;
use thriftstore::config::{self, Config};
use thriftstore::cql::Claim;
use thriftstore::db::{Authenticator, Database, DatabaseParts};
use thriftstore::marshal::Types;
use thriftstore::native::{
    self, Doing, Frame, FrameCutter, Handshake, NativeError, NativeService, NextFrame, Reply as NativeReply,
    RequestCode, SegmentCodec, open_body,
};
use thriftstore::storage::MemoryStore;
use thriftstore::thrift::frame::{Detection, MessageCutter, NextMessage, Transport, detect};
use thriftstore::thrift::wire::{MessageHeader, MessageKind, Reader, TType};
use thriftstore::thrift::{Compat, Service, Session, answer};
use thriftstore::util::{Clock, Release};

/// Longest message that the fuzzed connection takes, in bytes.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    let sample = include_bytes!("../storage-conf.xml");
    config::parse_bytes(sample, "storage-conf.xml", &Types::builtin()).expect("the sample is right")
});

/// One connection: the first byte picks the release, the others are what a client sends. Nothing may panic, and all
/// that is answered must be whole messages. Returns how many there were.
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
        let answered = at_once(answer(&service, &mut session, &message, transport, &mut output));
        if answered.is_err() {
            break;
        }
    }
    count_replies(transport, output)
}

fn empty_database() -> Database {
    Database::new(DatabaseParts {
        catalog: Arc::new(CONFIG.catalog.clone()),
        store: Arc::new(MemoryStore::new(CONFIG.partitioner.clone(), Arc::new(Clock::system()))),
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

/// The memory store waits for nothing, so no runtime is needed.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the memory store waits for something"),
    }
}

/// Reads every reply to its end.
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

/// One connection of the native protocol: all that a client sends. Nothing may panic, and every answer must be a whole
/// frame. Returns how many requests succeeded.
pub fn native(data: &[u8]) -> usize {
    let service = NativeService::new(Arc::new(empty_database()), Arc::default(), Claim::default());
    let mut handshake = Handshake::new(IpAddr::V4(Ipv4Addr::LOCALHOST));
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
        let reply = native_reply(&service, &mut handshake, &frame);
        succeeded += usize::from(!reply.is_error());
        let mut output = BytesMut::new();
        reply.write(frame.version, handshake.compression, &mut output);
        let header = frame.version.header_bytes();
        let length = u32::from_be_bytes(output[header - 4..header].try_into().expect("four bytes"));
        assert_eq!(output.len(), header + length as usize, "an answer that is no frame");
        assert_eq!(output[0], frame.version.number() | 0x80, "an answer of another version");
        if frame.version.has_segments() && segments.is_none() && handshake.has_started() {
            segments = Some(SegmentCodec { is_compressed: handshake.compression.is_some() });
        }
    }
}

/// The answer to a frame, as a connection comes to it.
fn native_reply(service: &NativeService, handshake: &mut Handshake, frame: &Frame) -> NativeReply {
    let opened = RequestCode::of_number(frame.opcode).ok_or_else(|| NativeError::protocol("unknown"));
    let opened = opened.and_then(|code| {
        handshake.check(code, frame.version)?;
        Ok((code, open_body(frame, handshake.compression)?))
    });
    match opened {
        Err(error) => NativeReply::error(frame.stream, &error, Doing::default(), frame.version),
        Ok((code, body)) if code.has_statement() => {
            let (identity, head) = (handshake.identity.clone(), (frame.stream, frame.flags));
            at_once(native::answer(service.clone(), identity, code, head, body))
        }
        Ok((code, body)) => at_once(handshake.answer(service, code, frame.stream, body)),
    }
}

/// A storage-conf.xml: it is read, or its mistakes can be shown. Nothing may panic. Returns whether it was read.
pub fn storage_conf(data: &[u8]) -> bool {
    match config::parse_bytes(data, "storage-conf.xml", &Types::builtin()) {
        Ok(_) => true,
        Err(errors) => {
            assert!(!errors.to_string().is_empty(), "a mistake without a word");
            false
        }
    }
}
