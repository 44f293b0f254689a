//! The table of built-in comparators, and the registry to which users can add their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::number_types::{
    BYTE, COUNTER_COLUMN, DATE, DOUBLE, FLOAT, INT32, SHORT, SIMPLE_DATE, TIME, TIMESTAMP,
};
use super::{
    AsciiType, BooleanType, BytesType, DecimalType, DurationType, EmptyType, InetAddressType, IntegerType,
    LexicalUUIDType, LongType, TimeUUIDType, TypeError, TypeRef, UTF8Type, UUIDType, type_parser,
};

/// The package of class names without a dot.
pub const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// The validator of counter column families.
pub const COUNTER_COLUMN_TYPE: &str = "org.apache.cassandra.db.marshal.CounterColumnType";

/// Makes one built-in comparator.
type Make = fn() -> TypeRef;

/// Every built-in comparator, by its short Java class name. A new one is a file and a row here.
pub const TYPES: &[(&str, Make)] = &[
    ("AsciiType", || Arc::new(AsciiType::default())),
    ("BooleanType", || Arc::new(BooleanType)),
    ("ByteType", || Arc::new(&BYTE)),
    ("BytesType", || Arc::new(BytesType)),
    ("CounterColumnType", || Arc::new(&COUNTER_COLUMN)),
    ("DateType", || Arc::new(&DATE)),
    ("DecimalType", || Arc::new(DecimalType)),
    ("DoubleType", || Arc::new(&DOUBLE)),
    ("DurationType", || Arc::new(DurationType)),
    ("EmptyType", || Arc::new(EmptyType)),
    ("FloatType", || Arc::new(&FLOAT)),
    ("InetAddressType", || Arc::new(InetAddressType)),
    ("Int32Type", || Arc::new(&INT32)),
    ("IntegerType", || Arc::new(IntegerType)),
    ("LexicalUUIDType", || Arc::new(LexicalUUIDType::default())),
    ("LongType", || Arc::new(LongType::default())),
    ("ShortType", || Arc::new(&SHORT)),
    ("SimpleDateType", || Arc::new(&SIMPLE_DATE)),
    ("TimeType", || Arc::new(&TIME)),
    ("TimeUUIDType", || Arc::new(TimeUUIDType::default())),
    ("TimestampType", || Arc::new(&TIMESTAMP)),
    ("UTF8Type", || Arc::new(UTF8Type::default())),
    ("UUIDType", || Arc::new(UUIDType::default())),
];

/// The comparators that a schema may use: the built-in and the registered ones.
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

    /// The type of a text as schemas write it, which may be made of others: `ReversedType(LongType)`.
    pub fn parse(&self, text: &str) -> Result<TypeRef, TypeError> {
        type_parser::parse(text, self)
    }

    /// Does the same; `None` if the text names no known type.
    pub fn resolve(&self, text: &str) -> Option<TypeRef> {
        self.parse(text).ok()
    }

    /// The type of a plain class name: without a dot it is one of Cassandra's own.
    pub(super) fn simple(&self, class_name: &str) -> Option<TypeRef> {
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
