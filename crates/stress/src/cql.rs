//! Prepared CQL 3 statements over Thrift, on the column family of the other operations.
//!
//! CQL sees a Thrift column family as the table `(key, column1, value)`, so its statements read and write the same
//! cells.

use super::dialect::{StressTarget, ThriftColumn};
use base::model::StatementId;
use base::schema::quoted_name;
use wire::thrift::{MessageKind, TType, Writer};

/// The numbers of markers of INSERT and SELECT. The do-nothing server distinguishes the statements by them.
pub(crate) const INSERT_MARKERS: usize = 3;
pub(crate) const SELECT_MARKERS: usize = 2;

/// The number of Compression.NONE.
const NO_COMPRESSION: i32 = 2;

/// A statement that every connection prepares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CqlStatement {
    Insert,
    Select,
}

impl CqlStatement {
    fn text(self, target: &StressTarget) -> String {
        let family = quoted_name(&target.column_family);
        match self {
            CqlStatement::Insert => {
                format!("INSERT INTO {family} (key, column1, value) VALUES (?, ?, ?)")
            }
            CqlStatement::Select => format!("SELECT value FROM {family} WHERE key = ? AND column1 = ?"),
        }
    }

    /// Returns the id of the prepared statement: a hash that clients can compute, too.
    pub(crate) fn id(self, target: &StressTarget) -> i32 {
        match StatementId::hash(Some(&target.keyspace), &self.text(target)) {
            StatementId::Hash(id) => id,
            StatementId::Md5(_) => 0,
        }
    }

    pub(crate) fn prepare(self, target: &StressTarget, writer: &mut Writer, seqid: i32) {
        writer.message_begin(b"prepare_cql3_query", MessageKind::Call, seqid);
        writer.field_string(1, self.text(target).as_bytes());
        writer.field_i32(2, NO_COMPRESSION);
        writer.stop();
    }
}

fn execute(target: &StressTarget, writer: &mut Writer, seqid: i32, id: i32, values: &[&[u8]]) {
    writer.message_begin(b"execute_prepared_cql3_query", MessageKind::Call, seqid);
    writer.field_i32(1, id);
    writer.field_list(2, TType::String, values.len());
    values.iter().for_each(|value| writer.bytes(value));
    writer.field_i32(3, target.consistency);
    writer.stop();
}

/// Writes one column with the prepared INSERT.
pub(crate) fn insert(
    target: &StressTarget,
    writer: &mut Writer,
    seqid: i32,
    id: i32,
    key: &[u8],
    column: ThriftColumn,
) {
    let values: [_; INSERT_MARKERS] = [key, column.name, column.value];
    execute(target, writer, seqid, id, &values);
}

/// Reads one column with the prepared SELECT.
pub(crate) fn select(
    target: &StressTarget,
    writer: &mut Writer,
    seqid: i32,
    id: i32,
    key: &[u8],
    name: &[u8],
) {
    let values: [_; SELECT_MARKERS] = [key, name];
    execute(target, writer, seqid, id, &values);
}
