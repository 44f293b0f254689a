//! The settings of the server: the elements of `<Storage>`, and the top level of a cassandra.yaml.

use super::draft::{Draft, SyncChoice};
use super::load::STORAGE;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::setting::{SettingParts, SettingTarget, assign, unset};
use super::settings::{AuthenticatorKind, Authority};
use super::value::SettingValue;
use super::{cluster, encryption, keyspace, lists};
use base::partitioner;

impl SettingTarget for Draft {
    fn part(&self) -> &'static str {
        STORAGE
    }

    fn set(&mut self, id: &str, value: &SettingValue<'_>) -> Result<(), Mistake> {
        let config = &mut self.config;
        match id {
            "ClusterName" => assign(&mut config.cluster_name, Ok(value.text)),
            "Partitioner" => set_partitioner(self, value),
            "InitialToken" => assign(&mut self.initial_token, Ok(value.given.clone())),
            "Authenticator" => set_authenticator(self, value),
            // The same setting; the later one counts.
            "Authority" | "Authorizer" => set_authority(self, value),
            "ReplicaPlacementStrategy" => {
                assign(&mut self.replication.strategy_class, keyspace::strategy(value))
            }
            "ReplicationFactor" => assign(&mut self.replication.factor, value.at_least(0)),
            "CommitLogDirectory" => assign(&mut config.commit_log_directory, Ok(value.text)),
            "CommitLogSync" => set_sync_mode(self, value),
            "CommitLogSyncPeriodInMS" => assign(&mut self.sync_period_ms, value.time_limit_ms()),
            "CommitLogSyncBatchWindowInMS" => assign(&mut self.sync_window_ms, value.positive_double()),
            "ListenAddress" => assign(&mut config.listen_address, value.not_empty()),
            "ThriftAddress" => assign(&mut config.thrift_address, value.not_empty()),
            "ThriftPort" => assign(&mut config.thrift_port, value.port()),
            "ThriftFramedTransport" => assign(&mut config.thrift_framed, value.boolean()),
            "thrift_framed_transport_size_in_mb" => value.at_least(0).map(drop),
            "StartNativeTransport" => assign(&mut config.native_transport, value.boolean()),
            "NativeTransportAddress" => assign(&mut config.native_address, value.not_empty()),
            "NativeTransportPort" => assign(&mut config.native_port, value.port()),
            "RpcTimeoutInMillis" | "request_timeout_in_ms" => {
                assign(&mut config.timeouts.all_ms, value.time_limit_ms())
            }
            "read_request_timeout_in_ms" => assign(&mut config.timeouts.read_ms, value.time_limit_ms()),
            "range_request_timeout_in_ms" => assign(&mut config.timeouts.range_ms, value.time_limit_ms()),
            "write_request_timeout_in_ms" => assign(&mut config.timeouts.write_ms, value.time_limit_ms()),
            "truncate_request_timeout_in_ms" => {
                assign(&mut config.timeouts.truncate_ms, value.time_limit_ms())
            }
            "GCGraceSeconds" => assign(&mut self.gc_grace_s, value.at_least(0)),
            _ => unset(id),
        }
    }

    fn read(&mut self, id: &str, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
        match id {
            "Keyspaces" => keyspace::read_keyspaces(self, given, reading),
            "DataFileDirectories" => lists::read_data_directories(self, given, reading),
            "Seeds" => lists::read_seeds(self, given, reading),
            cluster::CLUSTER => cluster::read_cluster(self, given, reading),
            encryption::ENCRYPTION => encryption::read_encryption(self, given, reading),
            _ => debug_assert!(false, "no code reads the setting {id}"),
        }
    }
}

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
