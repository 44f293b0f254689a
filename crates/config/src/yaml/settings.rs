//! The settings of cassandra.yaml with an effect, one row each.

use super::apply::{Effect, YamlSetting, boolean, list, map, row, wrong_shape};
use super::draft::YamlDraft;
use super::keyspaces;
use super::mistake::SCALAR;
use crate::draft::SyncChoice;
use crate::mistake::Mistake;
use crate::releases::{
    WITH_YAML as ALL, YAML_FROM_1_2 as FROM_1_2, YAML_IN_0_7 as IN_0_7, YAML_TO_1_1 as TO_1_1,
};
use crate::settings::{Authenticator, Authority};
use crate::value::Value;
use base::partitioner;

/// Parses a time limit in milliseconds.
fn time_limit(value: &Value<'_>) -> Result<Option<u64>, Mistake> {
    Ok(Some(u64::from(value.at_least(1)?.unsigned_abs())))
}

fn set_authority(draft: &mut YamlDraft, value: &Value<'_>) -> Result<(), Mistake> {
    let found = Authority::resolve(value.text);
    draft.authority = Some(found.ok_or_else(|| Mistake::UnknownAuthority(value.choice(Authority::CLASSES)))?);
    Ok(())
}

/// All settings with an effect.
pub static SETTINGS: &[YamlSetting<YamlDraft>] = &[
    // Names, keyspaces and access.
    row(
        "cluster_name",
        "Test Cluster",
        ALL,
        "The name that describe_cluster_name returns.",
        Effect::Value(|draft, value| {
            draft.cluster_name = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "partitioner",
        "RandomPartitioner",
        ALL,
        "The order of row keys. It is stored with the data and cannot be changed after the first write.",
        Effect::Value(|draft, value| {
            let known = partitioner::PARTITIONERS.iter().map(|(name, _)| *name);
            let found = partitioner::resolve(value.text);
            draft.partitioner = Some(found.ok_or_else(|| Mistake::UnknownPartitioner(value.choice(known)))?);
            Ok(())
        }),
    ),
    row(
        "initial_token",
        "random",
        ALL,
        "The token that describe_ring returns; of several the first. Read at the first start only.",
        Effect::Node(|draft, entry, reading| match entry.value.text() {
            Some(text) => draft.initial_token = Some(text),
            None => wrong_shape("initial_token", SCALAR, &entry.value, reading),
        }),
    ),
    row(
        "authenticator",
        "AllowAllAuthenticator",
        ALL,
        "Who may log in: AllowAllAuthenticator, SimpleAuthenticator or PasswordAuthenticator.",
        Effect::Value(|draft, value| {
            let found = Authenticator::resolve(value.text);
            draft.authenticator =
                found.ok_or_else(|| Mistake::UnknownAuthenticator(value.choice(Authenticator::CLASSES)))?;
            Ok(())
        }),
    ),
    row(
        "authority",
        "that of the authenticator",
        TO_1_1,
        "The rights of users with SimpleAuthenticator: SimpleAuthority or AllowAllAuthority.",
        Effect::Value(set_authority),
    ),
    row(
        "authorizer",
        "AllowAllAuthorizer",
        FROM_1_2,
        "The rights of users with PasswordAuthenticator: CassandraAuthorizer or AllowAllAuthorizer.",
        Effect::Value(set_authority),
    ),
    row(
        "keyspaces",
        "",
        IN_0_7,
        "A list of keyspaces, see below. In 0.7 they were loaded once, on request; here clients cannot change them.",
        Effect::Node(keyspaces::read),
    ),
    // Where data is stored.
    row(
        "data_file_directories",
        "data/data",
        ALL,
        "A list. Data and commit log are stored in the first; others are not used. None may hold files of Cassandra.",
        Effect::Node(|draft, entry, reading| {
            for node in list(entry, reading) {
                match node.text() {
                    Some(text) => draft.data_directories.push(text.value.trim().into()),
                    None => wrong_shape("data_file_directories", SCALAR, node, reading),
                }
            }
        }),
    ),
    row(
        "commitlog_directory",
        "data/commitlog",
        ALL,
        "Not used: the commit log is stored in the data directory. It may not hold files of Cassandra.",
        Effect::Node(|draft, entry, reading| match entry.value.text() {
            Some(text) => draft.commit_log_directory = Some(text),
            None => wrong_shape("commitlog_directory", SCALAR, &entry.value, reading),
        }),
    ),
    // Durability.
    row(
        "commitlog_sync",
        "periodic",
        ALL,
        "`batch`: a write is synced to disk before it is acknowledged. `periodic`: soon afterwards.",
        Effect::Value(|draft, value| {
            let words = ["periodic", "batch"];
            let word = value.word(&words, "commitlog_sync must be either 'periodic' or 'batch'")?;
            draft.sync_mode = Some([SyncChoice::Periodic, SyncChoice::Batch][word]);
            Ok(())
        }),
    ),
    row(
        "commitlog_sync_period_in_ms",
        "10000",
        ALL,
        "With `periodic`: milliseconds between syncs of the log.",
        Effect::Value(|draft, value| {
            draft.sync_period_ms = time_limit(value)?;
            Ok(())
        }),
    ),
    row(
        "commitlog_sync_batch_window_in_ms",
        "1",
        ALL,
        "With `batch`: checked, but without effect. Writes that arrive during a sync share the next one.",
        Effect::Value(|draft, value| {
            let window_ms = value.double()?;
            if window_ms < 0.0 {
                return Err(value.out_of_bounds(value.tag, "at least 0"));
            }
            draft.sync_window_ms = Some(window_ms);
            Ok(())
        }),
    ),
    // Addresses and ports.
    row(
        "listen_address",
        "127.0.0.1",
        ALL,
        "The address of this node, and the default of rpc_address.",
        Effect::Value(|draft, value| {
            draft.listen_address = Some(value.not_empty()?);
            Ok(())
        }),
    ),
    row(
        "rpc_address",
        "listen_address",
        ALL,
        "The address that clients connect to, with Thrift and with the native protocol. 0.0.0.0 is every interface.",
        Effect::Value(|draft, value| {
            draft.rpc_address = Some(value.not_empty()?);
            Ok(())
        }),
    ),
    row(
        "rpc_port",
        "9160",
        ALL,
        "The port that Thrift clients connect to. 0 picks a free one.",
        Effect::Value(|draft, value| {
            draft.rpc_port = Some(value.port()?);
            Ok(())
        }),
    ),
    row(
        "thrift_framed_transport_size_in_mb",
        "15",
        ALL,
        "0 means unframed clients in 0.7. No effect: the server detects framed and unframed clients.",
        Effect::Value(|_, value| value.at_least(0).map(drop)),
    ),
    row(
        "start_native_transport",
        "true",
        FROM_1_2,
        "Whether the server accepts clients of the CQL native protocol.",
        Effect::Value(|draft, value| {
            draft.native_transport = Some(boolean(value)?);
            Ok(())
        }),
    ),
    row(
        "native_transport_port",
        "9042",
        FROM_1_2,
        "The port that clients of the native protocol connect to. 0 picks a free one.",
        Effect::Value(|draft, value| {
            draft.native_port = Some(value.port()?);
            Ok(())
        }),
    ),
    row(
        "client_encryption_options",
        "",
        FROM_1_2,
        "With `enabled: true` the server starts with TLS only: give --tls-certificate and --tls-key, because it reads no \
         Java keystore.",
        Effect::Node(|draft, entry, reading| {
            for option in map("client_encryption_options", &entry.value, reading) {
                let is_true = option.value.text().is_some_and(|text| text.value.eq_ignore_ascii_case("true"));
                draft.needs_tls |= option.key.value == "enabled" && is_true;
            }
        }),
    ),
    // Time limits.
    row(
        "rpc_timeout_in_ms",
        "no limit",
        TO_1_1,
        "Reads, scans and writes that take longer fail with TimedOutException; such a write may still be applied.",
        Effect::Value(|draft, value| {
            draft.timeouts.all_ms = time_limit(value)?;
            Ok(())
        }),
    ),
    row(
        "request_timeout_in_ms",
        "no limit",
        FROM_1_2,
        "The same for requests without a limit of their own.",
        Effect::Value(|draft, value| {
            draft.timeouts.all_ms = time_limit(value)?;
            Ok(())
        }),
    ),
    row(
        "read_request_timeout_in_ms",
        "request_timeout_in_ms",
        FROM_1_2,
        "The limit of a read by keys.",
        Effect::Value(|draft, value| {
            draft.timeouts.read_ms = time_limit(value)?;
            Ok(())
        }),
    ),
    row(
        "range_request_timeout_in_ms",
        "request_timeout_in_ms",
        FROM_1_2,
        "The limit of a scan, or of a read by an index.",
        Effect::Value(|draft, value| {
            draft.timeouts.range_ms = time_limit(value)?;
            Ok(())
        }),
    ),
    row(
        "write_request_timeout_in_ms",
        "request_timeout_in_ms",
        FROM_1_2,
        "The limit of a write.",
        Effect::Value(|draft, value| {
            draft.timeouts.write_ms = time_limit(value)?;
            Ok(())
        }),
    ),
    row(
        "truncate_request_timeout_in_ms",
        "no limit",
        FROM_1_2,
        "The limit of a truncate.",
        Effect::Value(|draft, value| {
            draft.timeouts.truncate_ms = time_limit(value)?;
            Ok(())
        }),
    ),
];
