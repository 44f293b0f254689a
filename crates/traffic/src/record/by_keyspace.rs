//! Passes each Thrift call to the server of its keyspace.
//!
//! ```text
//!   client                          Blog is on old-2, all else on old-1
//!     login ..            ----->    old-1
//!     set_keyspace Blog   ----->    old-2, which gets the login first
//!     get_slice ..        ----->    old-2
//!     set_keyspace Shop   ----->    old-1
//! ```
//!
//! A call names its keyspace in 0.3 to 0.6; later set_keyspace or USE sets it. Calls of no keyspace go to the server
//! for all else. So the messages of a client have to be cut, unlike in a [`relay`]: one call is passed on and answered
//! before the next. Their bytes are unchanged. Connections of other protocols are relayed to one server.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::queue::Tap;
use super::relay::{Observers, relay};
use crate::call::{Call, Conversation, PreparedTexts, StatementWords};
use crate::limits::RECORDED_MESSAGE_BYTES_MAX;
use crate::{Protocol, Side, ThriftMessage};
use net::{ServerStream, Upstream, UpstreamError};
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::MessageKind;
use wire::thrift::frame::{Detection, FrameError, MessageCutter, NextMessage, Transport, detect};

/// Calls that prepare a connection in addition to set_keyspace. A further server gets them first.
const PREPARING: [&str; 2] = ["login", "set_cql_version"];
/// The number of them that are kept.
const PREPARING_MAX: usize = 8;

/// The servers behind a port.
#[derive(Clone)]
pub struct Upstreams {
    /// The server of all keyspaces that have none of their own.
    pub usual: Upstream,
    /// The servers of keyspaces that have their own.
    pub by_keyspace: Arc<HashMap<String, Upstream>>,
}

impl Upstreams {
    /// Returns one server for all keyspaces.
    pub fn only(usual: Upstream) -> Upstreams {
        Upstreams { usual, by_keyspace: Arc::default() }
    }

    fn of(&self, keyspace: Option<&str>) -> &Upstream {
        keyspace.and_then(|keyspace| self.by_keyspace.get(keyspace)).unwrap_or(&self.usual)
    }
}

/// Why a connection was closed.
#[derive(Debug, thiserror::Error)]
pub(super) enum RouteError {
    #[error(transparent)]
    Lost(#[from] io::Error),
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    #[error("a message is no Thrift message: {0}")]
    Frame(#[from] FrameError),
    #[error(
        "a message of {0} bytes is too long to be passed by keyspace: at most {RECORDED_MESSAGE_BYTES_MAX}"
    )]
    TooLong(usize),
    #[error("the upstream {0} refused {1}, which another upstream had accepted")]
    Refused(Arc<str>, String),
}

/// Serves a client until it leaves or a server is lost.
///
/// # Errors
///
/// Why the connection was closed.
pub(super) async fn route(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    upstreams: &Upstreams,
    tap: Tap,
) -> Result<(), RouteError> {
    let mut first = BytesMut::new();
    let transport = loop {
        match detect(&first, MESSAGE_BYTES_MAX) {
            Detection::Found(transport) => break Some(transport),
            Detection::Refused(_) => break None,
            Detection::Needed(_) if client.read_buf(&mut first).await? == 0 => break None,
            Detection::Needed(_) => {}
        }
    };
    let Some(transport) = transport else {
        let mut server = upstreams.usual.connect().await?;
        tap.pass(Side::Client, &first, &mut 0);
        server.write_all(&first).await?;
        server.flush().await?;
        return Ok(relay(client, server, Observers { tap: Some(tap), captured: None }, None).await?);
    };
    let mut taps = Taps { tap, lost_of_client: 0, lost_of_server: 0 };
    let client = MessageStream {
        stream: client,
        input: first,
        cutter: MessageCutter::new(transport, RECORDED_MESSAGE_BYTES_MAX),
    };
    let is_framed = transport == Transport::Framed;
    let conversation = Conversation::new(Protocol::Thrift { is_framed });
    let mut routed = Routed { client, upstreams, links: HashMap::new(), conversation, preparing: Vec::new() };
    let ended = routed.serve(&mut taps).await;
    taps.close(if ended.is_ok() { Side::Client } else { Side::Server });
    ended
}

/// The tap, with the bytes that found no room.
struct Taps {
    tap: Tap,
    lost_of_client: u64,
    lost_of_server: u64,
}

impl Taps {
    fn request(&mut self, bytes: &[u8]) {
        self.tap.pass(Side::Client, bytes, &mut self.lost_of_client);
    }

    fn reply(&mut self, bytes: &[u8]) {
        self.tap.pass(Side::Server, bytes, &mut self.lost_of_server);
    }

    fn close(self, by: Side) {
        let lost = [(Side::Client, self.lost_of_client), (Side::Server, self.lost_of_server)];
        self.tap.close(by, lost);
    }
}

/// A connection that is cut into messages.
struct MessageStream<S> {
    stream: S,
    input: BytesMut,
    cutter: MessageCutter,
}

impl<S: AsyncRead + AsyncWrite + Unpin> MessageStream<S> {
    /// Reads a message without its frame. `None` at the end.
    async fn read(&mut self) -> Result<Option<Bytes>, RouteError> {
        loop {
            match self.cutter.next_message(&mut self.input)? {
                NextMessage::Message(message) => return Ok(Some(message)),
                NextMessage::TooLong { length, .. } => return Err(RouteError::TooLong(length)),
                NextMessage::Needed(_) if self.stream.read_buf(&mut self.input).await? == 0 => {
                    return Ok(None);
                }
                NextMessage::Needed(_) => {}
            }
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Returns the bytes of a message on this connection.
    fn framed(&self, message: &Bytes) -> Bytes {
        if self.cutter.transport() != Transport::Framed {
            return message.clone();
        }
        let mut bytes = BytesMut::with_capacity(4 + message.len());
        // It is shorter than the limit of the cutter.
        bytes.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
        bytes.put_slice(message);
        bytes.freeze()
    }
}

/// A client, and its connections to servers.
struct Routed<'a, C> {
    client: MessageStream<C>,
    upstreams: &'a Upstreams,
    /// By address.
    links: HashMap<Arc<str>, MessageStream<ServerStream>>,
    conversation: Conversation,
    /// Calls of [`PREPARING`], with their frames.
    preparing: Vec<(String, Bytes)>,
}

impl<C: AsyncRead + AsyncWrite + Unpin> Routed<'_, C> {
    async fn serve(&mut self, taps: &mut Taps) -> Result<(), RouteError> {
        while let Some(message) = self.client.read().await? {
            let bytes = self.client.framed(&message);
            // The server refuses calls that cannot be decoded.
            let call = self.conversation.request(&message, &PreparedTexts::default()).ok();
            let keyspace =
                call.as_ref().map_or_else(|| self.conversation.keyspace().map(str::to_owned), keyspace_of);
            let link = self.link(keyspace.as_deref()).await?;
            taps.request(&bytes);
            link.write(&bytes).await?;
            if call.as_ref().is_some_and(Call::is_oneway) {
                continue;
            }
            let Some(reply) = link.read().await? else {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            };
            let reply_bytes = link.framed(&reply);
            taps.reply(&reply_bytes);
            self.client.write(&reply_bytes).await?;
            if let Some(call) = call {
                self.learn(call, bytes, &reply);
            }
        }
        Ok(())
    }

    /// Learns the keyspace, and which calls a further server has to get.
    fn learn(&mut self, call: Call, bytes: Bytes, reply: &Bytes) {
        let is_accepted = self
            .conversation
            .reply(&call, reply, &mut PreparedTexts::default())
            .is_ok_and(|answer| !answer.is_exception());
        if is_accepted && PREPARING.contains(&&*call.method) && self.preparing.len() < PREPARING_MAX {
            self.preparing.push((call.method, bytes));
        }
    }

    /// Returns the connection to the server of a keyspace. A new one is prepared like the others.
    async fn link(&mut self, keyspace: Option<&str>) -> Result<&mut MessageStream<ServerStream>, RouteError> {
        let upstream = self.upstreams.of(keyspace);
        let address = &upstream.address;
        if !self.links.contains_key(address) {
            let cutter = MessageCutter::new(self.client.cutter.transport(), RECORDED_MESSAGE_BYTES_MAX);
            let mut link =
                MessageStream { stream: upstream.connect().await?, input: BytesMut::new(), cutter };
            for (method, bytes) in &self.preparing {
                link.write(bytes).await?;
                let reply = link.read().await?.and_then(|reply| ThriftMessage::read(&reply).ok());
                let is_accepted = reply.is_some_and(|reply| {
                    reply.kind == MessageKind::Reply && reply.fields.keys().all(|field| *field == 0)
                });
                if !is_accepted {
                    return Err(RouteError::Refused(address.clone(), method.clone()));
                }
            }
            self.links.insert(address.clone(), link);
        }
        Ok(self.links.get_mut(address).ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?)
    }
}

/// Returns the keyspace whose server answers a call: for USE the one that is used from then on.
fn keyspace_of(call: &Call) -> Option<String> {
    let used = call.statement.as_deref().and_then(StatementWords::used_keyspace);
    used.or_else(|| call.keyspace.clone())
}
