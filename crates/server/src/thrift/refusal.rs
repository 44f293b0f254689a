//! Replies to calls that the server refuses without running them.

use bytes::{Bytes, BytesMut};

use super::args::Args;
use super::dialect::{self, Session};
use super::failure::{Failure, write_failure};
use super::methods::Method;
use super::service::Service;
use wire::thrift::frame::Transport;
use wire::thrift::{ApplicationError, Arguments, MessageHeader, MessageKind, Reader, WireError, Writer};

/// Refuses a complete message because the server is overloaded: with the method's UnavailableException, or with a
/// TApplicationException if the method declares none. A one-way call gets no reply.
///
/// # Errors
///
/// If the message has no readable header or arguments.
pub(crate) fn refuse_overloaded(
    service: &Service,
    session: &mut Session,
    message: &Bytes,
    transport: Transport,
    why: &str,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let mut reader = Reader::new(message);
    let header = MessageHeader::read(&mut reader)?;
    if header.kind == MessageKind::Oneway {
        return Ok(());
    }
    let start = reader.clone();
    let found = Arguments::find(&mut reader)?;
    let args = Args::new(start, &found);
    let Some(method) = dialect::find_method(header.name, &args, &service.compat, session, transport) else {
        return refuse_long(message, transport, why, out);
    };
    let failure = Failure::Failed(db::Error::Overloaded(why.to_owned()));
    refuse_call(&header, transport, method, &failure, out)
}

/// Refuses a call of a method.
///
/// # Errors
///
/// If the reply is too long for its transport.
pub(super) fn refuse_call(
    header: &MessageHeader<'_>,
    transport: Transport,
    method: &Method,
    failure: &Failure,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let mut writer = Writer::new(out);
    let mark = writer.frame_begin(transport);
    write_failure(&mut writer, method.name, header.seqid, failure, &method.throws);
    writer.frame_end(mark)
}

/// Refuses a message whose front alone was received, with a TApplicationException: the method is not known without the
/// arguments. A one-way call gets no reply.
///
/// # Errors
///
/// If the front has no readable header.
pub(crate) fn refuse_long(
    front: &Bytes,
    transport: Transport,
    why: &str,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let header = MessageHeader::read(&mut Reader::new(front))?;
    refuse_message(&header, transport, ApplicationError::ProtocolError, why, out)
}

/// Refuses a message without a method. A one-way call gets no reply.
///
/// # Errors
///
/// If the reply is too long for its transport.
pub(super) fn refuse_message(
    header: &MessageHeader<'_>,
    transport: Transport,
    error: ApplicationError,
    why: &str,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    if header.kind == MessageKind::Oneway {
        return Ok(());
    }
    let mut writer = Writer::new(out);
    let mark = writer.frame_begin(transport);
    writer.application_exception(header.name, header.seqid, error, why);
    writer.frame_end(mark)
}
