//! The fields of a CfDef that have no effect on this server: which releases show them, and with which default.
//!
//! `comment`, `gc_grace_seconds`, the types and `column_metadata` are not among them, because they have an effect.

use FieldDefault::{Absent, Bool, Double, Int, Map, Text};

use crate::compat::span::{Span, only, since};
use crate::util::Release;
use crate::util::Release::{V0_7, V0_8, V1_0, V1_1, V1_2, V2_0, V2_1, V2_2, V3_0};

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// `bool`.
    Bool,
    /// `i32`.
    Int,
    /// `double`.
    Double,
    /// `string`.
    Text,
    /// `map<string,string>`.
    Map,
}

/// The value that a release shows for a field that is not set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldDefault {
    /// The field is not set.
    Absent,
    /// A boolean.
    Bool(bool),
    /// A number.
    Int(i32),
    /// A number with a fraction.
    Double(f64),
    /// A text.
    Text(&'static str),
    /// The pairs of a map.
    Map(&'static [(&'static str, &'static str)]),
}

/// One field of a CfDef.
#[derive(Debug)]
pub struct CfField {
    /// The field's number in the struct.
    pub id: i16,
    /// The field's name in the struct.
    pub name: &'static str,
    /// The field's type.
    pub kind: FieldKind,
    /// The releases whose CfDef has the field.
    pub releases: Span,
    /// The field's defaults, each with the first release that has it.
    defaults: &'static [(Release, FieldDefault)],
}

/// Returns a field, whose type is the type of its first default.
const fn field(
    id: i16,
    name: &'static str,
    releases: Span,
    defaults: &'static [(Release, FieldDefault)],
) -> CfField {
    let kind = match defaults[0].1 {
        Bool(_) => FieldKind::Bool,
        Int(_) => FieldKind::Int,
        // The only field that can be absent is a chance.
        Double(_) | Absent => FieldKind::Double,
        Text(_) => FieldKind::Text,
        Map(_) => FieldKind::Map,
    };
    CfField { id, name, kind, releases, defaults }
}

/// All fields without an effect, by number (`CFMetaData.toThrift` of each release).
pub const CF_FIELDS: &[CfField] = &[
    field(9, "row_cache_size", Span::between(V0_7, V1_0), &[(V0_7, Double(0.0))]),
    field(11, "key_cache_size", Span::between(V0_7, V1_0), &[(V0_7, Double(200_000.0))]),
    field(
        12,
        "read_repair_chance",
        since(V0_7),
        &[(V0_7, Double(1.0)), (V1_1, Double(0.1)), (V2_0, Double(0.0))],
    ),
    field(17, "min_compaction_threshold", since(V0_7), &[(V0_7, Int(4))]),
    field(18, "max_compaction_threshold", since(V0_7), &[(V0_7, Int(32))]),
    field(19, "row_cache_save_period_in_seconds", Span::between(V0_7, V1_0), &[(V0_7, Int(0))]),
    field(20, "key_cache_save_period_in_seconds", Span::between(V0_7, V1_0), &[(V0_7, Int(14_400))]),
    field(21, "memtable_flush_after_mins", Span::between(V0_7, V0_8), &[(V0_7, Int(1440))]),
    field(22, "memtable_throughput_in_mb", Span::between(V0_7, V0_8), &[(V0_7, Int(64))]),
    field(23, "memtable_operations_in_millions", Span::between(V0_7, V0_8), &[(V0_7, Double(0.3))]),
    field(24, "replicate_on_write", Span::between(V0_8, V2_0), &[(V0_8, Bool(true))]),
    field(25, "merge_shards_chance", Span::between(V0_8, V1_0), &[(V0_8, Double(0.1))]),
    field(
        27,
        "row_cache_provider",
        Span::between(V0_8, V1_0),
        &[
            (V0_8, Text("org.apache.cassandra.cache.ConcurrentLinkedHashCacheProvider")),
            (V1_0, Text("org.apache.cassandra.cache.SerializingCacheProvider")),
        ],
    ),
    field(
        29,
        "compaction_strategy",
        since(V1_0),
        &[(V1_0, Text("org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy"))],
    ),
    field(
        30,
        "compaction_strategy_options",
        since(V1_0),
        &[(V1_0, Map(&[])), (V3_0, Map(&[("max_threshold", "32"), ("min_threshold", "4")]))],
    ),
    field(31, "row_cache_keys_to_save", only(V1_0), &[(V1_0, Int(i32::MAX))]),
    field(
        32,
        "compression_options",
        since(V1_0),
        &[
            (V1_0, Map(&[])),
            (V1_1, Map(&[("sstable_compression", "org.apache.cassandra.io.compress.SnappyCompressor")])),
            (V2_0, Map(&[("sstable_compression", "org.apache.cassandra.io.compress.LZ4Compressor")])),
            (
                V3_0,
                Map(&[
                    ("chunk_length_kb", "64"),
                    ("sstable_compression", "org.apache.cassandra.io.compress.LZ4Compressor"),
                ]),
            ),
        ],
    ),
    field(33, "bloom_filter_fp_chance", since(V1_0), &[(V1_0, Absent), (V2_2, Double(0.01))]),
    field(34, "caching", since(V1_1), &[(V1_1, Text("KEYS_ONLY"))]),
    field(37, "dclocal_read_repair_chance", since(V1_1), &[(V1_1, Double(0.0)), (V2_0, Double(0.1))]),
    field(38, "populate_io_cache_on_flush", Span::between(V1_2, V2_0), &[(V1_2, Bool(false))]),
    field(39, "memtable_flush_period_in_ms", since(V2_0), &[(V2_0, Int(0))]),
    field(40, "default_time_to_live", since(V2_0), &[(V2_0, Int(0))]),
    field(41, "index_interval", only(V2_0), &[(V2_0, Int(128))]),
    field(42, "speculative_retry", since(V2_0), &[(V2_0, Text("NONE"))]),
    field(44, "cells_per_row_to_cache", since(V2_1), &[(V2_1, Text("100"))]),
    field(45, "min_index_interval", since(V2_1), &[(V2_1, Int(128))]),
    field(46, "max_index_interval", since(V2_1), &[(V2_1, Int(2048))]),
];

impl CfField {
    /// Returns the value that a release shows for the field if it is not set.
    pub fn default(&self, release: Release) -> FieldDefault {
        debug_assert!(self.defaults.is_sorted_by(|(one, _), (next, _)| one < next), "{}", self.name);
        let mut since = self.defaults.iter().rev();
        since.find(|(first, _)| *first <= release).map_or(Absent, |(_, default)| *default)
    }
}
