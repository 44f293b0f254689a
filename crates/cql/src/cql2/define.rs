//! CREATE and DROP of keyspaces and indexes.

use bytes::Bytes;

use super::lookup::{Family, keyspace_of};
use super::outcome::Cql2Outcome;
use super::properties;
use super::values::Cql2Values;
use crate::error::invalid;
use crate::{CqlError, QueryState, Result};
use base::compat::texts;
use base::schema::IndexKind;
use cql_syntax::TableName;
use cql_syntax::cql2::Term2;
use db::{Access, KsRequest};

pub(super) async fn create_keyspace(
    state: &QueryState<'_>,
    name: &str,
    properties: &[(String, String)],
) -> Result<Cql2Outcome> {
    state.check(Access::AddKeyspace)?;
    let mut request = KsRequest { name: name.to_owned(), ..KsRequest::default() };
    for (property, value) in properties {
        match property.split_once(':') {
            Some(("strategy_options", option)) => {
                request.strategy_options.insert(option.to_owned(), value.clone());
            }
            None if property == "strategy_class" => request.strategy_class.clone_from(value),
            None if property == "durable_writes" => {
                request.durable_writes = Some(value.eq_ignore_ascii_case("true"));
            }
            _ => {
                return invalid(format!(
                    "\"{property}\" is not a valid keyword argument for CREATE KEYSPACE"
                ));
            }
        }
    }
    if request.strategy_class.is_empty() {
        return invalid("missing required argument \"strategy_class\"");
    }
    state.database.schema_changes(state.behaviour).by(state.user).add_keyspace(request).await?;
    Ok(Cql2Outcome::Void)
}

pub(super) async fn drop_keyspace(state: &QueryState<'_>, name: &str) -> Result<Cql2Outcome> {
    state.check(Access::DropKeyspace { keyspace: name.as_bytes() })?;
    state.database.schema_changes(state.behaviour).drop_keyspace(name).await?;
    Ok(Cql2Outcome::Void)
}

pub(super) async fn create_index(
    state: &QueryState<'_>,
    name: Option<&str>,
    table: &TableName,
    column: &Term2,
    values: Cql2Values<'_>,
) -> Result<Cql2Outcome> {
    let keyspace = keyspace_of(state, table.keyspace.as_deref())?;
    if state.database.catalog().column_family(keyspace, &table.name).is_none() {
        state.database.describe(state.behaviour).check_named_keyspace(keyspace.as_bytes())?;
        return invalid(format!("No such column family: {}", table.name));
    }
    let family = Family::find_to_change(state, table)?;
    state.check(Access::UpdateFamily { keyspace: family.keyspace(), family: family.cf.name.as_bytes() })?;
    let column_name: Bytes = values.bytes(column, family.comparator())?;
    let mut request = properties::request_of(&family.cf);
    let Some(found) = request.columns.iter_mut().find(|column| column.name == column_name) else {
        let shown = family.comparator().to_text(&column_name);
        return invalid(texts::unknown_indexed_column(state.behaviour, &shown));
    };
    if found.index_kind.is_some() {
        return invalid(texts::existing_index(state.behaviour));
    }
    found.index_kind = Some(IndexKind::Keys);
    found.index_name = name.map(str::to_owned);
    drop(family);
    let changed = state.database.schema_changes(state.behaviour).update_column_family(request).await;
    changed.map_err(|error| match error {
        db::Error::InvalidRequest(why) => {
            CqlError::invalid(texts::mistake_in_index_of_cql2(state.behaviour, &why))
        }
        error => error.into(),
    })?;
    Ok(Cql2Outcome::Void)
}

pub(super) async fn drop_index(state: &QueryState<'_>, name: &str) -> Result<Cql2Outcome> {
    let keyspace = keyspace_of(state, None)?;
    let catalog = state.database.catalog();
    let families =
        catalog.keyspace(keyspace).into_iter().flat_map(|keyspace| keyspace.column_families.values());
    let mut requests = families
        .filter(|cf| cf.subcomparator().is_none() && cf.table.is_none())
        .map(|cf| properties::request_of(cf));
    let found = requests.find_map(|mut request| {
        let column = request.columns.iter_mut().find(|column| column.index_name.as_deref() == Some(name))?;
        column.index_kind = None;
        column.index_name = None;
        column.index_options = None;
        Some(request)
    });
    drop(requests);
    drop(catalog);
    let Some(request) = found else {
        return invalid(texts::unknown_index(state.behaviour, name, keyspace));
    };
    state.check(Access::UpdateFamily { keyspace: keyspace.as_bytes(), family: request.name.as_bytes() })?;
    state.database.schema_changes(state.behaviour).update_column_family(request).await?;
    Ok(Cql2Outcome::Void)
}
