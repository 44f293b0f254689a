//! Reads the bodies of requests.

use std::collections::BTreeMap;

use bytes::Bytes;
use bytestring::ByteString;

use super::error::NativeError;
use super::event::NativeEventKind;
use super::parameters::Parameters;
use base::model::{BoundValue, StatementId};
use base::util::meter;
use cql_syntax::BatchKind;
use wire::native::{BodyReader, Compression, Frame, ProtocolVersion, flag};

/// A statement with its parameters.
#[derive(Debug)]
pub(super) struct QueryRequest {
    pub text: ByteString,
    pub parameters: Parameters,
}

#[derive(Debug)]
pub(super) struct Prepare {
    pub text: ByteString,
    /// A keyspace instead of the connection's (version 5).
    pub keyspace: Option<String>,
}

#[derive(Debug)]
pub(super) struct Execute {
    pub id: StatementId,
    /// The id of the columns that the client knows (version 5).
    pub result_id: Option<Bytes>,
    pub parameters: Parameters,
}

#[derive(Debug)]
pub(super) struct BatchRequest {
    pub kind: BatchKind,
    pub items: Vec<BatchItem>,
    pub parameters: Parameters,
}

/// A statement of a batch with its values.
#[derive(Debug)]
pub(super) struct BatchItem {
    pub statement: BatchStatement,
    pub values: Vec<BoundValue>,
}

#[derive(Debug)]
pub(super) enum BatchStatement {
    Text(ByteString),
    Prepared(StatementId),
}

/// Returns the decompressed body of a request, after the custom payload.
///
/// # Errors
///
/// If the body is too long, before it is decompressed; if it cannot be decompressed; or if the version does not allow a
/// flag of the frame.
pub fn open_body(
    frame: &Frame,
    compression: Option<Compression>,
    bytes_max: usize,
) -> Result<BodyReader, NativeError> {
    if frame.body.len() > bytes_max {
        return Err(NativeError::longer(frame.body.len(), bytes_max));
    }
    let body = match compression {
        _ if frame.flags & flag::COMPRESSED == 0 || frame.version.has_segments() => frame.body.clone(),
        Some(compression) => compression.decompress(&frame.body, bytes_max)?,
        None => {
            return Err(NativeError::protocol(
                "the body is compressed, but STARTUP has selected no compression",
            ));
        }
    };
    let mut body = BodyReader::new(body, frame.version);
    if frame.flags & flag::CUSTOM_PAYLOAD != 0 {
        if frame.version < ProtocolVersion::V4 {
            return Err(NativeError::protocol(
                "Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4",
            ));
        }
        body.skip_payload()?;
    }
    Ok(body)
}

pub(super) fn startup(body: &mut BodyReader) -> Result<BTreeMap<String, String>, NativeError> {
    let options = body.string_map()?;
    Ok(options.into_iter().map(|(name, value)| (name.to_ascii_uppercase(), value)).collect())
}

pub(super) fn query(body: &mut BodyReader) -> Result<QueryRequest, NativeError> {
    Ok(QueryRequest { text: body.long_string()?, parameters: Parameters::of_query(body)? })
}

pub(super) fn prepare(body: &mut BodyReader) -> Result<Prepare, NativeError> {
    const WITH_KEYSPACE: u32 = 0x01;
    let text = body.long_string()?;
    let flags = if body.version >= ProtocolVersion::V5 { body.u32()? } else { 0 };
    let keyspace = if flags & WITH_KEYSPACE == 0 { None } else { Some(body.string()?) };
    Ok(Prepare { text, keyspace })
}

/// Reads the id of a statement. An id that is not an MD5 hash is of no statement of this server.
fn statement_id(body: &mut BodyReader) -> Result<StatementId, NativeError> {
    let id = body.short_bytes()?;
    let md5 = <[u8; 16]>::try_from(&id[..]);
    md5.map(StatementId::Md5).map_err(|_| NativeError::unprepared(id))
}

pub(super) fn execute(body: &mut BodyReader) -> Result<Execute, NativeError> {
    let id = statement_id(body)?;
    let result_id = if body.version >= ProtocolVersion::V5 { Some(body.short_bytes()?) } else { None };
    let parameters = match body.version {
        ProtocolVersion::V1 => Parameters::of_old_execute(body)?,
        _ => Parameters::of_query(body)?,
    };
    Ok(Execute { id, result_id, parameters })
}

pub(super) fn batch(body: &mut BodyReader) -> Result<BatchRequest, NativeError> {
    let number = body.u8()?;
    let kind = BatchKind::from_repr(number)
        .ok_or_else(|| NativeError::protocol(format!("Invalid BATCH message type {number}")))?;
    let count = body.u16()?;
    let items = (0..count).map(|_| batch_item(body)).collect::<Result<Vec<_>, _>>()?;
    Ok(BatchRequest { kind, items, parameters: Parameters::of_batch(body)? })
}

fn batch_item(body: &mut BodyReader) -> Result<BatchItem, NativeError> {
    let statement = match body.u8()? {
        0 => BatchStatement::Text(body.long_string()?),
        1 => BatchStatement::Prepared(statement_id(body)?),
        other => {
            return Err(NativeError::protocol(format!(
                "Invalid query kind in BATCH messages. Must be 0 or 1 but got {other}"
            )));
        }
    };
    let count = body.u16()?;
    meter::charge(size_of::<BatchItem>() + usize::from(count) * size_of::<BoundValue>())?;
    let mut values = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        values.push(body.value()?);
    }
    Ok(BatchItem { statement, values })
}

pub(super) fn register(body: &mut BodyReader) -> Result<Vec<NativeEventKind>, NativeError> {
    let mut kinds = Vec::new();
    for name in body.strings()? {
        let kind = NativeEventKind::named(&name);
        kinds.push(kind.ok_or_else(|| NativeError::protocol(format!("Invalid value '{name}' for Type")))?);
    }
    Ok(kinds)
}
