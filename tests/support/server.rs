//! The real program, started on a free port.

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

/// The line in which the server says where it listens ends with the address.
const LISTENING: &str = "listening for Thrift clients on ";
const LISTENING_FOR_CQL: &str = "listening for CQL clients on ";
const LISTENING_FOR_HTTP: &str = "listening for HTTP clients on ";

/// What a server may have of memory.
#[derive(Debug, Clone, Copy)]
pub enum MemoryLimit {
    /// RLIMIT_DATA: what it allocates.
    DataKib(u64),
    /// RLIMIT_AS: that and all that it maps, also where nothing lies behind the addresses.
    AddressesKib(u64),
}

/// A running server. It is killed when it is dropped, and a warning or an error that it has logged and that the test does not
/// expect is a failure.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// What else it says on its standard output.
    told: Option<mpsc::Receiver<String>>,
    /// What it logs, also after the directory is gone.
    log: File,
    /// Parts of the warnings and errors that the test provokes.
    expected: Vec<&'static str>,
    /// It serves from a real cluster, whose timing decides what the server and its driver warn of.
    is_gateway: bool,
    /// Where it runs, and where its data is unless the test says otherwise.
    directory: PathBuf,
}

/// A storage-conf.xml for tests: the blog, a keyspace of all sorts, and one with five replicas. `more` stands before
/// the end of `<Storage>`.
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

/// The program, told to serve from a directory: its configuration is there, and its data will be.
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
    /// A server in memory, which is quick to start, with `storage_conf("")`.
    pub fn ephemeral(more: &[&str]) -> (Server, TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let more: Vec<&str> = ["--ephemeral"].iter().chain(more).copied().collect();
        (Server::start(directory.path(), &storage_conf(""), &more), directory)
    }

    /// Writes the configuration into the directory and starts.
    pub fn start(directory: &Path, config: &str, more: &[&str]) -> Server {
        fs::write(directory.join("storage-conf.xml"), config).unwrap();
        Server::start_again(directory, more)
    }

    /// Starts with the configuration that is there.
    pub fn start_again(directory: &Path, more: &[&str]) -> Server {
        Server::launch(directory, command(directory, more))
    }

    /// Writes the configuration into the directory and starts with a filter for the log.
    pub fn start_logging(directory: &Path, filter: &str, config: &str, more: &[&str]) -> Server {
        fs::write(directory.join("storage-conf.xml"), config).unwrap();
        let mut command = command(directory, more);
        command.env("THRIFTSTORE_LOG", filter);
        Server::launch(directory, command)
    }

    /// Writes the configuration into the directory and starts with so little memory.
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
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Most tests do not wait for more than the first line.
                let _ = tell.send(line);
            }
        });
        let line = match told.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(error) => {
                let _ = child.kill();
                panic!("the server does not listen ({error}):\n{}", logged(directory));
            }
        };
        let address = line.strip_prefix(LISTENING).unwrap_or_else(|| panic!("the server says {line:?}"));
        let address = address.parse().expect("an address");
        let directory = directory.to_owned();
        Server { child, address, told: Some(told), log, expected: Vec::new(), is_gateway, directory }
    }

    /// Starts on an address with nobody at the other end of its standard output.
    pub fn start_unheard(directory: &Path, address: SocketAddr, more: &[&str]) -> Server {
        fs::write(directory.join("storage-conf.xml"), storage_conf("")).unwrap();
        let place = address.to_string();
        let more: Vec<&str> = ["--thrift", &place].iter().chain(more).copied().collect();
        let log = create_log(directory);
        let errors = log.try_clone().unwrap();
        let mut child = command(directory, &more).stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        drop(child.stdout.take());
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none(), "it does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        let directory = directory.to_owned();
        Server { child, address, told: None, log, expected: Vec::new(), is_gateway: false, directory }
    }

    /// Has the program fail to start: its exit status and all that it printed.
    pub fn fail(directory: &Path, more: &[&str]) -> (ExitStatus, String) {
        let mut command = command(directory, more);
        let log = log_of(directory);
        let errors = File::create(&log).unwrap();
        let mut child = command.stdout(errors.try_clone().unwrap()).stderr(errors).spawn().unwrap();
        let status = wait(&mut child);
        (status, fs::read_to_string(&log).unwrap())
    }

    /// The same with a warning or an error expected that has these words. Any other one fails the test.
    #[must_use]
    pub fn expecting(mut self, words: &'static str) -> Server {
        self.expected.push(words);
        self
    }

    pub fn client(&self, style: Style) -> Client {
        Client::connect(self.address, style)
    }

    /// Where it serves the native protocol. To be asked once.
    pub fn native_address(&mut self) -> SocketAddr {
        let line = self.told.take().expect("a listener").recv_timeout(PATIENCE).expect("a second line");
        let address =
            line.strip_prefix(LISTENING_FOR_CQL).unwrap_or_else(|| panic!("the server says {line:?}"));
        address.parse().expect("an address")
    }

    /// Where it shows its status. To be asked once.
    pub fn status_address(&mut self) -> SocketAddr {
        let told = self.told.take().expect("a listener");
        loop {
            let line = told.recv_timeout(PATIENCE).expect("another line");
            if let Some(address) = line.strip_prefix(LISTENING_FOR_HTTP) {
                return address.parse().expect("an address");
            }
        }
    }

    /// Starts a server that is not to listen yet.
    pub fn spawn_silent(directory: &Path, more: &[&str]) -> Child {
        let log = File::create(log_of(directory)).unwrap();
        command(directory, more).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    }

    /// Tells the server to end.
    pub fn terminate(&self) {
        kill_process(self.pid(), Signal::TERM).unwrap();
    }

    /// Tells the server to read its certificates again.
    pub fn hang_up(&self) {
        kill_process(self.pid(), Signal::HUP).unwrap();
    }

    /// Waits for its end.
    pub fn wait(mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    /// Ends the server as an operator does.
    pub fn stop(self) {
        self.terminate();
        let status = self.wait();
        assert!(status.success(), "the server ended with {status}");
    }

    /// Ends the server as a power cut does, but for what the operating system holds.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Physical memory in use, in bytes; `None` where there is no /proc.
    pub fn resident_bytes(&self) -> Option<u64> {
        self.status_bytes("VmRSS:")
    }

    /// The most physical memory that has been in use, in bytes; `None` where there is no /proc.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Addresses that are mapped, in bytes; `None` where there is no /proc.
    pub fn address_bytes(&self) -> Option<u64> {
        self.status_bytes("VmSize:")
    }

    /// The most addresses that have been mapped, in bytes; `None` where there is no /proc.
    pub fn peak_address_bytes(&self) -> Option<u64> {
        self.status_bytes("VmPeak:")
    }

    fn status_bytes(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut log = Vec::new();
        self.log.rewind().and_then(|()| self.log.read_to_end(&mut log)).unwrap();
        let log = String::from_utf8_lossy(&log);
        if thread::panicking() {
            println!("the log of the server at {}:\n{log}", self.address);
            return;
        }
        // A test whose directory is dropped first has taken its files away from a server that still ran.
        let lost_its_files = !self.directory.exists();
        let is_expected = |line: &&str| {
            self.is_gateway
                || self.expected.iter().any(|words| line.contains(words))
                || lost_its_files && line.contains("No such file or directory")
        };
        let problems = log.lines().filter(|line| line.contains(" WARN ") || line.contains("ERROR "));
        let unexpected: Vec<&str> = problems.filter(|line| !is_expected(line)).collect();
        assert!(unexpected.is_empty(), "the server logged what the test does not expect: {unexpected:#?}");
    }
}

/// What a server that was started in the directory has logged.
pub fn logged(directory: &Path) -> String {
    fs::read_to_string(log_of(directory)).unwrap()
}

/// Waits until the log has this.
pub fn wait_for_log(directory: &Path, wanted: &str) {
    let start = Instant::now();
    while !logged(directory).contains(wanted) {
        assert!(start.elapsed() < PATIENCE, "no {wanted:?} in the log:\n{}", logged(directory));
        thread::sleep(Duration::from_millis(5));
    }
}

/// Opened for reading too: a test reads it when the directory may be gone.
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
