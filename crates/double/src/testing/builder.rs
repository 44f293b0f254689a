//! The settings of a test's server.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use super::server::{Server, TestingError};
use crate::control::ClientPorts;
use base::compat::features::ReportedVersion;
use base::marshal::Types;
use base::util::Clock;
use base::util::meter::RequestLimits;
use config::Config;
use db::{Authenticator, Database, DatabaseParts};
use embedded::EmbeddedStore;
use net::{ConnectionLimits, Encryption};
use server::thrift::Compat;

/// Where the configuration comes from.
enum Source {
    BuiltIn,
    File(PathBuf),
    Text(String),
}

/// The settings of a [`Server`].
pub struct ServerBuilder {
    config: Source,
    types: Types,
    pub(super) authenticator: Authenticator,
    pub(super) encryption: Option<Arc<Encryption>>,
    pub(super) limits: ConnectionLimits,
    compat: Compat,
    reported: ReportedVersion,
}

impl Default for ServerBuilder {
    fn default() -> ServerBuilder {
        ServerBuilder {
            config: Source::BuiltIn,
            types: Types::builtin(),
            authenticator: Authenticator::AllowAll,
            encryption: None,
            limits: ConnectionLimits::default(),
            compat: Compat::default(),
            reported: ReportedVersion::default(),
        }
    }
}

impl ServerBuilder {
    /// Uses a `storage-conf.xml` or `cassandra.yaml` for partitioner and keyspaces. Its addresses, directories and logins
    /// are not used. The default is the sample `storage-conf.xml` with the blog schema.
    #[must_use]
    pub fn config_file(self, file: impl Into<PathBuf>) -> ServerBuilder {
        ServerBuilder { config: Source::File(file.into()), ..self }
    }

    /// Does the same with the text of a `storage-conf.xml`.
    #[must_use]
    pub fn config_text(self, text: impl Into<String>) -> ServerBuilder {
        ServerBuilder { config: Source::Text(text.into()), ..self }
    }

    /// Sets the types that the schema may use, for comparators of the application's own.
    #[must_use]
    pub fn types(self, types: Types) -> ServerBuilder {
        ServerBuilder { types, ..self }
    }

    /// Requires logins.
    #[must_use]
    pub fn authenticator(self, authenticator: Authenticator) -> ServerBuilder {
        ServerBuilder { authenticator, ..self }
    }

    /// Serves both ports with TLS.
    #[must_use]
    pub fn encryption(self, encryption: Encryption) -> ServerBuilder {
        ServerBuilder { encryption: Some(Arc::new(encryption)), ..self }
    }

    /// Sets the limits of connections.
    #[must_use]
    pub fn limits(self, limits: ConnectionLimits) -> ServerBuilder {
        ServerBuilder { limits, ..self }
    }

    /// Sets the releases whose behaviour Thrift calls get, as `--compat` does.
    #[must_use]
    pub fn compat(self, compat: Compat) -> ServerBuilder {
        ServerBuilder { compat, ..self }
    }

    /// Sets the version that the native protocol reports, as `--claim` does.
    #[must_use]
    pub fn reported_version(self, reported: ReportedVersion) -> ServerBuilder {
        ServerBuilder { reported, ..self }
    }

    /// Starts the server.
    ///
    /// # Errors
    /// If the configuration is wrong, or if no port is free.
    pub fn start(self) -> Result<Server, TestingError> {
        Server::with(self)
    }

    fn config(&self) -> Result<Config, TestingError> {
        let config = match &self.config {
            Source::BuiltIn => config::parse(config::DEFAULT, config::DEFAULT_NAME, &self.types),
            Source::File(file) => config::load(file, &self.types),
            Source::Text(text) => config::parse(text, "storage-conf.xml", &self.types),
        };
        config.map_err(|errors| TestingError::new(errors.to_string()))
    }

    /// Returns the settings of the ports.
    pub(super) fn ports(&self) -> ClientPorts {
        let host = Ipv4Addr::LOCALHOST.into();
        let (compat, reported) = (self.compat, self.reported.clone());
        ClientPorts { hosts: (host, host), compat, reported, limits: RequestLimits::default() }
    }

    /// Makes the database, without its stored schema.
    pub(super) fn database(&self) -> Result<Arc<Database>, TestingError> {
        let config = self.config()?;
        let (catalog, clock) = (Arc::new(config.catalog), Arc::new(Clock::adjustable()));
        let store = EmbeddedStore::in_memory(config.partitioner.clone(), &catalog, clock.clone());
        let store = store.map_err(|error| TestingError::new(error.to_string()))?;
        let database = Database::new(DatabaseParts {
            authenticator: self.authenticator.clone(),
            types: self.types.clone(),
            cluster_name: config.cluster_name,
            config_text: config.text,
            ..DatabaseParts::new(catalog, Arc::new(store), config.partitioner, clock)
        });
        Ok(Arc::new(database.with_gate().with_faults()))
    }
}
