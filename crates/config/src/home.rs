//! Finds the parent of an element or attribute that is in the wrong place.

use super::cluster::{CLUSTER_ELEMENTS, CONTACT_POINT};
use super::column_family::{FAMILY_ATTRIBUTES, FAMILY_ELEMENTS};
use super::element::Element;
use super::elements::ELEMENTS;
use super::encryption::ENCRYPTION_ELEMENTS;
use super::keyspace::{KEYSPACE_ATTRIBUTES, KEYSPACE_ELEMENTS};
use super::lists;

/// Returns the place where an element or attribute with a name is known.
pub fn parent_of(name: &str) -> Option<&'static str> {
    fn has<T>(rows: &[Element<T>], name: &str) -> bool {
        rows.iter().any(|row| row.tag == name)
    }
    match name {
        "Keyspace" => Some("in <Keyspaces>"),
        "ColumnFamily" => Some("in <Keyspace>"),
        lists::DATA_DIRECTORY => Some("in <DataFileDirectories>"),
        lists::SEED => Some("in <Seeds>"),
        CONTACT_POINT => Some("in <ContactPoints>, which belongs in <Cluster>"),
        // Keyspaces and column families both have a name, so there is no hint.
        _ if has(KEYSPACE_ATTRIBUTES, name) => None,
        _ if has(FAMILY_ATTRIBUTES, name) => Some("in a <ColumnFamily> tag, as an attribute"),
        _ if has(FAMILY_ELEMENTS, name) => Some("in <ColumnFamily>"),
        _ if has(ENCRYPTION_ELEMENTS, name) && has(CLUSTER_ELEMENTS, name) => {
            Some("in <ClientEncryptionOptions> or in <Cluster>")
        }
        _ if has(ENCRYPTION_ELEMENTS, name) => Some("in <ClientEncryptionOptions>"),
        _ if has(CLUSTER_ELEMENTS, name) => Some("in <Cluster>"),
        _ if has(ELEMENTS, name) => Some("in <Storage>"),
        _ if has(KEYSPACE_ELEMENTS, name) => Some("in <Keyspace>"),
        _ => None,
    }
}
