//! Replays the recorded conversations with old servers on the reference model, so that each of its rules is compared with
//! the answers of a server of that release.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use crate::reference_model;
use crate::support;

use std::fs;
use std::sync::Arc;

use reference_model::ReferenceModel;
use support::recording::Recording;
use support::{idl, in_process};
use thriftstore::config;
use thriftstore::db::{Database, DatabaseParts};
use thriftstore::marshal::Types;
use thriftstore::thrift::{Compat, Service};
use thriftstore::util::Clock;

/// How many differences of one recording are shown.
const SHOWN_MAX: usize = 10;

macro_rules! recordings {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                replay($name);
            }
        )*

        /// Every recording counts: a rule of the model may be in one of them only.
        #[test]
        fn every_recording_is_replayed() {
            let replayed = [$($name),*];
            for entry in fs::read_dir(idl::repository("tests/recordings")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if let Some(name) = name.strip_suffix(".jsonl") {
                    assert!(replayed.contains(&name), "{name}");
                }
            }
        }
    };
}

recordings! {
    errors_0_4: "0.4-errors",
    errors_0_6: "0.6-errors",
    errors_0_7: "0.7-errors",
    errors_1_2: "1.2-errors",
    errors_2_1: "2.1-errors",
    cql2_1_2: "1.2-cql2",
    mixed_0_4: "0.4-mixed",
    ranges_order_preserving_0_4: "0.4-ranges-order-preserving",
    mixed_0_6: "0.6-mixed",
    ranges_order_preserving_0_6: "0.6-ranges-order-preserving",
    ranges_0_6: "0.6-ranges",
    standard_0_6: "0.6-standard",
    super_0_6: "0.6-super",
    index_0_7: "0.7-index",
    ranges_0_7: "0.7-ranges",
    standard_0_7: "0.7-standard",
    super_0_7: "0.7-super",
    again_0_7: "0.7-again",
    counters_1_2: "1.2-counters",
    index_1_2: "1.2-index",
    ranges_1_2: "1.2-ranges",
    standard_1_2: "1.2-standard",
    super_1_2: "1.2-super",
    again_1_2: "1.2-again",
    pages_1_2: "1.2-pages",
    cql_articles_1_2: "1.2-cql-articles",
    counters_2_1: "2.1-counters",
    cql_articles_2_1: "2.1-cql-articles",
    cql_features_2_1: "2.1-cql-features",
    index_2_1: "2.1-index",
    ranges_2_1: "2.1-ranges",
    standard_2_1: "2.1-standard",
    super_2_1: "2.1-super",
    again_2_1: "2.1-again",
    pages_2_1: "2.1-pages",
}

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
    runtime.block_on(service.database.load_schema()).unwrap();
    let differences = recording.differences_over(|style| in_process::client_of(&service, &runtime, style));
    let shown: Vec<&str> =
        differences.iter().take(SHOWN_MAX).map(|difference| &difference.text[..]).collect();
    assert!(shown.is_empty(), "{} replies differ:\n{}", differences.len(), shown.join("\n"));
}
