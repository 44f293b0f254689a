//! The settings of a column family: `<ColumnFamily>`, and an item of `column_families` in the cassandra.yaml of 0.7.

use std::sync::Arc;

use bytes::Bytes;

use super::apply::ConfigBlock;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::{FROM_0_5, IN_0_4, IN_0_6, IN_0_7, TO_0_6};
use super::setting::{
    ADDED, ConfigSetting, NameOrAbsence, REMOVED, SettingParts, assign, attribute, element, elsewhere, key,
    row,
};
use super::value::SettingValue;
use super::yaml::YamlMistake;
use base::marshal::{BytesType, TypeRef};
use base::schema::{CfDef, ColumnDef, ColumnType, IndexDef, IndexKind, Setting};

pub(crate) const FAMILY: &str = "ColumnFamily";

const COLUMN_TYPES: [&str; 2] = ["Standard", "Super"];

/// The values of a column family while it is read.
#[derive(Debug)]
pub struct FamilyDraft {
    cf: CfDef,
    is_super: bool,
    subcomparator: Option<TypeRef>,
}

/// The values of a column's definition while it is read.
#[derive(Debug, Default)]
pub struct ColumnDraft {
    name: String,
    validator: Option<TypeRef>,
    is_indexed: bool,
    index_name: Option<String>,
}

// Reasons of settings without effect.
pub(crate) const CACHES: &str = "All column families share the storage engine's cache.";
const NOT_SAVED: &str = "Caches are not saved.";

/// All settings of a column family (`RawColumnFamily` of 0.7).
pub static FAMILY_SETTINGS: &[ConfigSetting<FamilyDraft>] = &[
    row(attribute("Name", TO_0_6), key("name", IN_0_7))
        .meaning("The column family's name. Required; no hyphens.")
        .sets(|draft, value| {
            if value.text.contains('-') {
                return Err(Mistake::Hyphen { name: value.text.to_owned() });
            }
            assign(&mut draft.cf.name, value.not_empty())
        }),
    row(attribute("ColumnType", TO_0_6), key("column_type", IN_0_7))
        .default("Standard")
        .unit("word")
        .meaning("`Standard`: columns hold values. `Super`: they hold columns.")
        .sets(set_column_type),
    row(attribute("CompareWith", TO_0_6), key("compare_with", IN_0_7))
        .default("BytesType")
        .unit("class")
        .meaning("The comparator: which column names are valid, and their order.")
        .sets(|draft, value| assign(&mut draft.cf.comparator, value.comparator())),
    row(attribute("CompareSubcolumnsWith", TO_0_6), key("compare_subcolumns_with", IN_0_7))
        .default("BytesType")
        .unit("class")
        .meaning("The comparator of the columns in a super column. Only with `Super`.")
        .sets(|draft, value| assign(&mut draft.subcomparator, value.comparator())),
    row(ADDED, key("default_validation_class", IN_0_7))
        .default("BytesType")
        .meaning("The type of values in columns without a definition.")
        .sets(|draft, value| assign(&mut draft.cf.default_validator, value.comparator())),
    row(ADDED, key("column_metadata", IN_0_7))
        .meaning(
            "A list of columns with `name` and `validator_class`, and with `index_type` if they have an index.",
        )
        .reads(read_columns),
    row(elsewhere("GCGraceSeconds"), key("gc_grace_seconds", IN_0_7))
        .default("864000")
        .meaning("gc_grace: how long tombstones are kept.")
        .sets(|draft, value| assign(&mut draft.cf.gc_grace_s, value.at_least(0))),
    row(attribute("FlushPeriodInMinutes", IN_0_4), REMOVED)
        .default("0")
        .unit("min")
        .meaning(
            "describe_keyspace returns it to clients of 0.4. It has no effect: the storage engine decides when it \
             flushes.",
        )
        .sets(|draft, value| assign(&mut draft.cf.flush_period_minutes, value.integer())),
    row(attribute("KeysCached", IN_0_6), elsewhere("keys_cached"))
        .unit("keys or %")
        .ignored(CACHES, |value| value.cache_size().map(drop)),
    row(attribute("RowsCached", IN_0_6), elsewhere("rows_cached"))
        .unit("rows or %")
        .ignored(CACHES, |value| value.cache_size().map(drop)),
    row(attribute("KeysCachedFraction", IN_0_6), REMOVED)
        .unit("fraction")
        .ignored(CACHES, |value| value.double().map(drop)),
    row(attribute("RowCacheSavePeriodInSeconds", IN_0_6), elsewhere("row_cache_save_period_in_seconds"))
        .unit("s")
        .ignored(NOT_SAVED, |value| value.integer().map(drop)),
    row(attribute("KeyCacheSavePeriodInSeconds", IN_0_6), elsewhere("key_cache_save_period_in_seconds"))
        .unit("s")
        .ignored(NOT_SAVED, |value| value.integer().map(drop)),
    row(attribute("Comment", FROM_0_5), elsewhere("comment")).free_text().ignored(
        "In sample files, but never read by any release: they read the element `<Comment>`.",
        |_| Ok(()),
    ),
    row(attribute("ColumnSort", IN_0_4), REMOVED)
        .meaning("Refused, as by every release since 0.4. Use CompareWith.")
        .sets(|_, _| Err(Mistake::ColumnSort)),
    row(element("Comment", FROM_0_5), key("comment", IN_0_7))
        .free_text()
        .meaning("Text for people, which clients see. To clients of 0.4 to 0.6 describe_keyspace returns it as \"Desc\".")
        .sets(|draft, value| assign(&mut draft.cf.comment, Ok(value.given.value.clone()))),
    label("SuperColumnMap", "SUPER_COLUMN_MAP", |draft, value| {
        assign(&mut draft.cf.labels.super_column_map, Ok(value.text))
    }),
    label("SuperColumnKey", "SUPER_COLUMN_KEY", |draft, value| {
        assign(&mut draft.cf.labels.super_column_key, Ok(value.text))
    }),
    label("ColumnMap", "COLUMN_MAP", |draft, value| {
        assign(&mut draft.cf.labels.column_map, Ok(value.text))
    }),
    label("ColumnKey", "COLUMN_KEY", |draft, value| {
        assign(&mut draft.cf.labels.column_key, Ok(value.text))
    }),
    label("ColumnValue", "COLUMN_VALUE", |draft, value| {
        assign(&mut draft.cf.labels.column_value, Ok(value.text))
    }),
    label("ColumnTimestamp", "COLUMN_TIMESTAMP", |draft, value| {
        assign(&mut draft.cf.labels.column_timestamp, Ok(value.text))
    }),
    shown(elsewhere("RowsCached"), "rows_cached", "0", set_double),
    shown(elsewhere("KeysCached"), "keys_cached", "200000", set_double),
    shown(ADDED, "read_repair_chance", "1.0", set_double),
    shown(ADDED, "min_compaction_threshold", "4", set_int),
    shown(ADDED, "max_compaction_threshold", "32", set_int),
    shown(elsewhere("RowCacheSavePeriodInSeconds"), "row_cache_save_period_in_seconds", "0", set_int),
    shown(elsewhere("KeyCacheSavePeriodInSeconds"), "key_cache_save_period_in_seconds", "14400", set_int),
    shown(elsewhere("MemtableFlushAfterMinutes"), "memtable_flush_after_mins", "1440", set_int),
    shown(elsewhere("MemtableThroughputInMB"), "memtable_throughput_in_mb", "", set_int),
    shown(elsewhere("MemtableOperationsInMillions"), "memtable_operations_in_millions", "", set_double),
];

/// All settings of a column's definition (`RawColumnDefinition` of 0.7).
pub static COLUMN_SETTINGS: &[ConfigSetting<ColumnDraft>] = &[
    row(ADDED, key("name", IN_0_7))
        .meaning("The column's name. Required.")
        .sets(|draft, value| assign(&mut draft.name, value.not_empty())),
    row(ADDED, key("validator_class", IN_0_7))
        .default("BytesType")
        .meaning("The type of the column's values.")
        .sets(|draft, value| assign(&mut draft.validator, value.comparator())),
    row(ADDED, key("index_type", IN_0_7))
        .meaning("`KEYS`: an index on the column's values. The server builds it when it starts.")
        .sets(|draft, value| value.word(&["KEYS"], "Unknown index type").map(|_| draft.is_indexed = true)),
    row(ADDED, key("index_name", IN_0_7))
        .meaning("The name of the index.")
        .sets(|draft, value| assign(&mut draft.index_name, value.not_empty().map(Some))),
];

type SetFamily = fn(&mut FamilyDraft, &SettingValue<'_>) -> Result<(), Mistake>;

/// Makes the row of a word in describe_keyspace's "Desc".
const fn label(name: &'static str, default: &'static str, set: SetFamily) -> ConfigSetting<FamilyDraft> {
    let meaning = "A word in describe_keyspace's \"Desc\".";
    row(element(name, IN_0_4), REMOVED).default(default).meaning(meaning).sets(set)
}

/// Makes the row of a number that has no effect, and is shown to clients as a field of CfDef.
const fn shown(
    xml: NameOrAbsence,
    name: &'static str,
    default: &'static str,
    set: SetFamily,
) -> ConfigSetting<FamilyDraft> {
    row(xml, key(name, IN_0_7)).default(default).meaning("Only shown to clients.").sets(set)
}

fn set_int(draft: &mut FamilyDraft, value: &SettingValue<'_>) -> Result<(), Mistake> {
    draft.cf.settings.insert(field_of(value.name), Setting::Int(value.integer()?));
    Ok(())
}

fn set_double(draft: &mut FamilyDraft, value: &SettingValue<'_>) -> Result<(), Mistake> {
    draft.cf.settings.insert(field_of(value.name), Setting::Double(value.double()?));
    Ok(())
}

/// Returns the field of CfDef for a key of cassandra.yaml.
fn field_of(key: &str) -> String {
    match key {
        "rows_cached" => "row_cache_size".to_owned(),
        "keys_cached" => "key_cache_size".to_owned(),
        field => field.to_owned(),
    }
}

fn set_column_type(draft: &mut FamilyDraft, value: &SettingValue<'_>) -> Result<(), Mistake> {
    if !COLUMN_TYPES.contains(&value.text) {
        // `read` adds the name, which may follow.
        let column_type = value.choice(COLUMN_TYPES);
        return Err(Mistake::UnknownColumnType { name: String::new(), column_type });
    }
    draft.is_super = value.text == "Super";
    Ok(())
}

/// Reads a column family of a keyspace; `None` if it has no usable name. A mistake leaves the default value, so that it
/// is reported once.
pub(crate) fn read(keyspace: &str, block: ConfigBlock<'_>, reading: &mut ConfigReader<'_>) -> Option<CfDef> {
    let mut draft = FamilyDraft { cf: CfDef::new(keyspace, ""), is_super: false, subcomparator: None };
    let errors_before = reading.errors.len();
    block.apply(FAMILY_SETTINGS, &mut draft, reading);
    block.check_name("a column family", reading);
    for error in &mut reading.errors[errors_before..] {
        if let Mistake::UnknownColumnType { name, .. } = &mut error.mistake {
            name.clone_from(&draft.cf.name);
        }
    }
    check_subcomparator(&draft, block, reading);
    let FamilyDraft { mut cf, is_super, subcomparator } = draft;
    if is_super {
        let subcomparator = subcomparator.unwrap_or_else(|| Arc::new(BytesType));
        cf.column_type = ColumnType::Super { subcomparator };
    }
    (!cf.name.is_empty()).then_some(cf)
}

/// Reports a comparator of subcolumns in a column family that certainly has none.
fn check_subcomparator(draft: &FamilyDraft, block: ConfigBlock<'_>, reading: &mut ConfigReader<'_>) {
    let column_type = block.given(FAMILY_SETTINGS, "ColumnType");
    let has_known_type = column_type.is_none_or(|given| COLUMN_TYPES.contains(&given.text.value.trim()));
    let Some(given) = block.given(FAMILY_SETTINGS, "CompareSubcolumnsWith") else { return };
    if draft.is_super || !has_known_type {
        return;
    }
    let name = draft.cf.name.clone();
    match block {
        ConfigBlock::Element(_) => reading.error(given.name, Mistake::SubcomparatorOnStandard { name }),
        ConfigBlock::Mapping { .. } if draft.subcomparator.is_some() => {
            reading.error(given.name, YamlMistake::SubcomparatorOnStandard { name }.into());
        }
        ConfigBlock::Mapping { .. } => {}
    }
}

/// Reads the definitions of columns.
fn read_columns(draft: &mut FamilyDraft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    let SettingParts::Entry(entry) = given else { return };
    for block in ConfigBlock::items("a column", entry, reading) {
        let mut column = ColumnDraft::default();
        block.apply(COLUMN_SETTINGS, &mut column, reading);
        block.check_name("a column", reading);
        let name = Bytes::from(column.name);
        let validator = column.validator.unwrap_or_else(|| Arc::new(BytesType));
        let (kind, name_of_index) = (IndexKind::Keys, column.index_name);
        let index = column.is_indexed.then_some(IndexDef { kind, name: name_of_index, options: None });
        draft.cf.column_metadata.insert(name.clone(), ColumnDef { name, validator, index });
    }
}
