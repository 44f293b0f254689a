//! `/sandboxes`: the requests that list, open and close them.

use schemars::JsonSchema;
use serde::Serialize;

use super::call::{ControlCall, NoBody};
use super::json::{Json, OptionalJson, Replied};
use super::sandboxes::{SandboxReply, SandboxRequest};
use super::snapshots::DeletedReply;

/// All sandboxes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SandboxList {
    /// In the order of their names.
    pub sandboxes: Vec<SandboxReply>,
}

pub(super) async fn list(call: ControlCall<NoBody>) -> Replied<SandboxList> {
    Ok(Json(SandboxList { sandboxes: call.control.list_sandboxes()? }))
}

pub(super) async fn open(call: ControlCall<OptionalJson<SandboxRequest>>) -> Replied<SandboxReply> {
    call.control.open_sandbox(&call.name, &call.body.0).await.map(Json)
}

pub(super) async fn delete(call: ControlCall<NoBody>) -> Replied<DeletedReply> {
    call.control.delete_sandbox(&call.name).await?;
    Ok(Json(DeletedReply { deleted: call.name }))
}
