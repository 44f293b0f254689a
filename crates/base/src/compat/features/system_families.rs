//! The column families of the keyspace `system` that describe_keyspace shows, by release.
//!
//! From 1.2 on most of its tables are CQL tables, which Thrift clients do not see. The values come from running servers
//! of each line; `tests/data/system-keyspaces.json` has their replies.

use super::FieldDefault::{self, Double, Int, Map, Text};
use crate::compat::span::{Span, only, since};
use crate::util::Release::{V0_7, V0_8, V1_0, V1_1, V1_2, V2_0, V2_1, V2_2, V3_0};

/// A field of CfDef and its value.
pub(super) type SystemSetting = (&'static str, FieldDefault);

/// A column family of `system`. Classes are short or full names; settings are fields of CfDef that differ from the default.
#[derive(Debug, Clone, Copy)]
pub struct SystemFamily {
    /// Its name.
    pub name: &'static str,
    /// The releases that have it.
    pub releases: Span,
    /// The class of its column names, or of its super columns' names.
    pub comparator: &'static str,
    /// `None`: its columns hold values.
    pub subcomparator: Option<&'static str>,
    /// Its comment.
    pub comment: &'static str,
    /// gc_grace in seconds.
    pub gc_grace_s: i32,
    /// The id that 0.7 to 1.1 show.
    pub id: i32,
    /// The class of its row keys.
    pub key_validator: &'static str,
    /// The CQL name of its row keys.
    pub key_alias: Option<&'static str>,
    /// The class of its values.
    pub default_validator: &'static str,
    /// Names and validators of its columns.
    pub columns: &'static [(&'static str, &'static str)],
    /// Fields of CfDef that differ from the default, in groups.
    pub settings: &'static [&'static [SystemSetting]],
}

/// The order of a column family's names, and its comment.
struct FamilyDescription {
    comparator: &'static str,
    comment: &'static str,
}

const fn described(comparator: &'static str, comment: &'static str) -> FamilyDescription {
    FamilyDescription { comparator, comment }
}

/// A Standard column family of bytes.
const fn family(
    name: &'static str,
    id: i32,
    releases: Span,
    description: FamilyDescription,
    settings: &'static [&'static [SystemSetting]],
) -> SystemFamily {
    SystemFamily {
        name,
        releases,
        comparator: description.comparator,
        subcomparator: None,
        comment: description.comment,
        gc_grace_s: 0,
        id,
        key_validator: "BytesType",
        key_alias: None,
        default_validator: "BytesType",
        columns: &[],
        settings,
    }
}

/// A compact CQL table, whose row key has a type and a name.
const fn keyed(
    alias: &'static str,
    validator: &'static str,
    columns: &'static [(&'static str, &'static str)],
    family: SystemFamily,
) -> SystemFamily {
    SystemFamily { key_alias: Some(alias), key_validator: validator, columns, ..family }
}

const fn with_gc_grace(gc_grace_s: i32, family: SystemFamily) -> SystemFamily {
    SystemFamily { gc_grace_s, ..family }
}

/// A table whose rows have only names.
const fn without_values(family: SystemFamily) -> SystemFamily {
    SystemFamily { default_validator: "EmptyType", ..family }
}

/// A part of the schema of 1.1, whose rows are keyspaces.
const fn of_keyspaces_1_1(
    columns: &'static [(&'static str, &'static str)],
    family: SystemFamily,
) -> SystemFamily {
    keyed("keyspace", "AsciiType", columns, with_gc_grace(10_368_000, family))
}

const fn of_supers(family: SystemFamily) -> SystemFamily {
    SystemFamily { subcomparator: Some("BytesType"), ..family }
}

const TO_1_0: Span = Span::between(V0_7, V1_0);
const TO_2_1: Span = Span::between(V2_0, V2_1);
const TO_2_2: Span = Span::between(V2_0, V2_2);

const CACHES: &[SystemSetting] = &[
    ("key_cache_size", Double(0.01)),
    ("read_repair_chance", Double(0.0)),
    ("row_cache_save_period_in_seconds", Int(0)),
    ("key_cache_save_period_in_seconds", Int(0)),
    ("merge_shards_chance", Double(0.0)),
];
const MEMTABLE: &[SystemSetting] =
    &[("memtable_throughput_in_mb", Int(8)), ("memtable_operations_in_millions", Double(0.0375))];
const HINTS_MEMTABLE: &[SystemSetting] =
    &[("memtable_throughput_in_mb", Int(32)), ("memtable_operations_in_millions", Double(0.15))];
const NO_READ_REPAIR: &[SystemSetting] =
    &[("read_repair_chance", Double(0.0)), ("dclocal_read_repair_chance", Double(0.0))];
const BLOOM_FILTER: &[SystemSetting] = &[("bloom_filter_fp_chance", Double(0.01))];
const NEW_IN_2_0: &[SystemSetting] =
    &[("memtable_flush_period_in_ms", Int(3_600_000)), ("speculative_retry", Text("99.0PERCENTILE"))];

const NEW_IN_3_0: &[SystemSetting] =
    &[("memtable_flush_period_in_ms", Int(3_600_000)), ("speculative_retry", Text("99PERCENTILE"))];

/// The settings of 0.7 to 1.0 (`CFMetaData.newSystemMetadata`).
const OLD: &[&[SystemSetting]] = &[CACHES, MEMTABLE];
/// The settings of hints in 0.7 to 1.0. The memtable of hints depends on the machine.
const OLD_HINTS: &[&[SystemSetting]] = &[CACHES, HINTS_MEMTABLE];
/// The settings of 1.1, and in later releases of column families that are not CQL tables.
const PLAIN: &[&[SystemSetting]] = &[NO_READ_REPAIR, &[("compression_options", Map(&[]))]];
/// The settings of CQL tables in 1.2.
const TABLE_1_2: &[&[SystemSetting]] = &[NO_READ_REPAIR, BLOOM_FILTER];
/// The settings of CQL tables in 2.0 to 2.2.
const TABLE_2_0: &[&[SystemSetting]] = &[NO_READ_REPAIR, BLOOM_FILTER, NEW_IN_2_0];
/// The settings of CQL tables in 3.0 and later.
const TABLE_3_0: &[&[SystemSetting]] = &[NO_READ_REPAIR, BLOOM_FILTER, NEW_IN_3_0];
const HINTS_1_2: &[&[SystemSetting]] = &[
    NO_READ_REPAIR,
    BLOOM_FILTER,
    &[
        ("min_compaction_threshold", Int(0)),
        ("max_compaction_threshold", Int(0)),
        ("compaction_strategy_options", Map(&[("min_threshold", "0"), ("max_threshold", "0")])),
    ],
];
const HINTS_2_0: &[&[SystemSetting]] = &[
    NO_READ_REPAIR,
    BLOOM_FILTER,
    NEW_IN_2_0,
    &[("compaction_strategy_options", Map(&[("enabled", "false")]))],
];

const HINTS_3_0: &[&[SystemSetting]] = &[
    NO_READ_REPAIR,
    BLOOM_FILTER,
    NEW_IN_3_0,
    &[(
        "compaction_strategy_options",
        Map(&[("enabled", "false"), ("max_threshold", "32"), ("min_threshold", "4")]),
    )],
];

const STATUS: FamilyDescription = described("BytesType", "persistent metadata for the local node");
const HINTS: FamilyDescription = described("BytesType", "hinted handoff data");
const MIGRATIONS: FamilyDescription = described("TimeUUIDType", "individual schema mutations");
const SCHEMA: FamilyDescription = described("UTF8Type", "current state of the schema");
const INDEXES: FamilyDescription = described("UTF8Type", "indexes that have been completed");
const INDEXES_2_2: FamilyDescription = described("UTF8Type", "built column indexes");
const NODE_IDS: FamilyDescription = described("TimeUUIDType", "nodeId and their metadata");
const COUNTER_IDS: FamilyDescription = described("TimeUUIDType", "counter node IDs");
const VERSIONS: FamilyDescription = described("UTF8Type", "server version information");
const HINTS_TABLE: FamilyDescription =
    described("CompositeType(TimeUUIDType,Int32Type)", "hints awaiting delivery");
const HINTS_TABLE_3_0: FamilyDescription =
    described("CompositeType(TimeUUIDType,Int32Type)", "*DEPRECATED* hints awaiting delivery");
const SCHEMA_KEYSPACES: FamilyDescription = described("UTF8Type", "keyspace definitions");
const KEYSPACES_1_1: FamilyDescription = described("AsciiType", "Keyspace definitions");
const FAMILIES_1_1: FamilyDescription =
    described("CompositeType(AsciiType,AsciiType)", "ColumnFamily definitions");
const COLUMNS_1_1: FamilyDescription =
    described("CompositeType(AsciiType,AsciiType,AsciiType)", "ColumnFamily column attributes");

const VERSION: &[(&str, &str)] = &[("version", "UTF8Type")];
const KEYSPACE_1_1: &[(&str, &str)] = &[
    ("durable_writes", "BooleanType"),
    ("name", "UTF8Type"),
    ("strategy_class", "AsciiType"),
    ("strategy_options", "AsciiType"),
];
const KEYSPACE: &[(&str, &str)] =
    &[("durable_writes", "BooleanType"), ("strategy_class", "UTF8Type"), ("strategy_options", "UTF8Type")];

/// All column families of `system`. Each release has at most one of each name.
pub static SYSTEM_COLUMN_FAMILIES: &[SystemFamily] = &[
    family("LocationInfo", 0, TO_1_0, STATUS, OLD),
    family("LocationInfo", 0, only(V1_1), STATUS, PLAIN),
    family("LocationInfo", 0, only(V1_2), described("BytesType", "unused"), PLAIN),
    of_supers(family("HintsColumnFamily", 1, TO_1_0, HINTS, OLD_HINTS)),
    of_supers(family("HintsColumnFamily", 1, only(V1_1), HINTS, PLAIN)),
    of_supers(family("HintsColumnFamily", 1, only(V1_2), described("BytesType", "unused"), PLAIN)),
    family("Migrations", 2, TO_1_0, MIGRATIONS, OLD),
    family("Migrations", 2, only(V1_1), MIGRATIONS, PLAIN),
    family("Migrations", 2, only(V1_2), described("TimeUUIDType", "unused"), PLAIN),
    family("Schema", 3, TO_1_0, SCHEMA, OLD),
    family("Schema", 3, only(V1_1), SCHEMA, PLAIN),
    family("Schema", 3, only(V1_2), described("UTF8Type", "unused"), PLAIN),
    family("IndexInfo", 5, TO_1_0, INDEXES, OLD),
    family("IndexInfo", 5, only(V1_1), INDEXES, PLAIN),
    keyed("table_name", "UTF8Type", &[], family("IndexInfo", 5, only(V1_2), INDEXES, TABLE_1_2)),
    keyed("table_name", "UTF8Type", &[], family("IndexInfo", 5, TO_2_1, INDEXES, TABLE_2_0)),
    keyed("table_name", "UTF8Type", &[], family("IndexInfo", 5, only(V2_2), INDEXES_2_2, TABLE_2_0)),
    without_values(keyed(
        "table_name",
        "UTF8Type",
        &[],
        family("IndexInfo", 5, since(V3_0), INDEXES_2_2, TABLE_3_0),
    )),
    family("NodeIdInfo", 6, Span::between(V0_8, V1_0), NODE_IDS, OLD),
    family("NodeIdInfo", 6, only(V1_1), NODE_IDS, PLAIN),
    keyed("key", "UTF8Type", &[], family("NodeIdInfo", 6, only(V1_2), COUNTER_IDS, TABLE_1_2)),
    keyed("key", "UTF8Type", &[], family("NodeIdInfo", 6, only(V2_0), COUNTER_IDS, TABLE_2_0)),
    keyed("component", "UTF8Type", VERSION, family("Versions", 7, only(V1_0), VERSIONS, OLD)),
    keyed("component", "UTF8Type", VERSION, family("Versions", 7, only(V1_1), VERSIONS, PLAIN)),
    of_keyspaces_1_1(KEYSPACE_1_1, family("schema_keyspaces", 8, only(V1_1), KEYSPACES_1_1, PLAIN)),
    keyed(
        "keyspace_name",
        "UTF8Type",
        KEYSPACE,
        with_gc_grace(8640, family("schema_keyspaces", 8, only(V1_2), SCHEMA_KEYSPACES, TABLE_1_2)),
    ),
    keyed(
        "keyspace_name",
        "UTF8Type",
        KEYSPACE,
        with_gc_grace(604_800, family("schema_keyspaces", 8, TO_2_2, SCHEMA_KEYSPACES, TABLE_2_0)),
    ),
    of_keyspaces_1_1(&[], family("schema_columnfamilies", 9, only(V1_1), FAMILIES_1_1, PLAIN)),
    of_keyspaces_1_1(&[], family("schema_columns", 10, only(V1_1), COLUMNS_1_1, PLAIN)),
    keyed("target_id", "UUIDType", &[], family("hints", 0, only(V1_2), HINTS_TABLE, HINTS_1_2)),
    keyed("target_id", "UUIDType", &[], family("hints", 0, TO_2_2, HINTS_TABLE, HINTS_2_0)),
    keyed("target_id", "UUIDType", &[], family("hints", 0, since(V3_0), HINTS_TABLE_3_0, HINTS_3_0)),
];
