//! Rows and cells as JSON: what `GET /dump` prints and `POST /load` reads.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ControlError;
use base::marshal::{AbstractType, BytesType, TypeRef};
use base::model::{Cell, CellKind, Change, DeletionTime, RangeTombstone};
use base::schema::CfDef;
use db::limits::NAME_BYTES_MAX;

/// Column families with their rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonData {
    /// The column families that have rows.
    pub column_families: Vec<JsonFamily>,
}

/// A column family, which the schema defines, with rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonFamily {
    /// The name of its keyspace.
    pub keyspace: String,
    /// Its name.
    pub name: String,
    /// Its rows. Several can be parts of one row.
    pub rows: Vec<JsonRow>,
}

/// A row, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonRow {
    /// The row key.
    pub key: JsonBytes,
    /// The deletion of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<JsonDeletion>,
    /// Deletions of super columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted_super_columns: Vec<JsonSuperDeletion>,
    /// Deletions of ranges of names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted_ranges: Vec<JsonRange>,
    /// Cells of any super column and in any order.
    #[serde(default)]
    pub cells: Vec<JsonCell>,
}

/// Bytes of a key, name or value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a key, name or value is \"text\", {\"hex\": \"00ff\"}, or {\"typed\": \"42\"} in the form of its type"
)]
pub enum JsonBytes {
    /// The bytes of the text in UTF-8.
    Text(String),
    /// Any bytes.
    Hex(JsonHex),
    /// A text in the form of a type, such as a number.
    Typed(JsonTyped),
}

/// Bytes in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonHex {
    /// Two digits for each byte.
    pub hex: String,
}

/// A text in the form of the key's, name's or value's type, as in cassandra-cli.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonTyped {
    /// The text.
    pub typed: String,
}

/// A deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonDeletion {
    /// Older cells are deleted.
    pub timestamp: i64,
    /// When it was deleted, in seconds since 1970: gc_grace counts from here.
    pub deleted_at_s: i32,
}

/// The deletion of a super column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonSuperDeletion {
    pub name: JsonBytes,
    pub deletion: JsonDeletion,
}

/// The deletion of a range of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonRange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub super_column: Option<JsonBytes>,
    pub start: JsonBytes,
    pub finish: JsonBytes,
    pub deletion: JsonDeletion,
}

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

/// The server's time when data is loaded.
#[derive(Debug, Clone, Copy)]
pub struct LoadTime {
    pub micros: i64,
    pub now_s: i32,
}

impl JsonBytes {
    /// Returns the form for a dump: text if the bytes are printable UTF-8.
    fn of(bytes: &[u8]) -> JsonBytes {
        match std::str::from_utf8(bytes) {
            Ok(text) if !text.chars().any(char::is_control) => JsonBytes::Text(text.to_owned()),
            _ => JsonBytes::Hex(JsonHex { hex: BytesType.to_text(bytes) }),
        }
    }

    /// Returns the bytes, which must be valid for a type; `None` accepts any bytes, and typed texts are then UTF-8.
    fn bytes(&self, of_type: Option<&TypeRef>) -> Result<Bytes, ControlError> {
        let wrong = |text: &str, why: String| ControlError::invalid(format!("{text:?}: {why}"));
        let (text, bytes) = match (self, of_type) {
            (JsonBytes::Hex(JsonHex { hex }), _) => (hex, BytesType.parse_text(hex)),
            (JsonBytes::Typed(JsonTyped { typed }), Some(class)) => (typed, class.parse_text(typed)),
            (JsonBytes::Text(text) | JsonBytes::Typed(JsonTyped { typed: text }), _) => {
                (text, Ok(text.clone().into_bytes()))
            }
        };
        let bytes = bytes.map_err(|error| wrong(text, error.to_string()))?;
        if let Some(Err(error)) = of_type.map(|class| class.validate(&bytes)) {
            return Err(wrong(text, error.to_string()));
        }
        Ok(bytes.into())
    }

    /// Returns the bytes of a name or key, which have a limited length.
    fn name(&self, of_type: Option<&TypeRef>) -> Result<Bytes, ControlError> {
        let bytes = self.bytes(of_type)?;
        if bytes.is_empty() || bytes.len() > NAME_BYTES_MAX {
            return Err(ControlError::invalid(format!(
                "a key or name has {} bytes: it must have 1 to {NAME_BYTES_MAX}",
                bytes.len()
            )));
        }
        Ok(bytes)
    }
}

impl From<JsonDeletion> for DeletionTime {
    fn from(json: JsonDeletion) -> DeletionTime {
        DeletionTime { marked_for_delete_at: json.timestamp, local_deletion_time: json.deleted_at_s }
    }
}

impl From<DeletionTime> for JsonDeletion {
    fn from(deletion: DeletionTime) -> JsonDeletion {
        let (timestamp, deleted_at_s) = (deletion.marked_for_delete_at, deletion.local_deletion_time);
        JsonDeletion { timestamp, deleted_at_s }
    }
}

impl JsonRow {
    /// Returns a row without cells.
    pub fn new(key: &[u8]) -> JsonRow {
        JsonRow {
            key: JsonBytes::of(key),
            deletion: None,
            deleted_super_columns: Vec::new(),
            deleted_ranges: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Adds a stored change.
    pub fn add(&mut self, change: Change) {
        match change {
            Change::DeleteRow { deletion } => self.deletion = Some(deletion.into()),
            Change::DeleteSuper { name, deletion } => {
                let (name, deletion) = (JsonBytes::of(&name), deletion.into());
                self.deleted_super_columns.push(JsonSuperDeletion { name, deletion });
            }
            Change::DeleteRange(range) => self.deleted_ranges.push(JsonRange {
                super_column: range.super_column.as_deref().map(JsonBytes::of),
                start: JsonBytes::of(&range.start),
                finish: JsonBytes::of(&range.finish),
                deletion: range.deletion.into(),
            }),
            Change::Cell { super_column, cell } => {
                self.cells.push(JsonCell::of(super_column.as_deref(), &cell))
            }
        }
    }

    /// Returns the key and the changes that write the row.
    pub fn changes(&self, cf: &CfDef, now: LoadTime) -> Result<(Bytes, Vec<Change>), ControlError> {
        let key = self.key.name(cf.key_validator.as_ref())?;
        let mut changes = Vec::new();
        changes.extend(self.deletion.map(|deletion| Change::DeleteRow { deletion: deletion.into() }));
        for range in &self.deleted_ranges {
            let (super_column, class) = place(cf, range.super_column.as_ref(), true)?;
            let (start, finish) = (range.start.bytes(Some(class))?, range.finish.bytes(Some(class))?);
            let deletion = range.deletion.into();
            changes.push(Change::DeleteRange(RangeTombstone { super_column, start, finish, deletion }));
        }
        for deleted in &self.deleted_super_columns {
            let (Some(name), _) = place(cf, Some(&deleted.name), false)? else { continue };
            changes.push(Change::DeleteSuper { name, deletion: deleted.deletion.into() });
        }
        for cell in &self.cells {
            let (super_column, class) = place(cf, cell.super_column.as_ref(), false)?;
            let name = cell.name.name(Some(class))?;
            changes.push(Change::Cell { super_column, cell: cell.cell(cf, name, now)? });
        }
        Ok((key, changes))
    }
}

/// Returns the bytes of a super column's name, and the type of the names in it or in the row. Only ranges of super
/// columns may be without the name of a super column in a Super column family.
fn place<'a>(
    cf: &'a CfDef,
    super_column: Option<&JsonBytes>,
    is_range: bool,
) -> Result<(Option<Bytes>, &'a TypeRef), ControlError> {
    match (super_column, cf.subcomparator()) {
        (Some(name), Some(inner)) => Ok((Some(name.name(Some(&cf.comparator))?), inner)),
        (None, None) => Ok((None, &cf.comparator)),
        (None, Some(_)) if is_range => Ok((None, &cf.comparator)),
        (None, Some(_)) => Err(ControlError::invalid(format!(
            "{}.{} is a Super column family: give each cell its super_column",
            cf.keyspace, cf.name
        ))),
        (Some(_), None) => Err(ControlError::invalid(format!(
            "{}.{} is a Standard column family, which has no super columns",
            cf.keyspace, cf.name
        ))),
    }
}

impl JsonCell {
    fn of(super_column: Option<&[u8]>, cell: &Cell) -> JsonCell {
        let mut json = JsonCell {
            super_column: super_column.map(JsonBytes::of),
            name: JsonBytes::of(&cell.name),
            value: None,
            counter: None,
            timestamp: Some(cell.timestamp),
            ttl_s: None,
            expires_at_s: None,
            deleted_at_s: None,
        };
        match cell.kind {
            CellKind::Live => json.value = Some(JsonBytes::of(&cell.value)),
            CellKind::Expiring { ttl_s, expires_at_s } => {
                json.value = Some(JsonBytes::of(&cell.value));
                (json.ttl_s, json.expires_at_s) = (Some(ttl_s), Some(expires_at_s));
            }
            CellKind::Counter | CellKind::Increment => json.counter = cell.count(),
            CellKind::Deleted { local_deletion_time } => json.deleted_at_s = Some(local_deletion_time),
        }
        json
    }

    fn cell(&self, cf: &CfDef, name: Bytes, now: LoadTime) -> Result<Cell, ControlError> {
        let timestamp = self.timestamp.unwrap_or(now.micros);
        let times = (self.ttl_s, self.expires_at_s);
        match (&self.value, self.counter, self.deleted_at_s, times) {
            (Some(value), None, None, times) if !cf.is_counter() => {
                // The values of a CQL table's cells have the types of its columns, which CQL checks when it reads them.
                let class = cf.table.is_none().then(|| cf.value_validator(&name));
                let value = value.bytes(class)?;
                match times {
                    (None, None) => Ok(Cell::live(name, value, timestamp)),
                    (Some(ttl_s), expires_at_s) if ttl_s > 0 => {
                        let expires_at_s = expires_at_s.unwrap_or(now.now_s.saturating_add(ttl_s));
                        Ok(Cell { name, value, timestamp, kind: CellKind::Expiring { ttl_s, expires_at_s } })
                    }
                    _ => Err(ControlError::invalid("ttl_s must be positive, and expires_at_s needs a ttl_s")),
                }
            }
            (None, Some(number), None, (None, None)) if cf.is_counter() => {
                Ok(Cell::increment(name, number, timestamp))
            }
            (None, None, Some(at_s), (None, None)) => Ok(Cell::tombstone(name, timestamp, at_s)),
            _ => Err(ControlError::invalid(format!(
                "a cell of {}.{} has a {}, or deleted_at_s",
                cf.keyspace,
                cf.name,
                if cf.is_counter() { "counter" } else { "value, with or without ttl_s" }
            ))),
        }
    }
}
