//! A Thrift client that can send any message, valid or not, framed or unframed, with a strict or an old-style header.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use wire::thrift::frame::{MessageCutter, NextMessage, Transport};
use wire::thrift::{MessageHeader, MessageKind, Reader, TType, Writer};

use super::value::{Fields, Value};

/// How long a test waits for anything. Long, because the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Longest reply that a client accepts, in bytes.
const REPLY_BYTES_MAX: usize = 512 * 1024 * 1024;

/// The reply to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The result struct: field 0 is the value, any other a declared exception.
    Result(Fields),
    /// A TApplicationException.
    Exception { kind: i64, text: String },
}

/// The transport of a client, and the style of its message headers.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub transport: Transport,
    pub strict: bool,
}

impl Style {
    pub const ALL: [Style; 4] = [
        Style { transport: Transport::Unframed, strict: true },
        Style { transport: Transport::Unframed, strict: false },
        Style { transport: Transport::Framed, strict: true },
        Style { transport: Transport::Framed, strict: false },
    ];
    pub const UNFRAMED: Style = Style::ALL[0];
    pub const FRAMED: Style = Style::ALL[2];

    /// Encodes a whole message, with its frame if the transport is framed.
    pub fn message(self, method: &str, args: &Value, kind: MessageKind, seqid: i32) -> BytesMut {
        let mut out = BytesMut::new();
        let mut writer = Writer::new(&mut out);
        let mark = writer.frame_begin(self.transport);
        if self.strict {
            writer.message_begin(method.as_bytes(), kind, seqid);
        } else {
            writer.message_begin_old_style(method.as_bytes(), kind, seqid);
        }
        args.write(&mut writer);
        writer.frame_end(mark).unwrap();
        out
    }
}

/// Opens a plain TCP connection that sends small writes at once (no Nagle delay) and has time limits.
pub fn raw(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A client on one connection, by default a TCP connection without TLS.
pub struct Client<S = TcpStream> {
    pub stream: S,
    style: Style,
    input: BytesMut,
    cutter: MessageCutter,
    seqid: i32,
}

impl Client {
    pub fn connect(address: SocketAddr, style: Style) -> Client {
        Client::over(raw(address), style)
    }
}

impl<S: Read + Write> Client<S> {
    pub fn over(stream: S, style: Style) -> Client<S> {
        let cutter = MessageCutter::new(style.transport, REPLY_BYTES_MAX);
        Client { stream, style, input: BytesMut::new(), cutter, seqid: 0 }
    }

    /// Sends a call and waits for its reply. Panics if the connection ends or the next reply belongs to another call.
    pub fn call(&mut self, method: &str, args: &Value) -> Reply {
        self.try_call(method, args).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a call and waits for its reply.
    ///
    /// # Errors
    ///
    /// A text that describes how the connection ended.
    pub fn try_call(&mut self, method: &str, args: &Value) -> Result<Reply, String> {
        let seqid = self.begin(method, args).map_err(|error| error.to_string())?;
        let (name, found, reply) = self.try_reply()?;
        assert_eq!((name.as_str(), found), (method, seqid), "the reply belongs to another call: {reply:?}");
        Ok(reply)
    }

    /// Sends a call and returns its sequence number.
    pub fn begin(&mut self, method: &str, args: &Value) -> std::io::Result<i32> {
        self.seqid += 1;
        let message = self.style.message(method, args, MessageKind::Call, self.seqid);
        self.stream.write_all(&message)?;
        Ok(self.seqid)
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Waits for the next reply, and returns its method, sequence number and result.
    pub fn reply(&mut self) -> (String, i32, Reply) {
        self.try_reply().unwrap()
    }

    pub fn try_reply(&mut self) -> Result<(String, i32, Reply), String> {
        Reply::read(&self.next_message()?)
    }

    fn next_message(&mut self) -> Result<Bytes, String> {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match self.cutter.next_message(&mut self.input).map_err(|error| error.to_string())? {
                NextMessage::Message(message) => return Ok(message),
                NextMessage::TooLong { .. } => unreachable!("no smaller limit is set"),
                NextMessage::Needed(_) => match self.stream.read(&mut chunk) {
                    Ok(0) => return Err("the server closed the connection".to_owned()),
                    Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                    Err(error) => return Err(error.to_string()),
                },
            }
        }
    }

    /// Waits, and returns whether the server closes the connection without sending another byte.
    pub fn is_closed(&mut self) -> bool {
        // The kernel sends a reset instead of a close if the server has not read all that it received.
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

impl Reply {
    /// Decodes a reply without its frame into method, sequence number and result.
    pub fn read(message: &Bytes) -> Result<(String, i32, Reply), String> {
        let mut reader = Reader::new(message);
        let header = MessageHeader::read(&mut reader).map_err(|error| error.to_string())?;
        assert!(header.strict, "replies are always strict");
        let name = String::from_utf8_lossy(header.name).into_owned();
        let Value::Struct(fields) = Value::read(&mut reader, TType::Struct).map_err(|e| e.to_string())?
        else {
            return Err("no struct".to_owned());
        };
        assert_eq!(reader.remaining(), 0, "bytes are left over after the reply to {name}");
        let reply = match header.kind {
            MessageKind::Reply => Reply::Result(fields),
            MessageKind::Exception => Reply::Exception {
                kind: fields.get(&2).map_or(0, Value::int),
                text: fields.get(&1).map(|text| text.str().to_owned()).unwrap_or_default(),
            },
            other => panic!("a reply of kind {other:?}"),
        };
        Ok((name, header.seqid, reply))
    }

    /// Returns the value that the call returned. Panics on an exception.
    pub fn value(&self) -> &Value {
        match self {
            Reply::Result(fields) if fields.len() == 1 && fields.contains_key(&0) => &fields[&0],
            other => panic!("no value: {other:?}"),
        }
    }

    /// Checks that a void call succeeded.
    pub fn void(&self) {
        assert_eq!(self, &Reply::Result(Fields::new()), "a void call should have succeeded");
    }

    /// Returns the text of the declared exception in a field of the result; empty if that exception has no text.
    pub fn thrown(&self, field: i16) -> &str {
        match self {
            Reply::Result(fields) if fields.len() == 1 && field > 0 && fields.contains_key(&field) => {
                match &fields[&field] {
                    Value::Struct(inner) => inner.get(&1).map_or("", Value::str),
                    other => panic!("no exception: {other:?}"),
                }
            }
            other => panic!("no exception at field {field}: {other:?}"),
        }
    }

    /// Returns the text of an InvalidRequestException, which is field 1 of every call that reads or writes data.
    pub fn why(&self) -> &str {
        self.thrown(1)
    }

    /// Returns the text of a TApplicationException. Panics if the reply is not one of the expected kind.
    pub fn application(&self, expected: i64) -> &str {
        match self {
            Reply::Exception { kind, text } if *kind == expected => text,
            other => panic!("no application exception {expected}: {other:?}"),
        }
    }
}
