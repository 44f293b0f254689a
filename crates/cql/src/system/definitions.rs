//! The system keyspaces and tables, as CREATE TABLE statements.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::names::{AUTH, KEYSPACES, TRACES, is_system};
use crate::define::column_family;
use crate::values::TypeScope;
use base::compat::features::ReportedVersion;
use base::compat::{Line, Span};
use base::marshal::Types;
use base::schema::{CfDef, KeyspaceDef};
use base::util::SharedMap;
use cql_syntax::{Statement, parse};

/// The first line whose system tables are tables of CQL 3.
const FIRST: Line = Line(1, 2);

/// The lines in which they are column families that CQL 3 does not know, of which the tables here have the cells.
const TO_1_1: Span = Span::lines(Line(1, 1), FIRST);

struct Definition {
    /// The reported versions with which clients can query it: mostly all, since clients only query tables that they
    /// know.
    served: Span,
    /// The releases whose schema tables list it.
    listed: Span,
    text: &'static str,
}

const fn table(listed: Span, text: &'static str) -> Definition {
    Definition { served: Span::ALWAYS, listed, text }
}

/// A table that does not exist with other reported versions.
const fn only(lines: Span, text: &'static str) -> Definition {
    Definition { served: lines, listed: lines, text }
}

/// A table that the schema tables never list.
const fn unlisted(text: &'static str) -> Definition {
    Definition { served: Span::ALWAYS, listed: Span::NEVER, text }
}

const TABLES: &[Definition] = &[
    only(
        Span::lines(FIRST, Line(2, 0)),
        "CREATE TABLE system.local (key text PRIMARY KEY, bootstrapped text, cluster_name text, cql_version text, \
         data_center text, gossip_generation int, host_id uuid, partitioner text, rack text, release_version text, \
         schema_version uuid, thrift_version text, tokens set<text>, truncated_at map<uuid, blob>) \
         WITH comment = 'information about the local node'",
    ),
    only(
        Span::lines(Line(2, 0), Line(4, 0)),
        "CREATE TABLE system.local (key text PRIMARY KEY, bootstrapped text, broadcast_address inet, cluster_name text, \
         cql_version text, data_center text, gossip_generation int, host_id uuid, listen_address inet, \
         native_protocol_version text, partitioner text, rack text, release_version text, rpc_address inet, \
         schema_version uuid, thrift_version text, tokens set<text>, truncated_at map<uuid, blob>) \
         WITH comment = 'information about the local node'",
    ),
    only(
        Span::since_line(Line(4, 0)),
        "CREATE TABLE system.local (key text PRIMARY KEY, bootstrapped text, broadcast_address inet, broadcast_port int, \
         cluster_name text, cql_version text, data_center text, gossip_generation int, host_id uuid, listen_address inet, \
         listen_port int, native_protocol_version text, partitioner text, rack text, release_version text, \
         rpc_address inet, rpc_port int, schema_version uuid, tokens set<text>, truncated_at map<uuid, blob>) \
         WITH comment = 'information about the local node'",
    ),
    only(
        Span::lines(FIRST, Line(2, 0)),
        "CREATE TABLE system.peers (peer inet PRIMARY KEY, data_center text, host_id uuid, rack text, \
         release_version text, rpc_address inet, schema_version uuid, tokens set<text>) \
         WITH comment = 'known peers in the cluster'",
    ),
    only(
        Span::since_line(Line(2, 0)),
        "CREATE TABLE system.peers (peer inet PRIMARY KEY, data_center text, host_id uuid, preferred_ip inet, rack text, \
         release_version text, rpc_address inet, schema_version uuid, tokens set<text>) \
         WITH comment = 'information about known peers in the cluster'",
    ),
    only(
        TO_1_1,
        "CREATE TABLE system.schema_keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean, name text, \
         strategy_class text, strategy_options text) WITH COMPACT STORAGE",
    ),
    only(
        TO_1_1,
        "CREATE TABLE system.schema_columnfamilies (keyspace_name text, columnfamily_name text, caching text, \
         column_aliases text, comment text, compaction_strategy_class text, compaction_strategy_options text, \
         comparator text, compression_parameters text, default_validator text, gc_grace_seconds int, id int, \
         key_alias text, key_validator text, local_read_repair_chance double, max_compaction_threshold int, \
         min_compaction_threshold int, read_repair_chance double, replicate_on_write boolean, subcomparator text, \
         type text, value_alias text, PRIMARY KEY (keyspace_name, columnfamily_name))",
    ),
    only(
        TO_1_1,
        "CREATE TABLE system.schema_columns (keyspace_name text, columnfamily_name text, column_name text, \
         index_name text, index_options text, index_type text, validator text, \
         PRIMARY KEY (keyspace_name, columnfamily_name, column_name))",
    ),
    table(
        Span::lines(FIRST, Line(3, 0)),
        "CREATE TABLE system.schema_keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean, \
         strategy_class text, strategy_options text) \
         WITH COMPACT STORAGE AND comment = 'keyspace definitions'",
    ),
    only(
        Span::lines(FIRST, Line(2, 0)),
        "CREATE TABLE system.schema_columnfamilies (keyspace_name text, columnfamily_name text, \
         bloom_filter_fp_chance double, caching text, column_aliases text, comment text, \
         compaction_strategy_class text, compaction_strategy_options text, comparator text, compression_parameters text, \
         default_validator text, gc_grace_seconds int, id int, key_alias text, key_aliases text, key_validator text, \
         local_read_repair_chance double, max_compaction_threshold int, min_compaction_threshold int, \
         populate_io_cache_on_flush boolean, read_repair_chance double, replicate_on_write boolean, subcomparator text, \
         type text, value_alias text, PRIMARY KEY (keyspace_name, columnfamily_name)) \
         WITH comment = 'ColumnFamily definitions'",
    ),
    only(
        Span::lines(Line(2, 0), Line(2, 1)),
        "CREATE TABLE system.schema_columnfamilies (keyspace_name text, columnfamily_name text, \
         bloom_filter_fp_chance double, caching text, column_aliases text, comment text, \
         compaction_strategy_class text, compaction_strategy_options text, comparator text, compression_parameters text, \
         default_time_to_live int, default_validator text, dropped_columns map<text, bigint>, gc_grace_seconds int, \
         index_interval int, is_dense boolean, key_aliases text, key_validator text, local_read_repair_chance double, \
         max_compaction_threshold int, memtable_flush_period_in_ms int, min_compaction_threshold int, \
         populate_io_cache_on_flush boolean, read_repair_chance double, replicate_on_write boolean, \
         speculative_retry text, subcomparator text, type text, value_alias text, \
         PRIMARY KEY (keyspace_name, columnfamily_name)) WITH comment = 'ColumnFamily definitions'",
    ),
    only(
        Span::lines(Line(2, 2), Line(3, 0)),
        "CREATE TABLE system.schema_columnfamilies (keyspace_name text, columnfamily_name text, \
         bloom_filter_fp_chance double, caching text, cf_id uuid, comment text, compaction_strategy_class text, \
         compaction_strategy_options text, comparator text, compression_parameters text, default_time_to_live int, \
         default_validator text, dropped_columns map<text, bigint>, gc_grace_seconds int, is_dense boolean, \
         key_validator text, local_read_repair_chance double, max_compaction_threshold int, max_index_interval int, \
         memtable_flush_period_in_ms int, min_compaction_threshold int, min_index_interval int, read_repair_chance double, \
         speculative_retry text, subcomparator text, type text, PRIMARY KEY (keyspace_name, columnfamily_name)) \
         WITH comment = 'table definitions'",
    ),
    Definition {
        served: Span::since_line(Line(2, 1)),
        listed: Span::lines(Line(2, 1), Line(2, 2)),
        text: "CREATE TABLE system.schema_columnfamilies (keyspace_name text, columnfamily_name text, \
         bloom_filter_fp_chance double, caching text, cf_id uuid, column_aliases text, comment text, \
         compaction_strategy_class text, compaction_strategy_options text, comparator text, compression_parameters text, \
         default_time_to_live int, default_validator text, dropped_columns map<text, bigint>, gc_grace_seconds int, \
         index_interval int, is_dense boolean, key_aliases text, key_validator text, local_read_repair_chance double, \
         max_compaction_threshold int, max_index_interval int, memtable_flush_period_in_ms int, \
         min_compaction_threshold int, min_index_interval int, read_repair_chance double, speculative_retry text, \
         subcomparator text, type text, value_alias text, PRIMARY KEY (keyspace_name, columnfamily_name)) \
         WITH comment = 'table definitions'",
    },
    only(
        Span::lines(FIRST, Line(2, 0)),
        "CREATE TABLE system.schema_columns (keyspace_name text, columnfamily_name text, column_name text, \
         component_index int, index_name text, index_options text, index_type text, validator text, \
         PRIMARY KEY (keyspace_name, columnfamily_name, column_name)) WITH comment = 'ColumnFamily column attributes'",
    ),
    Definition {
        served: Span::since_line(Line(2, 0)),
        listed: Span::lines(Line(2, 0), Line(3, 0)),
        text: "CREATE TABLE system.schema_columns (keyspace_name text, columnfamily_name text, column_name text, \
         component_index int, index_name text, index_options text, index_type text, type text, validator text, \
         PRIMARY KEY (keyspace_name, columnfamily_name, column_name)) WITH comment = 'column definitions'",
    },
    Definition {
        served: Span::since_line(Line(2, 1)),
        listed: Span::lines(Line(2, 1), Line(3, 0)),
        text: "CREATE TABLE system.schema_usertypes (keyspace_name text, type_name text, field_names list<text>, \
         field_types list<text>, PRIMARY KEY (keyspace_name, type_name)) \
         WITH comment = 'user defined type definitions'",
    },
    Definition {
        served: Span::since_line(Line(2, 0)),
        listed: Span::lines(Line(2, 0), Line(3, 0)),
        text: "CREATE TABLE system.schema_triggers (keyspace_name text, columnfamily_name text, trigger_name text, \
         trigger_options map<text, text>, PRIMARY KEY (keyspace_name, columnfamily_name, trigger_name)) \
         WITH comment = 'trigger definitions'",
    },
    only(
        Span::lines(FIRST, Line(2, 1)),
        "CREATE TABLE system.\"NodeIdInfo\" (key text, id timeuuid, PRIMARY KEY (key, id)) \
         WITH COMPACT STORAGE AND comment = 'counter node IDs'",
    ),
    only(
        Span::lines(FIRST, Line(2, 0)),
        "CREATE TABLE system.batchlog (id uuid PRIMARY KEY, data blob, written_at timestamp) \
         WITH comment = 'uncommited batches'",
    ),
    only(
        Span::lines(Line(2, 0), Line(4, 0)),
        "CREATE TABLE system.batchlog (id uuid PRIMARY KEY, data blob, version int, written_at timestamp) \
         WITH comment = 'uncommited batches'",
    ),
    only(
        Span::lines(FIRST, Line(4, 0)),
        "CREATE TABLE system.hints (target_id uuid, hint_id timeuuid, message_version int, mutation blob, \
         PRIMARY KEY (target_id, hint_id, message_version)) \
         WITH COMPACT STORAGE AND comment = 'hints awaiting delivery'",
    ),
    only(
        Span::lines(FIRST, Line(4, 0)),
        "CREATE TABLE system.peer_events (peer inet PRIMARY KEY, hints_dropped map<uuid, int>) \
         WITH comment = 'cf contains events related to peers'",
    ),
    only(
        Span::lines(FIRST, Line(4, 0)),
        "CREATE TABLE system.range_xfers (token_bytes blob PRIMARY KEY, requested_at timestamp) \
         WITH comment = 'ranges requested for transfer here'",
    ),
    only(
        Span::lines(Line(2, 0), Line(4, 0)),
        "CREATE TABLE system.paxos (row_key blob, cf_id uuid, in_progress_ballot timeuuid, most_recent_commit blob, \
         most_recent_commit_at timeuuid, proposal blob, proposal_ballot timeuuid, PRIMARY KEY (row_key, cf_id)) \
         WITH comment = 'in-progress paxos proposals'",
    ),
    only(
        Span::lines(Line(2, 0), Line(4, 0)),
        "CREATE TABLE system.compaction_history (id uuid PRIMARY KEY, bytes_in bigint, bytes_out bigint, \
         columnfamily_name text, compacted_at timestamp, keyspace_name text, rows_merged map<int, bigint>) \
         WITH comment = 'show all compaction history'",
    ),
    only(
        Span::lines(Line(2, 0), Line(3, 0)),
        "CREATE TABLE system.compactions_in_progress (id uuid PRIMARY KEY, columnfamily_name text, inputs set<int>, \
         keyspace_name text) WITH comment = 'unfinished compactions'",
    ),
    only(
        Span::lines(Line(2, 0), Line(4, 0)),
        "CREATE TABLE system.sstable_activity (keyspace_name text, columnfamily_name text, generation int, \
         rate_120m double, rate_15m double, PRIMARY KEY ((keyspace_name, columnfamily_name, generation))) \
         WITH comment = 'historic sstable read rates'",
    ),
    only(
        Span::lines(Line(2, 1), Line(4, 0)),
        "CREATE TABLE system.size_estimates (keyspace_name text, table_name text, range_start text, range_end text, \
         mean_partition_size bigint, partitions_count bigint, \
         PRIMARY KEY (keyspace_name, table_name, range_start, range_end)) \
         WITH comment = 'per-table primary range size estimates'",
    ),
    only(
        Span::lines(Line(0, 7), Line(4, 0)),
        "CREATE TABLE system.\"IndexInfo\" (table_name text, index_name text, PRIMARY KEY (table_name, index_name)) \
         WITH COMPACT STORAGE AND comment = 'indexes that have been completed'",
    ),
    only(
        Span::since_line(Line(4, 0)),
        "CREATE TABLE system.\"IndexInfo\" (table_name text, index_name text, value blob, \
         PRIMARY KEY (table_name, index_name)) WITH comment = 'built column indexes'",
    ),
    only(
        Span::lines(Line(2, 2), Line(3, 0)),
        "CREATE TABLE system.schema_functions (keyspace_name text, function_name text, \
         signature frozen<list<text>>, argument_names list<text>, argument_types list<text>, body text, \
         called_on_null_input boolean, language text, return_type text, \
         PRIMARY KEY (keyspace_name, function_name, signature)) WITH comment = 'user defined function definitions'",
    ),
    only(
        Span::lines(Line(2, 2), Line(3, 0)),
        "CREATE TABLE system.schema_aggregates (keyspace_name text, aggregate_name text, \
         signature frozen<list<text>>, argument_types list<text>, final_func text, initcond blob, return_type text, \
         state_func text, state_type text, PRIMARY KEY (keyspace_name, aggregate_name, signature)) \
         WITH comment = 'user defined aggregate definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean, \
         replication frozen<map<text, text>>) WITH comment = 'keyspace definitions'",
    ),
    Definition {
        served: Span::lines(FIRST, Line(4, 0)),
        listed: Span::lines(Line(3, 0), Line(4, 0)),
        text: "CREATE TABLE system_schema.tables (keyspace_name text, table_name text, bloom_filter_fp_chance double, \
         caching frozen<map<text, text>>, cdc boolean, comment text, compaction frozen<map<text, text>>, \
         compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance double, \
         default_time_to_live int, extensions frozen<map<text, blob>>, flags frozen<set<text>>, gc_grace_seconds int, \
         id uuid, max_index_interval int, memtable_flush_period_in_ms int, min_index_interval int, \
         read_repair_chance double, speculative_retry text, PRIMARY KEY (keyspace_name, table_name)) \
         WITH comment = 'table definitions'",
    },
    only(
        Span::since_line(Line(4, 0)),
        "CREATE TABLE system_schema.tables (keyspace_name text, table_name text, additional_write_policy text, \
         bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc boolean, comment text, \
         compaction frozen<map<text, text>>, compression frozen<map<text, text>>, crc_check_chance double, \
         dclocal_read_repair_chance double, default_time_to_live int, extensions frozen<map<text, blob>>, \
         flags frozen<set<text>>, gc_grace_seconds int, id uuid, max_index_interval int, \
         memtable_flush_period_in_ms int, min_index_interval int, read_repair text, read_repair_chance double, \
         speculative_retry text, PRIMARY KEY (keyspace_name, table_name)) WITH comment = 'table definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.columns (keyspace_name text, table_name text, column_name text, \
         clustering_order text, column_name_bytes blob, kind text, position int, type text, \
         PRIMARY KEY (keyspace_name, table_name, column_name)) WITH comment = 'column definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.dropped_columns (keyspace_name text, table_name text, column_name text, \
         dropped_time timestamp, kind text, type text, PRIMARY KEY (keyspace_name, table_name, column_name)) \
         WITH comment = 'dropped column registry'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.indexes (keyspace_name text, table_name text, index_name text, kind text, \
         options frozen<map<text, text>>, PRIMARY KEY (keyspace_name, table_name, index_name)) \
         WITH comment = 'secondary index definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.triggers (keyspace_name text, table_name text, trigger_name text, \
         options frozen<map<text, text>>, PRIMARY KEY (keyspace_name, table_name, trigger_name)) \
         WITH comment = 'trigger definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.types (keyspace_name text, type_name text, field_names frozen<list<text>>, \
         field_types frozen<list<text>>, PRIMARY KEY (keyspace_name, type_name)) \
         WITH comment = 'user defined type definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.functions (keyspace_name text, function_name text, \
         argument_types frozen<list<text>>, argument_names frozen<list<text>>, body text, called_on_null_input boolean, \
         language text, return_type text, PRIMARY KEY (keyspace_name, function_name, argument_types)) \
         WITH comment = 'user defined function definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.aggregates (keyspace_name text, aggregate_name text, \
         argument_types frozen<list<text>>, final_func text, initcond text, return_type text, state_func text, \
         state_type text, PRIMARY KEY (keyspace_name, aggregate_name, argument_types)) \
         WITH comment = 'user defined aggregate definitions'",
    ),
    table(
        Span::since_line(Line(3, 0)),
        "CREATE TABLE system_schema.views (keyspace_name text, view_name text, base_table_id uuid, \
         base_table_name text, bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc boolean, comment text, \
         compaction frozen<map<text, text>>, compression frozen<map<text, text>>, crc_check_chance double, \
         dclocal_read_repair_chance double, default_time_to_live int, extensions frozen<map<text, blob>>, \
         gc_grace_seconds int, id uuid, include_all_columns boolean, max_index_interval int, \
         memtable_flush_period_in_ms int, min_index_interval int, read_repair_chance double, speculative_retry text, \
         where_clause text, PRIMARY KEY (keyspace_name, view_name)) WITH comment = 'view definitions'",
    ),
    only(
        Span::lines(FIRST, Line(2, 2)),
        "CREATE TABLE system_traces.sessions (session_id uuid PRIMARY KEY, coordinator inet, duration int, \
         parameters map<text, text>, request text, started_at timestamp) WITH comment = 'tracing sessions'",
    ),
    only(
        Span::since_line(Line(2, 2)),
        "CREATE TABLE system_traces.sessions (session_id uuid PRIMARY KEY, client inet, command text, coordinator inet, \
         duration int, parameters map<text, text>, request text, started_at timestamp) \
         WITH comment = 'tracing sessions'",
    ),
    table(
        Span::ALWAYS,
        "CREATE TABLE system_traces.events (session_id uuid, event_id timeuuid, activity text, source inet, \
         source_elapsed int, thread text, PRIMARY KEY (session_id, event_id)) WITH comment = 'tracing events'",
    ),
    unlisted("CREATE TABLE system_auth.users (name text PRIMARY KEY, super boolean)"),
    unlisted(
        "CREATE TABLE system_auth.credentials (username text PRIMARY KEY, options map<text, text>, salted_hash text)",
    ),
    unlisted(
        "CREATE TABLE system_auth.permissions (username text, resource text, permissions set<text>, \
         PRIMARY KEY (username, resource))",
    ),
    // cqlsh looks up the columns of LIST ROLES and LIST PERMISSIONS in the schema.
    table(
        Span::since_line(Line(2, 2)),
        "CREATE TABLE system_auth.roles (role text PRIMARY KEY, can_login boolean, is_superuser boolean, \
         member_of set<text>, salted_hash text)",
    ),
    table(
        Span::since_line(Line(2, 2)),
        "CREATE TABLE system_auth.role_members (role text, member text, PRIMARY KEY (role, member))",
    ),
    table(
        Span::since_line(Line(2, 2)),
        "CREATE TABLE system_auth.role_permissions (role text, resource text, permissions set<text>, \
         PRIMARY KEY (role, resource))",
    ),
    table(
        Span::since_line(Line(4, 0)),
        "CREATE TABLE system_virtual_schema.keyspaces (keyspace_name text PRIMARY KEY) \
         WITH comment = 'virtual keyspace definitions'",
    ),
    table(
        Span::since_line(Line(4, 0)),
        "CREATE TABLE system_virtual_schema.tables (keyspace_name text, table_name text, comment text, \
         PRIMARY KEY (keyspace_name, table_name)) WITH comment = 'virtual table definitions'",
    ),
    table(
        Span::since_line(Line(4, 0)),
        "CREATE TABLE system_virtual_schema.columns (keyspace_name text, table_name text, column_name text, \
         clustering_order text, column_name_bytes blob, kind text, position int, type text, \
         PRIMARY KEY (keyspace_name, table_name, column_name)) WITH comment = 'virtual column definitions'",
    ),
];

/// The tables whose statement could be parsed; a test checks that this is all of them.
static MADE: LazyLock<Vec<(&Definition, Arc<CfDef>)>> = LazyLock::new(|| {
    let made = TABLES.iter().filter_map(|definition| Some((definition, Arc::new(made(definition.text)?))));
    made.collect()
});

fn made(text: &str) -> Option<CfDef> {
    let Statement::CreateTable(create) = parse(text).ok()?.statement else { return None };
    let keyspace = KeyspaceDef::new(create.table.keyspace.as_deref()?);
    column_family(&create, &TypeScope::of_existing(&keyspace, &Types::builtin())).ok()
}

/// Returns the definition of a system table that can be queried.
pub(crate) fn definition(
    reported: &ReportedVersion,
    keyspace: &str,
    table: &str,
) -> Option<&'static Arc<CfDef>> {
    if !is_system(keyspace) {
        return None;
    }
    let mut found = MADE.iter().filter(|(definition, cf)| {
        let is_known = definition.listed.has_line(reported.line()) || reported.has_tables_of_others();
        let is_served = is_known && definition.served.has_line(reported.line());
        cf.keyspace == keyspace && cf.name == table && is_served
    });
    found.next().map(|(_, cf)| cf)
}

/// Returns the tables of a system keyspace that a release has.
pub(super) fn listed_in(line: Line, keyspace: &str) -> impl Iterator<Item = &'static Arc<CfDef>> {
    let listed = MADE
        .iter()
        .filter(move |(definition, cf)| definition.listed.has_line(line) && cf.keyspace == keyspace);
    listed.map(|(_, cf)| cf)
}

/// Returns the system keyspaces with the tables that the reported version lists. The tables of `VIRTUAL` are listed in
/// other schema tables than the rest.
pub(crate) fn keyspaces(reported: &ReportedVersion) -> Vec<KeyspaceDef> {
    let listed = |name: &str| -> SharedMap<String, Arc<CfDef>> {
        listed_in(reported.line(), name).map(|cf| (cf.name.clone(), cf.clone())).collect()
    };
    let made = KEYSPACES.iter().map(|name| {
        let (strategy, options) = match *name {
            TRACES => ("SimpleStrategy", BTreeMap::from([("replication_factor".to_owned(), "2".to_owned())])),
            AUTH => ("SimpleStrategy", BTreeMap::from([("replication_factor".to_owned(), "1".to_owned())])),
            _ => ("LocalStrategy", BTreeMap::new()),
        };
        KeyspaceDef {
            strategy_class: format!("org.apache.cassandra.locator.{strategy}"),
            strategy_options: options,
            column_families: listed(name),
            ..KeyspaceDef::new(name)
        }
    });
    made.filter(|keyspace| !keyspace.column_families.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{SCHEMA, SYSTEM, VIRTUAL};

    #[test]
    fn every_definition_is_a_table() {
        for definition in TABLES {
            assert!(made(definition.text).is_some(), "{}", definition.text);
        }
        assert_eq!(MADE.len(), TABLES.len());
    }

    #[test]
    fn each_release_lists_its_own_tables_and_also_has_those_of_older_ones() {
        let names = |release: &str| -> Vec<String> {
            keyspaces(&ReportedVersion::new(release).unwrap())
                .into_iter()
                .map(|keyspace| keyspace.name)
                .collect()
        };
        assert_eq!(names("2.1.22"), [SYSTEM, TRACES]);
        assert_eq!(names("3.11.17"), [SYSTEM, SCHEMA, TRACES, AUTH]);
        assert_eq!(names("4.0.11"), [SYSTEM, SCHEMA, TRACES, AUTH, VIRTUAL]);
        let is_there = |release: &str, table: &str| {
            definition(&ReportedVersion::new(release).unwrap(), SYSTEM, table).is_some()
        };
        assert!(is_there("4.0.11", "schema_columns") && !is_there("4.0.11", "schema_functions"));
        assert!(is_there("2.2.19", "schema_functions") && !is_there("2.1.22", "schema_functions"));
        assert!(!is_there("4.0.11", "peers_v2"));
        let columns = |release: &str| {
            let reported = ReportedVersion::new(release).unwrap();
            definition(&reported, SYSTEM, "local").unwrap().table.as_ref().unwrap().columns().count()
        };
        assert_eq!(["1.2.19", "2.0.17", "3.11.17", "4.0.11"].map(columns), [14, 18, 18, 20]);
    }
}
