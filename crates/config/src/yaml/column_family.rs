//! The column families of a keyspace in the cassandra.yaml of 0.7.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::apply::{Effect, YamlSetting, apply, entry, list, map, row};
use super::mistake::YamlMistake;
use super::node::{Content, Entry, YamlNode};
use crate::mistake::Mistake;
use crate::reading::ConfigReader;
use crate::releases::YAML_IN_0_7 as IN_0_7;
use crate::value::Value;
use base::marshal::{BytesType, TypeRef};
use base::schema::{CfDef, ColumnDef, ColumnType, KeyspaceDef, Setting};

const COLUMN_TYPES: [&str; 2] = ["Standard", "Super"];

/// The values of a column family while it is read.
pub struct FamilyDraft {
    cf: CfDef,
    is_super: bool,
    subcomparator: Option<TypeRef>,
}

/// The values of a column's definition while it is read.
#[derive(Default)]
pub struct ColumnDraft {
    name: String,
    validator: Option<TypeRef>,
}

/// Stores a number that has no effect, and is shown to clients as a field of CfDef.
fn set_int(draft: &mut FamilyDraft, field: &str, value: &Value<'_>) -> Result<(), Mistake> {
    draft.cf.settings.insert(field.to_owned(), Setting::Int(value.integer()?));
    Ok(())
}

fn set_double(draft: &mut FamilyDraft, field: &str, value: &Value<'_>) -> Result<(), Mistake> {
    draft.cf.settings.insert(field.to_owned(), Setting::Double(value.double()?));
    Ok(())
}

const SHOWN: &str = "Only shown to clients.";

/// The settings of a column family (`RawColumnFamily`).
pub static FAMILY_SETTINGS: &[YamlSetting<FamilyDraft>] = &[
    row(
        "name",
        "",
        IN_0_7,
        "The column family's name. Required; no hyphens.",
        Effect::Value(|draft, value| {
            if value.text.contains('-') {
                return Err(Mistake::Hyphen { name: value.text.to_owned() });
            }
            draft.cf.name = value.not_empty()?;
            Ok(())
        }),
    ),
    row(
        "column_type",
        "Standard",
        IN_0_7,
        "`Standard`: columns hold values. `Super`: they hold columns.",
        Effect::Value(|draft, value| match value.text {
            "Standard" => Ok(()),
            "Super" => {
                draft.is_super = true;
                Ok(())
            }
            _ => {
                let (name, column_type) = (draft.cf.name.clone(), value.choice(COLUMN_TYPES));
                Err(Mistake::UnknownColumnType { name, column_type })
            }
        }),
    ),
    row(
        "compare_with",
        "BytesType",
        IN_0_7,
        "The comparator: which column names are valid, and their order.",
        Effect::Value(|draft, value| {
            draft.cf.comparator = value.comparator()?;
            Ok(())
        }),
    ),
    row(
        "compare_subcolumns_with",
        "BytesType",
        IN_0_7,
        "The comparator of the columns in a super column. Only with `Super`.",
        Effect::Value(|draft, value| {
            draft.subcomparator = Some(value.comparator()?);
            Ok(())
        }),
    ),
    row(
        "default_validation_class",
        "BytesType",
        IN_0_7,
        "The type of values in columns without a definition.",
        Effect::Value(|draft, value| {
            draft.cf.default_validator = value.comparator()?;
            Ok(())
        }),
    ),
    row(
        "column_metadata",
        "",
        IN_0_7,
        "A list of columns with `name` and `validator_class`. `index_type` is refused: let a client define the keyspace.",
        Effect::Node(|draft, entry, reading| draft.cf.column_metadata = read_columns(entry, reading)),
    ),
    row(
        "gc_grace_seconds",
        "864000",
        IN_0_7,
        "gc_grace: how long tombstones are kept.",
        Effect::Value(|draft, value| {
            draft.cf.gc_grace_s = value.at_least(0)?;
            Ok(())
        }),
    ),
    row(
        "comment",
        "",
        IN_0_7,
        "Text for people; shown to clients.",
        Effect::Value(|draft, value| {
            draft.cf.comment = Some(value.raw.to_owned());
            Ok(())
        }),
    ),
    row(
        "rows_cached",
        "0",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_double(draft, "row_cache_size", value)),
    ),
    row(
        "keys_cached",
        "200000",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_double(draft, "key_cache_size", value)),
    ),
    row(
        "read_repair_chance",
        "1.0",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_double(draft, "read_repair_chance", value)),
    ),
    row(
        "min_compaction_threshold",
        "4",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_int(draft, "min_compaction_threshold", value)),
    ),
    row(
        "max_compaction_threshold",
        "32",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_int(draft, "max_compaction_threshold", value)),
    ),
    row(
        "row_cache_save_period_in_seconds",
        "0",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_int(draft, "row_cache_save_period_in_seconds", value)),
    ),
    row(
        "key_cache_save_period_in_seconds",
        "14400",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_int(draft, "key_cache_save_period_in_seconds", value)),
    ),
    row(
        "memtable_flush_after_mins",
        "1440",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_int(draft, "memtable_flush_after_mins", value)),
    ),
    row(
        "memtable_throughput_in_mb",
        "",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_int(draft, "memtable_throughput_in_mb", value)),
    ),
    row(
        "memtable_operations_in_millions",
        "",
        IN_0_7,
        SHOWN,
        Effect::Value(|draft, value| set_double(draft, "memtable_operations_in_millions", value)),
    ),
];

/// The settings of a column's definition (`RawColumnDefinition`).
pub static COLUMN_SETTINGS: &[YamlSetting<ColumnDraft>] = &[
    row(
        "name",
        "",
        IN_0_7,
        "The column's name. Required.",
        Effect::Value(|draft, value| {
            draft.name = value.not_empty()?;
            Ok(())
        }),
    ),
    row(
        "validator_class",
        "BytesType",
        IN_0_7,
        "The type of the column's values.",
        Effect::Value(|draft, value| {
            draft.validator = Some(value.comparator()?);
            Ok(())
        }),
    ),
    row(
        "index_type",
        "",
        IN_0_7,
        "Refused: let a client define the keyspace.",
        Effect::Node(|_, entry, reading| reading.error(entry.key.span, YamlMistake::Index.into())),
    ),
    row("index_name", "", IN_0_7, "The name of an index.", Effect::Value(|_, _| Ok(()))),
];

/// Reads the column families of a keyspace.
pub fn read_all(keyspace: &mut KeyspaceDef, families: &Entry, reading: &mut ConfigReader<'_>) {
    if matches!(families.value.content, Content::Absent) {
        return;
    }
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for node in list(families, reading) {
        let Some(cf) = read_family(&keyspace.name, node, reading) else { continue };
        let line = reading.line(node.span);
        if let Some(first_line) = lines.insert(cf.name.clone(), line) {
            lines.insert(cf.name.clone(), first_line);
            let (keyspace, name) = (keyspace.name.clone(), cf.name.clone());
            reading.error(node.span, Mistake::FamilyTwice { keyspace, name, first_line });
        }
        keyspace.column_families.insert(cf.name.clone(), Arc::new(cf));
    }
}

/// Reads a column family; `None` if it has no usable name.
fn read_family(keyspace: &str, node: &YamlNode, reading: &mut ConfigReader<'_>) -> Option<CfDef> {
    let entries = map("a column family", node, reading);
    let mut draft = FamilyDraft { cf: CfDef::new(keyspace, ""), is_super: false, subcomparator: None };
    apply(FAMILY_SETTINGS, &[], &mut draft, entries, reading);
    if !entries.is_empty() && entry(entries, "name").is_none() {
        reading.error(node.span, YamlMistake::Missing { what: "a column family", key: "name" }.into());
    }
    let has_known_type = entry(entries, "column_type")
        .and_then(|given| given.value.text())
        .is_none_or(|text| COLUMN_TYPES.contains(&text.value.trim()));
    if let Some(given) = entry(entries, "compare_subcolumns_with")
        && draft.subcomparator.is_some()
        && has_known_type
        && !draft.is_super
    {
        let name = draft.cf.name.clone();
        reading.error(given.key.span, YamlMistake::SubcomparatorOnStandard { name }.into());
    }
    let FamilyDraft { mut cf, is_super, subcomparator } = draft;
    if is_super {
        let subcomparator = subcomparator.unwrap_or_else(|| Arc::new(BytesType));
        cf.column_type = ColumnType::Super { subcomparator };
    }
    (!cf.name.is_empty()).then_some(cf)
}

/// Reads the definitions of columns.
fn read_columns(entry: &Entry, reading: &mut ConfigReader<'_>) -> BTreeMap<Bytes, ColumnDef> {
    let mut columns = BTreeMap::new();
    for node in list(entry, reading) {
        let entries = map("a column", node, reading);
        let mut draft = ColumnDraft::default();
        apply(COLUMN_SETTINGS, &[], &mut draft, entries, reading);
        if !entries.is_empty() && self::entry(entries, "name").is_none() {
            reading.error(node.span, YamlMistake::Missing { what: "a column", key: "name" }.into());
        }
        let name = Bytes::from(draft.name);
        let validator = draft.validator.unwrap_or_else(|| Arc::new(BytesType));
        columns.insert(name.clone(), ColumnDef { name, validator, index: None });
    }
    columns
}
