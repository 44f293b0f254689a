//! A connection to a service in this process: no socket, no server.

use std::io::{Read, Write};

use bytes::{Buf, BytesMut};
use thriftstore::thrift::frame::Transport;
use thriftstore::thrift::{Service, Session, answer};

use super::client::{Client, Style};

/// Framed messages in, framed replies out.
pub struct InProcess {
    service: Service,
    session: Session,
    runtime: tokio::runtime::Handle,
    input: BytesMut,
    output: BytesMut,
}

/// A client of a service.
pub fn client(service: &Service, runtime: &tokio::runtime::Runtime) -> Client<InProcess> {
    let stream = InProcess {
        service: service.clone(),
        session: Session::default(),
        runtime: runtime.handle().clone(),
        input: BytesMut::new(),
        output: BytesMut::new(),
    };
    Client::over(stream, Style::FRAMED)
}

impl Write for InProcess {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.input.extend_from_slice(bytes);
        while self.input.len() >= 4 {
            let length = (&self.input[..4]).get_u32() as usize;
            if self.input.len() < 4 + length {
                break;
            }
            let message = self.input.split_to(4 + length).freeze().slice(4..);
            let replying =
                answer(&self.service, &mut self.session, &message, Transport::Framed, &mut self.output);
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
