//! The settings of a column family in the schema tables.

use std::collections::BTreeMap;

use base::compat::features::releases::NEWEST;
use base::schema::{CfDef, Setting};
use base::util::Release;

/// The settings of a column family as a release shows them: those that were not set have the defaults of that release.
#[derive(Clone, Copy)]
pub(super) struct ShownSettings<'a> {
    cf: &'a CfDef,
    release: Release,
}

impl<'a> ShownSettings<'a> {
    pub(super) fn of(cf: &'a CfDef) -> ShownSettings<'a> {
        ShownSettings::in_release(cf, NEWEST)
    }

    pub(super) fn in_release(cf: &'a CfDef, release: Release) -> ShownSettings<'a> {
        ShownSettings { cf, release }
    }

    fn setting(self, name: &str) -> Option<Setting> {
        Setting::shown(Setting::field_named(name)?, &self.cf.settings, self.release)
    }

    pub(super) fn int(self, name: &str, default: i32) -> i32 {
        match self.setting(name) {
            Some(Setting::Int(number)) => number,
            _ => default,
        }
    }

    pub(super) fn optional_double(self, name: &str) -> Option<f64> {
        match self.setting(name) {
            Some(Setting::Double(number)) => Some(number),
            _ => None,
        }
    }

    pub(super) fn double(self, name: &str, default: f64) -> f64 {
        self.optional_double(name).unwrap_or(default)
    }

    pub(super) fn boolean(self, name: &str, default: bool) -> bool {
        match self.setting(name) {
            Some(Setting::Bool(value)) => value,
            _ => default,
        }
    }

    pub(super) fn text(self, name: &str) -> String {
        match self.setting(name) {
            Some(Setting::Text(text)) => text,
            _ => String::new(),
        }
    }

    pub(super) fn options(self, name: &str) -> BTreeMap<String, String> {
        match self.setting(name) {
            Some(Setting::Map(map)) => map,
            _ => BTreeMap::new(),
        }
    }

    /// Returns the caching in the form of 2.1: `keys`, and the rows of a partition.
    pub(super) fn caching(self) -> (&'static str, String) {
        let rows = || self.text("cells_per_row_to_cache");
        match &*self.text("caching") {
            "ALL" => ("ALL", rows()),
            "ROWS_ONLY" => ("NONE", rows()),
            "NONE" => ("NONE", "NONE".to_owned()),
            _ => ("ALL", "NONE".to_owned()),
        }
    }
}
