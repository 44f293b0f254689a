//! The metadata records of keyspaces that clients have created: JSON, with types by their class names.
//!
//! There are two versions of a keyspace's record. On a cluster a keyspace is one record with all its contents, of
//! version 1, since servers of several versions may share it. In the embedded store the keyspace's record, of version
//! 2, has only the keyspace's own properties. Each column family and each user type has its own record, so that the
//! cost of creating one does not grow with their number. In these records, types contain user types by their names.
//! Both stores can read version 1.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::stored_table::{ClassForm, StoredTable};
use super::stored_user_type::{StoredUserType, restore_user_types};
use super::{CfDef, ColumnDef, ColumnType, CompactNames, IndexDef, KeyspaceDef, Setting};
use crate::marshal::{TypeRef, Types, UserType};
use crate::util::{hex, unhex};

/// The version of a keyspace's record with all its contents.
const VERSION: u32 = 1;
/// The version of a keyspace's record with its own properties only.
const VERSION_OF_PROPERTIES: u32 = 2;

/// Why a stored keyspace cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    /// The record is not the JSON of a keyspace, a column family or a type; the text says why.
    #[error("a stored keyspace cannot be read: {0}")]
    Malformed(String),
    /// A newer program wrote the record.
    #[error(
        "a stored keyspace has version {0}, but this version reads up to {VERSION_OF_PROPERTIES}; use the version that wrote it"
    )]
    Version(u32),
    /// The record names a type that is not compiled in.
    #[error("the stored column family {family} needs the type {class_name}, which this server does not have")]
    UnknownType {
        /// The name of the column family.
        family: String,
        /// The class name of the type, as it is stored.
        class_name: String,
    },
}

#[derive(Serialize, Deserialize)]
struct StoredKeyspace {
    version: u32,
    name: String,
    strategy_class: String,
    strategy_options: BTreeMap<String, String>,
    replication_factor: i32,
    durable_writes: bool,
    #[serde(default)]
    column_families: Vec<StoredFamily>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    user_types: Vec<StoredUserType>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct StoredFamily {
    name: String,
    id: i32,
    comparator: String,
    /// The comparator of columns in super columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subcomparator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    gc_grace_seconds: i32,
    default_validator: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_validator: Option<String>,
    /// In hexadecimal, like all names, since names can be any bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_alias: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<StoredColumn>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<String, Setting>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<StoredTable>,
    /// The names in CQL of the columns of a table WITH COMPACT STORAGE.
    #[serde(default, skip_serializing_if = "CompactNames::is_default")]
    names: CompactNames,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct StoredColumn {
    name: String,
    validator: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<IndexDef>,
}

/// Encodes a keyspace with its column families and user types, as version 1.
pub fn keyspace_to_json(keyspace: &KeyspaceDef) -> String {
    let stored = StoredKeyspace {
        column_families: keyspace.column_families.values().map(|cf| family_of(cf, ClassForm::Full)).collect(),
        user_types: keyspace
            .user_types
            .values()
            .map(|user_type| StoredUserType::of(user_type, ClassForm::Full))
            .collect(),
        ..properties_of(keyspace, VERSION)
    };
    to_json(&stored)
}

/// Encodes a keyspace's own properties, as version 2.
pub fn keyspace_properties_to_json(keyspace: &KeyspaceDef) -> String {
    to_json(&properties_of(keyspace, VERSION_OF_PROPERTIES))
}

/// Encodes a column family. User types have their own records.
pub fn family_to_json(cf: &CfDef) -> String {
    to_json(&family_of(cf, ClassForm::ByName))
}

/// Encodes a user type. The user types that it contains have their own records.
pub fn user_type_to_json(user_type: &UserType) -> String {
    to_json(&StoredUserType::of(user_type, ClassForm::ByName))
}

fn to_json(stored: &impl Serialize) -> String {
    // This could only fail for a map whose keys are not text.
    serde_json::to_string(stored).unwrap_or_default()
}

fn properties_of(keyspace: &KeyspaceDef, version: u32) -> StoredKeyspace {
    StoredKeyspace {
        version,
        name: keyspace.name.clone(),
        strategy_class: keyspace.strategy_class.clone(),
        strategy_options: keyspace.strategy_options.clone(),
        replication_factor: keyspace.replication_factor,
        durable_writes: keyspace.durable_writes,
        column_families: Vec::new(),
        user_types: Vec::new(),
    }
}

/// The metadata records of a keyspace.
#[derive(Debug, Default)]
pub struct KeyspaceRecords<'a> {
    /// The keyspace's own record. In version 1 it has all the keyspace's contents.
    pub keyspace: &'a [u8],
    /// The records of its column families.
    pub column_families: Vec<&'a [u8]>,
    /// The records of its user types.
    pub user_types: Vec<&'a [u8]>,
}

/// Decodes a keyspace with all its contents. Returns also whether its record has version 1.
pub fn keyspace_from_records(
    records: &KeyspaceRecords<'_>,
    types: &Types,
) -> Result<(KeyspaceDef, bool), StoredError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let Versioned { version } = from_json(records.keyspace)?;
    if !(VERSION..=VERSION_OF_PROPERTIES).contains(&version) {
        return Err(StoredError::Version(version));
    }
    let mut stored: StoredKeyspace = from_json(records.keyspace)?;
    for record in &records.user_types {
        stored.user_types.push(from_json(record)?);
    }
    for record in &records.column_families {
        stored.column_families.push(from_json(record)?);
    }
    let mut keyspace = KeyspaceDef {
        strategy_class: stored.strategy_class,
        strategy_options: stored.strategy_options,
        replication_factor: stored.replication_factor,
        durable_writes: stored.durable_writes,
        ..KeyspaceDef::new(&stored.name)
    };
    keyspace.user_types = restore_user_types(&stored.name, stored.user_types);
    for family in stored.column_families {
        let cf = family.restore(&keyspace, types)?;
        keyspace.column_families.insert(cf.name.clone(), Arc::new(cf));
    }
    Ok((keyspace, version == VERSION))
}

fn from_json<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, StoredError> {
    serde_json::from_slice(json).map_err(|error| StoredError::Malformed(error.to_string()))
}

/// Decodes a keyspace from its own record only.
pub fn keyspace_from_json(json: &[u8], types: &Types) -> Result<KeyspaceDef, StoredError> {
    let records = KeyspaceRecords { keyspace: json, ..KeyspaceRecords::default() };
    keyspace_from_records(&records, types).map(|(keyspace, _)| keyspace)
}

/// Returns whether two definitions of a column family are equal.
pub fn is_same_family(one: &CfDef, other: &CfDef) -> bool {
    let form = ClassForm::Full;
    one.keyspace == other.keyspace && family_of(one, form) == family_of(other, form)
}

fn family_of(cf: &CfDef, form: ClassForm) -> StoredFamily {
    StoredFamily {
        name: cf.name.clone(),
        id: cf.id,
        comparator: cf.comparator.class_name().to_owned(),
        subcomparator: cf.subcomparator().map(|sub| sub.class_name().to_owned()),
        comment: cf.comment.clone(),
        gc_grace_seconds: cf.gc_grace_s,
        default_validator: cf.default_validator.class_name().to_owned(),
        key_validator: cf.key_validator.as_ref().map(|validator| validator.class_name().to_owned()),
        key_alias: cf.key_alias.as_ref().map(|alias| hex(alias)),
        columns: cf.column_metadata.values().map(column_of).collect(),
        settings: cf.settings.clone(),
        table: cf.table.as_deref().map(|table| StoredTable::of(table, form)),
        names: cf.names.clone(),
    }
}

fn column_of(column: &ColumnDef) -> StoredColumn {
    let (index, validator) = (column.index.clone(), column.validator.class_name().to_owned());
    StoredColumn { name: hex(&column.name), validator, index }
}

impl StoredFamily {
    fn restore(self, keyspace_def: &KeyspaceDef, types: &Types) -> Result<CfDef, StoredError> {
        let keyspace = &keyspace_def.name;
        let name = self.name.clone();
        let resolve = |class_name: &str| -> Result<TypeRef, StoredError> {
            types.resolve(class_name).ok_or_else(|| StoredError::UnknownType {
                family: format!("{keyspace}.{name}"),
                class_name: class_name.to_owned(),
            })
        };
        let mut cf = CfDef::new(keyspace, &self.name);
        cf.id = self.id;
        cf.comparator = resolve(&self.comparator)?;
        if let Some(subcomparator) = &self.subcomparator {
            cf.column_type = ColumnType::Super { subcomparator: resolve(subcomparator)? };
        }
        cf.comment = self.comment.clone();
        cf.gc_grace_s = self.gc_grace_seconds;
        cf.default_validator = resolve(&self.default_validator)?;
        cf.key_validator = self.key_validator.as_deref().map(resolve).transpose()?;
        cf.key_alias = self.key_alias.as_deref().map(name_of_hex).transpose()?;
        cf.settings = self.settings.clone();
        cf.table = self.table.map(|table| Arc::new(table.restore(keyspace_def)));
        cf.names = self.names;
        for column in &self.columns {
            let name = name_of_hex(&column.name)?;
            let index = column.index.clone();
            let restored = ColumnDef { name: name.clone(), validator: resolve(&column.validator)?, index };
            cf.column_metadata.insert(name, restored);
        }
        Ok(cf.with_indexes())
    }
}

fn name_of_hex(text: &str) -> Result<Bytes, StoredError> {
    let name = unhex(text.as_bytes()).map(Bytes::from);
    name.ok_or_else(|| StoredError::Malformed(format!("{text:?} is not a name in hexadecimal")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::IndexKind;

    #[test]
    fn a_keyspace_round_trips() {
        let types = Types::builtin();
        let resolve = |name: &str| types.resolve(name).unwrap();
        let mut cf = CfDef::new("Blog", "Posts");
        cf.id = 1007;
        cf.column_type = ColumnType::Super { subcomparator: resolve("LongType") };
        cf.comparator = resolve("UTF8Type");
        cf.key_validator = Some(resolve("AsciiType"));
        cf.key_alias = Some(Bytes::from_static(b"\xffk"));
        cf.settings.insert("caching".to_owned(), Setting::Text("all".to_owned()));
        let index = IndexDef { kind: IndexKind::Keys, name: Some("by_tag".to_owned()), options: None };
        let column = ColumnDef {
            name: Bytes::from_static(b"tag"),
            validator: resolve("UTF8Type"),
            index: Some(index),
        };
        cf.column_metadata.insert(column.name.clone(), column);
        let mut keyspace = KeyspaceDef::new("Blog");
        keyspace.strategy_options.insert("replication_factor".to_owned(), "1".to_owned());
        keyspace.column_families.insert(cf.name.clone(), Arc::new(cf.with_indexes()));

        let json = keyspace_to_json(&keyspace);
        let back = keyspace_from_json(json.as_bytes(), &types).unwrap();
        assert_eq!(format!("{back:?}"), format!("{keyspace:?}"));
        assert_eq!(keyspace_to_json(&back), json);
    }

    #[test]
    fn a_record_from_before_cql_is_read() {
        let note = br#"{"version":1,"name":"Blog","strategy_class":"org.apache.cassandra.locator.SimpleStrategy",
            "strategy_options":{"replication_factor":"1"},"replication_factor":1,"durable_writes":true,
            "column_families":[{"name":"Posts","id":1000,"comparator":"org.apache.cassandra.db.marshal.UTF8Type",
            "gc_grace_seconds":864000,"default_validator":"org.apache.cassandra.db.marshal.BytesType"}]}"#;
        let keyspace = keyspace_from_json(note, &Types::builtin()).unwrap();
        let cf = &keyspace.column_families["Posts"];
        assert!(cf.table.is_none() && cf.names.is_default() && keyspace.user_types.is_empty());
    }

    #[test]
    fn a_table_without_dropped_columns_is_read() {
        let marshal = "org.apache.cassandra.db.marshal";
        let dropped = [r#""#, r#","dropped":[{"name":"v","at_us":1400000000000000}]"#];
        for dropped in dropped {
            let note = format!(
                r#"{{"version":1,"name":"k","strategy_class":"org.apache.cassandra.locator.SimpleStrategy",
                "strategy_options":{{}},"replication_factor":1,"durable_writes":true,"column_families":[{{"name":"t",
                "id":1000,"comparator":"{marshal}.CompositeType({marshal}.UTF8Type)","gc_grace_seconds":864000,
                "default_validator":"{marshal}.BytesType","table":{{"partition_key":[{{"name":"k","type":
                "{marshal}.Int32Type"}}],"columns":[{{"name":"w","type":"{marshal}.UTF8Type"}}]{dropped}}}}}]}}"#
            );
            let keyspace = keyspace_from_json(note.as_bytes(), &Types::builtin()).unwrap();
            let table = keyspace.column_families["t"].table.clone().unwrap();
            let drops: Vec<_> =
                table.dropped.iter().map(|(name, dropped)| (&name[..], dropped.at_us)).collect();
            let expected = [(&b"v"[..], 1_400_000_000_000_000)];
            assert_eq!(drops, expected[..usize::from(!dropped.is_empty())]);
            let again = keyspace_to_json(&keyspace);
            assert_eq!(again.contains("dropped"), !dropped.is_empty());
        }
    }

    #[test]
    fn unreadable_records_are_errors() {
        let types = Types::builtin();
        assert!(matches!(keyspace_from_json(b"{", &types), Err(StoredError::Malformed(_))));
        assert_eq!(keyspace_from_json(br#"{"version":9}"#, &types).unwrap_err(), StoredError::Version(9));
    }
}
