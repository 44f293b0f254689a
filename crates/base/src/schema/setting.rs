//! Settings of a column family that clients can set and read, and that have no effect on this server.
//!
//! In Cassandra they tuned caches, compaction and read repair. Applications read them back and compare them. So each
//! setting is stored as it was set, and a setting that was not set has the default of the client's release.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compat::features::{CF_FIELDS, CfField, FieldDefault};
use crate::util::Release;

/// The value of a setting, as a type of the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Setting {
    /// Thrift's `bool`.
    Bool(bool),
    /// Thrift's `i32`.
    Int(i32),
    /// Thrift's `double`.
    Double(f64),
    /// Thrift's `string`.
    Text(String),
    /// Thrift's `map<string,string>`.
    Map(BTreeMap<String, String>),
}

/// The setting for the number of cells of a row in the row cache.
const CELLS_CACHED: &str = "cells_per_row_to_cache";

fn caches_rows(settings: &BTreeMap<String, Setting>) -> bool {
    matches!(settings.get("caching"), Some(Setting::Text(caching)) if caching == "ALL" || caching == "ROWS_ONLY")
}

impl Setting {
    /// Returns the field of `CfDef` with a number.
    pub fn field(id: i16) -> Option<&'static CfField> {
        CF_FIELDS.iter().find(|field| field.id == id)
    }

    /// Returns the field of `CfDef` with a name.
    pub fn field_named(name: &str) -> Option<&'static CfField> {
        CF_FIELDS.iter().find(|field| field.name == name)
    }

    /// Returns the value that a release returns for a field of a column family with these settings.
    pub fn shown(field: &CfField, settings: &BTreeMap<String, Setting>, release: Release) -> Option<Setting> {
        if !field.releases.has(release) {
            return None;
        }
        if field.name == CELLS_CACHED && !caches_rows(settings) {
            return Some(Setting::Text("0".to_owned()));
        }
        settings.get(field.name).cloned().or_else(|| Setting::of_default(field.default(release)))
    }

    /// Returns the value of a default; `None` if it is absent.
    pub fn of_default(default: FieldDefault) -> Option<Setting> {
        match default {
            FieldDefault::Absent => None,
            FieldDefault::Bool(value) => Some(Setting::Bool(value)),
            FieldDefault::Int(value) => Some(Setting::Int(value)),
            FieldDefault::Double(value) => Some(Setting::Double(value)),
            FieldDefault::Text(value) => Some(Setting::Text(value.to_owned())),
            FieldDefault::Map(entries) => {
                let owned = entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
                Some(Setting::Map(owned.collect()))
            }
        }
    }
}
