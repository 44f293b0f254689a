//! The types by which the keys and names of a column family are shown.

use base::marshal::{AbstractType, BytesType};
use base::schema::CfDef;

/// Returns the type of the row keys.
pub(crate) fn key_class(cf: &CfDef) -> &dyn AbstractType {
    cf.key_validator.as_deref().unwrap_or(&BytesType)
}

/// Returns the type of the names in a super column, or of those in a row.
pub(crate) fn name_class(cf: &CfDef, is_in_super: bool) -> &dyn AbstractType {
    cf.subcomparator().filter(|_| is_in_super).map_or(&*cf.comparator, |class| &**class)
}
