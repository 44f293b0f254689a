//! The native types of CQL, in a table with the properties that all layers need.
//!
//! A new type is a row here and a comparator in `types`, which reads and writes its text form.

/// Cassandra's own types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Native {
    /// Text of 7-bit characters.
    Ascii,
    /// A signed integer of 8 bytes.
    Bigint,
    /// Any bytes.
    Blob,
    /// One byte: 0 is false, any other value true.
    Boolean,
    /// A signed integer of 8 bytes that statements increment and never set.
    Counter,
    /// Days since 1970, plus 2^31 (2.2).
    Date,
    /// A varint with a scale of 4 bytes.
    Decimal,
    /// IEEE 754 in 8 bytes.
    Double,
    /// Months, days and nanoseconds (3.10).
    Duration,
    /// IEEE 754 in 4 bytes.
    Float,
    /// An IPv4 or IPv6 address, 4 or 16 bytes.
    Inet,
    /// A signed integer of 4 bytes.
    Int,
    /// A signed integer of 2 bytes (2.2).
    Smallint,
    /// Text in UTF-8.
    Text,
    /// Nanoseconds since midnight (2.2).
    Time,
    /// Milliseconds since 1970, signed.
    Timestamp,
    /// The timestamp of releases before 2.0: dates before 1970 sort last.
    OldTimestamp,
    /// A UUID of version 1, sorted by its time.
    Timeuuid,
    /// A signed integer of one byte (2.2).
    Tinyint,
    /// A UUID of any version.
    Uuid,
    /// A signed integer of any length.
    Varint,
}

/// The kind of a type's values: how constants and JSON write them, and whether arithmetic is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Written in quotes.
    Text,
    /// Written as hexadecimal digits.
    Blob,
    /// True or false.
    Boolean,
    /// A signed integer of a fixed length.
    Integer {
        /// Its length.
        bytes: usize,
    },
    /// A counter: a signed integer of 8 bytes that is only incremented.
    Counter,
    /// A signed integer of any length.
    Varint,
    /// A varint with a scale.
    Decimal,
    /// A binary number of 4 bytes.
    Float,
    /// A binary number of 8 bytes.
    Double,
    /// Milliseconds since 1970, written as a date in quotes or as a number.
    Timestamp,
    /// Written as its comparator's text, in quotes.
    Quoted,
    /// Written as its comparator's text; in JSON in quotes.
    Unquoted,
}

/// One native type.
#[derive(Debug, Clone, Copy)]
pub struct NativeType {
    /// The type.
    pub native: Native,
    /// Its name in CQL.
    pub name: &'static str,
    /// The class of its values, without the package.
    pub class: &'static str,
    /// Its number in the native protocol.
    pub code: u16,
    /// The version of the native protocol that it came with. Types of 4 and 5 came with Cassandra 2.2 and later.
    pub protocol: u8,
    /// The kind of its values.
    pub kind: ValueKind,
    /// The kind of JSON value that Cassandra's error names as expected.
    pub expected: &'static str,
}

const fn of(native: Native, name: &'static str, class: &'static str, code: u16) -> NativeType {
    let protocol = match code {
        ..=0x10 => 1,
        0x11..=0x14 => 4,
        _ => 5,
    };
    NativeType { native, name, class, code, protocol, kind: ValueKind::Quoted, expected: "" }
}

impl NativeType {
    const fn is(self, kind: ValueKind, expected: &'static str) -> NativeType {
        NativeType { kind, expected, ..self }
    }
}

const TIMESTAMP_JSON: &str = "a long or a datestring representation of a timestamp value";

/// All native types. If two have the same name, lookups return the first.
#[rustfmt::skip]
pub const NATIVES: &[NativeType] = &[
    of(Native::Ascii, "ascii", "AsciiType", 0x01).is(ValueKind::Text, "an ascii string"),
    of(Native::Bigint, "bigint", "LongType", 0x02).is(ValueKind::Integer { bytes: 8 }, "a bigint value"),
    of(Native::Blob, "blob", "BytesType", 0x03).is(ValueKind::Blob, "a string"),
    of(Native::Boolean, "boolean", "BooleanType", 0x04).is(ValueKind::Boolean, "a boolean value"),
    of(Native::Counter, "counter", "CounterColumnType", 0x05).is(ValueKind::Counter, "nothing"),
    of(Native::Date, "date", "SimpleDateType", 0x11).is(ValueKind::Quoted, "a string representation of a date value"),
    of(Native::Decimal, "decimal", "DecimalType", 0x06).is(ValueKind::Decimal, "a decimal value"),
    of(Native::Double, "double", "DoubleType", 0x07).is(ValueKind::Double, "a double value"),
    of(Native::Duration, "duration", "DurationType", 0x15).is(ValueKind::Unquoted, "a string representation of a duration"),
    of(Native::Float, "float", "FloatType", 0x08).is(ValueKind::Float, "a float value"),
    of(Native::Inet, "inet", "InetAddressType", 0x10).is(ValueKind::Quoted, "a string representation of an inet value"),
    of(Native::Int, "int", "Int32Type", 0x09).is(ValueKind::Integer { bytes: 4 }, "an int value"),
    of(Native::Smallint, "smallint", "ShortType", 0x13).is(ValueKind::Integer { bytes: 2 }, "a short value"),
    of(Native::Text, "text", "UTF8Type", 0x0d).is(ValueKind::Text, "a UTF-8 string"),
    of(Native::Time, "time", "TimeType", 0x12).is(ValueKind::Quoted, "a string representation of a time value"),
    of(Native::Timestamp, "timestamp", "TimestampType", 0x0b).is(ValueKind::Timestamp, TIMESTAMP_JSON),
    of(Native::OldTimestamp, "timestamp", "DateType", 0x0b).is(ValueKind::Timestamp, TIMESTAMP_JSON),
    of(Native::Timeuuid, "timeuuid", "TimeUUIDType", 0x0f).is(ValueKind::Unquoted, "a string representation of a timeuuid"),
    of(Native::Tinyint, "tinyint", "ByteType", 0x14).is(ValueKind::Integer { bytes: 1 }, "a byte value"),
    of(Native::Uuid, "uuid", "UUIDType", 0x0c).is(ValueKind::Unquoted, "a string representation of a uuid"),
    of(Native::Varint, "varint", "IntegerType", 0x0e).is(ValueKind::Varint, "a varint value"),
];

impl ValueKind {
    /// Returns whether arithmetic is possible with the values.
    pub fn is_number(self) -> bool {
        use ValueKind::{Counter, Decimal, Double, Float, Integer, Varint};
        matches!(self, Integer { .. } | Counter | Varint | Decimal | Float | Double)
    }
}

impl Native {
    /// Returns the type with a name; `varchar` is text.
    pub fn named(name: &str) -> Option<Native> {
        let name = if name == "varchar" { "text" } else { name };
        NATIVES.iter().find(|known| known.name == name).map(|known| known.native)
    }

    /// Returns the type of a class, given without its package.
    pub fn of_class(class: &str) -> Option<Native> {
        NATIVES.iter().find(|known| known.class == class).map(|known| known.native)
    }

    /// Returns the type with a number of the native protocol.
    pub fn of_code(code: u16) -> Option<Native> {
        NATIVES.iter().find(|known| known.code == code).map(|known| known.native)
    }

    /// Returns the type's row.
    #[expect(clippy::indexing_slicing, reason = "each type has a row, see below")]
    pub fn row(self) -> &'static NativeType {
        &NATIVES[self as usize]
    }

    /// Returns the name of the type in CQL.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the type's class, without the package.
    pub fn class(self) -> &'static str {
        self.row().class
    }

    /// Returns the kind of the type's values.
    pub fn kind(self) -> ValueKind {
        self.row().kind
    }
}

// Rows must be in the order of the types.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const _: () = {
    let mut at = 0;
    while at < NATIVES.len() {
        assert!(NATIVES[at].native as usize == at);
        at += 1;
    }
};
