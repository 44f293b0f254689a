//! `POST /reset`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Call, Json};
use super::error::ControlError;
use super::operations::Control;
use super::reset_scope::ResetScope;

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
