//! Rows of the system's own tables, which are made up when they are read.

use std::sync::Arc;

use bytes::Bytes;

use super::keys::Partitions;
use super::restrictions::Target;
use super::rows::{Held, Row};
use super::walk::Walk;
use crate::cql::CqlError;
use crate::cql::system::system_table;
use crate::model::Cell;
use crate::schema::row_key;

impl Walk<'_> {
    /// Takes the rows of a table that pass.
    pub fn system_rows(&mut self, target: &Target, partitions: Partitions) -> Result<(), CqlError> {
        let Some(table) = system_table(self.state, &target.keyspace, &target.name) else {
            return Ok(());
        };
        let is_meant = |key: &Bytes| match &partitions {
            Partitions::Keys(keys) => keys.contains(key),
            Partitions::Range(None) => false,
            Partitions::Range(Some(range)) => range.holds(&self.state.database.token(key)),
        };
        let rows = table.rows.into_iter().map(|values| self.system_row(values));
        let mut rows: Vec<Row> = rows.filter(|row| is_meant(&row.key)).collect();
        if self.is_reversed {
            rows.reverse();
        }
        let mut before = None;
        for row in rows {
            if self.is_distinct && before.as_ref() == Some(&row.key) {
                continue;
            }
            self.answer(&row, None)?;
            before = Some(row.key);
        }
        Ok(())
    }

    fn system_row(&self, values: Vec<Option<Bytes>>) -> Row {
        let def = &self.cells.def;
        let mut values = values.into_iter();
        let key_parts: Arc<[Bytes]> =
            values.by_ref().take(def.partition_key.len()).map(Option::unwrap_or_default).collect();
        let clustering = values.by_ref().take(def.clustering.len()).collect();
        let held = |value: Option<Bytes>| value.map(|value| Held::One(Cell::live(Bytes::new(), value, 0)));
        Row {
            key: row_key(&key_parts),
            key_parts,
            clustering,
            statics: Arc::default(),
            columns: values.map(held).collect(),
        }
    }
}
