//! Replays the recorded conversations with old servers on the reference model, so that each of its rules is compared with
//! the answers of a server of that release.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;

use crate::list::{assert_none, replay_each, test_each};
use crate::{reference_model, support};
use base::marshal::Types;
use base::util::Clock;
use db::{Database, DatabaseParts};
use reference_model::ReferenceModel;
use server::thrift::{Compat, Service};
use support::in_process;
use support::recording::Recording;

replay_each!(replay);

/// Serves the API of a recording's release from the model, with the recording's configuration.
fn service_of(recording: &Recording) -> Service {
    let config = config::parse(&recording.config, "storage-conf.xml", &Types::builtin()).unwrap();
    let clock = Arc::new(Clock::system());
    let store = Arc::new(ReferenceModel::new(config.partitioner.clone(), clock.clone()));
    let parts = DatabaseParts::new(Arc::new(config.catalog), store, config.partitioner, clock);
    let mut compat = Compat::default();
    compat.set(recording.compat.parse().unwrap());
    Service::new(Arc::new(Database::new(parts)), compat)
}

fn replay(name: &str) {
    let recording = Recording::of(name);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let service = service_of(&recording);
    runtime.block_on(service.database.stored_schema().load()).unwrap();
    let differences = recording.differences_over(|style| in_process::client_of(&service, &runtime, style));
    assert_none(&differences);
}
