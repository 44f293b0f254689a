//! `POST /reset`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::ControlCall;
use super::json::{Json, Replied};
use super::reset_scope::ResetScope;

/// The request of `POST /reset`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {
    /// The scope of the reset.
    pub what: ResetScope,
}

/// The reply to `POST /reset`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ResetReply {
    /// The scope that was reset.
    pub reset: ResetScope,
}

pub(super) async fn reset(call: ControlCall<Json<ResetRequest>>) -> Replied<ResetReply> {
    let scope = call.body.0.what;
    call.control.reset(scope).await?;
    Ok(Json(ResetReply { reset: scope }))
}
