//! Opens the data of a tool: of a server that is not running, or of a CQL script in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::message::{drawing, load_config};
use crate::cli::Result;
use base::compat::Behaviour;
use base::marshal::Types;
use base::partitioner;
use base::partitioner::PartitionerRef;
use base::util::{Clock, Release};
use cql::QueryState;
use db::{Authenticator, Database, DatabaseParts};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode, check_not_foreign};
use store::Store;

/// Cache for data blocks in bytes: a tool reads little.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug, Args)]
pub(super) struct DataArgs {
    /// The configuration of the server [default: as for `serve`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data directory, instead of the configuration's DataFileDirectory. The server must not be running
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Run the CQL statements of this file in memory, and use their data instead of a server's
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "data_dir"])]
    schema: Option<PathBuf>,
    /// The keyspace of names without one
    #[arg(long, value_name = "NAME")]
    keyspace: Option<String>,
    /// The release whose behaviour and texts apply
    #[arg(long, value_name = "VERSION", default_value = "2.1")]
    compat: Release,
}

/// An open database.
pub(super) struct OpenedData {
    pub database: Arc<Database>,
    pub behaviour: &'static Behaviour,
    pub keyspace: Option<String>,
}

impl OpenedData {
    pub(super) async fn open(args: &DataArgs, types: &Types) -> Result<OpenedData> {
        let mut data = match &args.schema {
            Some(_) => OpenedData::in_memory(args, types)?,
            None => OpenedData::of_server(args, types)?,
        };
        let loaded = data.database.stored_schema().load().await;
        loaded.map_err(|error| format!("cannot read the schema that clients created: {error}"))?;
        if let Some(file) = &args.schema {
            data.run_script(file).await?;
        }
        data.keyspace = args.keyspace.clone().or(data.keyspace.take());
        Ok(data)
    }

    /// Returns the state of queries, with all rights: users that can read the files can read the data.
    pub(super) fn state(&self) -> QueryState<'_> {
        let keyspace = self.keyspace.as_deref();
        QueryState { keyspace, ..QueryState::of_release(&self.database, self.behaviour) }
    }

    pub(super) async fn close(self) -> Result<()> {
        let closed = self.database.store().close().await;
        closed.map_err(|error| format!("the store did not close cleanly: {error}"))
    }

    fn in_memory(args: &DataArgs, types: &Types) -> Result<OpenedData> {
        let config = config::parse(EMPTY, "built-in configuration", types);
        let config = config.map_err(|errors| drawing(&errors))?;
        let clock = Arc::new(Clock::system());
        let store = EmbeddedStore::in_memory(config.partitioner.clone(), &config.catalog, clock.clone())
            .map_err(|error| format!("cannot open a store in memory: {error}"))?;
        Ok(OpenedData::over(args, Arc::new(store), config, clock, types))
    }

    fn of_server(args: &DataArgs, types: &Types) -> Result<OpenedData> {
        let config = load_config(args.config.as_deref(), types)?;
        let directory = directory(args.data_dir.as_deref(), &config);
        if !directory.is_dir() {
            return Err(format!(
                "no data directory at {}: set it with --data-dir DIR, or run statements in memory with --schema FILE",
                directory.display()
            ));
        }
        check_not_foreign(&directory).map_err(|why| why.to_string())?;
        let clock = Arc::new(Clock::system());
        let partitioner: PartitionerRef = config.partitioner.clone();
        let options = EmbeddedOptions {
            directory,
            sync: SyncMode::Periodic(Duration::from_secs(10)),
            cache_bytes: CACHE_BYTES,
        };
        let store = EmbeddedStore::open(options, partitioner, &config.catalog, clock.clone())
            .map_err(|error| format!("cannot open the data directory: {error}"))?;
        Ok(OpenedData::over(args, Arc::new(store), config, clock, types))
    }

    fn over(
        args: &DataArgs,
        store: Arc<dyn Store>,
        config: config::Config,
        clock: Arc<Clock>,
        types: &Types,
    ) -> OpenedData {
        let database = Arc::new(Database::new(DatabaseParts {
            catalog: Arc::new(config.catalog),
            store,
            partitioner: config.partitioner,
            authenticator: Authenticator::AllowAll,
            clock,
            types: types.clone(),
            cluster_name: config.cluster_name,
            config_text: config.text,
            token: String::new(),
            endpoint: config.listen_address,
        }));
        OpenedData { database, behaviour: Behaviour::of(args.compat), keyspace: None }
    }

    /// Runs the statements of a file. USE applies to the statements after it.
    async fn run_script(&mut self, file: &Path) -> Result<()> {
        let script = std::fs::read_to_string(file);
        let script = script.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let outcome = cql::run_script(&self.state(), &script).await;
        let outcome = outcome.map_err(|error| format!("{}: {error}", file.display()))?;
        self.keyspace = outcome.keyspace;
        Ok(())
    }
}

/// Returns the partitioner with a name of the command line.
pub(super) fn partitioner_named(name: &str) -> Result<PartitionerRef> {
    partitioner::resolve(name).ok_or_else(|| {
        let known: Vec<&str> = partitioner::PARTITIONERS.iter().map(|(name, _)| *name).collect();
        format!("--partitioner {name}: there is no such partitioner; use {}", known.join(", "))
    })
}

/// Returns the data directory: of the command line, else of the configuration.
pub(super) fn directory(given: Option<&Path>, config: &config::Config) -> PathBuf {
    let configured = config.data_directories.first().map(PathBuf::as_path);
    given.or(configured).unwrap_or(Path::new("data")).to_owned()
}

/// The configuration of data that a script creates.
const EMPTY: &str = "<Storage>
  <ClusterName>script</ClusterName>
  <Partitioner>org.apache.cassandra.dht.Murmur3Partitioner</Partitioner>
</Storage>";

/// Runs a tool until it is done.
pub(super) fn run<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| format!("cannot start: {error}"))?.block_on(work)
}
