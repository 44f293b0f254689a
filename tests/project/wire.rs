//! Laws of the wire layer, on random messages. The messages that are cut off do not depend on how bytes arrive. No
//! bytes cause a panic or an allocation of the size that they announce, and the scanner and the reader agree.

use bytes::{Bytes, BytesMut};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::frame::{Detection, FrameError, MessageCutter, NextMessage, Transport, detect};
use wire::thrift::{
    ApplicationError, MessageHeader, MessageKind, MessageScanner, Reader, Scan, TType, WireError, Writer,
};

/// Any value that Thrift can carry.
#[derive(Debug, Clone)]
enum Value {
    Bool(bool),
    Byte(i8),
    Double(f64),
    I16(i16),
    I32(i32),
    I64(i64),
    String(Vec<u8>),
    Struct(Vec<(i16, Value)>),
    Map(Vec<(i32, Value)>),
    Strings(Vec<Vec<u8>>),
    Numbers(Vec<i64>),
    Structs(Vec<Vec<(i16, Value)>>),
    Lists(Vec<Vec<i32>>),
}

impl Value {
    fn ttype(&self) -> TType {
        match self {
            Value::Bool(_) => TType::Bool,
            Value::Byte(_) => TType::Byte,
            Value::Double(_) => TType::Double,
            Value::I16(_) => TType::I16,
            Value::I32(_) => TType::I32,
            Value::I64(_) => TType::I64,
            Value::String(_) => TType::String,
            Value::Struct(_) => TType::Struct,
            Value::Map(_) => TType::Map,
            Value::Strings(_) => TType::Set,
            Value::Numbers(_) | Value::Structs(_) | Value::Lists(_) => TType::List,
        }
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Value::Bool(value) => writer.bool(*value),
            Value::Byte(value) => writer.i8(*value),
            Value::Double(value) => writer.f64(*value),
            Value::I16(value) => writer.i16(*value),
            Value::I32(value) => writer.i32(*value),
            Value::I64(value) => writer.i64(*value),
            Value::String(value) => writer.bytes(value),
            Value::Struct(fields) => write_struct(writer, fields),
            Value::Map(entries) => {
                // All values of a map have one type: keep those with the type of the first.
                let ttype = entries.first().map_or(TType::Stop, |(_, value)| value.ttype());
                let alike: Vec<_> = entries.iter().filter(|(_, value)| value.ttype() == ttype).collect();
                writer.map_begin(TType::I32, ttype, alike.len());
                for (key, value) in alike {
                    writer.i32(*key);
                    value.write(writer);
                }
            }
            Value::Strings(values) => {
                writer.list_begin(TType::String, values.len());
                values.iter().for_each(|value| writer.bytes(value));
            }
            Value::Numbers(values) => {
                writer.list_begin(TType::I64, values.len());
                values.iter().for_each(|value| writer.i64(*value));
            }
            Value::Structs(values) => {
                writer.list_begin(TType::Struct, values.len());
                values.iter().for_each(|fields| write_struct(writer, fields));
            }
            Value::Lists(values) => {
                writer.list_begin(TType::List, values.len());
                for numbers in values {
                    writer.list_begin(TType::I32, numbers.len());
                    numbers.iter().for_each(|number| writer.i32(*number));
                }
            }
        }
    }
}

fn write_struct(writer: &mut Writer, fields: &[(i16, Value)]) {
    for (id, value) in fields {
        writer.field_begin(value.ttype(), *id);
        value.write(writer);
    }
    writer.stop();
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i8>().prop_map(Value::Byte),
        any::<f64>().prop_map(Value::Double),
        any::<i16>().prop_map(Value::I16),
        any::<i32>().prop_map(Value::I32),
        any::<i64>().prop_map(Value::I64),
        vec(any::<u8>(), 0..40).prop_map(Value::String),
        vec(vec(any::<u8>(), 0..10), 0..4).prop_map(Value::Strings),
        vec(any::<i64>(), 0..4).prop_map(Value::Numbers),
        vec(vec(any::<i32>(), 0..3), 0..3).prop_map(Value::Lists),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let fields = vec((any::<i16>(), inner.clone()), 0..4);
        prop_oneof![
            fields.clone().prop_map(Value::Struct),
            vec((any::<i32>(), inner), 0..4).prop_map(Value::Map),
            vec(fields, 0..3).prop_map(Value::Structs),
        ]
    })
}

/// Whole calls, strict or old style, without a frame.
fn any_call() -> impl Strategy<Value = Vec<u8>> {
    let fields = vec((any::<i16>(), any_value()), 0..5);
    ("[a-z][a-z_]{0,30}", any::<i32>(), any::<bool>(), fields).prop_map(|(name, seqid, strict, fields)| {
        let mut out = BytesMut::new();
        let mut writer = Writer::new(&mut out);
        match strict {
            true => writer.message_begin(name.as_bytes(), MessageKind::Call, seqid),
            false => writer.message_begin_old_style(name.as_bytes(), MessageKind::Call, seqid),
        }
        write_struct(&mut writer, &fields);
        out.to_vec()
    })
}

fn framed(calls: &[Vec<u8>]) -> Vec<u8> {
    let frame = |call: &Vec<u8>| [&(call.len() as u32).to_be_bytes()[..], call].concat();
    calls.iter().flat_map(frame).collect()
}

/// Feeds the stream in pieces of `step` bytes and returns the messages that come out.
fn cut(transport: Transport, stream: &[u8], step: usize) -> Result<Vec<Bytes>, FrameError> {
    let mut cutter = MessageCutter::new(transport, MESSAGE_BYTES_MAX);
    let mut buffer = BytesMut::new();
    let mut messages = Vec::new();
    let mut needed_total = 0;
    for (index, piece) in stream.chunks(step).enumerate() {
        buffer.extend_from_slice(piece);
        let arrived = index * step + piece.len();
        loop {
            match cutter.next_message(&mut buffer)? {
                NextMessage::Message(message) => {
                    assert!(
                        arrived >= needed_total,
                        "a message was returned before the bytes that it needs had arrived"
                    );
                    messages.push(message);
                }
                NextMessage::TooLong { .. } => unreachable!("no smaller limit is set"),
                NextMessage::Needed(count) => {
                    assert!(count > 0);
                    needed_total = arrived + count;
                    break;
                }
            }
        }
    }
    assert!(buffer.is_empty(), "{} bytes left over", buffer.len());
    Ok(messages)
}

/// Reads a message with the reader and returns its length.
fn read_whole(message: &[u8]) -> Result<usize, WireError> {
    let mut reader = Reader::over(message);
    MessageHeader::read(&mut reader)?;
    reader.skip(TType::Struct)?;
    Ok(reader.position())
}

/// Bytes that reach deep into the code: a strict header, then type codes and small numbers.
fn likely_bytes() -> impl Strategy<Value = Vec<u8>> {
    let likely = prop_oneof![
        4 => Just(0u8),
        4 => prop::sample::select(vec![2u8, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15]),
        1 => any::<u8>(),
    ];
    vec(likely, 0..200).prop_map(|tail| [&b"\x80\x01\0\x01\0\0\0\x01x\0\0\0\0"[..], &tail].concat())
}

/// Checks that the scanner and the reader agree about a message, and that neither panics.
fn check_agreement(bytes: &[u8]) {
    let scanned = MessageScanner::new(MESSAGE_BYTES_MAX).scan(bytes);
    match (&scanned, read_whole(bytes)) {
        (Ok(Scan::Complete(length)), read) => assert_eq!(read, Ok(*length)),
        (Ok(Scan::Needed(count)), read) => {
            assert!(*count > 0 && read.is_err(), "{scanned:?} but {read:?}");
        }
        (Err(_), read) => assert!(read.is_err(), "{scanned:?} but {read:?}"),
    }
    let mut bytewise = MessageScanner::new(MESSAGE_BYTES_MAX);
    let last = (0..=bytes.len())
        .map(|end| bytewise.scan(&bytes[..end]))
        .find(|scan| !matches!(scan, Ok(Scan::Needed(_))));
    match scanned {
        Ok(Scan::Needed(_)) => assert_eq!(last, None),
        done => assert_eq!(last, Some(done)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cut_messages_do_not_depend_on_how_bytes_arrive(calls in vec(any_call(), 1..4), step in 1usize..50) {
        let expected: Vec<Bytes> = calls.iter().cloned().map(Bytes::from).collect();
        let unframed = calls.concat();
        let framed = framed(&calls);
        prop_assert_eq!(detect(&unframed, MESSAGE_BYTES_MAX), Detection::Found(Transport::Unframed));
        prop_assert_eq!(detect(&framed, MESSAGE_BYTES_MAX), Detection::Found(Transport::Framed));
        for step in [1, step, usize::MAX] {
            prop_assert_eq!(cut(Transport::Unframed, &unframed, step), Ok(expected.clone()));
            prop_assert_eq!(cut(Transport::Framed, &framed, step), Ok(expected.clone()));
        }
    }

    #[test]
    fn scanner_and_reader_agree_on_mutated_messages(
        mut call in any_call(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), keep in 0.0..1.3f64,
    ) {
        for (at, byte) in changes {
            let at = at.index(call.len());
            call[at] = byte;
        }
        let keep = (call.len() as f64 * keep) as usize;
        call.truncate(keep);
        check_agreement(&call);
    }

    #[test]
    fn scanner_and_reader_agree_on_likely_bytes(bytes in likely_bytes()) {
        check_agreement(&bytes);
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..300), calls in vec(0u8..12, 0..40)) {
        detect(&bytes, MESSAGE_BYTES_MAX);
        check_agreement(&bytes);
        let message = Bytes::from(bytes);
        let mut reader = Reader::new(&message);
        for call in calls {
            // Errors are allowed, panics are not.
            let _ = match call {
                0 => reader.bool().is_ok(),
                1 => reader.i8().is_ok(),
                2 => reader.i16().is_ok(),
                3 => reader.f64().is_ok(),
                4 => reader.i64().is_ok(),
                5 => reader.bytes().is_ok(),
                6 => reader.raw().is_ok(),
                7 => reader.field_begin().is_ok(),
                8 => reader.list_begin().is_ok(),
                9 => reader.map_begin().is_ok(),
                10 => reader.skip(TType::Struct).is_ok(),
                _ => reader.skip(TType::Map).is_ok(),
            };
        }
    }
}

/// A large message in small packets is scanned only once: quadratic work would take minutes here.
#[test]
fn a_large_message_in_small_packets_is_scanned_once() {
    let mut out = BytesMut::new();
    let mut writer = Writer::new(&mut out);
    writer.message_begin(b"multiget", MessageKind::Call, 1);
    writer.field_list(2, TType::String, 1_000_000);
    (0..1_000_000).for_each(|_| writer.bytes(b"k"));
    writer.stop();
    let messages = cut(Transport::Unframed, &out, 10).unwrap();
    assert_eq!(messages, [out.freeze()]);
}

/// The official Thrift library reads what we write, and we read what it writes.
#[test]
fn the_official_thrift_library_reads_and_writes_the_same_bytes() {
    use thrift::protocol::{
        TBinaryInputProtocol, TBinaryOutputProtocol, TFieldIdentifier, TInputProtocol, TMessageIdentifier,
        TMessageType, TOutputProtocol, TType as StockType,
    };

    let mut ours = BytesMut::new();
    let mut writer = Writer::new(&mut ours);
    writer.message_begin(b"get_slice", MessageKind::Call, 42);
    writer.field_i64(-1, i64::MIN);
    writer.field_string(2, b"name");
    writer.field_list(3, TType::I32, 1);
    writer.i32(-5);
    writer.stop();

    let mut stock = Vec::new();
    let mut output = TBinaryOutputProtocol::new(&mut stock, true);
    let field = |name: &str, ttype, id| TFieldIdentifier::new(name, ttype, id);
    output.write_message_begin(&TMessageIdentifier::new("get_slice", TMessageType::Call, 42)).unwrap();
    output.write_field_begin(&field("a", StockType::I64, -1)).unwrap();
    output.write_i64(i64::MIN).unwrap();
    output.write_field_begin(&field("b", StockType::String, 2)).unwrap();
    output.write_string("name").unwrap();
    output.write_field_begin(&field("c", StockType::List, 3)).unwrap();
    output.write_list_begin(&thrift::protocol::TListIdentifier::new(StockType::I32, 1)).unwrap();
    output.write_i32(-5).unwrap();
    output.write_field_stop().unwrap();
    assert_eq!(ours, stock);

    let mut exception = BytesMut::new();
    Writer::new(&mut exception).application_exception(b"x", 7, ApplicationError::UnknownMethod, "no x");
    let mut input = TBinaryInputProtocol::new(&exception[..], true);
    let header = input.read_message_begin().unwrap();
    assert_eq!(header, TMessageIdentifier::new("x", TMessageType::Exception, 7));
    let error = thrift::Error::read_application_error_from_in_protocol(&mut input).unwrap();
    assert_eq!((error.message.as_str(), error.kind), ("no x", thrift::ApplicationErrorKind::UnknownMethod));
}
