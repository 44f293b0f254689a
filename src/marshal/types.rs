//! The table of comparators, and the registry that a user's own are added to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AsciiType, BytesType, LexicalUUIDType, LongType, TimeUUIDType, TypeRef, UTF8Type};

/// The package that a class name without a dot is looked up in.
pub const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// The validator that makes a column family one of counters.
pub const COUNTER_COLUMN_TYPE: &str = "org.apache.cassandra.db.marshal.CounterColumnType";

/// Makes one built-in comparator.
type Make = fn() -> TypeRef;

/// Every built-in comparator, by its short Java class name. A new one is a file and a row here.
pub const TYPES: &[(&str, Make)] = &[
    ("AsciiType", || Arc::new(AsciiType::default())),
    ("BytesType", || Arc::new(BytesType)),
    ("LexicalUUIDType", || Arc::new(LexicalUUIDType::default())),
    ("LongType", || Arc::new(LongType::default())),
    ("TimeUUIDType", || Arc::new(TimeUUIDType::default())),
    ("UTF8Type", || Arc::new(UTF8Type::default())),
];

/// The comparators that a schema may name: the built-in ones and those that were registered.
#[derive(Debug, Clone)]
pub struct Types {
    by_class: BTreeMap<String, TypeRef>,
}

impl Types {
    /// The built-in comparators.
    pub fn builtin() -> Types {
        let by_class = TYPES.iter().map(|(name, make)| (format!("{PACKAGE}{name}"), make())).collect();
        Types { by_class }
    }

    /// Adds a comparator under its own class name; one of the same name is replaced.
    pub fn register(&mut self, comparator: TypeRef) {
        self.by_class.insert(comparator.class_name().to_owned(), comparator);
    }

    /// The comparator of a class name as schemas write it: without a dot it is one of Cassandra's own.
    pub fn resolve(&self, class_name: &str) -> Option<TypeRef> {
        if class_name.contains('.') {
            self.by_class.get(class_name).cloned()
        } else {
            self.by_class.get(&format!("{PACKAGE}{class_name}")).cloned()
        }
    }

    /// Full class names of all that can be named.
    pub fn class_names(&self) -> impl Iterator<Item = &str> {
        self.by_class.keys().map(String::as_str)
    }
}
