//! The elements of `<Storage>`, one row each: name, meaning and effect.

use super::cluster::{self, CLUSTER};
use super::draft::{Draft, SyncChoice};
use super::element::{Element, Set, row};
use super::encryption::{self, ENCRYPTION};
use super::mistake::Mistake;
use super::releases::{ALL, FROM_0_5, FROM_0_7, FROM_1_2, IN_0_4, IN_0_6, OWN, TO_0_5};
use super::settings::{Authenticator, Authority};
use super::value::Value;
use super::{keyspace, lists};
use base::partitioner;

/// Sets the authority. Authority and Authorizer are the same setting; the later one counts.
fn set_authority(draft: &mut Draft, value: &Value<'_>) -> Result<(), Mistake> {
    let found = Authority::resolve(value.text);
    draft.config.authority =
        Some(found.ok_or_else(|| Mistake::UnknownAuthority(value.choice(Authority::CLASSES)))?);
    Ok(())
}

/// All elements of `<Storage>`.
pub static ELEMENTS: &[Element<Draft>] = &[
    // Names, keyspaces and access.
    row(
        "ClusterName",
        "Test Cluster",
        "",
        ALL,
        "The name that describe_cluster_name returns.",
        Set::Value(|draft, value| {
            draft.config.cluster_name = value.text.to_owned();
            Ok(())
        }),
    ),
    row(
        "Keyspaces",
        "",
        "",
        ALL,
        "Contains the `<Keyspace>` elements. May be empty; then clients create the keyspaces.",
        Set::Children(keyspace::read_keyspaces),
    ),
    row(
        "Partitioner",
        "RandomPartitioner",
        "class",
        ALL,
        "The order of row keys. It is stored with the data and cannot be changed after the first write.",
        Set::Value(|draft, value| {
            let names = partitioner::PARTITIONERS.iter().map(|(name, _)| *name);
            let found = partitioner::resolve(value.text);
            draft.partitioner = Some(found.ok_or_else(|| Mistake::UnknownPartitioner(value.choice(names)))?);
            Ok(())
        }),
    ),
    row(
        "InitialToken",
        "random",
        "token",
        ALL,
        "The token that describe_ring and \"token map\" return. Read at the first start only.",
        Set::Value(|draft, value| {
            draft.config.initial_token = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "Authenticator",
        "AllowAllAuthenticator",
        "class",
        IN_0_6,
        "Who may log in. AllowAllAuthenticator: everybody; SimpleAuthenticator: the users in the password file; \
         PasswordAuthenticator: the users that CREATE USER created.",
        Set::Value(|draft, value| {
            draft.config.authenticator = Authenticator::resolve(value.text)
                .ok_or_else(|| Mistake::UnknownAuthenticator(value.choice(Authenticator::CLASSES)))?;
            Ok(())
        }),
    ),
    row(
        "Authority",
        "SimpleAuthority",
        "class",
        FROM_0_7,
        "The rights of users with SimpleAuthenticator. SimpleAuthority reads them from the access file, \
         AllowAllAuthority permits everything.",
        Set::Value(set_authority),
    ),
    row(
        "Authorizer",
        "AllowAllAuthorizer",
        "class",
        FROM_1_2,
        "The rights of users with PasswordAuthenticator. CassandraAuthorizer checks granted permissions, \
         AllowAllAuthorizer permits everything. The same setting as Authority.",
        Set::Value(set_authority),
    ),
    // Replication of keyspaces without settings of their own. 0.6 moved these into `<Keyspace>`.
    row(
        "ReplicaPlacementStrategy",
        "RackUnawareStrategy",
        "class",
        TO_0_5,
        "The strategy of keyspaces without one of their own. Only shown to clients: one server has no replicas to place.",
        Set::Value(|draft, value| {
            draft.replication.strategy_class = Some(keyspace::strategy(value)?);
            Ok(())
        }),
    ),
    row("EndPointSnitch", "", "class", TO_0_5, "There are no other nodes.", Set::Nothing(|_| Ok(()))),
    row(
        "ReplicationFactor",
        "1",
        "copies",
        TO_0_5,
        "The factor of keyspaces without one of their own. Consistency levels are checked against it.",
        Set::Value(|draft, value| {
            draft.replication.factor = Some(value.at_least(0)?);
            Ok(())
        }),
    ),
    // Where data is stored.
    row(
        "CommitLogDirectory",
        "data/commitlog",
        "path",
        ALL,
        "Checked, but not used: the commit log is stored in the data directory.",
        Set::Value(|draft, value| {
            draft.commit_log_directory = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "DataFileDirectories",
        "data/data",
        "paths",
        ALL,
        "Contains `<DataFileDirectory>` elements. Data and commit log are stored in the first; others are not used.",
        Set::Children(lists::read_data_directories),
    ),
    row("SavedCachesDirectory", "", "path", IN_0_6, "Caches are not saved.", Set::Nothing(|_| Ok(()))),
    row("BootstrapFileDirectory", "", "path", IN_0_4, "There are no other nodes.", Set::Nothing(|_| Ok(()))),
    row(
        "CalloutLocation",
        "",
        "path",
        TO_0_5,
        "In sample files, but never read by any release.",
        Set::Nothing(|_| Ok(())),
    ),
    row(
        "StagingFileDirectory",
        "",
        "path",
        TO_0_5,
        "In sample files, but never read by any release.",
        Set::Nothing(|_| Ok(())),
    ),
    // Durability.
    row(
        "CommitLogSync",
        "periodic",
        "word",
        ALL,
        "`batch`: a write is synced to disk before it is acknowledged. `periodic`: soon afterwards.",
        Set::Value(|draft, value| {
            let words = ["periodic", "batch"];
            let word = value.word(&words, "CommitLogSync must be either 'periodic' or 'batch'")?;
            draft.sync_mode = Some([SyncChoice::Periodic, SyncChoice::Batch][word]);
            Ok(())
        }),
    ),
    row(
        "CommitLogSyncPeriodInMS",
        "10000",
        "ms",
        ALL,
        "With `periodic`: time between syncs of the log. A power failure or a crash of the machine loses at most the writes of this time; a crash of the server loses none.",
        Set::Value(|draft, value| {
            draft.sync_period_ms = Some(u64::from(value.at_least(1)?.unsigned_abs()));
            Ok(())
        }),
    ),
    row(
        "CommitLogSyncBatchWindowInMS",
        "1",
        "ms",
        ALL,
        "With `batch`: checked, but without effect. A sync begins at once, and writes that arrive during it share the next one.",
        Set::Value(|draft, value| {
            let window_ms = value.double()?;
            if window_ms < 0.0 {
                return Err(value.out_of_bounds(value.tag, "at least 0"));
            }
            draft.sync_window_ms = Some(window_ms);
            Ok(())
        }),
    ),
    row(
        "CommitLogRotationThresholdInMB",
        "",
        "MB",
        ALL,
        "The storage engine decides when it starts a new segment of its log.",
        Set::Nothing(|value| value.integer().map(drop)),
    ),
    row(
        CLUSTER,
        "",
        "",
        OWN,
        "A cluster of Cassandra or ScyllaDB that stores the data instead of a directory, see below.",
        Set::Children(cluster::read_cluster),
    ),
    // Addresses and ports.
    row(
        "ListenAddress",
        "127.0.0.1",
        "host",
        ALL,
        "The address of this node, and the default of ThriftAddress.",
        Set::Value(|draft, value| {
            draft.config.listen_address = value.text.to_owned();
            Ok(())
        }),
    ),
    row(
        "ThriftAddress",
        "ListenAddress",
        "host",
        ALL,
        "The address that Thrift clients connect to. 0.0.0.0 is every interface.",
        Set::Value(|draft, value| {
            draft.config.thrift_address = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "ThriftPort",
        "9160",
        "port",
        ALL,
        "The port that Thrift clients connect to. 0 picks a free one.",
        Set::Value(|draft, value| {
            draft.config.thrift_port = value.port()?;
            Ok(())
        }),
    ),
    row(
        "ThriftFramedTransport",
        "false",
        "boolean",
        ALL,
        "The transport of the clients. The server detects framed and unframed clients; with `true` also framed clients whose \
         calls do not show their API generation count as clients of 0.4 to 0.6.",
        Set::Value(|draft, value| {
            draft.config.thrift_framed = value.boolean()?;
            Ok(())
        }),
    ),
    row(
        "StartNativeTransport",
        "true",
        "boolean",
        FROM_1_2,
        "Whether the server accepts clients of the CQL native protocol.",
        Set::Value(|draft, value| {
            draft.config.native_transport = value.boolean()?;
            Ok(())
        }),
    ),
    row(
        "NativeTransportAddress",
        "ThriftAddress",
        "host",
        FROM_1_2,
        "The address that clients of the native protocol connect to. cassandra.yaml has one rpc_address for both protocols.",
        Set::Value(|draft, value| {
            draft.config.native_address = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "NativeTransportPort",
        "9042",
        "port",
        FROM_1_2,
        "The port that clients of the native protocol connect to. 0 picks a free one.",
        Set::Value(|draft, value| {
            draft.config.native_port = value.port()?;
            Ok(())
        }),
    ),
    row(
        ENCRYPTION,
        "",
        "",
        FROM_1_2,
        "Enables TLS for the connections of clients, on all ports; see below.",
        Set::Children(encryption::read_encryption),
    ),
    row(
        "RpcTimeoutInMillis",
        "",
        "ms",
        ALL,
        "Reads, scans and writes that take longer fail with TimedOutException; such a write may still be applied. Default: no limit.",
        Set::Value(|draft, value| {
            draft.config.timeouts.all_ms = Some(u64::from(value.at_least(1)?.unsigned_abs()));
            Ok(())
        }),
    ),
    row(
        "Seeds",
        "",
        "hosts",
        ALL,
        "Contains `<Seed>` elements. No effect: there are no other nodes.",
        Set::Children(lists::read_seeds),
    ),
    row(
        "GCGraceSeconds",
        "864000",
        "s",
        ALL,
        "gc_grace: how long tombstones are kept.",
        Set::Value(|draft, value| {
            draft.config.gc_grace_s = value.at_least(0)?;
            Ok(())
        }),
    ),
    // Settings that only matter in a cluster.
    row(
        "StoragePort",
        "",
        "port",
        ALL,
        "There are no other nodes.",
        Set::Nothing(|value| value.port().map(drop)),
    ),
    row(
        "ControlPort",
        "",
        "port",
        TO_0_5,
        "There is no gossip.",
        Set::Nothing(|value| value.port().map(drop)),
    ),
    row(
        "PhiConvictThreshold",
        "",
        "",
        IN_0_6,
        "There are no other nodes.",
        Set::Nothing(|value| match value.integer()? {
            5..=16 => Ok(()),
            _ => Err(value.out_of_bounds(value.tag, "between 5 and 16")),
        }),
    ),
    row(
        "AutoBootstrap",
        "",
        "boolean",
        FROM_0_5,
        "There is no ring to join.",
        Set::Nothing(|value| value.boolean().map(drop)),
    ),
    row(
        "HintedHandoffEnabled",
        "",
        "boolean",
        IN_0_6,
        "There are no other nodes.",
        Set::Nothing(|value| value.boolean_called("HintedHandoff").map(drop)),
    ),
    row(
        "DoConsistencyChecksBoolean",
        "",
        "boolean",
        ALL,
        "There are no other replicas.",
        Set::Nothing(|_| Ok(())),
    ),
    row("JobTrackerHost", "", "host", ALL, "Never used by any release.", Set::Nothing(|_| Ok(()))),
    row("JobJarFileLocation", "", "path", ALL, "Never used by any release.", Set::Nothing(|_| Ok(()))),
    // Memory, disk and threads of old servers.
    row(
        "SnapshotBeforeCompaction",
        "",
        "boolean",
        ALL,
        "The storage engine makes no snapshots before compactions.",
        Set::Nothing(|value| value.boolean().map(drop)),
    ),
    row(
        "DiskAccessMode",
        "",
        "word",
        IN_0_6,
        "The storage engine chooses how it reads its files.",
        Set::Nothing(|value| {
            let words = ["auto", "mmap", "mmap_index_only", "standard"];
            let text = "DiskAccessMode must be either 'auto', 'mmap', 'mmap_index_only', or 'standard'";
            value.word(&words, text).map(drop)
        }),
    ),
    row(
        "ConcurrentReads",
        "",
        "threads",
        ALL,
        "The server chooses the number of its threads.",
        Set::Nothing(|value| value.at_least(1).map(drop)),
    ),
    row(
        "ConcurrentWrites",
        "",
        "threads",
        ALL,
        "The server chooses the number of its threads.",
        Set::Nothing(|value| value.at_least(1).map(drop)),
    ),
    row("MemtableSizeInMB", "", "MB", TO_0_5, FLUSHES, Set::Nothing(|value| value.integer().map(drop))),
    row("MemtableThroughputInMB", "", "MB", IN_0_6, FLUSHES, Set::Nothing(|value| value.integer().map(drop))),
    row("MemtableObjectCountInMillions", "", "million columns", TO_0_5, FLUSHES, Set::Nothing(object_count)),
    row("MemtableOperationsInMillions", "", "million columns", IN_0_6, FLUSHES, Set::Nothing(object_count)),
    row(
        "MemtableLifetimeInDays",
        "",
        "days",
        IN_0_4,
        FLUSHES,
        Set::Nothing(|value| value.integer().map(drop)),
    ),
    row(
        "MemtableFlushAfterMinutes",
        "",
        "min",
        FROM_0_5,
        FLUSHES,
        Set::Nothing(|value| value.integer().map(drop)),
    ),
    row("BinaryMemtableSizeInMB", "", "MB", TO_0_5, FLUSHES, Set::Nothing(|value| value.integer().map(drop))),
    row(
        "BinaryMemtableThroughputInMB",
        "",
        "MB",
        IN_0_6,
        FLUSHES,
        Set::Nothing(|value| value.integer().map(drop)),
    ),
    row("FlushMinThreads", "", "threads", IN_0_4, FLUSHES, Set::Nothing(|value| value.integer().map(drop))),
    row("FlushMaxThreads", "", "threads", IN_0_4, FLUSHES, Set::Nothing(|value| value.integer().map(drop))),
    row("FlushDataBufferSizeInMB", "", "MB", ALL, FLUSHES, Set::Nothing(|value| value.double().map(drop))),
    row("FlushIndexBufferSizeInMB", "", "MB", ALL, FLUSHES, Set::Nothing(|value| value.double().map(drop))),
    row("SlicedBufferSizeInKB", "", "KB", ALL, BUFFERS, Set::Nothing(|value| value.integer().map(drop))),
    row("ColumnIndexSizeInKB", "", "KB", ALL, BUFFERS, Set::Nothing(|value| value.integer().map(drop))),
    row(
        "RowWarningThresholdInMB",
        "",
        "MB",
        IN_0_6,
        "Rows of any size are compacted alike.",
        Set::Nothing(|value| match value.integer()? {
            1.. => Ok(()),
            _ => Err(value.out_of_bounds("Row warning threshold", "a positive integer")),
        }),
    ),
    row(
        "IndexInterval",
        "",
        "rows",
        IN_0_6,
        BUFFERS,
        Set::Nothing(|value| match value.integer()? {
            1.. => Ok(()),
            _ => Err(value.out_of_bounds("Index Interval", "a positive, non-zero integer.")),
        }),
    ),
];

const FLUSHES: &str = "The storage engine decides when it flushes.";
const BUFFERS: &str = "The storage engine sets the sizes of its blocks and buffers.";

fn object_count(value: &super::value::Value<'_>) -> Result<(), Mistake> {
    if value.double()? > 0.0 {
        return Ok(());
    }
    Err(value.out_of_bounds("Memtable object count", "a positive double"))
}
