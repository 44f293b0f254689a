//! `/snapshots`.

use schemars::JsonSchema;
use serde::Serialize;

use super::call::{ControlCall, NoBody};
use super::json::{Json, Replied};
use super::snapshot_reply::SnapshotReply;

/// All snapshots.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotList {
    /// In the order of their names.
    pub snapshots: Vec<SnapshotReply>,
}

/// The reply to a request that deletes something.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeletedReply {
    /// The name of the deleted snapshot, sandbox or rule.
    pub deleted: String,
}

pub(super) async fn list(call: ControlCall<NoBody>) -> Replied<SnapshotList> {
    Ok(Json(SnapshotList { snapshots: call.control.snapshots().await }))
}

pub(super) async fn take(call: ControlCall<NoBody>) -> Replied<SnapshotReply> {
    call.control.take_snapshot(&call.name).await.map(Json)
}

pub(super) async fn restore(call: ControlCall<NoBody>) -> Replied<SnapshotReply> {
    call.control.restore(&call.name).await.map(Json)
}

pub(super) async fn delete(call: ControlCall<NoBody>) -> Replied<DeletedReply> {
    call.control.delete_snapshot(&call.name).await?;
    Ok(Json(DeletedReply { deleted: call.name }))
}
