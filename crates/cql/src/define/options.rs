//! The properties of tables: checks them and turns them into settings.

use std::collections::BTreeMap;

use super::names::{configuration, syntax};
use crate::{CqlError, Result};
use base::compat::features::compaction_options;
use base::compat::features::releases::NEWEST;
use base::schema::{CfDef, Setting};
use cql_syntax::{Properties, PropertyValue};
use db::limits::TTL_MAX_S;

const TABLE: [&str; 14] = [
    "comment",
    "read_repair_chance",
    "dclocal_read_repair_chance",
    "gc_grace_seconds",
    "caching",
    "default_time_to_live",
    "min_index_interval",
    "max_index_interval",
    "speculative_retry",
    "memtable_flush_period_in_ms",
    "compaction",
    "compression",
    "bloom_filter_fp_chance",
    "id",
];

/// Properties of older releases that 2.1 accepts and ignores.
const OBSOLETE: [&str; 3] = ["index_interval", "replicate_on_write", "populate_io_cache_on_flush"];

const COMPACTION_PACKAGE: &str = "org.apache.cassandra.db.compaction.";
const COMPRESSION_PACKAGE: &str = "org.apache.cassandra.io.compress.";
const STRATEGIES: [&str; 3] =
    ["SizeTieredCompactionStrategy", "LeveledCompactionStrategy", "DateTieredCompactionStrategy"];
const COMPRESSORS: [&str; 3] = ["LZ4Compressor", "SnappyCompressor", "DeflateCompressor"];

/// The options of a compaction strategy that are settings of the column family too.
const BOUNDS: [&str; 2] = ["min_threshold", "max_threshold"];

/// Checks that every property is known and given only once.
pub(super) fn check_known(properties: &Properties, known: &[&str], obsolete: &[&str]) -> Result<()> {
    for (at, (name, _)) in properties.0.iter().enumerate() {
        if properties.0[..at].iter().any(|(other, _)| other == name) {
            return Err(syntax(format!("Multiple definition for property '{name}'")));
        }
    }
    match properties.0.iter().find(|(name, _)| !known.contains(&&**name) && !obsolete.contains(&&**name)) {
        Some((name, _)) => Err(syntax(format!("Unknown property '{name}'"))),
        None => Ok(()),
    }
}

/// Whether a text is `true`, `1` or `yes`, as the old servers parse it; everything else is false.
pub(super) fn is_true(text: &str) -> bool {
    ["1", "true", "yes"].contains(&&*text.to_ascii_lowercase())
}

/// Checks the properties of a table. Returns a column family that has only these.
pub(super) fn check_table_properties(properties: &Properties) -> Result<CfDef> {
    let mut cf = CfDef::new("", "");
    apply(&mut cf, properties)?;
    Ok(cf)
}

/// Applies the given properties to a column family; its other settings stay.
pub(super) fn apply(cf: &mut CfDef, properties: &Properties) -> Result<()> {
    check_known(properties, &TABLE, &OBSOLETE)?;
    for (name, value) in &properties.0 {
        match value {
            PropertyValue::Text(text) => apply_text(cf, name, text)?,
            PropertyValue::Map(map) => apply_map(cf, name, &map.iter().cloned().collect())?,
        }
    }
    let number = |name: &str, default: i32| match cf.settings.get(name) {
        Some(Setting::Int(number)) => *number,
        _ => default,
    };
    let (min, max) = (number("min_index_interval", 128), number("max_index_interval", 2048));
    if min < 1 {
        return configuration(format!("min_index_interval must be greater than 0 (got {min})"));
    }
    if max < min {
        return configuration(format!(
            "max_index_interval ({max}) must be greater than or equal to min_index_interval ({min})"
        ));
    }
    Ok(())
}

fn apply_text(cf: &mut CfDef, name: &str, text: &str) -> Result<()> {
    let mut keep = |setting: Setting| {
        cf.settings.insert(name.to_owned(), setting);
    };
    match name {
        "comment" => cf.comment = Some(text.to_owned()),
        "gc_grace_seconds" => cf.gc_grace_s = at_least(name, integer(name, text)?, 0)?,
        "default_time_to_live" => keep(Setting::Int(ttl(integer(name, text)?)?)),
        "memtable_flush_period_in_ms" => keep(Setting::Int(at_least(name, integer(name, text)?, 0)?)),
        "min_index_interval" | "max_index_interval" => keep(Setting::Int(integer(name, text)?)),
        "read_repair_chance" | "dclocal_read_repair_chance" => keep(Setting::Double(double(name, text)?)),
        "bloom_filter_fp_chance" => {
            let chance = double(name, text)?;
            if chance <= 0.0 || chance > 1.0 {
                return configuration(format!(
                    "bloom_filter_fp_chance must be greater than 0.0 and less than or equal to 1.0 (got {text})"
                ));
            }
            keep(Setting::Double(chance));
        }
        "speculative_retry" => keep(Setting::Text(speculative_retry(text)?)),
        "caching" if text.trim_start().starts_with('{') => caching_map(cf, &caching_json(text)?)?,
        "caching" => {
            let caching = caching(text)?;
            let rows = if ["ALL", "ROWS_ONLY"].contains(&&*caching) { "ALL" } else { "NONE" };
            keep(Setting::Text(caching));
            cf.settings.insert("cells_per_row_to_cache".to_owned(), Setting::Text(rows.to_owned()));
        }
        "compaction" | "compression" => {
            return Err(syntax(format!("Invalid value for property '{name}'. It should be a map.")));
        }
        _ => {}
    }
    Ok(())
}

fn apply_map(cf: &mut CfDef, name: &str, map: &BTreeMap<String, String>) -> Result<()> {
    match name {
        "caching" => caching_map(cf, map)?,
        "compaction" => compaction(cf, map)?,
        "compression" => {
            let mut options = map.clone();
            if !options.is_empty() && !options.contains_key("sstable_compression") {
                return configuration(
                    "Missing sub-option 'sstable_compression' for the 'compression' option.",
                );
            }
            if let Some(class) = options.get_mut("sstable_compression").filter(|class| !class.is_empty()) {
                *class = known_class(class, COMPRESSION_PACKAGE, &COMPRESSORS).ok_or_else(|| {
                    CqlError::Configuration(format!(
                        "Could not create Compression for type {}",
                        full_class(class, COMPRESSION_PACKAGE)
                    ))
                })?;
            }
            cf.settings.insert("compression_options".to_owned(), Setting::Map(options));
        }
        _ => return Err(syntax(format!("Invalid value for property '{name}'. It should be a string"))),
    }
    Ok(())
}

fn compaction(cf: &mut CfDef, map: &BTreeMap<String, String>) -> Result<()> {
    let mut options = map.clone();
    let Some(class) = options.remove("class") else {
        return configuration("Missing sub-option 'class' for the 'compaction' option.");
    };
    let Some(full) = known_class(&class, COMPACTION_PACKAGE, &STRATEGIES) else {
        let full = full_class(&class, COMPACTION_PACKAGE);
        return configuration(format!("Unable to find compaction strategy class '{full}'"));
    };
    let mut bounds = [4, 32];
    for (bound, name) in bounds.iter_mut().zip(BOUNDS) {
        if let Some(text) = options.get(name) {
            *bound = integer(name, text)?;
            cf.settings.insert(name.replace("_", "_compaction_"), Setting::Int(*bound));
        }
    }
    if bounds[1] != 0 && bounds[0] < 2 {
        return configuration(format!("Min compaction threshold cannot be less than 2 (got {}).", bounds[0]));
    }
    if bounds[1] != 0 && bounds[0] > bounds[1] {
        return configuration(format!(
            "Min compaction threshold (got {}) cannot be greater than max compaction threshold (got {})",
            bounds[0], bounds[1]
        ));
    }
    let short = full.strip_prefix(COMPACTION_PACKAGE).unwrap_or(&full);
    let known = compaction_options(short, NEWEST).unwrap_or_default();
    options.retain(|name, _| !BOUNDS.contains(&&**name) || known.contains(&&**name));
    cf.settings.insert("compaction_strategy".to_owned(), Setting::Text(full));
    cf.settings.insert("compaction_strategy_options".to_owned(), Setting::Map(options));
    Ok(())
}

fn full_class(class: &str, package: &str) -> String {
    if class.contains('.') { class.to_owned() } else { format!("{package}{class}") }
}

/// Returns the full name of one of Cassandra's own classes.
fn known_class(class: &str, package: &str, known: &[&str]) -> Option<String> {
    let short = class.strip_prefix(package).unwrap_or(class);
    known.contains(&short).then(|| format!("{package}{short}"))
}

fn integer(name: &str, text: &str) -> Result<i32> {
    text.parse().map_err(|_| syntax(format!("Invalid integer value {text} for '{name}'")))
}

fn double(name: &str, text: &str) -> Result<f64> {
    text.parse().map_err(|_| syntax(format!("Invalid double value {text} for '{name}'")))
}

fn at_least(name: &str, number: i32, least: i32) -> Result<i32> {
    if number < least {
        return configuration(format!("{name} cannot be smaller than {least}, (default 0)"));
    }
    Ok(number)
}

fn ttl(seconds: i32) -> Result<i32> {
    if seconds < 0 {
        return configuration("default_time_to_live cannot be smaller than 0, (default 0)");
    }
    if seconds > TTL_MAX_S {
        return configuration(format!(
            "default_time_to_live must be less than or equal to {TTL_MAX_S} (got {seconds})"
        ));
    }
    Ok(seconds)
}

fn speculative_retry(text: &str) -> Result<String> {
    let upper = text.to_ascii_uppercase();
    let is_number =
        |suffix: &str| upper.strip_suffix(suffix).is_some_and(|number| number.parse::<f64>().is_ok());
    if ["NONE", "ALWAYS"].contains(&&*upper) || is_number("MS") || is_number("PERCENTILE") {
        return Ok(upper);
    }
    configuration(format!("invalid speculative_retry type: {text}"))
}

/// Parses caching as the system table of 2.1 shows it, and as drivers export it: a JSON map.
fn caching_json(text: &str) -> Result<BTreeMap<String, String>> {
    serde_json::from_str(text).map_err(|error| {
        CqlError::Configuration(format!("caching is no map of texts in JSON ({error}): {text}"))
    })
}

/// Applies caching given as a map. If the map has no rows, 2.1 treats its keys as ALL, whatever their value is
/// (`CachingOptions.fromMap`).
fn caching_map(cf: &mut CfDef, map: &BTreeMap<String, String>) -> Result<()> {
    for (name, value) in map {
        let value = value.to_ascii_uppercase();
        let is_all_or_none = ["ALL", "NONE"].contains(&&*value);
        match &**name {
            "keys" if is_all_or_none => {}
            "keys" => return configuration("'keys' can only have values 'ALL' or 'NONE'"),
            "rows_per_partition" if is_all_or_none || value.parse::<u32>().is_ok() => {}
            "rows_per_partition" => {
                return configuration(
                    "'rows_per_partition' can only have values 'ALL', 'NONE' or be numeric.",
                );
            }
            _ => {
                return configuration(
                    "Only supported CachingOptions parameters are 'keys' and 'rows_per_partition'",
                );
            }
        }
    }
    let value = |name: &str| map.get(name).map(|value| value.to_ascii_uppercase());
    let (keys, rows) = (value("keys"), value("rows_per_partition"));
    let has_keys = keys.is_some_and(|keys| rows.is_none() || keys == "ALL");
    let rows = rows.unwrap_or_else(|| "NONE".to_owned());
    let caching = match (has_keys, &*rows) {
        (true, "NONE") => "KEYS_ONLY",
        (true, _) => "ALL",
        (false, "NONE") => "NONE",
        (false, _) => "ROWS_ONLY",
    };
    cf.settings.insert("caching".to_owned(), Setting::Text(caching.to_owned()));
    cf.settings.insert("cells_per_row_to_cache".to_owned(), Setting::Text(rows));
    Ok(())
}

/// Parses caching as one word, as before 2.1.
fn caching(text: &str) -> Result<String> {
    let upper = text.to_ascii_uppercase();
    if ["ALL", "KEYS_ONLY", "ROWS_ONLY", "NONE"].contains(&&*upper) {
        return Ok(upper);
    }
    configuration(format!("{text} not found, available types: ALL, KEYS_ONLY, ROWS_ONLY, NONE."))
}
