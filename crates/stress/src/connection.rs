//! A client connection: sends pipelined requests and reads the replies.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::dialect::ThriftDialect;
use super::reply::{self, StressFailure};
use super::run::{Budget, StressPlan};
use super::tally::ReplyTally;
use super::workload::{StressCall, Workload};
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::Writer;
use wire::thrift::frame::{MessageCutter, NextMessage};

/// Room in the input buffer for a read, in bytes.
const READ_BYTES: usize = 16 * 1024;

/// Time limit of connecting and of the first reply.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects, selects the keyspace and prepares the statement; blocks.
pub(crate) fn open(plan: &StressPlan) -> Result<TcpStream, String> {
    let failed = |error: std::io::Error| format!("connect to {}: {error}", plan.address);
    let mut stream = TcpStream::connect_timeout(&plan.address, OPEN_TIMEOUT).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    if plan.target.dialect == ThriftDialect::Session {
        stream.set_read_timeout(Some(OPEN_TIMEOUT)).map_err(failed)?;
        ask(&mut stream, plan, "set_keyspace", |writer| plan.target.set_keyspace(writer, 0))?;
        if let Some(statement) = plan.operation.statement() {
            ask(&mut stream, plan, "prepare_cql3_query", |writer| {
                statement.prepare(&plan.target, writer, 0)
            })?;
        }
    }
    stream.set_nonblocking(true).map_err(failed)?;
    Ok(stream)
}

/// Sends one call and waits for its reply.
fn ask(
    stream: &mut TcpStream,
    plan: &StressPlan,
    name: &str,
    write: impl FnOnce(&mut Writer),
) -> Result<(), String> {
    let mut request = BytesMut::new();
    let mut writer = Writer::new(&mut request);
    let mark = writer.frame_begin(plan.transport);
    write(&mut writer);
    writer.frame_end(mark).map_err(|error| error.to_string())?;
    stream.write_all(&request).map_err(|error| format!("write to {}: {error}", plan.address))?;
    let reply = read_blocking(stream, plan)?;
    let checked = reply::check(&reply, None, 0);
    checked.map(|_| ()).map_err(|failure| format!("{name}: {}: {}", failure.kind, failure.text))
}

fn read_blocking(stream: &mut TcpStream, plan: &StressPlan) -> Result<Bytes, String> {
    let mut cutter = MessageCutter::new(plan.transport, MESSAGE_BYTES_MAX);
    let mut input = BytesMut::new();
    let mut piece = [0; 1024];
    loop {
        if let NextMessage::Message(message) =
            cutter.next_message(&mut input).map_err(|error| error.to_string())?
        {
            return Ok(message);
        }
        match stream.read(&mut piece) {
            Ok(0) => return Err(format!("{} closed the connection", plan.address)),
            Ok(count) => input.extend_from_slice(&piece[..count]),
            Err(error) => return Err(format!("read from {}: {error}", plan.address)),
        }
    }
}

/// An open connection during a run.
pub(crate) struct StressConnection<'p> {
    plan: &'p StressPlan,
    workload: Workload,
    cutter: MessageCutter,
    output: BytesMut,
    input: BytesMut,
    in_flight: VecDeque<InFlight>,
    next_seqid: i32,
}

struct InFlight {
    call: StressCall,
    seqid: i32,
    sent: Instant,
}

impl<'p> StressConnection<'p> {
    /// Creates the client of connection number `index`.
    pub(crate) fn new(plan: &'p StressPlan, index: usize) -> StressConnection<'p> {
        StressConnection {
            plan,
            workload: Workload::new(plan.operation, &plan.shape, plan.seed, index),
            cutter: MessageCutter::new(plan.transport, MESSAGE_BYTES_MAX),
            output: BytesMut::with_capacity(READ_BYTES),
            input: BytesMut::with_capacity(READ_BYTES),
            in_flight: VecDeque::with_capacity(plan.pipeline),
            next_seqid: 1,
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
            self.write_requests(budget, now)?;
            if self.in_flight.is_empty() {
                return Ok(());
            }
            if !self.output.is_empty() {
                stream.write_all(&self.output).await.map_err(lost)?;
                self.output.clear();
            }
            self.input.reserve(READ_BYTES);
            if stream.read_buf(&mut self.input).await.map_err(lost)? == 0 {
                return Err(lost(std::io::ErrorKind::UnexpectedEof.into()));
            }
            now = Instant::now();
            self.read_replies(now, &mut tally.borrow_mut())?;
        }
    }

    /// Fills the pipeline.
    fn write_requests(&mut self, budget: &Budget, now: Instant) -> Result<(), StressFailure> {
        while self.in_flight.len() < self.plan.pipeline
            && let Some(number) = budget.take(now)
        {
            let seqid = self.next_seqid;
            self.next_seqid = seqid.wrapping_add(1);
            let mut writer = Writer::new(&mut self.output);
            let mark = writer.frame_begin(self.plan.transport);
            let call = self.workload.write_request(number, &self.plan.target, &mut writer, seqid);
            writer.frame_end(mark)?;
            self.in_flight.push_back(InFlight { call, seqid, sent: now });
        }
        Ok(())
    }

    fn read_replies(&mut self, now: Instant, tally: &mut ReplyTally) -> Result<(), StressFailure> {
        let malformed = |text: String| StressFailure { kind: "malformed reply", text };
        while let NextMessage::Message(message) =
            self.cutter.next_message(&mut self.input).map_err(|error| malformed(error.to_string()))?
        {
            let Some(sent) = self.in_flight.pop_front() else {
                return Err(malformed("a reply without a request".to_owned()));
            };
            match reply::check(&message, Some(sent.call), sent.seqid) {
                Ok(columns) => tally.success(sent.call, now - sent.sent, columns),
                Err(failure) => tally.failure(failure),
            }
        }
        Ok(())
    }
}
