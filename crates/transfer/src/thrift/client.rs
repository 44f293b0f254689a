//! A client of a Thrift server, with one call at a time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::endpoint::ThriftAddress;
use base::util::Password;
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::frame::{MessageCutter, NextMessage};
use wire::thrift::{MessageHeader, MessageKind, Reader, TType, WireError, Writer};

/// Time limits of connecting and of a call.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Room in the input buffer for a read, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// An open connection.
pub struct ThriftClient {
    stream: TcpStream,
    place: ThriftAddress,
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
        place: &ThriftAddress,
        login: Option<(String, Password)>,
    ) -> Result<ThriftClient, String> {
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(&place.address)).await;
        let stream = match connecting {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(format!("cannot connect: {error}")),
            Err(_) => return Err(format!("cannot connect: no answer within {CONNECT_TIMEOUT:?}")),
        };
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let mut client = ThriftClient {
            stream,
            login,
            place: place.clone(),
            cutter: MessageCutter::new(place.transport, MESSAGE_BYTES_MAX),
            input: BytesMut::new(),
            seqid: 0,
            keyspace: None,
        };
        if !client.place.is_keyed {
            client.log_in(None).await?;
        }
        Ok(client)
    }

    /// Logs in; up to 0.6 to a keyspace.
    async fn log_in(&mut self, keyspace: Option<&str>) -> Result<(), String> {
        let Some((user, password)) = self.login.clone() else { return Ok(()) };
        let write = |writer: &mut Writer<'_>| {
            if let Some(keyspace) = keyspace {
                writer.field_string(1, keyspace.as_bytes());
            }
            writer.field_struct(if keyspace.is_some() { 2 } else { 1 });
            writer.field_map(1, TType::String, TType::String, 2);
            for (name, value) in [("username", &user[..]), ("password", password.reveal())] {
                writer.bytes(name.as_bytes());
                writer.bytes(value.as_bytes());
            }
            writer.stop();
        };
        let reply = self.exchange("login", write).await?;
        result_of(&reply, "login", TType::Stop).map(|_| ())
    }

    /// Selects the keyspace of the session. Up to 0.6, where each call names its keyspace, logs in to it.
    pub async fn use_keyspace(&mut self, keyspace: &str) -> Result<(), String> {
        if self.keyspace.as_deref() == Some(keyspace) {
            return Ok(());
        }
        if self.place.is_keyed {
            self.log_in(Some(keyspace)).await?;
            self.keyspace = Some(keyspace.to_owned());
            return Ok(());
        }
        let reply =
            self.exchange("set_keyspace", |writer| writer.field_string(1, keyspace.as_bytes())).await?;
        // The reply is empty or an exception.
        result_of(&reply, "set_keyspace", TType::Stop)?;
        self.keyspace = Some(keyspace.to_owned());
        Ok(())
    }

    /// Calls a method and reads its result of the type `ttype`. Results of other types are skipped.
    pub async fn call<T>(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Writer<'_>) + Send,
        ttype: TType,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, String> + Send,
    ) -> Result<T, String> {
        let reply = self.exchange(name, write).await?;
        let Some(at) = result_of(&reply, name, ttype)? else {
            return Err(format!("{name}: the reply has no result"));
        };
        let answer = reply.slice(at..);
        read(&mut Reader::new(&answer)).map_err(|why| format!("{name}: {why}"))
    }

    async fn exchange(&mut self, name: &str, write: impl FnOnce(&mut Writer<'_>)) -> Result<Bytes, String> {
        self.seqid = self.seqid.wrapping_add(1);
        let mut request = BytesMut::new();
        let mut writer = Writer::new(&mut request);
        let mark = writer.frame_begin(self.place.transport);
        writer.message_begin(name.as_bytes(), MessageKind::Call, self.seqid);
        write(&mut writer);
        writer.stop();
        writer.frame_end(mark).map_err(|error| error.to_string())?;
        let exchanged = tokio::time::timeout(CALL_TIMEOUT, self.send_and_read(&request)).await;
        exchanged.unwrap_or_else(|_| {
            Err(format!(
                "{name}: no answer; append the transport and version to the server's address if they are not the defaults, \
                 such as ?unframed&version=0.6"
            ))
        })
    }

    async fn send_and_read(&mut self, request: &[u8]) -> Result<Bytes, String> {
        self.stream.write_all(request).await.map_err(|error| format!("connection lost: {error}"))?;
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
                Err(error) => return Err(format!("connection lost: {error}")),
            }
        }
    }
}

/// Returns the position of the result in a reply; `None` if there is none. An exception is an error.
fn result_of(reply: &Bytes, name: &str, wanted: TType) -> Result<Option<usize>, String> {
    let read = || -> Result<Result<Option<usize>, String>, WireError> {
        let mut reader = Reader::new(reply);
        let header = MessageHeader::read(&mut reader)?;
        if header.kind == MessageKind::Exception {
            return Ok(Err(format!("{name}: {}", first_text(&mut reader)?)));
        }
        while let Some((ttype, id)) = reader.field_begin()? {
            match id {
                0 if ttype == wanted => return Ok(Ok(Some(reader.position()))),
                0 => reader.skip(ttype)?,
                _ if ttype == TType::Struct => {
                    return Ok(Err(format!("{name} was refused: {}", first_text(&mut reader)?)));
                }
                _ => reader.skip(ttype)?,
            }
        }
        Ok(Ok(None))
    };
    read().unwrap_or_else(|error| Err(format!("{name}: {error}")))
}

/// Returns the text of an exception; many have none.
fn first_text(reader: &mut Reader<'_>) -> Result<String, WireError> {
    let mut text = "without a reason".to_owned();
    while let Some((ttype, id)) = reader.field_begin()? {
        match (ttype, id) {
            (TType::String, 1) => text = String::from_utf8_lossy(reader.raw()?).into_owned(),
            _ => reader.skip(ttype)?,
        }
    }
    Ok(text)
}
