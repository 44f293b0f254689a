//! `/snapshots`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::call::{Call, NoBody};
use super::error::ControlError;
use super::operations::Control;
use db::DatabaseSnapshot;

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SnapshotReply {
    pub name: String,
    /// The number of column families in its schema.
    pub column_families: usize,
    /// Approximate memory of its rows, in bytes. Several snapshots can share rows.
    pub bytes: usize,
}

impl SnapshotReply {
    pub(super) fn new(name: &str, snapshot: &DatabaseSnapshot) -> SnapshotReply {
        let bytes = DatabaseSnapshot::bytes_of(std::iter::once(snapshot));
        SnapshotReply { name: name.to_owned(), column_families: snapshot.families(), bytes }
    }
}

/// All snapshots.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotList {
    /// In the order of their names.
    pub snapshots: Vec<SnapshotReply>,
}

/// The reply to a request that deletes something.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedReply {
    /// The name of the deleted snapshot, sandbox or rule.
    pub deleted: String,
}

pub async fn list(control: Arc<Control>, _: Call<NoBody>) -> Result<SnapshotList, ControlError> {
    Ok(SnapshotList { snapshots: control.snapshots().await })
}

pub async fn take(control: Arc<Control>, call: Call<NoBody>) -> Result<SnapshotReply, ControlError> {
    control.take_snapshot(&call.name).await
}

pub async fn restore(control: Arc<Control>, call: Call<NoBody>) -> Result<SnapshotReply, ControlError> {
    control.restore(&call.name).await
}

pub async fn delete(control: Arc<Control>, call: Call<NoBody>) -> Result<DeletedReply, ControlError> {
    control.delete_snapshot(&call.name).await?;
    Ok(DeletedReply { deleted: call.name })
}
