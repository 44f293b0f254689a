//! Rules of definitions: the checks of schema changes, and the definitions that clients see.

use super::rules;
use crate::compat::span::{Eras, Span, before, only, since};
use crate::util::Release::{V0_3, V0_4, V0_6, V0_7, V0_8, V1_0, V1_1, V1_2, V2_0, V2_1, V2_2, V3_0};

/// The orders of a column family's columns in the result of describe_keyspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnOrder {
    /// The comparator's order.
    ByName,
    /// The order of a `HashMap` that was made for this number of columns.
    InCopiedMap,
    /// The order of a `HashMap` that grew.
    InGrownMap,
}

/// The `key_alias` in the result of describe_keyspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyAlias {
    /// The value if the definition has no name for the row key.
    pub default: Option<&'static [u8]>,
    /// Whether it is shown only for a key of one column whose type is defined.
    pub needs_plain_key: bool,
}

/// A keyspace of the server besides `system`, whose tables Thrift clients do not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnKeyspace {
    /// Its name.
    pub name: &'static str,
    /// The factor of SimpleStrategy; `None` for LocalStrategy, whose data no other node has.
    pub replication_factor: Option<&'static str>,
}

const TRACES: OwnKeyspace = OwnKeyspace { name: "system_traces", replication_factor: Some("2") };
const AUTH: OwnKeyspace = OwnKeyspace { name: "system_auth", replication_factor: Some("1") };
const DISTRIBUTED: OwnKeyspace = OwnKeyspace { name: "system_distributed", replication_factor: Some("3") };
const SCHEMA: OwnKeyspace = OwnKeyspace { name: "system_schema", replication_factor: None };

rules! {
    /// Rules of schema changes and of the calls that describe the schema.
    pub struct SchemaRules {
        /// The replication factor is a setting of the cluster, not of each keyspace (0.4, 0.5). A keyspace with another
        /// factor could not exist in these releases and is not listed.
        replication_is_global: bool = before(V0_6);
        /// The replication factor is an option of the strategy besides the field of the KsDef (0.8 and later).
        replication_is_an_option: bool = since(V0_8);
        /// A strategy's options are checked (1.1 and later, `AbstractReplicationStrategy.validateOptions`). CQL checks
        /// them by its own rules.
        strategy_options_are_checked: bool = since(V1_1);
        /// Options that a strategy does not have are refused (2.0 and later). 1.1 and 1.2 log a warning.
        strategy_options_must_be_known: bool = since(V2_0);
        /// The columns of a definition and the key's type are read before its other settings (2.1).
        columns_are_read_before_settings: bool = since(V2_1);
        /// drop_keyspace refuses to drop the system keyspace, whose name is compared without case (1.2 and later).
        drop_refuses_system: bool = since(V1_2);
        /// update_column_family first checks the permission to change the column family, and therefore whether it
        /// exists and its name is not empty (2.0 and later).
        update_finds_family_first: bool = since(V2_0);
        /// A Thrift call or CQL 2 cannot create a keyspace whose name differs from another one only in upper and lower
        /// case (0.8 and later). CQL 3 can.
        keyspaces_differ_in_more_than_case: bool = since(V0_8);
        /// drop_column_family does the same (1.2 and later).
        drop_finds_family_first: bool = since(V1_2);
        /// truncate of an unknown column family fails with UnavailableException, because 0.7 finds no node that stores
        /// it (0.7).
        truncate_needs_nodes: bool = before(V0_8);
        /// The order of the columns in a CfDef.
        column_order: ColumnOrder =
            Eras([(V0_7, ColumnOrder::InCopiedMap), (V0_8, ColumnOrder::ByName), (V1_1, ColumnOrder::InGrownMap)]);
        /// The version of the schema is a UUID of a time (to 1.0); later, it is a hash of the schema.
        versions_are_times: bool = before(V1_1);
        /// The keyspace `system` has a replication factor among its options (0.8 and 1.0).
        system_has_factor: bool = Span::between(V0_8, V1_0);
        /// The keyspaces that describe_keyspaces lists without their tables.
        own_keyspaces: &'static [OwnKeyspace] = Eras([
            (V0_3, &[] as &[OwnKeyspace]),
            (V1_2, &[TRACES]),
            (V2_2, &[TRACES, AUTH, DISTRIBUTED]),
            (V3_0, &[TRACES, AUTH, DISTRIBUTED, SCHEMA]),
        ]);
        /// Index names must be unique only within their column family (0.7, `ThriftValidation.validateCfDef`).
        index_names_are_of_one_family: bool = before(V0_8);
        /// An index without a name gets a default name (0.8 and later, `CFMetaData.addDefaultIndexNames`).
        indexes_get_names: bool = since(V0_8);
        /// A custom index must specify its class (1.1 and later, `CFMetaData.validate`).
        custom_index_needs_class: bool = since(V1_1);
        /// The subcomparator of a Standard column family is refused (to 1.2); later it is ignored.
        subcomparator_is_read: bool = before(V2_0);
        /// A comparator may be changed to one with the same order that accepts more names (1.1 and later,
        /// `AbstractType.isCompatibleWith`).
        comparators_may_widen: bool = since(V1_1);
        /// Settings of SSTables are checked: compression, compaction and bloom filters (1.0 and later). Before,
        /// settings of memtables are.
        table_settings_are_checked: bool = since(V1_0);
        /// bloom_filter_fp_chance may not be 0 (1.2 and later). 1.1 takes 0 for its default.
        bloom_chance_is_above_zero: bool = since(V1_2);
        /// The options of a compaction strategy are checked (1.2 and later, `validateOptions`).
        compaction_options_are_checked: bool = since(V1_2);
        /// speculative_retry is parsed, and formatted as Java formats numbers (2.0 and later).
        speculative_retry_is_read: bool = since(V2_0);
        /// min_index_interval and max_index_interval replace index_interval, which older clients set (2.1).
        index_interval_has_bounds: bool = since(V2_1);
        /// The schema stores types of CQL (3.0 and later). So DateType in a definition becomes TimestampType, in which dates
        /// before 1970 sort first, and a subcomparator becomes the key of a map, which is never reversed. Both stay as they
        /// are in a composite.
        types_are_of_cql: bool = since(V3_0);
        /// The type of a column family may have upper and lower case, such as `super` (3.0 and later).
        family_types_ignore_case: bool = since(V3_0);
        /// An update keeps the type of values without a definition, whatever it asks for (3.0 and later,
        /// `ThriftConversion.fromThriftForUpdate`).
        default_validator_stays: bool = since(V3_0);
        /// Settings are checked as the parameters of a CQL table, which have messages and limits of their own (3.0 and later,
        /// `TableParams`, `CompressionParams`, `CompactionParams`).
        settings_are_table_params: bool = since(V3_0);
        /// A Super column family has the columns of its CQL table: the map of a super column's columns, and `value` (3.0 and
        /// later).
        supers_show_columns: bool = since(V3_0);
        /// describe_keyspace shows CQL tables without a clustering column (1.2), because it does not distinguish them
        /// from compact ones. It does not show tables with a regular column.
        lists_tables_without_clustering: bool = before(V2_0);
        /// The result of describe_keyspace has FlushPeriodInMinutes, and its "Desc" shows how columns are nested (0.4).
        describes_nesting: bool = only(V0_4);
        /// A KsDef has durable_writes (0.8 and later).
        shows_durable_writes: bool = since(V0_8);
        /// A CfDef has the id of the column family (to 1.1).
        shows_family_id: bool = before(V1_2);
        /// A CfDef has the type and the name of the row key (0.8 and later).
        shows_key: bool = since(V0_8);
        /// A CfDef has a list of triggers, which is always empty (2.0 and later).
        shows_triggers: bool = since(V2_0);
        /// A ColumnDef has the options of its index (1.0 and later).
        shows_index_options: bool = since(V1_0);
        /// The name of the row key (`CFMetaData.toThrift`). 0.8 and 1.0 always show one, 1.1 and 1.2 only one that was
        /// set. 2.0 and later always show one again, unless the key has several columns.
        key_alias: KeyAlias = Eras([
            (V0_3, KeyAlias { default: Some(b"KEY"), needs_plain_key: false }),
            (V1_1, KeyAlias { default: None, needs_plain_key: false }),
            (V2_0, KeyAlias { default: Some(b"key"), needs_plain_key: true }),
        ]);
    }
}
