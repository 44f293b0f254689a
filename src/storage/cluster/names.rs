//! How names of a column family are kept in a clustering column: as a CQL type of the same order, or as bytes that
//! sort as the comparator does.

use bytes::Bytes;

use crate::marshal::{PACKAGE, StoredOrder, TypeRef};
use crate::storage::StoreError;

/// Types whose order, and identity of names, is that of a CQL type on a modern server.
const NATIVE: &[(&str, &str)] = &[
    ("AsciiType", "ascii"),
    ("BooleanType", "boolean"),
    ("ByteType", "tinyint"),
    ("BytesType", "blob"),
    ("DecimalType", "decimal"),
    ("DoubleType", "double"),
    ("FloatType", "float"),
    ("InetAddressType", "inet"),
    ("Int32Type", "int"),
    ("IntegerType", "varint"),
    ("LongType", "bigint"),
    ("ShortType", "smallint"),
    ("SimpleDateType", "date"),
    ("TimeType", "time"),
    ("TimeUUIDType", "timeuuid"),
    ("TimestampType", "timestamp"),
    ("UTF8Type", "text"),
    ("UUIDType", "uuid"),
];

/// Types of values that are no types of names there: their order does not matter.
const NATIVE_VALUES: &[(&str, &str)] =
    &[("CounterColumnType", "counter"), ("DateType", "timestamp"), ("LexicalUUIDType", "uuid")];

/// The CQL type that a class is, as a clustering column.
fn native(class_name: &str) -> Option<&'static str> {
    let short = class_name.strip_prefix(PACKAGE).unwrap_or(class_name);
    NATIVE.iter().find(|(name, _)| *name == short).map(|(_, cql)| *cql)
}

/// The CQL type of a key or a value; `blob` where there is none.
pub fn value_type(validator: &TypeRef) -> &'static str {
    let class = validator.class_name();
    let short = class.strip_prefix(PACKAGE).unwrap_or(class);
    let other = || NATIVE_VALUES.iter().find(|(name, _)| *name == short).map(|(_, cql)| *cql);
    native(class).or_else(other).unwrap_or("blob")
}

/// One clustering column's form.
#[derive(Debug, Clone)]
pub struct NameForm {
    /// The column's CQL type.
    pub cql_type: &'static str,
    /// The comparator is the CQL type's order turned round, and so is the column.
    pub is_descending: bool,
    /// Makes bytes that sort like names; `None` where names stand as they are.
    ordered: Option<TypeRef>,
}

impl NameForm {
    /// The form of a comparator's names. Errors: `Mismatch` for a comparator whose names cannot be kept so that they
    /// sort and come back.
    pub fn of(comparator: &TypeRef) -> Result<NameForm, StoreError> {
        let class = comparator.class_name();
        if let Some(cql_type) = native(class) {
            return Ok(NameForm { cql_type, is_descending: false, ordered: None });
        }
        let short = class.strip_prefix(PACKAGE).unwrap_or(class);
        let inner = short.strip_prefix("ReversedType(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(cql_type) = inner.and_then(native) {
            return Ok(NameForm { cql_type, is_descending: true, ordered: None });
        }
        if comparator.stored_order() != StoredOrder::Exact || !comes_back(comparator) {
            return Err(StoreError::Mismatch(format!(
                "column names of {class} cannot be kept on a cluster: there are no bytes that sort as they do and \
                 from which they can be read again"
            )));
        }
        Ok(NameForm { cql_type: "blob", is_descending: false, ordered: Some(comparator.clone()) })
    }

    /// What is kept of a name.
    pub fn encode(&self, name: &Bytes) -> Bytes {
        let Some(comparator) = &self.ordered else { return name.clone() };
        let mut ordered = Vec::with_capacity(name.len() + 8);
        comparator.ordered(name, &mut ordered);
        ordered.into()
    }

    /// The name of which this was kept.
    pub fn decode(&self, kept: Bytes) -> Result<Bytes, StoreError> {
        let Some(comparator) = &self.ordered else { return Ok(kept) };
        let name = comparator.restore(&kept).map(Bytes::from);
        name.ok_or_else(|| {
            let hex: String = kept.iter().map(|byte| format!("{byte:02x}")).collect();
            StoreError::Corrupt(format!("0x{hex} on the cluster is no name of {}", comparator.class_name()))
        })
    }
}

/// Whether names can be read from their ordered bytes. A type that cannot do so for the empty name, or that holds
/// numbers whose different bytes are equal, cannot do so for others.
fn comes_back(comparator: &TypeRef) -> bool {
    let mut ordered = Vec::new();
    comparator.ordered(&[], &mut ordered);
    let class = comparator.class_name();
    comparator.restore(&ordered).is_some()
        && !class.contains("DecimalType")
        && !class.contains("DynamicCompositeType")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Types;

    fn form(class: &str) -> Result<NameForm, StoreError> {
        NameForm::of(&Types::builtin().parse(class).unwrap())
    }

    #[test]
    fn a_type_of_the_same_order_is_used_where_there_is_one() {
        for (class, cql) in [("UTF8Type", "text"), ("LongType", "bigint"), ("TimeUUIDType", "timeuuid")] {
            let form = form(class).unwrap();
            assert_eq!((form.cql_type, form.is_descending), (cql, false));
            assert_eq!(form.encode(&Bytes::from_static(b"x")), "x");
        }
        let reversed = form("ReversedType(LongType)").unwrap();
        assert_eq!((reversed.cql_type, reversed.is_descending), ("bigint", true));
    }

    #[test]
    fn other_names_are_bytes_that_sort_and_come_back() {
        let name = Bytes::from_static(b"\0\x01a\0\0\x08\0\0\0\0\0\0\0\x05\0");
        let form = form("CompositeType(UTF8Type,LongType)").unwrap();
        assert_eq!(form.cql_type, "blob");
        let kept = form.encode(&name);
        assert_ne!(kept, name);
        assert_eq!(form.decode(kept).unwrap(), name);
        let smallest = Bytes::from(vec![0x80; 16]);
        let largest = Bytes::from(vec![0x7f; 16]);
        let lexical = super::NameForm::of(&Types::builtin().parse("LexicalUUIDType").unwrap()).unwrap();
        assert!(lexical.encode(&smallest) < lexical.encode(&largest));
    }

    #[test]
    fn what_does_not_come_back_is_refused() {
        for class in ["DynamicCompositeType(a=>UTF8Type)", "CompositeType(DecimalType,UTF8Type)"] {
            assert!(matches!(form(class), Err(StoreError::Mismatch(_))), "{class}");
        }
    }

    #[test]
    fn values_have_types_that_names_have_not() {
        let of = |class: &str| value_type(&Types::builtin().parse(class).unwrap());
        assert_eq!(of("DateType"), "timestamp");
        assert_eq!(of("CounterColumnType"), "counter");
        assert_eq!(of("CompositeType(UTF8Type,UTF8Type)"), "blob");
    }
}
