//! `system_auth`: the roles as Cassandra 2.1 (`users`, `permissions`) and 2.2 keep them. Hashes are not shown.

use super::row::Row;
use super::{native, set_of, table};
use crate::cql::QueryState;
use crate::db::{Role, Roles};
use crate::schema::TableDef;

/// A table of the keyspace with its rows; `None` where there is none of this name, or no roles.
pub fn table_of(state: &QueryState<'_>, name: &str) -> Option<(TableDef, Vec<Row>)> {
    let roles = state.database.roles()?.now();
    let boolean = || native("boolean");
    Some(match name {
        "users" => (
            table(("name", "text"), &[], [("super", boolean())]),
            each(&roles, |name, role| {
                let row = Row::default().text("name", name).boolean("super", roles.is_superuser(name));
                role.can_login.then_some(row).into_iter().collect()
            }),
        ),
        "credentials" => {
            let others = [("options", super::map_of("text", "text")), ("salted_hash", native("text"))];
            let rows = each(&roles, |name, role| {
                role.salted_hash.iter().map(|_| Row::default().text("username", name)).collect()
            });
            (table(("username", "text"), &[], others), rows)
        }
        "roles" => {
            let others = [
                ("can_login", boolean()),
                ("is_superuser", boolean()),
                ("member_of", set_of("text")),
                ("salted_hash", native("text")),
            ];
            (table(("role", "text"), &[], others), each(&roles, |name, role| vec![role_row(name, role)]))
        }
        "role_members" => {
            let rows = each(&roles, |name, role| {
                let row = |of: &String| Row::default().text("role", of).text("member", name);
                role.member_of.iter().map(row).collect()
            });
            (table(("role", "text"), &["member"], []), rows)
        }
        "permissions" => (permissions_table("username"), permissions(&roles, "username")),
        "role_permissions" => (permissions_table("role"), permissions(&roles, "role")),
        _ => return None,
    })
}

fn each(roles: &Roles, rows: impl Fn(&str, &Role) -> Vec<Row>) -> Vec<Row> {
    roles.iter().flat_map(|(name, role)| rows(name, role)).collect()
}

fn role_row(name: &str, role: &Role) -> Row {
    let row = Row::default()
        .text("role", name)
        .boolean("can_login", role.can_login)
        .boolean("is_superuser", role.is_superuser);
    if role.member_of.is_empty() {
        return row;
    }
    row.texts("member_of", &role.member_of.iter().cloned().collect::<Vec<_>>())
}

fn permissions_table(key: &'static str) -> TableDef {
    table((key, "text"), &["resource"], [("permissions", set_of("text"))])
}

fn permissions(roles: &Roles, key: &'static str) -> Vec<Row> {
    each(roles, |name, role| {
        let grants = role.grants.list().into_iter();
        let row = |(resource, granted): (crate::db::Resource, crate::db::PermissionSet)| {
            let mut names: Vec<String> = granted.iter().map(|one| one.name().to_owned()).collect();
            names.sort();
            Row::default().text(key, name).text("resource", resource.path()).texts("permissions", &names)
        };
        grants.map(row).collect()
    })
}
