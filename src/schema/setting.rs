//! Settings of a column family that clients make and ask for again, and that mean nothing to this server.
//!
//! They tuned caches, compaction and read repair. Applications read them back, and compare: so each is kept as
//! it was said, and where nothing was said each release shows its own default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::util::Release;

/// A setting's value, in the types that the API has for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Setting {
    Bool(bool),
    Int(i32),
    Double(f64),
    Text(String),
    Map(BTreeMap<String, String>),
}

/// A setting's type, without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    Bool,
    Int,
    Double,
    Text,
    Map,
}

/// One setting of `CfDef`.
#[derive(Debug)]
pub struct SettingDef {
    /// Its field in the API's struct.
    pub id: i16,
    pub name: &'static str,
    pub kind: SettingKind,
    /// The releases that show it.
    pub since: Release,
    pub until: Release,
    /// What a release shows where nothing was said; `None`: it shows nothing.
    pub default: fn(Release) -> Option<Setting>,
}

const fn def(
    id: i16,
    name: &'static str,
    kind: SettingKind,
    (since, until): (Release, Release),
    default: fn(Release) -> Option<Setting>,
) -> SettingDef {
    SettingDef { id, name, kind, since, until, default }
}

fn text(value: &str) -> Option<Setting> {
    Some(Setting::Text(value.to_owned()))
}

fn compression(release: Release) -> Option<Setting> {
    let compressor = match release {
        release if release < Release::V1_1 => return Some(Setting::Map(BTreeMap::new())),
        release if release < Release::V2_0 => "SnappyCompressor",
        _ => "LZ4Compressor",
    };
    let class = format!("org.apache.cassandra.io.compress.{compressor}");
    Some(Setting::Map(BTreeMap::from([("sstable_compression".to_owned(), class)])))
}

fn row_cache_provider(release: Release) -> Option<Setting> {
    text(if release < Release::V1_0 {
        "org.apache.cassandra.cache.ConcurrentLinkedHashCacheProvider"
    } else {
        "org.apache.cassandra.cache.SerializingCacheProvider"
    })
}

use Release::{V0_7, V0_8, V1_0, V1_1, V1_2, V2_0, V2_1};
use SettingKind::{Bool, Double, Int, Map, Text};

/// Every such setting. `comment`, `gc_grace_seconds`, the types and `column_metadata` are not among them: they
/// have a meaning.
pub const SETTINGS: &[SettingDef] = &[
    def(9, "row_cache_size", Double, (V0_7, V1_0), |_| Some(Setting::Double(0.0))),
    def(11, "key_cache_size", Double, (V0_7, V1_0), |_| Some(Setting::Double(200_000.0))),
    def(12, "read_repair_chance", Double, (V0_7, V2_1), |release| {
        Some(Setting::Double(if release < V1_0 {
            1.0
        } else if release < V2_1 {
            0.1
        } else {
            0.0
        }))
    }),
    def(17, "min_compaction_threshold", Int, (V0_7, V2_1), |_| Some(Setting::Int(4))),
    def(18, "max_compaction_threshold", Int, (V0_7, V2_1), |_| Some(Setting::Int(32))),
    def(19, "row_cache_save_period_in_seconds", Int, (V0_7, V1_0), |_| Some(Setting::Int(0))),
    def(20, "key_cache_save_period_in_seconds", Int, (V0_7, V1_0), |_| Some(Setting::Int(14_400))),
    def(21, "memtable_flush_after_mins", Int, (V0_7, V0_8), |_| Some(Setting::Int(1440))),
    def(22, "memtable_throughput_in_mb", Int, (V0_7, V0_8), |_| Some(Setting::Int(64))),
    def(23, "memtable_operations_in_millions", Double, (V0_7, V0_8), |_| Some(Setting::Double(0.3))),
    def(24, "replicate_on_write", Bool, (V0_8, V2_0), |_| Some(Setting::Bool(true))),
    def(25, "merge_shards_chance", Double, (V0_8, V1_0), |_| Some(Setting::Double(0.1))),
    def(27, "row_cache_provider", Text, (V0_8, V1_0), row_cache_provider),
    def(29, "compaction_strategy", Text, (V1_0, V2_1), |_| {
        text("org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy")
    }),
    def(30, "compaction_strategy_options", Map, (V1_0, V2_1), |_| Some(Setting::Map(BTreeMap::new()))),
    def(31, "row_cache_keys_to_save", Int, (V1_0, V1_0), |_| Some(Setting::Int(i32::MAX))),
    def(32, "compression_options", Map, (V1_0, V2_1), compression),
    def(33, "bloom_filter_fp_chance", Double, (V1_0, V2_1), |_| None),
    def(34, "caching", Text, (V1_1, V2_1), |_| text("KEYS_ONLY")),
    def(37, "dclocal_read_repair_chance", Double, (V1_1, V2_1), |release| {
        Some(Setting::Double(if release < V2_1 { 0.0 } else { 0.1 }))
    }),
    def(38, "populate_io_cache_on_flush", Bool, (V1_2, V2_0), |_| Some(Setting::Bool(false))),
    def(39, "memtable_flush_period_in_ms", Int, (V2_0, V2_1), |_| Some(Setting::Int(0))),
    def(40, "default_time_to_live", Int, (V2_0, V2_1), |_| Some(Setting::Int(0))),
    def(41, "index_interval", Int, (V2_0, V2_0), |_| Some(Setting::Int(128))),
    def(42, "speculative_retry", Text, (V2_0, V2_1), |_| text("NONE")),
    def(44, CELLS_CACHED, Text, (V2_1, V2_1), |_| text("100")),
    def(45, "min_index_interval", Int, (V2_1, V2_1), |_| Some(Setting::Int(128))),
    def(46, "max_index_interval", Int, (V2_1, V2_1), |_| Some(Setting::Int(2048))),
];

/// How many cells of a row are cached, where rows are.
const CELLS_CACHED: &str = "cells_per_row_to_cache";

fn caches_rows(said: &BTreeMap<String, Setting>) -> bool {
    matches!(said.get("caching"), Some(Setting::Text(caching)) if caching == "ALL" || caching == "ROWS_ONLY")
}

impl SettingDef {
    /// The setting of a field of `CfDef`.
    pub fn of_field(id: i16) -> Option<&'static SettingDef> {
        SETTINGS.iter().find(|setting| setting.id == id)
    }

    /// What a release shows.
    pub fn shown(&self, said: &BTreeMap<String, Setting>, release: Release) -> Option<Setting> {
        if !(self.since..=self.until).contains(&release) {
            return None;
        }
        if self.name == CELLS_CACHED && !caches_rows(said) {
            return text("0");
        }
        said.get(self.name).cloned().or_else(|| (self.default)(release))
    }
}
