//! Conversations with real Cassandra servers, replayed: see `recordings/README.md`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::list::{assert_none, replay_each, test_each};
use crate::support;

use support::recording::Recording;
use support::server::Server;

replay_each!(replay);

fn replay(name: &str) {
    let recording = Recording::of(name);
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &recording.config, &["--compat", &recording.compat]);
    let differences = recording.differences(&server);
    assert_none(&differences);
    server.stop();
}
