//! The table of built-in comparators, and the registry to which an application can add its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::number_types::{
    BYTE, COUNTER_COLUMN, DATE, DOUBLE, FLOAT, INT32, SHORT, SIMPLE_DATE, TIME, TIMESTAMP,
};
use super::{
    AsciiType, BooleanType, BytesType, DecimalType, DurationType, EmptyType, InetAddressType, IntegerType,
    LexicalUUIDType, LongType, PACKAGE, TimeUUIDType, TypeRef, UTF8Type, UUIDType,
};

/// A constructor of a built-in comparator.
type Make = fn() -> TypeRef;

/// All built-in comparators by their simple Java class names. A new one needs a file and a row here.
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

/// The comparators that a schema may use: the built-in ones and those that an application has registered.
#[derive(Debug, Clone)]
pub struct Types {
    by_class: BTreeMap<String, TypeRef>,
}

impl Types {
    /// Returns the built-in comparators.
    pub fn builtin() -> Types {
        let by_class = TYPES.iter().map(|(name, make)| (format!("{PACKAGE}{name}"), make())).collect();
        Types { by_class }
    }

    /// Adds a comparator under its class name. It replaces a comparator of the same name.
    pub fn register(&mut self, comparator: TypeRef) {
        self.by_class.insert(comparator.class_name().to_owned(), comparator);
    }

    /// Returns the type of a class name without parameters. A name without a dot belongs to Cassandra's package.
    pub(super) fn simple(&self, class_name: &str) -> Option<TypeRef> {
        if class_name.contains('.') {
            self.by_class.get(class_name).cloned()
        } else {
            self.by_class.get(&format!("{PACKAGE}{class_name}")).cloned()
        }
    }

    /// Returns the full class names of all comparators.
    pub fn class_names(&self) -> impl Iterator<Item = &str> {
        self.by_class.keys().map(String::as_str)
    }
}
