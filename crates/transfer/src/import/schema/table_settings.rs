//! The settings of column families that have no effect on this server, which only shows them: caches, compaction, compression.
//!
//! The system tables of each release name them in another way. They are read into the names of `CfDef`, the struct of the
//! Thrift API, in which this server stores them; CREATE TABLE takes them as properties.

use std::collections::BTreeMap;

use super::system_rows::SchemaRow;
use base::compat::features::FieldKind;
use base::schema::Setting;
use cql_syntax::PropertyValue;

/// Settings by the names of `CfDef`.
pub(super) type Settings = BTreeMap<String, Setting>;

/// The columns of `system.schema_columnfamilies` (1.1 to 2.2), with the field of `CfDef`. Maps are JSON there.
const OLD_COLUMNS: &[(&str, &str, FieldKind)] = &[
    ("read_repair_chance", "read_repair_chance", FieldKind::Double),
    ("local_read_repair_chance", "dclocal_read_repair_chance", FieldKind::Double),
    ("replicate_on_write", "replicate_on_write", FieldKind::Bool),
    ("min_compaction_threshold", "min_compaction_threshold", FieldKind::Int),
    ("max_compaction_threshold", "max_compaction_threshold", FieldKind::Int),
    ("compaction_strategy_class", "compaction_strategy", FieldKind::Text),
    ("compaction_strategy_options", "compaction_strategy_options", FieldKind::Map),
    ("compression_parameters", "compression_options", FieldKind::Map),
    // So in 1.1.
    ("bloomFilterFpChance", "bloom_filter_fp_chance", FieldKind::Double),
    ("bloom_filter_fp_chance", "bloom_filter_fp_chance", FieldKind::Double),
    ("populate_io_cache_on_flush", "populate_io_cache_on_flush", FieldKind::Bool),
    ("memtable_flush_period_in_ms", "memtable_flush_period_in_ms", FieldKind::Int),
    ("default_time_to_live", "default_time_to_live", FieldKind::Int),
    ("speculative_retry", "speculative_retry", FieldKind::Text),
    ("index_interval", "index_interval", FieldKind::Int),
    ("min_index_interval", "min_index_interval", FieldKind::Int),
    ("max_index_interval", "max_index_interval", FieldKind::Int),
];

/// The columns of `system_schema.tables` (3.0 and later) with numbers and texts, which have the names of `CfDef`.
const NEW_COLUMNS: &[(&str, FieldKind)] = &[
    ("read_repair_chance", FieldKind::Double),
    ("dclocal_read_repair_chance", FieldKind::Double),
    ("bloom_filter_fp_chance", FieldKind::Double),
    ("memtable_flush_period_in_ms", FieldKind::Int),
    ("default_time_to_live", FieldKind::Int),
    ("speculative_retry", FieldKind::Text),
    ("min_index_interval", FieldKind::Int),
    ("max_index_interval", FieldKind::Int),
];

/// The options of compaction that `CfDef` has as fields of their own.
const THRESHOLDS: [(&str, &str); 2] =
    [("min_threshold", "min_compaction_threshold"), ("max_threshold", "max_compaction_threshold")];

fn setting(row: &SchemaRow, column: &str, kind: FieldKind) -> Option<Setting> {
    match kind {
        FieldKind::Bool => row.boolean(column).map(Setting::Bool),
        FieldKind::Int => row.int(column).map(Setting::Int),
        FieldKind::Double => row.double(column).map(Setting::Double),
        FieldKind::Text => row.text(column).map(|text| Setting::Text(text.to_owned())),
        FieldKind::Map => row.text(column).and_then(|json| serde_json::from_str(json).ok()).map(Setting::Map),
    }
}

/// Returns the settings in a row of `system.schema_columnfamilies`.
pub(super) fn of_old_row(row: &SchemaRow) -> Settings {
    let columns = OLD_COLUMNS.iter();
    let mut settings: Settings = columns
        .filter_map(|(column, field, kind)| Some(((*field).to_owned(), setting(row, column, *kind)?)))
        .collect();
    if let Some(caching) = row.text("caching") {
        // A map in JSON in 2.1, a word before.
        match serde_json::from_str::<BTreeMap<String, String>>(caching) {
            Ok(map) => add_caching(&mut settings, &map),
            Err(_) => {
                settings.insert("caching".to_owned(), Setting::Text(caching.to_owned()));
            }
        }
    }
    settings
}

/// Returns the settings in a row of `system_schema.tables`.
pub(super) fn of_new_row(row: &SchemaRow) -> Settings {
    let of_column =
        |(column, kind): &(&str, FieldKind)| Some(((*column).to_owned(), setting(row, column, *kind)?));
    let mut settings: Settings = NEW_COLUMNS.iter().filter_map(of_column).collect();
    // The default of 4.0 and later is `99p`; before, it was `99PERCENTILE`.
    if let Some(Setting::Text(retry)) = settings.get_mut("speculative_retry")
        && let Some(number) = retry.strip_suffix('p')
    {
        *retry = format!("{number}PERCENTILE");
    }
    add_caching(&mut settings, &row.frozen_map("caching"));
    let mut compaction = row.frozen_map("compaction");
    for (option, field) in THRESHOLDS {
        if let Some(number) = compaction.remove(option).and_then(|text| text.parse().ok()) {
            settings.insert(field.to_owned(), Setting::Int(number));
        }
    }
    if let Some(class) = compaction.remove("class") {
        settings.insert("compaction_strategy".to_owned(), Setting::Text(class));
        settings.insert("compaction_strategy_options".to_owned(), Setting::Map(compaction));
    }
    let mut compression = row.frozen_map("compression");
    let is_off = compression.remove("enabled").is_some_and(|enabled| enabled == "false");
    for (new, old) in [("class", "sstable_compression"), ("chunk_length_in_kb", "chunk_length_kb")] {
        if let Some(value) = compression.remove(new) {
            compression.insert(old.to_owned(), value);
        }
    }
    if is_off {
        compression.clear();
    }
    settings.insert("compression_options".to_owned(), Setting::Map(compression));
    settings
}

/// Adds caching that is given as two values: of keys, and of rows.
fn add_caching(settings: &mut Settings, map: &BTreeMap<String, String>) {
    let value = |name: &str| map.get(name).map_or_else(|| "NONE".to_owned(), |value| value.to_uppercase());
    let (keys, rows) = (value("keys"), value("rows_per_partition"));
    let caching = match (&*keys, &*rows) {
        ("ALL", "NONE") => "KEYS_ONLY",
        ("ALL", _) => "ALL",
        (_, "NONE") => "NONE",
        _ => "ROWS_ONLY",
    };
    settings.insert("caching".to_owned(), Setting::Text(caching.to_owned()));
    settings.insert("cells_per_row_to_cache".to_owned(), Setting::Text(rows));
}

/// Returns the settings as properties of CREATE TABLE, with the names of 2.1.
pub(super) fn properties(settings: &Settings) -> Vec<(String, PropertyValue)> {
    let text = |name: &str| match settings.get(name)? {
        Setting::Bool(value) => Some(value.to_string()),
        Setting::Int(value) => Some(value.to_string()),
        Setting::Double(value) => Some(value.to_string()),
        Setting::Text(value) => Some(value.clone()),
        Setting::Map(_) => None,
    };
    let map = |name: &str| match settings.get(name) {
        Some(Setting::Map(map)) => map.clone(),
        _ => BTreeMap::new(),
    };
    let of_column =
        |(name, _): &(&str, FieldKind)| Some(((*name).to_owned(), PropertyValue::Text(text(name)?)));
    let mut found: Vec<_> = NEW_COLUMNS.iter().filter_map(of_column).collect();
    let mut add_map = |name: &str, map: BTreeMap<String, String>| {
        found.push((name.to_owned(), PropertyValue::Map(map.into_iter().collect())));
    };
    if let Some(class) = text("compaction_strategy") {
        let mut compaction = map("compaction_strategy_options");
        compaction.insert("class".to_owned(), class);
        for (option, field) in THRESHOLDS {
            compaction.extend(text(field).map(|number| (option.to_owned(), number)));
        }
        add_map("compaction", compaction);
    }
    if settings.contains_key("compression_options") {
        let mut compression = map("compression_options");
        if compression.is_empty() {
            compression.insert("sstable_compression".to_owned(), String::new());
        }
        add_map("compression", compression);
    }
    match (text("caching"), text("cells_per_row_to_cache")) {
        (Some(caching), Some(rows)) => {
            let keys = if ["ALL", "KEYS_ONLY"].contains(&&*caching) { "ALL" } else { "NONE" };
            let keys = ("keys".to_owned(), keys.to_owned());
            add_map("caching", BTreeMap::from([keys, ("rows_per_partition".to_owned(), rows)]));
        }
        (Some(caching), None) => found.push(("caching".to_owned(), PropertyValue::Text(caching))),
        (None, _) => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caching(map: &[(&str, &str)]) -> Settings {
        let map = map.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut settings = Settings::new();
        add_caching(&mut settings, &map);
        settings
    }

    #[test]
    fn caching_of_2_1_has_a_word_of_earlier_releases() {
        let word = |map| caching(map)["caching"].clone();
        assert_eq!(word(&[("keys", "ALL")]), Setting::Text("KEYS_ONLY".to_owned()));
        assert_eq!(
            word(&[("keys", "NONE"), ("rows_per_partition", "10")]),
            Setting::Text("ROWS_ONLY".to_owned())
        );
        assert_eq!(word(&[]), Setting::Text("NONE".to_owned()));
    }

    #[test]
    fn settings_are_properties_of_tables() {
        let mut settings = caching(&[("keys", "ALL"), ("rows_per_partition", "7")]);
        settings.insert("default_time_to_live".to_owned(), Setting::Int(60));
        settings.insert("compaction_strategy".to_owned(), Setting::Text("a.B".to_owned()));
        settings.insert("min_compaction_threshold".to_owned(), Setting::Int(3));
        settings.insert("compression_options".to_owned(), Setting::Map(BTreeMap::new()));
        let map = |pairs: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            PropertyValue::Map(pairs.iter().map(pair).collect())
        };
        let expected = [
            ("default_time_to_live".to_owned(), PropertyValue::Text("60".to_owned())),
            ("compaction".to_owned(), map(&[("class", "a.B"), ("min_threshold", "3")])),
            ("compression".to_owned(), map(&[("sstable_compression", "")])),
            ("caching".to_owned(), map(&[("keys", "ALL"), ("rows_per_partition", "7")])),
        ];
        assert_eq!(properties(&settings), expected);
    }
}
