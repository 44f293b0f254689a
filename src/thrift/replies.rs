//! What a client reads of a server's replies: schemas and rows.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::failure::Failure;
use super::schema_types;
use super::types::{column_or_super, list, map};
use super::wire::{Reader, TType};
use crate::compat::features::releases::NEWEST;
use crate::db::{ColumnOrSuper, KsRequest};

/// A row's key and columns.
pub type KeySlice = (Bytes, Vec<ColumnOrSuper>);

/// What each column family of a keyspace says of itself, as 0.6 tells it.
pub type DescribedFamilies = BTreeMap<String, BTreeMap<String, String>>;

fn told<T>(read: Result<T, Failure>) -> Result<T, String> {
    read.map_err(|failure| match failure {
        Failure::Protocol(why) | Failure::MissingArgument(why) => why,
        Failure::Failed(error) => error.to_string(),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A list of KsDef (0.7 and later).
pub fn keyspaces(reader: &mut Reader<'_>) -> Result<Vec<KsRequest>, String> {
    told(list(reader, TType::Struct, schema_types::keyspace))
}

/// A set or list of names.
pub fn names(reader: &mut Reader<'_>) -> Result<Vec<String>, String> {
    let names = told(super::types::byte_strings(reader))?;
    Ok(names.iter().map(|name| text(name)).collect())
}

/// The map that describes a keyspace (to 0.6).
pub fn families(reader: &mut Reader<'_>) -> Result<DescribedFamilies, String> {
    let properties = |reader: &mut Reader<'_>| map(reader, TType::String, |reader| Ok(reader.bytes()?));
    let families = told(map(reader, TType::Map, properties))?;
    let of_text = |(name, properties): (Bytes, Vec<(Bytes, Bytes)>)| {
        (text(&name), properties.iter().map(|(name, value)| (text(name), text(value))).collect())
    };
    Ok(families.into_iter().map(of_text).collect())
}

/// Columns of one row.
pub fn columns(reader: &mut Reader<'_>) -> Result<Vec<ColumnOrSuper>, String> {
    told(either_list(reader))
}

fn either_list(reader: &mut Reader<'_>) -> Result<Vec<ColumnOrSuper>, Failure> {
    list(reader, TType::Struct, |reader| column_or_super(reader, NEWEST))
}

/// Rows of a range.
pub fn key_slices(reader: &mut Reader<'_>) -> Result<Vec<KeySlice>, String> {
    let key_slice = |reader: &mut Reader<'_>| {
        let (mut key, mut columns) = (Bytes::new(), Vec::new());
        while let Some((ttype, id)) = reader.field_begin()? {
            match (id, ttype) {
                (1, TType::String) => key = reader.bytes()?,
                (2, TType::List) => columns = either_list(reader)?,
                _ => reader.skip(ttype)?,
            }
        }
        Ok((key, columns))
    };
    told(list(reader, TType::Struct, key_slice))
}
