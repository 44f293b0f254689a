//! Decodes replies of a server, for clients: schemas and rows.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::failure::Failure;
use super::schema_types;
use super::types::{column_or_super, list, map};
use base::compat::features::releases::NEWEST;
use db::{ColumnOrSuper, KsRequest};
use wire::thrift::{Reader, TType};

/// A row's key and columns.
pub type KeySlice = (Bytes, Vec<ColumnOrSuper>);

/// The properties of each column family of a keyspace, as `describe_keyspace` returns them up to 0.6.
pub type DescribedFamilies = BTreeMap<String, BTreeMap<String, String>>;

fn with_text_error<T>(read: Result<T, Failure>) -> Result<T, String> {
    read.map_err(|failure| match failure {
        Failure::Protocol(why) | Failure::MissingArgument(why) => why,
        Failure::Failed(error) => error.to_string(),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads a list of KsDef (0.7 and later).
pub fn keyspaces(reader: &mut Reader<'_>) -> Result<Vec<KsRequest>, String> {
    with_text_error(list(reader, TType::Struct, schema_types::keyspace))
}

/// Reads a set or list of names.
pub fn names(reader: &mut Reader<'_>) -> Result<Vec<String>, String> {
    let names = with_text_error(super::types::byte_strings(reader))?;
    Ok(names.iter().map(|name| text(name)).collect())
}

/// Reads the map that describes a keyspace (up to 0.6).
pub fn families(reader: &mut Reader<'_>) -> Result<DescribedFamilies, String> {
    let families = map(reader, TType::Map, |reader| map(reader, TType::String, |reader| Ok(reader.bytes()?)));
    let mut described = DescribedFamilies::new();
    for (name, properties) in with_text_error(families)? {
        let properties = properties.iter().map(|(name, value)| (text(name), text(value))).collect();
        described.insert(text(&name), properties);
    }
    Ok(described)
}

/// Reads the columns of one row.
pub fn columns(reader: &mut Reader<'_>) -> Result<Vec<ColumnOrSuper>, String> {
    with_text_error(either_list(reader))
}

fn either_list(reader: &mut Reader<'_>) -> Result<Vec<ColumnOrSuper>, Failure> {
    list(reader, TType::Struct, |reader| column_or_super(reader, NEWEST))
}

/// Reads the rows of a range.
pub fn key_slices(reader: &mut Reader<'_>) -> Result<Vec<KeySlice>, String> {
    with_text_error(list(reader, TType::Struct, key_slice))
}

fn key_slice(reader: &mut Reader<'_>) -> Result<KeySlice, Failure> {
    let (mut key, mut columns) = (Bytes::new(), Vec::new());
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => key = reader.bytes()?,
            (2, TType::List) => columns = either_list(reader)?,
            _ => reader.skip(ttype)?,
        }
    }
    Ok((key, columns))
}
