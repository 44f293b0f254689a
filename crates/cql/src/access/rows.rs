//! The results of LIST.

use bytes::Bytes;

use crate::system::AUTH;
use crate::{ColumnSpec, Outcome, ResultSet};
use base::marshal::{CqlType, Native};

fn text_type() -> CqlType {
    CqlType::Native(Native::Text)
}

fn boolean_type() -> CqlType {
    CqlType::Native(Native::Boolean)
}

pub(super) fn text(value: &str) -> Option<Bytes> {
    Some(Bytes::copy_from_slice(value.as_bytes()))
}

pub(super) fn boolean(value: bool) -> Option<Bytes> {
    Some(Bytes::copy_from_slice(&[u8::from(value)]))
}

fn spec(table: &str, name: &str, cql_type: CqlType) -> ColumnSpec {
    ColumnSpec {
        keyspace: AUTH.to_owned(),
        table: table.to_owned(),
        name: name.to_owned(),
        cql_type,
        is_field: false,
    }
}

fn answer(columns: Vec<ColumnSpec>, rows: Vec<Vec<Option<Bytes>>>) -> Outcome {
    Outcome::Rows(ResultSet { columns: columns.into(), rows, paging_state: None })
}

/// Returns the result of LIST USERS: name, super.
pub(super) fn users(rows: Vec<Vec<Option<Bytes>>>) -> Outcome {
    answer(vec![spec("users", "name", text_type()), spec("users", "super", boolean_type())], rows)
}

/// Returns the result of LIST ROLES: role, super, login, options. No role has options. Like Cassandra, returns no
/// result set if there are no rows.
pub(super) fn roles(rows: Vec<(&str, bool, bool)>) -> Outcome {
    if rows.is_empty() {
        return Outcome::Void;
    }
    let options = CqlType::Map { key: Box::new(text_type()), value: Box::new(text_type()), is_frozen: false };
    let columns = vec![
        spec("roles", "role", text_type()),
        spec("roles", "super", boolean_type()),
        spec("roles", "login", boolean_type()),
        spec("roles", "options", options),
    ];
    let rows = rows.into_iter().map(|(name, is_super, login)| {
        let no_options = Some(Bytes::from_static(&[0; 4]));
        vec![text(name), boolean(is_super), boolean(login), no_options]
    });
    answer(columns, rows.collect())
}

/// Returns the result of LIST PERMISSIONS: username, resource, permission; with roles, their names come first. Like
/// Cassandra, returns no result set if there are no rows.
pub(super) fn permissions(rows: Vec<[String; 3]>, with_roles: bool) -> Outcome {
    if rows.is_empty() {
        return Outcome::Void;
    }
    let names = ["role", "username", "resource", "permission"];
    let skipped = usize::from(!with_roles);
    let columns = names[skipped..].iter().map(|name| spec("permissions", name, text_type())).collect();
    let rows = rows.into_iter().map(|[role, resource, permission]| {
        [&role, &role, &resource, &permission].map(|value| text(value))[skipped..].to_vec()
    });
    answer(columns, rows.collect())
}
