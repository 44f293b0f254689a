//! A proxy that falsifies replies, or acknowledges requests that it does not pass on: what must never go unnoticed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use bytes::{Bytes, BytesMut};
use traffic::ThriftMessage;
use traffic::call::{NativeReply, ReplyContent};
use wire::thrift::MessageKind;

/// One reply in so many is falsified.
const FALSIFIED_EVERY: u64 = 3;

/// Falsifies a reply; `None` if it does not have the content that is falsified. Messages are as in recordings.
pub type Falsify = fn(&[u8], &Bytes) -> Option<Bytes>;

/// The running proxy.
pub struct Falsifier {
    pub address: SocketAddr,
    falsified: Arc<AtomicU64>,
}

#[derive(Clone)]
struct Falsification {
    server: SocketAddr,
    /// The Thrift method whose calls are acknowledged and not passed on.
    loses: Option<&'static [u8]>,
    falsify: Falsify,
    /// Replies that could be falsified.
    met: Arc<AtomicU64>,
    falsified: Arc<AtomicU64>,
}

impl Falsifier {
    /// Starts the proxy before a server that answers on a Thrift or native port.
    pub fn start(server: SocketAddr, falsify: Falsify) -> Falsifier {
        Falsifier::with(server, None, falsify)
    }

    /// Starts a proxy that acknowledges the calls of a Thrift method and does not pass them on.
    pub fn losing(server: SocketAddr, method: &'static [u8]) -> Falsifier {
        Falsifier::with(server, Some(method), |_, _| None)
    }

    fn with(server: SocketAddr, loses: Option<&'static [u8]>, falsify: Falsify) -> Falsifier {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, falsified) = (listener.local_addr().unwrap(), Arc::<AtomicU64>::default());
        let falsification =
            Falsification { server, loses, falsify, met: Arc::default(), falsified: falsified.clone() };
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let falsification = falsification.clone();
                // An error is the end of the connection.
                thread::spawn(move || falsification.serve(client).ok());
            }
        });
        Falsifier { address, falsified }
    }

    /// Returns how many replies were falsified.
    pub fn falsified(&self) -> u64 {
        self.falsified.load(Ordering::SeqCst)
    }
}

impl Falsification {
    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut server = TcpStream::connect(self.server)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        loop {
            let request = read(&mut client)?;
            if let Some(reply) = self.acknowledged(&request) {
                write(&mut client, &reply)?;
                continue;
            }
            write(&mut server, &request)?;
            let reply = read(&mut server)?;
            write(&mut client, &self.falsified(&request, &reply).unwrap_or(reply))?;
        }
    }

    fn acknowledged(&self, request: &Bytes) -> Option<Bytes> {
        let call = ThriftMessage::read(request).ok().filter(|call| Some(&call.name[..]) == self.loses)?;
        let reply = ThriftMessage { kind: MessageKind::Reply, fields: traffic::Fields::new(), ..call };
        Some(reply.write())
    }

    fn falsified(&self, request: &Bytes, reply: &Bytes) -> Option<Bytes> {
        let falsified = (self.falsify)(request, reply).filter(|falsified| falsified != reply)?;
        let met = self.met.fetch_add(1, Ordering::SeqCst);
        (met % FALSIFIED_EVERY == 1).then(|| {
            self.falsified.fetch_add(1, Ordering::SeqCst);
            falsified
        })
    }
}

/// Reads a framed Thrift message without its length, or a native frame with its header.
fn read(stream: &mut TcpStream) -> std::io::Result<Bytes> {
    let mut head = [0; 9];
    stream.read_exact(&mut head[..4])?;
    let is_native = head[0] != 0;
    if is_native {
        stream.read_exact(&mut head[4..])?;
    }
    let length = u32::from_be_bytes(head[if is_native { 5..9 } else { 0..4 }].try_into().unwrap());
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body)?;
    Ok(if is_native { [&head[..], &body].concat().into() } else { body.into() })
}

fn write(stream: &mut TcpStream, message: &Bytes) -> std::io::Result<()> {
    // Thrift messages with a strict header begin with 0x80, native frames with their version: here 3, 4, 0x83 or 0x84.
    let is_native = matches!(message[0], 3 | 4 | 0x83 | 0x84);
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    stream.write_all(&if is_native { message.to_vec() } else { [&length[..], message].concat() })
}

/// Changes the reply to a Thrift call.
pub fn thrift(reply: &Bytes, change: impl Fn(&mut ThriftMessage) -> Option<()>) -> Option<Bytes> {
    let mut reply = ThriftMessage::read(reply).ok()?;
    change(&mut reply)?;
    Some(reply.write())
}

/// The rows of a native result.
pub type NativeRows = Vec<Vec<Option<Bytes>>>;

/// Changes the rows of a native result whose first column has this name.
pub fn native(reply: &Bytes, column: &str, change: impl Fn(&mut NativeRows) -> Option<()>) -> Option<Bytes> {
    let NativeReply { mut frame, content: ReplyContent::Rows(result), .. } = NativeReply::read(reply).ok()?
    else {
        return None;
    };
    if result.columns.first()?.name != column {
        return None;
    }
    let encoded = |rows: &NativeRows| {
        let mut out = BytesMut::from(&u32::try_from(rows.len()).unwrap().to_be_bytes()[..]);
        for cell in rows.iter().flatten() {
            let length = cell.as_ref().map_or(-1, |cell| i32::try_from(cell.len()).unwrap());
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(cell.as_deref().unwrap_or_default());
        }
        out
    };
    let mut rows = result.rows.clone();
    change(&mut rows)?;
    let metadata = frame.body.len() - encoded(&result.rows).len();
    frame.body = [&frame.body[..metadata], &encoded(&rows)].concat().into();
    Some(frame.write())
}
