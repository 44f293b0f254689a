//! An index that is not complete yet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::schema::CfDef;

/// The prefix of the record of an unfinished index; keyspace, column family and the column in hex follow.
const BUILD_RECORD: &str = "index/";

/// Returns the name of the record of an unfinished index.
pub(crate) fn build_record(index: &CfDef) -> String {
    format!("{BUILD_RECORD}{}/{}", index.keyspace, index.name)
}

/// Identifies one build of an index: an index that is dropped and created again has the same name, and the builder of
/// the first must not end the build of the second.
#[derive(Debug, Clone)]
pub(crate) struct Build(Arc<Instant>);

impl Default for Build {
    fn default() -> Build {
        Build(Arc::new(Instant::now()))
    }
}

impl Build {
    /// Returns the time since the index was created, or since the server stops.
    pub(super) fn age(&self) -> Duration {
        self.0.elapsed()
    }

    /// Returns whether this is the same build.
    pub(super) fn is(&self, other: &Build) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
