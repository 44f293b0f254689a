//! Selects the column families to copy, and creates those that the target lacks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::TransferError;
use crate::endpoint::Endpoint;
use base::schema::{CfDef, KeyspaceDef};
use base::util::output::report_line;
use config::suggestion;

/// The column families to copy.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only this keyspace.
    pub keyspace: Option<String>,
    /// Only the column family of this name.
    pub column_family: Option<String>,
    /// Skip tables created by CQL if the target cannot store them.
    pub skips_tables: bool,
}

/// A column family on both endpoints.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub from: Arc<CfDef>,
    pub to: Arc<CfDef>,
}

impl Pair {
    /// `Keyspace.ColumnFamily`.
    pub(super) fn name(&self) -> String {
        name_of(&self.from)
    }
}

fn name_of(cf: &CfDef) -> String {
    format!("{}.{}", cf.keyspace, cf.name)
}

/// The column families of a keyspace to copy.
pub(crate) struct SelectedFamilies {
    pub keyspace: KeyspaceDef,
    pub families: Vec<Arc<CfDef>>,
}

/// Returns the column families of an endpoint that are selected.
///
/// # Errors
///
/// If there are none.
pub(crate) fn selected_families(
    from: &Endpoint,
    selection: &Selection,
) -> Result<Vec<SelectedFamilies>, TransferError> {
    let mut all = Vec::new();
    for keyspace in from.keyspaces() {
        if selection.keyspace.as_ref().is_some_and(|only| *only != keyspace.name) {
            continue;
        }
        let is_selected =
            |cf: &&Arc<CfDef>| selection.column_family.as_ref().is_none_or(|only| *only == cf.name);
        let families: Vec<Arc<CfDef>> =
            keyspace.column_families.values().filter(is_selected).cloned().collect();
        if !families.is_empty() {
            all.push(SelectedFamilies { keyspace, families });
        }
    }
    if all.is_empty() {
        let what = match (&selection.keyspace, &selection.column_family) {
            (Some(keyspace), Some(family)) => format!("no column family {keyspace}.{family}"),
            (Some(keyspace), None) => format!("no column family in a keyspace {keyspace}"),
            (None, Some(family)) => format!("no column family {family}"),
            (None, None) => "no column family".to_owned(),
        };
        let meant = meant(from, selection);
        return Err(TransferError::Schema(format!("{what} is defined in {}{meant}", from.name)));
    }
    Ok(all)
}

/// Returns the name that a selection of nothing probably meant, as the end of a message.
fn meant(from: &Endpoint, selection: &Selection) -> String {
    let keyspaces = from.keyspaces();
    let of_keyspace = selection.keyspace.as_deref().map_or_else(String::new, |given| {
        suggestion(given, keyspaces.iter().map(|keyspace| keyspace.name.as_str()))
    });
    let Some(family) = selection.column_family.as_deref().filter(|_| of_keyspace.is_empty()) else {
        return of_keyspace;
    };
    let families = keyspaces.iter().flat_map(|keyspace| keyspace.column_families.keys());
    suggestion(family, families.map(String::as_str))
}

/// Creates the column families that the target lacks. Returns each column family with its definition on the other endpoint.
pub(crate) async fn prepare(
    from: &Endpoint,
    to: &Endpoint,
    selection: &Selection,
) -> Result<Vec<Pair>, TransferError> {
    let selected = families_for(from, to, selection)?;
    let mut missing = BTreeMap::new();
    for SelectedFamilies { keyspace, families } in &selected {
        for cf in families {
            match to.column_family(&cf.keyspace, &cf.name) {
                Some(there) => check_alike(cf, &there)?,
                None => missing.entry(keyspace.name.clone()).or_insert_with(Vec::new).push(cf.clone()),
            }
        }
    }
    let database = to.writable()?;
    for SelectedFamilies { keyspace, .. } in &selected {
        let Some(families) = missing.get(&keyspace.name) else { continue };
        let names: Vec<String> = families.iter().map(|cf| name_of(cf)).collect();
        database.restore().define(keyspace, families).await.map_err(|error| {
            TransferError::Schema(format!("{} has no {}: {error}", to.name, names.join(", ")))
        })?;
        tracing::info!("created in {}: {}", to.name, names.join(", "));
    }
    pairs_of(&selected, to)
}

/// Returns each column family with its definition on the other endpoint.
///
/// # Errors
///
/// Names the column family that the target does not have.
pub(super) fn existing(
    from: &Endpoint,
    to: &Endpoint,
    selection: &Selection,
) -> Result<Vec<Pair>, TransferError> {
    pairs_of(&families_for(from, to, selection)?, to)
}

/// Returns the selected column families of an endpoint that the other one can store.
fn families_for(
    from: &Endpoint,
    to: &Endpoint,
    selection: &Selection,
) -> Result<Vec<SelectedFamilies>, TransferError> {
    let mut selected = selected_families(from, selection)?;
    if !to.can_dump() {
        skip_tables(&mut selected, to, selection)?;
    }
    Ok(selected)
}

fn pairs_of(selected: &[SelectedFamilies], to: &Endpoint) -> Result<Vec<Pair>, TransferError> {
    let mut pairs = Vec::new();
    for cf in selected.iter().flat_map(|selected| &selected.families) {
        let Some(there) = to.column_family(&cf.keyspace, &cf.name) else {
            return Err(TransferError::Schema(format!("{} has no column family {}", to.name, name_of(cf))));
        };
        check_alike(cf, &there)?;
        pairs.push(Pair { from: cf.clone(), to: there });
    }
    Ok(pairs)
}

/// Removes CQL tables from the selection: a cluster has its own tables, in which cells of this store have no place.
fn skip_tables(
    selected: &mut [SelectedFamilies],
    to: &Endpoint,
    selection: &Selection,
) -> Result<(), TransferError> {
    let is_table = |cf: &&Arc<CfDef>| cf.table.is_some();
    let tables: Vec<String> = selected
        .iter()
        .flat_map(|selected| &selected.families)
        .filter(is_table)
        .map(|cf| name_of(cf))
        .collect();
    if tables.is_empty() {
        return Ok(());
    }
    if !selection.skips_tables {
        return Err(TransferError::Schema(format!(
            "{} cannot store tables created by CQL: {}; copy them with a CQL tool, and skip them here with \
             --skip-cql-tables",
            to.name,
            tables.join(", ")
        )));
    }
    report_line!("skipped, because CQL has created them: {}", tables.join(", "));
    for keyspace in selected {
        keyspace.families.retain(|cf| !is_table(&cf));
    }
    Ok(())
}

/// Returns the properties that a column family must have on both endpoints.
fn properties(cf: &CfDef) -> [(&'static str, &str); 5] {
    [
        ("type", cf.type_name()),
        ("comparator", cf.comparator.class_name()),
        ("subcomparator", cf.subcomparator().map_or("", |comparator| comparator.class_name())),
        ("content", if cf.is_counter() { "counters" } else { "values" }),
        ("kind", if cf.table.is_some() { "a CQL table" } else { "a column family" }),
    ]
}

/// Checks that both endpoints have the same kinds of names and values.
fn check_alike(from: &CfDef, to: &CfDef) -> Result<(), TransferError> {
    let mut pairs = properties(from).into_iter().zip(properties(to));
    let Some(((what, from_is), (_, to_is))) = pairs.find(|(from, to)| from != to) else { return Ok(()) };
    Err(TransferError::Schema(format!(
        "{} is not the same on both sides: its {what} is {from_is} in the source and {to_is} in the target; drop the \
         target's, or copy to another target",
        name_of(from)
    )))
}
