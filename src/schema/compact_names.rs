//! What CQL calls the columns of a compact table, where it has been told.

/// Names that CREATE TABLE gave, or RENAME. The column family says all the rest: so a Thrift client may change it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompactNames {
    /// Of the partition key's columns, from the first. `CfDef::key_alias` is said for a single one too.
    pub partition_key: Vec<Option<String>>,
    pub clustering: Vec<Option<String>>,
    /// Of a dense table's value. Empty: there is none.
    pub value: Option<String>,
}

impl CompactNames {
    pub fn is_default(&self) -> bool {
        *self == CompactNames::default()
    }

    /// A name that was given to the column at a place.
    pub fn at(names: &[Option<String>], position: usize) -> Option<&str> {
        names.get(position)?.as_deref()
    }

    /// Gives the column at a place a name.
    pub fn set(names: &mut Vec<Option<String>>, position: usize, name: String) {
        if names.len() <= position {
            names.resize(position + 1, None);
        }
        names[position] = Some(name);
    }
}
