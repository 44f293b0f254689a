//! JSON objects with their keys in the order of the text.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::names::name_of_key;
use super::read::from_json;
use crate::error::invalid;
use crate::{CqlError, Result, TypesOf};
use base::model::BoundValue;
use base::schema::{TableColumn, TableDef};

/// Keys and values, in the order of the text.
#[derive(Debug)]
pub(crate) struct JsonObject<'j>(pub Vec<(String, &'j RawValue)>);

impl<'de> Deserialize<'de> for JsonObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = JsonObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(JsonObject(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Returns the values of `INSERT ... JSON` for a table's columns, in their order: null if the text says so, and
/// `omitted` if the text does not name the column.
pub(crate) fn decode_object(
    text: Option<&str>,
    def: &TableDef,
    types: TypesOf<'_>,
    omitted: &BoundValue,
) -> Result<Vec<BoundValue>> {
    let text = text.filter(|text| text.trim() != "null");
    let text = text.ok_or_else(|| CqlError::invalid("Got null for INSERT JSON values"))?;
    let object: JsonObject<'_> = serde_json::from_str(text).map_err(|error| {
        CqlError::invalid(format!("Could not decode JSON string as a map: {error}. (String was: {text})"))
    })?;
    let names: Vec<String> = object.0.iter().map(|(key, _)| name_of_key(key)).collect();
    // The last value of a repeated column is used.
    let given: HashMap<&str, &RawValue> =
        names.iter().zip(&object.0).map(|(name, (_, value))| (name.as_str(), *value)).collect();
    let mut values = Vec::new();
    for TableColumn { name, cql_type, .. } in def.columns() {
        values.push(match given.get(name.as_str()).map(|json| from_json(cql_type, json, types)) {
            None => omitted.clone(),
            Some(Ok(bytes)) => BoundValue::from(bytes),
            Some(Err(why)) => return invalid(format!("Error decoding JSON value for {name}: {why}")),
        });
    }
    match names.iter().find(|name| def.column(name).is_none()) {
        Some(unknown) => invalid(format!("JSON values map contains unrecognized column: {unknown}")),
        None => Ok(values),
    }
}
