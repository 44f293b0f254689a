//! Writes the types of columns and markers.

use base::marshal::CqlType;
use wire::native::{BodyWriter, ProtocolVersion};

/// A custom type: a class name follows.
const CUSTOM: u16 = 0x00;
const LIST: u16 = 0x20;
const MAP: u16 = 0x21;
const SET: u16 = 0x22;
const USER: u16 = 0x30;
const TUPLE: u16 = 0x31;

/// Writes a type. A type that the version does not have is written as a custom type with its class name, as Cassandra
/// does.
pub(super) fn write_type(writer: &mut BodyWriter<'_>, cql_type: &CqlType) {
    let version = writer.version;
    match cql_type {
        CqlType::Native(native) => {
            let row = native.row();
            if version as u8 >= row.protocol {
                writer.u16(row.code);
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
        CqlType::Tuple(_) | CqlType::User { .. } if version < ProtocolVersion::V3 => {
            write_class(writer, cql_type);
        }
        CqlType::Tuple(fields) => {
            writer.u16(TUPLE);
            writer.u16(u16::try_from(fields.len()).unwrap_or(u16::MAX));
            fields.iter().for_each(|field| write_type(writer, field));
        }
        // A user type above the limits, created by a version of this server without limits.
        CqlType::User { user, .. } if !user.size().is_within_limits() => write_class(writer, cql_type),
        CqlType::User { user, .. } => {
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
    use base::marshal::Native;

    fn written(cql_type: &CqlType, version: ProtocolVersion) -> Vec<u8> {
        let mut out = BytesMut::new();
        write_type(&mut BodyWriter::new(&mut out, version), cql_type);
        out.to_vec()
    }

    #[test]
    fn a_type_that_a_version_does_not_have_is_written_as_a_class_name() {
        let small = CqlType::Native(Native::Smallint);
        assert_eq!(written(&small, ProtocolVersion::V4), [0, 0x13]);
        let class = b"org.apache.cassandra.db.marshal.ShortType";
        assert_eq!(written(&small, ProtocolVersion::V3), [&[0, 0, 0, class.len() as u8][..], class].concat());
        let pair = CqlType::Tuple(vec![CqlType::Native(Native::Int), CqlType::Native(Native::Text)]);
        assert_eq!(written(&pair, ProtocolVersion::V3), [0, 0x31, 0, 2, 0, 9, 0, 0x0d]);
        assert_eq!(written(&pair, ProtocolVersion::V2)[..2], [0, 0]);
    }
}
