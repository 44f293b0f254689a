//! Encodes the calls of the load, in the shape of either API generation.

use clap::ValueEnum;

use wire::thrift::{MessageKind, TType, Writer};

/// The API generation of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThriftDialect {
    /// Each call has a keyspace argument.
    #[value(name = "0.6")]
    Keyed,
    /// `set_keyspace` sets the keyspace of the connection.
    #[value(name = "0.7", aliases = ["0.8", "1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "3.0", "3.11"])]
    Session,
}

/// The settings that all calls of a run have in common.
#[derive(Debug, Clone)]
pub(crate) struct StressTarget {
    pub dialect: ThriftDialect,
    pub keyspace: String,
    pub column_family: String,
    /// The super column of all rows; `None` for a standard column family.
    pub super_column: Option<String>,
    /// Number of the consistency level on the wire.
    pub consistency: i32,
}

/// A column to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThriftColumn<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
    /// Microseconds since 1970.
    pub timestamp: i64,
}

impl StressTarget {
    pub(crate) fn set_keyspace(&self, writer: &mut Writer, seqid: i32) {
        writer.message_begin(b"set_keyspace", MessageKind::Call, seqid);
        writer.field_string(1, self.keyspace.as_bytes());
        writer.stop();
    }

    pub(crate) fn insert(&self, writer: &mut Writer, seqid: i32, key: &[u8], column: ThriftColumn) {
        let id = self.call_begin(writer, b"insert", seqid);
        writer.field_string(id, key);
        let consistency_id = match self.dialect {
            ThriftDialect::Keyed => {
                self.field_path(writer, id + 1, Some(column.name));
                writer.field_string(id + 2, column.value);
                writer.field_i64(id + 3, column.timestamp);
                id + 4
            }
            ThriftDialect::Session => {
                self.field_path(writer, id + 1, None);
                writer.field_struct(id + 2);
                column.write(writer);
                id + 3
            }
        };
        self.call_end(writer, consistency_id);
    }

    /// Reads one column.
    pub(crate) fn get(&self, writer: &mut Writer, seqid: i32, key: &[u8], name: &[u8]) {
        let id = self.call_begin(writer, b"get", seqid);
        writer.field_string(id, key);
        self.field_path(writer, id + 1, Some(name));
        self.call_end(writer, id + 2);
    }

    /// Reads the first columns of a row, or the last ones.
    pub(crate) fn get_slice(&self, writer: &mut Writer, seqid: i32, key: &[u8], count: i32, reversed: bool) {
        let id = self.call_begin(writer, b"get_slice", seqid);
        writer.field_string(id, key);
        self.field_path(writer, id + 1, None);
        writer.field_struct(id + 2);
        writer.field_struct(2);
        writer.field_string(1, b"");
        writer.field_string(2, b"");
        writer.field_bool(3, reversed);
        writer.field_i32(4, count);
        writer.stop();
        writer.stop();
        self.call_end(writer, id + 3);
    }

    /// Writes columns of one row.
    pub(crate) fn batch_mutate<'c>(
        &self,
        writer: &mut Writer,
        seqid: i32,
        key: &[u8],
        columns: impl ExactSizeIterator<Item = ThriftColumn<'c>>,
    ) {
        let id = self.call_begin(writer, b"batch_mutate", seqid);
        writer.field_map(id, TType::String, TType::Map, 1);
        writer.bytes(key);
        writer.map_begin(TType::String, TType::List, 1);
        writer.bytes(self.column_family.as_bytes());
        match &self.super_column {
            None => {
                writer.list_begin(TType::Struct, columns.len());
                for column in columns {
                    writer.field_struct(1);
                    writer.field_struct(1);
                    column.write(writer);
                    writer.stop();
                    writer.stop();
                }
            }
            Some(super_column) => {
                writer.list_begin(TType::Struct, 1);
                writer.field_struct(1);
                writer.field_struct(2);
                writer.field_string(1, super_column.as_bytes());
                writer.field_list(2, TType::Struct, columns.len());
                columns.for_each(|column| column.write(writer));
                writer.stop();
                writer.stop();
                writer.stop();
            }
        }
        self.call_end(writer, id + 1);
    }

    /// Writes the header, and the keyspace if calls have it. Returns the id of the next argument.
    fn call_begin(&self, writer: &mut Writer, name: &[u8], seqid: i32) -> i16 {
        writer.message_begin(name, MessageKind::Call, seqid);
        match self.dialect {
            ThriftDialect::Keyed => {
                writer.field_string(1, self.keyspace.as_bytes());
                2
            }
            ThriftDialect::Session => 1,
        }
    }

    /// Writes the consistency level, the last argument of all calls.
    fn call_end(&self, writer: &mut Writer, consistency_id: i16) {
        writer.field_i32(consistency_id, self.consistency);
        writer.stop();
    }

    /// Writes a ColumnParent, or with a column name a ColumnPath: their field ids are the same.
    fn field_path(&self, writer: &mut Writer, id: i16, column: Option<&[u8]>) {
        writer.field_struct(id);
        writer.field_string(3, self.column_family.as_bytes());
        if let Some(super_column) = &self.super_column {
            writer.field_string(4, super_column.as_bytes());
        }
        if let Some(column) = column {
            writer.field_string(5, column);
        }
        writer.stop();
    }
}

impl ThriftColumn<'_> {
    /// Writes the fields of a Column and its stop.
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.field_string(1, self.name);
        writer.field_string(2, self.value);
        writer.field_i64(3, self.timestamp);
        writer.stop();
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use wire::thrift::{MessageHeader, Reader};

    fn target(dialect: ThriftDialect, super_column: bool) -> StressTarget {
        StressTarget {
            dialect,
            keyspace: "ks".to_owned(),
            column_family: "cf".to_owned(),
            super_column: super_column.then(|| "sc".to_owned()),
            consistency: 1,
        }
    }

    const COLUMN: ThriftColumn = ThriftColumn { name: b"n", value: b"v", timestamp: 7 };

    /// Returns a call as text, with the field ids of the IDL.
    fn text_of(write: impl FnOnce(&mut Writer)) -> String {
        let mut out = BytesMut::new();
        write(&mut Writer::new(&mut out));
        let mut reader = Reader::over(&out);
        let header = MessageHeader::read(&mut reader).unwrap();
        let name = String::from_utf8_lossy(header.name).into_owned();
        let arguments = value(&mut reader, TType::Struct);
        assert_eq!(reader.remaining(), 0);
        format!("{name}{arguments}")
    }

    fn value(reader: &mut Reader, ttype: TType) -> String {
        match ttype {
            TType::Bool => reader.bool().unwrap().to_string(),
            TType::I32 => reader.i32().unwrap().to_string(),
            TType::I64 => format!("{}L", reader.i64().unwrap()),
            TType::String => String::from_utf8_lossy(reader.raw().unwrap()).into_owned(),
            TType::Struct => {
                let mut fields = Vec::new();
                while let Some((ttype, id)) = reader.field_begin().unwrap() {
                    fields.push(format!("{id}:{}", value(reader, ttype)));
                }
                format!("({})", fields.join(" "))
            }
            TType::List => {
                let (element, count) = reader.list_begin().unwrap();
                let elements: Vec<_> = (0..count).map(|_| value(reader, element)).collect();
                format!("[{}]", elements.join(" "))
            }
            TType::Map => {
                let (key, element, count) = reader.map_begin().unwrap();
                let mut entry = || format!("{}={}", value(reader, key), value(reader, element));
                let entries: Vec<_> = (0..count).map(|_| entry()).collect();
                format!("{{{}}}", entries.join(" "))
            }
            other => panic!("no call of the load has a {other:?}"),
        }
    }

    #[test]
    fn calls_of_0_6_have_a_keyspace() {
        let target = target(ThriftDialect::Keyed, false);
        assert_eq!(
            text_of(|writer| target.insert(writer, 1, b"k", COLUMN)),
            "insert(1:ks 2:k 3:(3:cf 5:n) 4:v 5:7L 6:1)"
        );
        assert_eq!(text_of(|writer| target.get(writer, 1, b"k", b"n")), "get(1:ks 2:k 3:(3:cf 5:n) 4:1)");
        assert_eq!(
            text_of(|writer| target.get_slice(writer, 1, b"k", 10, true)),
            "get_slice(1:ks 2:k 3:(3:cf) 4:(2:(1: 2: 3:true 4:10)) 5:1)"
        );
        assert_eq!(
            text_of(|writer| target.batch_mutate(writer, 1, b"k", [COLUMN, COLUMN].into_iter())),
            "batch_mutate(1:ks 2:{k={cf=[(1:(1:(1:n 2:v 3:7L))) (1:(1:(1:n 2:v 3:7L)))]}} 3:1)"
        );
    }

    #[test]
    fn calls_of_0_7_have_no_keyspace() {
        let target = target(ThriftDialect::Session, true);
        assert_eq!(text_of(|writer| target.set_keyspace(writer, 1)), "set_keyspace(1:ks)");
        assert_eq!(
            text_of(|writer| target.insert(writer, 1, b"k", COLUMN)),
            "insert(1:k 2:(3:cf 4:sc) 3:(1:n 2:v 3:7L) 4:1)"
        );
        assert_eq!(text_of(|writer| target.get(writer, 1, b"k", b"n")), "get(1:k 2:(3:cf 4:sc 5:n) 3:1)");
        assert_eq!(
            text_of(|writer| target.batch_mutate(writer, 1, b"k", [COLUMN].into_iter())),
            "batch_mutate(1:{k={cf=[(1:(2:(1:sc 2:[(1:n 2:v 3:7L)])))]}} 2:1)"
        );
    }
}
