//! Finds the parent of an element or attribute that is in the wrong place.

use super::cluster::{CLUSTER, CONTACT_POINT};
use super::column_family::FAMILY;
use super::encryption::ENCRYPTION;
use super::keyspace::KEYSPACE;
use super::lists;
use super::load::STORAGE;
use super::setting::{NameKind, find};

/// Returns the place where an element or attribute with a name is known.
pub(crate) fn parent_of(name: &str) -> Option<&'static str> {
    let is_in_encryption = find(ENCRYPTION, NameKind::Element, name).is_some();
    let is_in_cluster = find(CLUSTER, NameKind::Element, name).is_some();
    match name {
        KEYSPACE => Some("in <Keyspaces>"),
        FAMILY => Some("in <Keyspace>"),
        lists::DATA_DIRECTORY => Some("in <DataFileDirectories>"),
        lists::SEED => Some("in <Seeds>"),
        CONTACT_POINT => Some("in <ContactPoints>, which belongs in <Cluster>"),
        // Keyspaces and column families both have a name, so there is no hint.
        _ if find(KEYSPACE, NameKind::Attribute, name).is_some() => None,
        _ if find(FAMILY, NameKind::Attribute, name).is_some() => {
            Some("in a <ColumnFamily> tag, as an attribute")
        }
        _ if find(FAMILY, NameKind::Element, name).is_some() => Some("in <ColumnFamily>"),
        _ if is_in_encryption && is_in_cluster => Some("in <ClientEncryptionOptions> or in <Cluster>"),
        _ if is_in_encryption => Some("in <ClientEncryptionOptions>"),
        _ if is_in_cluster => Some("in <Cluster>"),
        _ if find(STORAGE, NameKind::Element, name).is_some() => Some("in <Storage>"),
        _ if find(KEYSPACE, NameKind::Element, name).is_some() => Some("in <Keyspace>"),
        _ => None,
    }
}
