//! ALTER TABLE.

use std::sync::Arc;

use bytes::Bytes;

use super::compatible::{keeps_order, may_replace, takes_elements};
use super::index::indexed_part;
use super::modern::in_old_words;
use super::names::{configuration, configured, keyspace_of, syntax};
use super::{options, sizes, table_changed};
use crate::error::invalid;
use crate::values::TypeScope;
use crate::{ChangeKind, Outcome, QueryState, Result};
use base::compat::features::ReportedVersion;
use base::compat::features::restrictions::{CHANGES_OF_SEVERAL_ROWS, FIXED_TYPES};
use base::compat::rules::CqlRules;
use base::compat::texts;
use base::marshal::{CqlType, Types};
use base::schema::{
    CfDef, ColumnDef, ColumnKind, CompactNames, DroppedColumn, Layout, TableColumn, TableDef, table_types,
};
use base::util::Release;
use cql_syntax::{Alter, Properties, TableName, TypeName};
use db::Access;

pub(super) async fn alter(state: &QueryState<'_>, name: &TableName, alter: &Alter) -> Result<Outcome> {
    let keyspace = keyspace_of(state, name.keyspace.as_deref())?;
    let family = name.name.as_bytes();
    state.check(Access::UpdateFamily { keyspace: keyspace.as_bytes(), family })?;
    let (types, release) = (state.database.types(), state.behaviour.release);
    let changes = state.database.schema_changes(state.behaviour);
    let altered = changes.edit_keyspace(keyspace, |_, keyspace| {
        let Some(old) = keyspace.column_families.get(&name.name).cloned() else {
            return invalid(texts::unknown_table(state.line(), &name.name));
        };
        let scope = state.definition_scope(keyspace);
        let steps = match alter {
            Alter::Several(steps) => &steps[..],
            one => std::slice::from_ref(one),
        };
        let mut cf = CfDef::clone(&old);
        for step in steps {
            let table = TableDef::of(&cf, release);
            cf = TableChange { old: &cf, table: &table, types }.made(step, &scope, state)?;
        }
        sizes::check_table(&TableDef::of(&cf, release))?;
        keyspace.column_families.insert(name.name.clone(), Arc::new(cf.with_indexes()));
        Ok(true)
    });
    altered.await?;
    Ok(table_changed(ChangeKind::Updated, keyspace, &name.name))
}

/// The existing column family from which a changed one is made.
struct TableChange<'a> {
    old: &'a CfDef,
    table: &'a TableDef,
    types: &'a Types,
}

impl TableChange<'_> {
    /// Returns the column family after one step of the statement.
    fn made(&self, step: &Alter, scope: &TypeScope<'_>, state: &QueryState<'_>) -> Result<CfDef> {
        match step {
            Alter::Add { column, cql_type, is_static } => self.add(column, cql_type, scope, *is_static),
            Alter::Drop { column } => {
                if state.has(CHANGES_OF_SEVERAL_ROWS) {
                    self.check_no_index(column)?;
                }
                self.drop(column, state.database.next_micros(), state.behaviour.release)
            }
            Alter::Type { .. } if state.has(FIXED_TYPES) => invalid(texts::fixed_types(state.line())),
            Alter::Type { column, cql_type } => {
                self.set_type(column, scope.resolve(cql_type)?, &state.behaviour.cql)
            }
            Alter::Rename(names) => self.rename(names),
            Alter::With(properties) => self.with(state.reported, properties),
            Alter::Several(_) => Err(syntax("a list of changes cannot contain another list")),
        }
    }

    fn is_key(&self, name: &str) -> bool {
        self.table.partition_key.iter().chain(&self.table.clustering).any(|column| column.name == name)
    }

    /// Returns the column family with a changed definition of a non-compact table.
    fn redeclared(&self, table: TableDef) -> Result<CfDef> {
        let mut cf = self.old.clone();
        cf.comparator = configured(table_types::comparator(&table, Some(self.old), self.types))?;
        cf.key_validator = Some(configured(table_types::key_validator(&table, self.types))?);
        if let [key] = &table.partition_key[..] {
            cf.key_alias = Some(key.cell_name.clone());
        }
        cf.table = Some(Arc::new(table));
        Ok(cf)
    }

    fn add(&self, name: &str, cql_type: &TypeName, scope: &TypeScope<'_>, is_static: bool) -> Result<CfDef> {
        if matches!(self.table.layout, Layout::Dense | Layout::CompositeDense | Layout::Super) {
            return invalid("Cannot add new column to a COMPACT STORAGE table");
        }
        let is_compact = self.table.is_compact();
        if is_static && is_compact {
            return invalid("Static columns are not allowed in COMPACT STORAGE tables");
        }
        if is_static && self.table.clustering.is_empty() {
            return invalid(
                "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
            );
        }
        if self.table.column(name).is_some() {
            let what = if self.is_key(name) { "a PRIMARY KEY part" } else { "an existing column" };
            return invalid(format!("Invalid column name {name} because it conflicts with {what}"));
        }
        if self.old.is_counter() && self.table.dropped.contains_key(name.as_bytes()) {
            return invalid(format!("Cannot re-add previously dropped counter column {name}"));
        }
        let cql_type = scope.resolve(cql_type)?;
        if cql_type.is_multi_cell() {
            self.check_collection(name, &cql_type)?;
        }
        self.check_counter(name, &cql_type)?;
        if is_compact {
            let mut cf = self.old.clone();
            let name = Bytes::copy_from_slice(name.as_bytes());
            let validator = cql_type.type_ref(self.types);
            cf.column_metadata.insert(name.clone(), ColumnDef { name, validator, index: None });
            return Ok(cf);
        }
        let mut table = self.table.clone();
        let kind = if is_static { ColumnKind::Static } else { ColumnKind::Regular };
        table.others.insert(name.to_owned(), TableColumn::new(name, kind, 0, cql_type));
        self.redeclared(table)
    }

    fn check_collection(&self, name: &str, cql_type: &CqlType) -> Result<()> {
        if self.table.is_compact() {
            // Releases with such user types add no columns to these tables.
            if cql_type.multi_cell_user_type().is_some() {
                return invalid("Cannot add new column to a COMPACT STORAGE table");
            }
            return invalid("Cannot use non-frozen collections with a non-composite PRIMARY KEY");
        }
        let before = table_types::collections_of(self.old);
        match before.iter().find(|(known, _)| known == name.as_bytes()) {
            Some((_, known)) if !takes_elements(cql_type, known) => invalid(format!(
                "Cannot add a collection with the name {name} because a collection with the same name and a different \
                 type has already been used in the past"
            )),
            _ => Ok(()),
        }
    }

    fn check_counter(&self, name: &str, cql_type: &CqlType) -> Result<()> {
        match (self.old.is_counter(), cql_type.is_counter()) {
            (true, false) => {
                configuration(format!("Cannot add a non counter column ({name}) in a counter column family"))
            }
            (false, true) => {
                configuration(format!("Cannot add a counter column ({name}) in a non counter column family"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a column to drop has no index. 3.0 and later refuse it, earlier releases drop the index too.
    fn check_no_index(&self, name: &str) -> Result<()> {
        let cell_name = self.table.column(name).map(|column| &column.cell_name);
        let index = cell_name.and_then(|cell_name| self.old.column_metadata.get(cell_name)?.index.as_ref());
        match index.and_then(|index| index.name.as_ref()) {
            Some(index) => invalid(format!(
                "Cannot drop column {name} because it has dependent secondary indexes ({index})"
            )),
            None => Ok(()),
        }
    }

    /// Drops a column, and records the time in microseconds, so that its old cells do not reappear if the column is
    /// added again.
    fn drop(&self, name: &str, now_us: i64, release: Release) -> Result<CfDef> {
        if self.table.is_compact() {
            return invalid(texts::drop_of_compact_table(release));
        }
        let Some(column) = self.table.column(name) else {
            return invalid(format!("Column {name} was not found in table {}", self.old.name));
        };
        if self.is_key(name) {
            return invalid(format!("Cannot drop PRIMARY KEY part {name}"));
        }
        let mut table = self.table.clone();
        let cell_name = column.cell_name.clone();
        let is_static = column.kind == ColumnKind::Static;
        let dropped = DroppedColumn { at_us: now_us, is_static, cql_type: column.cql_type.clone() };
        table.others.remove(name);
        table.dropped.insert(cell_name.clone(), dropped);
        let mut cf = self.redeclared(table)?;
        cf.column_metadata.remove(&cell_name);
        Ok(cf)
    }

    fn set_type(&self, name: &str, cql_type: CqlType, rules: &CqlRules) -> Result<CfDef> {
        let Some(column) = self.table.column(name) else {
            return invalid(format!("Column {name} was not found in table {}", self.old.name));
        };
        let old = &column.cql_type;
        let change = |why: &str| {
            configuration(format!("Cannot change {name} from type {old} to type {cql_type}: {why}"))
        };
        if *old != cql_type {
            match column.kind {
                ColumnKind::PartitionKey if cql_type.is_counter() => {
                    return invalid(format!("counter type is not supported for PRIMARY KEY part {name}"));
                }
                ColumnKind::Clustering if self.table.is_compact() && rules.compact_clustering_keeps_type => {
                    return invalid(format!("Cannot alter clustering column {name} in a non-CQL3 table"));
                }
                ColumnKind::Clustering if !keeps_order(&cql_type, old) => {
                    return change("types are not order-compatible.");
                }
                _ if !may_replace(&cql_type, old, rules) => {
                    return change("types are incompatible.");
                }
                _ => {}
            }
        }
        let definition = self.old.column_metadata.get(&column.cell_name);
        if let Some(index) = definition.and_then(|definition| definition.index.as_ref())
            && !keeps_order(indexed_part(&cql_type, index), indexed_part(old, index))
        {
            return configuration(format!(
                "Cannot modify validator to a non-order-compatible one for column {name} since an index is set"
            ));
        }
        if self.table.is_compact() {
            return self.set_compact_type(column, &cql_type);
        }
        let mut table = self.table.clone();
        let columns = table.partition_key.iter_mut().chain(&mut table.clustering);
        for column in columns.chain(table.others.values_mut()).filter(|column| column.name == name) {
            column.cql_type = cql_type.clone();
        }
        let mut cf = self.redeclared(table)?;
        if let Some(definition) = cf.column_metadata.get_mut(name.as_bytes()) {
            let part = definition.index.as_ref().map_or(&cql_type, |index| indexed_part(&cql_type, index));
            definition.validator = part.type_ref(self.types);
        }
        Ok(cf)
    }

    fn set_compact_type(&self, column: &TableColumn, cql_type: &CqlType) -> Result<CfDef> {
        let mut cf = self.old.clone();
        let mut table = self.table.clone();
        match column.kind {
            ColumnKind::PartitionKey => table.partition_key[column.position].cql_type = cql_type.clone(),
            ColumnKind::Clustering => table.clustering[column.position].cql_type = cql_type.clone(),
            ColumnKind::CompactValue => cf.default_validator = cql_type.type_ref(self.types),
            _ => {
                if let Some(definition) = cf.column_metadata.get_mut(&column.cell_name) {
                    definition.validator = cql_type.type_ref(self.types);
                }
            }
        }
        cf.key_validator = Some(configured(table_types::key_validator(&table, self.types))?);
        if matches!(table.layout, Layout::Dense | Layout::CompositeDense) {
            cf.comparator = configured(table_types::comparator(&table, None, self.types))?;
        }
        Ok(cf)
    }

    fn rename(&self, names: &[(String, String)]) -> Result<CfDef> {
        let mut cf = self.old.clone();
        let mut table = self.table.clone();
        for (from, to) in names {
            // Cassandra's message says "keyspace" but prints the table's name.
            let Some(column) = table.column(from).cloned() else {
                return invalid(format!("Cannot rename unknown column {from} in keyspace {}", self.old.name));
            };
            if table.column(to).is_some() {
                return invalid(format!(
                    "Cannot rename column {from} to {to} in keyspace {}; another column of that name already exist",
                    self.old.name
                ));
            }
            let is_key = matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering);
            let definition = cf.column_metadata.get(&column.cell_name);
            if is_key && definition.is_some_and(|definition| definition.index.is_some()) {
                return invalid(format!("Cannot rename column {from} because it is secondary indexed"));
            }
            let renamed = TableColumn {
                name: to.clone(),
                cell_name: Bytes::copy_from_slice(to.as_bytes()),
                ..column.clone()
            };
            match column.kind {
                ColumnKind::PartitionKey => {
                    CompactNames::set(&mut cf.names.partition_key, column.position, to.clone());
                    table.partition_key[column.position] = renamed;
                }
                ColumnKind::Clustering => {
                    CompactNames::set(&mut cf.names.clustering, column.position, to.clone());
                    table.clustering[column.position] = renamed;
                }
                ColumnKind::CompactValue => {
                    cf.names.value = Some(to.clone());
                    table.others.remove(from);
                    table.others.insert(to.clone(), renamed);
                }
                _ => return invalid(format!("Cannot rename non PRIMARY KEY part {from}")),
            }
        }
        if let [key] = &table.partition_key[..] {
            cf.key_alias = Some(key.cell_name.clone());
        }
        if !table.is_compact() {
            cf.names = CompactNames::default();
            cf.table = Some(Arc::new(table));
        }
        Ok(cf)
    }

    fn with(&self, reported: &ReportedVersion, properties: &Properties) -> Result<CfDef> {
        if properties.0.is_empty() {
            return Err(syntax("ALTER TABLE WITH invoked, but no parameters found"));
        }
        let mut cf = self.old.clone();
        options::apply(&mut cf, &in_old_words(reported, properties))?;
        let has_ttl = cf.default_ttl_s().is_some();
        if has_ttl && cf.is_counter() {
            return invalid("Cannot set default_time_to_live on a table with counters");
        }
        Ok(cf)
    }
}
