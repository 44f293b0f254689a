//! Follows one connection of a recording.

use std::collections::HashMap;

use bytes::Bytes;

use super::super::value::{Fields, Value};
use super::super::{Protocol, ThriftMessage};
use super::thrift_place::{effect_of, method_of, place_of};
use super::{
    Answer, Call, CallEffect, CallError, EXECUTE_PREPARED_OF_THRIFT, NativeReply, NativeRequest,
    NativeStatement, PreparedText, PreparedTexts, ReplyContent, Request, SessionKeyspace, StatementText,
    StatementWords,
};
use crate::limits::TRAFFIC_PREPARED_OF_CONNECTION_MAX;
use crate::report::CallInterface;
use base::compat::features::ApiGeneration;
use cql_syntax::limits::STATEMENT_BYTES_MAX;
use wire::native::RequestCode;
use wire::thrift::frame::Transport;
use wire::thrift::{MessageKind, query_text};

/// The state of a connection, as far as its calls show it.
#[derive(Debug)]
pub struct Conversation {
    protocol: Protocol,
    keyspace: Option<String>,
    generation: Option<ApiGeneration>,
    /// Statements of CQL 2 that were prepared over Thrift, by their ids. Servers share only those of CQL 3.
    prepared: HashMap<i64, PreparedText>,
}

impl Conversation {
    /// Begins with the first message of a connection.
    pub fn new(protocol: Protocol) -> Conversation {
        Conversation { protocol, keyspace: None, generation: None, prepared: HashMap::new() }
    }

    /// Returns the protocol of the connection.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Returns the keyspace that the connection uses.
    pub fn keyspace(&self) -> Option<&str> {
        self.keyspace.as_deref()
    }

    /// Decodes a request.
    ///
    /// # Errors
    ///
    /// If the message is damaged.
    pub fn request(&mut self, message: &Bytes, prepared: &PreparedTexts) -> Result<Call, CallError> {
        match self.protocol {
            Protocol::Thrift { is_framed } => {
                let decoded = ThriftMessage::read(message)?;
                Ok(self.thrift_call(decoded, message.clone(), Protocol::transport(is_framed), prepared))
            }
            Protocol::Native => Ok(self.native_call(NativeRequest::read(message)?, prepared)),
        }
    }

    /// Decodes the reply to a request, and learns from it.
    ///
    /// # Errors
    ///
    /// If the message is damaged.
    pub fn reply(
        &mut self,
        call: &Call,
        message: &Bytes,
        prepared: &mut PreparedTexts,
    ) -> Result<Answer, CallError> {
        match &call.request {
            Request::Thrift { message: request, .. } => {
                let reply = ThriftMessage::read(message)?;
                self.learn_from_thrift(call, request, &reply, prepared);
                Ok(Answer::Thrift(reply))
            }
            Request::Native(_) => {
                let reply = NativeReply::read(message)?;
                match &reply.content {
                    ReplyContent::Keyspace(keyspace) => self.keyspace = Some(keyspace.clone()),
                    ReplyContent::Prepared { id, .. } => {
                        if let Some(text) = &call.statement {
                            let (text, keyspace) = (text.as_str().into(), call.session.clone().flatten());
                            prepared.put(id, PreparedText { text, keyspace });
                        }
                    }
                    _ => {}
                }
                Ok(Answer::Native(reply))
            }
        }
    }

    fn thrift_call(
        &mut self,
        message: ThriftMessage,
        bytes: Bytes,
        transport: Transport,
        prepared: &PreparedTexts,
    ) -> Call {
        let method = message.method();
        let found = method_of(&message.name, &message.fields, self.generation, transport);
        if let Some((method, true)) = found {
            self.generation = Some(method.generation());
        }
        let executed = self.thrift_prepared(&method, &message.fields, prepared).cloned();
        let statement = match &executed {
            Some(executed) => Some(executed.text.to_string()),
            None => thrift_statement(&method, &message.fields),
        };
        let session = executed.map_or_else(|| self.keyspace.clone(), |executed| executed.keyspace);
        let words = statement.as_deref().map(StatementWords::of);
        let place = found.map(|(method, _)| place_of(method, &message.fields)).unwrap_or_default();
        let generation = found.map(|(method, _)| method.generation()).or(self.generation);
        let effect = match words.as_ref().map(|words| words.effect) {
            // Preparing changes nothing.
            _ if method.starts_with("prepare_") => Some(CallEffect::Session),
            None if method.starts_with(EXECUTE_PREPARED_OF_THRIFT) => Some(CallEffect::Write),
            effect => effect,
        };
        let (of_statement, table) = words.map(|words| (words.keyspace, words.table)).unwrap_or_default();
        Call {
            interface: CallInterface::Thrift(generation.unwrap_or(ApiGeneration::AfterSetKeyspace)),
            keyspace: place.keyspace.or(of_statement).or_else(|| session.clone()),
            family: place.family.or(table),
            effect: effect_of(&method, effect),
            statement,
            method,
            session: Some(session),
            request: Request::Thrift { message, bytes },
        }
    }

    /// Returns the prepared statement that a call executes, if it is known.
    fn thrift_prepared<'p>(
        &'p self,
        method: &str,
        fields: &Fields,
        prepared: &'p PreparedTexts,
    ) -> Option<&'p PreparedText> {
        let id = || fields.get(&1)?.as_int();
        match method {
            "execute_prepared_cql_query" => self.prepared.get(&id()?),
            "execute_prepared_cql3_query" => prepared.get(&PreparedTexts::thrift_id(id()?)),
            _ => None,
        }
    }

    fn learn_from_thrift(
        &mut self,
        call: &Call,
        request: &ThriftMessage,
        reply: &ThriftMessage,
        prepared: &mut PreparedTexts,
    ) {
        let is_refused = reply.kind == MessageKind::Exception || reply.fields.keys().any(|id| *id != 0);
        if is_refused {
            return;
        }
        let result = reply.fields.get(&0);
        match (&call.method[..], &call.statement) {
            ("set_keyspace", _) => {
                let keyspace = request.fields.get(&1).and_then(Value::as_binary);
                self.keyspace = keyspace.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            }
            ("prepare_cql_query" | "prepare_cql3_query", Some(text)) => {
                let id = result.and_then(|result| result.get(1)).and_then(Value::as_int);
                let Some(id) = id else { return };
                let statement = PreparedText { text: text.as_str().into(), keyspace: self.keyspace.clone() };
                if call.method == "prepare_cql3_query" {
                    prepared.put(&PreparedTexts::thrift_id(id), statement);
                } else if self.prepared.len() < TRAFFIC_PREPARED_OF_CONNECTION_MAX {
                    self.prepared.insert(id, statement);
                }
            }
            (_, Some(text)) => {
                if let Some(keyspace) = StatementWords::used_keyspace(text) {
                    self.keyspace = Some(keyspace);
                }
            }
            _ => {}
        }
    }

    fn native_call(&mut self, mut request: NativeRequest, prepared: &PreparedTexts) -> Call {
        for statement in &mut request.statements {
            if let StatementText::Prepared(id) = &statement.text {
                statement.prepared = prepared.get(&id.bytes).cloned();
            }
        }
        let texts: Vec<&str> = request.statements.iter().filter_map(NativeStatement::text).collect();
        let words: Vec<_> = texts.iter().map(|text| StatementWords::of(text)).collect();
        let code = request.code;
        let session = self.session_of(&request);
        let effect = match code {
            RequestCode::Batch => CallEffect::Write,
            RequestCode::Query | RequestCode::Execute => {
                words.first().map_or(CallEffect::Write, |words| words.effect)
            }
            _ => CallEffect::Session,
        };
        let is_same = |of: fn(&StatementWords) -> &Option<String>| {
            let first = words.first().map(of).cloned().flatten();
            first.filter(|first| words.iter().all(|words| of(words).as_ref() == Some(first)))
        };
        let verb = match code {
            RequestCode::Query | RequestCode::Execute => words.first().map(|words| words.verb.clone()),
            _ => None,
        };
        Call {
            method: verb.filter(|verb| !verb.is_empty()).unwrap_or_else(|| code.name().to_owned()),
            interface: CallInterface::Native(request.frame.version.number()),
            keyspace: is_same(|words| &words.keyspace).or_else(|| session.clone().flatten()),
            family: is_same(|words| &words.table),
            effect,
            statement: <[&str; 1]>::try_from(texts).ok().map(|[only]| only.to_owned()),
            session,
            request: Request::Native(request),
        }
    }

    /// Returns the keyspace in which the server executes statements; `None` if they have several.
    fn session_of(&self, request: &NativeRequest) -> Option<SessionKeyspace> {
        let of_texts = request.keyspace.as_ref().or(self.keyspace.as_ref());
        let mut all = request.statements.iter().map(|statement| match &statement.prepared {
            Some(prepared) => prepared.keyspace.as_ref(),
            None => of_texts,
        });
        let first = all.next().unwrap_or(of_texts);
        all.all(|other| other == first).then(|| first.cloned())
    }
}

/// Returns the text of the statement of a call.
fn thrift_statement(method: &str, fields: &Fields) -> Option<String> {
    match method {
        "execute_cql_query" | "execute_cql3_query" | "prepare_cql_query" | "prepare_cql3_query" => {
            let compression = fields.get(&2).and_then(Value::as_int).unwrap_or_default();
            let text = fields.get(&1)?.as_binary()?;
            let compression = i32::try_from(compression).ok()?;
            String::from_utf8(query_text(text, compression, STATEMENT_BYTES_MAX).ok()?).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::NativeFrame;
    use super::*;
    use crate::value::fields_from_json;
    use wire::native::ProtocolVersion;

    fn message(name: &'static str, kind: MessageKind, fields: &str) -> Bytes {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        ThriftMessage { name: name.into(), kind, seqid: 1, fields }.write()
    }

    fn place(call: &Call) -> (Option<&str>, Option<&str>, CallEffect) {
        (call.keyspace.as_deref(), call.family.as_deref(), call.effect)
    }

    #[test]
    fn a_thrift_connection_remembers_its_keyspace_and_statements() {
        let mut prepared = PreparedTexts::default();
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: true });
        let mut exchange = |name, request: &str, reply: &str| {
            let call = connection.request(&message(name, MessageKind::Call, request), &prepared).unwrap();
            connection.reply(&call, &message(name, MessageKind::Reply, reply), &mut prepared).unwrap();
            call
        };
        let refused = r#"{"1": {"s": {"1": {"t": "no"}}}}"#;
        exchange("set_keyspace", r#"{"1": {"t": "Blog"}}"#, "{}");
        exchange("set_keyspace", r#"{"1": {"t": "None"}}"#, refused);
        let parent = r#"{"s": {"3": {"t": "Posts"}}}"#;
        let insert = exchange("insert", &format!(r#"{{"1": {{"t": "k"}}, "2": {parent}}}"#), "{}");
        assert_eq!(place(&insert), (Some("Blog"), Some("Posts"), CallEffect::Write));
        assert_eq!(insert.interface, CallInterface::Thrift(ApiGeneration::AfterSetKeyspace));
        let text = r#"{"1": {"t": "SELECT * FROM t WHERE k = ?"}, "2": {"i": 2}}"#;
        let prepare = exchange("prepare_cql3_query", text, r#"{"0": {"s": {"1": {"i": 9}}}}"#);
        assert_eq!(prepare.effect, CallEffect::Session);
        let execute = exchange("execute_prepared_cql3_query", r#"{"1": {"i": 9}}"#, "{}");
        assert_eq!(place(&execute), (Some("Blog"), Some("t"), CallEffect::Read));
        assert_eq!(execute.statement.as_deref(), Some("SELECT * FROM t WHERE k = ?"));
    }

    #[test]
    fn calls_of_old_generations_name_their_keyspace() {
        let prepared = PreparedTexts::default();
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: false });
        let fields = r#"{"1": {"t": "Blog"}, "2": {"t": "k"}, "3": {"s": {"3": {"t": "Posts"}}}}"#;
        let get = connection.request(&message("get", MessageKind::Call, fields), &prepared).unwrap();
        assert_eq!(place(&get), (Some("Blog"), Some("Posts"), CallEffect::Read));
        assert_eq!(get.interface, CallInterface::Thrift(ApiGeneration::WithKeyspace));
        let fields = r#"{"1": {"t": "Table1"}, "2": {"t": "k"}, "3": {"t": "Standard1:a"}, "4": {"t": "v"}}"#;
        let insert = connection.request(&message("insert", MessageKind::Call, fields), &prepared).unwrap();
        assert_eq!(place(&insert), (Some("Table1"), Some("Standard1"), CallEffect::Write));
        assert_eq!(insert.interface, CallInterface::Thrift(ApiGeneration::WithTextPaths));
    }

    #[test]
    fn a_native_connection_knows_prepared_statements() {
        let frame = |is_from_server, opcode, body: &'static [u8]| {
            let body = Bytes::from_static(body);
            let version = ProtocolVersion::V4;
            NativeFrame { version, is_from_server, flags: 0, stream: 0, opcode, body }.write()
        };
        let mut prepared = PreparedTexts::default();
        let mut connection = Conversation::new(Protocol::Native);
        let query = frame(false, 0x07, b"\0\0\0\x06USE ks\0\x01\0");
        let call = connection.request(&query, &prepared).unwrap();
        connection.reply(&call, &frame(true, 8, b"\0\0\0\x03\0\x02ks"), &mut prepared).unwrap();
        let call = connection.request(&frame(false, 0x09, b"\0\0\0\x0fSELECT a FROM t"), &prepared).unwrap();
        assert_eq!((&call.method[..], call.effect), ("PREPARE", CallEffect::Session));
        connection.reply(&call, &frame(true, 8, b"\0\0\0\x04\0\x02id"), &mut prepared).unwrap();
        let mut other = Conversation::new(Protocol::Native);
        let execute = other.request(&frame(false, 0x0a, b"\0\x02id\0\x01\0"), &prepared).unwrap();
        assert_eq!(&execute.method[..], "SELECT");
        // Its table is in the keyspace of the session that has prepared it.
        assert_eq!(place(&execute), (Some("ks"), Some("t"), CallEffect::Read));
        let unknown = other.request(&frame(false, 0x0a, b"\0\x02no\0\x01\0"), &prepared).unwrap();
        assert_eq!(place(&unknown), (None, None, CallEffect::Write), "it may be a write");
        let batch = b"\0\0\x02\0\0\0\0\x01x\0\0\x01\0\x02id\0\0\0\x01\0";
        let session =
            |of: &mut Conversation| of.request(&frame(false, 0x0d, batch), &prepared).unwrap().session;
        assert_eq!((session(&mut connection), session(&mut other)), (Some(Some("ks".to_owned())), None));
    }
}
