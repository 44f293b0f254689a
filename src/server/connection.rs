//! One Thrift connection, from its first byte to its last.

use std::io;

use bytes::BytesMut;
use tokio::io::AsyncWriteExt;

use super::busy_poll::BusyPoll;
use super::client_stream::{BUFFER_BYTES, ClientStream};
use super::handler::{Client, ConnectionEnd, ConnectionHandler};
use super::memory_budget::Share;
use super::shutdown::ShutdownSignal;
use super::turn::let_others_go_first;
use crate::thrift::frame::{Detection, FrameError, MessageCutter, NextMessage, Refusal, detect};
use crate::thrift::wire::WireError;
use crate::thrift::{Service, Session, answer};
use crate::util::limits::{IDLE_BUFFER_BYTES_MAX, MESSAGE_BYTES_MAX, REPLY_BYTES_BEFORE_FLUSH};

/// Why a connection ends before its client ends it.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("all connections together hold more unfinished messages and unread replies than may be")]
    OutOfMemory,
}

impl From<ConnectionError> for ConnectionEnd {
    fn from(error: ConnectionError) -> ConnectionEnd {
        match error {
            ConnectionError::Io(error) => ConnectionEnd::Lost(error),
            error => ConnectionEnd::Closed(error.into()),
        }
    }
}

impl ConnectionHandler for Service {
    async fn serve(self, client: Client) -> Result<(), ConnectionEnd> {
        Ok(Connection::new(client, self).serve().await?)
    }
}

/// A client's connection.
pub struct Connection {
    stream: ClientStream,
    service: Service,
    session: Session,
    input: BytesMut,
    output: BytesMut,
    share: Share,
    shutdown: ShutdownSignal,
    busy_poll: BusyPoll,
}

impl Connection {
    pub fn new(client: Client, service: Service) -> Connection {
        let Client { stream, peer, share, shutdown, busy_poll, .. } = client;
        Connection {
            stream,
            service,
            session: Session::from_address(peer.ip()),
            input: BytesMut::with_capacity(BUFFER_BYTES),
            output: BytesMut::with_capacity(BUFFER_BYTES),
            share,
            shutdown,
            busy_poll,
        }
    }

    /// Serves the connection until the client closes it, it breaks, or the server ends. What has been read
    /// whole is answered first, whatever follows it.
    pub async fn serve(mut self) -> Result<(), ConnectionError> {
        let end = self.converse().await;
        let flushed = self.flush().await;
        self.stream.close().await;
        end.and(flushed.map_err(ConnectionError::from))
    }

    async fn converse(&mut self) -> Result<(), ConnectionError> {
        let Some(mut cutter) = self.detect().await? else { return Ok(()) };
        loop {
            match cutter.next_message(&mut self.input)? {
                NextMessage::Message(message) => {
                    let transport = cutter.transport();
                    let (service, session) = (&self.service, &mut self.session);
                    let client = session.meter.client().clone();
                    tokio::select! {
                        biased;
                        answered = answer(service, session, &message, transport, &mut self.output) => answered?,
                        // Only to tell the request that its client has gone.
                        never = self.stream.watch(&client) => match never {},
                    }
                    if self.output.len() >= REPLY_BYTES_BEFORE_FLUSH {
                        self.check_memory()?;
                        self.flush().await?;
                    }
                }
                NextMessage::Needed(_) => {
                    self.flush().await?;
                    self.give_back();
                    if !self.receive().await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Tells the transport from the first bytes; `None` when the client leaves before it can be told.
    async fn detect(&mut self) -> Result<Option<MessageCutter>, ConnectionError> {
        loop {
            match detect(&self.input, MESSAGE_BYTES_MAX) {
                Detection::Found(transport) => {
                    return Ok(Some(MessageCutter::new(transport, MESSAGE_BYTES_MAX)));
                }
                Detection::Refused(refusal) => return Err(refusal.into()),
                Detection::Needed(_) => {
                    if !self.receive().await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Waits for more bytes. False when there will be none.
    async fn receive(&mut self) -> Result<bool, ConnectionError> {
        if self.shutdown.is_ending() {
            return Ok(false);
        }
        self.check_memory()?;
        let read = tokio::select! {
            biased;
            read = self.stream.receive(&mut self.input) => read?,
            () = self.shutdown.told() => return Ok(false),
        };
        if read > 0 {
            self.busy_poll.note_request();
        }
        Ok(read > 0)
    }

    /// Counts the buffers against what all connections may hold. A reply that would be too much is dropped: its
    /// client may never read it.
    fn check_memory(&mut self) -> Result<(), ConnectionError> {
        if self.share.fit([self.input.capacity(), self.output.capacity()]) {
            return Ok(());
        }
        self.output = BytesMut::new();
        Err(ConnectionError::OutOfMemory)
    }

    async fn flush(&mut self) -> io::Result<()> {
        if !self.output.is_empty() {
            let_others_go_first().await;
            self.stream.write_all(&self.output).await?;
            self.stream.flush().await?;
            self.output.clear();
        }
        Ok(())
    }

    /// Lets go of buffers that a large message has left behind.
    fn give_back(&mut self) {
        for buffer in [&mut self.input, &mut self.output] {
            if buffer.is_empty() && buffer.capacity() > IDLE_BUFFER_BYTES_MAX {
                *buffer = BytesMut::with_capacity(BUFFER_BYTES);
            }
        }
    }
}
