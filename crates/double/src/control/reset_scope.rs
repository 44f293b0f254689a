//! The scope of a reset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scope of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResetScope {
    /// Removes all rows. Schema and users stay.
    Data,
    /// Returns to the state at the start: rows, schema and users. Does what `faults` does, too.
    Everything,
    /// Removes the rules of faults, forgets the requests, and accepts connections again.
    Faults,
}
