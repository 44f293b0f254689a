//! A server in the process of a test.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::builder::ServerBuilder;
use super::clock::TestClock;
use crate::control::{Control, ControlError, LoadBody, ResetScope, SnapshotLimits};
use crate::db::faults::Faults;
use crate::native::NativeService;
use crate::server::{Admission, Listener, Shutdown};
use crate::thrift::Service;

/// How long a dropped server waits for requests that are running.
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
    running: Option<(Runtime, Shutdown)>,
    control: Arc<Control>,
    faults: Arc<Faults>,
    thrift: SocketAddr,
    native: SocketAddr,
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
        let faults = database.faults().cloned().unwrap_or_default();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
        let runtime = runtime.map_err(|error| TestingError::new(format!("cannot start threads: {error}")))?;
        let shutdown = Shutdown::new();
        let signal = shutdown.signal().ok_or_else(|| TestingError::new("the server is stopping"))?;
        let starting = async move {
            let loaded = database.stored_schema().load().await;
            loaded.map_err(ControlError::from)?;
            let control = Control::new(database.clone(), SnapshotLimits::default()).await?;
            let bind = || Listener::bind("127.0.0.1:0").map_err(|error| TestingError::new(error.to_string()));
            let (first, second) = (bind()?, bind()?);
            let addresses = (first.address, second.address);
            let thrift = Service::new(database.clone(), settings.compat);
            let native = NativeService::new(database, thrift.statements.clone(), settings.reported);
            let admission = Admission::limited(signal, settings.limits).with_encryption(settings.encryption);
            tokio::spawn(first.run(thrift, admission.clone()));
            tokio::spawn(second.run(native, admission));
            Ok::<_, TestingError>((Arc::new(control), addresses))
        };
        let started = run_on(runtime.handle(), starting).and_then(|started| started);
        let (control, (thrift, native)) = match started {
            Ok(started) => started,
            Err(error) => {
                // Waiting for the threads is not allowed in an asynchronous test.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let running = Some((runtime, shutdown));
        Ok(Server { running, control, faults, thrift, native, next_snapshot: AtomicU64::new(0) })
    }

    /// Returns the address for Thrift clients.
    pub fn thrift_address(&self) -> SocketAddr {
        self.thrift
    }

    /// Returns the address for drivers, which use the CQL native protocol.
    pub fn native_address(&self) -> SocketAddr {
        self.native
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
        Ok(Snapshot { name, control: self.control.clone(), runtime: self.handle()? })
    }

    /// Returns to a snapshot. Clients stay connected.
    ///
    /// # Errors
    /// If the snapshot is of another server, or if running requests do not end within five seconds.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<(), TestingError> {
        if !Arc::ptr_eq(&self.control, &snapshot.control) {
            return Err(TestingError::new("the snapshot is of another server"));
        }
        let name = snapshot.name.clone();
        self.run(|control| async move { control.restore(&name).await })?;
        Ok(())
    }

    /// Returns the clock of the server.
    pub fn clock(&self) -> TestClock<'_> {
        TestClock { control: &self.control }
    }

    /// Runs statements of CQL with all rights: schemas and data of tests. Results of SELECT are not returned.
    ///
    /// # Errors
    /// That of the first statement that fails. The statements before it have been run.
    pub fn cql(&self, script: &str) -> Result<(), TestingError> {
        self.load(LoadBody::Cql(script.to_owned()))
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

    /// Returns what the control API uses.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Stops the server. Returns whether all connections ended in time.
    pub fn stop(mut self, patience: Duration) -> bool {
        self.end(patience)
    }

    fn end(&mut self, patience: Duration) -> bool {
        let Some((runtime, shutdown)) = self.running.take() else { return true };
        let ended = run_on(runtime.handle(), shutdown.end(patience));
        // Waiting for the threads is not allowed in an asynchronous test.
        runtime.shutdown_background();
        ended == Ok(true)
    }

    fn handle(&self) -> Result<tokio::runtime::Handle, TestingError> {
        let running = self.running.as_ref().map(|(runtime, _)| runtime.handle().clone());
        running.ok_or_else(|| TestingError::new("the server has stopped"))
    }

    fn run<T: Send + 'static, F>(&self, work: impl FnOnce(Arc<Control>) -> F) -> Result<T, TestingError>
    where
        F: Future<Output = Result<T, ControlError>> + Send + 'static,
    {
        Ok(run_on(&self.handle()?, work(self.control.clone()))??)
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
