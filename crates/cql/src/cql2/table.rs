//! CREATE, ALTER, DROP and TRUNCATE of column families.

use bytes::Bytes;

use super::lookup::{Family, keyspace_of};
use super::outcome::Cql2Outcome;
use super::properties;
use super::values::Cql2Values;
use crate::error::invalid;
use crate::{CqlError, QueryState, Result};
use base::compat::texts;
use base::marshal::BytesType;
use cql_syntax::TableName;
use cql_syntax::cql2::{Alter2, CreateTable2, Term2};
use db::{Access, CfRequest, ColumnRequest};

/// The default name of the row key.
const KEY: &str = "KEY";

pub(super) async fn create(state: &QueryState<'_>, create: &CreateTable2) -> Result<Cql2Outcome> {
    let keyspace = keyspace_of(state, create.table.keyspace.as_deref())?;
    state.check(Access::AddFamily { keyspace: keyspace.as_bytes() })?;
    let mut request = CfRequest {
        keyspace: keyspace.to_owned(),
        name: create.table.name.clone(),
        comparator_type: Some(properties::class_of(state, "text")?),
        default_validation_class: Some(properties::class_of(state, "text")?),
        ..CfRequest::default()
    };
    properties::apply(state, &create.properties, &mut request)?;
    let mut keys = create.columns.iter().filter(|(_, _, is_key)| *is_key);
    let (key, others) = (keys.next(), keys.next());
    let Some((key_name, key_type, _)) = key else {
        return invalid("You must specify a PRIMARY KEY");
    };
    if others.is_some() {
        return invalid("You may only specify one PRIMARY KEY");
    }
    request.key_validation_class = Some(properties::class_of(state, key_type)?);
    if let Term2::Text(name) = key_name
        && !key_name.is_key(KEY)
    {
        request.key_alias = Some(Bytes::from(name.clone()));
    }
    let class = request.comparator_type.clone().unwrap_or_default();
    let comparator = state.database.types().resolve(&class);
    let comparator = comparator.as_deref().unwrap_or(&BytesType);
    for (name, class, is_key) in &create.columns {
        if !is_key {
            let name = Cql2Values::none(state).bytes(name, comparator)?;
            request.columns.push(column(name, properties::class_of(state, class)?));
        }
    }
    let catalog = state.database.catalog();
    if catalog.column_family(keyspace, &create.table.name).is_some() {
        return Err(CqlError::AlreadyExists {
            message: texts::existing_table_in_cql2(state.behaviour, keyspace, &create.table.name),
            keyspace: keyspace.to_owned(),
            table: create.table.name.clone(),
        });
    }
    drop(catalog);
    let added =
        state.database.schema_changes(state.behaviour).by(state.user).add_column_family(request).await;
    added.map_err(|error| properties::with_class(state, error))?;
    Ok(Cql2Outcome::Void)
}

fn column(name: Bytes, validation_class: String) -> ColumnRequest {
    ColumnRequest { name, validation_class, index_kind: None, index_name: None, index_options: None }
}

pub(super) async fn alter(state: &QueryState<'_>, table: &TableName, alter: &Alter2) -> Result<Cql2Outcome> {
    let family = Family::find_to_change(state, table)?;
    state.check(Access::UpdateFamily { keyspace: family.keyspace(), family: family.cf.name.as_bytes() })?;
    let mut request = properties::request_of(&family.cf);
    let name_of = |term: &Term2| Cql2Values::none(state).bytes(term, family.comparator());
    let not_found = |term: &Term2| {
        let Term2::Text(name) = term else { return CqlError::invalid("a name cannot be bound here") };
        CqlError::invalid(format!("Column {name} was not found in table {}", family.cf.name))
    };
    match alter {
        Alter2::With(properties) => properties::apply(state, properties, &mut request)?,
        Alter2::Type(term, class) if term.is_key(&family.key_alias()) => {
            request.key_validation_class = Some(properties::class_of(state, class)?);
        }
        Alter2::Type(term, class) => {
            let name = name_of(term)?;
            let found = request.columns.iter_mut().find(|column| column.name == name);
            found.ok_or_else(|| not_found(term))?.validation_class = properties::class_of(state, class)?;
        }
        Alter2::Add(term, class) => {
            let name = name_of(term)?;
            if request.columns.iter().any(|column| column.name == name) {
                let Term2::Text(text) = term else { return Err(not_found(term)) };
                return invalid(format!(
                    "Invalid column name {text} because it conflicts with an existing column"
                ));
            }
            request.columns.push(column(name, properties::class_of(state, class)?));
        }
        Alter2::Drop(term) => {
            let name = name_of(term)?;
            let at = request.columns.iter().position(|column| column.name == name);
            request.columns.remove(at.ok_or_else(|| not_found(term))?);
        }
    }
    drop(family);
    state.database.schema_changes(state.behaviour).update_column_family(request).await?;
    Ok(Cql2Outcome::Void)
}

pub(super) async fn drop_table(state: &QueryState<'_>, table: &TableName) -> Result<Cql2Outcome> {
    let keyspace = keyspace_of(state, table.keyspace.as_deref())?;
    state.check(Access::DropFamily { keyspace: keyspace.as_bytes(), family: table.name.as_bytes() })?;
    state.database.schema_changes(state.behaviour).drop_column_family(keyspace, &table.name).await?;
    Ok(Cql2Outcome::Void)
}

pub(super) async fn truncate(state: &QueryState<'_>, table: &TableName) -> Result<Cql2Outcome> {
    let keyspace = keyspace_of(state, table.keyspace.as_deref())?;
    state.check(Access::Write { keyspace: keyspace.as_bytes(), family: table.name.as_bytes() })?;
    state
        .database
        .schema_changes(state.behaviour)
        .truncate(keyspace.as_bytes(), table.name.as_bytes())
        .await?;
    Ok(Cql2Outcome::Void)
}
