//! The schema that clients make: its changes, the metadata records that hold it, and how several servers share it.

mod attempts;
mod change;
mod check;
mod edit;
mod events;
mod family_ids;
mod limits;
mod notes;
mod request;
mod restore;
mod settings;
mod shared;
mod shared_change;
mod truncate;
mod version;

pub(super) use events::SchemaEvents;
pub(super) use family_ids::FamilyIds;
pub use limits::check_families;
pub use request::{CfRequest, ColumnRequest, KsRequest};
pub use restore::described_keyspace;
pub(super) use shared::{SharedSchema, disagreement};
pub(super) use version::SchemaVersion;
