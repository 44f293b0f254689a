//! Checks the settings of a column family that clients request, and normalizes them for descriptions.
//!
//! The settings have no effect on this server, but each release that knows a setting rejects a misspelt value.

use std::collections::BTreeMap;

use super::table_params;
use crate::error::invalid;
use crate::{Error, Result};
use base::compat::features::{compaction_options, has_compressor};
use base::compat::rules::SchemaRules;
use base::compat::{Behaviour, texts};
use base::schema::Setting;
use base::util::Release;

type Settings = BTreeMap<String, Setting>;
type Options = BTreeMap<String, String>;

const COMPACTION_PACKAGE: &str = "org.apache.cassandra.db.compaction.";
pub(super) const COMPRESSION_PACKAGE: &str = "org.apache.cassandra.io.compress.";

/// Returns the settings as descriptions will show them. Settings that only a cluster of a later release knows are
/// left for the cluster to check.
pub(super) fn made(settings: &Settings, release: Release, is_for_cluster: bool) -> Result<Settings> {
    let rules = &Behaviour::of(release).schema;
    let mut kept = settings.clone();
    if let Some(Setting::Text(class)) = kept.get_mut("compaction_strategy") {
        *class = full_name(class, COMPACTION_PACKAGE);
    }
    if !is_for_cluster && rules.table_settings_are_checked {
        compaction_class(&kept, release)?;
    }
    if let Some(Setting::Text(caching)) = kept.get_mut("caching") {
        *caching = cached(caching, rules)?;
    }
    if let (true, Some(Setting::Text(retry))) =
        (rules.speculative_retry_is_read, kept.get_mut("speculative_retry"))
    {
        let read =
            if rules.settings_are_table_params { table_params::speculative_retry } else { speculative_retry };
        *retry = read(retry)?;
    }
    if let Some(Setting::Map(options)) = kept.get_mut("compression_options") {
        let is_checked = !is_for_cluster && rules.table_settings_are_checked;
        if is_checked && rules.settings_are_table_params {
            table_params::check_compression(options, release)?;
        }
        compress_by(options);
        if is_checked && !rules.settings_are_table_params {
            check_compression(options, release)?;
        }
        if !options.contains_key("sstable_compression") {
            options.remove("chunk_length_kb");
        }
    }
    if rules.settings_are_table_params {
        let strategy = compaction_class(&kept, release);
        let has_thresholds = strategy.is_ok_and(|(_, options)| options.contains(&"min_threshold"));
        table_params::put_thresholds(&mut kept, has_thresholds)?;
    }
    // 2.1 has two settings instead, and stores the one of an older client as the first of them.
    if let (true, Some(interval)) = (rules.index_interval_has_bounds, kept.get("index_interval").cloned()) {
        kept.entry("min_index_interval".to_owned()).or_insert(interval);
    }
    if rules.index_interval_has_bounds && int(&kept, "min_index_interval").is_some() {
        let [_, max] = index_intervals(&kept);
        kept.entry("max_index_interval".to_owned()).or_insert(Setting::Int(max));
    }
    Ok(kept)
}

/// Returns the full name of one of Cassandra's classes.
pub(super) fn full_name(class: &str, package: &str) -> String {
    if class.contains('.') { class.to_owned() } else { format!("{package}{class}") }
}

fn cached(value: &str, rules: &SchemaRules) -> Result<String> {
    let upper = value.to_ascii_uppercase();
    if ["ALL", "KEYS_ONLY", "ROWS_ONLY", "NONE"].contains(&&*upper) {
        return Ok(upper);
    }
    if rules.settings_are_table_params {
        return invalid(format!("Invalid value {value} for caching parameter"));
    }
    invalid(format!("{value} not found, available types: ALL, KEYS_ONLY, ROWS_ONLY, NONE."))
}

/// Normalizes `NONE`, `ALWAYS`, a percentage or milliseconds, with the numbers as Java formats them.
fn speculative_retry(value: &str) -> Result<String> {
    let upper = value.to_ascii_uppercase();
    let number = |suffix: &str| upper.strip_suffix(suffix).map(|number| number.trim().parse::<f64>());
    if let Some(number) = number("PERCENTILE") {
        return match number {
            Ok(percent) if (0.0..=100.0).contains(&percent) => {
                Ok(format!("{:?}PERCENTILE", percent / 100.0 * 100.0))
            }
            Ok(_) => invalid("PERCENTILE should be between 0 and 100"),
            Err(_) => invalid(format!("invalid speculative_retry type: {value}")),
        };
    }
    match number("MS") {
        Some(Ok(ms)) => Ok(format!("{ms:?}ms")),
        None if ["NONE", "ALWAYS"].contains(&&*upper) => Ok(upper),
        _ => invalid(format!("invalid speculative_retry type: {value}")),
    }
}

/// Expands the compressor's class to its full name; an empty class removes all options.
fn compress_by(options: &mut Options) {
    match options.get_mut("sstable_compression") {
        Some(class) if class.is_empty() => {
            options.clear();
        }
        Some(class) => *class = full_name(class, COMPRESSION_PACKAGE),
        None => {}
    }
}

fn check_compression(options: &Options, release: Release) -> Result<()> {
    if let Some(length) = options.get("chunk_length_kb") {
        check_chunk_length(length)?;
    }
    let others =
        || options.keys().filter(|name| !["sstable_compression", "chunk_length_kb"].contains(&&***name));
    let Some(class) = options.get("sstable_compression") else {
        let names: Vec<&str> = others().map(String::as_str).collect();
        return match names[..] {
            [] => Ok(()),
            _ => invalid(format!(
                "Unknown compression options ([{}]) since no compression class found",
                names.join(", ")
            )),
        };
    };
    let short = class.strip_prefix(COMPRESSION_PACKAGE);
    if !short.is_some_and(|short| has_compressor(short, release)) {
        return invalid(texts::unknown_compressor(release, class));
    }
    match others().find(|name| *name != "crc_check_chance") {
        Some(name) => invalid(format!("Unknown compression options {name}")),
        None => check_chance(options.get("crc_check_chance").map(String::as_str)),
    }
}

fn check_chunk_length(length: &str) -> Result<()> {
    let Ok(length) = length.parse::<i32>() else {
        return invalid("Invalid value for chunk_length_kb");
    };
    if length > i32::MAX / 1024 {
        return invalid(format!("Value of chunk_length_kb is too large ({length})"));
    }
    if length <= 0 {
        return invalid("Invalid negative or null chunk_length_kb");
    }
    if length.count_ones() > 1 {
        return invalid("chunk_length_kb must be a power of 2");
    }
    Ok(())
}

fn check_chance(value: Option<&str>) -> Result<()> {
    match value.map(str::parse::<f64>) {
        Some(Err(_)) => invalid("crc_check_chance should be a double"),
        Some(Ok(chance)) if !(0.0..=1.0).contains(&chance) => {
            invalid("crc_check_chance should be between 0.0 and 1.0")
        }
        _ => Ok(()),
    }
}

/// Returns the compaction strategy's class without its package, and the options that the strategy has.
fn compaction_class(kept: &Settings, release: Release) -> Result<(&str, Vec<&'static str>)> {
    let class = match kept.get("compaction_strategy") {
        Some(Setting::Text(class)) => class,
        _ => "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy",
    };
    let short = class.strip_prefix(COMPACTION_PACKAGE).unwrap_or_default();
    match compaction_options(short, release) {
        Some(known) => Ok((short, known)),
        None => invalid(texts::unknown_compaction(release, class)),
    }
}

/// Checks the options of the compaction strategy. Cassandra does so after it has read the whole definition.
pub(super) fn check_compaction_options(
    kept: &Settings,
    release: Release,
    is_for_cluster: bool,
) -> Result<()> {
    let rules = &Behaviour::of(release).schema;
    let are_checked =
        !is_for_cluster && rules.table_settings_are_checked && rules.compaction_options_are_checked;
    let Some(Setting::Map(options)) = kept.get("compaction_strategy_options").filter(|_| are_checked) else {
        return Ok(());
    };
    let (short, known) = compaction_class(kept, release)?;
    check_compaction_values(options)?;
    let unknown: Vec<&str> =
        options.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    invalid(format!("Properties specified [{}] are not understood by {short}", unknown.join(", ")))
}

fn check_compaction_values(options: &Options) -> Result<()> {
    let unreadable = |name: &str, value: &str| {
        Error::invalid(format!("{value} is not a parsable int (base10) for {name}"))
    };
    let name = "tombstone_threshold";
    if let Some(value) = options.get(name) {
        let threshold = value.parse::<f32>().map_err(|_| unreadable(name, value))?;
        if threshold < 0.0 {
            return invalid(format!("{name} must be greater than 0, but was {threshold:.6}"));
        }
    }
    if let Some(value) = options.get("enabled").filter(|value| !is_bool(value)) {
        return invalid(format!("enabled should either be 'true' or 'false', not {value}"));
    }
    let name = "sstable_size_in_mb";
    if let Some(value) = options.get(name) {
        let size = value.parse::<i32>().map_err(|_| unreadable(name, value))?;
        if size < 1 {
            return invalid(format!("{name} must be larger than 0, but was {size}"));
        }
    }
    let name = "min_sstable_size";
    if let Some(value) = options.get(name) {
        let size = value.parse::<i64>().map_err(|_| unreadable(name, value))?;
        if size < 0 {
            return invalid(format!("{name} must be non negative: {size}"));
        }
    }
    Ok(())
}

fn is_bool(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

/// Checks the numeric settings. `gc_grace_s` is not among them.
pub(super) fn check(settings: &Settings, gc_grace_s: i32, release: Release) -> Result<()> {
    let rules = &Behaviour::of(release).schema;
    if rules.settings_are_table_params {
        return table_params::check(settings, gc_grace_s);
    }
    check_thresholds(settings)?;
    if !rules.table_settings_are_checked {
        return check_memtables(settings);
    }
    if let Some(Setting::Double(chance)) = settings.get("bloom_filter_fp_chance")
        && rules.bloom_chance_is_above_zero
        && *chance == 0.0
    {
        return invalid(
            "Zero false positives is impossible; bloom filter false positive chance bffpc must be 0 < bffpc <= 1",
        );
    }
    if rules.index_interval_has_bounds { check_intervals(settings) } else { Ok(()) }
}

pub(super) fn int(settings: &Settings, name: &str) -> Option<i32> {
    match settings.get(name) {
        Some(Setting::Int(number)) => Some(*number),
        _ => None,
    }
}

/// Returns the least and the greatest number of SSTables of a compaction.
pub(super) fn thresholds(settings: &Settings) -> [i32; 2] {
    [
        int(settings, "min_compaction_threshold").unwrap_or(4),
        int(settings, "max_compaction_threshold").unwrap_or(32),
    ]
}

/// Returns the least and the greatest number of rows between two entries of an index summary.
pub(super) fn index_intervals(settings: &Settings) -> [i32; 2] {
    let min = int(settings, "min_index_interval").unwrap_or(128);
    [min, int(settings, "max_index_interval").unwrap_or(min.max(2048))]
}

fn check_thresholds(settings: &Settings) -> Result<()> {
    let [min, max] = thresholds(settings);
    // Setting both to 0 turned compaction off.
    if max == 0 {
        return Ok(());
    }
    if min <= 1 {
        return invalid(format!("Min compaction threshold cannot be less than 2 (got {min})."));
    }
    if min > max {
        return invalid(format!(
            "Min compaction threshold (got {min}) cannot be greater than max compaction threshold (got {max})"
        ));
    }
    Ok(())
}

/// Refuses memtable settings that are not positive (up to 0.8).
fn check_memtables(settings: &Settings) -> Result<()> {
    for name in ["memtable_flush_after_mins", "memtable_throughput_in_mb"] {
        if int(settings, name).is_some_and(|number| number <= 0) {
            return invalid(format!("{name} must be greater than 0."));
        }
    }
    match settings.get("memtable_operations_in_millions") {
        Some(Setting::Double(millions)) if *millions <= 0.0 => {
            invalid("memtable_operations_in_millions must be greater than 0.0.")
        }
        _ => Ok(()),
    }
}

fn check_intervals(settings: &Settings) -> Result<()> {
    let [min, max] = index_intervals(settings);
    if min <= 0 {
        return invalid(format!("Min index interval must be greater than 0 (got {min})."));
    }
    if max < min {
        return invalid(format!(
            "Max index interval ({max}) must be greater than the min index interval ({min})."
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, setting: Setting) -> Settings {
        BTreeMap::from([(name.to_owned(), setting)])
    }

    fn text(name: &str, value: &str, release: Release) -> String {
        match made(&of(name, Setting::Text(value.to_owned())), release, false) {
            Ok(made) => format!("{:?}", made[name]),
            Err(error) => error.to_string(),
        }
    }

    fn options(name: &str, value: &[(&str, &str)]) -> String {
        let map = value.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        match made(&of(name, Setting::Map(map)), Release::V2_1, false) {
            Ok(made) => format!("{:?}", made[name]),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn speculative_retry_is_formatted_as_java_does() {
        let shown = |value: &str| text("speculative_retry", value, Release::V2_1);
        assert_eq!(shown("99percentile"), "Text(\"99.0PERCENTILE\")");
        assert_eq!(shown("50ms"), "Text(\"50.0ms\")");
        assert_eq!(shown("always"), "Text(\"ALWAYS\")");
        assert_eq!(shown("soon"), "invalid speculative_retry type: soon");
        assert_eq!(shown("101PERCENTILE"), "PERCENTILE should be between 0 and 100");
        assert_eq!(text("speculative_retry", "soon", Release::V1_2), "Text(\"soon\")");
    }

    #[test]
    fn compaction_strategies_of_the_release_are_accepted() {
        let shown = |value: &str, release| text("compaction_strategy", value, release);
        let leveled = "Text(\"org.apache.cassandra.db.compaction.LeveledCompactionStrategy\")";
        assert_eq!(shown("LeveledCompactionStrategy", Release::V1_2), leveled);
        assert_eq!(
            shown("DateTieredCompactionStrategy", Release::V1_2),
            "Unable to find compaction strategy class \
             'org.apache.cassandra.db.compaction.DateTieredCompactionStrategy'"
        );
        assert_eq!(
            shown("org.foo.Bar", Release::V2_1),
            "Unable to find compaction strategy class 'org.foo.Bar'"
        );
        let options = Setting::Map(BTreeMap::from([("bogus".to_owned(), "1".to_owned())]));
        let settings = of("compaction_strategy_options", options);
        assert_eq!(
            check_compaction_options(&settings, Release::V2_1, false).unwrap_err().to_string(),
            "Properties specified [bogus] are not understood by SizeTieredCompactionStrategy"
        );
        check_compaction_options(&settings, Release::V2_1, true).unwrap();
    }

    #[test]
    fn compression_options_are_checked() {
        let shown = |value: &[(&str, &str)]| options("compression_options", value);
        assert_eq!(shown(&[("sstable_compression", "")]), "Map({})");
        assert_eq!(
            shown(&[("sstable_compression", "Nope")]),
            "Could not create Compression for type org.apache.cassandra.io.compress.Nope"
        );
        assert_eq!(
            shown(&[("chunk_length_kb", "63"), ("sstable_compression", "LZ4Compressor")]),
            "chunk_length_kb must be a power of 2"
        );
        assert_eq!(
            shown(&[("foo", "1"), ("sstable_compression", "LZ4Compressor")]),
            "Unknown compression options foo"
        );
    }

    #[test]
    fn numeric_settings_are_checked_in_releases_that_have_them() {
        let never = of("memtable_flush_after_mins", Setting::Int(0));
        assert!(check(&never, 0, Release::V0_7).is_err());
        assert!(check(&never, 0, Release::V2_1).is_ok());
        let interval = of("max_index_interval", Setting::Int(1));
        assert!(check(&interval, 0, Release::V2_1).is_err());
        assert!(check(&interval, 0, Release::V1_2).is_ok());
    }
}
