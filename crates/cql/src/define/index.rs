//! CREATE and DROP INDEX.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::{configuration, keyspace_of};
use super::table_changed;
use crate::error::invalid;
use crate::{ChangeKind, Outcome, QueryState, Result};
use base::compat::features::restrictions::{CHANGES_OF_SEVERAL_ROWS, INDEXES_ON_STATIC_COLUMNS};
use base::compat::texts;
use base::marshal::{CqlType, PACKAGE, Types};
use base::schema::{
    CfDef, ColumnDef, ColumnKind, IndexDef, IndexKind, KeyspaceDef, Layout, TableColumn, TableDef,
};
use cql_syntax::{CreateIndex, IndexTarget, TableName};
use db::{Access, Error, INDEX_ENTRIES, INDEX_KEYS};

/// The package of Cassandra's own index classes.
const OWN_CLASSES: &str = "org.apache.cassandra.db.index.";

pub(super) async fn create(state: &QueryState<'_>, create: &CreateIndex) -> Result<Outcome> {
    let keyspace = keyspace_of(state, create.table.keyspace.as_deref())?;
    let name = &create.table.name;
    state.check(Access::UpdateFamily { keyspace: keyspace.as_bytes(), family: name.as_bytes() })?;
    let changes = state.database.schema_changes(state.behaviour);
    let created = changes.edit_keyspace(keyspace, |_, keyspace| {
        let Some(old) = keyspace.column_families.get(name) else {
            return invalid(texts::unknown_table(state.line(), name));
        };
        let Some(cf) = indexed(create, old, keyspace, state)? else { return Ok(false) };
        keyspace.column_families.insert(name.clone(), Arc::new(cf));
        Ok(true)
    });
    Ok(if created.await? { table_changed(ChangeKind::Updated, keyspace, name) } else { Outcome::Void })
}

/// Returns the column family with the index, or `None` if the index exists and IF NOT EXISTS was given.
fn indexed(
    create: &CreateIndex,
    old: &CfDef,
    keyspace: &KeyspaceDef,
    state: &QueryState<'_>,
) -> Result<Option<CfDef>> {
    let (types, release) = (state.database.types(), state.behaviour.release);
    let table = TableDef::of(old, release);
    if old.is_counter() {
        return invalid("Secondary indexes are not supported on counter tables");
    }
    let Some(column) = table.column(&create.column) else {
        return invalid(texts::unknown_indexed_column(release, &create.column));
    };
    if column.cql_type.multi_cell_user_type().is_some() && create.target == IndexTarget::Values {
        return invalid(match column.cql_type.has_durations() {
            true => "Secondary indexes are not supported on UDTs containing durations",
            false => "Secondary indexes are not supported on non-frozen UDTs",
        });
    }
    if column.cql_type.has_durations() {
        return invalid("Secondary indexes are not supported on duration columns");
    }
    let value = indexed_type(create, column, types)?;
    if let Some(known) = old.column_metadata.get(&column.cell_name).and_then(|known| known.index.as_ref()) {
        check_other_half(create, column, known)?;
        return match (create.if_not_exists, &known.name) {
            (true, _) => Ok(None),
            (false, Some(known)) if state.has(CHANGES_OF_SEVERAL_ROWS) => {
                let name = new_name(create, keyspace, &old.name, &column.name);
                invalid(texts::same_index(release, &name, known))
            }
            _ => invalid(texts::existing_index(release)),
        };
    }
    check_class(create)?;
    if column.cql_type.is_multi_cell() && !create.is_custom && !state.behaviour.cql.indexes_collections {
        return invalid("Indexes on collections are no yet supported");
    }
    check_place(state, &table, column)?;
    let name = new_name(create, keyspace, &old.name, &column.name);
    if index_names(keyspace).any(|known| known == name) {
        return configuration(texts::duplicate_index(release, &name));
    }
    if state.is_in_words_of_2_1() {
        check_class_is_there(create)?;
    }
    let kind = match (create.is_custom, table.layout) {
        (true, _) => IndexKind::Custom,
        (false, Layout::Sparse) => IndexKind::Composites,
        (false, _) => IndexKind::Keys,
    };
    let definition = ColumnDef {
        name: column.cell_name.clone(),
        validator: value.type_ref(types),
        index: Some(IndexDef { kind, name: Some(name), options: Some(stored_options(create, column)) }),
    };
    let mut cf = old.clone();
    cf.column_metadata.insert(definition.name.clone(), definition);
    Ok(Some(cf.with_indexes()))
}

/// Returns the options of an index as real servers store them.
fn stored_options(create: &CreateIndex, column: &TableColumn) -> BTreeMap<String, String> {
    let mut options = BTreeMap::new();
    if create.target == IndexTarget::Keys {
        options.insert(INDEX_KEYS.to_owned(), String::new());
    } else if create.target == IndexTarget::Entries {
        options.insert(INDEX_ENTRIES.to_owned(), String::new());
    } else if column.cql_type.is_multi_cell() {
        options.insert("index_values".to_owned(), String::new());
    }
    if let Some(class) = &create.class {
        options.insert("class_name".to_owned(), class.clone());
    }
    options
}

/// Returns the type of the indexed values.
fn indexed_type(create: &CreateIndex, column: &TableColumn, types: &Types) -> Result<CqlType> {
    let name = &column.name;
    match (&column.cql_type, create.target) {
        (CqlType::Map { key, is_frozen: false, .. }, IndexTarget::Keys) => Ok((**key).clone()),
        (CqlType::Map { is_frozen: true, .. }, IndexTarget::Keys) => {
            invalid(format!("Cannot create index on keys of frozen<map> column {name}"))
        }
        (_, IndexTarget::Keys) => {
            invalid(format!("Cannot create index on keys of column {name} with non-map type"))
        }
        (CqlType::Map { key, value, is_frozen: false }, IndexTarget::Entries) => {
            let class = format!("{PACKAGE}CompositeType({},{})", key.class_name(), value.class_name());
            match types.parse(&class) {
                Ok(class) => Ok(CqlType::Custom(class)),
                Err(error) => configuration(error.to_string()),
            }
        }
        (of, IndexTarget::Entries) if of.is_frozen_collection() => invalid(format!(
            "Cannot create entries() index on frozen column {name}. Frozen collections only support full() indexes"
        )),
        (of, IndexTarget::Entries) if of.is_multi_cell_collection() => {
            invalid(format!("Cannot create index on entries of column {name} with non-map type"))
        }
        (_, IndexTarget::Entries) => invalid(format!(
            "Cannot create entries() index on {name}. Non-collection columns support only simple indexes"
        )),
        (of, IndexTarget::Full) if !of.is_frozen_collection() => {
            invalid("full() indexes can only be created on frozen collections")
        }
        (of, IndexTarget::Values) if of.is_frozen_collection() => invalid(
            "Frozen collections currently only support full-collection indexes. For example, 'CREATE INDEX ON \
             <table>(full(<columnName>))'.",
        ),
        (CqlType::Map { value, is_frozen: false, .. }, _) => Ok((**value).clone()),
        (CqlType::List { element, is_frozen: false } | CqlType::Set { element, is_frozen: false }, _) => {
            Ok((**element).clone())
        }
        (other, _) => Ok(other.clone()),
    }
}

/// Returns the part of a column's type that is indexed: for a collection its elements, its keys, or both.
pub(super) fn indexed_part<'t>(cql_type: &'t CqlType, index: &IndexDef) -> &'t CqlType {
    let by_keys = index.has_option(INDEX_KEYS);
    match cql_type {
        entries if index.has_option(INDEX_ENTRIES) => entries,
        CqlType::Map { key, is_frozen: false, .. } if by_keys => key,
        CqlType::Map { value: part, is_frozen: false, .. }
        | CqlType::List { element: part, is_frozen: false }
        | CqlType::Set { element: part, is_frozen: false } => part,
        single => single,
    }
}

/// Checks that a map is not indexed in two ways, such as by its keys and by its values.
fn check_other_half(create: &CreateIndex, column: &TableColumn, known: &IndexDef) -> Result<()> {
    let part = match create.target {
        IndexTarget::Keys => "keys",
        IndexTarget::Entries => "entries",
        IndexTarget::Values | IndexTarget::Full => "values",
    };
    let known_part = if known.has_option(INDEX_KEYS) {
        "keys"
    } else if known.has_option(INDEX_ENTRIES) {
        "entries"
    } else {
        "values"
    };
    if !matches!(column.cql_type, CqlType::Map { .. }) || part == known_part {
        return Ok(());
    }
    let name = &column.name;
    if part == "entries" || known_part == "entries" {
        return invalid(format!(
            "Cannot create index on {part}({name}): an index on {known_part}({name}) already exists and indexing a map on \
             more than one dimension at the same time is not currently supported"
        ));
    }
    invalid(format!(
        "Cannot create index on {name} {part}, an index on {name} {known_part} already exists and indexing a map on both \
         keys and values at the same time is not currently supported"
    ))
}

fn check_class(create: &CreateIndex) -> Result<()> {
    if create.is_custom && create.class.is_none() {
        return invalid("CUSTOM index requires specifiying the index class");
    }
    if !create.is_custom && create.class.is_some() {
        return invalid("Cannot specify index class for a non-CUSTOM index");
    }
    if !create.is_custom && !create.properties.0.is_empty() {
        return invalid("Cannot specify options for a non-CUSTOM index");
    }
    Ok(())
}

/// Checks whether a server has the class of a custom index. Only classes in Cassandra's own package are accepted. 2.1
/// reports the failure of its class loader unchanged, so this does too.
fn check_class_is_there(create: &CreateIndex) -> Result<()> {
    match &create.class {
        Some(class) if create.is_custom && !class.starts_with(OWN_CLASSES) => {
            let why = format!("java.lang.RuntimeException: java.lang.ClassNotFoundException: {class}");
            Err(Error::Internal(why).into())
        }
        _ => Ok(()),
    }
}

/// Checks whether a column of its kind can be indexed.
fn check_place(state: &QueryState<'_>, table: &TableDef, column: &TableColumn) -> Result<()> {
    let name = &column.name;
    let rules = &state.behaviour.cql;
    let is_of_key = matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering);
    if !rules.indexes_primary_key && is_of_key {
        return invalid(format!("Cannot create index on PRIMARY KEY part {name}"));
    }
    let has_clustering = table.is_compact() && !table.clustering.is_empty();
    // 3.0 and later check the table first, earlier releases the column.
    let is_table_first = has_clustering && state.has(CHANGES_OF_SEVERAL_ROWS);
    if table.is_compact() && is_of_key && rules.compact_keys_have_no_index && !is_table_first {
        return invalid(
            "Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables",
        );
    }
    if has_clustering {
        return invalid(
            "Secondary indexes are not supported on COMPACT STORAGE tables that have clustering columns",
        );
    }
    if column.kind == ColumnKind::Static && !state.has(INDEXES_ON_STATIC_COLUMNS) {
        return invalid("Secondary indexes are not allowed on static columns");
    }
    if column.kind == ColumnKind::PartitionKey && table.partition_key.len() == 1 {
        return invalid(format!("Cannot create secondary index on partition key column {name}"));
    }
    Ok(())
}

fn index_names(keyspace: &KeyspaceDef) -> impl Iterator<Item = &str> {
    let columns = keyspace.column_families.values().flat_map(|cf| cf.indexed_columns());
    columns.filter_map(|column| column.index.as_ref()?.name.as_deref())
}

/// Returns `table_column_idx`, with a number appended if that name is taken.
fn new_name(create: &CreateIndex, keyspace: &KeyspaceDef, table: &str, column: &str) -> String {
    create.name.clone().unwrap_or_else(|| default_name(keyspace, table, column))
}

fn default_name(keyspace: &KeyspaceDef, table: &str, column: &str) -> String {
    let base: String = format!("{table}_{column}_idx")
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || *character == '_')
        .collect();
    let (mut name, mut number) = (base.clone(), 0u32);
    while index_names(keyspace).any(|known| *known == name) {
        number += 1;
        name = format!("{base}_{number}");
    }
    name
}

pub(super) async fn drop_index(
    state: &QueryState<'_>,
    index: &TableName,
    if_exists: bool,
) -> Result<Outcome> {
    let keyspace = keyspace_of(state, index.keyspace.as_deref())?;
    let catalog = state.database.catalog();
    let is_meant = |column: &ColumnDef| {
        column.index.as_ref().and_then(|index| index.name.as_ref()).is_some_and(|name| *name == index.name)
    };
    let holder = catalog.keyspace(keyspace).and_then(|keyspace| {
        keyspace.column_families.values().find(|cf| cf.indexed_columns().any(is_meant)).cloned()
    });
    drop(catalog);
    let Some(holder) = holder else {
        if state.database.catalog().keyspace(keyspace).is_none() {
            return invalid(texts::unknown_keyspace(state.behaviour, keyspace));
        }
        if if_exists {
            return Ok(Outcome::Void);
        }
        return invalid(texts::unknown_index(state.behaviour, &index.name, keyspace));
    };
    state.check(Access::UpdateFamily { keyspace: keyspace.as_bytes(), family: holder.name.as_bytes() })?;
    let changes = state.database.schema_changes(state.behaviour);
    let dropped = changes.edit_keyspace(keyspace, |_, keyspace| -> Result<bool> {
        let Some(cf) = keyspace.column_families.get(&holder.name) else { return Ok(false) };
        let mut cf = CfDef::clone(cf);
        let is_sparse = cf.table.is_some();
        cf.column_metadata.retain(|_, column| !(is_sparse && is_meant(column)));
        for column in cf.column_metadata.values_mut().filter(|column| is_meant(column)) {
            column.index = None;
        }
        keyspace.column_families.insert(cf.name.clone(), Arc::new(cf.with_indexes()));
        Ok(true)
    });
    dropped.await?;
    Ok(table_changed(ChangeKind::Updated, keyspace, &holder.name))
}
