//! Checks replies in the client, and makes the replies of the do-nothing server.

use bytes::{Bytes, BytesMut};

use super::cql::INSERT_MARKERS;
use super::dialect::ThriftColumn;
use super::workload::{StressCall, column_name};
use wire::thrift::{MessageHeader, MessageKind, Reader, TType, WireError, Writer};

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StressFailure {
    /// Failures are counted by kind, such as the name of an exception.
    pub kind: &'static str,
    pub text: String,
}

impl From<WireError> for StressFailure {
    fn from(error: WireError) -> StressFailure {
        StressFailure { kind: "malformed reply", text: error.to_string() }
    }
}

/// Reads a whole reply. Returns the number of its columns. `call` is `None` for calls that prepare a connection.
pub(crate) fn check(message: &Bytes, call: Option<StressCall>, seqid: i32) -> Result<usize, StressFailure> {
    let mut reader = Reader::new(message);
    let header = MessageHeader::read(&mut reader)?;
    if header.seqid != seqid {
        let text = format!("sequence number {} where {seqid} was expected", header.seqid);
        return Err(StressFailure { kind: "malformed reply", text });
    }
    if header.kind == MessageKind::Exception {
        let text = first_text(&mut reader)?;
        return Err(StressFailure { kind: "TApplicationException", text });
    }
    let mut columns = None;
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (0, TType::List) => {
                columns = Some(reader.clone().list_begin()?.1);
                reader.skip(ttype)?;
            }
            (0, _) => {
                columns = Some(1);
                reader.skip(ttype)?;
            }
            (_, TType::Struct) => {
                let kind = exception_name(call, id);
                return Err(StressFailure { kind, text: first_text(&mut reader)? });
            }
            _ => reader.skip(ttype)?,
        }
    }
    match (call, columns) {
        (Some(StressCall::Get | StressCall::GetSlice), None) => {
            Err(StressFailure { kind: "malformed reply", text: "the result is missing".to_owned() })
        }
        _ => Ok(columns.unwrap_or(0)),
    }
}

/// Returns the declared exception with field `id` of a result.
fn exception_name(call: Option<StressCall>, id: i16) -> &'static str {
    let id = if call == Some(StressCall::Get) { id } else { id + i16::from(id > 1) };
    match id {
        1 => "InvalidRequestException",
        2 => "NotFoundException",
        3 => "UnavailableException",
        4 => "TimedOutException",
        _ => "other exception",
    }
}

/// Reads a struct. Returns its field 1 if that is a string.
fn first_text(reader: &mut Reader) -> Result<String, WireError> {
    let mut text = String::new();
    while let Some((ttype, id)) = reader.field_begin()? {
        match (ttype, id) {
            (TType::String, 1) => text = String::from_utf8_lossy(reader.raw()?).into_owned(),
            _ => reader.skip(ttype)?,
        }
    }
    Ok(text)
}

/// The encoded result structs, which are constant.
#[derive(Debug)]
pub(crate) struct Answers {
    get: Bytes,
    get_slice: Bytes,
    void: Bytes,
    version: Bytes,
    prepared: Bytes,
    inserted: Bytes,
    selected: Bytes,
}

impl Answers {
    /// Creates replies with this many columns in a slice and this many bytes in a value.
    pub(crate) fn new(columns: u32, value_bytes: usize) -> Answers {
        let value = vec![b'v'; value_bytes];
        let write_column = |writer: &mut Writer, number: u32| {
            writer.field_struct(1);
            ThriftColumn { name: &column_name(number), value: &value, timestamp: 1_300_000_000_000_000 }
                .write(writer);
            writer.stop();
        };
        Answers {
            get: result(|writer| {
                writer.field_struct(0);
                write_column(writer, 0);
            }),
            get_slice: result(|writer| {
                writer.field_list(0, TType::Struct, columns as usize);
                (0..columns).for_each(|number| write_column(writer, number));
            }),
            void: result(|_| ()),
            version: result(|writer| writer.field_string(0, b"0.0.0")),
            prepared: result(|writer| {
                writer.field_struct(0);
                writer.field_i32(1, 0);
                writer.field_i32(2, 0);
                writer.stop();
            }),
            inserted: result(|writer| {
                writer.field_struct(0);
                writer.field_i32(1, 2);
                writer.stop();
            }),
            selected: result(|writer| write_selected(writer, &value)),
        }
    }

    /// Returns the result struct of a method; `None` for unknown methods.
    pub(crate) fn result(&self, method: &[u8], arguments: &mut Reader) -> Option<&Bytes> {
        match method {
            b"insert" | b"batch_mutate" | b"remove" | b"set_keyspace" | b"login" => Some(&self.void),
            b"get" => Some(&self.get),
            b"get_slice" => Some(&self.get_slice),
            b"describe_version" => Some(&self.version),
            b"prepare_cql3_query" => Some(&self.prepared),
            b"execute_prepared_cql3_query" => match values_of(arguments).ok()? {
                INSERT_MARKERS => Some(&self.inserted),
                _ => Some(&self.selected),
            },
            _ => None,
        }
    }
}

/// Returns the number of values of an executed statement.
fn values_of(arguments: &mut Reader) -> Result<usize, WireError> {
    while let Some((ttype, id)) = arguments.field_begin()? {
        if (id, ttype) == (2, TType::List) {
            return Ok(arguments.list_begin()?.1);
        }
        arguments.skip(ttype)?;
    }
    Ok(0)
}

/// Writes a CqlResult of one row with one column.
fn write_selected(writer: &mut Writer, value: &[u8]) {
    writer.field_struct(0);
    writer.field_i32(1, 1);
    writer.field_list(2, TType::Struct, 1);
    writer.field_string(1, b"");
    writer.field_list(2, TType::Struct, 1);
    writer.field_string(1, b"value");
    writer.field_string(2, value);
    writer.stop();
    writer.stop();
    writer.field_struct(4);
    for (id, class) in [(1, &b"UTF8Type"[..]), (2, b"org.apache.cassandra.db.marshal.BytesType")] {
        writer.field_map(id, TType::String, TType::String, 1);
        writer.bytes(b"value");
        writer.bytes(class);
    }
    writer.field_string(3, b"UTF8Type");
    writer.field_string(4, b"UTF8Type");
    writer.stop();
    writer.stop();
}

fn result(write: impl FnOnce(&mut Writer)) -> Bytes {
    let mut bytes = BytesMut::new();
    let mut writer = Writer::new(&mut bytes);
    write(&mut writer);
    writer.stop();
    bytes.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::thrift::ApplicationError;

    fn reply(kind: MessageKind, body: &[u8]) -> Bytes {
        let mut bytes = BytesMut::new();
        Writer::new(&mut bytes).message_begin(b"get", kind, 5);
        bytes.extend_from_slice(body);
        bytes.freeze()
    }

    #[test]
    fn constant_replies_pass_the_check() {
        let answers = Answers::new(10, 34);
        let columns = |method: &[u8], call| {
            check(
                &reply(MessageKind::Reply, answers.result(method, &mut Reader::over(b"\0")).unwrap()),
                call,
                5,
            )
        };
        assert_eq!(columns(b"insert", Some(StressCall::Insert)), Ok(0));
        assert_eq!(columns(b"get", Some(StressCall::Get)), Ok(1));
        assert_eq!(columns(b"get_slice", Some(StressCall::GetSlice)), Ok(10));
        assert_eq!(answers.result(b"truncate", &mut Reader::over(b"\0")), None);
    }

    #[test]
    fn exceptions_are_named_by_method_and_field() {
        let declared = |id: i16, call| {
            let body = result(|writer| {
                writer.field_struct(id);
                writer.field_string(1, b"why");
                writer.stop();
            });
            check(&reply(MessageKind::Reply, &body), Some(call), 5).unwrap_err().kind
        };
        assert_eq!(declared(1, StressCall::Get), "InvalidRequestException");
        assert_eq!(declared(2, StressCall::Get), "NotFoundException");
        assert_eq!(declared(2, StressCall::Insert), "UnavailableException");
        assert_eq!(declared(3, StressCall::Insert), "TimedOutException");
        assert_eq!(declared(4, StressCall::Get), "TimedOutException");
    }

    #[test]
    fn exceptions_and_malformed_replies_are_failures() {
        let mut bytes = BytesMut::new();
        Writer::new(&mut bytes).application_exception(b"get", 5, ApplicationError::UnknownMethod, "no get");
        let unknown = check(&bytes.freeze(), Some(StressCall::Get), 5).unwrap_err();
        assert_eq!((unknown.kind, unknown.text.as_str()), ("TApplicationException", "no get"));
        let kind = |message: Bytes, seqid| check(&message, Some(StressCall::Get), seqid).unwrap_err().kind;
        assert_eq!(kind(reply(MessageKind::Reply, &[0]), 5), "malformed reply");
        assert_eq!(kind(reply(MessageKind::Reply, &[0]), 6), "malformed reply");
        assert_eq!(kind(reply(MessageKind::Reply, &[11, 0]), 5), "malformed reply");
    }
}
