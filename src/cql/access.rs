//! USE, and the statements of users and permissions, which this server refuses.

use super::syntax::AccessStatement;
use super::{CqlError, Outcome, QueryState, system};

/// What is said to a user of the files who would change them by statements.
const IN_FILES: &str = "the users of this server are kept in its passwd file and their rights in its access file: \
                        change those, statements do not";

/// USE: the keyspace must be there, and nothing is asked about the right to what is in it.
pub fn use_keyspace(state: &QueryState<'_>, keyspace: &str) -> Result<Outcome, CqlError> {
    if !system::is_system(keyspace) {
        state.database.check_keyspace(keyspace.as_bytes(), state.behaviour)?;
    }
    Ok(Outcome::Keyspace(keyspace.to_owned()))
}

/// A statement of users or permissions. Where nobody logs in everybody is the anonymous user, whom the old servers
/// refused so.
pub fn refuse(state: &QueryState<'_>, statement: &AccessStatement) -> Result<Outcome, CqlError> {
    let unauthorized = |why: &str| Err(CqlError::Unauthorized(why.to_owned()));
    if state.user.is_some() {
        return Err(CqlError::invalid(IN_FILES));
    }
    match statement {
        AccessStatement::CreateUser { .. } => {
            unauthorized("Only superusers are allowed to perform CREATE USER queries")
        }
        AccessStatement::DropUser { .. } => {
            unauthorized("Only superusers are allowed to perform DROP USER queries")
        }
        AccessStatement::AlterUser { is_superuser: Some(_), .. } => {
            unauthorized("Only superusers are allowed to alter superuser status")
        }
        AccessStatement::AlterUser { .. } => unauthorized("You aren't allowed to alter this user"),
        AccessStatement::ListUsers
        | AccessStatement::Grant { .. }
        | AccessStatement::Revoke { .. }
        | AccessStatement::ListPermissions { .. }
        | AccessStatement::Role(_) => {
            unauthorized("You have to be logged in and not anonymous to perform this request")
        }
    }
}
