//! A client of a Thrift server, with one call at a time.
//!
//! The library of the Thrift project reads and writes the messages. Its connections are blocking, and refuse frames of more
//! than 16 MB, which replies with large values are, so bytes are sent and received here.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TInputProtocol, TMessageIdentifier, TMessageType,
    TOutputProtocol,
};
use thrift::{ProtocolErrorKind, TConfiguration};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::error::ThriftCallError;
use super::value::{Fields, ThriftValue, ValueReader, invalid, text_of};
use crate::endpoint::{ThriftAddress, connect};
use base::util::Password;
use net::ServerStream;
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::frame::{MessageCutter, NextMessage, Transport};
use wire::thrift::interface::exception_name;

/// The time that a call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Room in the input buffer for a read, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// An open connection.
pub struct ThriftClient {
    stream: ServerStream,
    address: ThriftAddress,
    cutter: MessageCutter,
    input: BytesMut,
    seqid: i32,
    /// The user and the password, if the server requires a login.
    login: Option<(String, Password)>,
    /// The keyspace of the session (0.7 and later), or of the login (0.6).
    keyspace: Option<String>,
}

impl ThriftClient {
    /// Connects. Logs in, except up to 0.6, where a login is for a keyspace. `login` is a user and the password.
    pub async fn connect(
        address: &ThriftAddress,
        login: Option<(String, Password)>,
    ) -> Result<ThriftClient, String> {
        let mut client = ThriftClient {
            stream: connect(&address.address, address.tls.as_ref()).await?,
            login,
            address: address.clone(),
            cutter: MessageCutter::new(address.transport, MESSAGE_BYTES_MAX),
            input: BytesMut::new(),
            seqid: 0,
            keyspace: None,
        };
        if !client.address.is_keyed {
            client.log_in(None).await?;
        }
        Ok(client)
    }

    /// Logs in; up to 0.6 to a keyspace.
    async fn log_in(&mut self, keyspace: Option<&str>) -> Result<(), String> {
        let Some((user, password)) = self.login.clone() else { return Ok(()) };
        let credentials = [("username", &user[..]), ("password", password.reveal())];
        let credentials = credentials.map(|(name, value)| (name.into(), value.into()));
        let request = ThriftValue::from([(1, ThriftValue::Map(credentials.into()))]);
        let arguments = match keyspace {
            Some(keyspace) => vec![(1, keyspace.into()), (2, request)],
            None => vec![(1, request)],
        };
        self.exchange("login", Fields(arguments)).await.map(drop).map_err(|error| error.to_string())
    }

    /// Selects the keyspace of the session. Up to 0.6, where each call names its keyspace, logs in to it.
    pub async fn use_keyspace(&mut self, keyspace: &str) -> Result<(), String> {
        if self.keyspace.as_deref() == Some(keyspace) {
            return Ok(());
        }
        if self.address.is_keyed {
            self.log_in(Some(keyspace)).await?;
        } else {
            let selected = self.exchange("set_keyspace", Fields(vec![(1, keyspace.into())])).await;
            selected.map_err(|error| error.to_string())?;
        }
        self.keyspace = Some(keyspace.to_owned());
        Ok(())
    }

    /// Calls a method. Returns its result.
    pub async fn call(&mut self, name: &str, arguments: Fields) -> Result<ThriftValue, String> {
        let result = self.exchange(name, arguments).await.map_err(|error| error.to_string())?;
        result.ok_or_else(|| format!("{name}: the reply has no result"))
    }

    /// Calls a method. Returns its result, which those that only write do not have.
    pub(crate) async fn exchange(
        &mut self,
        name: &str,
        arguments: Fields,
    ) -> Result<Option<ThriftValue>, ThriftCallError> {
        self.seqid = self.seqid.wrapping_add(1);
        let named = |error: thrift::Error| ThriftCallError::Failed(format!("{name}: {}", text_of(&error)));
        let request = message_of(name, self.seqid, &arguments, self.address.transport).map_err(named)?;
        let exchanged = tokio::time::timeout(CALL_TIMEOUT, self.send_and_read(&request)).await;
        let reply = exchanged.unwrap_or_else(|_| {
            Err(format!(
                "{name}: no answer; append the transport and version to the server's address if they are not the defaults, \
                 such as ?unframed&version=0.6"
            ))
        });
        let reply = reply.map_err(ThriftCallError::Lost)?;
        let mut results = results_of(name, &reply).map_err(named)??;
        // A thriftstore server that cannot tell the generation of a call has the results of both.
        if results.len() > 1 {
            results.retain(|result| result.has_structs() != self.address.is_keyed);
        }
        Ok(results.pop())
    }

    async fn send_and_read(&mut self, request: &[u8]) -> Result<Bytes, String> {
        let lost = |error: std::io::Error| format!("connection lost: {error}");
        self.stream.write_all(request).await.map_err(lost)?;
        // TLS may hold bytes back.
        self.stream.flush().await.map_err(lost)?;
        loop {
            let next = self.cutter.next_message(&mut self.input).map_err(|error| error.to_string())?;
            if let NextMessage::Message(message) = next {
                return Ok(message);
            }
            self.input.reserve(READ_BYTES);
            match self.stream.read_buf(&mut self.input).await {
                Ok(0) => {
                    return Err(
                        "the server closed the connection; append the transport and version to its address if they are not \
                         the defaults, such as ?unframed&version=0.6"
                            .to_owned(),
                    );
                }
                Ok(_) => {}
                Err(error) => return Err(lost(error)),
            }
        }
    }
}

/// Returns the bytes of a call, with the length of the frame if there are frames.
fn message_of(name: &str, seqid: i32, arguments: &Fields, transport: Transport) -> thrift::Result<Vec<u8>> {
    let mut message = Vec::new();
    let mut output = TBinaryOutputProtocol::new(&mut message, true);
    output.write_message_begin(&TMessageIdentifier::new(name, TMessageType::Call, seqid))?;
    arguments.write(&mut output)?;
    output.write_message_end()?;
    if transport == Transport::Framed {
        let length = u32::try_from(message.len());
        let length = length.map_err(|_| invalid(ProtocolErrorKind::SizeLimit, "the request is too long"))?;
        message.splice(0..0, length.to_be_bytes());
    }
    Ok(message)
}

/// Reads a reply to a method: its results, of which methods that only write have none, or the exception.
fn results_of(method: &str, reply: &Bytes) -> thrift::Result<Result<Vec<ThriftValue>, ThriftCallError>> {
    // The library allocates memory for lengths that it reads: none is longer than the reply.
    let length = Some(reply.len());
    let limits = TConfiguration::builder().max_message_size(length).max_string_size(length);
    let limits = limits.max_frame_size(length).build()?;
    let mut input = TBinaryInputProtocol::with_config(&reply[..], false, limits);
    let message = input.read_message_begin()?;
    let mut fields = ValueReader::new(&mut input, reply.len()).fields()?;
    if message.message_type == TMessageType::Exception {
        let why = fields.text(1).unwrap_or_else(|| "an exception without a text".to_owned());
        return Ok(Err(ThriftCallError::Failed(format!("{method}: {why}"))));
    }
    let mut results = Vec::new();
    for (id, value) in fields.0 {
        match value {
            result if id == 0 => results.push(result),
            ThriftValue::Struct(mut exception) => {
                return Ok(Err(ThriftCallError::Refused {
                    method: method.to_owned(),
                    exception: exception_name(method.as_bytes(), id).unwrap_or_default(),
                    why: exception.text(1),
                }));
            }
            _ => {}
        }
    }
    Ok(Ok(results))
}
