//! Rows.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    BytesForm, JsonBytes, JsonCell, JsonDeletion, JsonRange, JsonSuperDeletion, RowError, RowOrigin,
};
use base::marshal::TypeRef;
use base::model::{Change, RangeTombstone};
use base::schema::CfDef;

/// A row, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonRow {
    /// The row as CQL returns it, for people and other programs. It is not loaded.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "ignored")]
    pub row: Option<serde_json::Value>,
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

impl JsonRow {
    /// Returns a row without cells.
    pub fn new(key: &[u8], form: BytesForm<'_>) -> JsonRow {
        JsonRow {
            row: None,
            key: form.key(key),
            deletion: None,
            deleted_super_columns: Vec::new(),
            deleted_ranges: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Adds a stored change.
    pub fn add(&mut self, change: Change, form: BytesForm<'_>) {
        match change {
            Change::DeleteRow { deletion } => self.deletion = Some(deletion.into()),
            Change::DeleteSuper { name, deletion } => {
                let (name, deletion) = (form.outer_name(&name), deletion.into());
                self.deleted_super_columns.push(JsonSuperDeletion { name, deletion });
            }
            Change::DeleteRange(range) => {
                let RangeTombstone { super_column, start, finish, deletion } = range;
                let of = |name| form.name(super_column.as_ref(), name);
                let (start, finish, deletion) = (of(&start), of(&finish), deletion.into());
                let super_column = super_column.as_deref().map(|name| form.outer_name(name));
                self.deleted_ranges.push(JsonRange { super_column, start, finish, deletion });
            }
            Change::Cell { super_column, cell } => {
                self.cells.push(JsonCell::of(super_column.as_ref(), &cell, form))
            }
        }
    }

    /// Returns the key and the changes that write the row.
    ///
    /// # Errors
    ///
    /// If a part of the row does not belong to such a column family, or is not valid for its type.
    pub fn changes(&self, cf: &CfDef, origin: RowOrigin) -> Result<(Bytes, Vec<Change>), RowError> {
        let key = self.key.name(cf.key_validator.as_ref(), origin)?;
        let mut changes = Vec::new();
        changes.extend(self.deletion.map(|deletion| Change::DeleteRow { deletion: deletion.into() }));
        for range in &self.deleted_ranges {
            let (super_column, class) = place(cf, range.super_column.as_ref(), true, origin)?;
            let (start, finish) =
                (range.start.bytes(Some(class), origin)?, range.finish.bytes(Some(class), origin)?);
            let deletion = range.deletion.into();
            changes.push(Change::DeleteRange(RangeTombstone { super_column, start, finish, deletion }));
        }
        for deleted in &self.deleted_super_columns {
            let (Some(name), _) = place(cf, Some(&deleted.name), false, origin)? else { continue };
            changes.push(Change::DeleteSuper { name, deletion: deleted.deletion.into() });
        }
        for cell in &self.cells {
            let (super_column, class) = place(cf, cell.super_column.as_ref(), false, origin)?;
            let name = cell.name.name(Some(class), origin)?;
            changes.push(Change::Cell { super_column, cell: cell.cell(cf, name, origin)? });
        }
        Ok((key, changes))
    }
}

/// Skips a value that is not loaded. It may have a number that no double can have, such as 1E+400.
fn ignored<'de, D: Deserializer<'de>>(json: D) -> Result<Option<serde_json::Value>, D::Error> {
    IgnoredAny::deserialize(json).map(|_| None)
}

/// Returns the bytes of a super column's name, and the type of the names in it or in the row. Only ranges of super
/// columns may be without the name of a super column in a Super column family.
fn place<'a>(
    cf: &'a CfDef,
    super_column: Option<&JsonBytes>,
    is_range: bool,
    origin: RowOrigin,
) -> Result<(Option<Bytes>, &'a TypeRef), RowError> {
    match (super_column, cf.subcomparator()) {
        (Some(name), Some(inner)) => Ok((Some(name.name(Some(&cf.comparator), origin)?), inner)),
        (None, None) => Ok((None, &cf.comparator)),
        (None, Some(_)) if is_range => Ok((None, &cf.comparator)),
        (None, Some(_)) => Err(RowError(format!(
            "{}.{} is a Super column family: give each cell its super_column",
            cf.keyspace, cf.name
        ))),
        (Some(_), None) => Err(RowError(format!(
            "{}.{} is a Standard column family, which has no super columns",
            cf.keyspace, cf.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_for_people_are_skipped() {
        let row: JsonRow = serde_json::from_str(r#"{"row":{"number":1E+400},"key":"k"}"#).unwrap();
        assert_eq!(row, JsonRow::new(b"k", BytesForm::Plain));
    }
}
