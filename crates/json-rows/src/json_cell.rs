//! Cells.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BytesForm, JsonBytes, RowError, RowOrigin};
use base::model::{Cell, CellKind};
use base::schema::CfDef;

/// A cell: with a value, a counter, or the time of its deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonCell {
    /// The name of its super column, in a Super column family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub super_column: Option<JsonBytes>,
    /// Its name.
    pub name: JsonBytes,
    /// Its value, unless it is a counter or a tombstone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<JsonBytes>,
    /// A number that is added to a counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<i64>,
    /// Microseconds since 1970 by convention; the server's clock if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// The time to live, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<i32>,
    /// When the time to live ends, in seconds since 1970; `ttl_s` from now if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_s: Option<i32>,
    /// When the cell was deleted, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at_s: Option<i32>,
}

impl JsonCell {
    pub(crate) fn of(super_column: Option<&Bytes>, cell: &Cell, form: BytesForm<'_>) -> JsonCell {
        let mut json = JsonCell {
            super_column: super_column.map(|name| form.outer_name(name)),
            name: form.name(super_column, &cell.name),
            value: None,
            counter: None,
            timestamp: Some(cell.timestamp),
            ttl_s: None,
            expires_at_s: None,
            deleted_at_s: None,
        };
        match cell.kind {
            CellKind::Live => json.value = Some(form.value(&cell.name, &cell.value)),
            CellKind::Expiring { ttl_s, expires_at_s } => {
                json.value = Some(form.value(&cell.name, &cell.value));
                (json.ttl_s, json.expires_at_s) = (Some(ttl_s), Some(expires_at_s));
            }
            CellKind::Counter | CellKind::Increment => json.counter = cell.count(),
            CellKind::Deleted { local_deletion_time } => json.deleted_at_s = Some(local_deletion_time),
        }
        json
    }

    /// Returns whether this is the marker of a row in a CQL table, which counters have next to their cells in 1.2.
    fn is_row_marker(&self, cf: &CfDef) -> bool {
        cf.table.is_some() && matches!(&self.value, Some(JsonBytes::Text(text)) if text.is_empty())
    }

    pub(crate) fn cell(&self, cf: &CfDef, name: Bytes, origin: RowOrigin) -> Result<Cell, RowError> {
        let now = origin.time();
        let timestamp = self.timestamp.unwrap_or(now.micros);
        let times = (self.ttl_s, self.expires_at_s);
        match (&self.value, self.counter, self.deleted_at_s, times) {
            (Some(value), None, None, times) if !cf.is_counter() || self.is_row_marker(cf) => {
                // The values of a CQL table's cells have the types of its columns, which CQL checks when it reads them.
                let class = cf.table.is_none().then(|| cf.value_validator(&name));
                let value = value.bytes(class, origin)?;
                match times {
                    (None, None) => Ok(Cell::live(name, value, timestamp)),
                    (Some(ttl_s), expires_at_s) if ttl_s > 0 => {
                        let expires_at_s = expires_at_s.unwrap_or(now.now_s.saturating_add(ttl_s));
                        Ok(Cell { name, value, timestamp, kind: CellKind::Expiring { ttl_s, expires_at_s } })
                    }
                    _ => Err(RowError("ttl_s must be positive, and expires_at_s needs a ttl_s".to_owned())),
                }
            }
            (None, Some(number), None, (None, None)) if cf.is_counter() => {
                Ok(Cell::increment(name, number, timestamp))
            }
            (None, None, Some(at_s), (None, None)) => Ok(Cell::tombstone(name, timestamp, at_s)),
            _ => Err(RowError(format!(
                "a cell of {}.{} has a {}, or deleted_at_s",
                cf.keyspace,
                cf.name,
                if cf.is_counter() { "counter" } else { "value, with or without ttl_s" }
            ))),
        }
    }
}
