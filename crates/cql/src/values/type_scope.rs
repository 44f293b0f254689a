//! Resolves the names of types.

use crate::column_text::column_text;
use crate::error::invalid;
use crate::{ColumnSpec, CqlError, Result};
use base::compat::features::releases::NEWEST;
use base::compat::{Behaviour, Line};
use base::marshal::{CqlType, Native, TypeError, Types};
use base::schema::{KeyspaceDef, TableDef};
use base::util::Release;
use base::util::limits::TYPE_NESTING_MAX;
use cql_syntax::{Place, TypeName};

/// The scope in which the names of types are resolved.
#[derive(Clone, Copy)]
pub struct TypeScope<'a> {
    /// The keyspace of the statement's table, whose user-defined types can be used.
    pub keyspace: &'a KeyspaceDef,
    /// The comparators that names of types may mean, with the application's own.
    pub types: &'a Types,
    /// The release, which decides which types exist.
    pub release: Release,
    /// Whether messages about values use the words of 2.1 instead of a later release's.
    pub is_in_words_of_2_1: bool,
    /// The line whose words other messages have.
    pub line: Line,
    /// Whether user types may be used without `frozen<>`.
    pub has_multi_cell_user_types: bool,
}

impl<'a> TypeScope<'a> {
    /// Returns the scope for definitions that are already in use, in which all types can be used.
    pub fn of_existing(keyspace: &'a KeyspaceDef, types: &'a Types) -> TypeScope<'a> {
        TypeScope {
            keyspace,
            types,
            release: NEWEST,
            is_in_words_of_2_1: false,
            line: Line::of(NEWEST),
            has_multi_cell_user_types: true,
        }
    }

    /// Returns a type as messages print it.
    pub fn text(&self, cql_type: &CqlType) -> String {
        if self.is_in_words_of_2_1 { cql_type.text_of_2_1() } else { cql_type.to_string() }
    }

    /// Returns the receiver of a user-defined type's literal as messages print it: 2.1 prints the whole column
    /// definition.
    pub fn receiver_text(&self, receiver: &ColumnSpec) -> String {
        let cf = self.keyspace.column_families.get(&receiver.table).filter(|_| self.is_in_words_of_2_1);
        let Some(cf) = cf else { return receiver.name.clone() };
        let def = TableDef::of(cf, self.release);
        match def.column(&receiver.name) {
            Some(column) => column_text(cf, &def, column),
            None => receiver.name.clone(),
        }
    }

    /// Returns the type with a name.
    pub fn resolve(&self, name: &TypeName) -> Result<CqlType> {
        let found = self.resolve_in(name, false, 0)?;
        match found.size().excess() {
            Some(excess) => invalid(format!("Type {} {excess}", type_text(name))),
            None => Ok(found),
        }
    }

    /// Resolves a type at a nesting depth. `is_frozen`: it is inside of `frozen<>`, which freezes all nested types too.
    fn resolve_in(&self, name: &TypeName, is_frozen: bool, depth: usize) -> Result<CqlType> {
        if depth > TYPE_NESTING_MAX {
            return invalid("types are nested too deep");
        }
        match name {
            TypeName::Named { keyspace, name } => self.named(keyspace.as_deref(), name, is_frozen),
            TypeName::Users(name) => self.users(name, is_frozen),
            TypeName::Custom(class) => {
                let found = self.types.parse(class).map_err(|error| bad_class(class, &error))?;
                Ok(CqlType::of(&found))
            }
            TypeName::List(element) => {
                let element = Box::new(self.element(name, element, is_frozen, depth)?);
                Ok(CqlType::List { element, is_frozen })
            }
            TypeName::Set(element) => {
                let element = Box::new(self.element(name, element, is_frozen, depth)?);
                if element.has_durations() {
                    return Err(no_order("inside sets", name));
                }
                Ok(CqlType::Set { element, is_frozen })
            }
            TypeName::Map(key, value) => {
                let value = Box::new(self.element(name, value, is_frozen, depth)?);
                let key = Box::new(self.element(name, key, is_frozen, depth)?);
                if key.has_durations() {
                    return Err(no_order("as map keys", name));
                }
                Ok(CqlType::Map { key, value, is_frozen })
            }
            TypeName::Tuple(fields) => {
                let field = |field| {
                    let found = self.resolve_in(field, true, depth + 1)?;
                    if found.is_counter() {
                        return invalid("Counters are not allowed inside tuples");
                    }
                    Ok(found)
                };
                Ok(CqlType::Tuple(fields.iter().map(field).collect::<Result<_>>()?))
            }
            TypeName::Frozen(inner) => {
                // Custom classes are accepted, since they may be collections.
                if let TypeName::Named { keyspace: None, name } = &**inner
                    && Native::named(name).is_some()
                    && !self.keyspace.user_types.contains_key(name)
                {
                    return invalid(format!(
                        "frozen<> is only allowed on collections, tuples, and user-defined types (got {name})"
                    ));
                }
                self.resolve_in(inner, true, depth + 1)
            }
        }
    }

    /// Resolves the type of a collection's element. Counters are not allowed, and nested collections must be frozen.
    fn element(&self, of: &TypeName, element: &TypeName, is_frozen: bool, depth: usize) -> Result<CqlType> {
        let is_native =
            matches!(element, TypeName::Named { keyspace: None, name } if Native::named(name).is_some());
        let is_whole = matches!(element, TypeName::Frozen(_) | TypeName::Custom(_));
        if !is_frozen && !is_native && !is_whole {
            // An unknown type is reported first.
            let found = self.resolve_in(element, true, depth + 1)?;
            let what = match found {
                CqlType::User { .. } if self.has_multi_cell_user_types => "UDTs",
                _ => "collections",
            };
            return invalid(format!(
                "Non-frozen {what} are not allowed inside collections: {}",
                type_text(of)
            ));
        }
        let found = self.resolve_in(element, is_frozen, depth + 1)?;
        if found.is_counter() {
            return invalid(format!("Counters are not allowed inside collections: {}", type_text(of)));
        }
        Ok(found)
    }

    /// Resolves the name of a native or user-defined type.
    fn named(&self, keyspace: Option<&str>, name: &str, is_frozen: bool) -> Result<CqlType> {
        let native = if keyspace.is_none() { Native::named(name) } else { None };
        match native {
            Some(native) if !(is_new(native) && self.keyspace.user_types.contains_key(name)) => {
                // Timestamps of 1.2 and earlier sort differently, and have a class of their own.
                let is_old =
                    native == Native::Timestamp && Behaviour::of(self.release).cql.timestamps_are_dates;
                return Ok(CqlType::Native(if is_old { Native::OldTimestamp } else { native }));
            }
            _ => {}
        }
        if let Some(keyspace) = keyspace
            && keyspace != self.keyspace.name
        {
            return invalid(format!(
                "Statement on keyspace {} cannot refer to a user type in keyspace {keyspace}; user types can only be \
                 used in the keyspace they are defined in",
                self.keyspace.name
            ));
        }
        self.users(name, is_frozen)
    }

    /// Resolves the name of a user-defined type of the keyspace.
    fn users(&self, name: &str, is_frozen: bool) -> Result<CqlType> {
        let Some(found) = self.keyspace.user_types.get(name) else {
            return invalid(format!("Unknown type {}.{name}", self.keyspace.name));
        };
        if !is_frozen && self.has_multi_cell_user_types {
            return Ok(CqlType::User { user: found.clone(), is_frozen: false });
        }
        if !is_frozen {
            return invalid("Non-frozen User-Defined types are not supported, please use frozen<>");
        }
        Ok(CqlType::frozen_user(found.clone()))
    }
}

/// Returns the error for an unknown class in quotes. The old servers look up classes while they parse, so it is a
/// syntax error there.
fn bad_class(class: &str, error: &TypeError) -> CqlError {
    let message = match error {
        TypeError::Unknown(_) => format!("Error setting type {class}: {error}"),
        TypeError::Syntax { .. } => format!("Cannot parse type {class}: {error}"),
    };
    CqlError::Syntax { message, place: Place { line: 0, column: 0 } }
}

/// Returns the error that durations cannot be used where values must be ordered.
fn no_order(place: &str, of: &TypeName) -> CqlError {
    CqlError::invalid(format!("Durations are not allowed {place}: {}", type_text(of)))
}

/// Whether a type was added in 2.2 or later. A user-defined type may already have its name.
fn is_new(native: Native) -> bool {
    native.row().protocol > 1
}

/// Returns a type's name as it was written.
pub(crate) fn type_text(name: &TypeName) -> String {
    match name {
        TypeName::Named { keyspace: Some(keyspace), name } => format!("{keyspace}.{name}"),
        TypeName::Named { keyspace: None, name } | TypeName::Users(name) => name.clone(),
        TypeName::Custom(class) => format!("'{class}'"),
        TypeName::List(element) => format!("list<{}>", type_text(element)),
        TypeName::Set(element) => format!("set<{}>", type_text(element)),
        TypeName::Map(key, value) => format!("map<{}, {}>", type_text(key), type_text(value)),
        TypeName::Tuple(fields) => {
            let fields: Vec<String> = fields.iter().map(type_text).collect();
            format!("tuple<{}>", fields.join(", "))
        }
        TypeName::Frozen(inner) => format!("frozen<{}>", type_text(inner)),
    }
}
