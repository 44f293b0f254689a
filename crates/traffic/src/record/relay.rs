//! Passes bytes between a client and a server, unchanged and at once; a stamp changes writes of CQL, and replies to requests
//! itself.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::own_replies::OwnReplies;
use super::queue::Tap;
use super::stamp::{RequestStamp, Stamps};
use crate::Side;
use crate::queue::CapturedTap;

/// Bytes that are read at a time: first, and once a read has filled the buffer. Most connections have small messages.
const BUFFER_BYTES: usize = 8 * 1024;
const LARGE_BUFFER_BYTES: usize = 64 * 1024;

/// The observers of a connection. They see bytes before those are passed on, so a request before its reply.
pub struct Observers {
    /// Copies the bytes for a recorder.
    pub tap: Option<Tap>,
    /// Puts writes into a queue before their replies are passed on.
    pub captured: Option<Arc<CapturedTap>>,
}

/// Passes the bytes of both sides until both have ended, or one is lost. Each side's bytes are observed before they are
/// passed on. The `stamps` change what the client has sent before that.
///
/// # Errors
///
/// The error of the side that was lost.
pub async fn relay(
    client: impl AsyncRead + AsyncWrite,
    server: impl AsyncRead + AsyncWrite,
    observers: Observers,
    stamps: Option<Stamps>,
) -> io::Result<()> {
    let (mut client_reads, mut client_writes) = tokio::io::split(client);
    let (mut server_reads, mut server_writes) = tokio::io::split(server);
    let (mut lost_of_client, mut lost_of_server) = (0, 0);
    let mut first_end = None;
    let (captured, own_replies) = (&observers.captured, OwnReplies::default());
    let is_changed = stamps.is_some() || captured.is_some();
    let stamp = is_changed.then(|| RequestStamp::new(stamps, captured.clone()));
    let outcome = {
        let (lost, side) = (&mut lost_of_client, Side::Client);
        let from_client = Passage { observers: &observers, side, lost, stamp, own_replies: &own_replies };
        let (lost, side) = (&mut lost_of_server, Side::Server);
        let from_server =
            Passage { observers: &observers, side, lost, stamp: None, own_replies: &own_replies };
        let requests = from_client.pass(&mut client_reads, &mut server_writes);
        let replies = from_server.pass(&mut server_reads, &mut client_writes);
        tokio::pin!(requests, replies);
        tokio::select! {
            ended = &mut requests => {
                first_end = Some(Side::Client);
                // A client that stops sending may still read replies.
                match ended { Ok(()) => replies.await, lost => lost }
            }
            ended = &mut replies => {
                first_end.get_or_insert(Side::Server);
                match ended { Ok(()) => requests.await, lost => lost }
            }
        }
    };
    let by = first_end.unwrap_or(Side::Client);
    if let Some(tap) = observers.tap {
        tap.close(by, [(Side::Client, lost_of_client), (Side::Server, lost_of_server)]);
    }
    outcome
}

/// One direction of a connection.
struct Passage<'a> {
    observers: &'a Observers,
    side: Side,
    lost: &'a mut u64,
    stamp: Option<RequestStamp>,
    own_replies: &'a OwnReplies,
}

impl Passage<'_> {
    /// Passes bytes until they end.
    async fn pass(
        mut self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let count = tokio::select! {
                read = from.read(&mut buffer) => read?,
                () = self.own_replies.arrived(), if self.side == Side::Server => {
                    self.pass_own_replies(&mut to).await?;
                    continue;
                }
            };
            let stamped = self.stamp.as_mut().map(|stamp| {
                let passed = if count == 0 { stamp.rest() } else { stamp.take(&buffer[..count]) };
                self.own_replies.add(&stamp.take_replies());
                passed
            });
            let bytes = stamped.as_deref().unwrap_or(&buffer[..count]);
            if !bytes.is_empty() {
                if let Some(captured) = &self.observers.captured {
                    captured.pass(self.side, bytes).map_err(io::Error::other)?;
                }
                if let Some(tap) = &self.observers.tap {
                    tap.pass(self.side, bytes, self.lost);
                }
                to.write_all(bytes).await?;
                // TLS may hold bytes back.
                to.flush().await?;
                self.pass_own_replies(&mut to).await?;
            }
            if count == 0 {
                return to.shutdown().await;
            }
            if count == buffer.len() && count < LARGE_BUFFER_BYTES {
                buffer = vec![0; LARGE_BUFFER_BYTES];
            }
        }
    }
    /// Passes the proxy's own replies to the client.
    async fn pass_own_replies<W: AsyncWrite + Unpin>(&self, to: &mut W) -> io::Result<()> {
        if self.side == Side::Server {
            let replies = self.own_replies.take(self.observers.captured.as_ref());
            to.write_all(&replies).await?;
            to.flush().await?;
        }
        Ok(())
    }
}
