//! Decodes the requests of the native protocol.
//!
//! Ids of prepared statements and states of paging come from the recorded server. Another server has its own, so the
//! request remembers where they are in the body, and can be written with others.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use super::{CallError, NativeFrame, PreparedText};
use crate::limits::RECORDED_MESSAGE_BYTES_MAX;
use base::model::BoundValue;
use wire::native::{BodyReader, ProtocolVersion, RequestCode, flag, parameter_flag, request_opcode};

/// A request, decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeRequest {
    /// The frame of the request.
    pub frame: NativeFrame,
    /// The opcode.
    pub code: RequestCode,
    /// The options of STARTUP. Empty for other requests.
    pub options: BTreeMap<String, String>,
    /// The statement of QUERY, PREPARE and EXECUTE; the statements of BATCH.
    pub statements: Vec<NativeStatement>,
    /// The keyspace that the request names (version 5): then that of the session does not count.
    pub keyspace: Option<String>,
    /// The id of the columns that the client knows (EXECUTE of version 5).
    pub result_id: Option<HandlePart>,
    /// Where the page begins that is requested.
    pub paging_state: Option<HandlePart>,
    /// The timestamp of statements that have none, in microseconds since 1970 (from version 3 on).
    pub timestamp: Option<i64>,
    /// Where the timestamp is, or would be. `None` if the request cannot have one.
    timestamp_place: Option<TimestampPlace>,
    /// The position in the body of the consistency level, in two bytes. `None` if the request has none.
    consistency_at: Option<usize>,
}

/// The place of the timestamp of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TimestampPlace {
    /// The position in the body of the byte with the flag.
    flag_at: usize,
    /// The position of the timestamp.
    at: usize,
}

/// The flag of PREPARE in version 5: the keyspace follows.
const PREPARE_KEYSPACE: u32 = 1;

/// The kind of a batch that updates counters.
const COUNTER_BATCH: u8 = 2;

/// A statement of a request, with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeStatement {
    /// The text, or the id that stands for it.
    pub text: StatementText,
    /// The statement that an id stands for, if a [`Conversation`](super::Conversation) knows it.
    pub prepared: Option<PreparedText>,
    /// The values that are bound to it.
    pub values: Vec<BoundValue>,
    /// The names of the markers to which they are bound. Empty if they are bound by their order.
    pub names: Vec<String>,
}

impl NativeStatement {
    fn new(text: StatementText, values: Vec<BoundValue>) -> NativeStatement {
        NativeStatement { text, prepared: None, values, names: Vec::new() }
    }

    /// Returns the text, if it is known.
    pub fn text(&self) -> Option<&str> {
        match &self.text {
            StatementText::Text(text) => Some(text),
            StatementText::Prepared(_) => self.prepared.as_ref().map(|prepared| &*prepared.text),
        }
    }
}

/// A statement in a request.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementText {
    /// The text.
    Text(String),
    /// The id of a prepared statement.
    Prepared(HandlePart),
}

/// Bytes of a body that other servers have other ones for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlePart {
    /// The bytes without their length.
    pub bytes: Bytes,
    /// The position in the body, with the length field before the bytes.
    range: Range<usize>,
    /// The size of the length field, in bytes: 2 or 4.
    length_bytes: usize,
}

impl NativeRequest {
    /// Decodes the frame of a client.
    ///
    /// # Errors
    ///
    /// If the frame is of a server, its opcode is unknown, or the body is damaged.
    pub fn read(message: &Bytes) -> Result<NativeRequest, CallError> {
        let frame = NativeFrame::read(message)?;
        let code = RequestCode::of_number(frame.opcode).filter(|_| !frame.is_from_server);
        let code = code.ok_or(CallError::Opcode(frame.opcode))?;
        let mut request = NativeRequest {
            code,
            options: BTreeMap::new(),
            statements: Vec::new(),
            keyspace: None,
            result_id: None,
            paging_state: None,
            timestamp: None,
            timestamp_place: None,
            consistency_at: None,
            frame,
        };
        let mut body = Body::of(&request.frame);
        if request.frame.flags & flag::CUSTOM_PAYLOAD != 0 {
            body.reader.skip_payload()?;
        }
        match code {
            RequestCode::Startup => request.options = body.reader.string_map()?,
            RequestCode::Query => {
                let text = StatementText::Text(body.reader.long_string()?.to_string());
                request.read_parameters(text, &mut body)?;
            }
            RequestCode::Prepare => {
                let text = StatementText::Text(body.reader.long_string()?.to_string());
                request.statements.push(NativeStatement::new(text, Vec::new()));
                // Cassandra 3.10 and 3.11 have a draft of version 5 without these flags.
                let has_flags = request.frame.version >= ProtocolVersion::V5 && body.reader.bytes_left() > 0;
                if has_flags && body.reader.u32()? & PREPARE_KEYSPACE != 0 {
                    request.keyspace = Some(body.reader.string()?);
                }
            }
            RequestCode::Execute => request.read_execute(&mut body)?,
            RequestCode::Batch => request.read_batch(&mut body)?,
            RequestCode::Credentials
            | RequestCode::Options
            | RequestCode::Register
            | RequestCode::AuthResponse => {}
        }
        Ok(request)
    }

    fn read_execute(&mut self, body: &mut Body) -> Result<(), CallError> {
        let id = StatementText::Prepared(body.short_part()?);
        let version = self.frame.version;
        if version >= ProtocolVersion::V5 {
            self.result_id = Some(body.short_part()?);
        }
        if version >= ProtocolVersion::V2 {
            return self.read_parameters(id, body);
        }
        let values = body.values()?;
        self.consistency_at = Some(body.position());
        self.statements.push(NativeStatement::new(id, values));
        Ok(())
    }

    /// Reads the parameters of a statement up to its keyspace. The rest is not decoded.
    fn read_parameters(&mut self, text: StatementText, body: &mut Body) -> Result<(), CallError> {
        let version = self.frame.version;
        self.consistency_at = Some(body.position());
        body.reader.u16()?;
        let flags = if version == ProtocolVersion::V1 { 0 } else { body.flags(version)? };
        let flags_end = body.position();
        let has = |wanted: u32| flags & wanted == wanted;
        let mut statement = NativeStatement::new(text, Vec::new());
        if has(parameter_flag::VALUES | parameter_flag::NAMES) {
            (statement.names, statement.values) = body.named_values()?;
        } else if has(parameter_flag::VALUES) {
            statement.values = body.values()?;
        }
        self.statements.push(statement);
        if has(parameter_flag::PAGE_SIZE) {
            body.reader.i32()?;
        }
        if has(parameter_flag::PAGING_STATE) {
            self.paging_state = body.part()?;
        }
        self.read_timestamp(flags, flags_end, body)
    }

    /// Reads the parameters that statements and batches have in common, up to the keyspace.
    fn read_timestamp(&mut self, flags: u32, flags_end: usize, body: &mut Body) -> Result<(), CallError> {
        if self.frame.version < ProtocolVersion::V3 {
            return Ok(());
        }
        if flags & parameter_flag::SERIAL_CONSISTENCY != 0 {
            body.reader.u16()?;
        }
        self.timestamp_place = Some(TimestampPlace { flag_at: flags_end - 1, at: body.position() });
        if flags & parameter_flag::TIMESTAMP != 0 {
            self.timestamp = Some(body.reader.i64()?);
        }
        if flags & parameter_flag::KEYSPACE != 0 && self.frame.version >= ProtocolVersion::V5 {
            self.keyspace = Some(body.reader.string()?);
        }
        Ok(())
    }

    fn read_batch(&mut self, body: &mut Body) -> Result<(), CallError> {
        let kind = body.reader.u8()?;
        for _ in 0..body.reader.u16()? {
            let text = match body.reader.u8()? {
                0 => StatementText::Text(body.reader.long_string()?.to_string()),
                _ => StatementText::Prepared(body.short_part()?),
            };
            let values = body.values()?;
            self.statements.push(NativeStatement::new(text, values));
        }
        self.consistency_at = Some(body.position());
        body.reader.u16()?;
        if kind == COUNTER_BATCH || self.frame.version < ProtocolVersion::V3 {
            return Ok(());
        }
        let flags = body.flags(self.frame.version)?;
        self.read_timestamp(flags, body.position(), body)
    }

    /// Returns the frame with this timestamp for statements that have none. `None` if the request has one, or cannot have
    /// one.
    pub fn with_timestamp(&self, timestamp_us: i64) -> Option<NativeFrame> {
        let TimestampPlace { flag_at, at } = self.timestamp_place.filter(|_| self.timestamp.is_none())?;
        let (before, after) = self.frame.body.split_at_checked(at)?;
        let mut body = BytesMut::with_capacity(self.frame.body.len() + 8);
        body.put_slice(before);
        body.put_i64(timestamp_us);
        body.put_slice(after);
        // The flags of timestamps are in the last byte, whether flags have one byte or four.
        *body.get_mut(flag_at)? |= 0x20;
        Some(NativeFrame { body: body.freeze(), ..self.frame.clone() })
    }

    /// Returns the frame with another consistency level; `None` if the request has none.
    pub fn with_consistency(&self, code: u16) -> Option<NativeFrame> {
        let at = self.consistency_at?;
        let mut body = BytesMut::from(&self.frame.body[..]);
        body.get_mut(at..at + 2)?.copy_from_slice(&code.to_be_bytes());
        Some(NativeFrame { body: body.freeze(), ..self.frame.clone() })
    }

    /// Returns a frame that has the texts of prepared statements instead of their ids: QUERY and BATCH bind values, too.
    /// `None` if a text is not known, or for version 1, in which only EXECUTE binds values, or if the frame would be longer
    /// than those that are recorded: a batch may name a long text many times.
    pub fn unprepared(&self) -> Option<NativeFrame> {
        const KIND_BYTES: usize = 1;
        if self.prepared_ids().next().is_none() {
            return Some(self.frame.clone());
        }
        if self.frame.version == ProtocolVersion::V1 {
            return None;
        }
        let is_batch = self.code == RequestCode::Batch;
        let (mut body, mut at) = (BytesMut::new(), 0);
        for statement in &self.statements {
            let StatementText::Prepared(id) = &statement.text else { continue };
            let text = statement.text()?;
            // Each statement of a batch has a kind: 0 is a text.
            let start = if is_batch { id.range.start.checked_sub(KIND_BYTES)? } else { id.range.start };
            body.put_slice(self.frame.body.get(at..start)?);
            if is_batch {
                body.put_u8(0);
            }
            body.put_u32(u32::try_from(text.len()).ok()?);
            body.put_slice(text.as_bytes());
            at = id.range.end;
            if body.len() > RECORDED_MESSAGE_BYTES_MAX {
                return None;
            }
        }
        if let (false, Some(result)) = (is_batch, &self.result_id) {
            at = result.range.end;
        }
        body.put_slice(self.frame.body.get(at..)?);
        let opcode = if is_batch { self.frame.opcode } else { request_opcode::QUERY };
        Some(NativeFrame { opcode, body: body.freeze(), ..self.frame.clone() })
    }

    /// Returns the ids of the prepared statements that the request executes.
    pub fn prepared_ids(&self) -> impl Iterator<Item = &HandlePart> {
        self.statements.iter().filter_map(|statement| match &statement.text {
            StatementText::Prepared(id) => Some(id),
            StatementText::Text(_) => None,
        })
    }

    /// Returns the frame with other bytes in place of some parts of this request. The header has the stream of the
    /// request.
    pub fn with_parts(&self, parts: &[(&HandlePart, Bytes)]) -> NativeFrame {
        let mut parts: Vec<_> = parts.iter().collect();
        parts.sort_by_key(|(part, _)| part.range.start);
        let mut body = BytesMut::new();
        let mut at = 0;
        for (part, bytes) in parts {
            body.put_slice(self.frame.body.get(at..part.range.start).unwrap_or_default());
            match part.length_bytes {
                2 => body.put_u16(u16::try_from(bytes.len()).unwrap_or(u16::MAX)),
                _ => body.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX)),
            }
            body.put_slice(bytes);
            at = part.range.end;
        }
        body.put_slice(self.frame.body.get(at..).unwrap_or_default());
        NativeFrame { body: body.freeze(), ..self.frame.clone() }
    }
}

/// Reads a body and knows the position.
struct Body {
    length: usize,
    reader: BodyReader,
}

impl Body {
    fn of(frame: &NativeFrame) -> Body {
        Body { length: frame.body.len(), reader: BodyReader::new(frame.body.clone(), frame.version) }
    }

    fn position(&self) -> usize {
        self.length - self.reader.bytes_left()
    }

    fn flags(&mut self, version: ProtocolVersion) -> Result<u32, CallError> {
        Ok(if version >= ProtocolVersion::V5 { self.reader.u32()? } else { self.reader.u8()?.into() })
    }

    fn short_part(&mut self) -> Result<HandlePart, CallError> {
        let start = self.position();
        let bytes = self.reader.short_bytes()?;
        Ok(HandlePart { bytes, range: start..self.position(), length_bytes: 2 })
    }

    fn part(&mut self) -> Result<Option<HandlePart>, CallError> {
        let start = self.position();
        let bytes = self.reader.bytes()?;
        Ok(bytes.map(|bytes| HandlePart { bytes, range: start..self.position(), length_bytes: 4 }))
    }

    fn values(&mut self) -> Result<Vec<BoundValue>, CallError> {
        (0..self.reader.u16()?).map(|_| Ok(self.reader.value()?)).collect()
    }

    fn named_values(&mut self) -> Result<(Vec<String>, Vec<BoundValue>), CallError> {
        (0..self.reader.u16()?).map(|_| Ok((self.reader.string()?, self.reader.value()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(version: u8, opcode: u8, body: &[u8]) -> Bytes {
        let mut out = BytesMut::from(&[version, 0, 0, 1, opcode][..]);
        out.put_u32(u32::try_from(body.len()).unwrap());
        out.put_slice(body);
        out.freeze()
    }

    #[test]
    fn ids_and_states_of_paging_can_be_replaced() {
        let body = b"\0\x02id\0\x01r\0\x01\0\0\0\x0d\0\x01\0\0\0\x01v\0\0\0\x0a\0\0\0\x05state";
        let request = NativeRequest::read(&frame(5, 0x0a, body)).unwrap();
        let id = request.prepared_ids().next().unwrap();
        assert_eq!(id.bytes, "id");
        assert_eq!(request.statements[0].values, [BoundValue::Value("v".into())]);
        let (result, state) = (request.result_id.as_ref().unwrap(), request.paging_state.as_ref().unwrap());
        assert_eq!((&result.bytes[..], &state.bytes[..]), (&b"r"[..], &b"state"[..]));
        assert_eq!(request.with_parts(&[]), request.frame);
        let parts = [(state, Bytes::from_static(b"s")), (id, "other".into()), (result, Bytes::new())];
        let other = request.with_parts(&parts);
        assert_eq!(
            &other.body[..],
            &b"\0\x05other\0\0\0\x01\0\0\0\x0d\0\x01\0\0\0\x01v\0\0\0\x0a\0\0\0\x01s"[..]
        );
    }

    #[test]
    fn a_timestamp_goes_behind_the_serial_consistency_level() {
        let body = b"\0\0\0\x08DELETE 1\0\x01\x10\0\x09";
        let request = NativeRequest::read(&frame(4, 0x07, body)).unwrap();
        let with = request.with_timestamp(5).unwrap();
        assert_eq!(&with.body[..], b"\0\0\0\x08DELETE 1\0\x01\x30\0\x09\0\0\0\0\0\0\0\x05");
        let again = NativeRequest::read(&with.write()).unwrap();
        assert_eq!((again.timestamp, again.with_timestamp(6)), (Some(5), None));
        let batch = |kind: u8| [&[kind][..], b"\0\x01\0\0\0\0\x01x\0\0\0\x01\0\0\0\x80\0\x02ks"].concat();
        let read = |version, kind| NativeRequest::read(&frame(version, 0x0d, &batch(kind))).unwrap();
        let with = read(5, 0).with_timestamp(5).unwrap();
        assert!(with.body.ends_with(b"\0\x01\0\0\0\xa0\0\0\0\0\0\0\0\x05\0\x02ks"), "{:?}", with.body);
        assert_eq!(read(5, 2).with_timestamp(5), None, "counters");
    }

    #[test]
    fn prepared_statements_are_written_as_texts() {
        let read = |frame: Bytes| {
            let mut request = NativeRequest::read(&frame).unwrap();
            let prepared = Some(PreparedText { text: "UPDATE 1".into(), keyspace: None });
            request.statements.iter_mut().for_each(|statement| statement.prepared = prepared.clone());
            request
        };
        let execute = b"\0\x02id\0\x01r\0\x01\0\0\0\x01\0\x01\0\0\0\x01v";
        let request = read(frame(5, 0x0a, execute));
        let query = NativeRequest::read(&request.unprepared().unwrap().write()).unwrap();
        assert_eq!((query.code, query.statements[0].text()), (RequestCode::Query, Some("UPDATE 1")));
        assert_eq!(query.statements[0].values, request.statements[0].values);
        assert_eq!(query.with_consistency(4).unwrap().body[12..14], [0, 4]);
        let unknown = NativeRequest::read(&frame(5, 0x0a, execute)).unwrap();
        assert_eq!(unknown.unprepared(), None);
        let batch = b"\0\0\x02\0\0\0\0\x08UPDATE 2\0\0\x01\0\x02id\0\x01\0\0\0\x01v\0\x01\0";
        let request = read(frame(4, 0x0d, batch));
        let texts = NativeRequest::read(&request.unprepared().unwrap().write()).unwrap();
        let found: Vec<_> = texts.statements.iter().map(NativeStatement::text).collect();
        assert_eq!(found, [Some("UPDATE 2"), Some("UPDATE 1")]);
        assert_eq!(texts.statements[1].values, [BoundValue::Value("v".into())]);
    }

    #[test]
    fn requests_of_old_versions_are_read() {
        let execute = NativeFrame {
            version: ProtocolVersion::V1,
            is_from_server: false,
            flags: 0,
            stream: 3,
            opcode: 0x0a,
            body: Bytes::from_static(b"\0\x02id\0\x02\0\0\0\x01a\xff\xff\xff\xff\0\x01"),
        };
        let request = NativeRequest::read(&execute.write()).unwrap();
        assert_eq!(request.statements[0].values, [BoundValue::Value("a".into()), BoundValue::Null]);
        let query = frame(4, 0x07, b"\0\0\0\x08SELECT 1\0\x01\0");
        let request = NativeRequest::read(&query).unwrap();
        assert_eq!(request.statements[0].text, StatementText::Text("SELECT 1".to_owned()));
    }

    #[test]
    fn damaged_bodies_are_errors() {
        let batch = b"\0\0\x02\0\0\0\0\x08SELECT 1\0\0\x01\0\x02id\0\x01\0\0\0\x01v\0\x01\0";
        assert_eq!(NativeRequest::read(&frame(4, 0x0d, batch)).unwrap().statements.len(), 2);
        for end in 0..batch.len() - 3 {
            let read = NativeRequest::read(&frame(4, 0x0d, &batch[..end]));
            assert!(matches!(read, Err(CallError::Body(_))), "{end}");
        }
        assert_eq!(NativeRequest::read(&frame(4, 0x55, b"")), Err(CallError::Opcode(0x55)));
        assert_eq!(NativeRequest::read(&frame(0x84, 0x07, b"")), Err(CallError::Opcode(0x07)));
    }
}
