//! Decodes the replies of the native protocol.

use bytes::Bytes;

use super::column_type::read_type;
use super::{CallError, NativeFrame};
use crate::native_message::TRACE_ID_BYTES;
use wire::native::{BodyReader, ProtocolVersion, flag, metadata_flag};

/// The code of the error that no prepared statement has an id. A driver prepares the statement again.
pub(crate) const UNPREPARED: u32 = 0x2500;

/// A reply, decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeReply {
    /// The frame of the reply.
    pub frame: NativeFrame,
    /// The warnings of the server (from version 4 on).
    pub warnings: Vec<String>,
    /// The answer.
    pub content: ReplyContent,
}

/// The answer of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyContent {
    /// The call failed.
    Error {
        /// The code of the error.
        code: u32,
        /// The message for the user.
        text: String,
        /// The fields of the code.
        fields: Bytes,
    },
    /// The connection is open.
    Ready,
    /// The class of the authenticator.
    Authenticate(String),
    /// The answer to OPTIONS.
    Supported,
    /// The statement has no result.
    Void,
    /// The result of a query.
    Rows(ResultRows),
    /// The keyspace that USE has selected.
    Keyspace(String),
    /// A statement was prepared.
    Prepared {
        /// The id of the statement.
        id: Bytes,
        /// The id of the columns (version 5).
        result_id: Option<Bytes>,
        /// The types of the markers and of the result.
        metadata: Bytes,
    },
    /// The change of the schema, as the server has written it.
    SchemaChange(Bytes),
    /// The login continues or has succeeded.
    Authentication(Bytes),
}

/// The rows of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRows {
    /// Empty if the client knows the columns and wanted no metadata.
    pub columns: Vec<ResultColumn>,
    /// Where the next page begins.
    pub paging_state: Option<Bytes>,
    /// The new id of the columns, if they have changed (version 5).
    pub result_id: Option<Bytes>,
    /// The values, by rows and columns. `None` is null.
    pub rows: Vec<Vec<Option<Bytes>>>,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    /// The keyspace of the table.
    pub keyspace: String,
    /// The table.
    pub table: String,
    /// The name of the column, or the expression of the query.
    pub name: String,
    /// The type as CQL writes it.
    pub cql_type: String,
}

impl NativeReply {
    /// Decodes the frame of a server.
    ///
    /// # Errors
    ///
    /// If the frame is of a client, its opcode is unknown, or the body is damaged.
    pub fn read(message: &Bytes) -> Result<NativeReply, CallError> {
        let frame = NativeFrame::read(message)?;
        if !frame.is_from_server {
            return Err(CallError::Opcode(frame.opcode));
        }
        let mut body = BodyReader::new(frame.body.clone(), frame.version);
        if frame.flags & flag::TRACING != 0 {
            take(&mut body, TRACE_ID_BYTES)?;
        }
        let is_warned = frame.flags & flag::WARNING != 0 && frame.version >= ProtocolVersion::V4;
        let warnings = if is_warned { body.strings()? } else { Vec::new() };
        if frame.flags & flag::CUSTOM_PAYLOAD != 0 && frame.version >= ProtocolVersion::V4 {
            body.skip_payload()?;
        }
        let content = content(&frame, body)?;
        Ok(NativeReply { frame, warnings, content })
    }
}

fn content(frame: &NativeFrame, mut body: BodyReader) -> Result<ReplyContent, CallError> {
    Ok(match frame.opcode {
        0x00 => ReplyContent::Error { code: body.u32()?, text: body.string()?, fields: rest(frame, &body) },
        0x02 => ReplyContent::Ready,
        0x03 => ReplyContent::Authenticate(body.string()?),
        0x06 => ReplyContent::Supported,
        0x08 => result(frame, body)?,
        0x0e | 0x10 => ReplyContent::Authentication(rest(frame, &body)),
        other => return Err(CallError::Opcode(other)),
    })
}

fn result(frame: &NativeFrame, mut body: BodyReader) -> Result<ReplyContent, CallError> {
    Ok(match body.i32()? {
        1 => ReplyContent::Void,
        2 => ReplyContent::Rows(rows(&mut body)?),
        3 => ReplyContent::Keyspace(body.string()?),
        4 => {
            let id = body.short_bytes()?;
            let has_result = frame.version >= ProtocolVersion::V5;
            let result_id = if has_result { Some(body.short_bytes()?) } else { None };
            ReplyContent::Prepared { id, result_id, metadata: rest(frame, &body) }
        }
        5 => ReplyContent::SchemaChange(rest(frame, &body)),
        other => return Err(CallError::Body(format!("unknown kind {other} of a result"))),
    })
}

fn rows(body: &mut BodyReader) -> Result<ResultRows, CallError> {
    let flags = body.i32()?;
    let width = count(body, 0)?;
    let paging_state = if flags & metadata_flag::MORE_PAGES != 0 { body.bytes()? } else { None };
    let result_id = if flags & metadata_flag::CHANGED != 0 { Some(body.short_bytes()?) } else { None };
    let mut columns = Vec::new();
    if flags & metadata_flag::NO_METADATA == 0 {
        let is_global = flags & metadata_flag::GLOBAL_TABLE != 0;
        let global = if is_global { Some((body.string()?, body.string()?)) } else { None };
        for _ in 0..width {
            let (keyspace, table) = match &global {
                Some(global) => global.clone(),
                None => (body.string()?, body.string()?),
            };
            columns.push(ResultColumn { keyspace, table, name: body.string()?, cql_type: read_type(body)? });
        }
    }
    // A value has at least its length, so the rest of the body limits the rows.
    let height = count(body, width.max(1).saturating_mul(4))?;
    let mut rows = Vec::new();
    for _ in 0..height {
        let mut row = Vec::new();
        for _ in 0..width {
            row.push(body.bytes()?);
        }
        rows.push(row);
    }
    Ok(ResultRows { columns, paging_state, result_id, rows })
}

/// Reads a count of elements that have at least `each_min` bytes. 0: any length.
fn count(body: &mut BodyReader, each_min: usize) -> Result<usize, CallError> {
    let count = body.i32()?;
    usize::try_from(count)
        .ok()
        .filter(|count| count.saturating_mul(each_min) <= body.bytes_left())
        .ok_or_else(|| CallError::Body(format!("{count} elements do not fit into the body")))
}

fn take(body: &mut BodyReader, bytes: usize) -> Result<(), CallError> {
    (0..bytes).try_for_each(|_| body.u8().map(drop))?;
    Ok(())
}

/// Returns the unread bytes.
fn rest(frame: &NativeFrame, body: &BodyReader) -> Bytes {
    frame.body.slice(frame.body.len() - body.bytes_left()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(version: ProtocolVersion, opcode: u8, body: &'static [u8]) -> Result<NativeReply, CallError> {
        let body = Bytes::from_static(body);
        let frame = NativeFrame { version, is_from_server: true, flags: 0, stream: 1, opcode, body };
        NativeReply::read(&frame.write())
    }

    const ROWS: &[u8] =
        b"\0\0\0\x02\0\0\0\x03\0\0\0\x02\0\0\0\x01s\0\x01k\0\x01t\0\x01a\0\x09\0\x01b\0\x20\0\x0d\
        \0\0\0\x01\0\0\0\x04\0\0\0\x05\xff\xff\xff\xff";

    #[test]
    fn rows_are_read() {
        let ReplyContent::Rows(rows) = reply(ProtocolVersion::V4, 8, ROWS).unwrap().content else {
            unreachable!("no rows")
        };
        let types: Vec<_> = rows.columns.iter().map(|column| &column.cql_type[..]).collect();
        assert_eq!(types, ["int", "list<text>"]);
        assert_eq!(rows.paging_state.as_deref(), Some(&b"s"[..]));
        assert_eq!(rows.rows, [vec![Some(Bytes::from_static(b"\0\0\0\x05")), None]]);
    }

    #[test]
    fn errors_and_prepared_statements_are_read() {
        let error = reply(ProtocolVersion::V3, 0, b"\0\0\x24\0\0\x01x\0\x01k\0\0").unwrap().content;
        let fields = Bytes::from_static(b"\0\x01k\0\0");
        assert_eq!(error, ReplyContent::Error { code: 0x2400, text: "x".to_owned(), fields });
        let prepared = reply(ProtocolVersion::V5, 8, b"\0\0\0\x04\0\x01i\0\x01rmeta").unwrap().content;
        let (id, result_id, metadata) = ("i".into(), Some("r".into()), "meta".into());
        assert_eq!(prepared, ReplyContent::Prepared { id, result_id, metadata });
    }

    #[test]
    fn damaged_rows_are_errors() {
        for end in 4..ROWS.len() {
            assert!(matches!(reply(ProtocolVersion::V4, 8, &ROWS[..end]), Err(CallError::Body(_))), "{end}");
        }
        let many = b"\0\0\0\x02\0\0\0\x04\0\0\0\0\x7f\xff\xff\xff";
        assert!(matches!(reply(ProtocolVersion::V4, 8, many), Err(CallError::Body(_))));
    }
}
