//! A column family as a table of the cluster.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use scylla::statement::prepared::PreparedStatement;
use uuid::Uuid;

use super::link::Link;
use super::names::{NameForm, value_type};
use super::shape::Shape;
use crate::schema::CfDef;
use crate::storage::{StoreError, index_name};

/// A table, and the statements on it that have been prepared.
#[derive(Debug)]
pub struct Table {
    pub cf: Arc<CfDef>,
    /// `"Keyspace"."Table"`.
    pub quoted_name: String,
    /// The names of columns, or of super columns.
    pub outer: NameForm,
    /// The names of columns inside super columns.
    pub inner: Option<NameForm>,
    pub is_counter: bool,
    prepared: RwLock<HashMap<Shape, PreparedStatement>>,
    /// Who holds it prepares one more.
    preparing: tokio::sync::Mutex<()>,
}

impl Table {
    /// Errors: `Mismatch` when the column family cannot be kept on a cluster.
    pub fn of(cf: &Arc<CfDef>) -> Result<Table, StoreError> {
        let named = |error: StoreError| match error {
            StoreError::Mismatch(why) => {
                StoreError::Mismatch(format!("column family {}.{}: {why}", cf.keyspace, cf.name))
            }
            other => other,
        };
        if cf.table.is_some() {
            return Err(named(StoreError::Mismatch(
                "tables made by CQL are the cluster's own and cannot be kept as column families there"
                    .to_owned(),
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

    /// The columns and their CQL types, in order.
    pub fn columns(&self) -> Vec<(&'static str, &'static str)> {
        let key = self.cf.key_validator.as_ref().map_or("blob", value_type);
        let mut columns = vec![("key", key), ("column1", self.outer.cql_type)];
        columns.extend(self.inner.as_ref().map(|inner| ("column2", inner.cql_type)));
        columns.push(("value", self.value_type()));
        columns
    }

    /// The CQL type of values: of all columns, and so only where all have one.
    fn value_type(&self) -> &'static str {
        let default = value_type(&self.cf.default_validator);
        let mut others = self.cf.column_metadata.values().map(|column| value_type(&column.validator));
        if others.all(|other| other == default) { default } else { "blob" }
    }

    /// The statement that makes it. A node that was frozen may come to it when another has made the table long since: by
    /// the id it is the same one then, where it would else take the place of the other with all that has been written.
    pub fn definition(&self, id: Uuid) -> String {
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
        format!(
            "CREATE TABLE IF NOT EXISTS {} ({columns}PRIMARY KEY (key, {names})) WITH CLUSTERING ORDER BY ({order}) \
             AND gc_grace_seconds = {} AND id = '{id}'{comment}",
            self.quoted_name, self.cf.gc_grace_s
        )
    }

    /// The statement that makes its index: one for the values of all columns that have one.
    pub fn index_definition(&self) -> Option<String> {
        self.cf.indexed_columns().next()?;
        Some(format!("CREATE INDEX IF NOT EXISTS {} ON {} (value)", self.index_name(), self.quoted_name))
    }

    /// The statement that removes it.
    pub fn index_removal(&self) -> String {
        format!("DROP INDEX IF EXISTS {}.{}", quoted(&self.cf.keyspace), self.index_name())
    }

    fn index_name(&self) -> String {
        quoted(&index_name(&self.cf))
    }

    /// What a read of columns selects. The time of a counter is nobody's business.
    pub fn selected(&self) -> &'static str {
        match (&self.inner, self.is_counter) {
            (None, false) => "column1, value, WRITETIME(value), TTL(value)",
            (None, true) => "column1, value",
            (Some(_), false) => "column1, column2, value, WRITETIME(value), TTL(value)",
            (Some(_), true) => "column1, column2, value",
        }
    }

    /// The prepared statement of a shape. Those who need one that is not there wait for one to prepare it.
    pub async fn prepared(&self, link: &Link, shape: Shape) -> Result<PreparedStatement, StoreError> {
        let known = || self.prepared.read().get(&shape).cloned();
        if let Some(statement) = known() {
            return Ok(statement);
        }
        let turn = tokio::time::timeout(link.request_timeout(), self.preparing.lock()).await;
        let _turn = turn.map_err(|_| link.too_late())?;
        if let Some(statement) = known() {
            return Ok(statement);
        }
        let mut statement = link.prepare(shape.text(self)).await?;
        statement.set_is_idempotent(shape.is_idempotent(self));
        self.prepared.write().insert(shape, statement.clone());
        Ok(statement)
    }
}

/// A name as CQL takes it in any spelling.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::super::shape::{Ring, RingEnd, RowSelector};
    use super::*;
    use crate::marshal::Types;
    use crate::schema::ColumnType;

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
            table.definition(Uuid::nil()),
            "CREATE TABLE IF NOT EXISTS \"Ks\".\"Cf\" (key blob, column1 timeuuid, column2 text, value text, PRIMARY \
             KEY (key, column1, column2)) WITH CLUSTERING ORDER BY (column1 DESC, column2 ASC) AND gc_grace_seconds \
             = 864000 AND id = '00000000-0000-0000-0000-000000000000'"
        );
        let slice = Shape::Slice {
            inner: false,
            which: RowSelector::Run { from: true, to: false },
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
        let all = RowSelector::Run { from: false, to: false };
        assert_eq!(delete(all), "DELETE FROM \"Ks\".\"Cf\" WHERE key = ?");
        assert!(!Shape::DeleteRow.is_idempotent(&table));
        assert!(!Shape::Add.is_idempotent(&table));
        assert_eq!(
            Shape::Add.text(&table),
            "UPDATE \"Ks\".\"Cf\" SET value = value + ? WHERE key = ? AND column1 = ?"
        );
    }

    #[test]
    fn a_stretch_of_the_ring_is_asked_by_tokens() {
        let table = Table::of(&Arc::new(family("BytesType"))).unwrap();
        let ring = Ring { from: RingEnd::Key, to: RingEnd::Token };
        assert_eq!(
            Shape::Keys(ring).text(&table),
            "SELECT DISTINCT key FROM \"Ks\".\"Cf\" WHERE token(key) >= token(?) AND token(key) <= ?"
        );
    }
}
