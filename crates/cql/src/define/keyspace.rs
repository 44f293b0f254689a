//! CREATE, ALTER and DROP KEYSPACE.

use std::collections::BTreeMap;

use super::changed;
use super::names::{check_keyspace, check_not_system, configuration, syntax};
use super::options::{check_known, is_true};
use crate::{ChangeKind, CqlError, Outcome, QueryState, Result};
use base::compat::texts;
use cql_syntax::{Properties, PropertyValue};
use db::{Access, Error, KsRequest};

const PROPERTIES: [&str; 2] = ["replication", "durable_writes"];

/// The properties of a keyspace: the options of the replication, and whether writes are logged.
struct KeyspaceProperties {
    replication: Option<BTreeMap<String, String>>,
    durable_writes: Option<bool>,
}

fn read(properties: &Properties) -> Result<KeyspaceProperties> {
    check_known(properties, &PROPERTIES, &[])?;
    let mut parsed = KeyspaceProperties { replication: None, durable_writes: None };
    for (name, value) in &properties.0 {
        match (&**name, value) {
            ("replication", PropertyValue::Map(map)) => {
                parsed.replication = Some(map.iter().cloned().collect())
            }
            ("durable_writes", PropertyValue::Text(text)) => parsed.durable_writes = Some(is_true(text)),
            (name, PropertyValue::Text(_)) => {
                return Err(syntax(format!("Invalid value for property '{name}'. It should be a map.")));
            }
            (name, PropertyValue::Map(_)) => {
                return Err(syntax(format!("Invalid value for property '{name}'. It should be a string")));
            }
        }
    }
    Ok(parsed)
}

/// Turns the database's errors about replication into configuration errors.
fn as_configuration(error: Error) -> CqlError {
    match error {
        Error::InvalidRequest(why) => CqlError::Configuration(why),
        other => CqlError::Failed(other),
    }
}

pub(super) async fn create(
    state: &QueryState<'_>,
    name: &str,
    if_not_exists: bool,
    properties: &Properties,
) -> Result<Outcome> {
    state.check(Access::AddKeyspace)?;
    check_keyspace(name)?;
    let parsed = read(properties)?;
    let mut options = parsed.replication.unwrap_or_default();
    let Some(class) = options.remove("class") else {
        return configuration("Missing mandatory replication strategy class");
    };
    check_options(name, &class, &options)?;
    let request = KsRequest {
        name: name.to_owned(),
        strategy_class: class,
        strategy_options: options,
        durable_writes: parsed.durable_writes,
        ..KsRequest::default()
    };
    let is_made = state
        .database
        .schema_changes(state.behaviour)
        .by(state.user)
        .put_keyspace(&request, true)
        .await
        .map_err(as_configuration)?;
    match (is_made, if_not_exists) {
        (true, _) => Ok(changed(ChangeKind::Created, name, None)),
        (false, true) => Ok(Outcome::Void),
        (false, false) => Err(CqlError::AlreadyExists {
            message: texts::existing_keyspace(state.behaviour, name),
            keyspace: name.to_owned(),
            table: String::new(),
        }),
    }
}

/// Refuses options that a strategy does not support.
fn check_options(keyspace: &str, class: &str, options: &BTreeMap<String, String>) -> Result<()> {
    let short = class.rsplit('.').next().unwrap_or(class);
    match short {
        "SimpleStrategy" => match options.keys().find(|name| *name != "replication_factor") {
            Some(name) if options.contains_key("replication_factor") => configuration(format!(
                "Unrecognized strategy option {{{name}}} passed to {short} for keyspace {keyspace}"
            )),
            _ => Ok(()),
        },
        "NetworkTopologyStrategy" if options.contains_key("replication_factor") => {
            configuration("replication_factor is an option for SimpleStrategy, not NetworkTopologyStrategy")
        }
        "NetworkTopologyStrategy" => match options.values().find(|factor| factor.parse::<i32>().is_err()) {
            // The message of Java's `Integer.valueOf`.
            Some(factor) => configuration(format!("For input string: \"{factor}\"")),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

pub(super) async fn alter(state: &QueryState<'_>, name: &str, properties: &Properties) -> Result<Outcome> {
    check_not_system(name)?;
    state.check(Access::UpdateKeyspace { keyspace: name.as_bytes() })?;
    let unknown = || CqlError::invalid(format!("Unknown keyspace {name}"));
    let catalog = state.database.catalog();
    let old = catalog.keyspace(name).ok_or_else(unknown)?;
    let parsed = read(properties)?;
    let is_new_replication = parsed.replication.is_some();
    let (strategy_class, strategy_options) = match parsed.replication {
        None => (old.modern_strategy_class().to_owned(), old.strategy_options.clone()),
        Some(mut options) => match options.remove("class") {
            Some(class) => (class, options),
            None => return configuration("Missing replication strategy class"),
        },
    };
    check_options(name, &strategy_class, &strategy_options)?;
    let is_simple = strategy_class.rsplit('.').next() == Some("SimpleStrategy");
    if is_new_replication && is_simple && !strategy_options.contains_key("replication_factor") {
        return configuration("SimpleStrategy requires a replication_factor strategy option.");
    }
    let request = KsRequest {
        name: name.to_owned(),
        strategy_class,
        strategy_options,
        durable_writes: parsed.durable_writes.or(Some(old.durable_writes)),
        replication_factor: Some(old.replication_factor),
        column_families: Vec::new(),
    };
    drop(catalog);
    let is_there = state
        .database
        .schema_changes(state.behaviour)
        .put_keyspace(&request, false)
        .await
        .map_err(as_configuration)?;
    if is_there { Ok(changed(ChangeKind::Updated, name, None)) } else { Err(unknown()) }
}

pub(super) async fn drop_keyspace(state: &QueryState<'_>, name: &str, if_exists: bool) -> Result<Outcome> {
    check_not_system(name)?;
    state.check(Access::DropKeyspace { keyspace: name.as_bytes() })?;
    if state.database.catalog().keyspace(name).is_none() {
        if if_exists {
            return Ok(Outcome::Void);
        }
        return configuration(texts::unknown_keyspace_to_drop(state.behaviour, name));
    }
    state.database.schema_changes(state.behaviour).drop_keyspace(name).await?;
    Ok(changed(ChangeKind::Dropped, name, None))
}
