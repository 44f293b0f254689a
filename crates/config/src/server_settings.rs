//! The settings of the server: the elements of `<Storage>`, and the top level of a cassandra.yaml.

use super::draft::{Draft, SyncChoice};
use super::mistake::Mistake;
use super::releases::{FROM_0_5, FROM_0_7, FROM_1_2, IN_0_4, IN_0_6, IN_0_7, OWN, TO_0_5, TO_0_6, TO_1_1};
use super::setting::{
    ADDED, ConfigSetting, EXTENSION, REMOVED, assign, element, elsewhere, ignored_key, key, row,
};
use super::settings::{AuthenticatorKind, Authority};
use super::value::SettingValue;
use super::{cluster, encryption, keyspace, lists};
use base::partitioner;

// Reasons of settings without effect.
const NODES: &str = "There are no other nodes.";
const NEVER_READ: &str = "In sample files, but never read by any release.";
const NEVER_USED: &str = "Never used by any release.";
const OTHER_PROGRAMS: &str = "No release used it, or only for requests of other programs.";
const THREADS: &str = "The server chooses the number of its threads.";
const FLUSHES: &str = "The storage engine decides when it flushes.";
const BUFFERS: &str = "The storage engine sets the sizes of its blocks and buffers.";
const ENGINE: &str = "The storage engine tunes itself.";
const SNAPSHOTS: &str = "No snapshots are made; `thriftstore backup` copies the data.";
const FAILURES: &str = "The server stops writing when the disk fails.";
const LIMITS: &str = "The server has limits of its own (limits.md).";
const ADDRESSES: &str = "An address is set by rpc_address.";
const PERMISSIONS: &str = "A change of permissions has an effect at once.";

/// All settings of the server.
pub static SETTINGS: &[ConfigSetting<Draft>] = &[
    // Names, keyspaces and access.
    row(element("ClusterName", TO_0_6), key("cluster_name", FROM_0_7))
        .default("Test Cluster")
        .meaning("The name that describe_cluster_name returns.")
        .sets(|draft, value| assign(&mut draft.config.cluster_name, Ok(value.text))),
    row(element("Keyspaces", TO_0_6), key("keyspaces", IN_0_7))
        .meaning("The keyspaces, see below. Clients can create others, but cannot change these.")
        .reads(keyspace::read_keyspaces),
    row(element("Partitioner", TO_0_6), key("partitioner", FROM_0_7))
        .default("RandomPartitioner")
        .unit("class")
        .meaning(
            "The order of row keys. It is stored with the data and cannot be changed after the first write.",
        )
        .sets(set_partitioner),
    row(element("InitialToken", TO_0_6), key("initial_token", FROM_0_7))
        .default("random")
        .unit("token")
        .meaning("The token that describe_ring and \"token map\" return. Read at the first start only.")
        .sets(|draft, value| assign(&mut draft.initial_token, Ok(value.given.clone()))),
    row(element("Authenticator", IN_0_6), key("authenticator", FROM_0_7))
        .default("AllowAllAuthenticator")
        .unit("class")
        .meaning(
            "Who may log in. AllowAllAuthenticator: everybody; SimpleAuthenticator: the users in the password file; \
             PasswordAuthenticator: the users that CREATE USER created.",
        )
        .sets(set_authenticator),
    row(element("Authority", TO_1_1), key("authority", TO_1_1))
        .default("SimpleAuthority")
        .unit("class")
        .meaning(
            "The rights of users with SimpleAuthenticator. SimpleAuthority reads them from the access file, \
             AllowAllAuthority permits everything.",
        )
        .sets(set_authority),
    row(element("Authorizer", FROM_1_2), key("authorizer", FROM_1_2))
        .default("AllowAllAuthorizer")
        .unit("class")
        .meaning(
            "The rights of users with PasswordAuthenticator. CassandraAuthorizer checks granted permissions, \
             AllowAllAuthorizer permits everything. The same setting as the authority, under its name since 1.2.",
        )
        .sets(set_authority),
    // Replication of keyspaces without settings of their own. 0.6 moved these into `<Keyspace>`.
    row(element("ReplicaPlacementStrategy", TO_0_5), elsewhere("replica_placement_strategy"))
        .default("RackUnawareStrategy")
        .unit("class")
        .meaning(
            "The strategy of keyspaces without one of their own. Only shown to clients: one server has no replicas to \
             place.",
        )
        .sets(|draft, value| assign(&mut draft.replication.strategy_class, keyspace::strategy(value))),
    row(element("EndPointSnitch", TO_0_5), key("endpoint_snitch", FROM_0_7))
        .unit("class")
        .ignored(NODES, any),
    row(element("ReplicationFactor", TO_0_5), elsewhere("replication_factor"))
        .default("1")
        .unit("copies")
        .meaning("The factor of keyspaces without one of their own. Consistency levels are checked against it.")
        .sets(|draft, value| assign(&mut draft.replication.factor, value.at_least(0))),
    // Where data is stored.
    row(element("CommitLogDirectory", TO_0_6), key("commitlog_directory", FROM_0_7))
        .default("data/commitlog")
        .unit("path")
        .meaning("Checked, but not used: the commit log is stored in the data directory.")
        .sets(|draft, value| assign(&mut draft.config.commit_log_directory, Ok(value.text))),
    row(element("DataFileDirectories", TO_0_6), key("data_file_directories", FROM_0_7))
        .default("data/data")
        .unit("paths")
        .meaning("A list. Data and commit log are stored in the first directory; others are not used.")
        .reads(lists::read_data_directories),
    row(element("SavedCachesDirectory", IN_0_6), key("saved_caches_directory", FROM_0_7))
        .unit("path")
        .ignored("Caches are not saved.", any),
    row(element("BootstrapFileDirectory", IN_0_4), REMOVED).unit("path").ignored(NODES, any),
    row(element("CalloutLocation", TO_0_5), REMOVED).unit("path").ignored(NEVER_READ, any),
    row(element("StagingFileDirectory", TO_0_5), REMOVED).unit("path").ignored(NEVER_READ, any),
    // Durability.
    row(element("CommitLogSync", TO_0_6), key("commitlog_sync", FROM_0_7))
        .default("periodic")
        .unit("word")
        .meaning("`batch`: a write is synced to disk before it is acknowledged. `periodic`: soon afterwards.")
        .sets(set_sync_mode),
    row(element("CommitLogSyncPeriodInMS", TO_0_6), key("commitlog_sync_period_in_ms", FROM_0_7))
        .default("10000")
        .unit("ms")
        .meaning(
            "With `periodic`: time between syncs of the log. A power failure or a crash of the machine loses at most the \
             writes of this time; a crash of the server loses none.",
        )
        .sets(|draft, value| assign(&mut draft.sync_period_ms, value.time_limit_ms())),
    row(element("CommitLogSyncBatchWindowInMS", TO_0_6), key("commitlog_sync_batch_window_in_ms", FROM_0_7))
        .default("1")
        .unit("ms")
        .meaning(
            "With `batch`: checked, but without effect. A sync begins at once, and writes that arrive during it share \
             the next one.",
        )
        .sets(|draft, value| assign(&mut draft.sync_window_ms, value.positive_double())),
    row(element("CommitLogRotationThresholdInMB", TO_0_6), key("commitlog_rotation_threshold_in_mb", FROM_0_7))
        .unit("MB")
        .ignored("The storage engine decides when it starts a new segment of its log.", integer),
    row(element(cluster::CLUSTER, OWN), EXTENSION)
        .meaning("A [cluster](cluster.md) of Cassandra or ScyllaDB that stores the data instead of a directory.")
        .reads(cluster::read_cluster),
    // Addresses and ports.
    row(element("ListenAddress", TO_0_6), key("listen_address", FROM_0_7))
        .default("127.0.0.1")
        .unit("host")
        .meaning("The address of this node, and the default of the address for clients.")
        .sets(|draft, value| assign(&mut draft.config.listen_address, value.not_empty())),
    row(element("ThriftAddress", TO_0_6), key("rpc_address", FROM_0_7))
        .default("ListenAddress")
        .yaml_default("listen_address")
        .unit("host")
        .meaning(
            "The address that clients connect to, with Thrift and by default with the native protocol. 0.0.0.0 is every \
             interface.",
        )
        .sets(|draft, value| assign(&mut draft.config.thrift_address, value.not_empty())),
    row(element("ThriftPort", TO_0_6), key("rpc_port", FROM_0_7))
        .default("9160")
        .unit("port")
        .meaning("The port that Thrift clients connect to. 0 picks a free one.")
        .sets(|draft, value| assign(&mut draft.config.thrift_port, value.port())),
    row(element("ThriftFramedTransport", TO_0_6), elsewhere("thrift_framed_transport_size_in_mb"))
        .default("false")
        .unit("boolean")
        .meaning(
            "The transport of the clients. The server detects framed and unframed clients; with `true` also framed \
             clients whose calls do not show their API generation count as clients of 0.4 to 0.6.",
        )
        .sets(|draft, value| assign(&mut draft.config.thrift_framed, value.boolean())),
    row(elsewhere("ThriftFramedTransport"), key("thrift_framed_transport_size_in_mb", FROM_0_7))
        .default("15")
        .meaning("0 means unframed clients in 0.7. No effect: the server detects framed and unframed clients.")
        .sets(|_, value| value.at_least(0).map(drop)),
    row(element("StartNativeTransport", FROM_1_2), key("start_native_transport", FROM_1_2))
        .default("true")
        .unit("boolean")
        .meaning("Whether the server accepts clients of the CQL native protocol.")
        .sets(|draft, value| assign(&mut draft.config.native_transport, value.boolean())),
    row(element("NativeTransportAddress", FROM_1_2), elsewhere("rpc_address"))
        .default("ThriftAddress")
        .unit("host")
        .meaning(
            "The address that clients of the native protocol connect to. cassandra.yaml has one rpc_address for both \
             protocols.",
        )
        .sets(|draft, value| assign(&mut draft.config.native_address, value.not_empty())),
    row(element("NativeTransportPort", FROM_1_2), key("native_transport_port", FROM_1_2))
        .default("9042")
        .unit("port")
        .meaning("The port that clients of the native protocol connect to. 0 picks a free one.")
        .sets(|draft, value| assign(&mut draft.config.native_port, value.port())),
    row(element(encryption::ENCRYPTION, FROM_1_2), key("client_encryption_options", FROM_1_2))
        .meaning("Enables [TLS](tls.md) for the connections of clients, on all ports.")
        .reads(encryption::read_encryption),
    // Time limits.
    row(element("RpcTimeoutInMillis", TO_0_6), key("rpc_timeout_in_ms", TO_1_1))
        .default("no limit")
        .unit("ms")
        .meaning(
            "Reads, scans and writes that take longer fail with TimedOutException; such a write may still be applied.",
        )
        .sets(|draft, value| assign(&mut draft.config.timeouts.all_ms, value.time_limit_ms())),
    row(elsewhere("RpcTimeoutInMillis"), key("request_timeout_in_ms", FROM_1_2))
        .default("no limit")
        .meaning("The same for requests without a limit of their own.")
        .sets(|draft, value| assign(&mut draft.config.timeouts.all_ms, value.time_limit_ms())),
    row(ADDED, key("read_request_timeout_in_ms", FROM_1_2))
        .default("request_timeout_in_ms")
        .meaning("The limit of a read by keys.")
        .sets(|draft, value| assign(&mut draft.config.timeouts.read_ms, value.time_limit_ms())),
    row(ADDED, key("range_request_timeout_in_ms", FROM_1_2))
        .default("request_timeout_in_ms")
        .meaning("The limit of a scan, or of a read by an index.")
        .sets(|draft, value| assign(&mut draft.config.timeouts.range_ms, value.time_limit_ms())),
    row(ADDED, key("write_request_timeout_in_ms", FROM_1_2))
        .default("request_timeout_in_ms")
        .meaning("The limit of a write.")
        .sets(|draft, value| assign(&mut draft.config.timeouts.write_ms, value.time_limit_ms())),
    row(ADDED, key("truncate_request_timeout_in_ms", FROM_1_2))
        .default("no limit")
        .meaning("The limit of a truncate.")
        .sets(|draft, value| assign(&mut draft.config.timeouts.truncate_ms, value.time_limit_ms())),
    row(element("Seeds", TO_0_6), elsewhere("seeds"))
        .unit("hosts")
        .meaning("Contains `<Seed>` elements. No effect: there are no other nodes.")
        .reads(lists::read_seeds),
    row(element("GCGraceSeconds", TO_0_6), elsewhere("gc_grace_seconds"))
        .default("864000")
        .unit("s")
        .meaning("gc_grace: how long tombstones are kept.")
        .sets(|draft, value| assign(&mut draft.gc_grace_s, value.at_least(0))),
    // Settings that only matter in a cluster.
    row(element("StoragePort", TO_0_6), key("storage_port", FROM_0_7)).unit("port").ignored(NODES, port),
    row(element("ControlPort", TO_0_5), REMOVED).unit("port").ignored("There is no gossip.", port),
    row(element("PhiConvictThreshold", IN_0_6), key("phi_convict_threshold", FROM_0_7)).ignored(
        NODES,
        |value| match value.integer()? {
            5..=16 => Ok(()),
            _ => Err(value.out_of_bounds(value.name, "between 5 and 16")),
        },
    ),
    row(element("AutoBootstrap", FROM_0_5), key("auto_bootstrap", FROM_0_7))
        .unit("boolean")
        .ignored("There is no ring to join.", boolean),
    row(element("HintedHandoffEnabled", IN_0_6), key("hinted_handoff_enabled", FROM_0_7))
        .unit("boolean")
        .ignored(NODES, |value| value.boolean_called("HintedHandoff").map(drop)),
    row(element("DoConsistencyChecksBoolean", TO_0_6), REMOVED)
        .unit("boolean")
        .ignored("There are no other replicas.", any),
    row(element("JobTrackerHost", TO_0_6), key("job_tracker_host", FROM_0_7))
        .unit("host")
        .ignored(NEVER_USED, any),
    row(element("JobJarFileLocation", TO_0_6), key("job_jar_file_location", FROM_0_7))
        .unit("path")
        .ignored(NEVER_USED, any),
    // Memory, disk and threads of old servers.
    row(element("SnapshotBeforeCompaction", TO_0_6), key("snapshot_before_compaction", FROM_0_7))
        .unit("boolean")
        .ignored(SNAPSHOTS, boolean),
    row(element("DiskAccessMode", IN_0_6), key("disk_access_mode", FROM_0_7)).unit("word").ignored(
        "The storage engine chooses how it reads its files.",
        |value| {
            let words = ["auto", "mmap", "mmap_index_only", "standard"];
            let text = "DiskAccessMode must be either 'auto', 'mmap', 'mmap_index_only', or 'standard'";
            value.word(&words, text).map(drop)
        },
    ),
    row(element("ConcurrentReads", TO_0_6), key("concurrent_reads", FROM_0_7))
        .unit("threads")
        .ignored(THREADS, |value| value.at_least(1).map(drop)),
    row(element("ConcurrentWrites", TO_0_6), key("concurrent_writes", FROM_0_7))
        .unit("threads")
        .ignored(THREADS, |value| value.at_least(1).map(drop)),
    row(element("MemtableSizeInMB", TO_0_5), REMOVED).unit("MB").ignored(FLUSHES, integer),
    row(element("MemtableThroughputInMB", IN_0_6), elsewhere("memtable_throughput_in_mb"))
        .unit("MB")
        .ignored(FLUSHES, integer),
    row(element("MemtableObjectCountInMillions", TO_0_5), REMOVED)
        .unit("million columns")
        .ignored(FLUSHES, object_count),
    row(element("MemtableOperationsInMillions", IN_0_6), elsewhere("memtable_operations_in_millions"))
        .unit("million columns")
        .ignored(FLUSHES, object_count),
    row(element("MemtableLifetimeInDays", IN_0_4), REMOVED).unit("days").ignored(FLUSHES, integer),
    row(element("MemtableFlushAfterMinutes", FROM_0_5), elsewhere("memtable_flush_after_mins"))
        .unit("min")
        .ignored(FLUSHES, integer),
    row(element("BinaryMemtableSizeInMB", TO_0_5), REMOVED).unit("MB").ignored(FLUSHES, integer),
    row(element("BinaryMemtableThroughputInMB", IN_0_6), key("binary_memtable_throughput_in_mb", FROM_0_7))
        .unit("MB")
        .ignored(FLUSHES, integer),
    row(element("FlushMinThreads", IN_0_4), REMOVED).unit("threads").ignored(FLUSHES, integer),
    row(element("FlushMaxThreads", IN_0_4), REMOVED).unit("threads").ignored(FLUSHES, integer),
    row(element("FlushDataBufferSizeInMB", TO_0_6), REMOVED).unit("MB").ignored(FLUSHES, double),
    row(element("FlushIndexBufferSizeInMB", TO_0_6), REMOVED).unit("MB").ignored(FLUSHES, double),
    row(element("SlicedBufferSizeInKB", TO_0_6), key("sliced_buffer_size_in_kb", FROM_0_7))
        .unit("KB")
        .ignored(BUFFERS, integer),
    row(element("ColumnIndexSizeInKB", TO_0_6), key("column_index_size_in_kb", FROM_0_7))
        .unit("KB")
        .ignored(BUFFERS, integer),
    row(element("RowWarningThresholdInMB", IN_0_6), key("in_memory_compaction_limit_in_mb", FROM_0_7))
        .unit("MB")
        .ignored("Rows of any size are compacted alike.", |value| match value.integer()? {
            1.. => Ok(()),
            _ => Err(value.out_of_bounds("Row warning threshold", "a positive integer")),
        }),
    row(element("IndexInterval", IN_0_6), key("index_interval", FROM_0_7)).unit("rows").ignored(
        BUFFERS,
        |value| match value.integer()? {
            1.. => Ok(()),
            _ => Err(value.out_of_bounds("Index Interval", "a positive, non-zero integer.")),
        },
    ),
    // Further settings of 0.7 to 2.1 (`Config` of each release) without an effect.
    row(elsewhere("Seeds"), key("seeds", FROM_0_7)).ignored(NODES, any),
    ignored_key("auto_snapshot", SNAPSHOTS),
    ignored_key("batch_size_warn_threshold_in_kb", LIMITS),
    ignored_key("batchlog_replay_throttle_in_kb", NODES),
    ignored_key("broadcast_address", NODES),
    ignored_key("broadcast_rpc_address", NODES),
    ignored_key("cas_contention_timeout_in_ms", NODES),
    ignored_key("commit_failure_policy", FAILURES),
    ignored_key("commitlog_periodic_queue_size", ENGINE),
    ignored_key("commitlog_segment_recycling", ENGINE),
    ignored_key("commitlog_segment_size_in_mb", ENGINE),
    ignored_key("commitlog_total_space_in_mb", ENGINE),
    ignored_key("compaction_large_partition_warning_threshold_mb", ENGINE),
    ignored_key("compaction_preheat_key_cache", ENGINE),
    ignored_key("compaction_thread_priority", ENGINE),
    ignored_key("compaction_throughput_mb_per_sec", ENGINE),
    ignored_key("concurrent_compactors", ENGINE),
    ignored_key("concurrent_counter_writes", ENGINE),
    ignored_key("concurrent_replicates", ENGINE),
    ignored_key("counter_cache_keys_to_save", ENGINE),
    ignored_key("counter_cache_save_period", ENGINE),
    ignored_key("counter_cache_size_in_mb", ENGINE),
    ignored_key("counter_write_request_timeout_in_ms", "Counters have the time limit of writes."),
    ignored_key("cross_node_timeout", NODES),
    ignored_key("disk_failure_policy", FAILURES),
    ignored_key("dynamic_snitch", NODES),
    ignored_key("dynamic_snitch_badness_threshold", NODES),
    ignored_key("dynamic_snitch_reset_interval_in_ms", NODES),
    ignored_key("dynamic_snitch_update_interval_in_ms", NODES),
    ignored_key("encryption_options", NODES),
    ignored_key("file_cache_size_in_mb", ENGINE),
    ignored_key("flush_largest_memtables_at", ENGINE),
    ignored_key("gc_warn_threshold_in_ms", ENGINE),
    ignored_key("hinted_handoff_throttle_delay_in_ms", NODES),
    ignored_key("hinted_handoff_throttle_in_kb", NODES),
    ignored_key("incremental_backups", SNAPSHOTS),
    ignored_key("index_summary_capacity_in_mb", ENGINE),
    ignored_key("index_summary_resize_interval_in_minutes", ENGINE),
    ignored_key("inter_dc_stream_throughput_outbound_megabits_per_sec", NODES),
    ignored_key("inter_dc_tcp_nodelay", NODES),
    ignored_key("internode_authenticator", NODES),
    ignored_key("internode_compression", NODES),
    ignored_key("internode_recv_buff_size_in_bytes", NODES),
    ignored_key("internode_send_buff_size_in_bytes", NODES),
    ignored_key("key_cache_keys_to_save", ENGINE),
    ignored_key("key_cache_save_period", ENGINE),
    ignored_key("key_cache_size_in_mb", ENGINE),
    ignored_key("listen_interface", NODES),
    ignored_key("listen_interface_prefer_ipv6", NODES),
    ignored_key("max_hint_window_in_ms", NODES),
    ignored_key("max_hints_delivery_threads", NODES),
    ignored_key("max_streaming_retries", NODES),
    ignored_key("memory_allocator", ENGINE),
    ignored_key("memtable_allocation_type", ENGINE),
    ignored_key("memtable_allocator", ENGINE),
    ignored_key("memtable_cleanup_threshold", ENGINE),
    ignored_key("memtable_flush_queue_size", ENGINE),
    ignored_key("memtable_flush_writers", ENGINE),
    ignored_key("memtable_heap_space_in_mb", ENGINE),
    ignored_key("memtable_offheap_space_in_mb", ENGINE),
    ignored_key("memtable_total_space_in_mb", ENGINE),
    ignored_key("multithreaded_compaction", ENGINE),
    ignored_key("native_transport_max_concurrent_connections", LIMITS),
    ignored_key("native_transport_max_concurrent_connections_per_ip", LIMITS),
    ignored_key("native_transport_max_frame_size_in_mb", LIMITS),
    ignored_key("native_transport_max_threads", LIMITS),
    ignored_key("native_transport_min_threads", LIMITS),
    ignored_key("num_tokens", NODES),
    ignored_key("otc_coalescing_strategy", NODES),
    ignored_key("otc_coalescing_window_us", NODES),
    ignored_key("permissions_cache_max_entries", PERMISSIONS),
    ignored_key("permissions_update_interval_in_ms", PERMISSIONS),
    ignored_key("permissions_validity_in_ms", PERMISSIONS),
    ignored_key("populate_io_cache_on_flush", ENGINE),
    ignored_key("preheat_kernel_page_cache", ENGINE),
    ignored_key("reduce_cache_capacity_to", ENGINE),
    ignored_key("reduce_cache_sizes_at", ENGINE),
    ignored_key("request_scheduler", OTHER_PROGRAMS),
    ignored_key("request_scheduler_id", OTHER_PROGRAMS),
    ignored_key("request_scheduler_options", OTHER_PROGRAMS),
    ignored_key("row_cache_keys_to_save", ENGINE),
    ignored_key("row_cache_provider", ENGINE),
    ignored_key("row_cache_save_period", ENGINE),
    ignored_key("row_cache_size_in_mb", ENGINE),
    ignored_key("rpc_interface", ADDRESSES),
    ignored_key("rpc_interface_prefer_ipv6", ADDRESSES),
    ignored_key("rpc_keepalive", LIMITS),
    ignored_key("rpc_listen_backlog", LIMITS),
    ignored_key("rpc_max_threads", LIMITS),
    ignored_key("rpc_min_threads", LIMITS),
    ignored_key("rpc_recv_buff_size_in_bytes", LIMITS),
    ignored_key("rpc_send_buff_size_in_bytes", LIMITS),
    ignored_key("rpc_server_type", LIMITS),
    ignored_key("seed_provider", NODES),
    ignored_key("server_encryption_options", NODES),
    ignored_key("ssl_storage_port", NODES),
    ignored_key("sstable_preemptive_open_interval_in_mb", ENGINE),
    ignored_key("start_rpc", "Thrift clients are always served."),
    ignored_key("stream_throughput_outbound_megabits_per_sec", NODES),
    ignored_key("streaming_socket_timeout_in_ms", NODES),
    ignored_key("thrift_max_message_length_in_mb", LIMITS),
    ignored_key("tombstone_debug_threshold", LIMITS),
    ignored_key("tombstone_failure_threshold", LIMITS),
    ignored_key("tombstone_warn_threshold", LIMITS),
    ignored_key("trickle_fsync", ENGINE),
    ignored_key("trickle_fsync_interval_in_kb", ENGINE),
    ignored_key("unlogged_batch_across_partitions_warn_threshold", LIMITS),
];

fn set_partitioner(draft: &mut Draft, value: &SettingValue<'_>) -> Result<(), Mistake> {
    let names = partitioner::PARTITIONERS.iter().map(|(name, _)| *name);
    let found = partitioner::resolve(value.text);
    draft.config.partitioner = found.ok_or_else(|| Mistake::UnknownPartitioner(value.choice(names)))?;
    Ok(())
}

fn set_authenticator(draft: &mut Draft, value: &SettingValue<'_>) -> Result<(), Mistake> {
    let found = AuthenticatorKind::resolve(value.text);
    draft.config.authenticator =
        found.ok_or_else(|| Mistake::UnknownAuthenticator(value.choice(AuthenticatorKind::CLASSES)))?;
    Ok(())
}

/// Sets the authority. Authority and Authorizer are the same setting; the later one counts.
fn set_authority(draft: &mut Draft, value: &SettingValue<'_>) -> Result<(), Mistake> {
    let found = Authority::resolve(value.text);
    draft.config.authority =
        Some(found.ok_or_else(|| Mistake::UnknownAuthority(value.choice(Authority::CLASSES)))?);
    Ok(())
}

fn set_sync_mode(draft: &mut Draft, value: &SettingValue<'_>) -> Result<(), Mistake> {
    if let Ok(syncs_first) = value.text.parse() {
        return Err(Mistake::CommitLogSyncOfBeta { syncs_first });
    }
    let error = format!("{} must be either 'periodic' or 'batch'", value.name);
    let word = value.word(&["periodic", "batch"], &error)?;
    draft.sync_mode = Some([SyncChoice::Periodic, SyncChoice::Batch][word]);
    Ok(())
}

// Checks of values without effect.

fn any(_value: &SettingValue<'_>) -> Result<(), Mistake> {
    Ok(())
}

fn integer(value: &SettingValue<'_>) -> Result<(), Mistake> {
    value.integer().map(drop)
}

fn double(value: &SettingValue<'_>) -> Result<(), Mistake> {
    value.double().map(drop)
}

fn boolean(value: &SettingValue<'_>) -> Result<(), Mistake> {
    value.boolean().map(drop)
}

fn port(value: &SettingValue<'_>) -> Result<(), Mistake> {
    value.port().map(drop)
}

fn object_count(value: &SettingValue<'_>) -> Result<(), Mistake> {
    if value.double()? > 0.0 {
        return Ok(());
    }
    Err(value.out_of_bounds("Memtable object count", "a positive double"))
}
