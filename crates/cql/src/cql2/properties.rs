//! Converts the properties after WITH to the settings of the schema.

use std::collections::BTreeMap;

use crate::{CqlError, QueryState, Result};
use base::compat::features::FieldKind;
use base::compat::texts;
use base::marshal::{Native, PACKAGE};
use base::schema::{CfDef, Setting};
use db::{CfRequest, ColumnRequest};

/// Properties whose setting has another name.
const RENAMED: [(&str, &str); 3] = [
    ("compaction_strategy_class", "compaction_strategy"),
    ("compaction_strategy_options", "compaction_strategy_options"),
    ("compression_parameters", "compression_options"),
];

/// Properties of 0.8 and 1.0 that no longer have an effect.
const IGNORED: [&str; 8] = [
    "row_cache_size",
    "key_cache_size",
    "row_cache_save_period_in_seconds",
    "key_cache_save_period_in_seconds",
    "memtable_flush_after_mins",
    "memtable_throughput_in_mb",
    "memtable_operations_in_millions",
    "row_cache_provider",
];

/// Returns the class for a type name: a type of CQL 2, or a class name.
pub(super) fn class_of(state: &QueryState<'_>, name: &str) -> Result<String> {
    let lower = name.to_lowercase();
    let class = match lower.as_str() {
        "timestamp" => Some("DateType"),
        lower => Native::named(lower).map(Native::class),
    };
    if let Some(class) = class {
        return Ok(format!("{PACKAGE}{class}"));
    }
    let found = state.database.types().parse(name);
    let found = found.map_err(|error| with_class(state, db::Error::invalid(error.to_string())))?;
    Ok(found.class_name().to_owned())
}

/// Returns the error of a mistake in a definition, with the class of its exception.
pub(super) fn with_class(state: &QueryState<'_>, error: db::Error) -> CqlError {
    match error {
        db::Error::InvalidRequest(why) => CqlError::invalid(texts::mistake_in_cql2(state.behaviour, &why)),
        error => error.into(),
    }
}

/// Adds properties to the request for a column family.
pub(super) fn apply(
    state: &QueryState<'_>,
    properties: &[(String, String)],
    request: &mut CfRequest,
) -> Result<()> {
    for (name, value) in properties {
        match name.as_str() {
            "comparator" => request.comparator_type = Some(class_of(state, value)?),
            "default_validation" => request.default_validation_class = Some(class_of(state, value)?),
            "comment" => request.comment = Some(value.clone()),
            "gc_grace_seconds" => request.gc_grace_seconds = Some(number(name, value)?),
            name if IGNORED.contains(&name) => {}
            name => setting(name, value, request)?,
        }
    }
    Ok(())
}

fn number<N: std::str::FromStr>(name: &str, value: &str) -> Result<N> {
    value.parse().map_err(|_| CqlError::invalid(format!("{value} is not a number, as {name} must be")))
}

fn setting(property: &str, value: &str, request: &mut CfRequest) -> Result<()> {
    let (name, option) = match property.split_once(':') {
        Some((name, option)) => (name, Some(option)),
        None => (property, None),
    };
    let name = RENAMED.iter().find(|(property, _)| *property == name).map_or(name, |(_, setting)| setting);
    let unknown =
        || CqlError::invalid(format!("{property} is not a valid keyword argument for CREATE COLUMNFAMILY"));
    let definition = Setting::field_named(name).ok_or_else(unknown)?;
    let setting = match (definition.kind, option) {
        (FieldKind::Map, Some(option)) => {
            let mut map = match request.settings.get(name) {
                Some(Setting::Map(map)) => map.clone(),
                _ => BTreeMap::new(),
            };
            map.insert(option.to_owned(), value.to_owned());
            Setting::Map(map)
        }
        (FieldKind::Bool, None) => Setting::Bool(value.eq_ignore_ascii_case("true")),
        (FieldKind::Int, None) => Setting::Int(number(property, value)?),
        (FieldKind::Double, None) => Setting::Double(number(property, value)?),
        (FieldKind::Text, None) => Setting::Text(value.to_owned()),
        (FieldKind::Map, None) | (_, Some(_)) => return Err(unknown()),
    };
    request.settings.insert(name.to_owned(), setting);
    Ok(())
}

/// Returns the request with which a client would create this column family.
pub fn request_of(cf: &CfDef) -> CfRequest {
    let columns = cf.column_metadata.values().map(|column| ColumnRequest {
        name: column.name.clone(),
        validation_class: column.validator.class_name().to_owned(),
        index_kind: column.index.as_ref().map(|index| index.kind),
        index_name: column.index.as_ref().and_then(|index| index.name.clone()),
        index_options: column.index.as_ref().and_then(|index| index.options.clone()),
    });
    CfRequest {
        keyspace: cf.keyspace.clone(),
        name: cf.name.clone(),
        column_type: Some("Standard".to_owned()),
        comparator_type: Some(cf.comparator.class_name().to_owned()),
        subcomparator_type: None,
        comment: cf.comment.clone(),
        gc_grace_seconds: Some(cf.gc_grace_s),
        default_validation_class: Some(cf.default_validator.class_name().to_owned()),
        key_validation_class: cf.key_validator.as_ref().map(|validator| validator.class_name().to_owned()),
        key_alias: cf.key_alias.clone(),
        id: Some(cf.id),
        columns: columns.collect(),
        settings: cf.settings.clone(),
    }
}
