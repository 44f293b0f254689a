//! The statements about roles.

use super::{AccessRequest, invalid, rows, unauthorized};
use crate::{Outcome, Result};
use cql_syntax::RoleOptions;
use db::{Permission, Resource, Roles};

fn exists(roles: &Roles, name: &str) -> Result<()> {
    if roles.contains(name) { Ok(()) } else { invalid(format!("{name} doesn't exist")) }
}

fn no_custom(options: &RoleOptions) -> Result<()> {
    if options.has_custom { invalid("CassandraRoleManager doesn't support OPTIONS") } else { Ok(()) }
}

pub(super) async fn create(
    request: &AccessRequest<'_>,
    name: &str,
    if_not_exists: bool,
    options: &RoleOptions,
) -> Result<Outcome> {
    let created = request.create(name, options, |roles| {
        request.check(roles, Permission::Create, &Resource::AllRoles)?;
        if options.superuser == Some(true) && !roles.is_superuser(request.me) {
            return unauthorized("Only superusers can create a role with superuser status");
        }
        no_custom(options)?;
        if name.is_empty() {
            return invalid("Role name can't be an empty string");
        }
        if roles.contains(name) && !if_not_exists {
            return invalid(format!("{name} already exists"));
        }
        Ok(())
    });
    created.await
}

pub(super) async fn alter(request: &AccessRequest<'_>, name: &str, options: &RoleOptions) -> Result<Outcome> {
    request.alter(name, options, |roles| may_alter(request, roles, name, options)).await
}

fn may_alter(request: &AccessRequest<'_>, roles: &Roles, name: &str, options: &RoleOptions) -> Result<()> {
    no_custom(options)?;
    if *options == RoleOptions::default() {
        return invalid("ALTER [ROLE|USER] can't be empty");
    }
    exists(roles, name)?;
    if options.superuser.is_some() && roles.all_of(request.me).contains(name) {
        return unauthorized(
            "You aren't allowed to alter your own superuser status or that of a role granted to you",
        );
    }
    if roles.is_superuser(request.me) {
        return Ok(());
    }
    if options.superuser.is_some() {
        return unauthorized("Only superusers are allowed to alter superuser status");
    }
    if name == request.me {
        // A role can change its own password, and nothing else about itself.
        return if options.login.is_some() {
            unauthorized("You aren't allowed to alter LOGIN")
        } else {
            Ok(())
        };
    }
    request.check(roles, Permission::Alter, &Resource::Role(name.to_owned()))?;
    // Otherwise a role that may alter roles could take over a superuser's password. Cassandra allows that.
    if roles.is_superuser(name) {
        return unauthorized("Only superusers can alter a role with superuser status");
    }
    Ok(())
}

pub(super) async fn drop(request: &AccessRequest<'_>, name: &str, if_exists: bool) -> Result<Outcome> {
    request
        .change(|roles| {
            request.check(roles, Permission::Drop, &Resource::Role(name.to_owned()))?;
            if roles.is_superuser(name) && !roles.is_superuser(request.me) {
                return unauthorized("Only superusers can drop a role with superuser status");
            }
            if !if_exists {
                exists(roles, name)?;
            }
            if name == request.me {
                return invalid("Cannot DROP primary role for current login");
            }
            roles.remove(name);
            Ok(())
        })
        .await
}

pub(super) async fn grant(request: &AccessRequest<'_>, role: &str, to: &str) -> Result<Outcome> {
    request
        .change(|roles| {
            may_give(request, roles, role, to)?;
            Ok(roles.join(to, role)?)
        })
        .await
}

pub(super) async fn revoke(request: &AccessRequest<'_>, role: &str, from: &str) -> Result<Outcome> {
    request
        .change(|roles| {
            may_give(request, roles, role, from)?;
            Ok(roles.leave(from, role)?)
        })
        .await
}

fn may_give(request: &AccessRequest<'_>, roles: &Roles, role: &str, other: &str) -> Result<()> {
    request.check(roles, Permission::Authorize, &Resource::Role(role.to_owned()))?;
    exists(roles, role)?;
    exists(roles, other)?;
    // Otherwise a role that may grant a role could make itself a superuser, once the granted role becomes one.
    // Cassandra allows that.
    if roles.is_superuser(role) && !roles.is_superuser(request.me) {
        return unauthorized("Only superusers can grant or revoke a role with superuser status");
    }
    Ok(())
}

/// Executes LIST ROLES: users with the DESCRIBE permission see all roles, others their own.
pub(super) fn list(request: &AccessRequest<'_>, of: Option<&str>, is_recursive: bool) -> Result<Outcome> {
    let roles = request.keeper.now();
    if let Some(of) = of.filter(|of| !roles.contains(of)) {
        return invalid(format!("<role {of}> doesn't exist"));
    }
    let sees_all = roles.allow(request.me, Permission::Describe, &Resource::AllRoles);
    let names: Vec<&str> = match of {
        None if sees_all => roles.iter().map(|(name, _)| name.as_str()).collect(),
        None => held(&roles, request.me, is_recursive),
        Some(of) if sees_all || roles.all_of(request.me).contains(of) => held(&roles, of, is_recursive),
        Some(of) => {
            return unauthorized(format!("You are not authorized to view roles granted to {of} "));
        }
    };
    let mut found = Vec::new();
    for name in names {
        found.extend(roles.get(name).map(|role| (name, role.is_superuser, role.can_login)));
    }
    Ok(rows::roles(found))
}

/// Returns a role with the roles granted to it: all of them if `is_recursive` is set, otherwise only the direct ones.
fn held<'a>(roles: &'a Roles, name: &'a str, is_recursive: bool) -> Vec<&'a str> {
    if is_recursive {
        return roles.all_of(name).into_iter().collect();
    }
    let direct = roles.get(name).into_iter().flat_map(|role| role.member_of.iter());
    let mut names: Vec<&str> = direct.map(String::as_str).chain([name]).collect();
    names.sort_unstable();
    names
}
