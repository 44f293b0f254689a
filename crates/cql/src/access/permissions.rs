//! GRANT, REVOKE and LIST of permissions.

use super::{AccessRequest, invalid, rows, unauthorized};
use crate::{Outcome, Result};
use base::compat::features::releases::NEWEST;
use base::compat::texts;
use db::{Permission, PermissionSet, Resource, Roles};

/// The change of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PermissionChange {
    Grant,
    Revoke,
}

fn not_without_authorizer(request: &AccessRequest<'_>, operation: &str) -> Result<()> {
    if request.state.database.logins().enforces_permissions() {
        return Ok(());
    }
    invalid(format!("{operation} operation is not supported by AllowAllAuthorizer"))
}

/// Returns the permissions with a name. `ALL` is the permissions that apply to the resource.
fn named(name: &str, resource: Option<&Resource>) -> Result<PermissionSet> {
    let applicable = resource.map_or_else(|| Permission::ALL.iter().copied().collect(), Resource::applicable);
    if name == "ALL" {
        return Ok(applicable);
    }
    let asked: PermissionSet = Permission::named(name).into_iter().collect();
    let found = asked.intersection(applicable);
    match (found.is_empty(), resource) {
        (true, Some(resource)) => invalid(format!(
            "Resource type {} does not support any of the requested permissions",
            class(resource)
        )),
        (true, None) => invalid(format!("{name} permissions are of functions, and this server has none")),
        _ => Ok(found),
    }
}

fn class(resource: &Resource) -> &'static str {
    match resource {
        Resource::AllKeyspaces | Resource::Keyspace(_) | Resource::Table(..) => "DataResource",
        Resource::AllRoles | Resource::Role(_) => "RoleResource",
    }
}

/// Returns the resource that a statement names. It must exist.
fn found(request: &AccessRequest<'_>, roles: &Roles, named: &cql_syntax::Resource) -> Result<Resource> {
    let catalog = request.state.database.catalog();
    let (resource, is_there) = match named {
        cql_syntax::Resource::AllKeyspaces => (Resource::AllKeyspaces, true),
        cql_syntax::Resource::AllRoles => (Resource::AllRoles, true),
        cql_syntax::Resource::Keyspace(keyspace) => {
            (Resource::Keyspace(keyspace.clone()), catalog.keyspace(keyspace).is_some())
        }
        cql_syntax::Resource::Table(table) => {
            let keyspace = request.state.keyspace_of(table.keyspace.as_deref())?;
            let is_there = catalog.column_family(keyspace, &table.name).is_some();
            (Resource::Table(keyspace.to_owned(), table.name.clone()), is_there)
        }
        cql_syntax::Resource::Role(role) => (Resource::Role(role.clone()), roles.contains(role)),
    };
    if is_there { Ok(resource) } else { invalid(format!("{resource} doesn't exist")) }
}

fn user_exists(roles: &Roles, name: &str) -> Result<()> {
    if roles.contains(name) { Ok(()) } else { invalid(texts::unknown_user(NEWEST, name)) }
}

/// Executes GRANT and REVOKE. The user must have the permission to be granted, and AUTHORIZE.
pub(super) async fn change(
    request: &AccessRequest<'_>,
    change: PermissionChange,
    permission: &str,
    resource: &cql_syntax::Resource,
    role: &str,
) -> Result<Outcome> {
    not_without_authorizer(request, if change == PermissionChange::Grant { "GRANT" } else { "REVOKE" })?;
    request
        .change(|roles| {
            user_exists(roles, role)?;
            let resource = found(request, roles, resource)?;
            let permissions = named(permission, Some(&resource))?;
            for needed in [Permission::Authorize].into_iter().chain(permissions.iter()) {
                if !roles.allow(request.me, needed, &resource) {
                    return unauthorized(texts::no_permission(
                        NEWEST,
                        request.me,
                        needed.name(),
                        &resource.to_string(),
                    ));
                }
            }
            match change {
                PermissionChange::Grant => roles.grant(role, &resource, permissions),
                PermissionChange::Revoke => roles.revoke(role, &resource, permissions),
            }
            Ok(())
        })
        .await
}

/// Executes LIST PERMISSIONS. Superusers see the permissions of all roles, other users the permissions of their own
/// roles.
pub(super) fn list(
    request: &AccessRequest<'_>,
    permission: &str,
    resource: Option<&cql_syntax::Resource>,
    of: Option<&str>,
    is_recursive: bool,
) -> Result<Outcome> {
    not_without_authorizer(request, "LIST PERMISSIONS")?;
    let roles = request.keeper.now();
    let resource = resource.map(|resource| found(request, &roles, resource)).transpose()?;
    if let Some(of) = of {
        user_exists(&roles, of)?;
    }
    let is_mine = of.is_some_and(|of| roles.all_of(request.me).contains(of));
    if !is_mine && !roles.is_superuser(request.me) {
        return unauthorized(format!(
            "You are not authorized to view {}'s permissions",
            of.unwrap_or("everyone")
        ));
    }
    let wanted =
        if permission == "ALL" { named("ALL", None)? } else { named(permission, resource.as_ref())? };
    let chain = resource.map(|resource| chain(resource, is_recursive));
    let holders: Vec<&str> = match of {
        Some(of) => roles.all_of(of).into_iter().collect(),
        None => roles.iter().map(|(name, _)| name.as_str()).collect(),
    };
    let mut found = Vec::new();
    for (name, role) in holders.iter().filter_map(|name| Some((name, roles.get(name)?))) {
        let granted = role.grants.list().into_iter();
        for (on, permissions) in
            granted.filter(|(on, _)| chain.as_ref().is_none_or(|chain| chain.contains(on)))
        {
            let shown = permissions.intersection(wanted);
            found.extend(shown.iter().map(|one| [(*name).to_owned(), on.to_string(), one.name().to_owned()]));
        }
    }
    Ok(rows::permissions(found, request.state.behaviour.cql.permissions_name_roles))
}

/// Returns a resource, and its parents if `is_recursive` is set.
fn chain(resource: Resource, is_recursive: bool) -> Vec<Resource> {
    std::iter::successors(Some(resource), |resource| resource.parent().filter(|_| is_recursive)).collect()
}
