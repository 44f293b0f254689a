//! The storage of rows: the `Store` trait and its backends.

mod capabilities;
pub mod cluster;
mod collect;
mod count;
pub mod disk;
mod dump;
pub mod embedded;
mod error;
mod even_ring;
mod gather;
mod order;
mod recording;
mod remote_cql;
mod resolve;
mod splits;
mod status;
mod store;
mod stored_slice;

pub use capabilities::{
    BatchStore, BulkStore, Capabilities, CasAnswer, CasCommand, ConditionalStore, IndexLookup, IndexedStore,
    SharedSchemaStore, SnapshotStore, index_name, within_limit,
};
pub use collect::TOMBSTONES_READ;
pub use disk::FreeSpace;
pub use dump::{Dump, DumpCommand, RowPiece, is_dropped, sort_ranges, weight};
pub use embedded::{
    BackupOptions, BackupSummary, DATA_FILE, DATA_FORMAT, EmbeddedOptions, EmbeddedStore, Inspection,
    StoreSnapshot, SyncMode, back_up, back_up_on, check_not_foreign, check_not_of_cassandra, disk_reserve,
    free_space, inspect, stored_partitioner,
};
pub use error::StoreError;
pub use recording::{ReadCell, RecordingLimits, RecordingStore, StoreRequest};
pub use remote_cql::{RemoteColumn, RemoteCql, RemoteLevels, RemoteOutcome, RemoteRows};
use splits::split_points;
pub use status::{ClusterStatus, EngineStatus, NodeStatus, StoreStatus};
pub use store::{Store, StoreFuture};
pub use stored_slice::{StoredCell, StoredColumns, StoredSlice, StoredSliceCommand, StoredSuper};
