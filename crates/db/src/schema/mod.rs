//! The schema that clients make: its changes, the metadata records that hold it, and how several servers share it.

mod attempts;
mod change;
mod check;
mod copies;
mod drop;
mod edit;
mod events;
mod family_ids;
mod index_changes;
mod limits;
mod load;
mod pending_drop;
mod records;
mod request;
mod restore;
mod settings;
mod shared_change;
mod shared_schema;
mod stored;
mod table_params;
mod truncate;
mod version;

pub(super) use attempts::Attempts;
pub use change::SchemaChanges;
pub(super) use events::SchemaEvents;
pub(super) use family_ids::FamilyIds;
pub use limits::check_families;
pub use request::{CfRequest, ColumnRequest, KsRequest};
pub use restore::{Restore, described_keyspace};
pub(super) use shared_schema::SharedSchema;
pub use stored::StoredSchema;
pub(super) use stored::disagreement;
pub(super) use version::SchemaVersion;
