//! `POST /reset`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ControlError;
use super::operations::Control;
use super::route::{Call, Json};

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

/// The request of `POST /reset`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {
    pub what: ResetScope,
}

/// The reply to `POST /reset`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResetReply {
    /// The scope that was reset.
    pub reset: ResetScope,
}

pub async fn reset(
    control: Arc<Control>,
    call: Call<Json<ResetRequest>>,
) -> Result<ResetReply, ControlError> {
    let scope = call.body.0.what;
    control.reset(scope).await?;
    Ok(ResetReply { reset: scope })
}
