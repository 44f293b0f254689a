//! The metadata records in which a local store holds the schema made by clients.
//!
//! ```text
//!   keyspace/Blog         the keyspace's own properties; in directories of earlier versions, all that is in it
//!   family/Blog/Posts     a column family
//!   type/Blog/address     a user type
//! ```
//!
//! A change writes only the records of the definitions that it changes, so adding a column family costs the same with
//! 10,000 existing ones as with ten.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use base::marshal::{Types, UserType};
use base::schema::{
    CfDef, KeyspaceDef, KeyspaceRecords, StoredError, family_to_json, keyspace_from_records,
    keyspace_properties_to_json, keyspace_to_json, user_type_to_json,
};

/// Metadata records to write, each with its name; `None` removes one.
pub(super) type Records = Vec<(String, Option<Bytes>)>;

/// The prefix of a keyspace's record; the name of the keyspace follows.
pub(super) const KEYSPACE_RECORD: &str = "keyspace/";
/// The prefix of a column family's record; its keyspace and its name follow.
const FAMILY_RECORD: &str = "family/";
/// The prefix of a user type's record; its keyspace and its name follow.
const TYPE_RECORD: &str = "type/";

/// Returns the record of a whole keyspace, as used by servers that share a store.
pub(super) fn keyspace_record(keyspace: &KeyspaceDef) -> (String, Option<Bytes>) {
    (format!("{KEYSPACE_RECORD}{}", keyspace.name), Some(keyspace_to_json(keyspace).into()))
}

/// Returns the records that a change of a keyspace writes or removes; `None` means that the keyspace does not exist
/// before or after the change.
pub(super) fn changed_records(before: Option<&KeyspaceDef>, after: Option<&KeyspaceDef>) -> Records {
    let Some(name) = after.or(before).map(|keyspace| &keyspace.name) else { return Records::new() };
    let mut records = Records::new();
    let properties = |keyspace: &KeyspaceDef| Bytes::from(keyspace_properties_to_json(keyspace));
    let new = after.map(properties);
    if before.is_none() || before.map(properties) != new {
        records.push((format!("{KEYSPACE_RECORD}{name}"), new));
    }
    let nothing = KeyspaceDef::new(name);
    let (before, after) = (before.unwrap_or(&nothing), after.unwrap_or(&nothing));
    for (family, _, cf) in after.column_families.changes_since(&before.column_families, Arc::ptr_eq) {
        records.push((
            format!("{FAMILY_RECORD}{name}/{family}"),
            cf.map(|cf: &Arc<CfDef>| family_to_json(cf).into()),
        ));
    }
    for (user_type, _, user) in after.user_types.changes_since(&before.user_types, Arc::ptr_eq) {
        let json = user.map(|user: &Arc<UserType>| user_type_to_json(user).into());
        records.push((format!("{TYPE_RECORD}{name}/{user_type}"), json));
    }
    records
}

/// A keyspace read from its metadata records.
pub(super) struct KeyspaceRecord<'a> {
    pub name: &'a str,
    /// The keyspace, and whether it was stored as a single record of an earlier version.
    pub read: Result<(KeyspaceDef, bool), StoredError>,
}

/// Reads the keyspaces in metadata records, in the order of their names.
pub(super) fn keyspace_records<'a>(
    records: &'a [(String, Bytes)],
    types: &'a Types,
) -> impl Iterator<Item = KeyspaceRecord<'a>> {
    let mut all: BTreeMap<&str, KeyspaceRecords<'_>> = BTreeMap::new();
    for (name, record) in records {
        let keyspace_of = |kind: &str| Some(name.strip_prefix(kind)?.split_once('/')?.0);
        if let Some(keyspace) = name.strip_prefix(KEYSPACE_RECORD) {
            all.entry(keyspace).or_default().keyspace = record;
        } else if let Some(keyspace) = keyspace_of(FAMILY_RECORD) {
            all.entry(keyspace).or_default().column_families.push(record);
        } else if let Some(keyspace) = keyspace_of(TYPE_RECORD) {
            all.entry(keyspace).or_default().user_types.push(record);
        }
    }
    all.into_iter()
        .map(|(name, records)| KeyspaceRecord { name, read: keyspace_from_records(&records, types) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::{CqlType, Native};

    fn family(name: &str) -> (String, Arc<CfDef>) {
        (name.to_owned(), Arc::new(CfDef::new("Ks", name)))
    }

    fn names(records: &Records) -> Vec<(&str, bool)> {
        records.iter().map(|(name, value)| (&**name, value.is_some())).collect()
    }

    fn store(records: Records, kept: &mut BTreeMap<String, Bytes>) {
        for (name, value) in records {
            match value {
                Some(value) => drop(kept.insert(name, value)),
                None => drop(kept.remove(&name)),
            }
        }
    }

    #[test]
    fn a_change_writes_only_the_changed_records_and_keyspaces_round_trip() {
        let mut before = KeyspaceDef::new("Ks");
        before.column_families.extend((0..1000).map(|number| family(&format!("F{number}"))));
        let field = ("a".to_owned(), CqlType::Native(Native::Int));
        let user = UserType::new("Ks", "odd/name", vec![field]);
        before.user_types.insert(user.name.clone(), Arc::new(user));
        let first = changed_records(None, Some(&before));
        assert_eq!(first.len(), 1002);
        let mut after = before.clone();
        after.column_families.extend([family("New"), family("F7")]);
        after.column_families.remove("F9");
        let second = changed_records(Some(&before), Some(&after));
        assert_eq!(
            names(&second),
            [("family/Ks/F7", true), ("family/Ks/F9", false), ("family/Ks/New", true)]
        );
        after.durable_writes = false;
        let third = changed_records(Some(&before), Some(&after));
        assert_eq!(names(&third)[0], ("keyspace/Ks", true));

        let mut kept = BTreeMap::new();
        store(first, &mut kept);
        store(third, &mut kept);
        let records: Vec<_> = kept.clone().into_iter().collect();
        let types = Types::builtin();
        let mut read: Vec<_> = keyspace_records(&records, &types).collect();
        let (keyspace, is_whole) = read.remove(0).read.unwrap();
        assert!(read.is_empty() && !is_whole);
        assert_eq!(format!("{keyspace:?}"), format!("{after:?}"));
        store(changed_records(Some(&after), None), &mut kept);
        assert_eq!(kept.len(), 0);
    }

    #[test]
    fn parts_of_a_keyspace_without_its_record_are_an_error() {
        let records = [("family/Ks/F".to_owned(), Bytes::from(family_to_json(&family("F").1)))];
        let types = Types::builtin();
        assert!(keyspace_records(&records, &types).all(|keyspace| keyspace.read.is_err()));
    }
}
