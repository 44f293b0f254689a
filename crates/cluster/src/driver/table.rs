//! A table that requests use, with its prepared statements.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use parking_lot::RwLock;
use scylla::statement::prepared::PreparedStatement;

use super::shape::StatementShape;
use crate::table::ClusterTable;
use base::schema::{CfDef, quoted_name};
use store::Result;

/// A table, and its prepared statements.
#[derive(Debug)]
pub struct PreparedTable {
    definition: ClusterTable,
    pub is_counter: bool,
    /// The statements that [`Link`](super::link::Link) has prepared.
    pub prepared: RwLock<HashMap<StatementShape, PreparedStatement>>,
    /// Locked while a statement is prepared, so that requests do not prepare it at the same time.
    pub preparing: tokio::sync::Mutex<()>,
}

impl PreparedTable {
    /// Returns the table of a column family.
    ///
    /// # Errors
    /// `Mismatch` if a cluster cannot store the column family.
    pub fn of(cf: &Arc<CfDef>) -> Result<PreparedTable> {
        let definition = ClusterTable::of(cf)?;
        Ok(PreparedTable {
            definition,
            is_counter: cf.is_counter(),
            prepared: RwLock::default(),
            preparing: tokio::sync::Mutex::default(),
        })
    }

    /// Returns the statement that drops the index.
    pub fn index_removal(&self) -> String {
        format!("DROP INDEX IF EXISTS {}.{}", quoted_name(&self.cf.keyspace), self.index_name())
    }

    /// Returns the columns that a read selects. Counters have no write time and no time to live.
    pub fn selected(&self) -> &'static str {
        match (&self.inner, self.is_counter) {
            (None, false) => "column1, value, WRITETIME(value), TTL(value)",
            (None, true) => "column1, value",
            (Some(_), false) => "column1, column2, value, WRITETIME(value), TTL(value)",
            (Some(_), true) => "column1, column2, value",
        }
    }
}

impl Deref for PreparedTable {
    type Target = ClusterTable;

    fn deref(&self) -> &ClusterTable {
        &self.definition
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::shape::{Ring, RingEnd, RowSelector};
    use base::marshal::Types;
    use base::schema::ColumnType;
    use uuid::Uuid;

    fn family(comparator: &str) -> CfDef {
        CfDef { comparator: Types::builtin().parse(comparator).unwrap(), ..CfDef::new("Ks", "Cf") }
    }

    #[test]
    fn a_table_has_a_column_for_each_level() {
        let mut cf = family("ReversedType(TimeUUIDType)");
        let utf8 = Types::builtin().parse("UTF8Type").unwrap();
        cf.column_type = ColumnType::Super { subcomparator: utf8.clone() };
        cf.default_validator = utf8;
        let table = PreparedTable::of(&Arc::new(cf)).unwrap();
        assert_eq!(
            table.definition(Some(Uuid::nil())),
            "CREATE TABLE IF NOT EXISTS \"Ks\".\"Cf\" (key blob, column1 timeuuid, column2 text, value text, PRIMARY \
             KEY (key, column1, column2)) WITH CLUSTERING ORDER BY (column1 DESC, column2 ASC) AND gc_grace_seconds \
             = 864000 AND id = '00000000-0000-0000-0000-000000000000'"
        );
        let slice = StatementShape::Slice {
            inner: false,
            which: RowSelector::Range { from: true, to: false },
            is_reversed: true,
        };
        assert_eq!(
            slice.text(&table),
            "SELECT column1, column2, value, WRITETIME(value), TTL(value) FROM \"Ks\".\"Cf\" WHERE key = ? AND column1 \
             <= ? ORDER BY column1 ASC, column2 DESC"
        );
    }

    #[test]
    fn a_counter_has_no_timestamps() {
        let mut cf = family("UTF8Type");
        cf.default_validator = Types::builtin().parse("CounterColumnType").unwrap();
        let table = PreparedTable::of(&Arc::new(cf)).unwrap();
        assert_eq!(StatementShape::DeleteRow.text(&table), "DELETE FROM \"Ks\".\"Cf\" WHERE key = ?");
        let delete = |which| StatementShape::Delete { inner: false, which }.text(&table);
        assert_eq!(delete(RowSelector::One), "DELETE value FROM \"Ks\".\"Cf\" WHERE key = ? AND column1 = ?");
        let all = RowSelector::Range { from: false, to: false };
        assert_eq!(delete(all), "DELETE FROM \"Ks\".\"Cf\" WHERE key = ?");
        assert!(!StatementShape::DeleteRow.is_idempotent(&table));
        assert!(!StatementShape::Add.is_idempotent(&table));
        assert_eq!(
            StatementShape::Add.text(&table),
            "UPDATE \"Ks\".\"Cf\" SET value = value + ? WHERE key = ? AND column1 = ?"
        );
    }

    #[test]
    fn a_range_of_the_ring_is_selected_by_tokens() {
        let table = PreparedTable::of(&Arc::new(family("BytesType"))).unwrap();
        let ring = Ring { from: RingEnd::Key, to: RingEnd::Token };
        assert_eq!(
            StatementShape::Keys(ring).text(&table),
            "SELECT DISTINCT key FROM \"Ks\".\"Cf\" WHERE token(key) >= token(?) AND token(key) <= ?"
        );
    }
}
