//! USE, and the statements about users, roles and permissions.

mod permissions;
mod roles;
mod rows;
mod users;

use super::{CqlError, Execution, Outcome, QueryState, system};
use crate::Result;
use crate::error::invalid;
use base::compat::texts;
use cql_syntax::{AccessStatement, RoleOptions};
use db::{Permission, Resource, Role, RoleKeeper, Roles};

/// The error if a statement would change users that are defined in files.
const IN_FILES: &str = "this server reads users from its passwd file and rights from its access file: change the \
                        files, statements cannot";

/// Executes USE. The keyspace must exist; no permission is needed.
pub(crate) fn use_keyspace(state: &QueryState<'_>, keyspace: &str) -> Result<Outcome> {
    if !system::is_system(keyspace) {
        let known = state.database.describe(state.behaviour).check_named_keyspace(keyspace.as_bytes());
        known.map_err(|_| db::Error::unknown(texts::unknown_keyspace_of_use(state.behaviour, keyspace)))?;
    }
    Ok(Outcome::Keyspace(keyspace.to_owned()))
}

/// A logged-in user, and the roles to list or change.
#[derive(Clone, Copy)]
struct AccessRequest<'a> {
    state: &'a QueryState<'a>,
    keeper: &'a RoleKeeper,
    /// The name of the user.
    me: &'a str,
}

impl AccessRequest<'_> {
    /// Changes the roles. On an error, nothing is changed.
    async fn change(&self, edit: impl FnMut(&mut Roles) -> Result<()>) -> Result<Outcome> {
        self.state.database.logins().change_roles(edit).await?;
        Ok(Outcome::Void)
    }

    /// Changes the roles by a statement that may have a password: `edit` gets its hash. `check` also runs before the
    /// password is hashed, because that is expensive.
    async fn change_with_password(
        &self,
        password: Option<&String>,
        check: impl Fn(&Roles) -> Result<()>,
        mut edit: impl FnMut(&mut Roles, Option<String>) -> Result<()>,
    ) -> Result<Outcome> {
        check(&self.keeper.now())?;
        let hash = match password {
            Some(password) => Some(self.keeper.hash(password).await?),
            None => None,
        };
        self.change(|roles| {
            check(roles)?;
            edit(roles, hash.clone())
        })
        .await
    }

    /// Creates a role, unless there is one with this name.
    async fn create(
        &self,
        name: &str,
        options: &RoleOptions,
        check: impl Fn(&Roles) -> Result<()>,
    ) -> Result<Outcome> {
        self.change_with_password(options.password.as_ref(), check, |roles, salted_hash| {
            if roles.contains(name) {
                return Ok(());
            }
            let role = Role {
                is_superuser: options.superuser.unwrap_or(false),
                can_login: options.login.unwrap_or(false),
                salted_hash,
                ..Role::default()
            };
            roles.put(name, role)?;
            let made = Resource::Role(name.to_owned());
            roles.grant(self.me, &made, made.applicable());
            Ok(())
        })
        .await
    }

    /// Changes the properties of a role that the statement has.
    async fn alter(
        &self,
        name: &str,
        options: &RoleOptions,
        check: impl Fn(&Roles) -> Result<()>,
    ) -> Result<Outcome> {
        self.change_with_password(options.password.as_ref(), check, |roles, hash| {
            roles.edit(name, |role| {
                role.is_superuser = options.superuser.unwrap_or(role.is_superuser);
                role.can_login = options.login.unwrap_or(role.can_login);
                role.salted_hash = hash.or(role.salted_hash.take());
            });
            Ok(())
        })
        .await
    }

    /// Checks whether the user has a permission on roles.
    fn check(&self, roles: &Roles, permission: Permission, resource: &Resource) -> Result<()> {
        if roles.allow(self.me, permission, resource) {
            return Ok(());
        }
        unauthorized(format!(
            "User {} does not have sufficient privileges to perform the requested operation",
            self.me
        ))
    }
}

fn unauthorized<T>(why: impl Into<String>) -> Result<T> {
    Err(CqlError::Unauthorized(why.into()))
}

/// Executes a statement about users, roles or permissions. Statements about users use the messages of 2.1; statements
/// about roles, which 2.2 added, use the messages of 2.2.
pub(crate) fn run<'a>(state: &'a QueryState<'a>, statement: &'a AccessStatement) -> Execution<'a> {
    Box::pin(async move {
        let Some(keeper) = state.database.logins().roles() else { return refuse(state, statement) };
        let Some(user) = state.user else { return unauthorized(texts::not_logged_in(state.behaviour)) };
        let request = AccessRequest { state, keeper, me: &user.name };
        match statement {
            AccessStatement::CreateUser { name, if_not_exists, password, is_superuser } => {
                users::create(&request, name, *if_not_exists, password.as_ref(), *is_superuser).await
            }
            AccessStatement::AlterUser { name, password, is_superuser } => {
                users::alter(&request, name, password.as_ref(), *is_superuser).await
            }
            AccessStatement::DropUser { name, if_exists } => users::drop(&request, name, *if_exists).await,
            AccessStatement::ListUsers => Ok(users::list(&request)),
            AccessStatement::CreateRole { name, if_not_exists, options } => {
                roles::create(&request, name, *if_not_exists, options).await
            }
            AccessStatement::AlterRole { name, options } => roles::alter(&request, name, options).await,
            AccessStatement::DropRole { name, if_exists } => roles::drop(&request, name, *if_exists).await,
            AccessStatement::ListRoles { of, is_recursive } => {
                roles::list(&request, of.as_deref(), *is_recursive)
            }
            AccessStatement::GrantRole { role, to } => roles::grant(&request, role, to).await,
            AccessStatement::RevokeRole { role, from } => roles::revoke(&request, role, from).await,
            AccessStatement::Grant { permission, resource, to } => {
                permissions::change(&request, permissions::PermissionChange::Grant, permission, resource, to)
                    .await
            }
            AccessStatement::Revoke { permission, resource, from } => {
                permissions::change(
                    &request,
                    permissions::PermissionChange::Revoke,
                    permission,
                    resource,
                    from,
                )
                .await
            }
            AccessStatement::ListPermissions { permission, resource, of, is_recursive } => {
                permissions::list(&request, permission, resource.as_ref(), of.as_deref(), *is_recursive)
            }
        }
    })
}

/// Returns the error of a server without roles. Without a login every user is the anonymous user, whom the old servers
/// refuse with these messages.
fn refuse(state: &QueryState<'_>, statement: &AccessStatement) -> Result<Outcome> {
    if state.user.is_some() {
        return invalid(IN_FILES);
    }
    unauthorized(match statement {
        AccessStatement::CreateUser { .. } => "Only superusers are allowed to perform CREATE USER queries",
        AccessStatement::DropUser { .. } => "Only superusers are allowed to perform DROP USER queries",
        AccessStatement::AlterUser { is_superuser: Some(_), .. } => {
            "Only superusers are allowed to alter superuser status"
        }
        AccessStatement::AlterUser { .. } => "You aren't allowed to alter this user",
        _ => "You have to be logged in and not anonymous to perform this request",
    })
}
