//! The checks of a column family's settings in 3.0 and later, which read them as the parameters of a CQL table.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::settings::{COMPRESSION_PACKAGE, full_name, index_intervals, int, thresholds};
use crate::error::invalid;
use crate::{Error, Result};
use base::compat::features::has_compressor;
use base::compat::texts;
use base::schema::Setting;
use base::util::Release;

type Settings = BTreeMap<String, Setting>;
type Options = BTreeMap<String, String>;

/// The names of compression options, and those of earlier releases, which are still accepted.
const NAMES: [(&str, &str); 2] =
    [("class", "sstable_compression"), ("chunk_length_in_kb", "chunk_length_kb")];

/// The thresholds of compaction: option and setting.
const THRESHOLDS: [(&str, &str); 2] =
    [("min_threshold", "min_compaction_threshold"), ("max_threshold", "max_compaction_threshold")];

/// The least chance of a bloom filter, exclusive (`BloomCalculations.minSupportedBloomFilterFpChance`), as Java prints it.
const BLOOM_CHANCE_MIN: (f64, &str) = (6.71e-5, "6.71E-5");

/// Gives compression options their earlier names, which Thrift clients see, and checks them (`CompressionParams.fromMap`,
/// then `validate`).
pub(super) fn check_compression(options: &mut Options, release: Release) -> Result<()> {
    let is_enabled = options.remove("enabled").is_none_or(|value| value.eq_ignore_ascii_case("true"));
    let has_class = options.contains_key("class") || options.contains_key("sstable_compression");
    if is_enabled && !options.is_empty() && !has_class {
        return invalid("Missing sub-option 'class' for the 'compression' option.");
    }
    if !is_enabled && !options.is_empty() {
        return invalid("If the 'enabled' option is set to false no other options must be specified");
    }
    if options.get("class").is_some_and(String::is_empty) {
        return invalid("The 'class' option must not be empty. To disable compression use 'enabled' : false");
    }
    for (name, earlier) in NAMES {
        let Some(value) = options.remove(name) else { continue };
        if options.insert(earlier.to_owned(), value).is_some() {
            let what = if name == "class" { "compression algorithm" } else { "chunk length" };
            return invalid(format!(
                "The '{earlier}' option must not be used if the {what} is already specified by the '{name}' option"
            ));
        }
    }
    let length = options.get("chunk_length_kb").map(|length| chunk_length(length)).transpose()?;
    let others: Vec<&str> = options
        .keys()
        .map(String::as_str)
        .filter(|name| !NAMES.iter().any(|(_, known)| known == name))
        .collect();
    let class = options.get("sstable_compression").filter(|class| !class.is_empty());
    match (class, &others[..]) {
        (None, []) => {}
        (None, others) => {
            let others = others.join(", ");
            let why = "since no compression class found";
            return invalid(format!("Unknown compression options ([{others}]) {why}"));
        }
        (Some(class), others) => {
            let full = full_name(class, COMPRESSION_PACKAGE);
            let short = full.strip_prefix(COMPRESSION_PACKAGE);
            if !short.is_some_and(|short| has_compressor(short, release)) {
                return invalid(texts::unknown_compressor(release, &full));
            }
            if let Some(name) = others.iter().find(|name| **name != "crc_check_chance") {
                return invalid(format!("Unknown compression options {name}"));
            }
        }
    }
    match length {
        Some(length) if length <= 0 => invalid("Invalid negative or null chunk_length_in_kb"),
        Some(length) if length.count_ones() > 1 => invalid("chunk_length_in_kb must be a power of 2"),
        _ => Ok(()),
    }
}

fn chunk_length(text: &str) -> Result<i32> {
    let Ok(length) = text.parse::<i32>() else {
        return invalid("Invalid value for chunk_length_in_kb");
    };
    if length > i32::MAX / 1024 {
        return invalid(format!("Value of chunk_length_in_kb is too large ({length})"));
    }
    Ok(length)
}

/// Checks a speculative retry (`SpeculativeRetryParam.fromString`) and returns it as descriptions show it.
pub(super) fn speculative_retry(value: &str) -> Result<String> {
    let unreadable = || Error::invalid(format!("Invalid value {value} for option 'speculative_retry'"));
    let upper = value.to_ascii_uppercase();
    if let Some(ms) = upper.strip_suffix("MS") {
        return Ok(format!("{:?}ms", ms.trim().parse::<f64>().map_err(|_| unreadable())?));
    }
    if let Some(percent) = upper.strip_suffix("PERCENTILE") {
        let percent = percent.trim().parse::<f64>().map_err(|_| unreadable())?;
        if !(0.0..=100.0).contains(&percent) {
            return invalid(format!(
                "Invalid value {value} for PERCENTILE option 'speculative_retry': must be between 0.0 and 100.0"
            ));
        }
        return Ok(format!("{}PERCENTILE", (percent * 1e5).round() / 1e5));
    }
    if ["NONE", "ALWAYS"].contains(&&*upper) { Ok(upper) } else { Err(unreadable()) }
}

/// Puts the thresholds of compaction among the options of the strategy, whose own come first, or drops them if the strategy
/// has none (`ThriftConversion.compactionParamsFromThrift`). An option that is not a number is an error.
pub(super) fn put_thresholds(settings: &mut Settings, strategy_has_them: bool) -> Result<()> {
    const OPTIONS: &str = "compaction_strategy_options";
    let mut options = match settings.get(OPTIONS) {
        Some(Setting::Map(options)) => options.clone(),
        _ => Options::new(),
    };
    for ((option, setting), number) in THRESHOLDS.into_iter().zip(thresholds(settings)) {
        settings.remove(setting);
        if strategy_has_them {
            let text = options.entry(option.to_owned()).or_insert_with(|| number.to_string());
            let number = text.parse().map_err(|_| not_a_threshold(option, text))?;
            settings.insert(setting.to_owned(), Setting::Int(number));
        }
    }
    settings.insert(OPTIONS.to_owned(), Setting::Map(options));
    Ok(())
}

fn not_a_threshold(option: &str, value: impl Display) -> Error {
    Error::invalid(format!("Invalid value {value} for '{option}' compaction sub-option - must be an integer"))
}

/// Checks the numbers (`CompactionParams.validate`, then `TableParams.validate`).
pub(super) fn check(settings: &Settings, gc_grace_s: i32) -> Result<()> {
    check_thresholds(settings)?;
    let chance = |name: &str| match settings.get(name) {
        Some(Setting::Double(chance)) => Some(*chance),
        _ => None,
    };
    let (least, shown) = BLOOM_CHANCE_MIN;
    if let Some(bloom) = chance("bloom_filter_fp_chance").filter(|bloom| *bloom <= least || *bloom > 1.0) {
        return invalid(format!(
            "bloom_filter_fp_chance must be larger than {shown} and less than or equal to 1.0 (got {bloom:?})"
        ));
    }
    for name in ["dclocal_read_repair_chance", "read_repair_chance"] {
        if let Some(repair) = chance(name).filter(|repair| !(0.0..=1.0).contains(repair)) {
            return invalid(format!(
                "{name} must be larger than or equal to 0 and smaller than or equal to 1.0 (got {repair:?})"
            ));
        }
    }
    let number = |name: &str| int(settings, name).unwrap_or_default();
    let [min_index, max_index] = index_intervals(settings);
    let below = |least: i32, name: &str, got: i32| {
        (got < least).then(|| format!("{name} must be greater than or equal to {least} (got {got})"))
    };
    let found = below(0, "default_time_to_live", number("default_time_to_live"))
        .or_else(|| below(0, "gc_grace_seconds", gc_grace_s))
        .or_else(|| below(1, "min_index_interval", min_index))
        .or_else(|| {
            let least = format!("min_index_interval ({min_index})");
            (max_index < min_index).then(|| {
                format!("max_index_interval must be greater than or equal to {least} (got {max_index})")
            })
        })
        .or_else(|| below(0, "memtable_flush_period_in_ms", number("memtable_flush_period_in_ms")));
    found.map_or(Ok(()), invalid)
}

fn check_thresholds(settings: &Settings) -> Result<()> {
    let [min, max] = thresholds(settings);
    for ((option, _), number) in THRESHOLDS.into_iter().zip([min, max]) {
        if number < 0 {
            return Err(not_a_threshold(option, number));
        }
    }
    if min == 0 || max == 0 {
        return invalid(
            "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction option \
             'enabled' to false instead.",
        );
    }
    if min == 1 {
        return invalid("Min compaction threshold cannot be less than 2 (got 1)");
    }
    if min > max {
        return invalid(format!(
            "Min compaction threshold (got {min}) cannot be greater than max compaction threshold (got {max})"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(options: &[(&str, &str)]) -> String {
        let mut options =
            options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        match check_compression(&mut options, Release::V3_11) {
            Ok(()) => format!("{options:?}"),
            Err(error) => error.to_string(),
        }
    }

    fn checked(name: &str, setting: Setting) -> String {
        check(&BTreeMap::from([(name.to_owned(), setting)]), 0)
            .map_or_else(|error| error.to_string(), |()| "ok".into())
    }

    #[test]
    fn compression_options_have_new_names() {
        let new = [("class", "LZ4Compressor"), ("chunk_length_in_kb", "64")];
        assert_eq!(
            compressed(&new),
            "{\"chunk_length_kb\": \"64\", \"sstable_compression\": \"LZ4Compressor\"}"
        );
        assert_eq!(
            compressed(&[("chunk_length_kb", "64")]),
            "Missing sub-option 'class' for the 'compression' option."
        );
        assert_eq!(
            compressed(&[("class", "LZ4Compressor"), ("chunk_length_kb", "63")]),
            "chunk_length_in_kb must be a power of 2"
        );
        assert_eq!(compressed(&[("enabled", "false")]), "{}");
        assert_eq!(
            compressed(&[("class", "nosuch")]),
            "Could not create Compression for type org.apache.cassandra.io.compress.nosuch"
        );
    }

    #[test]
    fn numbers_are_checked_as_table_parameters() {
        assert_eq!(
            checked("default_time_to_live", Setting::Int(-1)),
            "default_time_to_live must be greater than or equal to 0 (got -1)"
        );
        assert_eq!(
            checked("bloom_filter_fp_chance", Setting::Double(0.0)),
            "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got 0.0)"
        );
        assert_eq!(checked("bloom_filter_fp_chance", Setting::Double(0.01)), "ok");
        assert_eq!(
            checked("max_compaction_threshold", Setting::Int(-1)),
            "Invalid value -1 for 'max_threshold' compaction sub-option - must be an integer"
        );
    }

    #[test]
    fn thresholds_are_options_of_the_strategy() {
        let shown = |mut settings: Settings, has_them| {
            put_thresholds(&mut settings, has_them).unwrap();
            (
                int(&settings, "min_compaction_threshold"),
                format!("{:?}", settings["compaction_strategy_options"]),
            )
        };
        let two = || BTreeMap::from([("min_compaction_threshold".to_owned(), Setting::Int(2))]);
        let both = |min: i32| format!("Map({{\"max_threshold\": \"32\", \"min_threshold\": \"{min}\"}})");
        assert_eq!(shown(two(), true), (Some(2), both(2)));
        assert_eq!(shown(two(), false), (None, "Map({})".to_owned()));
        let with_option = |text: &str| {
            let options = Setting::Map(BTreeMap::from([("min_threshold".to_owned(), text.to_owned())]));
            let mut settings = two();
            settings.insert("compaction_strategy_options".to_owned(), options);
            settings
        };
        assert_eq!(shown(with_option("3"), true), (Some(3), both(3)));
        assert_eq!(
            put_thresholds(&mut with_option("abc"), true).unwrap_err().to_string(),
            "Invalid value abc for 'min_threshold' compaction sub-option - must be an integer"
        );
    }

    #[test]
    fn percentiles_have_no_fraction_that_is_zero() {
        assert_eq!(speculative_retry("99percentile").unwrap(), "99PERCENTILE");
        assert_eq!(speculative_retry("99.95PERCENTILE").unwrap(), "99.95PERCENTILE");
        assert_eq!(
            speculative_retry("x").unwrap_err().to_string(),
            "Invalid value x for option 'speculative_retry'"
        );
    }
}
