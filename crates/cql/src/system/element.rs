//! Properties of keyspaces and tables as 3.0 and later show them, for the schema tables and DESCRIBE.

use std::collections::BTreeMap;

use md5::{Digest, Md5};
use uuid::Uuid;

use super::shown::ShownSettings;
use base::marshal::CqlType;
use base::schema::{CfDef, KeyspaceDef, Setting, TableColumn, name_text};
use db::{INDEX_ENTRIES, INDEX_KEYS};

type Map = BTreeMap<String, String>;

fn map<const N: usize>(pairs: [(&str, &str); N]) -> Map {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// Returns the strategy's full class name, and its options.
pub(crate) fn replication(keyspace: &KeyspaceDef) -> (&str, Map) {
    let mut options = keyspace.strategy_options.clone();
    if keyspace.is_configured {
        options.insert("replication_factor".to_owned(), keyspace.replication_factor.to_string());
    }
    (keyspace.modern_strategy_class(), options)
}

/// Returns the id of a table, which changes when the table is dropped and created again.
pub(crate) fn table_id(cf: &CfDef) -> Uuid {
    let id = Md5::digest(format!("{} {} {}", cf.keyspace, cf.name, cf.id));
    uuid::Builder::from_md5_bytes(id.into()).into_uuid()
}

/// Returns a type as CQL prints it, with quoted names if needed.
pub(crate) fn type_text(cql_type: &CqlType) -> String {
    let frozen = |is_frozen: bool, text: String| if is_frozen { format!("frozen<{text}>") } else { text };
    match cql_type {
        CqlType::List { element, is_frozen } => frozen(*is_frozen, format!("list<{}>", type_text(element))),
        CqlType::Set { element, is_frozen } => frozen(*is_frozen, format!("set<{}>", type_text(element))),
        CqlType::Map { key, value, is_frozen } => {
            frozen(*is_frozen, format!("map<{}, {}>", type_text(key), type_text(value)))
        }
        CqlType::Tuple(fields) => {
            let fields: Vec<String> = fields.iter().map(type_text).collect();
            format!("frozen<tuple<{}>>", fields.join(", "))
        }
        CqlType::User { user, is_frozen } => frozen(*is_frozen, name_text(&user.name)),
        other => other.to_string(),
    }
}

/// Returns the target of an index: a column, or its keys, values or entries. Removes the options that say so.
pub(crate) fn index_target(column: &TableColumn, options: &mut BTreeMap<String, String>) -> String {
    let name = name_text(&column.name);
    let is_of_keys = options.remove(INDEX_KEYS).is_some();
    let is_of_entries = options.remove(INDEX_ENTRIES).is_some();
    options.remove("index_values");
    match column.cql_type.is_multi_cell() {
        _ if is_of_keys => format!("keys({name})"),
        _ if is_of_entries => format!("entries({name})"),
        true => format!("values({name})"),
        false => name,
    }
}

/// The options of a table, with their names in 4.0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ElementOptions {
    /// The share of lookups of missing keys that read an SSTable anyway, from 0 to 1.
    pub bloom_filter_fp_chance: f64,
    /// `keys` and `rows_per_partition`: ALL, NONE or a number.
    pub caching: Map,
    /// The text of the user; empty without one.
    pub comment: String,
    /// The strategy's `class`, and its options.
    pub compaction: Map,
    /// The compressor's `class` and its options; or `enabled`: `false`.
    pub compression: Map,
    /// 4.0 removed these two; they are only shown if a client has set them.
    pub dclocal_read_repair_chance: Option<f64>,
    /// See `dclocal_read_repair_chance`; it repairs in all data centers.
    pub read_repair_chance: Option<f64>,
    /// The time to live of writes without their own, in seconds; 0: they never expire.
    pub default_time_to_live: i32,
    /// Seconds for which tombstones are kept.
    pub gc_grace_seconds: i32,
    /// Most rows from one entry of the index summary to the next.
    pub max_index_interval: i32,
    /// Milliseconds between flushes; 0: only if memory is needed.
    pub memtable_flush_period_in_ms: i32,
    /// Fewest rows from one entry of the index summary to the next.
    pub min_index_interval: i32,
    /// When a read asks a further replica: `99p`, `50ms`, ALWAYS or NEVER.
    pub speculative_retry: String,
}

impl ElementOptions {
    /// Returns the options of a column family, with the defaults of 4.0 for those that no client has set.
    pub(crate) fn of(cf: &CfDef) -> ElementOptions {
        let double = |name: &str| match cf.settings.get(name) {
            Some(Setting::Double(number)) => Some(*number),
            _ => None,
        };
        let compaction = compaction(cf);
        let settings = ShownSettings::of(cf);
        let is_leveled = compaction["class"].ends_with("LeveledCompactionStrategy");
        ElementOptions {
            bloom_filter_fp_chance: double("bloom_filter_fp_chance").unwrap_or(if is_leveled {
                0.1
            } else {
                0.01
            }),
            caching: caching(cf),
            comment: cf.comment.clone().unwrap_or_default(),
            compaction,
            compression: compression(cf),
            dclocal_read_repair_chance: double("dclocal_read_repair_chance"),
            read_repair_chance: double("read_repair_chance"),
            default_time_to_live: settings.int("default_time_to_live", 0),
            gc_grace_seconds: cf.gc_grace_s,
            max_index_interval: settings.int("max_index_interval", 2048),
            memtable_flush_period_in_ms: settings.int("memtable_flush_period_in_ms", 0),
            min_index_interval: settings.int("min_index_interval", 128),
            speculative_retry: speculative_retry(cf),
        }
    }
}

impl ElementOptions {
    /// Returns the same options with the values of 2.1.
    pub(crate) fn of_2_1(cf: &CfDef) -> ElementOptions {
        let speculative_retry = match cf.settings.get("speculative_retry") {
            None if cf.table.is_some() => "99.0PERCENTILE".to_owned(),
            _ => ShownSettings::of(cf).text("speculative_retry"),
        };
        ElementOptions {
            compression: ShownSettings::of(cf).options("compression_options"),
            speculative_retry,
            ..ElementOptions::of(cf)
        }
    }
}

fn caching(cf: &CfDef) -> Map {
    let (keys, rows) = ShownSettings::of(cf).caching();
    map([("keys", keys), ("rows_per_partition", &*rows)])
}

fn compaction(cf: &CfDef) -> Map {
    let settings = ShownSettings::of(cf);
    let mut options = settings.options("compaction_strategy_options");
    options.insert("class".to_owned(), settings.text("compaction_strategy"));
    for (name, default) in [("min", 4), ("max", 32)] {
        let number = settings.int(&format!("{name}_compaction_threshold"), default);
        options.insert(format!("{name}_threshold"), number.to_string());
    }
    options
}

/// Returns the compression options. 2.1 names the class `sstable_compression`, and leaves it empty for no compression.
fn compression(cf: &CfDef) -> Map {
    let mut options = ShownSettings::of(cf).options("compression_options");
    let class = options.remove("sstable_compression").filter(|class| !class.is_empty());
    let Some(class) = class else { return map([("enabled", "false")]) };
    options.insert("class".to_owned(), class);
    let chunk = options.remove("chunk_length_kb").unwrap_or_else(|| "16".to_owned());
    options.insert("chunk_length_in_kb".to_owned(), chunk);
    options
}

/// Returns the speculative retry as 4.0 prints it: `99p` for `99.0PERCENTILE`, and NEVER for NONE.
fn speculative_retry(cf: &CfDef) -> String {
    let retry = match cf.settings.get("speculative_retry") {
        None if cf.table.is_some() => return "99p".to_owned(),
        _ => ShownSettings::of(cf).text("speculative_retry"),
    };
    match retry.strip_suffix("PERCENTILE").map(str::parse::<f64>) {
        Some(Ok(number)) => format!("{number}p"),
        _ => match &*retry {
            "NONE" => "NEVER".to_owned(),
            _ => retry.replace("MS", "ms"),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use base::marshal::{Native, UserType};

    #[test]
    fn options_have_the_names_of_newer_releases() {
        let mut cf = CfDef::new("k", "t");
        let options = ElementOptions::of(&cf);
        assert_eq!(options.compression["chunk_length_in_kb"], "16");
        assert_eq!((options.bloom_filter_fp_chance, &*options.speculative_retry), (0.01, "NEVER"));
        cf.settings
            .insert("compression_options".to_owned(), Setting::Map(map([("sstable_compression", "")])));
        cf.settings.insert("speculative_retry".to_owned(), Setting::Text("95.5PERCENTILE".to_owned()));
        cf.settings.insert("caching".to_owned(), Setting::Text("ALL".to_owned()));
        let options = ElementOptions::of(&cf);
        assert_eq!(options.compression, map([("enabled", "false")]));
        assert_eq!(options.speculative_retry, "95.5p");
        assert_eq!(options.caching, map([("keys", "ALL"), ("rows_per_partition", "100")]));
    }

    #[test]
    fn types_have_quotes_where_they_need_them() {
        let user = |name: &str| {
            let fields = vec![("a".to_owned(), CqlType::Native(Native::Int))];
            CqlType::frozen_user(Arc::new(UserType::new("k", name, fields)))
        };
        let list = CqlType::List { element: Box::new(user("Home")), is_frozen: false };
        assert_eq!(type_text(&list), "list<frozen<\"Home\">>");
        assert_eq!(
            type_text(&CqlType::Tuple(vec![user("a"), list.frozen()])),
            "frozen<tuple<frozen<a>, frozen<list<frozen<\"Home\">>>>>"
        );
    }
}
