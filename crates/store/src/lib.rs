//! The storage of rows: the `Store` trait and its backends.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod capabilities;
pub mod collect;
mod count;
pub mod dump;
mod error;
pub mod even_ring;
mod future;
pub mod gather;
pub mod limits;
pub mod order;
mod recording;
mod remote_cql;
pub mod resolve;
mod snapshot;
mod splits;
mod status;
mod store;
mod stored_slice;

pub use capabilities::{
    BatchStore, BulkStore, Capabilities, CasAnswer, CasCommand, ConditionalStore, IndexLookup, IndexedStore,
    SharedSchemaStore, SnapshotStore, index_name, within_limit,
};
pub use collect::TOMBSTONES_READ;
pub use dump::{Dump, DumpCommand, RowPiece, is_dropped, sort_ranges, weight};
pub use error::{Result, StoreError};
pub use future::StoreFuture;
pub use recording::{ReadCell, RecordingLimits, RecordingStore, StoreRequest};
pub use remote_cql::{RemoteColumn, RemoteCql, RemoteLevels, RemoteOutcome, RemoteRows};
pub use snapshot::{SnapshotContent, SnapshotPart, StoreSnapshot};
pub use splits::split_points;
pub use status::{ArchiveStatus, ClusterStatus, EngineStatus, NodeCounts, NodeStatus, StoreStatus};
pub use store::{Store, StoreChange};
pub use stored_slice::{StoredCell, StoredColumns, StoredSlice, StoredSliceCommand, StoredSuper};
