//! `system_auth`: the roles as Cassandra 2.1 (`users`, `permissions`) and 2.2 store them. Password hashes are not
//! shown.

use super::row::RowBuilder;
use crate::QueryState;
use db::{Role, Roles};

/// Returns the rows of a table of the keyspace, or none if the store has no roles.
pub(super) fn rows(state: &QueryState<'_>, table: &str) -> Vec<RowBuilder> {
    let Some(keeper) = state.database.logins().roles() else { return Vec::new() };
    let roles = keeper.now();
    match table {
        "users" => each(&roles, |name, role| {
            let row = RowBuilder::default().text("name", name).boolean("super", roles.is_superuser(name));
            role.can_login.then_some(row).into_iter().collect()
        }),
        "credentials" => each(&roles, |name, role| {
            role.salted_hash.iter().map(|_| RowBuilder::default().text("username", name)).collect()
        }),
        "roles" => each(&roles, |name, role| vec![role_row(name, role)]),
        "role_members" => each(&roles, |name, role| {
            role.member_of
                .iter()
                .map(|of| RowBuilder::default().text("role", of).text("member", name))
                .collect()
        }),
        "permissions" => permissions(&roles, "username"),
        "role_permissions" => permissions(&roles, "role"),
        _ => Vec::new(),
    }
}

fn each(roles: &Roles, rows: impl Fn(&str, &Role) -> Vec<RowBuilder>) -> Vec<RowBuilder> {
    roles.iter().flat_map(|(name, role)| rows(name, role)).collect()
}

fn role_row(name: &str, role: &Role) -> RowBuilder {
    let row = RowBuilder::default()
        .text("role", name)
        .boolean("can_login", role.can_login)
        .boolean("is_superuser", role.is_superuser);
    if role.member_of.is_empty() {
        return row;
    }
    row.texts("member_of", &role.member_of.iter().cloned().collect::<Vec<_>>())
}

fn permissions(roles: &Roles, key: &'static str) -> Vec<RowBuilder> {
    each(roles, |name, role| {
        let mut rows = Vec::new();
        for (resource, granted) in role.grants.list() {
            let mut names: Vec<String> = granted.iter().map(|one| one.name().to_owned()).collect();
            names.sort();
            let row = RowBuilder::default().text(key, name).text("resource", resource.path());
            rows.push(row.texts("permissions", &names));
        }
        rows
    })
}
