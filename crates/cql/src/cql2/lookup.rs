//! Looks up the names in a statement.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::invalid;
use crate::{CqlError, QueryState, Result};
use base::compat::features::releases::CQL_2;
use base::compat::texts;
use base::marshal;
use base::marshal::{AbstractType, TypeRef};
use base::schema::{CfDef, Layout};
use cql_syntax::TableName;
use db::limits::NAME_BYTES_MAX;

/// The default name of the row key.
const KEY: &str = "KEY";

/// Returns the keyspace of a statement.
pub(super) fn keyspace_of<'n>(state: &QueryState<'n>, named: Option<&'n str>) -> Result<&'n str> {
    named.or(state.keyspace).ok_or_else(|| CqlError::invalid(texts::no_keyspace(CQL_2)))
}

/// A column family, with the types of its names and values in the session's release.
pub(super) struct Family<'a> {
    pub cf: Arc<CfDef>,
    state: QueryState<'a>,
}

impl<'a> Family<'a> {
    pub(super) fn find(state: &QueryState<'a>, table: &TableName) -> Result<Family<'a>> {
        let keyspace = table.keyspace.as_deref().or(state.keyspace);
        let keyspace = keyspace.ok_or_else(|| CqlError::invalid(texts::no_keyspace(CQL_2)))?;
        state.database.describe(state.behaviour).check_named_keyspace(keyspace.as_bytes())?;
        let catalog = state.database.catalog();
        let Some(cf) = catalog.column_family(keyspace, &table.name) else {
            return invalid(texts::unknown_table(CQL_2, &table.name));
        };
        if cf.subcomparator().is_some() {
            return invalid("CQL 2 does not support super columns");
        }
        Ok(Family { cf: cf.clone(), state: *state })
    }

    /// Returns a column family that CQL 2 may change. Tables of CQL 3 have properties that CQL 2 cannot express.
    pub(super) fn find_to_change(state: &QueryState<'a>, table: &TableName) -> Result<Family<'a>> {
        let family = Family::find(state, table)?;
        match family.cf.table {
            Some(_) => invalid(format!(
                "{} was created with CQL 3 and can only be changed with CQL 3",
                family.cf.name
            )),
            None => Ok(family),
        }
    }

    pub(super) fn keyspace(&self) -> &[u8] {
        self.cf.keyspace.as_bytes()
    }

    pub(super) fn name(&self) -> Bytes {
        Bytes::from(self.cf.name.clone())
    }

    fn view<'t>(&self, of: &'t TypeRef) -> &'t dyn AbstractType {
        marshal::at(&**of, self.state.behaviour.release)
    }

    pub(super) fn comparator(&self) -> &dyn AbstractType {
        self.view(&self.cf.comparator)
    }

    /// Returns the type of row keys; the default is any bytes.
    pub(super) fn key_type(&self) -> &dyn AbstractType {
        match &self.cf.key_validator {
            Some(validator) => self.view(validator),
            None => &marshal::BytesType,
        }
    }

    /// Returns the type of a column's values, if it is declared.
    pub(super) fn declared_type(&self, column: &[u8]) -> Option<&dyn AbstractType> {
        self.cf.column_metadata.get(column).map(|column| self.view(&column.validator))
    }

    /// Returns the short name of a column's type, if it is declared. `column` is the name of a cell.
    pub(super) fn declared_name(&self, column: &Bytes) -> Option<String> {
        if let Some(declared) = self.declared_type(column) {
            return Some(short_name(declared.class_name()));
        }
        let table = self.cf.table.as_ref().filter(|table| table.layout == Layout::Sparse)?;
        let name = table.place_of(column)?.column?;
        let declared = table.others.values().find(|other| other.cell_name == name)?;
        Some(short_name(&declared.cql_type.class_name()))
    }

    pub(super) fn default_type(&self) -> &dyn AbstractType {
        self.view(&self.cf.default_validator)
    }

    pub(super) fn value_type(&self, column: &[u8]) -> &dyn AbstractType {
        self.declared_type(column).unwrap_or_else(|| self.default_type())
    }

    /// Returns the name of the row key.
    pub(super) fn key_alias(&self) -> String {
        match &self.cf.key_alias {
            Some(alias) => String::from_utf8_lossy(alias).into_owned(),
            None => KEY.to_owned(),
        }
    }
}

/// Checks whether a name is valid for a column.
pub(super) fn check_name(name: &[u8]) -> Result<()> {
    if name.is_empty() {
        return invalid("zero-length column name");
    }
    if name.len() > NAME_BYTES_MAX {
        let length = name.len();
        return invalid(format!("column name is too long ({length} > {NAME_BYTES_MAX})"));
    }
    Ok(())
}

/// Returns a class name without its package and its parameters (`TypeParser.getShortName`).
pub(super) fn short_name(class: &str) -> String {
    let class = class.split('(').next().unwrap_or_default();
    class.rsplit('.').next().unwrap_or_default().to_owned()
}
