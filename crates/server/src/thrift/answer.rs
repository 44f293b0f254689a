//! Answers one message: reads the header, finds the method, checks the login, runs the call and writes the reply.

use std::pin::pin;
use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::args::Args;
use super::dialect::{self, Session};
use super::failure::Failure;
use super::method_call::MethodCall;
use super::refusal::{refuse_call, refuse_message};
use super::request_slots::UNKNOWN;
use super::service::Service;
use crate::observed_request::{ObservedRequest, report_unreadable};
use crate::thrift::failure::Result;
use base::util::limits::RESULT_BYTES_MAX;
use base::util::metrics::EndedRequest;
use db::Database;
use wire::thrift::frame::Transport;
use wire::thrift::{
    ApplicationError, Arguments, FrameMark, MessageHeader, MessageKind, Reader, WireError, Writer,
};

/// The error of an unknown method, as it is counted: without the name, which clients can invent.
const UNKNOWN_NAME: &str = "Invalid method name: no Thrift method of the supported releases has it";

/// A message whose header has been read.
struct ReceivedMessage<'a> {
    began: Instant,
    header: MessageHeader<'a>,
    transport: Transport,
    bytes: usize,
}

/// Answers one message by appending the reply to `out`; a one-way call gets no reply. `arguments` are in
/// the message, if looking for its end has found them.
///
/// # Errors
///
/// If the bytes have no readable header. Then the connection must be closed.
pub async fn answer(
    service: &Service,
    session: &mut Session,
    message: &Bytes,
    arguments: Option<&Arguments>,
    transport: Transport,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let began = Instant::now();
    let mut reader = Reader::new(message);
    let header = MessageHeader::read(&mut reader)?;
    let (name, bytes) = (header.name, message.len());
    let received = ReceivedMessage { began, header, transport, bytes };
    let start = reader.clone();
    let mut own = None;
    let found = match arguments {
        Some(found) => found,
        None => match Arguments::find(&mut reader) {
            Ok(found) => &*own.insert(found),
            Err(error) => {
                let text = error.to_string();
                return received.refuse(&service.database, ApplicationError::ProtocolError, &text, out);
            }
        },
    };
    let args = Args::new(start, found);
    let Some(method) = dialect::find_method(name, &args, &service.compat, session, transport) else {
        let text = format!("Invalid method name: '{}'", String::from_utf8_lossy(name));
        return received.refuse(&service.database, ApplicationError::UnknownMethod, &text, out);
    };
    let args = args.of(method.name, &method.args);
    received.answer_call(MethodCall { service, session, method, args: &args }, out).await
}

impl ReceivedMessage<'_> {
    /// Runs the message's call, and appends its reply to `out`.
    async fn answer_call(&self, mut call: MethodCall<'_>, out: &mut BytesMut) -> Result<(), WireError> {
        let (service, method) = (call.service, call.method);
        let mut observed = ObservedRequest::begin(&service.database, self.began, &call);
        let start = out.len();
        let mut writer = Writer::new(out);
        let mark = writer.frame_begin(self.transport);
        writer.message_begin(method.name.as_bytes(), MessageKind::Reply, self.header.seqid);
        let outcome = match call.check() {
            Err(failure) => Err(failure),
            Ok(()) => {
                let permit = service.database.admit().await;
                let meter = call.meter(permit, self.began);
                observed.watch(&call);
                let outcome = observed.run(meter, pin!(call.run(&observed, out))).await;
                call.session.meter.end();
                outcome
            }
        };
        let failure = match outcome {
            Ok(()) => complete(mark, start, out).err(),
            Err(failure) => Some(failure),
        };
        if let Some(failure) = &failure {
            call.note_lost_place(failure);
            out.truncate(start);
            refuse_call(&self.header, self.transport, method, failure, out)?;
        }
        debug_assert!(out.len() >= start, "a call has cut the replies before its own");
        if self.header.kind == MessageKind::Oneway {
            out.truncate(start);
        }
        let effects = observed.end(&call, failure.as_ref(), self.bytes, out.len() - start);
        call.session.reply_fault = effects.fault;
        Ok(())
    }

    /// Refuses a message without a call: its arguments cannot be read, or no method has its name.
    fn refuse(
        &self,
        database: &Database,
        error: ApplicationError,
        text: &str,
        out: &mut BytesMut,
    ) -> Result<(), WireError> {
        let start = out.len();
        refuse_message(&self.header, self.transport, error, text, out)?;
        let counted = if error == ApplicationError::UnknownMethod { UNKNOWN_NAME } else { text };
        let (time, bytes_in, bytes_out) = (self.began.elapsed(), self.bytes, out.len() - start);
        let ended = EndedRequest { time, bytes_in, bytes_out, ..EndedRequest::UNREADABLE };
        report_unreadable(database, UNKNOWN, &counted, &ended);
        Ok(())
    }
}

/// Completes the reply of a successful call, which begins at `start`.
fn complete(mark: FrameMark, start: usize, out: &mut BytesMut) -> Result<()> {
    if out.len() - start > RESULT_BYTES_MAX {
        return Err(Failure::Failed(db::Error::invalid(format!(
            "the reply has more than {RESULT_BYTES_MAX} bytes: ask for fewer rows or columns at a time, with a smaller count \
             or in pages"
        ))));
    }
    let mut writer = Writer::new(out);
    writer.stop();
    let ended = writer.frame_end(mark);
    ended.map_err(|error| Failure::Failed(db::Error::invalid(format!("the reply is too large: {error}"))))
}
