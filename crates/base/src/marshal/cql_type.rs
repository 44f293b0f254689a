//! The types of CQL, including those with type parameters.

use std::fmt;
use std::sync::Arc;

use super::{Native, PACKAGE, TypeRef, UserType};

/// A type as CQL writes it.
#[derive(Debug, Clone)]
pub enum CqlType {
    /// One of Cassandra's own: `text`, `bigint`.
    Native(Native),
    /// A class name in quotes: a custom comparator or a composite type.
    Custom(TypeRef),
    /// Elements in the order of the statement. A collection that is not frozen has a cell for each element; a frozen
    /// one is a single value.
    List {
        /// The type of the elements.
        element: Box<CqlType>,
        /// Whether the list is a single value.
        is_frozen: bool,
    },
    /// Distinct elements, sorted.
    Set {
        /// The type of the elements, which sorts them.
        element: Box<CqlType>,
        /// Whether the set is a single value.
        is_frozen: bool,
    },
    /// Pairs of a key and a value with distinct keys, sorted by key.
    Map {
        /// The type of the keys, which sorts them.
        key: Box<CqlType>,
        /// The type of the values.
        value: Box<CqlType>,
        /// Whether the map is a single value.
        is_frozen: bool,
    },
    /// A tuple, which is always a single value.
    Tuple(Vec<CqlType>),
    /// A user-defined type. A type that is not frozen has a cell for each field; a frozen one is a single value.
    User {
        /// The definition of the type.
        user: Arc<UserType>,
        /// Whether the type is a single value.
        is_frozen: bool,
    },
}

impl CqlType {
    /// Returns whether this is a frozen collection, which is a single value.
    pub fn is_frozen_collection(&self) -> bool {
        matches!(
            self,
            CqlType::List { is_frozen: true, .. }
                | CqlType::Set { is_frozen: true, .. }
                | CqlType::Map { is_frozen: true, .. }
        )
    }

    /// Returns whether this is a collection with a cell for each element.
    pub fn is_multi_cell_collection(&self) -> bool {
        matches!(
            self,
            CqlType::List { is_frozen: false, .. }
                | CqlType::Set { is_frozen: false, .. }
                | CqlType::Map { is_frozen: false, .. }
        )
    }

    /// Returns the user-defined type if it has a cell for each field.
    pub fn multi_cell_user_type(&self) -> Option<&Arc<UserType>> {
        match self {
            CqlType::User { user, is_frozen: false } => Some(user),
            _ => None,
        }
    }

    /// Returns whether the type has a cell for each element or field.
    pub fn is_multi_cell(&self) -> bool {
        self.is_multi_cell_collection() || self.multi_cell_user_type().is_some()
    }

    /// Returns the type whose values are single values of a user-defined type.
    pub fn frozen_user(user: Arc<UserType>) -> CqlType {
        CqlType::User { user, is_frozen: true }
    }

    /// Returns a user-defined type as one with a cell for each field; other types stay the same. Class names do not
    /// distinguish the two.
    #[must_use]
    pub fn with_cells_of_fields(self) -> CqlType {
        match self {
            CqlType::User { user, .. } => CqlType::User { user, is_frozen: false },
            other => other,
        }
    }

    /// Returns whether the type is `counter`: statements add to its values and never set them.
    pub fn is_counter(&self) -> bool {
        matches!(self, CqlType::Native(Native::Counter))
    }

    /// Returns whether the type contains durations, which have no order.
    pub fn has_durations(&self) -> bool {
        match self {
            CqlType::Native(native) => *native == Native::Duration,
            CqlType::Custom(_) => false,
            CqlType::List { element, .. } | CqlType::Set { element, .. } => element.has_durations(),
            CqlType::Map { key, value, .. } => key.has_durations() || value.has_durations(),
            CqlType::Tuple(fields) => fields.iter().any(CqlType::has_durations),
            CqlType::User { user, .. } => user.has_durations(),
        }
    }

    /// Returns the full class name, as in schemas and in results of Thrift.
    pub fn class_name(&self) -> String {
        self.class_in(false)
    }

    /// Returns the class name in which user types have only their keyspaces and names. Stored schemas have this form.
    pub fn class_by_name(&self) -> String {
        self.class_of(false, &|user| user.short_class_name())
    }

    /// Returns the full class name of the type inside another one. Inside a frozen type, FrozenType is not repeated.
    pub(super) fn class_in(&self, in_frozen: bool) -> String {
        self.class_of(in_frozen, &UserType::class_name)
    }

    fn class_of(&self, in_frozen: bool, class_of_user: &dyn Fn(&UserType) -> String) -> String {
        let frozen = |is_frozen: bool, class: String| {
            if is_frozen && !in_frozen { format!("{PACKAGE}FrozenType({class})") } else { class }
        };
        let class_in = |held: &CqlType, is_frozen: bool| held.class_of(in_frozen || is_frozen, class_of_user);
        match self {
            CqlType::Native(native) => format!("{PACKAGE}{}", native.class()),
            CqlType::Custom(class) => class.class_name().to_owned(),
            CqlType::List { element, is_frozen } => {
                frozen(*is_frozen, format!("{PACKAGE}ListType({})", class_in(element, *is_frozen)))
            }
            CqlType::Set { element, is_frozen } => {
                frozen(*is_frozen, format!("{PACKAGE}SetType({})", class_in(element, *is_frozen)))
            }
            CqlType::Map { key, value, is_frozen } => {
                let [key, value] = [key, value].map(|held| class_in(held, *is_frozen));
                frozen(*is_frozen, format!("{PACKAGE}MapType({key},{value})"))
            }
            CqlType::Tuple(fields) => {
                let fields: Vec<String> = fields.iter().map(|field| class_in(field, true)).collect();
                format!("{PACKAGE}TupleType({})", fields.join(","))
            }
            CqlType::User { user, .. } => class_of_user(user),
        }
    }

    /// Returns the type as a part of a frozen one: all collections and user-defined types in it are frozen.
    pub fn frozen(self) -> CqlType {
        let freeze = |held: Box<CqlType>| Box::new(held.frozen());
        match self {
            CqlType::List { element, .. } => CqlType::List { element: freeze(element), is_frozen: true },
            CqlType::Set { element, .. } => CqlType::Set { element: freeze(element), is_frozen: true },
            CqlType::Map { key, value, .. } => {
                CqlType::Map { key: freeze(key), value: freeze(value), is_frozen: true }
            }
            CqlType::User { user, .. } => CqlType::frozen_user(user),
            other => other,
        }
    }
}

impl PartialEq for CqlType {
    /// Two types are equal if their class names are, and if both or neither have several cells.
    fn eq(&self, other: &CqlType) -> bool {
        let is_same_class = match (self, other) {
            (CqlType::User { user: one, .. }, CqlType::User { user: other, .. })
                if Arc::ptr_eq(one, other) =>
            {
                true
            }
            _ => self.class_name() == other.class_name(),
        };
        is_same_class && self.is_multi_cell() == other.is_multi_cell()
    }
}

impl Eq for CqlType {}

impl CqlType {
    /// Formats the type as Cassandra 2.1 does: without `frozen` around tuples and user types, which are always frozen.
    pub fn text_of_2_1(&self) -> String {
        let frozen = |is_frozen: bool, text: String| if is_frozen { format!("frozen<{text}>") } else { text };
        match self {
            CqlType::List { element, is_frozen } => {
                frozen(*is_frozen, format!("list<{}>", element.text_of_2_1()))
            }
            CqlType::Set { element, is_frozen } => {
                frozen(*is_frozen, format!("set<{}>", element.text_of_2_1()))
            }
            CqlType::Map { key, value, is_frozen } => {
                frozen(*is_frozen, format!("map<{}, {}>", key.text_of_2_1(), value.text_of_2_1()))
            }
            CqlType::Tuple(fields) => {
                let fields: Vec<String> = fields.iter().map(CqlType::text_of_2_1).collect();
                format!("tuple<{}>", fields.join(", "))
            }
            CqlType::User { user, .. } => user.name.clone(),
            CqlType::Native(_) | CqlType::Custom(_) => self.to_string(),
        }
    }
}

impl fmt::Display for CqlType {
    /// Formats the type as CQL does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frozen = |f: &mut fmt::Formatter<'_>, is_frozen: bool, text: String| {
            if is_frozen { write!(f, "frozen<{text}>") } else { f.write_str(&text) }
        };
        match self {
            CqlType::Native(native) => f.write_str(native.name()),
            CqlType::Custom(class) => write!(f, "'{}'", class.class_name()),
            CqlType::List { element, is_frozen } => frozen(f, *is_frozen, format!("list<{element}>")),
            CqlType::Set { element, is_frozen } => frozen(f, *is_frozen, format!("set<{element}>")),
            CqlType::Map { key, value, is_frozen } => frozen(f, *is_frozen, format!("map<{key}, {value}>")),
            CqlType::Tuple(fields) => {
                let fields: Vec<String> = fields.iter().map(CqlType::to_string).collect();
                write!(f, "frozen<tuple<{}>>", fields.join(", "))
            }
            CqlType::User { user, is_frozen } => frozen(f, *is_frozen, user.name.clone()),
        }
    }
}
