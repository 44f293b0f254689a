//! CREATE TABLE.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;

use super::modern::in_old_words;
use super::names::{check_table, configuration, configured, keyspace_of};
use super::{options, sizes, table_changed};
use crate::error::invalid;
use crate::values::TypeScope;
use crate::{ChangeKind, CqlError, Outcome, QueryState, Result};
use base::compat::{Line, texts};
use base::marshal::{CqlType, Types};
use base::schema::{
    CfDef, ColumnDef, ColumnKind, CompactNames, KeyspaceDef, Layout, Setting, TableColumn, TableDef,
    table_types,
};
use cql_syntax::{CreateTable, PrimaryKey};
use db::{Access, check_families};

/// The speculative retry of a table whose statement has none.
const SPECULATIVE_RETRY: &str = "99.0PERCENTILE";

/// Checks the statement by itself, as the old servers do when they prepare it (`CreateTableStatement.RawStatement`).
/// Whether the keyspace exists and has no such table yet is checked when the statement is executed.
pub(super) fn check(state: &QueryState<'_>, create: &CreateTable) -> Result<()> {
    let keyspace = state.keyspace_of(create.table.keyspace.as_deref())?;
    check_table(state.line(), &create.table.name)?;
    let create = &with_old_properties(state, create);
    let catalog = state.database.catalog();
    match catalog.keyspace(keyspace) {
        Some(keyspace) => table_of(create, &state.definition_scope(keyspace)),
        None => table_of(create, &state.definition_scope(&KeyspaceDef::new(keyspace))),
    }?;
    Ok(())
}

/// Returns the statement with the names of 2.1 for its properties.
fn with_old_properties(state: &QueryState<'_>, create: &CreateTable) -> CreateTable {
    let properties = in_old_words(state.reported, &create.properties).into_owned();
    CreateTable { properties, ..create.clone() }
}

pub(super) async fn create(state: &QueryState<'_>, create: &CreateTable) -> Result<Outcome> {
    let create = &with_old_properties(state, create);
    let keyspace = keyspace_of(state, create.table.keyspace.as_deref())?;
    state.check(Access::AddFamily { keyspace: keyspace.as_bytes() })?;
    let (line, name) = (state.line(), &create.table.name);
    check_table(line, name)?;
    if state.database.catalog().keyspace(keyspace).is_none() {
        column_family(create, &state.definition_scope(&KeyspaceDef::new(keyspace)))?;
        return configuration(texts::table_without_keyspace(line, keyspace, name));
    }
    let changes = state.database.schema_changes(state.behaviour).by(state.user);
    let created = changes.edit_keyspace(keyspace, |catalog, keyspace| {
        let cf = column_family(create, &state.definition_scope(keyspace))?;
        if keyspace.column_families.contains_key(name) {
            return if create.if_not_exists {
                Ok(false)
            } else {
                Err(already_there(line, &keyspace.name, name))
            };
        }
        check_families(catalog, 1)?;
        keyspace.column_families.insert(name.clone(), Arc::new(cf));
        Ok(true)
    });
    Ok(if created.await? { table_changed(ChangeKind::Created, keyspace, name) } else { Outcome::Void })
}

fn already_there(line: Line, keyspace: &str, table: &str) -> CqlError {
    CqlError::AlreadyExists {
        message: texts::existing_table(line, table, keyspace),
        keyspace: keyspace.to_owned(),
        table: table.to_owned(),
    }
}

/// Returns the column family that a statement defines, with the old servers' checks in their order.
pub fn column_family(create: &CreateTable, scope: &TypeScope<'_>) -> Result<CfDef> {
    let table = table_of(create, scope)?;
    let types = scope.types;
    let mut cf = CfDef::new(&scope.keyspace.name, &create.table.name);
    cf.comparator = configured(table_types::comparator(&table, None, types))?;
    cf.key_validator = Some(configured(table_types::key_validator(&table, types))?);
    if let [key] = &table.partition_key[..] {
        cf.key_alias = Some(key.cell_name.clone());
    }
    declare(&mut cf, table, types)?;
    options::apply(&mut cf, &create.properties)?;
    if cf.table.is_none() {
        // A compact table is stored as a column family of Thrift clients, which has another default.
        let default = Setting::Text(SPECULATIVE_RETRY.to_owned());
        cf.settings.entry("speculative_retry".to_owned()).or_insert(default);
    }
    Ok(cf)
}

/// Returns the table that a statement defines, after the checks that the old servers make when they prepare it.
fn table_of(create: &CreateTable, scope: &TypeScope<'_>) -> Result<TableDef> {
    let mut seen = HashSet::new();
    if let Some(column) = create.columns.iter().find(|column| !seen.insert(&column.name)) {
        return invalid(format!("Multiple definition of identifier {}", column.name));
    }
    let checked = options::check_table_properties(&create.properties)?;
    let columns = Columns::read(create, scope)?;
    if checked.default_ttl_s().is_some() && columns.left.values().any(|(cql_type, _)| cql_type.is_counter()) {
        return invalid("Cannot set default_time_to_live on a table with counters");
    }
    let table = columns.table(create)?;
    sizes::check_table(&table)?;
    Ok(table)
}

/// Checks that either all columns are counters or none is, and stores the table's definition in its column family: as
/// CQL metadata, or in the form that Thrift clients use.
fn declare(cf: &mut CfDef, table: TableDef, types: &Types) -> Result<()> {
    let first = table.others.values().next();
    let is_counter = first.is_some_and(|column| column.cql_type.is_counter());
    let word = if is_counter { "non counter" } else { "counter" };
    let other = if is_counter { "counter" } else { "non counter" };
    if let Some(column) = table.others.values().find(|column| column.cql_type.is_counter() != is_counter) {
        return configuration(format!(
            "Cannot add a {word} column ({}) in a {other} column family",
            column.name
        ));
    }
    if let Some(column) = first.filter(|_| is_counter || table.compact_value().is_some()) {
        cf.default_validator = column.cql_type.type_ref(types);
    }
    let given = |columns: &[TableColumn]| columns.iter().map(|column| Some(column.name.clone())).collect();
    match table.layout {
        Layout::Sparse => cf.table = Some(Arc::new(table)),
        Layout::StaticCompact => {
            cf.names.partition_key = given(&table.partition_key);
            for column in table.others.into_values() {
                let name: Bytes = column.cell_name;
                let validator = column.cql_type.type_ref(types);
                cf.column_metadata.insert(name.clone(), ColumnDef { name, validator, index: None });
            }
        }
        Layout::Dense | Layout::CompositeDense | Layout::Super => {
            cf.names = CompactNames {
                partition_key: given(&table.partition_key),
                clustering: given(&table.clustering),
                value: Some(first.map(|column| column.name.clone()).unwrap_or_default()),
            };
        }
    }
    Ok(())
}

/// The columns of a statement. The primary key takes its columns out of this list.
struct Columns {
    left: BTreeMap<String, (CqlType, bool)>,
    primary_key: PrimaryKey,
}

impl Columns {
    fn read(create: &CreateTable, scope: &TypeScope<'_>) -> Result<Columns> {
        let mut left = BTreeMap::new();
        for column in &create.columns {
            let cql_type = scope.resolve(&column.cql_type)?;
            // Only CREATE TABLE checks this; ALTER TABLE and ALTER TYPE make such columns.
            if let Some(user) = cql_type.multi_cell_user_type()
                && user.fields.iter().any(|(_, field)| field.is_multi_cell())
            {
                return invalid("Non-frozen UDTs with nested non-frozen collections are not supported");
            }
            left.insert(column.name.clone(), (cql_type, column.is_static));
        }
        let of_columns = create
            .columns
            .iter()
            .filter(|column| column.is_primary_key)
            .map(|column| PrimaryKey { partition_key: vec![column.name.clone()], clustering: Vec::new() });
        let mut keys = of_columns.chain(create.primary_keys.iter().cloned());
        let Some(primary_key) = keys.next() else {
            return invalid("No PRIMARY KEY specifed (exactly one required)");
        };
        if keys.next().is_some() {
            return invalid("Multiple PRIMARY KEYs specifed (exactly one required)");
        }
        Ok(Columns { left, primary_key })
    }

    /// Takes a column for the primary key.
    fn take(&mut self, name: &str, kind: ColumnKind, position: usize) -> Result<TableColumn> {
        let Some((cql_type, is_static)) = self.left.remove(name) else {
            return invalid(format!("Unknown definition {name} referenced in PRIMARY KEY"));
        };
        if cql_type.is_multi_cell_collection() {
            return invalid(format!("Invalid collection type for PRIMARY KEY component {name}"));
        }
        if cql_type.is_multi_cell() {
            return invalid(format!("Invalid non-frozen user-defined type for PRIMARY KEY component {name}"));
        }
        if cql_type.is_counter() {
            return invalid(format!("counter type is not supported for PRIMARY KEY part {name}"));
        }
        if cql_type.has_durations() {
            return invalid(format!("duration type is not supported for PRIMARY KEY part {name}"));
        }
        if is_static {
            return invalid(format!("Static column {name} cannot be part of the PRIMARY KEY"));
        }
        Ok(TableColumn::new(name, kind, position, cql_type))
    }

    fn table(mut self, create: &CreateTable) -> Result<TableDef> {
        let PrimaryKey { partition_key, clustering } = self.primary_key.clone();
        let partition_key = partition_key.iter().enumerate();
        let partition_key: Vec<TableColumn> = partition_key
            .map(|(position, name)| self.take(name, ColumnKind::PartitionKey, position))
            .collect::<Result<_, _>>()?;
        let has_collections = self.left.values().any(|(cql_type, _)| cql_type.is_multi_cell_collection());
        let has_user_types =
            self.left.values().any(|(cql_type, _)| cql_type.multi_cell_user_type().is_some());
        let mut columns = Vec::new();
        for (position, name) in clustering.iter().enumerate() {
            let column = self.take(name, ColumnKind::Clustering, position)?;
            columns.push(column);
        }
        let mut clustering = columns;
        if create.is_compact && has_user_types {
            return invalid("Non-frozen collections and UDTs are not supported with COMPACT STORAGE");
        }
        if create.is_compact && has_collections {
            return invalid(match clustering.is_empty() {
                true => "Non-frozen collection types are not supported with COMPACT STORAGE",
                false => "Collection types are not supported with COMPACT STORAGE",
            });
        }
        if self.left.values().any(|(_, is_static)| *is_static) {
            if create.is_compact {
                return invalid("Static columns are not supported in COMPACT STORAGE tables");
            }
            if clustering.is_empty() {
                return invalid(
                    "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
                );
            }
        }
        let layout = self.layout(create, &clustering)?;
        order(&mut clustering, &create.clustering_order)?;
        let others = self.left.into_iter().map(|(name, (cql_type, is_static))| {
            let kind = match layout {
                Layout::Dense | Layout::CompositeDense => ColumnKind::CompactValue,
                _ if is_static => ColumnKind::Static,
                _ => ColumnKind::Regular,
            };
            (name.clone(), TableColumn::new(&name, kind, 0, cql_type))
        });
        let dropped = BTreeMap::new();
        Ok(TableDef { layout, partition_key, clustering, others: others.collect(), dropped })
    }

    fn layout(&self, create: &CreateTable, clustering: &[TableColumn]) -> Result<Layout> {
        if !create.is_compact {
            return Ok(Layout::Sparse);
        }
        match clustering.len() {
            0 if self.left.is_empty() => invalid("No definition found that is not part of the PRIMARY KEY"),
            0 => Ok(Layout::StaticCompact),
            _ if self.left.len() > 1 => {
                let names: Vec<&str> = self.left.keys().map(String::as_str).collect();
                invalid(format!(
                    "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the \
                     PRIMARY KEY (got: {})",
                    names.join(", ")
                ))
            }
            1 => Ok(Layout::Dense),
            _ => Ok(Layout::CompositeDense),
        }
    }
}

fn order(clustering: &mut [TableColumn], directive: &[(String, bool)]) -> Result<()> {
    if directive.len() > clustering.len() {
        return invalid("Only clustering key columns can be defined in CLUSTERING ORDER directive");
    }
    for (at, (name, is_reversed)) in directive.iter().enumerate() {
        let Some(column) = clustering.get_mut(at) else { break };
        if column.name == *name {
            column.is_reversed = *is_reversed;
        } else if directive.iter().any(|(other, _)| *other == column.name) {
            return invalid(format!(
                "The order of columns in the CLUSTERING ORDER directive must be the one of the clustering key ({} must \
                 appear before {name})",
                column.name
            ));
        } else {
            return invalid(format!("Missing CLUSTERING ORDER for column {}", column.name));
        }
    }
    Ok(())
}
