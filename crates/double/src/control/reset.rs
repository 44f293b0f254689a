//! `POST /reset`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::json::{Json, Replied};
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

pub async fn reset(call: Call<Json<ResetRequest>>) -> Replied<ResetReply> {
    let scope = call.body.0.what;
    call.control.reset(scope).await?;
    Ok(Json(ResetReply { reset: scope }))
}
