//! Starts the recorder as a child process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use traffic::file::{Ending, PartReader, part_path};
use traffic::{Event, EventKind};

/// A running recorder. Dropping it kills the process.
pub struct Recorder {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    pub address: SocketAddr,
    pub file: PathBuf,
    _directory: TempDir,
}

/// What a recorder printed, and how it ended.
pub struct Outcome {
    pub output: String,
    pub errors: String,
    pub is_success: bool,
}

impl Recorder {
    /// Starts a recorder before a server.
    pub fn start(upstream: SocketAddr, more: &[&str]) -> Recorder {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("traffic.rec");
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.args(["record", "--listen", "127.0.0.1:0", "--upstream", &upstream.to_string(), "--to"]);
        command.arg(&file).args(more);
        Recorder::launch(command, file, directory)
    }

    /// Starts a recorder whose files cannot be longer than `blocks` of 512 bytes.
    pub fn start_on_small_disk(upstream: SocketAddr, blocks: u64) -> Recorder {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("traffic.rec");
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks} && exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_thriftstore"), "record", "--listen", "127.0.0.1:0"]);
        command.args(["--upstream", &upstream.to_string(), "--to"]).arg(&file);
        Recorder::launch(command, file, directory)
    }

    fn launch(mut command: Command, file: PathBuf, directory: TempDir) -> Recorder {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address =
            line.strip_prefix("listening for recorded clients on ").and_then(|rest| rest.split(',').next());
        let Some(address) = address else {
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            panic!("unexpected output: {line:?}, {errors}");
        };
        let address = address.parse().unwrap();
        Recorder { child, output, address, file, _directory: directory }
    }

    /// Sends SIGTERM and waits for the end.
    pub fn stop(&mut self) -> Outcome {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let (mut output, mut errors) = (String::new(), String::new());
        self.output.read_to_string(&mut output).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let is_success = self.child.wait().unwrap().success();
        Outcome { output, errors, is_success }
    }

    /// Kills the process (SIGKILL).
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the recorder and returns its events. Nothing may be lost.
    pub fn events(&mut self) -> Vec<Event> {
        let outcome = self.stop();
        assert!(
            outcome.is_success && !outcome.output.contains("not recorded"),
            "{}{}",
            outcome.output,
            outcome.errors
        );
        if !part_path(&self.file, 2).exists() {
            let bytes = format!("({} bytes)", self.file.metadata().unwrap().len());
            assert!(outcome.output.contains(&bytes), "{} {bytes}", outcome.output);
        }
        events_of(&self.file)
    }

    /// Returns the peak memory of the process in bytes.
    pub fn peak_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Both calls fail if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the events of a complete recording.
pub fn events_of(file: &Path) -> Vec<Event> {
    let mut reader = PartReader::open(file).unwrap();
    let events: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(reader.ending(), Some(Ending::Complete));
    events
}

/// A recorded call: the bytes of its request and of its reply.
pub type Call = (Vec<u8>, Option<Vec<u8>>);

/// Returns the calls in the order of their requests.
pub fn calls_of(events: &[Event]) -> Vec<Call> {
    let mut calls: Vec<(u64, Call)> = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::Request { call, message } => calls.push((*call, (message.to_vec(), None))),
            EventKind::Reply { call, message } => {
                let found = calls.iter_mut().find(|(number, _)| number == call);
                let (_, (_, reply)) = found.expect("a reply follows its request");
                assert_eq!(reply.replace(message.to_vec()), None, "a second reply");
            }
            _ => {}
        }
    }
    calls.into_iter().map(|(_, call)| call).collect()
}
