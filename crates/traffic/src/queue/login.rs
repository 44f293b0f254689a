//! Logs in at the server that gets the writes of a queue. The queue does not store the users of clients.

use bytes::{BufMut, Bytes, BytesMut};

use super::super::call::{NativeReply, ReplyContent};
use super::lane::{Lane, refusal};
use super::outcome::outcome_of;
use crate::call::Answer;
use crate::value::{Fields, Value};
use base::util::Password;
use wire::native::{ProtocolVersion, request_opcode};
use wire::thrift::TType;

/// A user with the right to make all writes of the clients.
#[derive(Debug, Clone)]
pub struct QueueLogin {
    /// The name.
    pub user: String,
    /// The password.
    pub password: Password,
}

impl Lane {
    /// Logs in over Thrift.
    pub(super) async fn log_in_thrift(&mut self, login: &QueueLogin) -> Result<(), String> {
        let text = |text: &str| Value::Binary(Bytes::copy_from_slice(text.as_bytes()));
        let pairs = login.pairs().map(|(name, value)| (text(name), text(value)));
        let credentials = Value::Map(TType::String, TType::String, pairs.into());
        let request = Value::Struct(Fields::from([(1, credentials)]));
        let reply = self.thrift_call("login", Fields::from([(1, request)])).await?;
        refusal(outcome_of("login", &Answer::Thrift(reply)))
    }

    /// Logs in over the native protocol, after a STARTUP that the server has answered by AUTHENTICATE.
    pub(super) async fn log_in_native(
        &mut self,
        version: ProtocolVersion,
        login: Option<&QueueLogin>,
    ) -> Result<(), String> {
        let login = login.ok_or("the server requires a login, and none is set")?;
        let mut body = BytesMut::new();
        let opcode = if version == ProtocolVersion::V1 {
            body.put_u16(2);
            for text in login.pairs().iter().flat_map(|(name, value)| [*name, *value]) {
                body.put_u16(u16::try_from(text.len()).map_err(|_| "the password is too long")?);
                body.put_slice(text.as_bytes());
            }
            request_opcode::CREDENTIALS
        } else {
            let (user, password) = (login.user.as_bytes(), login.password.reveal().as_bytes());
            // SASL's PLAIN.
            let token = [b"\0", user, b"\0", password].concat();
            body.put_u32(u32::try_from(token.len()).map_err(|_| "the password is too long")?);
            body.put_slice(&token);
            request_opcode::AUTH_RESPONSE
        };
        let NativeReply { content, .. } = self.native_call(version, opcode, body.freeze()).await?;
        match content {
            ReplyContent::Ready | ReplyContent::Authentication(_) => Ok(()),
            ReplyContent::Error { text, .. } => Err(text),
            _ => Err("the server answered the login with an unexpected message".to_owned()),
        }
    }
}

impl QueueLogin {
    fn pairs(&self) -> [(&str, &str); 2] {
        [("username", &self.user), ("password", self.password.reveal())]
    }
}
