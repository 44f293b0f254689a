//! The control API: resets, snapshots and the clock of a server in memory.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod cassandra_cli;
mod clock;
mod command;
mod concurrency;
mod faults;
mod http;
mod loads;
mod requests;
mod resets;
mod sandboxes;
mod snapshots;

use std::net::SocketAddr;

use double::control::ControlClient;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::support;
use support::client::Style;
use support::native::NativeClient;
use support::server::{Server, storage_conf};

/// A server with a control port, and the addresses of its ports.
struct Double {
    server: Server,
    native: SocketAddr,
    control: SocketAddr,
    _directory: TempDir,
}

impl Double {
    /// Starts a server with `storage_conf("")`.
    fn start() -> Double {
        Double::with("", &[])
    }

    /// Starts a server with more elements of the configuration, and more options.
    fn with(elements: &str, more: &[&str]) -> Double {
        let directory = tempfile::tempdir().unwrap();
        let options = [&["--ephemeral", "--control", "127.0.0.1:0"], more].concat();
        let server = Server::start(directory.path(), &storage_conf(elements), &options);
        let server = server.expecting("the user cassandra still has its default password");
        let mut server = server.expecting("are refused for 15s: 1 have failed");
        let (native, control) = server.native_and_control_address();
        Double { server, native, control, _directory: directory }
    }

    fn client(&self) -> ControlClient {
        ControlClient::connect(&self.control.to_string(), None).unwrap()
    }

    fn native(&self) -> NativeClient {
        NativeClient::ready(self.native, 4)
    }

    fn thrift(&self) -> support::client::Client {
        self.server.client(Style::FRAMED)
    }

    /// Sends a request that succeeds, and returns its reply.
    fn send(&self, method: &str, path: &str, body: &str) -> Json {
        done(&mut self.client(), method, path, body)
    }
}

/// Sends a request that succeeds, and returns its reply.
fn done(client: &mut ControlClient, method: &str, path: &str, body: &str) -> Json {
    let reply = client.send(method, path, body.as_bytes()).unwrap();
    assert_eq!(reply.status, 200, "{method} {path}: {}", reply.body);
    serde_json::from_str(&reply.body).unwrap()
}

/// Sends a request that fails, and returns its status and error.
fn refused(client: &mut ControlClient, method: &str, path: &str, body: &str) -> (u16, String) {
    let reply = client.send(method, path, body.as_bytes()).unwrap();
    let json: Json = serde_json::from_str(&reply.body).unwrap();
    let fields = json.as_object().unwrap();
    assert_eq!(fields.len(), 1, "{json}");
    (reply.status, fields["error"].as_str().unwrap().to_owned())
}

const KEYSPACE: &str =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
