//! The settings of a column family: `<ColumnFamily>`, and an item of `column_families` in the cassandra.yaml of 0.7.

use std::sync::Arc;

use bytes::Bytes;

use super::apply::ConfigBlock;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::setting::{SettingParts, SettingTarget, assign, unset};
use super::value::SettingValue;
use super::yaml::YamlMistake;
use base::marshal::{BytesType, TypeRef};
use base::schema::{CfDef, ColumnDef, ColumnType, IndexDef, IndexKind, Setting};

pub(crate) const FAMILY: &str = "ColumnFamily";
pub(crate) const COLUMN: &str = "Column";

const COLUMN_TYPES: [&str; 2] = ["Standard", "Super"];

/// The values of a column family while it is read.
#[derive(Debug)]
pub(crate) struct FamilyDraft {
    cf: CfDef,
    is_super: bool,
    subcomparator: Option<TypeRef>,
}

/// The values of a column's definition while it is read.
#[derive(Debug, Default)]
pub(crate) struct ColumnDraft {
    name: String,
    validator: Option<TypeRef>,
    is_indexed: bool,
    index_name: Option<String>,
}

impl FamilyDraft {
    pub(crate) fn new(keyspace: &str) -> FamilyDraft {
        FamilyDraft { cf: CfDef::new(keyspace, ""), is_super: false, subcomparator: None }
    }

    /// Keeps a number that has no effect, and is shown to clients as a field of CfDef.
    fn show(&mut self, key: &str, number: Setting) -> Result<(), Mistake> {
        self.cf.settings.insert(field_of(key), number);
        Ok(())
    }
}

/// The settings of `RawColumnFamily` of 0.7, and of 0.4 to 0.6.
impl SettingTarget for FamilyDraft {
    fn part(&self) -> &'static str {
        FAMILY
    }

    fn set(&mut self, id: &str, value: &SettingValue<'_>) -> Result<(), Mistake> {
        let cf = &mut self.cf;
        match id {
            "Name" if value.text.contains('-') => Err(Mistake::Hyphen { name: value.text.to_owned() }),
            "Name" => assign(&mut cf.name, value.not_empty()),
            "ColumnType" => set_column_type(self, value),
            "CompareWith" => assign(&mut cf.comparator, value.comparator()),
            "CompareSubcolumnsWith" => assign(&mut self.subcomparator, value.comparator()),
            "default_validation_class" => assign(&mut cf.default_validator, value.comparator()),
            "gc_grace_seconds" => assign(&mut cf.gc_grace_s, value.at_least(0)),
            "FlushPeriodInMinutes" => assign(&mut cf.flush_period_minutes, value.integer()),
            "ColumnSort" => Err(Mistake::ColumnSort),
            "Comment" => assign(&mut cf.comment, Ok(value.given.value.clone())),
            "SuperColumnMap" => assign(&mut cf.labels.super_column_map, Ok(value.text)),
            "SuperColumnKey" => assign(&mut cf.labels.super_column_key, Ok(value.text)),
            "ColumnMap" => assign(&mut cf.labels.column_map, Ok(value.text)),
            "ColumnKey" => assign(&mut cf.labels.column_key, Ok(value.text)),
            "ColumnValue" => assign(&mut cf.labels.column_value, Ok(value.text)),
            "ColumnTimestamp" => assign(&mut cf.labels.column_timestamp, Ok(value.text)),
            "rows_cached" | "keys_cached" | "read_repair_chance" | "memtable_operations_in_millions" => {
                self.show(value.name, Setting::Double(value.double()?))
            }
            "min_compaction_threshold"
            | "max_compaction_threshold"
            | "row_cache_save_period_in_seconds"
            | "key_cache_save_period_in_seconds"
            | "memtable_flush_after_mins"
            | "memtable_throughput_in_mb" => self.show(value.name, Setting::Int(value.integer()?)),
            _ => unset(id),
        }
    }

    fn read(&mut self, _id: &str, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
        read_columns(self, given, reading);
    }
}

/// The settings of `RawColumnDefinition` of 0.7.
impl SettingTarget for ColumnDraft {
    fn part(&self) -> &'static str {
        COLUMN
    }

    fn set(&mut self, id: &str, value: &SettingValue<'_>) -> Result<(), Mistake> {
        match id {
            "name" => assign(&mut self.name, value.not_empty()),
            "validator_class" => assign(&mut self.validator, value.comparator()),
            "index_type" => {
                value.word(&["KEYS"], "Unknown index type")?;
                self.is_indexed = true;
                Ok(())
            }
            "index_name" => assign(&mut self.index_name, value.not_empty().map(Some)),
            _ => unset(id),
        }
    }
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
    let mut draft = FamilyDraft::new(keyspace);
    let errors_before = reading.errors.len();
    block.apply(&mut draft, reading);
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
    let column_type = block.given(FAMILY, "ColumnType");
    let has_known_type = column_type.is_none_or(|given| COLUMN_TYPES.contains(&given.text.value.trim()));
    let Some(given) = block.given(FAMILY, "CompareSubcolumnsWith") else { return };
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
        block.apply(&mut column, reading);
        block.check_name("a column", reading);
        let name = Bytes::from(column.name);
        let validator = column.validator.unwrap_or_else(|| Arc::new(BytesType));
        let (kind, name_of_index) = (IndexKind::Keys, column.index_name);
        let index = column.is_indexed.then_some(IndexDef { kind, name: name_of_index, options: None });
        draft.cf.column_metadata.insert(name.clone(), ColumnDef { name, validator, index });
    }
}
