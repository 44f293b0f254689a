//! Roles, with their passwords and permissions, which are kept in the store.

mod grants;
mod graph;
mod keeper;
mod password;
mod permission;
mod stored;

#[cfg(test)]
mod tests;

pub use graph::{Role, Roles};
pub use keeper::RoleKeeper;
pub use password::Hasher;
pub use permission::{Permission, PermissionSet, Resource};
