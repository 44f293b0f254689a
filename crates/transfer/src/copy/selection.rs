//! Selects the column families to copy, and creates those that the target lacks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::TransferError;
use crate::endpoint::Endpoint;
use base::schema::{CfDef, FamilyName, KeyspaceDef};
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
    /// Skip column families that the target lacks.
    pub skips_missing: bool,
}

impl Selection {
    /// Returns whether a column family of this name is selected.
    pub fn has(&self, family: &FamilyName) -> bool {
        self.keyspace.as_ref().is_none_or(|only| *only == family.keyspace)
            && self.column_family.as_ref().is_none_or(|only| *only == family.name)
    }
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
        let mut families: Vec<Arc<CfDef>> = keyspace.column_families.values().cloned().collect();
        families.retain(|cf| selection.has(&FamilyName::of(cf)));
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

/// Returns the names of the selected column families, and of those among them that the target lacks.
///
/// # Errors
///
/// If a column family of the target has another schema.
pub fn compare_schemas(
    from: &Endpoint,
    to: &Endpoint,
    selection: &Selection,
) -> Result<ComparedSchemas, TransferError> {
    let mut compared = ComparedSchemas::default();
    for cf in families_for(from, to, selection)?.iter().flat_map(|selected| &selected.families) {
        compared.families.push(cf.clone());
        match to.column_family(&cf.keyspace, &cf.name) {
            Some(there) => check_fits(to, cf, &there)?,
            None => compared.missing.push(name_of(cf)),
        }
    }
    Ok(compared)
}

/// Creates the column families that the target lacks.
///
/// # Errors
///
/// If the target refuses a definition, or has another schema.
pub async fn create_missing(
    from: &Endpoint,
    to: &Endpoint,
    selection: &Selection,
) -> Result<(), TransferError> {
    prepare(from, to, selection).await.map(drop)
}

/// The column families of a source, beside those of a target.
#[derive(Debug, Default)]
pub struct ComparedSchemas {
    /// The column families of the source.
    pub families: Vec<Arc<CfDef>>,
    /// `Keyspace.ColumnFamily` of those that the target lacks.
    pub missing: Vec<String>,
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
                Some(there) => check_fits(to, cf, &there)?,
                None => missing.entry(keyspace.name.clone()).or_insert_with(Vec::new).push(cf.clone()),
            }
        }
    }
    for SelectedFamilies { keyspace, .. } in &selected {
        let Some(families) = missing.get(&keyspace.name) else { continue };
        let names = families.iter().map(|cf| name_of(cf)).collect::<Vec<_>>().join(", ");
        let failed =
            |why: &dyn std::fmt::Display| TransferError::Schema(format!("{} has no {names}: {why}", to.name));
        match &to.thrift {
            Some(server) => {
                let defined = server.define(keyspace, families, from.thrift.as_deref()).await;
                defined.map_err(|error| failed(&error))?;
            }
            None => {
                let defined = to.writable()?.restore().define(keyspace, families).await;
                defined.map_err(|error| failed(&error))?;
            }
        }
        tracing::info!("created in {}: {names}", to.name);
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
        skip_tables(&mut selected, from, to, selection)?;
    }
    if selection.skips_missing {
        for SelectedFamilies { families, .. } in &mut selected {
            families.retain(|cf| to.column_family(&cf.keyspace, &cf.name).is_some());
        }
    }
    Ok(selected)
}

fn pairs_of(selected: &[SelectedFamilies], to: &Endpoint) -> Result<Vec<Pair>, TransferError> {
    let mut pairs = Vec::new();
    for cf in selected.iter().flat_map(|selected| &selected.families) {
        let Some(there) = to.column_family(&cf.keyspace, &cf.name) else {
            return Err(TransferError::Schema(format!("{} has no column family {}", to.name, name_of(cf))));
        };
        check_fits(to, cf, &there)?;
        pairs.push(Pair { from: cf.clone(), to: there });
    }
    Ok(pairs)
}

/// Removes CQL tables that the target cannot store. Between two Thrift servers they are copied.
fn skip_tables(
    selected: &mut [SelectedFamilies],
    from: &Endpoint,
    to: &Endpoint,
    selection: &Selection,
) -> Result<(), TransferError> {
    // Both Thrift servers have the cells under the same names.
    let copied_by = from.thrift.as_ref().filter(|_| to.thrift.is_some());
    let mut tables = Vec::new();
    for keyspace in selected {
        keyspace.families.retain(|cf| {
            let is_kept = cf.table.is_none() || copied_by.is_some_and(|of| of.statements_of(cf).is_some());
            if !is_kept {
                tables.push(name_of(cf));
            }
            is_kept
        });
    }
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
    Ok(())
}

/// Checks that a column family of the target can store the rows of the source's. A running server must also have the same
/// validators and indexes: it would refuse values, or not find rows that the source's clients find.
fn check_fits(to: &Endpoint, from: &CfDef, there: &CfDef) -> Result<(), TransferError> {
    check_alike(from, there)?;
    let (Some(server), true) = (&to.thrift, from.table.is_none()) else { return Ok(()) };
    let classes = |cf: &CfDef| {
        let key = cf.key_validator.as_ref().map_or("BytesType", |of| of.class_name());
        [simple(key), simple(cf.default_validator.class_name())].map(str::to_owned)
    };
    let columns = |cf: &CfDef| {
        let columns = cf.column_metadata.iter().map(|(name, column)| {
            (name.clone(), column.validator.class_name().to_owned(), column.index.is_some())
        });
        columns.collect::<Vec<_>>()
    };
    // Servers of 0.6 have no validators.
    let differs = if server.pages.address.is_keyed {
        None
    } else if classes(from) != classes(there) {
        Some("key or default validators")
    } else if columns(from) != columns(there) {
        Some("validators or indexes of columns")
    } else {
        None
    };
    let Some(what) = differs else { return Ok(()) };
    Err(TransferError::Schema(format!(
        "{} is not the same on both sides: it has other {what} in the target; change the target's to the source's, or drop it",
        name_of(from)
    )))
}

/// Returns the name of a class without its package.
fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
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
