//! The statements about users. A user is a role that can log in.

use super::{AccessRequest, invalid, rows, unauthorized};
use crate::{Outcome, Result};
use base::compat::features::releases::NEWEST;
use base::compat::texts;
use cql_syntax::RoleOptions;

pub(super) async fn create(
    request: &AccessRequest<'_>,
    name: &str,
    if_not_exists: bool,
    password: Option<&String>,
    is_superuser: bool,
) -> Result<Outcome> {
    let (to_store, superuser) = (password.cloned(), Some(is_superuser));
    let options = RoleOptions { password: to_store, superuser, login: Some(true), ..RoleOptions::default() };
    let created = request.create(name, &options, |roles| {
        if !roles.is_superuser(request.me) {
            return unauthorized("Only superusers are allowed to perform CREATE USER queries");
        }
        if name.is_empty() {
            return invalid("Username can't be an empty string");
        }
        if roles.contains(name) && !if_not_exists {
            return invalid(format!("User {name} already exists"));
        }
        match password {
            None => invalid("PasswordAuthenticator requires PASSWORD option"),
            Some(_) => Ok(()),
        }
    });
    created.await
}

pub(super) async fn alter(
    request: &AccessRequest<'_>,
    name: &str,
    password: Option<&String>,
    is_superuser: Option<bool>,
) -> Result<Outcome> {
    let options =
        RoleOptions { password: password.cloned(), superuser: is_superuser, ..RoleOptions::default() };
    let altered = request.alter(name, &options, |roles| {
        let am_superuser = roles.is_superuser(request.me);
        if is_superuser.is_some() && name == request.me {
            return unauthorized("You aren't allowed to alter your own superuser status");
        }
        if is_superuser.is_some() && roles.all_of(request.me).contains(name) {
            return unauthorized(
                "You aren't allowed to alter your own superuser status or that of a role granted to you",
            );
        }
        if is_superuser.is_some() && !am_superuser {
            return unauthorized("Only superusers are allowed to alter superuser status");
        }
        if !am_superuser && name != request.me {
            return unauthorized("You aren't allowed to alter this user");
        }
        if is_superuser.is_none() && password.is_none() {
            return invalid("ALTER USER can't be empty");
        }
        if roles.contains(name) { Ok(()) } else { invalid(texts::unknown_user(NEWEST, name)) }
    });
    altered.await
}

pub(super) async fn drop(request: &AccessRequest<'_>, name: &str, if_exists: bool) -> Result<Outcome> {
    request
        .change(|roles| {
            if !roles.is_superuser(request.me) {
                return unauthorized("Only superusers are allowed to perform DROP USER queries");
            }
            if !roles.contains(name) && !if_exists {
                return invalid(texts::unknown_user(NEWEST, name));
            }
            if name == request.me {
                return invalid("Users aren't allowed to DROP themselves");
            }
            roles.remove(name);
            Ok(())
        })
        .await
}

/// Executes LIST USERS, which every logged-in user may do.
pub(super) fn list(request: &AccessRequest<'_>) -> Outcome {
    let roles = request.keeper.now();
    let users = roles.iter().filter(|(_, role)| role.can_login);
    let rows = users.map(|(name, _)| vec![rows::text(name), rows::boolean(roles.is_superuser(name))]);
    rows::users(rows.collect())
}
