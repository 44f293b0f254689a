//! Types as results and markers tell them.

use super::body_writer::BodyWriter;
use super::version::ProtocolVersion;
use crate::marshal::{CqlType, Native};

/// Followed by a class's name.
const CUSTOM: u16 = 0x00;
const LIST: u16 = 0x20;
const MAP: u16 = 0x21;
const SET: u16 = 0x22;
const USER: u16 = 0x30;
const TUPLE: u16 = 0x31;

/// The number of a native type, and the version that it came with.
fn native_code(native: Native) -> (u16, ProtocolVersion) {
    use ProtocolVersion::{V1, V4, V5};
    match native {
        Native::Ascii => (0x01, V1),
        Native::Bigint => (0x02, V1),
        Native::Blob => (0x03, V1),
        Native::Boolean => (0x04, V1),
        Native::Counter => (0x05, V1),
        Native::Decimal => (0x06, V1),
        Native::Double => (0x07, V1),
        Native::Float => (0x08, V1),
        Native::Int => (0x09, V1),
        Native::Timestamp | Native::OldTimestamp => (0x0b, V1),
        Native::Uuid => (0x0c, V1),
        Native::Text => (0x0d, V1),
        Native::Varint => (0x0e, V1),
        Native::Timeuuid => (0x0f, V1),
        Native::Inet => (0x10, V1),
        Native::Date => (0x11, V4),
        Native::Time => (0x12, V4),
        Native::Smallint => (0x13, V4),
        Native::Tinyint => (0x14, V4),
        Native::Duration => (0x15, V5),
    }
}

/// Writes a type. One that the version does not know is told by its class, as Cassandra does.
pub fn write_type(writer: &mut BodyWriter<'_>, cql_type: &CqlType) {
    let version = writer.version;
    match cql_type {
        CqlType::Native(native) => {
            let (code, since) = native_code(*native);
            if version >= since {
                writer.u16(code);
            } else {
                write_class(writer, cql_type);
            }
        }
        CqlType::List { element, .. } => {
            writer.u16(LIST);
            write_type(writer, element);
        }
        CqlType::Set { element, .. } => {
            writer.u16(SET);
            write_type(writer, element);
        }
        CqlType::Map { key, value, .. } => {
            writer.u16(MAP);
            write_type(writer, key);
            write_type(writer, value);
        }
        CqlType::Tuple(_) | CqlType::User(_) if version < ProtocolVersion::V3 => {
            write_class(writer, cql_type);
        }
        CqlType::Tuple(fields) => {
            writer.u16(TUPLE);
            writer.u16(u16::try_from(fields.len()).unwrap_or(u16::MAX));
            fields.iter().for_each(|field| write_type(writer, field));
        }
        // A version without limits has made it.
        CqlType::User(user) if !user.size().is_within_limits() => write_class(writer, cql_type),
        CqlType::User(user) => {
            writer.u16(USER);
            writer.string(&user.keyspace);
            writer.string(&user.name);
            writer.u16(u16::try_from(user.fields.len()).unwrap_or(u16::MAX));
            for (name, field) in &user.fields {
                writer.string(name);
                write_type(writer, field);
            }
        }
        CqlType::Custom(_) => write_class(writer, cql_type),
    }
}

fn write_class(writer: &mut BodyWriter<'_>, cql_type: &CqlType) {
    writer.u16(CUSTOM);
    writer.string(&cql_type.class_name());
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;

    fn written(cql_type: &CqlType, version: ProtocolVersion) -> Vec<u8> {
        let mut out = BytesMut::new();
        write_type(&mut BodyWriter::new(&mut out, version), cql_type);
        out.to_vec()
    }

    #[test]
    fn a_type_that_a_version_does_not_know_is_told_by_its_class() {
        let small = CqlType::Native(Native::Smallint);
        assert_eq!(written(&small, ProtocolVersion::V4), [0, 0x13]);
        let class = b"org.apache.cassandra.db.marshal.ShortType";
        assert_eq!(written(&small, ProtocolVersion::V3), [&[0, 0, 0, class.len() as u8][..], class].concat());
        let pair = CqlType::Tuple(vec![CqlType::Native(Native::Int), CqlType::Native(Native::Text)]);
        assert_eq!(written(&pair, ProtocolVersion::V3), [0, 0x31, 0, 2, 0, 9, 0, 0x0d]);
        assert_eq!(written(&pair, ProtocolVersion::V2)[..2], [0, 0]);
    }
}
