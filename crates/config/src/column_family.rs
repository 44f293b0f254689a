//! `<ColumnFamily>`: a column family.

use std::sync::Arc;

use super::element::{Element, Set, apply_attributes, apply_children, row};
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::{ALL, FROM_0_5, IN_0_4, IN_0_6};
use super::value::Value;
use super::xml::Node;
use base::marshal::{BytesType, TypeRef};
use base::schema::{CfDef, CfLabels, ColumnType};

pub const FAMILY: &str = "ColumnFamily";

const COLUMN_TYPES: [&str; 2] = ["Standard", "Super"];

/// The values of a `<ColumnFamily>` while it is read.
#[derive(Debug, Default)]
pub struct FamilyDraft {
    name: String,
    is_super: bool,
    comparator: Option<TypeRef>,
    subcomparator: Option<TypeRef>,
    comment: Option<String>,
    labels: CfLabels,
    flush_period_minutes: i32,
}

pub static FAMILY_ATTRIBUTES: &[Element<FamilyDraft>] = &[
    row(
        "Name",
        "",
        "",
        ALL,
        "The column family's name. Required; no hyphens.",
        Set::Value(|draft, value| {
            if value.text.contains('-') {
                return Err(Mistake::Hyphen { name: value.text.to_owned() });
            }
            draft.name = value.not_empty()?;
            Ok(())
        }),
    ),
    row(
        "ColumnType",
        "Standard",
        "word",
        ALL,
        "`Standard`: columns hold values. `Super`: they hold columns.",
        Set::Value(|draft, value| {
            match value.text {
                "Standard" => draft.is_super = false,
                "Super" => draft.is_super = true,
                _ => {
                    let column_type = value.choice(COLUMN_TYPES);
                    return Err(Mistake::UnknownColumnType { name: String::new(), column_type });
                }
            }
            Ok(())
        }),
    ),
    row(
        "CompareWith",
        "BytesType",
        "class",
        ALL,
        "The comparator: which column names are valid, and their order.",
        Set::Value(|draft, value| {
            draft.comparator = Some(value.comparator()?);
            Ok(())
        }),
    ),
    row(
        "CompareSubcolumnsWith",
        "BytesType",
        "class",
        ALL,
        "The comparator of the columns in a super column. Only with `Super`.",
        Set::Value(|draft, value| {
            draft.subcomparator = Some(value.comparator()?);
            Ok(())
        }),
    ),
    row(
        "FlushPeriodInMinutes",
        "0",
        "min",
        IN_0_4,
        "describe_keyspace returns it to clients of 0.4. It has no effect: the storage engine decides when it flushes.",
        Set::Value(|draft, value| {
            draft.flush_period_minutes = value.integer()?;
            Ok(())
        }),
    ),
    row("KeysCached", "", "keys or %", IN_0_6, CACHES, Set::Nothing(|value| value.cache_size().map(drop))),
    row("RowsCached", "", "rows or %", IN_0_6, CACHES, Set::Nothing(|value| value.cache_size().map(drop))),
    row("KeysCachedFraction", "", "fraction", IN_0_6, CACHES, Set::Nothing(|value| value.double().map(drop))),
    row(
        "RowCacheSavePeriodInSeconds",
        "",
        "s",
        IN_0_6,
        "Caches are not saved.",
        Set::Nothing(|value| value.integer().map(drop)),
    ),
    row(
        "KeyCacheSavePeriodInSeconds",
        "",
        "s",
        IN_0_6,
        "Caches are not saved.",
        Set::Nothing(|value| value.integer().map(drop)),
    ),
    row(
        "Comment",
        "",
        "",
        FROM_0_5,
        "In sample files, but never read by any release: they read the element `<Comment>`.",
        Set::Nothing(|_| Ok(())),
    ),
    row(
        "ColumnSort",
        "",
        "",
        IN_0_4,
        "Refused, as by every release since 0.4. Use CompareWith.",
        Set::Value(|_, _| Err(Mistake::ColumnSort)),
    ),
];

const CACHES: &str = "All column families share the storage engine's cache.";

pub static FAMILY_ELEMENTS: &[Element<FamilyDraft>] = &[
    row(
        "Comment",
        "",
        "",
        FROM_0_5,
        "The text that describe_keyspace returns as \"Desc\".",
        Set::Value(|draft, value| {
            draft.comment = Some(value.raw.to_owned());
            Ok(())
        }),
    ),
    label_row("SuperColumnMap", "SUPER_COLUMN_MAP", |draft, value| {
        draft.labels.super_column_map = value.text.to_owned();
        Ok(())
    }),
    label_row("SuperColumnKey", "SUPER_COLUMN_KEY", |draft, value| {
        draft.labels.super_column_key = value.text.to_owned();
        Ok(())
    }),
    label_row("ColumnMap", "COLUMN_MAP", |draft, value| {
        draft.labels.column_map = value.text.to_owned();
        Ok(())
    }),
    label_row("ColumnKey", "COLUMN_KEY", |draft, value| {
        draft.labels.column_key = value.text.to_owned();
        Ok(())
    }),
    label_row("ColumnValue", "COLUMN_VALUE", |draft, value| {
        draft.labels.column_value = value.text.to_owned();
        Ok(())
    }),
    label_row("ColumnTimestamp", "COLUMN_TIMESTAMP", |draft, value| {
        draft.labels.column_timestamp = value.text.to_owned();
        Ok(())
    }),
];

/// Makes the row of a word in describe_keyspace's "Desc".
const fn label_row(
    tag: &'static str,
    default: &'static str,
    set: fn(&mut FamilyDraft, &Value<'_>) -> Result<(), Mistake>,
) -> Element<FamilyDraft> {
    row(tag, default, "", IN_0_4, "A word in describe_keyspace's \"Desc\".", Set::Value(set))
}

/// Reads one `<ColumnFamily>`; `None` if it has no usable name. A mistake leaves the default value, so that it is
/// reported once.
pub fn read(keyspace: &str, node: &Node, reading: &mut ConfigReader<'_>) -> Option<CfDef> {
    let mut draft = FamilyDraft::default();
    let errors_before = reading.errors.len();
    apply_attributes(FAMILY_ATTRIBUTES, &mut draft, node, reading);
    apply_children(FAMILY_ELEMENTS, &[], &mut draft, node, reading);
    if node.attribute("Name").is_none() {
        reading.error(node.name.span, Mistake::FamilyWithoutName);
    }
    // The name may follow the type.
    for error in &mut reading.errors[errors_before..] {
        if let Mistake::UnknownColumnType { name, .. } = &mut error.mistake {
            name.clone_from(&draft.name);
        }
    }
    let known_type =
        node.attribute("ColumnType").is_none_or(|given| COLUMN_TYPES.contains(&given.value.value.trim()));
    if let Some(attribute) = node.attribute("CompareSubcolumnsWith")
        && known_type
        && !draft.is_super
    {
        reading.error(attribute.name.span, Mistake::SubcomparatorOnStandard { name: draft.name.clone() });
    }
    (!draft.name.is_empty()).then(|| draft.finish(keyspace))
}

impl FamilyDraft {
    fn finish(self, keyspace: &str) -> CfDef {
        let bytes = || -> TypeRef { Arc::new(BytesType) };
        let column_type = if self.is_super {
            ColumnType::Super { subcomparator: self.subcomparator.unwrap_or_else(bytes) }
        } else {
            ColumnType::Standard
        };
        CfDef {
            column_type,
            comparator: self.comparator.unwrap_or_else(bytes),
            comment: self.comment,
            labels: self.labels,
            flush_period_minutes: self.flush_period_minutes,
            ..CfDef::new(keyspace, &self.name)
        }
    }
}
