//! Settings of a column family that clients make and ask for again, and that mean nothing to this server.
//!
//! They tuned caches, compaction and read repair. Applications read them back, and compare: so each is kept as
//! it was set, and where nothing was set each release shows its own default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compat::features::{CF_FIELDS, CfField, FieldDefault};
use crate::util::Release;

/// A setting's value, in the types that the API has for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Setting {
    Bool(bool),
    Int(i32),
    Double(f64),
    Text(String),
    Map(BTreeMap<String, String>),
}

/// How many cells of a row are cached, where rows are.
const CELLS_CACHED: &str = "cells_per_row_to_cache";

fn caches_rows(said: &BTreeMap<String, Setting>) -> bool {
    matches!(said.get("caching"), Some(Setting::Text(caching)) if caching == "ALL" || caching == "ROWS_ONLY")
}

impl Setting {
    /// The field of `CfDef` with this number.
    pub fn field(id: i16) -> Option<&'static CfField> {
        CF_FIELDS.iter().find(|field| field.id == id)
    }

    /// The field of `CfDef` with this name.
    pub fn field_named(name: &str) -> Option<&'static CfField> {
        CF_FIELDS.iter().find(|field| field.name == name)
    }

    /// What a release shows of a field, given the settings of a column family.
    pub fn shown(field: &CfField, settings: &BTreeMap<String, Setting>, release: Release) -> Option<Setting> {
        if !field.releases.has(release) {
            return None;
        }
        if field.name == CELLS_CACHED && !caches_rows(settings) {
            return Some(Setting::Text("0".to_owned()));
        }
        settings.get(field.name).cloned().or_else(|| Setting::of_default(field.default(release)))
    }

    fn of_default(default: FieldDefault) -> Option<Setting> {
        let map = |entries: &[(&str, &str)]| {
            entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        match default {
            FieldDefault::Absent => None,
            FieldDefault::Bool(value) => Some(Setting::Bool(value)),
            FieldDefault::Int(value) => Some(Setting::Int(value)),
            FieldDefault::Double(value) => Some(Setting::Double(value)),
            FieldDefault::Text(value) => Some(Setting::Text(value.to_owned())),
            FieldDefault::Map(entries) => Some(Setting::Map(map(entries))),
        }
    }
}
