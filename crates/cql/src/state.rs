//! The session in which a statement is executed.

use std::sync::{Arc, LazyLock};

use super::values::TypeScope;
use super::{CqlError, system};
use crate::Result;
use crate::error::invalid;
use base::compat::features::releases::NEWEST;
use base::compat::features::restrictions::MULTI_CELL_USER_TYPES;
use base::compat::features::{ConsistencyLevel, Language, LaterFeature, ReportedVersion};
use base::compat::{Behaviour, Line, texts};
use base::marshal::{CqlType, Types};
use base::schema::{CfDef, KeyspaceDef, TableDef};
use base::util::Release;
use cql_syntax::TableName;
use db::{Access, Database, Request, User};

/// The session of a statement.
#[derive(Clone, Copy)]
pub struct QueryState<'a> {
    /// The database that the statement reads and changes.
    pub database: &'a Arc<Database>,
    /// The rules of the release whose client has sent the statement.
    pub behaviour: &'static Behaviour,
    /// The version of CQL 3 that is available.
    pub language: Language,
    /// The version that the server reports.
    pub reported: &'a ReportedVersion,
    /// The current keyspace of the session.
    pub keyspace: Option<&'a str>,
    /// The user that has logged in; `None` checks no permission.
    pub user: Option<&'a User>,
    /// See [`Request::sees_new_indexes`].
    pub sees_new_indexes: bool,
}

/// The types, and the release whose formats are used for values.
#[derive(Clone, Copy)]
pub struct TypesOf<'a> {
    /// The comparators that names of types may mean, with the application's own.
    pub types: &'a Types,
    /// The release whose texts and formats values have.
    pub release: Release,
}

/// A table and its column family.
#[derive(Debug, Clone)]
pub struct Table {
    /// The column family that stores the rows.
    pub cf: Arc<CfDef>,
    /// Its columns, as CQL sees them.
    pub def: Arc<TableDef>,
}

/// The version that drivers of today expect.
static NEWEST_REPORTED: LazyLock<ReportedVersion> = LazyLock::new(ReportedVersion::default);

impl<'a> QueryState<'a> {
    /// Returns the session of a client of a release, which has selected no keyspace and has not logged in.
    pub fn of_release(database: &'a Arc<Database>, behaviour: &'static Behaviour) -> QueryState<'a> {
        QueryState {
            database,
            behaviour,
            language: Language::default(),
            reported: ReportedVersion::of_release(behaviour),
            keyspace: None,
            user: None,
            sees_new_indexes: false,
        }
    }

    /// Returns the session of a driver of today, which has selected no keyspace and has not logged in.
    pub fn of_newest(database: &'a Arc<Database>) -> QueryState<'a> {
        let reported = &*NEWEST_REPORTED;
        QueryState { reported, ..QueryState::of_release(database, Behaviour::of(NEWEST)) }
    }

    /// Checks whether the session's user has a permission.
    pub fn check(&self, access: Access<'_>) -> Result<()> {
        match self.user {
            Some(user) => user
                .check(access, self.behaviour.release)
                .map_err(|refusal| CqlError::Unauthorized(refusal.to_string())),
            None if self.database.logins().are_required() => {
                Err(CqlError::Unauthorized(texts::not_logged_in(self.behaviour)))
            }
            None => Ok(()),
        }
    }

    /// Returns the context for an operation of the statement, with the current schema.
    pub fn request<'k>(&self, keyspace: &'k str, consistency: ConsistencyLevel) -> Request<'k>
    where
        'a: 'k,
    {
        let mut request = self.database.request(keyspace.as_bytes(), consistency, self.behaviour);
        request.sees_new_indexes = self.sees_new_indexes;
        request
    }

    /// Returns the keyspace of a statement.
    pub fn keyspace_of<'n>(&self, named: Option<&'n str>) -> Result<&'n str>
    where
        'a: 'n,
    {
        named.or(self.keyspace).ok_or_else(|| CqlError::invalid(texts::no_keyspace(self.behaviour)))
    }

    /// Whether messages use the words of 2.1. Servers that report a later version use the words of 2.2, which differ.
    pub fn is_in_words_of_2_1(&self) -> bool {
        self.reported.has_words_of_2_1(self.behaviour)
    }

    /// Returns the release line whose words the messages use.
    pub fn line(&self) -> Line {
        self.reported.line_of_words(self.behaviour)
    }

    /// Returns whether the session has a feature that came after 2.1.
    pub fn has(&self, feature: LaterFeature) -> bool {
        feature.is_in(self.line())
    }

    /// Returns the scope for the names of types in a statement about a keyspace's tables.
    pub fn type_scope<'k>(&self, keyspace: &'k KeyspaceDef) -> TypeScope<'k>
    where
        'a: 'k,
    {
        TypeScope { is_in_words_of_2_1: self.is_in_words_of_2_1(), ..self.definition_scope(keyspace) }
    }

    /// Returns the scope for the names of types in a schema statement, whose messages come from later releases.
    pub fn definition_scope<'k>(&self, keyspace: &'k KeyspaceDef) -> TypeScope<'k>
    where
        'a: 'k,
    {
        TypeScope {
            keyspace,
            types: self.database.types(),
            release: self.behaviour.release,
            is_in_words_of_2_1: false,
            line: self.line(),
            has_multi_cell_user_types: self.has(MULTI_CELL_USER_TYPES),
        }
    }

    /// Returns a type as messages print it.
    pub fn type_text(&self, cql_type: &CqlType) -> String {
        if self.is_in_words_of_2_1() { cql_type.text_of_2_1() } else { cql_type.to_string() }
    }

    fn no_table(&self, name: &str) -> CqlError {
        CqlError::invalid(texts::unknown_table(self.line(), name))
    }

    /// Returns the table of a statement.
    pub fn table(&self, name: &TableName) -> Result<Table> {
        let keyspace = self.keyspace_of(name.keyspace.as_deref())?;
        if system::is_system(keyspace) {
            return Err(self.no_table(&name.name));
        }
        let catalog = self.database.catalog();
        let Some(found) = catalog.keyspace(keyspace) else {
            return invalid(texts::unknown_keyspace(self.behaviour, keyspace));
        };
        let Some(cf) = found.column_families.get(&name.name) else {
            return Err(self.no_table(&name.name));
        };
        Ok(Table { cf: cf.clone(), def: TableDef::of(cf, self.behaviour.release) })
    }
}
