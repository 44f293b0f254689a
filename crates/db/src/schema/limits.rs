//! Limits of the size of a schema.

use crate::Result;
use crate::error::invalid;
use crate::limits::{FAMILIES_MAX, KEYSPACES_MAX};
use base::schema::{Catalog, CfDef};
use base::util::limits::TABLE_COLUMNS_MAX;

/// Checks whether there is room for `more` column families.
pub fn check_families(catalog: &Catalog, more: usize) -> Result<()> {
    let families: usize = catalog.keyspaces.values().map(|keyspace| keyspace.column_families.len()).sum();
    if families.saturating_add(more) > FAMILIES_MAX {
        return invalid(format!(
            "The schema has {families} column families, and at most {FAMILIES_MAX} are allowed: drop some, or \
             distinguish the data by row keys"
        ));
    }
    Ok(())
}

/// Checks whether there is room for another keyspace.
pub(super) fn check_keyspaces(catalog: &Catalog) -> Result<()> {
    if catalog.keyspaces.len() >= KEYSPACES_MAX {
        return invalid(format!(
            "The schema has {KEYSPACES_MAX} keyspaces, and more are not allowed: drop some, or use column families"
        ));
    }
    Ok(())
}

/// Checks that a column family does not define too many columns.
pub(super) fn check_columns(cf: &CfDef) -> Result<()> {
    let columns = cf.column_metadata.len();
    if columns > TABLE_COLUMNS_MAX {
        return invalid(format!(
            "Column family {} has definitions of {columns} columns, and at most {TABLE_COLUMNS_MAX} are allowed: columns \
             without a definition have the default_validation_class",
            cf.name
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use base::schema::{ColumnDef, KeyspaceDef};

    #[test]
    fn column_families_and_keyspaces_are_limited() {
        let mut keyspace = KeyspaceDef::new("Ks");
        let family = Arc::new(CfDef::new("Ks", "F"));
        let families = (0..FAMILIES_MAX - 1).map(|number| (number.to_string(), family.clone()));
        keyspace.column_families.extend(families);
        let mut catalog = Catalog::default();
        catalog.keyspaces.insert("Ks".to_owned(), keyspace);
        assert!(check_families(&catalog, 1).is_ok() && check_keyspaces(&catalog).is_ok());
        let why = check_families(&catalog, 2).unwrap_err().to_string();
        assert!(why.contains("at most 100000 are allowed"), "{why}");
        for number in 1..KEYSPACES_MAX {
            catalog.keyspaces.insert(number.to_string(), KeyspaceDef::new("Ks"));
        }
        assert!(check_keyspaces(&catalog).is_err());
    }

    #[test]
    fn definitions_of_columns_are_limited() {
        let mut family = CfDef::new("Ks", "F");
        let validator = family.default_validator.clone();
        let column = |number: usize| {
            let name = Bytes::from(number.to_string());
            (name.clone(), ColumnDef { name, validator: validator.clone(), index: None })
        };
        family.column_metadata.extend((0..TABLE_COLUMNS_MAX).map(column));
        assert!(check_columns(&family).is_ok());
        family.column_metadata.extend([column(TABLE_COLUMNS_MAX)]);
        let why = check_columns(&family).unwrap_err().to_string();
        assert!(why.contains("definitions of 10001 columns, and at most 10000 are allowed"), "{why}");
    }
}
