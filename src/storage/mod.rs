//! Where rows are kept: the `Store` trait and its backends.

mod collect;
pub mod embedded;
mod error;
mod memory;
mod order;
mod resolve;
mod splits;
mod store;
mod watched;

pub use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
pub use error::StoreError;
pub use memory::MemoryStore;
use splits::split_points;
pub use store::{Store, StoreFuture, StoreStatus};
pub use watched::{Asked, WatchedStore};
