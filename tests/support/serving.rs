//! A Thrift and a native listener in the test process, with chosen limits and a store in memory.

use std::net::SocketAddr;
use std::sync::Arc;

use thriftstore::compat::features::ReportedVersion;
use thriftstore::config;
use thriftstore::db::{Authenticator, Database, DatabaseParts};
use thriftstore::marshal::Types;
use thriftstore::native::NativeService;
use thriftstore::server::{Admission, ConnectionLimits, Encryption, Listener, Shutdown};
use thriftstore::storage::EmbeddedStore;
use thriftstore::thrift::{Compat, Service};
use thriftstore::util::Clock;
use tokio::runtime::Runtime;

use super::client::{Client, PATIENCE, Style};
use super::server::storage_conf;

/// Running listeners and their addresses.
pub struct Serving {
    runtime: Runtime,
    shutdown: Shutdown,
    pub thrift: SocketAddr,
    pub native: SocketAddr,
}

impl Serving {
    /// Serves `storage_conf("")` without logins.
    pub fn limited(limits: ConnectionLimits) -> Serving {
        Serving::start(limits, Authenticator::AllowAll, None)
    }

    pub fn start(
        limits: ConnectionLimits,
        authenticator: Authenticator,
        encryption: Option<Encryption>,
    ) -> Serving {
        let config = config::parse(&storage_conf(""), "storage-conf.xml", &Types::builtin()).unwrap();
        let clock = Arc::new(Clock::system());
        let store = EmbeddedStore::in_memory(config.partitioner.clone(), &config.catalog, clock.clone());
        let store = Arc::new(store.unwrap());
        let parts = DatabaseParts::new(Arc::new(config.catalog), store, config.partitioner, clock);
        let database = Arc::new(Database::new(DatabaseParts { authenticator, ..parts }));
        let thrift = Service::new(database.clone(), Compat::default());
        let native = NativeService::new(database, thrift.statements.clone(), ReportedVersion::default());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let shutdown = Shutdown::new();
        let admission = Admission::limited(shutdown.signal().unwrap(), limits);
        let admission = admission.with_encryption(encryption.map(Arc::new));
        let [thrift, native] = runtime.block_on(async {
            let [first, second] = [0; 2].map(|_| Listener::bind("127.0.0.1:0").unwrap());
            let addresses = [first.address, second.address];
            tokio::spawn(first.run(thrift, admission.clone()));
            tokio::spawn(second.run(native, admission));
            addresses
        });
        Serving { runtime, shutdown, thrift, native }
    }

    pub fn client(&self, style: Style) -> Client {
        Client::connect(self.thrift, style)
    }

    /// Shuts the listeners down, and checks that all connections end in time.
    pub fn stop(self) {
        assert!(self.runtime.block_on(self.shutdown.end(PATIENCE)), "some connections did not end");
    }
}
