//! The attributes of keyspaces and column families as requests for the schema.

use std::collections::BTreeMap;

use super::lexer::CliScriptError;
use super::statement::{Attribute, AttributeValue};
use super::types::bytes_of_text;
use base::compat::features::FieldKind;
use base::marshal::{TypeRef, Types};
use base::schema::{IndexKind, Setting};
use db::{CfRequest, ColumnRequest, KsRequest};

const COLUMNS_FORM: &str = "use [{column_name: name, validation_class: UTF8Type, index_type: KEYS}, ...]";

/// Attributes whose setting has another name in the API.
const RENAMED: &[(&str, &str)] = &[
    ("key_cache_save_period", "key_cache_save_period_in_seconds"),
    ("keys_cached", "key_cache_size"),
    ("memtable_flush_after", "memtable_flush_after_mins"),
    ("memtable_operations", "memtable_operations_in_millions"),
    ("memtable_throughput", "memtable_throughput_in_mb"),
    ("row_cache_save_period", "row_cache_save_period_in_seconds"),
    ("rows_cached", "row_cache_size"),
];

const REPLICATION_FACTOR: &str = "replication_factor";
/// The class of keyspaces without a placement strategy. On one node there is no other placement.
const SIMPLE_STRATEGY: &str = "org.apache.cassandra.locator.SimpleStrategy";

impl Attribute {
    fn error<T>(&self, why: impl AsRef<str>) -> Result<T, CliScriptError> {
        Err(CliScriptError::new(self.place, format!("`{}`: {}", self.name, why.as_ref())))
    }

    fn text(&self) -> Result<String, CliScriptError> {
        match &self.value {
            AttributeValue::Text(text) => Ok(text.clone()),
            _ => self.error("use one value, such as UTF8Type or 'a text'"),
        }
    }

    fn number<T: std::str::FromStr>(&self) -> Result<T, CliScriptError> {
        let text = self.text()?;
        text.parse().or_else(|_| self.error(format!("'{text}' is no number")))
    }

    fn flag(&self) -> Result<bool, CliScriptError> {
        let text = self.text()?;
        text.to_ascii_lowercase().parse().or_else(|_| self.error(format!("'{text}' is not true or false")))
    }

    /// Returns a map of texts. 0.7 to 1.0 have it in brackets.
    fn map(&self) -> Result<BTreeMap<String, String>, CliScriptError> {
        let pairs = match &self.value {
            AttributeValue::Map(pairs) => pairs.clone(),
            AttributeValue::List(maps) => maps.concat(),
            AttributeValue::Text(_) => return self.error("use a map: {name: value}"),
        };
        let mut map = BTreeMap::new();
        for (name, value) in pairs {
            let AttributeValue::Text(value) = value else {
                return self.error(format!("the value of {name} is a map: use a text"));
            };
            map.insert(name, value);
        }
        Ok(map)
    }

    fn setting(&self, kind: FieldKind) -> Result<Setting, CliScriptError> {
        Ok(match kind {
            FieldKind::Bool => Setting::Bool(self.flag()?),
            FieldKind::Int => Setting::Int(self.number()?),
            FieldKind::Double => Setting::Double(self.number()?),
            FieldKind::Text => Setting::Text(self.text()?),
            FieldKind::Map => Setting::Map(self.map()?),
        })
    }

    /// Returns the definitions of columns. Their names have a type.
    fn columns(&self, types: &Types, of_names: Option<&str>) -> Result<Vec<ColumnRequest>, CliScriptError> {
        let AttributeValue::List(columns) = &self.value else { return self.error(COLUMNS_FORM) };
        let comparator = of_names.and_then(|class| types.resolve(class));
        columns.iter().map(|pairs| self.column(comparator.as_ref(), pairs)).collect()
    }

    /// Returns the definition of a column, whose name has this type.
    fn column(
        &self,
        comparator: Option<&TypeRef>,
        pairs: &[(String, AttributeValue)],
    ) -> Result<ColumnRequest, CliScriptError> {
        let mut request = ColumnRequest {
            name: bytes::Bytes::new(),
            validation_class: String::new(),
            index_kind: None,
            index_name: None,
            index_options: None,
        };
        for (name, value) in pairs {
            match (&*name.to_ascii_lowercase(), value) {
                ("column_name", AttributeValue::Text(text)) => {
                    request.name = bytes_of_text(comparator, text).or_else(|why| self.error(why))?;
                }
                ("validation_class", AttributeValue::Text(class)) => {
                    request.validation_class.clone_from(class);
                }
                ("index_type", AttributeValue::Text(kind)) => {
                    let numbered = kind.parse().ok().and_then(IndexKind::from_repr);
                    let Some(known) = numbered.or(IndexKind::of_name(&kind.to_ascii_uppercase())) else {
                        return self.error(format!("index_type '{kind}': use KEYS"));
                    };
                    request.index_kind = Some(known);
                }
                ("index_name", AttributeValue::Text(text)) => request.index_name = Some(text.clone()),
                ("index_options", AttributeValue::Map(_)) => {
                    let options = Attribute { value: value.clone(), ..self.clone() };
                    request.index_options = Some(options.map()?);
                }
                _ => return self.error(format!("{name}: {COLUMNS_FORM}")),
            }
        }
        if request.name.is_empty() || request.validation_class.is_empty() {
            return self
                .error(format!("each column needs a column_name and a validation_class: {COLUMNS_FORM}"));
        }
        Ok(request)
    }
}

/// Changes the definition of a column family by attributes.
pub(super) fn set_family(
    request: &mut CfRequest,
    attributes: &[Attribute],
    types: &Types,
) -> Result<(), CliScriptError> {
    for attribute in attributes {
        match &*attribute.name {
            "column_type" => request.column_type = Some(attribute.text()?),
            "comparator" => request.comparator_type = Some(attribute.text()?),
            "subcomparator" => request.subcomparator_type = Some(attribute.text()?),
            "comment" => request.comment = Some(attribute.text()?),
            "gc_grace" => request.gc_grace_seconds = Some(attribute.number()?),
            "default_validation_class" => request.default_validation_class = Some(attribute.text()?),
            "key_validation_class" => request.key_validation_class = Some(attribute.text()?),
            // The names of the columns have a type that may come later.
            "column_metadata" => {}
            name => {
                let renamed = RENAMED.iter().find(|(own, _)| *own == name);
                let Some(field) = Setting::field_named(renamed.map_or(name, |(_, of_api)| of_api)) else {
                    return attribute.error(
                        "there is no such attribute: use column_type, comparator, subcomparator, \
                         default_validation_class, key_validation_class, column_metadata, comment, gc_grace, or a setting \
                         of the API such as read_repair_chance",
                    );
                };
                request.settings.insert(field.name.to_owned(), attribute.setting(field.kind)?);
            }
        }
    }
    let is_super = request.column_type.as_deref() == Some("Super");
    for attribute in attributes.iter().filter(|attribute| attribute.name == "column_metadata") {
        let of_names = if is_super { &request.subcomparator_type } else { &request.comparator_type };
        request.columns = attribute.columns(types, of_names.as_deref())?;
    }
    Ok(())
}

/// Returns the definition of a keyspace. Without attributes it is on one node.
pub(super) fn new_keyspace(name: &str) -> KsRequest {
    KsRequest { name: name.to_owned(), strategy_class: SIMPLE_STRATEGY.to_owned(), ..KsRequest::default() }
}

/// Returns the class of a strategy in a script. 0.7, and the first releases of 0.8, accepted the strategy of the system tables
/// for any keyspace: all data on one node.
fn strategy_of(class: String) -> String {
    if class.ends_with("LocalStrategy") { SIMPLE_STRATEGY.to_owned() } else { class }
}

/// Changes the definition of a keyspace by attributes.
pub(super) fn set_keyspace(request: &mut KsRequest, attributes: &[Attribute]) -> Result<(), CliScriptError> {
    for attribute in attributes {
        match &*attribute.name {
            "placement_strategy" => request.strategy_class = strategy_of(attribute.text()?),
            "strategy_options" => request.strategy_options = attribute.map()?,
            "durable_writes" => request.durable_writes = Some(attribute.flag()?),
            REPLICATION_FACTOR => request.replication_factor = Some(attribute.number()?),
            _ => {
                return attribute.error(
                    "there is no such attribute: use placement_strategy, strategy_options, replication_factor or \
                     durable_writes",
                );
            }
        }
    }
    // 0.7 has the factor as an attribute, later releases as an option.
    let is_simple = request.strategy_class.ends_with("SimpleStrategy");
    if is_simple && !request.strategy_options.contains_key(REPLICATION_FACTOR) {
        let factor = request.replication_factor.unwrap_or(1).to_string();
        request.strategy_options.insert(REPLICATION_FACTOR.to_owned(), factor);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_strategy_has_one_replica() {
        let local = "org.apache.cassandra.locator.LocalStrategy".to_owned();
        assert_eq!(strategy_of(local), SIMPLE_STRATEGY);
        assert_eq!(strategy_of("NetworkTopologyStrategy".to_owned()), "NetworkTopologyStrategy");
    }
}
