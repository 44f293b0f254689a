//! Collections whose whole value is one cell. Collections with a cell for each element use the same class names.

use std::cmp::Ordering;

use super::parts::{self, Part, Restored};
use super::views::{self, Inner};
use super::{AbstractType, BytesType, MarshalError, PACKAGE, StoredOrder, TypeRef};
use crate::util::Release;

/// The kind of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum CollectionKind {
    /// Elements in the order of the statement; each cell is named by a time UUID.
    List,
    /// Distinct elements, sorted by their type.
    Set,
    /// Pairs of a key and a value with distinct keys, sorted by the type of the keys.
    Map,
}

/// `ListType(T)`, `SetType(T)`, `MapType(K,V)`, and the same inside a `FrozenType`. Values are compared element by
/// element, maps by key, then by value.
#[derive(Debug)]
pub struct CollectionType {
    class_name: String,
    kind: CollectionKind,
    /// The type of the elements; for a map the types of its keys and its values.
    held: Vec<Inner>,
    views: Vec<CollectionType>,
}

impl CollectionType {
    /// Returns the type of collections of a kind. `held` has one type, or two for a map: keys and values.
    pub fn new(kind: CollectionKind, held: &[TypeRef], is_frozen: bool) -> CollectionType {
        let parameters = if kind == CollectionKind::Map { 2 } else { 1 };
        assert!(held.len() == parameters, "a {kind} has {} types of elements", held.len());
        let names: Vec<&str> = held.iter().map(|held| held.class_name()).collect();
        let plain = format!("{PACKAGE}{kind}Type({})", names.join(","));
        let class_name = if is_frozen { format!("{PACKAGE}FrozenType({plain})") } else { plain };
        let held: Vec<Inner> = held.iter().cloned().map(Inner::new).collect();
        let views = views::each(|release| CollectionType {
            class_name: class_name.clone(),
            kind,
            held: held.iter().map(|held| held.at(release)).collect(),
            views: Vec::new(),
        });
        CollectionType { class_name, kind, held, views }
    }

    fn per_entry(&self) -> usize {
        self.held.len().max(1)
    }

    fn parts<'a>(&self, value: &'a [u8]) -> Option<Vec<Part<'a>>> {
        parts::of_collection(value, self.per_entry())
    }

    /// Returns the type of the part at a position. In maps, keys and values alternate.
    fn held_at(&self, at: usize) -> Option<&Inner> {
        self.held.get(at % self.per_entry())
    }
}

impl AbstractType for CollectionType {
    fn class_name(&self) -> &str {
        &self.class_name
    }

    /// Accepts empty bytes, which are open bounds of slices.
    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        if value.is_empty() {
            return Ok(());
        }
        let Some(parts) = self.parts(value) else {
            return Err(MarshalError(format!(
                "Not enough bytes to read a {}",
                self.kind.to_string().to_lowercase()
            )));
        };
        for (at, part) in parts.into_iter().enumerate() {
            if let (Some(held), Some(part)) = (self.held_at(at), part) {
                held.view().validate(part)?;
            }
        }
        Ok(())
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        parts::compare(left, self.parts(left), right, self.parts(right), |at| self.held_at(at))
    }

    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        parts::ordered(name, self.parts(name), |at| self.held_at(at), out);
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        let found = match parts::restore(ordered, |at| self.held_at(at))? {
            Restored::Whole(value) => return Some(value),
            Restored::Parts(found) => found,
        };
        let count = i32::try_from(found.len() / self.per_entry()).ok()?;
        let mut value = count.to_be_bytes().to_vec();
        found.iter().for_each(|part| parts::push_part(part.as_deref(), &mut value));
        Some(value)
    }

    fn stored_order(&self) -> StoredOrder {
        views::stored_order(&self.held)
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        self.views.get(release as usize).map(|view| view as &dyn AbstractType)
    }

    /// Formats the value in hex, as the old servers' tools do.
    fn to_text(&self, value: &[u8]) -> String {
        BytesType.to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        let value = BytesType.parse_text(text)?;
        self.validate(&value)?;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Types;

    fn class(text: &str) -> TypeRef {
        Types::builtin().resolve(text).unwrap()
    }

    fn ints(numbers: &[i32]) -> Vec<u8> {
        let mut value = (numbers.len() as i32).to_be_bytes().to_vec();
        numbers.iter().for_each(|number| parts::push_part(Some(&number.to_be_bytes()), &mut value));
        value
    }

    #[test]
    fn lists_sort_by_their_elements() {
        let list = class("FrozenType(ListType(Int32Type))");
        let sorted = [Vec::new(), ints(&[]), ints(&[-1, 5]), ints(&[1]), ints(&[1, -7]), ints(&[2]), vec![9]];
        assert!(sorted.is_sorted_by(|a, b| list.compare(a, b).is_lt()));
        assert_eq!(list.stored_order(), StoredOrder::Exact);
        assert_eq!(ints(&[1, 2])[..8], [0, 0, 0, 2, 0, 0, 0, 4]);
    }

    #[test]
    fn each_element_is_validated() {
        let list = class("ListType(Int32Type)");
        assert_eq!(list.validate(&ints(&[1, 2])), Ok(()));
        assert_eq!(list.validate(&[0, 0, 0, 1]).unwrap_err().0, "Not enough bytes to read a list");
        let short = [0, 0, 0, 1, 0, 0, 0, 1, 7];
        assert_eq!(list.validate(&short).unwrap_err().0, "Expected 4 or 0 byte int (1)");
    }
}
