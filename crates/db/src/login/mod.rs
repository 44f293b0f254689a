//! Logins: who may connect, and what a user may do.

mod access;
mod access_file;
mod authenticate;
mod guard;
mod guarded;
mod logins;
mod properties;
mod rights;
mod roles;
mod user;
mod user_files;

pub use access::Access;
pub use authenticate::{Authenticator, Credential, PasswordMode, SimpleAuthenticator};
pub use guard::LoginGuard;
pub use logins::Logins;
pub use roles::{Hasher, Permission, PermissionSet, Resource, Role, RoleKeeper, Roles};
pub use user::User;
