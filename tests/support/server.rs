//! Starts the program as a child process on free ports.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::client::{Client, PATIENCE, Style};

/// Beginnings of the lines with which the server prints its addresses; the address follows.
const LISTENING: &str = "listening for Thrift clients on ";
const LISTENING_FOR_CQL: &str = "listening for CQL clients on ";
const LISTENING_FOR_HTTP: &str = "listening for HTTP clients on ";
const ADMIN: &str = "the admin server is at http://";
const LISTENING_FOR_CONTROL: &str = "listening for control clients on ";

/// A limit on the memory of the server.
#[derive(Debug, Clone, Copy)]
pub enum MemoryLimit {
    /// RLIMIT_DATA, the memory that it allocates, in KiB.
    DataKib(u64),
    /// RLIMIT_AS, the whole address space, mapped files and reserved addresses included, in KiB.
    AddressesKib(u64),
}

/// A running server. Dropping it kills the process. The drop panics if the server has logged a warning or an error that
/// the test does not expect.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// The lines of its standard output after the first; `None` once a test has taken them.
    lines: Option<mpsc::Receiver<String>>,
    /// Its log, opened early so that it can be read after the directory is removed.
    log: File,
    /// Texts that identify the warnings and errors that the test expects.
    expected: Vec<&'static str>,
    /// Whether it is a gateway. Its warnings depend on the timing of the cluster, so they are not checked.
    is_gateway: bool,
    /// Its working directory, which also has its data unless the test specifies another directory.
    directory: PathBuf,
}

/// Returns a storage-conf.xml for tests: a keyspace for the blog, one with column families of several types, and one
/// with replication factor 5. `more` is inserted before `</Storage>`.
pub fn storage_conf(more: &str) -> String {
    let sync = if more.contains("<CommitLogSync>") {
        ""
    } else {
        "<CommitLogSync>periodic</CommitLogSync><CommitLogSyncPeriodInMS>10000</CommitLogSyncPeriodInMS>"
    };
    let replicas = |count: u8| {
        format!(
            "<ReplicaPlacementStrategy>org.apache.cassandra.locator.RackUnawareStrategy</ReplicaPlacementStrategy>
             <ReplicationFactor>{count}</ReplicationFactor>
             <EndPointSnitch>org.apache.cassandra.locator.EndPointSnitch</EndPointSnitch>"
        )
    };
    format!(
        r#"<Storage>
  <ClusterName>Test Cluster</ClusterName>
  <Keyspaces>
    <Keyspace Name="BloggyAppy">
      <ColumnFamily Name="Authors" CompareWith="BytesType"/>
      <ColumnFamily Name="BlogEntries" CompareWith="BytesType"/>
      <ColumnFamily Name="TaggedPosts" CompareWith="TimeUUIDType"/>
      <ColumnFamily Name="Comments" CompareWith="TimeUUIDType" ColumnType="Super" CompareSubcolumnsWith="BytesType"/>
      {one}
    </Keyspace>
    <Keyspace Name="Keyspace1">
      <ColumnFamily Name="Standard1" CompareWith="BytesType"/>
      <ColumnFamily Name="Standard2" CompareWith="UTF8Type"/>
      <ColumnFamily Name="StandardLong1" CompareWith="LongType"/>
      <ColumnFamily Name="Super1" ColumnType="Super" CompareWith="BytesType" CompareSubcolumnsWith="BytesType"/>
      {one}
    </Keyspace>
    <Keyspace Name="FiveTimes">
      <ColumnFamily Name="Standard1" CompareWith="BytesType"/>
      {five}
    </Keyspace>
  </Keyspaces>
  <CommitLogDirectory>commitlog</CommitLogDirectory>
  <DataFileDirectories><DataFileDirectory>data</DataFileDirectory></DataFileDirectories>
  <ListenAddress>127.0.0.1</ListenAddress>
  <ThriftAddress>127.0.0.1</ThriftAddress>
  <ThriftPort>9160</ThriftPort>
  {sync}
  {more}
</Storage>
"#,
        one = replicas(1),
        five = replicas(5),
    )
}

/// Returns the command `thriftstore serve` for a directory that has the configuration and will have the data.
fn command(directory: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    command.arg("serve");
    if !more.contains(&"--thrift") {
        command.args(["--thrift", "127.0.0.1:0"]);
    }
    if !more.contains(&"--config") {
        command.arg("--config").arg(directory.join("storage-conf.xml"));
    }
    if !["--data-dir", "--cluster", "--ephemeral"].iter().any(|option| more.contains(option)) {
        command.arg("--data-dir").arg(directory.join("data"));
    }
    command.args(more);
    command.current_dir(directory).stdin(Stdio::null());
    command
}

impl Server {
    /// Starts a server with `storage_conf("")` and data in memory, which starts fast.
    pub fn ephemeral(more: &[&str]) -> (Server, TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let more: Vec<&str> = ["--ephemeral"].iter().chain(more).copied().collect();
        (Server::start(directory.path(), &storage_conf(""), &more), directory)
    }

    /// Writes the configuration into the directory and starts a server.
    pub fn start(directory: &Path, config: &str, more: &[&str]) -> Server {
        fs::write(directory.join("storage-conf.xml"), config).unwrap();
        Server::start_again(directory, more)
    }

    /// Starts a server with the configuration that is already in the directory.
    pub fn start_again(directory: &Path, more: &[&str]) -> Server {
        Server::launch(directory, command(directory, more))
    }

    /// Writes the configuration into the directory and starts a server with a log filter (`THRIFTSTORE_LOG`).
    pub fn start_logging(directory: &Path, filter: &str, config: &str, more: &[&str]) -> Server {
        Server::start_in_environment(directory, ("THRIFTSTORE_LOG", filter), config, more)
    }

    /// Writes the configuration into the directory and starts a server with an environment variable.
    pub fn start_in_environment(
        directory: &Path,
        (name, value): (&str, &str),
        config: &str,
        more: &[&str],
    ) -> Server {
        fs::write(directory.join("storage-conf.xml"), config).unwrap();
        let mut command = command(directory, more);
        command.env(name, value);
        Server::launch(directory, command)
    }

    /// Writes the configuration into the directory and starts a server with a memory limit.
    pub fn start_within(directory: &Path, limit: MemoryLimit, config: &str, more: &[&str]) -> Server {
        fs::write(directory.join("storage-conf.xml"), config).unwrap();
        let unlimited = command(directory, more);
        let mut command = Command::new("sh");
        let limit = match limit {
            MemoryLimit::DataKib(kib) => format!("ulimit -d {kib}"),
            MemoryLimit::AddressesKib(kib) => format!("ulimit -v {kib}"),
        };
        command.args(["-c", &format!("{limit} && exec \"$0\" \"$@\"")]);
        command.arg(unlimited.get_program()).args(unlimited.get_args());
        command.current_dir(directory).stdin(Stdio::null());
        Server::launch(directory, command)
    }

    fn launch(directory: &Path, mut command: Command) -> Server {
        let log = create_log(directory);
        let is_gateway = command.get_args().any(|argument| argument == "--cluster");
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(log.try_clone().unwrap())
            .spawn()
            .expect("the program starts");
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Most tests only read the first line, and have dropped the receiver.
                let _ = sender.send(line);
            }
        });
        let line = match lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(error) => {
                let _ = child.kill();
                panic!("the server does not listen ({error}):\n{}", logged(directory));
            }
        };
        let address = line.strip_prefix(LISTENING).unwrap_or_else(|| panic!("unexpected output: {line:?}"));
        let address = address.parse().expect("an address");
        let directory = directory.to_owned();
        Server { child, address, lines: Some(lines), log, expected: Vec::new(), is_gateway, directory }
    }

    /// Starts a server on a given address. Its standard output is a pipe whose reading end is closed.
    pub fn start_with_closed_output(directory: &Path, address: SocketAddr, more: &[&str]) -> Server {
        fs::write(directory.join("storage-conf.xml"), storage_conf("")).unwrap();
        let place = address.to_string();
        let more: Vec<&str> = ["--thrift", &place].iter().chain(more).copied().collect();
        let log = create_log(directory);
        let errors = log.try_clone().unwrap();
        let mut child = command(directory, &more).stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        drop(child.stdout.take());
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(
                start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none(),
                "the server does not listen"
            );
            thread::sleep(Duration::from_millis(5));
        }
        let directory = directory.to_owned();
        Server { child, address, lines: None, log, expected: Vec::new(), is_gateway: false, directory }
    }

    /// Runs a program that must fail to start, and returns its exit status and output.
    pub fn fail(directory: &Path, more: &[&str]) -> (ExitStatus, String) {
        let mut command = command(directory, more);
        let log = log_of(directory);
        let errors = File::create(&log).unwrap();
        let mut child = command.stdout(errors.try_clone().unwrap()).stderr(errors).spawn().unwrap();
        let status = wait(&mut child);
        (status, fs::read_to_string(&log).unwrap())
    }

    /// Expects warnings and errors in the log that contain these words. Any other warning or error fails the test.
    #[must_use]
    pub fn expecting(mut self, words: &'static str) -> Server {
        self.expected.push(words);
        self
    }

    pub fn client(&self, style: Style) -> Client {
        Client::connect(self.address, style)
    }

    /// Returns the address of the native protocol. May be called once, and not after the other methods of addresses.
    pub fn native_address(&mut self) -> SocketAddr {
        let line = self.lines.as_ref().expect("a listener").recv_timeout(PATIENCE).expect("a second line");
        let address =
            line.strip_prefix(LISTENING_FOR_CQL).unwrap_or_else(|| panic!("unexpected output: {line:?}"));
        address.parse().expect("an address")
    }

    /// Returns the address of the status port. May be called once, and not after `admin_address`.
    pub fn status_address(&mut self) -> SocketAddr {
        let lines = self.lines.take().expect("a listener");
        loop {
            let line = lines.recv_timeout(PATIENCE).expect("another line");
            if let Some(address) = line.strip_prefix(LISTENING_FOR_HTTP) {
                return address.parse().expect("an address");
            }
        }
    }

    /// Returns the address of the admin server. May be called once, and not after `status_address`.
    pub fn admin_address(&mut self) -> SocketAddr {
        let lines = self.lines.take().expect("a listener");
        loop {
            let line = lines.recv_timeout(PATIENCE).expect("another line");
            if let Some(address) = line.strip_prefix(ADMIN) {
                return address.trim_end_matches('/').parse().expect("an address");
            }
        }
    }

    /// Returns the addresses of the native protocol and of the control port. May be called once, and not after the other
    /// two.
    pub fn native_and_control_address(&mut self) -> (SocketAddr, SocketAddr) {
        let lines = self.lines.take().expect("a listener");
        let mut native = None;
        loop {
            let line = lines.recv_timeout(PATIENCE).expect("another line");
            if let Some(address) = line.strip_prefix(LISTENING_FOR_CQL) {
                native = Some(address.parse().expect("an address"));
            } else if let Some(address) = line.strip_prefix(LISTENING_FOR_CONTROL) {
                return (native.expect("the native port comes first"), address.parse().expect("an address"));
            }
        }
    }

    /// Starts a server without waiting until it listens.
    pub fn spawn_only(directory: &Path, more: &[&str]) -> Child {
        let log = File::create(log_of(directory)).unwrap();
        command(directory, more).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    }

    /// Sends SIGTERM, which shuts the server down cleanly.
    pub fn terminate(&self) {
        kill_process(self.pid(), Signal::TERM).unwrap();
    }

    /// Sends SIGHUP, after which the server reads its certificates again.
    pub fn hang_up(&self) {
        kill_process(self.pid(), Signal::HUP).unwrap();
    }

    /// Sends SIGUSR1, which switches the log of requests.
    pub fn switch_request_log(&self) {
        kill_process(self.pid(), Signal::USR1).unwrap();
    }

    /// Waits until the process ends.
    pub fn wait(mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    /// Shuts the server down cleanly, and checks its exit status.
    pub fn stop(self) {
        self.terminate();
        let status = self.wait();
        assert!(status.success(), "the server ended with {status}");
    }

    /// Kills the server (SIGKILL). Only data that the operating system already has survives.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns the resident memory in bytes; `None` on systems without /proc.
    pub fn resident_bytes(&self) -> Option<u64> {
        self.status_bytes("VmRSS:")
    }

    /// Returns the peak resident memory in bytes; `None` on systems without /proc.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Returns the size of the address space in bytes; `None` on systems without /proc.
    pub fn address_bytes(&self) -> Option<u64> {
        self.status_bytes("VmSize:")
    }

    /// Returns the peak size of the address space in bytes; `None` on systems without /proc.
    pub fn peak_address_bytes(&self) -> Option<u64> {
        self.status_bytes("VmPeak:")
    }

    fn status_bytes(&self, name: &str) -> Option<u64> {
        status_bytes(self.id(), name)
    }

    /// Returns the id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap()).unwrap()
    }
}

/// Returns a number of bytes from the status of a process; `None` on systems without /proc.
pub fn status_bytes(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both calls fail if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut log = Vec::new();
        self.log.rewind().and_then(|()| self.log.read_to_end(&mut log)).unwrap();
        let log = String::from_utf8_lossy(&log);
        if thread::panicking() {
            println!("the log of the server at {}:\n{log}", self.address);
            return;
        }
        // If the test dropped the directory before the server, the running server has lost its files and logs that.
        let lost_its_files = !self.directory.exists();
        let is_expected = |line: &&str| {
            self.is_gateway
                || self.expected.iter().any(|words| line.contains(words))
                || lost_its_files
                    && ["No such file or directory", " is missing"].iter().any(|words| line.contains(words))
        };
        let problems = log.lines().filter(|line| line.contains(" WARN ") || line.contains("ERROR "));
        let unexpected: Vec<&str> = problems.filter(|line| !is_expected(line)).collect();
        assert!(unexpected.is_empty(), "the server logged what the test does not expect: {unexpected:#?}");
    }
}

/// Returns the log of the server that was started in the directory.
pub fn logged(directory: &Path) -> String {
    fs::read_to_string(log_of(directory)).unwrap()
}

/// Waits until the log contains a text.
pub fn wait_for_log(directory: &Path, wanted: &str) {
    let start = Instant::now();
    while !logged(directory).contains(wanted) {
        assert!(start.elapsed() < PATIENCE, "no {wanted:?} in the log:\n{}", logged(directory));
        thread::sleep(Duration::from_millis(5));
    }
}

/// Opens the log for reading too, because `Server::drop` reads it after the directory may have been removed.
fn create_log(directory: &Path) -> File {
    let mut options = File::options();
    options.read(true).append(true).create(true);
    let log = options.open(log_of(directory)).unwrap();
    log.set_len(0).unwrap();
    log
}

fn log_of(directory: &Path) -> PathBuf {
    directory.join("server.log")
}

fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("the server does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
}
