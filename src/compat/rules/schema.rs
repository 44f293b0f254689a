//! Rules of definitions: what releases check when the schema changes, and what they show of it.

use super::rules;
use crate::compat::span::{Eras, before, only, since};
use crate::util::Release::{V0_3, V0_4, V0_6, V0_8, V1_0, V1_1, V1_2, V2_0, V2_1};

/// Which column name describe_keyspace gives for the row key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyAlias {
    /// The name if the definition has none.
    pub default: Option<&'static [u8]>,
    /// Only a key of one column whose type is defined has a name.
    pub needs_plain_key: bool,
}

rules! {
    /// Rules of schema changes and of the calls that describe the schema.
    pub struct SchemaRules {
        /// The replication factor is the cluster's, not each keyspace's (0.4, 0.5): a keyspace that has another is
        /// none that these releases could have had, and is not listed.
        replication_is_global: bool = before(V0_6);
        /// The replication factor is an option of the strategy (0.8 and later), besides its own field.
        replication_is_an_option: bool = since(V0_8);
        /// A strategy's options are checked (1.1 and later, `AbstractReplicationStrategy.validateOptions`). CQL checks
        /// them by its own rules.
        strategy_options_are_checked: bool = since(V1_1);
        /// drop_keyspace refuses the system keyspace in any case of letters (1.2 and later).
        drop_refuses_system: bool = since(V1_2);
        /// update_column_family first checks the permission to change the column family, and so whether it exists
        /// (2.1).
        update_finds_family_first: bool = since(V2_1);
        /// truncate of an unknown column family fails with UnavailableException: 0.7 looks for nodes that hold it,
        /// and finds none.
        truncate_needs_nodes: bool = before(V0_8);
        /// The keyspace of traces is shown to Thrift clients (1.2 and later), without its tables.
        shows_traces: bool = since(V1_2);
        /// Names of indexes must be unique only within their column family (0.7, `ThriftValidation.validateCfDef`).
        index_names_are_of_one_family: bool = before(V0_8);
        /// An index without a name gets one (0.8 and later, `CFMetaData.addDefaultIndexNames`).
        indexes_get_names: bool = since(V0_8);
        /// A custom index has to name its class (1.1 and later, `CFMetaData.validate`).
        custom_index_needs_class: bool = since(V1_1);
        /// The subcomparator of a Standard column family is read and refused (to 1.2).
        subcomparator_is_read: bool = before(V2_0);
        /// A comparator may become one that sorts names as before and takes more of them (1.1 and later,
        /// `AbstractType.isCompatibleWith`).
        comparators_may_widen: bool = since(V1_1);
        /// Settings that belong to no memtable but to tables: compression, compaction and bloom filters are checked
        /// (1.0 and later); before, the memtable's settings are.
        table_settings_are_checked: bool = since(V1_0);
        /// The options of a compaction strategy are checked (1.2 and later, `validateOptions`).
        compaction_options_are_checked: bool = since(V1_2);
        /// speculative_retry is read, and shown as Java writes numbers (2.0 and later).
        speculative_retry_is_read: bool = since(V2_0);
        /// min_index_interval and max_index_interval take the place of index_interval (2.1), which older clients set.
        index_interval_has_bounds: bool = since(V2_1);
        /// describe_keyspace shows CQL tables without a clustering column (1.2), because it does not distinguish them
        /// from compact ones. It does not show tables with a regular column.
        lists_tables_without_clustering: bool = before(V2_0);
        /// describe_keyspace has FlushPeriodInMinutes, and draws the nesting of columns in "Desc" (0.4).
        describes_nesting: bool = only(V0_4);
        /// A KsDef has durable_writes (0.8 and later).
        shows_durable_writes: bool = since(V0_8);
        /// A CfDef has its id (to 1.1).
        shows_family_id: bool = before(V1_2);
        /// A CfDef has the type and the name of the row key (0.8 and later).
        shows_key: bool = since(V0_8);
        /// A CfDef has triggers (2.0 and later). There are none.
        shows_triggers: bool = since(V2_0);
        /// A ColumnDef has the options of its index (1.0 and later).
        shows_index_options: bool = since(V1_0);
        /// The name of the row key (`CFMetaData.toThrift`): 0.8 and 1.0 always show one, 1.1 and 1.2 only one that was
        /// set, 2.0 and later always again, unless the key is several columns.
        key_alias: KeyAlias = Eras([
            (V0_3, KeyAlias { default: Some(b"KEY"), needs_plain_key: false }),
            (V1_1, KeyAlias { default: None, needs_plain_key: false }),
            (V2_0, KeyAlias { default: Some(b"key"), needs_plain_key: true }),
        ]);
    }
}
