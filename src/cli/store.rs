//! Opens the store of a server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::cluster::ClusterArgs;
use super::{data, gateway};
use crate::cli::Result;
use base::partitioner::PartitionerRef;
use base::util::{Clock, process_memory};
use config::{Cluster, CommitLogSync, Config};
use embedded::{
    EmbeddedOptions, EmbeddedStore, SyncMode, check_not_foreign, check_not_of_cassandra, check_parents,
};
use store::Store;

/// The default size of the block cache in megabytes.
const CACHE_MB: u64 = 256;

#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct StoreArgs {
    /// The data directory [default: the configuration's]
    ///
    /// It overrides DataFileDirectory of the configuration.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Store data in memory only, for tests
    #[arg(long)]
    ephemeral: bool,
    /// Use the data directory even if its path looks wrong: it has files of others, or directories above it are missing
    #[arg(long, hide_short_help = true)]
    any_data_dir: bool,
    /// Size of the cache, in megabytes [default: 256, or a quarter of the memory that the process may use if that is
    /// less, an eighth under a limit of data or address space]
    #[arg(long, value_name = "MB", hide_short_help = true)]
    cache_mb: Option<u64>,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Where data is stored.
#[derive(Debug, PartialEq)]
pub(super) enum Storage {
    Memory,
    Directory(PathBuf),
    Cluster(Box<Cluster>),
}

impl Storage {
    /// Whether the rows are on a cluster, and this server is a gateway.
    pub(super) fn is_cluster(&self) -> bool {
        match self {
            Storage::Cluster(_) => true,
            Storage::Memory | Storage::Directory(_) => false,
        }
    }

    /// Whether nothing is left when the server ends.
    pub(super) fn is_in_memory(&self) -> bool {
        match self {
            Storage::Memory => true,
            Storage::Cluster(_) | Storage::Directory(_) => false,
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Storage::Memory => write!(out, "in memory"),
            Storage::Directory(directory) => write!(out, "in {}", directory.display()),
            Storage::Cluster(cluster) => {
                write!(out, "on the cluster at {}", cluster.contact_points.join(", "))
            }
        }
    }
}

/// An open store, with its partitioner and token.
pub(super) struct OpenStore {
    pub store: Arc<dyn Store>,
    pub partitioner: PartitionerRef,
    /// The node's token, as text.
    pub token: String,
    /// The store if it is in a data directory, for an archive.
    pub on_disk: Option<Arc<EmbeddedStore>>,
}

impl StoreArgs {
    /// Returns the size of the cache in bytes.
    pub(super) fn cache_bytes(&self) -> u64 {
        let bytes = self.cache_mb.unwrap_or(CACHE_MB).saturating_mul(1024 * 1024);
        match self.cache_mb {
            Some(_) => bytes,
            None => bytes.min(process_memory::cache_bytes_max() as u64),
        }
    }

    /// Returns where data is stored: by the command line, else by the configuration.
    ///
    /// # Errors
    ///
    /// Names the options that contradict each other or have no effect.
    pub(super) fn place(&self, config: &Config) -> Result<Storage> {
        if self.ephemeral && self.data_dir.is_some() {
            return Err(
                "--ephemeral stores data in memory, and --data-dir in a directory: remove one of them"
                    .to_owned(),
            );
        }
        let place = self.place_of_data(config)?;
        if let (Some(option), false) = (self.first_of_directory(), matches!(place, Storage::Directory(_))) {
            return Err(format!(
                "{option} has no effect: it is for a data directory, and data is stored {place}; remove it"
            ));
        }
        Ok(place)
    }

    /// Returns the first given option that is for data directories only.
    fn first_of_directory(&self) -> Option<&'static str> {
        let given = [(self.cache_mb.is_some(), "--cache-mb"), (self.any_data_dir, "--any-data-dir")];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    fn place_of_data(&self, config: &Config) -> Result<Storage> {
        let local = match (self.ephemeral, &self.data_dir) {
            (true, _) => Some("--ephemeral"),
            (false, Some(_)) => Some("--data-dir"),
            (false, None) => None,
        };
        match (self.cluster.over(config.cluster.clone())?, local) {
            (Some(_), Some(flag)) if self.cluster.names_nodes() => Err(format!(
                "--cluster stores data on a cluster, and {flag} on this machine: remove one of them"
            )),
            (Some(_), Some(flag)) => Err(format!(
                "the configuration's <Cluster> stores data on a cluster, and {flag} on this machine: remove {flag}, or add \
                 --cluster off"
            )),
            (Some(cluster), None) => Ok(Storage::Cluster(Box::new(cluster))),
            (None, _) if self.ephemeral => Ok(Storage::Memory),
            (None, _) => Ok(Storage::Directory(data::directory(self.data_dir.as_deref(), config))),
        }
    }

    /// Checks the path of the data directory, and unless --data-dir names it, that the directories that the
    /// configuration names besides it hold no files of Cassandra. All levels of a relative path of the configuration
    /// are made, as by the old servers: it begins in the directory in which the server was started.
    fn check_directories(&self, directory: &Path, config: &Config) -> Result<()> {
        let is_complete = self.data_dir.is_none() && directory.is_relative();
        let above = if is_complete { Ok(()) } else { check_parents(directory) };
        let checked = above.and_then(|()| check_not_foreign(directory));
        checked.map_err(|why| format!("{why}\n--any-data-dir uses it anyway"))?;
        let others = if self.data_dir.is_some() { &[] } else { &config.unused_directories[..] };
        for other in others {
            check_not_of_cassandra(other).map_err(|why| {
                format!("{why}\nset --data-dir DIR for the data of thriftstore, or remove the directory from the configuration")
            })?;
        }
        Ok(())
    }

    /// Opens the store.
    pub(super) async fn open(&self, place: Storage, config: &Config, clock: Arc<Clock>) -> Result<OpenStore> {
        let partitioner = config.partitioner.clone();
        match place {
            Storage::Cluster(cluster) => gateway::open(&cluster, config, clock).await,
            Storage::Memory => {
                let token = config.initial_token.clone().unwrap_or_else(|| random_token(&partitioner));
                let store = EmbeddedStore::in_memory(partitioner.clone(), &config.catalog, clock)
                    .map_err(|error| format!("cannot open a store in memory: {error}"))?;
                Ok(OpenStore { store: Arc::new(store), partitioner, token, on_disk: None })
            }
            Storage::Directory(directory) => {
                if !self.any_data_dir {
                    self.check_directories(&directory, config)?;
                }
                let options = EmbeddedOptions {
                    directory,
                    sync: sync_mode(config.commit_log_sync),
                    cache_bytes: self.cache_bytes(),
                };
                let store = EmbeddedStore::open(options, partitioner.clone(), &config.catalog, clock)
                    .map_err(|error| format!("cannot open the data directory: {error}"))?;
                let token = config.initial_token.clone().unwrap_or_else(|| random_token(&partitioner));
                let token = store.token_or_new(&token).map_err(|error| error.to_string())?;
                let store = Arc::new(store);
                Ok(OpenStore { store: store.clone(), partitioner, token, on_disk: Some(store) })
            }
        }
    }
}

/// Returns a random token as text.
pub(super) fn random_token(partitioner: &PartitionerRef) -> String {
    let chance = uuid::Uuid::new_v4().as_u128();
    partitioner.token_text(&partitioner.random_token(chance))
}

fn sync_mode(configured: CommitLogSync) -> SyncMode {
    match configured {
        CommitLogSync::Periodic { period_ms } => SyncMode::Periodic(Duration::from_millis(period_ms)),
        // The store syncs at once: writers share syncs without waiting for the window.
        CommitLogSync::Batch { .. } => SyncMode::Batch,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use base::marshal::Types;

    #[derive(Debug, Parser)]
    struct StoreWords {
        #[command(flatten)]
        store: StoreArgs,
    }

    fn place(line: &str, elements: &str) -> Result<Storage> {
        let words = ["serve"].into_iter().chain(line.split_whitespace());
        let args = StoreWords::try_parse_from(words).unwrap().store;
        let file = format!("<Storage>{elements}</Storage>");
        args.place(&config::parse(&file, "a.xml", &Types::builtin()).unwrap())
    }

    const CLUSTER: &str = "<Cluster><ContactPoints><ContactPoint>a</ContactPoint></ContactPoints></Cluster>";

    #[test]
    fn the_place_of_data_is_of_the_command_line_and_then_of_the_configuration() {
        let directories =
            "<DataFileDirectories><DataFileDirectory>d</DataFileDirectory></DataFileDirectories>";
        assert_eq!(place("", directories), Ok(Storage::Directory("d".into())));
        assert_eq!(place("--data-dir e", directories), Ok(Storage::Directory("e".into())));
        assert_eq!(place("--ephemeral", directories), Ok(Storage::Memory));
        assert_eq!(place("--cache-mb 9 --any-data-dir", directories), Ok(Storage::Directory("d".into())));
        let cluster = |line: &str, elements: &str, node: &str| match place(line, elements) {
            Ok(Storage::Cluster(cluster)) => assert_eq!(cluster.contact_points, [node]),
            other => panic!("{other:?}"),
        };
        cluster("", CLUSTER, "a:9042");
        cluster("", &format!("{directories}{CLUSTER}"), "a:9042");
        cluster("--cluster b:1", directories, "b:1");
        assert_eq!(place("--cluster off", CLUSTER), Ok(Storage::Directory("data/data".into())));
        assert_eq!(place("--cluster off --data-dir e", CLUSTER), Ok(Storage::Directory("e".into())));
        assert_eq!(place("--cluster off --ephemeral", CLUSTER), Ok(Storage::Memory));
    }

    #[test]
    fn directories_of_a_yaml_must_not_hold_files_of_cassandra() {
        let directory = tempfile::tempdir().unwrap();
        let (data, log) = (directory.path().join("data"), directory.path().join("log"));
        let yaml = format!("data_file_directories: [{data:?}]\ncommitlog_directory: {log:?}\n");
        let config = config::parse(&yaml, "cassandra.yaml", &Types::builtin()).unwrap();
        let checked = |line: &str| {
            let words = ["serve"].into_iter().chain(line.split_whitespace());
            let args = StoreWords::try_parse_from(words).unwrap().store;
            args.check_directories(&data, &config)
        };
        assert_eq!(checked(""), Ok(()));
        std::fs::create_dir(&log).unwrap();
        std::fs::write(log.join("CommitLog-1.log"), "").unwrap();
        let why = checked("").unwrap_err();
        assert!(why.contains("CommitLog-1.log is in it") && why.contains("set --data-dir DIR"), "{why}");
        assert_eq!(checked("--data-dir elsewhere"), Ok(()), "the directories of the file are not used");
    }

    #[test]
    fn a_cluster_and_a_local_place_contradict_each_other() {
        for (line, elements, why) in [
            (
                "--cluster a --ephemeral",
                "",
                "--cluster stores data on a cluster, and --ephemeral on this machine",
            ),
            ("--cluster a --data-dir e", CLUSTER, "--cluster stores data on a cluster, and --data-dir"),
            ("--data-dir e", CLUSTER, "<Cluster> stores data on a cluster, and --data-dir"),
            ("--ephemeral", CLUSTER, "add --cluster off"),
            ("--ephemeral --data-dir e", "", "--ephemeral stores data in memory, and --data-dir"),
            (
                "--ephemeral --cache-mb 9",
                "",
                "--cache-mb has no effect: it is for a data directory, and data is stored in memory",
            ),
            ("--cluster a --cache-mb 9", "", "--cache-mb has no effect"),
            ("--ephemeral --any-data-dir", "", "--any-data-dir has no effect"),
        ] {
            let error = place(line, elements).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
