//! The server to which `thriftstore replay` sends calls: one that runs elsewhere, or one in memory.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;

use super::control::LoadSource;
use crate::cli::Result;
use base::compat::features::ReportedVersion;
use base::partitioner::resolve;
use base::util::Release;
use double::testing::{Server, Snapshot};
use server::thrift::Compat;
use traffic::replay::{CandidateServer, FreshServer};

/// Returns the configuration of a server in memory without --config: it has no keyspaces.
fn configuration(partitioner: Option<&str>) -> String {
    // A class of the application cannot be had.
    let known = partitioner.filter(|class| resolve(class).is_some());
    let partitioner = known.map(|class| format!("<Partitioner>{class}</Partitioner>")).unwrap_or_default();
    format!("<Storage>{partitioner}<Keyspaces/></Storage>")
}

#[derive(Debug, Args)]
pub(super) struct ReplayServerArgs {
    /// Send the calls to this server [default: to a server in memory, which this command starts]
    #[arg(long, value_name = "HOST:PORT")]
    against: Option<String>,
    /// That server's address of the native protocol [default: calls of that protocol are not compared]
    #[arg(long, value_name = "HOST:PORT", requires = "against")]
    against_cql: Option<String>,
    /// Run this command, with `sh -c`, before each replay: it brings that server into the state in which the recording began
    #[arg(long, value_name = "COMMAND", requires = "against")]
    fresh: Option<String>,
    /// The release whose behaviour the server in memory has, as in `serve`
    #[arg(long, value_name = "VERSION", value_parser = Compat::release, conflicts_with = "against")]
    compat: Vec<Release>,
    /// The version that the server in memory reports to drivers, as in `serve`
    #[arg(long, value_name = "VERSION", value_parser = ReportedVersion::new, conflicts_with = "against")]
    claim: Option<ReportedVersion>,
    /// The configuration of the server in memory, for its keyspaces and partitioner: a storage-conf.xml or a cassandra.yaml
    /// [default: the partitioner that the recording names, and no keyspaces]
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    config: Option<PathBuf>,
    /// Load the data with which the recording began into the server in memory, as in `serve`: a data directory, a backup,
    /// FILE.cql, FILE.cli, FILE.json, or thrift:HOST:PORT; may be given several times
    #[arg(long, value_name = "SOURCE", conflicts_with = "against")]
    load: Vec<LoadSource>,
}

/// A server that can be brought into the state in which a recording began.
pub(super) enum ReplayServer {
    Other {
        candidate: CandidateServer,
        fresh: Option<String>,
    },
    /// Only one replay uses it at a time.
    Own {
        candidate: CandidateServer,
        server: Arc<Mutex<OwnServer>>,
    },
}

/// A server in memory, with its state at the beginning. The snapshot is dropped before the server.
pub(super) struct OwnServer {
    start: Snapshot,
    server: Server,
}

impl ReplayServerArgs {
    /// Returns the server, which runs. A server in memory has this partitioner, unless --config names another one.
    ///
    /// # Errors
    ///
    /// If the server in memory cannot be started, or its data cannot be loaded.
    pub(super) async fn open(&self, partitioner: Option<&str>) -> Result<ReplayServer> {
        match &self.against {
            None => self.in_memory(partitioner).await,
            Some(thrift) => {
                let candidate = CandidateServer { thrift: thrift.clone(), native: self.against_cql.clone() };
                Ok(ReplayServer::Other { candidate, fresh: self.fresh.clone() })
            }
        }
    }

    /// Returns a server in memory.
    pub(super) async fn in_memory(&self, partitioner: Option<&str>) -> Result<ReplayServer> {
        let compat = Compat::of(&self.compat).map_err(|error| format!("--compat: {error}"))?;
        let builder = Server::builder().compat(compat);
        let builder = match &self.config {
            Some(file) => builder.config_file(file),
            None => builder.config_text(configuration(partitioner)),
        };
        let builder = match &self.claim {
            Some(claim) => builder.reported_version(claim.clone()),
            None => builder,
        };
        let server = builder.start().map_err(|error| error.to_string())?;
        for source in &self.load {
            source.load(server.control().database()).await?;
        }
        let start = server.snapshot().map_err(|error| error.to_string())?;
        let candidate = CandidateServer {
            thrift: server.thrift_address().to_string(),
            native: Some(server.native_address().to_string()),
        };
        Ok(ReplayServer::Own { candidate, server: Arc::new(Mutex::new(OwnServer { start, server })) })
    }

    /// Returns the options that select the server, for a command line that repeats the replay.
    pub(super) fn options(&self) -> String {
        let mut options = String::new();
        let mut add = |name: &str, value: &str| {
            options.push_str(&format!(" --{name} {}", quoted(value)));
        };
        let texts = [("against", &self.against), ("against-cql", &self.against_cql), ("fresh", &self.fresh)];
        for (name, value) in texts {
            if let Some(value) = value {
                add(name, value);
            }
        }
        self.compat.iter().for_each(|release| add("compat", &release.to_string()));
        if let Some(claim) = &self.claim {
            add("claim", claim.release_version());
        }
        if let Some(config) = &self.config {
            add("config", &config.display().to_string());
        }
        self.load.iter().for_each(|source| add("load", &source.to_string()));
        options
    }
}

/// Returns a text as a word of a shell.
pub(super) fn quoted(text: &str) -> String {
    let is_special = |letter: char| !letter.is_ascii_alphanumeric() && !"-_./:=,+@%".contains(letter);
    if text.is_empty() || text.contains(is_special) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    text.to_owned()
}

impl ReplayServer {
    /// Returns the name of the server in reports.
    pub(super) fn name(&self) -> String {
        match self {
            ReplayServer::Own { .. } => "thriftstore, in memory".to_owned(),
            ReplayServer::Other { candidate, .. } => [Some(&candidate.thrift), candidate.native.as_ref()]
                .into_iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    /// Returns whether the server is another one than that in memory.
    pub(super) fn is_other(&self) -> bool {
        matches!(self, ReplayServer::Other { .. })
    }

    /// Whether the server can be brought into the state in which the recording began.
    pub(super) fn can_be_fresh(&self) -> bool {
        !matches!(self, ReplayServer::Other { fresh: None, .. })
    }
}

impl FreshServer for ReplayServer {
    async fn fresh(&mut self) -> Result<CandidateServer> {
        match self {
            ReplayServer::Other { candidate, fresh: None } => Ok(candidate.clone()),
            ReplayServer::Other { candidate, fresh: Some(command) } => {
                let run = command.clone();
                let ended =
                    tokio::task::spawn_blocking(move || Command::new("sh").arg("-c").arg(run).status()).await;
                let ended = ended.map_err(|error| error.to_string())?;
                match ended.map_err(|error| format!("--fresh: cannot run sh: {error}"))? {
                    status if status.success() => Ok(candidate.clone()),
                    status => Err(format!("--fresh {command:?} has failed: {status}")),
                }
            }
            ReplayServer::Own { candidate, server } => {
                let server = server.clone();
                let restored = tokio::task::spawn_blocking(move || {
                    let own = server.lock().unwrap_or_else(PoisonError::into_inner);
                    own.server.restore(&own.start)
                });
                restored.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
                Ok(candidate.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_where_needed() {
        assert_eq!(quoted("127.0.0.1:9160"), "127.0.0.1:9160");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
