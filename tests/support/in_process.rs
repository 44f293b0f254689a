//! A Thrift client of a [`Service`] in the same process, without a socket or a server.

use std::io::{Read, Write};

use bytes::{Buf, Bytes, BytesMut};
use server::thrift::{Service, Session, answer};
use wire::thrift::frame::Transport;

use super::client::{Client, Style};

/// A stream that passes each message written to it to a service, and from which the client reads the reply.
pub struct InProcess {
    service: Service,
    transport: Transport,
    session: Session,
    runtime: tokio::runtime::Handle,
    input: BytesMut,
    output: BytesMut,
}

/// Returns a client of a service that sends framed messages.
pub fn client(service: &Service, runtime: &tokio::runtime::Runtime) -> Client<InProcess> {
    client_of(service, runtime, Style::FRAMED)
}

/// Returns a client of a service that sends messages of this style.
pub fn client_of(service: &Service, runtime: &tokio::runtime::Runtime, style: Style) -> Client<InProcess> {
    let stream = InProcess {
        service: service.clone(),
        transport: style.transport,
        session: Session::default(),
        runtime: runtime.handle().clone(),
        input: BytesMut::new(),
        output: BytesMut::new(),
    };
    Client::over(stream, style)
}

impl InProcess {
    /// Removes the next message from the input, if it is complete. A client writes an unframed message in one call of
    /// `write`.
    fn next_message(&mut self) -> Option<Bytes> {
        if self.transport == Transport::Unframed {
            return (!self.input.is_empty()).then(|| self.input.split().freeze());
        }
        let length = self.input.first_chunk::<4>().map(|length| u32::from_be_bytes(*length) as usize)?;
        (self.input.len() >= 4 + length).then(|| self.input.split_to(4 + length).freeze().slice(4..))
    }
}

impl Write for InProcess {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.input.extend_from_slice(bytes);
        while let Some(message) = self.next_message() {
            let replying =
                answer(&self.service, &mut self.session, &message, None, self.transport, &mut self.output);
            self.runtime.block_on(replying).map_err(std::io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Read for InProcess {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(self.output.len());
        self.output.split_to(count).copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}
