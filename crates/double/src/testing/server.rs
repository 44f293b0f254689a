//! A server in the process of a test.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::builder::ServerBuilder;
use super::clock::TestClock;
use crate::control::{ClientAddresses, Control, ControlError, LoadBody, ResetScope, Result, SnapshotLimits};
use db::Database;
use db::faults::Faults;
use net::{Admission, Shutdown};

/// The time that a dropped server waits for running requests.
const DROP_PATIENCE: Duration = Duration::from_secs(2);

/// Threads that serve connections.
const THREADS: usize = 2;

/// An error of a test's server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TestingError(String);

impl TestingError {
    pub(super) fn new(why: impl Into<String>) -> TestingError {
        TestingError(why.into())
    }
}

impl From<ControlError> for TestingError {
    fn from(error: ControlError) -> TestingError {
        TestingError(error.why)
    }
}

/// A server that stores everything in memory, on free ports of 127.0.0.1. It stops when it is dropped.
///
/// All methods block, and may be called from asynchronous tests, too: the server has threads of its own.
pub struct Server {
    /// `None` once the server has stopped.
    running: Option<(Arc<Threads>, Shutdown)>,
    control: Arc<Control>,
    faults: Arc<Faults>,
    addresses: ClientAddresses,
    settings: Arc<ServerBuilder>,
    next_snapshot: AtomicU64,
}

/// A snapshot of a [`Server`]: rows, schema and users. Dropping it frees its memory.
pub struct Snapshot {
    name: String,
    control: Arc<Control>,
    runtime: tokio::runtime::Handle,
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let (control, name) = (self.control.clone(), std::mem::take(&mut self.name));
        self.runtime.spawn(async move {
            // It exists: only this value knows its name.
            let _ = control.delete_snapshot(&name).await;
        });
    }
}

/// The threads of a server and of its sandboxes.
struct Threads(Option<Runtime>);

impl Threads {
    fn handle(&self) -> Result<&tokio::runtime::Handle, TestingError> {
        self.0.as_ref().map(Runtime::handle).ok_or_else(stopped)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Waiting for the threads is not allowed in an asynchronous test.
            runtime.shutdown_background();
        }
    }
}

fn stopped() -> TestingError {
    TestingError::new("the server has stopped")
}

impl Server {
    /// Starts a server with the sample configuration, which has the blog schema.
    ///
    /// # Errors
    /// If no port is free.
    pub fn start() -> Result<Server, TestingError> {
        Server::builder().start()
    }

    /// Returns the settings of a server, which can be changed before it starts.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    pub(super) fn with(settings: ServerBuilder) -> Result<Server, TestingError> {
        let database = settings.database()?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
        let runtime = runtime.map_err(|error| TestingError::new(format!("cannot start threads: {error}")))?;
        let (threads, loading) = (Arc::new(Threads(Some(runtime))), database.clone());
        let loaded = run_on(threads.handle()?, async move { loading.stored_schema().load().await })?;
        loaded.map_err(ControlError::from)?;
        Server::serve(threads, database, Arc::new(settings))
    }

    /// Serves a database on these threads.
    fn serve(
        threads: Arc<Threads>,
        database: Arc<Database>,
        settings: Arc<ServerBuilder>,
    ) -> Result<Server, TestingError> {
        let faults = database.faults().cloned().unwrap_or_default();
        let shutdown = Shutdown::new();
        let signal = shutdown.signal().ok_or_else(stopped)?;
        let shared = settings.clone();
        let (control, addresses) = run_on(threads.handle()?, async move {
            let control = Control::new(database, SnapshotLimits::default()).await?;
            let admission = Admission::limited(signal, shared.limits);
            let admission = admission.with_encryption(shared.encryption.clone());
            let addresses = shared.ports().serve(control.database(), admission);
            let addresses = addresses.map_err(|error| TestingError::new(error.to_string()))?;
            Ok::<_, TestingError>((Arc::new(control), addresses))
        })??;
        let running = Some((threads, shutdown));
        Ok(Server { running, control, faults, addresses, settings, next_snapshot: AtomicU64::new(0) })
    }

    /// Returns a further server for a test that runs at the same time as others. It begins with the state at the start
    /// of this one, and has its own data, ports, clock and faults. It uses the threads of this server, which stop with the
    /// last of them.
    ///
    /// # Errors
    /// If no port is free.
    pub fn sandbox(&self) -> Result<Server, TestingError> {
        self.sandbox_with(None)
    }

    /// Returns a further server that begins with a snapshot of this one.
    ///
    /// # Errors
    /// If the snapshot is of another server, or if no port is free.
    pub fn sandbox_from(&self, snapshot: &Snapshot) -> Result<Server, TestingError> {
        self.check_own(snapshot)?;
        self.sandbox_with(Some(snapshot.name.clone()))
    }

    fn sandbox_with(&self, from: Option<String>) -> Result<Server, TestingError> {
        let database = self.run(|control| async move { control.further_database(from.as_deref()).await })?;
        let (threads, _) = self.running.as_ref().ok_or_else(stopped)?;
        Server::serve(threads.clone(), database, self.settings.clone())
    }

    /// Returns the address for Thrift clients.
    pub fn thrift_address(&self) -> SocketAddr {
        self.addresses.thrift
    }

    /// Returns the address for drivers, which use the CQL native protocol.
    pub fn native_address(&self) -> SocketAddr {
        self.addresses.native
    }

    /// Returns to the state at the start: rows, schema and users. Clients stay connected.
    ///
    /// # Errors
    /// If running requests do not end within five seconds.
    pub fn reset(&self) -> Result<(), TestingError> {
        self.run(|control| async move { control.reset(ResetScope::Everything).await })
    }

    /// Removes all rows. Schema and users stay.
    ///
    /// # Errors
    /// If running requests do not end within five seconds.
    pub fn reset_data(&self) -> Result<(), TestingError> {
        self.run(|control| async move { control.reset(ResetScope::Data).await })
    }

    /// Takes a snapshot: rows, schema and users. Takes microseconds, and copies nothing.
    ///
    /// # Errors
    /// If running requests do not end within five seconds, or if there are too many snapshots.
    pub fn snapshot(&self) -> Result<Snapshot, TestingError> {
        let name = format!("testing-{}", self.next_snapshot.fetch_add(1, Ordering::Relaxed));
        let taken = name.clone();
        self.run(|control| async move { control.take_snapshot(&taken).await })?;
        Ok(Snapshot { name, control: self.control.clone(), runtime: self.handle()?.clone() })
    }

    /// Returns to a snapshot. Clients stay connected.
    ///
    /// # Errors
    /// If the snapshot is of another server, or if running requests do not end within five seconds.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<(), TestingError> {
        self.check_own(snapshot)?;
        let name = snapshot.name.clone();
        self.run(|control| async move { control.restore(&name).await })?;
        Ok(())
    }

    fn check_own(&self, snapshot: &Snapshot) -> Result<(), TestingError> {
        if !Arc::ptr_eq(&self.control, &snapshot.control) {
            return Err(TestingError::new("the snapshot is of another server"));
        }
        Ok(())
    }

    /// Returns the clock of the server.
    pub fn clock(&self) -> TestClock<'_> {
        TestClock { control: &self.control }
    }

    /// Runs statements of CQL with all rights: schemas and data of tests. Results of SELECT are not returned.
    ///
    /// # Errors
    /// Fails like the first statement that fails. The statements before it have been run.
    pub fn cql(&self, script: &str) -> Result<(), TestingError> {
        self.load(LoadBody::Cql(script.to_owned()))
    }

    /// Runs a script of cassandra-cli with all rights.
    ///
    /// # Errors
    /// The first mistake in the script's form: nothing has been run then. Or the error of the first statement that fails.
    pub fn cassandra_cli(&self, script: &str) -> Result<(), TestingError> {
        self.load(LoadBody::CassandraCli(script.to_owned()))
    }

    /// Loads rows as JSON; `GET /dump` of the control API prints the same form.
    ///
    /// # Errors
    /// If a column family is not defined, or if a name or value is not valid for its type. Nothing has been loaded then.
    pub fn json(&self, text: &str) -> Result<(), TestingError> {
        self.load(LoadBody::of_file(".json", text.as_bytes().to_vec())?)
    }

    fn load(&self, body: LoadBody) -> Result<(), TestingError> {
        self.run(|control| async move { control.load(&body).await })?;
        Ok(())
    }

    /// Returns the rules of faults, the list of requests, and the faults of connections.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Returns the server as the control API sees it.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Stops the server. Returns whether all connections ended in time.
    pub fn stop(mut self, patience: Duration) -> bool {
        self.end(patience)
    }

    fn end(&mut self, patience: Duration) -> bool {
        let Some((threads, shutdown)) = self.running.take() else { return true };
        let Ok(handle) = threads.handle() else { return true };
        run_on(handle, shutdown.end(patience)) == Ok(true)
    }

    fn handle(&self) -> Result<&tokio::runtime::Handle, TestingError> {
        let (threads, _) = self.running.as_ref().ok_or_else(stopped)?;
        threads.handle()
    }

    fn run<T: Send + 'static, F>(&self, work: impl FnOnce(Arc<Control>) -> F) -> Result<T, TestingError>
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        Ok(run_on(self.handle()?, work(self.control.clone()))??)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(DROP_PATIENCE);
    }
}

/// Runs work on the threads of the server, and waits for it on this thread, which may be one of another runtime.
fn run_on<T: Send + 'static>(
    runtime: &tokio::runtime::Handle,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, TestingError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // The receiver waits below.
        let _ = sender.send(work.await);
    });
    receiver.recv().map_err(|_| TestingError::new("the server stopped in the middle of this call"))
}
