//! A connection to a service in this process: no socket, no server.

use std::io::{Read, Write};

use bytes::{Buf, Bytes, BytesMut};
use thriftstore::thrift::frame::Transport;
use thriftstore::thrift::{Service, Session, answer};

use super::client::{Client, Style};

/// A client's stream that hands each message to a service, and gives its reply to the client.
pub struct InProcess {
    service: Service,
    transport: Transport,
    session: Session,
    runtime: tokio::runtime::Handle,
    input: BytesMut,
    output: BytesMut,
}

/// A client of a service, with framed messages.
pub fn client(service: &Service, runtime: &tokio::runtime::Runtime) -> Client<InProcess> {
    client_of(service, runtime, Style::FRAMED)
}

/// A client of a service, with messages of this style.
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
    /// Takes the next message off the input, if all of it is there. A client writes an unframed message in one go.
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
                answer(&self.service, &mut self.session, &message, self.transport, &mut self.output);
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
