//! The storage of column names in a clustering column: as a CQL type of the same order, or as bytes that sort like the
//! comparator.

use bytes::Bytes;

use base::marshal::{PACKAGE, StoredOrder, TypeRef};
use base::util::hex;
use store::{Result, StoreError};

/// Comparators with the same order and the same equality of names as a CQL type of modern servers.
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

/// Further types for values, whose order does not matter.
const NATIVE_VALUES: &[(&str, &str)] =
    &[("CounterColumnType", "counter"), ("DateType", "timestamp"), ("LexicalUUIDType", "uuid")];

/// Returns the CQL type of a clustering column for a comparator's class.
fn native(class_name: &str) -> Option<&'static str> {
    let short = class_name.strip_prefix(PACKAGE).unwrap_or(class_name);
    NATIVE.iter().find(|(name, _)| *name == short).map(|(_, cql)| *cql)
}

/// Returns the CQL type of a key or a value, or `blob` if there is none.
pub(crate) fn value_type(validator: &TypeRef) -> &'static str {
    let class = validator.class_name();
    let short = class.strip_prefix(PACKAGE).unwrap_or(class);
    let other = NATIVE_VALUES.iter().find(|(name, _)| *name == short).map(|(_, cql)| *cql);
    native(class).or(other).unwrap_or("blob")
}

/// Returns the class name of a CQL type of a column: the inverse of [`value_type`].
pub(crate) fn class_of(cql_type: &str) -> String {
    let found = NATIVE.iter().chain(NATIVE_VALUES).find(|(_, cql)| *cql == cql_type);
    format!("{PACKAGE}{}", found.map_or("BytesType", |(name, _)| name))
}

/// The form in which the names of one comparator are stored in a clustering column.
#[derive(Debug, Clone)]
pub(crate) struct NameForm {
    /// The column's CQL type.
    pub cql_type: &'static str,
    /// Whether the comparator, and so the column, has the reverse order of the CQL type.
    pub is_descending: bool,
    /// The comparator that encodes names as bytes of the same order. `None` if names are stored unchanged.
    ordered: Option<TypeRef>,
}

impl NameForm {
    /// Returns how names of a comparator are stored.
    ///
    /// # Errors
    /// `Mismatch` if names cannot be encoded so that they sort like the comparator and can be decoded.
    pub(crate) fn of(comparator: &TypeRef) -> Result<NameForm> {
        let class = comparator.class_name();
        if let Some(cql_type) = native(class) {
            return Ok(NameForm { cql_type, is_descending: false, ordered: None });
        }
        let short = class.strip_prefix(PACKAGE).unwrap_or(class);
        let inner = short.strip_prefix("ReversedType(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(cql_type) = inner.and_then(native) {
            return Ok(NameForm { cql_type, is_descending: true, ordered: None });
        }
        if comparator.stored_order() != StoredOrder::Exact || !is_restorable(comparator) {
            return Err(StoreError::Mismatch(format!(
                "column names of {class} cannot be stored on a cluster: they cannot be encoded so that their bytes sort \
                 like the names and can be decoded; use another comparator"
            )));
        }
        Ok(NameForm { cql_type: "blob", is_descending: false, ordered: Some(comparator.clone()) })
    }

    /// Returns the class of the comparator if names are stored as bytes of its order, which only this server reads.
    pub(crate) fn encoded_class(&self) -> Option<&str> {
        self.ordered.as_ref().map(|comparator| comparator.class_name())
    }

    /// Returns the stored form of a name.
    pub(crate) fn encode(&self, name: &Bytes) -> Bytes {
        let Some(comparator) = &self.ordered else { return name.clone() };
        let mut ordered = Vec::with_capacity(name.len() + 8);
        comparator.ordered(name, &mut ordered);
        ordered.into()
    }

    /// Returns the name with a stored form.
    #[cfg_attr(not(feature = "driver"), allow(dead_code, reason = "only requests read names"))]
    pub(crate) fn decode(&self, kept: Bytes) -> Result<Bytes> {
        let Some(comparator) = &self.ordered else { return Ok(kept) };
        let name = comparator.restore(&kept).map(Bytes::from);
        name.ok_or_else(|| {
            StoreError::Corrupt(format!(
                "0x{} on the cluster is not a name of {}",
                hex(&kept),
                comparator.class_name()
            ))
        })
    }
}

/// Returns whether names can be decoded from their ordered bytes. Not so for a type that cannot do it for the empty
/// name, and for types in which different bytes can be equal numbers.
fn is_restorable(comparator: &TypeRef) -> bool {
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
    use base::marshal::Types;

    fn form(class: &str) -> Result<NameForm> {
        NameForm::of(&Types::builtin().parse(class).unwrap())
    }

    #[test]
    fn a_cql_type_of_the_same_order_is_used_if_there_is_one() {
        for (class, cql) in [("UTF8Type", "text"), ("LongType", "bigint"), ("TimeUUIDType", "timeuuid")] {
            let form = form(class).unwrap();
            assert_eq!((form.cql_type, form.is_descending), (cql, false));
            assert_eq!(form.encode(&Bytes::from_static(b"x")), "x");
        }
        let reversed = form("ReversedType(LongType)").unwrap();
        assert_eq!((reversed.cql_type, reversed.is_descending), ("bigint", true));
    }

    #[test]
    fn other_names_are_bytes_that_sort_and_can_be_decoded() {
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
    fn names_that_cannot_be_decoded_are_refused() {
        for class in ["DynamicCompositeType(a=>UTF8Type)", "CompositeType(DecimalType,UTF8Type)"] {
            assert!(matches!(form(class), Err(StoreError::Mismatch(_))), "{class}");
        }
    }

    #[test]
    fn values_have_types_that_names_do_not_have() {
        let of = |class: &str| value_type(&Types::builtin().parse(class).unwrap());
        assert_eq!(of("DateType"), "timestamp");
        assert_eq!(of("CounterColumnType"), "counter");
        assert_eq!(of("CompositeType(UTF8Type,UTF8Type)"), "blob");
    }
}
