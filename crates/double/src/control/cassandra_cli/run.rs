//! Runs the statements of a script.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::attributes::{new_keyspace, set_family, set_keyspace};
use super::lexer::{CliScriptError, ScriptPlace};
use super::parser::Statements;
use super::statement::{Assumption, Attribute, CellPath, CliStatement, CliTerm, FamilyDefinition};
use super::types::{bytes_of, bytes_of_text, type_of_function};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::TypeRef;
use base::schema::CfDef;
use config::suggestion;
use cql::cql2::request_of;
use db::{
    CfRequest, ColumnParent, ColumnPath, CounterColumn, Database, KsRequest, NewColumn, Request,
    SchemaChanges,
};

/// The result of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliScriptOutcome {
    /// The number of statements that were run.
    pub statements: usize,
    /// The keyspace after the last statement.
    pub keyspace: Option<String>,
}

/// Runs a script with all rights, from the given keyspace on. Nothing runs if it has a mistake in its form; otherwise the
/// statements before the first that fails have been run.
///
/// # Errors
/// The place and the text of the first error.
pub async fn run_script(
    database: &Arc<Database>,
    keyspace: Option<&str>,
    script: &str,
) -> Result<CliScriptOutcome, CliScriptError> {
    // The script is read twice, so that a long one takes no memory for its statements.
    let statements = Statements::of(script).try_fold(0, |count, statement| statement.map(|_| count + 1))?;
    let keyspace = keyspace.map(str::to_owned);
    let mut session = CliSession { database, keyspace, assumed: HashMap::new(), columns: HashMap::new() };
    for statement in Statements::of(script) {
        let (place, statement) = statement?;
        let outcome = session.run(statement).await;
        outcome.map_err(|error| CliScriptError::new(error.place.unwrap_or(place), error.why))?;
    }
    Ok(CliScriptOutcome { statements, keyspace: session.keyspace })
}

/// Why a statement fails.
struct StatementError {
    /// The place in the statement, if it is known.
    place: Option<ScriptPlace>,
    why: String,
}

impl From<String> for StatementError {
    fn from(why: String) -> StatementError {
        StatementError { place: None, why }
    }
}

impl From<db::Error> for StatementError {
    fn from(error: db::Error) -> StatementError {
        StatementError { place: None, why: error.to_string() }
    }
}

impl From<CliScriptError> for StatementError {
    fn from(CliScriptError { place, why }: CliScriptError) -> StatementError {
        StatementError { place: Some(place), why }
    }
}

/// Types that `assume` has set for a column family.
#[derive(Default)]
struct AssumedTypes {
    keys: Option<TypeRef>,
    comparator: Option<TypeRef>,
    sub_comparator: Option<TypeRef>,
    validator: Option<TypeRef>,
}

/// A keyspace, a column family, and perhaps more.
type FamilyName = (String, String);

struct CliSession<'d> {
    database: &'d Arc<Database>,
    keyspace: Option<String>,
    assumed: HashMap<FamilyName, AssumedTypes>,
    /// The types of values that `set` has named by a function: they hold for later values of the same column.
    columns: HashMap<(FamilyName, Bytes), TypeRef>,
}

/// A row, with the names in it.
struct CellAddress {
    cf: Arc<CfDef>,
    key: Bytes,
    super_column: Option<Bytes>,
    column: Option<Bytes>,
}

impl CliSession<'_> {
    async fn run(&mut self, statement: CliStatement) -> Result<(), StatementError> {
        match statement {
            CliStatement::Nothing => Ok(()),
            CliStatement::Use(keyspace) => {
                self.keyspace = Some(self.known_keyspace(&keyspace)?);
                Ok(())
            }
            CliStatement::CreateKeyspace(FamilyDefinition { name, attributes }) => {
                let mut request = new_keyspace(&name);
                set_keyspace(&mut request, &attributes)?;
                Ok(self.changes().add_keyspace(request).await?)
            }
            CliStatement::UpdateKeyspace(changed) => self.update_keyspace(&changed).await,
            CliStatement::DropKeyspace(name) => {
                let name = self.known_keyspace(&name)?;
                Ok(self.changes().drop_keyspace(&name).await?)
            }
            CliStatement::CreateFamily(FamilyDefinition { name, attributes }) => {
                let keyspace = self.current()?.to_owned();
                let mut request = CfRequest { keyspace, name, ..CfRequest::default() };
                self.set_family(&mut request, &attributes)?;
                Ok(self.changes().add_column_family(request).await?)
            }
            CliStatement::UpdateFamily(FamilyDefinition { name, attributes }) => {
                let mut request = request_for(&*self.family(&name)?);
                self.set_family(&mut request, &attributes)?;
                Ok(self.changes().update_column_family(request).await?)
            }
            CliStatement::DropFamily(name) => {
                let cf = self.family(&name)?;
                let dropped = (cf.keyspace.clone(), cf.name.clone());
                // The change waits until no request uses the definition.
                drop(cf);
                let dropping = self.changes();
                Ok(dropping.drop_column_family(&dropped.0, &dropped.1).await?)
            }
            CliStatement::DropIndex { family, column } => self.drop_index(&family, &column).await,
            CliStatement::Truncate(family) => {
                let cf = self.family(&family)?;
                let (keyspace, name) = (cf.keyspace.as_bytes(), cf.name.as_bytes());
                Ok(self.changes().truncate(keyspace, name).await?)
            }
            CliStatement::Assume { family, of, function } => Ok(self.assume(&family, of, &function)?),
            CliStatement::Set { path, value, ttl_s } => self.set(&path, &value, ttl_s).await,
            CliStatement::Add { path, delta } => self.add(&path, delta).await,
            CliStatement::Delete(path) => self.delete(&path).await,
        }
    }

    fn changes(&self) -> SchemaChanges<'_> {
        self.database.schema_changes(Behaviour::of(NEWEST))
    }

    fn request<'k>(&'k self, cf: &'k CfDef) -> Request<'k> {
        self.database.request(cf.keyspace.as_bytes(), ConsistencyLevel::One, Behaviour::of(NEWEST))
    }

    fn current(&self) -> Result<&str, String> {
        self.keyspace
            .as_deref()
            .ok_or_else(|| "there is no keyspace yet: select one with `use NAME;`".to_owned())
    }

    /// Returns the name of a keyspace, whatever its case is.
    fn known_keyspace(&self, name: &str) -> Result<String, String> {
        let catalog = self.database.catalog();
        let names: Vec<&str> = catalog.keyspaces.keys().map(String::as_str).collect();
        match_name(name, &names)
            .ok_or_else(|| format!("there is no keyspace {name}{}", suggestion(name, names)))
    }

    /// Returns a column family of the current keyspace, whatever the case of its name is.
    fn family(&self, name: &str) -> Result<Arc<CfDef>, String> {
        let keyspace = self.current()?;
        let catalog = self.database.catalog();
        let families = catalog.keyspace(keyspace).map(|keyspace| &keyspace.column_families);
        let cf = families.and_then(|families| {
            let names: Vec<&str> = families.keys().map(String::as_str).collect();
            let name = match_name(name, &names)?;
            families.get(&name).cloned()
        });
        cf.ok_or_else(|| format!("there is no column family {keyspace}.{name}"))
    }

    fn set_family(&self, request: &mut CfRequest, attributes: &[Attribute]) -> Result<(), StatementError> {
        Ok(set_family(request, attributes, self.database.types())?)
    }

    async fn update_keyspace(&self, changed: &FamilyDefinition) -> Result<(), StatementError> {
        let name = self.known_keyspace(&changed.name)?;
        let mut request = new_keyspace(&name);
        if let Some(old) = self.database.catalog().keyspace(&name) {
            let strategy_class = old.modern_strategy_class().to_owned();
            let (strategy_options, durable_writes) = (old.strategy_options.clone(), Some(old.durable_writes));
            request = KsRequest { strategy_class, strategy_options, durable_writes, ..request };
        }
        set_keyspace(&mut request, &changed.attributes)?;
        Ok(self.changes().update_keyspace(request).await?)
    }

    async fn drop_index(&self, family: &str, column: &str) -> Result<(), StatementError> {
        let request = {
            let cf = self.family(family)?;
            let of_names = cf.subcomparator().unwrap_or(&cf.comparator);
            let name = bytes_of_text(Some(of_names), column)?;
            let mut request = request_for(&cf);
            let indexed =
                request.columns.iter_mut().find(|other| other.name == name && other.index_kind.is_some());
            let indexed = indexed.ok_or_else(|| format!("the column {column} has no index"))?;
            (indexed.index_kind, indexed.index_name, indexed.index_options) = (None, None, None);
            request
        };
        Ok(self.changes().update_column_family(request).await?)
    }

    fn assume(&mut self, family: &str, of: Assumption, function: &str) -> Result<(), String> {
        let cf = self.family(family)?;
        let assumed_type = Some(type_of_function(self.database, function)?);
        let assumed = self.assumed.entry(name_of(&cf)).or_default();
        match of {
            Assumption::Keys => assumed.keys = assumed_type,
            Assumption::Comparator => assumed.comparator = assumed_type,
            Assumption::SubComparator => assumed.sub_comparator = assumed_type,
            Assumption::Validator => assumed.validator = assumed_type,
        }
        Ok(())
    }

    /// Returns the bytes of a path. In a Super column family its first name is a super column.
    fn cell(&self, path: &CellPath) -> Result<CellAddress, String> {
        let cf = self.family(&path.family)?;
        let none = AssumedTypes::default();
        let assumed = self.assumed.get(&name_of(&cf)).unwrap_or(&none);
        let bytes = |of_type: Option<&TypeRef>, term: &CliTerm| {
            bytes_of(self.database, of_type, term).map(|(bytes, _)| bytes)
        };
        let key = bytes(assumed.keys.as_ref().or(cf.key_validator.as_ref()), &path.key)?;
        let first_type = assumed.comparator.as_ref().or(Some(&cf.comparator));
        let first = path.names.first().map(|name| bytes(first_type, name)).transpose()?;
        let (super_column, column) = match (cf.subcomparator(), path.names.get(1)) {
            (Some(inner), second) => {
                let inner = assumed.sub_comparator.as_ref().or(Some(inner));
                (first, second.map(|name| bytes(inner, name)).transpose()?)
            }
            (None, None) => (None, first),
            (None, Some(_)) => {
                return Err(format!("{} is a Standard column family: give one name, [key][name]", cf.name));
            }
        };
        Ok(CellAddress { cf, key, super_column, column })
    }

    /// Returns the cell of a path to a column, with its parent.
    fn column(&self, path: &CellPath) -> Result<(CellAddress, ColumnParent, Bytes), String> {
        let cell = self.cell(path)?;
        let column_family = Bytes::copy_from_slice(cell.cf.name.as_bytes());
        let parent = ColumnParent { column_family, super_column: cell.super_column.clone() };
        match cell.column.clone() {
            Some(column) => Ok((cell, parent, column)),
            None => {
                Err(format!("{} is a Super column family: give two names, [key][name][name]", cell.cf.name))
            }
        }
    }

    async fn set(
        &mut self,
        path: &CellPath,
        value: &CliTerm,
        ttl_s: Option<i32>,
    ) -> Result<(), StatementError> {
        let (cell, parent, name) = self.column(path)?;
        let of_column = (name_of(&cell.cf), name.clone());
        let assumed = self.assumed.get(&of_column.0).and_then(|assumed| assumed.validator.as_ref());
        let is_defined = cell.cf.column_metadata.contains_key(&name);
        let of_schema = cell.cf.value_validator(&name);
        let of_value = match self.columns.get(&of_column) {
            Some(named) => named,
            None if is_defined => of_schema,
            None => assumed.unwrap_or(of_schema),
        };
        let (value, named) = bytes_of(self.database, Some(of_value), value)?;
        if let Some(named) = named {
            self.columns.insert(of_column, named);
        }
        let timestamp = Some(self.database.next_micros());
        let column = NewColumn { name, value: Some(value), timestamp, ttl_s };
        let request = self.request(&cell.cf);
        Ok(request.writes().insert_column(cell.key, parent, column).await?)
    }

    async fn add(&self, path: &CellPath, delta: i64) -> Result<(), StatementError> {
        let (cell, parent, name) = self.column(path)?;
        let request = self.request(&cell.cf);
        let column = CounterColumn { name, delta };
        Ok(request.writes().add(cell.key, parent, column).await?)
    }

    async fn delete(&self, path: &CellPath) -> Result<(), StatementError> {
        let CellAddress { cf, key, super_column, column } = self.cell(path)?;
        let column_family = Bytes::copy_from_slice(cf.name.as_bytes());
        let path = ColumnPath { column_family, super_column, column };
        let request = self.request(&cf);
        let outcome = match cf.is_counter() {
            true => request.writes().remove_counter(key, path).await,
            false => request.writes().remove(key, path, self.database.next_micros()).await,
        };
        Ok(outcome?)
    }
}

fn name_of(cf: &CfDef) -> FamilyName {
    (cf.keyspace.clone(), cf.name.clone())
}

/// Returns the name that is equal, or the only one that differs in case.
fn match_name(name: &str, known: &[&str]) -> Option<String> {
    let alike: Vec<&&str> = known.iter().filter(|other| other.eq_ignore_ascii_case(name)).collect();
    let exact = alike.iter().find(|other| ***other == name);
    let only = alike.first().filter(|_| alike.len() == 1);
    exact.or(only).map(|name| (**name).to_owned())
}

/// Returns the request with which a client would create this column family.
fn request_for(cf: &CfDef) -> CfRequest {
    CfRequest {
        column_type: Some(cf.type_name().to_owned()),
        subcomparator_type: cf.subcomparator().map(|inner| inner.class_name().to_owned()),
        ..request_of(cf)
    }
}
