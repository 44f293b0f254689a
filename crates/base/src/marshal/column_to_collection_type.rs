//! The last component of cell names in a CQL table with collections, or with user-defined types that are not frozen. It
//! is an element of a collection or the position of a field, and its type depends on the component before it, which is
//! the name of the column.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::views::{self, Inner};
use super::{AbstractType, BytesType, CqlType, MarshalError, PACKAGE, StoredOrder, TypeRef, Types};
use crate::util::{Release, hex};

/// `ColumnToCollectionType(hex:MapType(A,B),...)`: the type of each collection, by the name of its column in hex.
#[derive(Debug)]
pub struct ColumnToCollectionType {
    class_name: String,
    /// The type of the last component for each column: of a map's keys, a set's elements, a list's time UUIDs, the
    /// positions of fields.
    elements: BTreeMap<Vec<u8>, Inner>,
    views: Vec<ColumnToCollectionType>,
}

impl ColumnToCollectionType {
    /// Returns the type of the last component in a table with these collections, given as column name and type.
    pub fn new(collections: &[(Vec<u8>, CqlType)], types: &Types) -> ColumnToCollectionType {
        let mut elements = BTreeMap::new();
        for (name, cql_type) in collections {
            elements.insert(name.clone(), Inner::new(element_class(cql_type).type_ref(types)));
        }
        let class_name = class_name(collections);
        let views = views::each(|release| ColumnToCollectionType {
            class_name: class_name.clone(),
            elements: elements.iter().map(|(name, inner)| (name.clone(), inner.at(release))).collect(),
            views: Vec::new(),
        });
        ColumnToCollectionType { class_name, elements, views }
    }
}

/// Returns the type of the last component in the names of a collection's cells.
fn element_class(cql_type: &CqlType) -> CqlType {
    match cql_type {
        CqlType::Map { key, .. } => (**key).clone(),
        CqlType::Set { element, .. } => (**element).clone(),
        CqlType::User { .. } => CqlType::Native(super::Native::Smallint),
        _ => CqlType::Native(super::Native::Timeuuid),
    }
}

/// Returns the class name. The collections are in the order of a Java HashMap, as the old servers wrote them.
fn class_name(collections: &[(Vec<u8>, CqlType)]) -> String {
    let mut slots = 16u32;
    while collections.len() as u64 * 4 > u64::from(slots) * 3 {
        slots *= 2;
    }
    debug_assert!(slots.is_power_of_two(), "the slots of a Java HashMap are a power of two");
    let mut sorted: Vec<&(Vec<u8>, CqlType)> = collections.iter().collect();
    sorted.sort_by_key(|(name, _)| {
        let mut hash = 1i32;
        for byte in name.iter().rev() {
            hash = hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed()));
        }
        let hash = hash.cast_unsigned();
        ((hash ^ (hash >> 16)) & (slots - 1), name.clone())
    });
    let parts: Vec<String> = sorted
        .into_iter()
        .map(|(name, cql_type)| format!("{}:{}", hex(name), cql_type.class_name()))
        .collect();
    format!("{PACKAGE}ColumnToCollectionType({})", parts.join(","))
}

impl AbstractType for ColumnToCollectionType {
    fn class_name(&self) -> &str {
        &self.class_name
    }

    fn validate(&self, _value: &[u8]) -> Result<(), MarshalError> {
        Ok(())
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    fn after(&self, previous: &[u8]) -> Option<&TypeRef> {
        self.elements.get(previous).map(|inner| &inner.of)
    }

    fn stored_order(&self) -> StoredOrder {
        views::stored_order(self.elements.values())
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        self.views.get(release as usize).map(|view| view as &dyn AbstractType)
    }

    /// Formats the value in hex, whatever the element's type, as cassandra-cli does.
    fn to_text(&self, value: &[u8]) -> String {
        BytesType.to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        BytesType.parse_text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::{Native, push_component};

    fn class(text: &str) -> TypeRef {
        Types::builtin().resolve(text).unwrap()
    }

    #[test]
    fn the_class_name_has_collections_in_the_order_of_a_java_hash_map() {
        let text = |cql_type: Native| CqlType::Native(cql_type);
        let set = CqlType::Set { element: Box::new(text(Native::Text)), is_frozen: false };
        let list = CqlType::List { element: Box::new(text(Native::Int)), is_frozen: false };
        let collections = [(b"l".to_vec(), list), (b"s".to_vec(), set)];
        let made = ColumnToCollectionType::new(&collections, &Types::builtin());
        assert_eq!(
            made.class_name().replace(PACKAGE, ""),
            "ColumnToCollectionType(73:SetType(UTF8Type),6c:ListType(Int32Type))"
        );
        let read = class(&format!("CompositeType(UTF8Type,{})", made.class_name()));
        assert_eq!(
            read.class_name(),
            format!("{PACKAGE}CompositeType({PACKAGE}UTF8Type,{})", made.class_name())
        );
    }

    #[test]
    fn elements_sort_by_the_type_of_their_column_and_static_names_sort_first() {
        let comparator = class(
            "CompositeType(Int32Type,UTF8Type,ColumnToCollectionType(6d:MapType(UTF8Type,Int32Type),\
             73:SetType(Int32Type)))",
        );
        let name = |is_static: bool, parts: &[&[u8]]| {
            let mut name = if is_static { vec![0xFF, 0xFF] } else { Vec::new() };
            parts.iter().for_each(|part| push_component(part, 0, &mut name));
            name
        };
        let (one, minus) = (1i32.to_be_bytes(), (-1i32).to_be_bytes());
        let sorted = [
            Vec::new(),
            name(true, &[b"", b"s"]),
            name(true, &[b"", b"s", &minus]),
            name(false, &[&minus, b"a"]),
            name(false, &[&one, b""]),
            name(false, &[&one, b"m", b"x"]),
            name(false, &[&one, b"s", &minus]),
            name(false, &[&one, b"s", &one]),
            name(false, &[&one, b"z"]),
        ];
        assert_eq!(comparator.stored_order(), StoredOrder::Exact);
        let ordered = |name: &[u8]| {
            let mut out = Vec::new();
            comparator.ordered(name, &mut out);
            out
        };
        for pair in sorted.windows(2) {
            assert!(comparator.compare(&pair[0], &pair[1]).is_lt(), "{pair:?}");
            assert!(ordered(&pair[0]) < ordered(&pair[1]), "{pair:?}");
        }
        for name in &sorted {
            assert_eq!(comparator.restore(&ordered(name)).as_ref(), Some(name));
            comparator.validate(name).unwrap();
        }
        assert!(comparator.validate(&name(false, &[&one, b"s", b"abc"])).is_err());
        assert_eq!(comparator.to_text(&sorted[2]), "::s:ffffffff");
        assert_eq!(comparator.to_text(&sorted[5]), "1:m:78");
    }

    #[test]
    fn adding_a_collection_does_not_change_stored_names() {
        let plain = class("CompositeType(Int32Type,UTF8Type)");
        let more = class("CompositeType(Int32Type,UTF8Type,ColumnToCollectionType(73:SetType(Int32Type)))");
        let mut name = Vec::new();
        push_component(&7i32.to_be_bytes(), 0, &mut name);
        push_component(b"v", 0, &mut name);
        let ordered = |comparator: &TypeRef| {
            let mut out = Vec::new();
            comparator.ordered(&name, &mut out);
            out
        };
        assert_eq!(ordered(&plain), ordered(&more));
        assert_eq!(more.restore(&ordered(&plain)), Some(name.clone()));
    }
}
