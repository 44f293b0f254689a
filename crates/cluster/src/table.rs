//! The table of a column family on the cluster.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use scylla::statement::prepared::PreparedStatement;
use uuid::Uuid;

use super::names::{NameForm, value_type};
use super::shape::Shape;
use base::schema::CfDef;
use store::{StoreError, index_name};

/// A table, and its prepared statements.
#[derive(Debug)]
pub struct Table {
    pub cf: Arc<CfDef>,
    /// `"Keyspace"."Table"`.
    pub quoted_name: String,
    /// The stored form of the names of columns, or of super columns.
    pub outer: NameForm,
    /// The stored form of the names of columns in super columns.
    pub inner: Option<NameForm>,
    pub is_counter: bool,
    /// The statements that [`Link`](super::link::Link) has prepared.
    pub prepared: RwLock<HashMap<Shape, PreparedStatement>>,
    /// Locked while a statement is prepared, so that requests do not prepare it at the same time.
    pub preparing: tokio::sync::Mutex<()>,
}

impl Table {
    /// Returns the table of a column family.
    ///
    /// # Errors
    /// `Mismatch` if a cluster cannot store the column family.
    pub fn of(cf: &Arc<CfDef>) -> Result<Table, StoreError> {
        let named = |error: StoreError| match error {
            StoreError::Mismatch(why) => {
                StoreError::Mismatch(format!("column family {}.{}: {why}", cf.keyspace, cf.name))
            }
            other => other,
        };
        if cf.table.is_some() {
            return Err(named(StoreError::Mismatch(
                "a table created by CQL cannot be stored as a column family on a cluster".to_owned(),
            )));
        }
        let outer = NameForm::of(&cf.comparator).map_err(named)?;
        let inner = cf.subcomparator().map(NameForm::of).transpose().map_err(named)?;
        Ok(Table {
            cf: cf.clone(),
            quoted_name: format!("{}.{}", quoted(&cf.keyspace), quoted(&cf.name)),
            outer,
            inner,
            is_counter: cf.is_counter(),
            prepared: RwLock::default(),
            preparing: tokio::sync::Mutex::default(),
        })
    }

    /// Returns the columns and their CQL types, in order.
    pub fn columns(&self) -> Vec<(&'static str, &'static str)> {
        let key = self.cf.key_validator.as_ref().map_or("blob", value_type);
        let mut columns = vec![("key", key), ("column1", self.outer.cql_type)];
        columns.extend(self.inner.as_ref().map(|inner| ("column2", inner.cql_type)));
        columns.push(("value", self.value_type()));
        columns
    }

    /// Returns the CQL type of values: the validators' type if all have the same one, otherwise `blob`.
    fn value_type(&self) -> &'static str {
        let default = value_type(&self.cf.default_validator);
        let mut others = self.cf.column_metadata.values().map(|column| value_type(&column.validator));
        if others.all(|other| other == default) { default } else { "blob" }
    }

    /// Returns the statement that creates the table, with an id of the table if a gateway runs it.
    ///
    /// The id makes the statement idempotent: a node that was frozen may execute it long after another node has created
    /// the table. Without the id it would create a second, empty table that replaces the first one.
    pub fn definition(&self, id: Option<Uuid>) -> String {
        let columns =
            self.columns().into_iter().map(|(name, of)| format!("{name} {of}, ")).collect::<String>();
        let direction = |form: &NameForm| if form.is_descending { "DESC" } else { "ASC" };
        let (names, order) = match &self.inner {
            Some(inner) => (
                "column1, column2",
                format!("column1 {}, column2 {}", direction(&self.outer), direction(inner)),
            ),
            None => ("column1", format!("column1 {}", direction(&self.outer))),
        };
        let comment = match &self.cf.comment {
            Some(comment) => format!(" AND comment = '{}'", comment.replace('\'', "''")),
            None => String::new(),
        };
        let id = id.map(|id| format!(" AND id = '{id}'")).unwrap_or_default();
        format!(
            "CREATE TABLE IF NOT EXISTS {} ({columns}PRIMARY KEY (key, {names})) WITH CLUSTERING ORDER BY ({order}) \
             AND gc_grace_seconds = {}{id}{comment}",
            self.quoted_name, self.cf.gc_grace_s
        )
    }

    /// Returns the statement that creates the table's index: one for all indexed columns, over the values. `None` if no
    /// column is indexed.
    pub fn index_definition(&self) -> Option<String> {
        self.cf.indexed_columns().next()?;
        Some(format!("CREATE INDEX IF NOT EXISTS {} ON {} (value)", self.index_name(), self.quoted_name))
    }

    /// Returns the statement that drops the index.
    pub fn index_removal(&self) -> String {
        format!("DROP INDEX IF EXISTS {}.{}", quoted(&self.cf.keyspace), self.index_name())
    }

    fn index_name(&self) -> String {
        quoted(&index_name(&self.cf))
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

/// Returns a name as a quoted identifier of CQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Ring, RingEnd, RowSelector};
    use base::marshal::Types;
    use base::schema::ColumnType;

    fn family(comparator: &str) -> CfDef {
        CfDef { comparator: Types::builtin().parse(comparator).unwrap(), ..CfDef::new("Ks", "Cf") }
    }

    #[test]
    fn a_table_has_a_column_for_each_level() {
        let mut cf = family("ReversedType(TimeUUIDType)");
        let utf8 = Types::builtin().parse("UTF8Type").unwrap();
        cf.column_type = ColumnType::Super { subcomparator: utf8.clone() };
        cf.default_validator = utf8;
        let table = Table::of(&Arc::new(cf)).unwrap();
        assert_eq!(
            table.definition(Some(Uuid::nil())),
            "CREATE TABLE IF NOT EXISTS \"Ks\".\"Cf\" (key blob, column1 timeuuid, column2 text, value text, PRIMARY \
             KEY (key, column1, column2)) WITH CLUSTERING ORDER BY (column1 DESC, column2 ASC) AND gc_grace_seconds \
             = 864000 AND id = '00000000-0000-0000-0000-000000000000'"
        );
        let slice = Shape::Slice {
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
        let table = Table::of(&Arc::new(cf)).unwrap();
        assert_eq!(Shape::DeleteRow.text(&table), "DELETE FROM \"Ks\".\"Cf\" WHERE key = ?");
        let delete = |which| Shape::Delete { inner: false, which }.text(&table);
        assert_eq!(delete(RowSelector::One), "DELETE value FROM \"Ks\".\"Cf\" WHERE key = ? AND column1 = ?");
        let all = RowSelector::Range { from: false, to: false };
        assert_eq!(delete(all), "DELETE FROM \"Ks\".\"Cf\" WHERE key = ?");
        assert!(!Shape::DeleteRow.is_idempotent(&table));
        assert!(!Shape::Add.is_idempotent(&table));
        assert_eq!(
            Shape::Add.text(&table),
            "UPDATE \"Ks\".\"Cf\" SET value = value + ? WHERE key = ? AND column1 = ?"
        );
    }

    #[test]
    fn a_range_of_the_ring_is_selected_by_tokens() {
        let table = Table::of(&Arc::new(family("BytesType"))).unwrap();
        let ring = Ring { from: RingEnd::Key, to: RingEnd::Token };
        assert_eq!(
            Shape::Keys(ring).text(&table),
            "SELECT DISTINCT key FROM \"Ks\".\"Cf\" WHERE token(key) >= token(?) AND token(key) <= ?"
        );
    }
}
