//! The settings of column families in the schema tables.

use std::collections::BTreeMap;

use crate::compat::features::releases::NEWEST;
use crate::schema::{CfDef, Setting};

fn setting(cf: &CfDef, name: &str) -> Option<Setting> {
    Setting::shown(Setting::field_named(name)?, &cf.settings, NEWEST)
}

pub fn int(cf: &CfDef, name: &str, default: i32) -> i32 {
    match setting(cf, name) {
        Some(Setting::Int(number)) => number,
        _ => default,
    }
}

pub fn double(cf: &CfDef, name: &str, default: f64) -> f64 {
    match setting(cf, name) {
        Some(Setting::Double(number)) => number,
        _ => default,
    }
}

pub fn text(cf: &CfDef, name: &str) -> String {
    match setting(cf, name) {
        Some(Setting::Text(text)) => text,
        _ => String::new(),
    }
}

pub fn options(cf: &CfDef, name: &str) -> BTreeMap<String, String> {
    match setting(cf, name) {
        Some(Setting::Map(map)) => map,
        _ => BTreeMap::new(),
    }
}

/// Returns the caching in the form of 2.1: `keys`, and the rows of a partition.
pub fn caching(cf: &CfDef) -> (&'static str, String) {
    let rows = || text(cf, "cells_per_row_to_cache");
    match &*text(cf, "caching") {
        "ALL" => ("ALL", rows()),
        "ROWS_ONLY" => ("NONE", rows()),
        "NONE" => ("NONE", "NONE".to_owned()),
        _ => ("ALL", "NONE".to_owned()),
    }
}
