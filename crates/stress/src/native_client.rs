//! A client of the CQL native protocol with concurrent requests.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bytes::{Buf, BufMut, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::reply::StressFailure;
use super::run::Budget;
use super::tally::ReplyTally;
use super::workload::StressCall;
use wire::native::{ResponseCode, request_opcode};

const VERSION: u8 = 4;
const HEADER_BYTES: usize = 9;
const READ_BYTES: usize = 16 * 1024;
/// Time limit of connecting and of each reply before the run.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

const ERROR: u8 = ResponseCode::Error as u8;

/// Level ONE and no flags.
const PLAIN: [u8; 3] = [0, 1, 0];
/// Level ONE; values, and no metadata in the reply.
const WITH_VALUES: [u8; 3] = [0, 1, 0x03];

fn write_frame(out: &mut BytesMut, stream: i16, opcode: u8, write: impl FnOnce(&mut BytesMut)) {
    let start = out.len();
    out.put_slice(&[VERSION, 0]);
    out.put_i16(stream);
    out.put_u8(opcode);
    out.put_u32(0);
    write(out);
    let length = u32::try_from(out.len() - start - HEADER_BYTES).unwrap_or(u32::MAX);
    out[start + HEADER_BYTES - 4..start + HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
}

fn put_long_string(out: &mut BytesMut, text: &str) {
    out.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
    out.put_slice(text.as_bytes());
}

/// A connection before the run, with one request at a time.
pub(crate) struct NativeClient {
    stream: TcpStream,
}

impl NativeClient {
    pub(crate) fn open(address: SocketAddr) -> Result<NativeClient, String> {
        let failed = |error: std::io::Error| format!("connect to {address}: {error}");
        let stream = TcpStream::connect_timeout(&address, OPEN_TIMEOUT).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(OPEN_TIMEOUT)).map_err(failed)?;
        let mut client = NativeClient { stream };
        client.ask(request_opcode::STARTUP, |out| {
            out.put_u16(1);
            for text in ["CQL_VERSION", "3.0.0"] {
                out.put_u16(text.len() as u16);
                out.put_slice(text.as_bytes());
            }
        })?;
        Ok(client)
    }

    pub(crate) fn query(&mut self, text: &str) -> Result<(), String> {
        self.ask(request_opcode::QUERY, |out| {
            put_long_string(out, text);
            out.put_slice(&PLAIN);
        })?;
        Ok(())
    }

    /// Prepares a statement. Returns its id.
    pub(crate) fn prepare(&mut self, text: &str) -> Result<Vec<u8>, String> {
        let body = self.ask(request_opcode::PREPARE, |out| put_long_string(out, text))?;
        // The kind of the result and the length of the id precede it.
        body.get(6..22).map(<[u8]>::to_vec).ok_or_else(|| "the reply to PREPARE has no id".to_owned())
    }

    fn ask(&mut self, code: u8, write: impl FnOnce(&mut BytesMut)) -> Result<Vec<u8>, String> {
        let failed = |error: std::io::Error| format!("ask the server: {error}");
        let mut request = BytesMut::new();
        write_frame(&mut request, 0, code, write);
        self.stream.write_all(&request).map_err(failed)?;
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header).map_err(failed)?;
        let mut body = vec![0; u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize];
        self.stream.read_exact(&mut body).map_err(failed)?;
        if header[4] == ERROR { Err(error_text(&body)) } else { Ok(body) }
    }

    pub(crate) fn into_stream(self) -> std::io::Result<TcpStream> {
        self.stream.set_nonblocking(true)?;
        Ok(self.stream)
    }
}

/// Returns the text of an ERROR, after its code and length.
fn error_text(body: &[u8]) -> String {
    String::from_utf8_lossy(body.get(6..).unwrap_or_default()).into_owned()
}

/// The statement of all requests of a run.
#[derive(Debug, Clone)]
pub(crate) struct LoadStatement {
    pub call: StressCall,
    pub id: Vec<u8>,
    pub rows: u64,
    /// Bytes of the value that an INSERT writes; `None` for a SELECT.
    pub value_bytes: Option<usize>,
    /// Use all keys in order instead of random ones.
    pub in_order: bool,
}

/// A connection during a run.
pub(crate) struct NativeLoad<'a> {
    statement: &'a LoadStatement,
    output: BytesMut,
    input: BytesMut,
    /// When the request of each stream was sent.
    sent: Vec<Instant>,
    /// Streams without a running request.
    free: Vec<i16>,
    /// The state of the random numbers.
    random: u64,
}

impl<'a> NativeLoad<'a> {
    /// Creates connection number `index` with `pipeline` concurrent requests.
    pub(crate) fn new(statement: &'a LoadStatement, pipeline: u32, index: usize) -> NativeLoad<'a> {
        let streams = i16::try_from(pipeline).unwrap_or(i16::MAX);
        NativeLoad {
            statement,
            output: BytesMut::with_capacity(READ_BYTES),
            input: BytesMut::with_capacity(READ_BYTES),
            sent: vec![Instant::now(); pipeline as usize],
            free: (0..streams).collect(),
            random: (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    /// Sends and receives until the budget is used up. A connection that breaks is counted and not replaced.
    pub(crate) async fn drive(
        mut self,
        mut stream: tokio::net::TcpStream,
        budget: &Budget,
        tally: &RefCell<ReplyTally>,
    ) {
        let end = self.exchange(&mut stream, budget, tally).await;
        tally.borrow_mut().end_of_connection(end);
    }

    async fn exchange(
        &mut self,
        stream: &mut tokio::net::TcpStream,
        budget: &Budget,
        tally: &RefCell<ReplyTally>,
    ) -> Result<(), StressFailure> {
        let lost = |error: std::io::Error| StressFailure { kind: "connection lost", text: error.to_string() };
        let mut now = Instant::now();
        loop {
            while let Some(stream) = self.free.pop() {
                let Some(number) = budget.take(now) else {
                    self.free.push(stream);
                    break;
                };
                self.write_request(stream, number, now);
            }
            if self.free.len() == self.sent.len() {
                return Ok(());
            }
            stream.write_all(&self.output).await.map_err(lost)?;
            self.output.clear();
            self.input.reserve(READ_BYTES);
            if stream.read_buf(&mut self.input).await.map_err(lost)? == 0 {
                return Err(lost(std::io::ErrorKind::UnexpectedEof.into()));
            }
            now = Instant::now();
            self.read_replies(now, &mut tally.borrow_mut())?;
        }
    }

    fn write_request(&mut self, stream: i16, number: u64, now: Instant) {
        // Marsaglia's xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let LoadStatement { id, rows, value_bytes, in_order, .. } = self.statement;
        let key = if *in_order { number } else { self.random } % rows;
        let key = format!("key{key:08}");
        write_frame(&mut self.output, stream, request_opcode::EXECUTE, |out| {
            out.put_u16(id.len() as u16);
            out.put_slice(id);
            out.put_slice(&WITH_VALUES);
            out.put_u16(1 + u16::from(value_bytes.is_some()));
            out.put_u32(key.len() as u32);
            out.put_slice(key.as_bytes());
            if let Some(bytes) = value_bytes {
                out.put_u32(u32::try_from(*bytes).unwrap_or(u32::MAX));
                out.put_bytes(b'v', *bytes);
            }
        });
        if let Some(sent) = self.sent.get_mut(usize::from(stream.unsigned_abs())) {
            *sent = now;
        }
    }

    fn read_replies(&mut self, now: Instant, tally: &mut ReplyTally) -> Result<(), StressFailure> {
        while let Some(header) = self.input.get(..HEADER_BYTES) {
            let stream = i16::from_be_bytes([header[2], header[3]]);
            let code = header[4];
            let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
            if self.input.len() < HEADER_BYTES + length {
                break;
            }
            self.input.advance(HEADER_BYTES);
            let body = self.input.split_to(length);
            let Some(sent) = usize::try_from(stream).ok().and_then(|stream| self.sent.get(stream)) else {
                let text = format!("a reply on stream {stream}, which has no request");
                return Err(StressFailure { kind: "malformed reply", text });
            };
            match code {
                ERROR => tally.failure(StressFailure { kind: "error", text: error_text(&body) }),
                _ => tally.success(self.statement.call, now - *sent, 1),
            }
            self.free.push(stream);
        }
        Ok(())
    }
}
