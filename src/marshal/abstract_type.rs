//! The comparator trait. One implementation a file; a user's own crate may add more.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

use crate::util::Release;

/// A shared comparator, as schemas hold it.
pub type TypeRef = Arc<dyn AbstractType>;

/// Why bytes are no value of a type: the text that the old server gives its client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MarshalError(pub String);

/// How far memcmp order of [`AbstractType::ordered`] is the comparator's own order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredOrder {
    /// Everywhere: equal bytes are equal names, smaller bytes smaller names.
    Exact,
    /// Only the first so many bytes are: names that share them are put in order, and those that compare equal
    /// made one, in memory. `WithinPrefix(0)` means that a whole row is sorted in memory.
    WithinPrefix(usize),
}

/// Validates, orders and shows the names of a column family.
///
/// Laws: `compare` is a total order in which the empty name is smallest; bytes of `ordered` have the order that
/// `stored_order` promises; different bytes that compare different have different `ordered`; `restore` undoes
/// `ordered` where it answers at all.
///
/// The Java class name is stored with the data and checked when it is opened again: give a comparator another
/// name when its order changes.
pub trait AbstractType: Debug + Send + Sync {
    /// The full Java class name that schemas use, as `org.apache.cassandra.db.marshal.BytesType`.
    fn class_name(&self) -> &str;

    /// Whether these bytes are a value of the type. Empty bytes are asked about as slice bounds.
    fn validate(&self, value: &[u8]) -> Result<(), MarshalError>;

    /// The order of two valid names. Names that compare equal are one cell.
    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering;

    /// How 2.0 and later compare bytes of which nothing has been checked with a name; they fail on what is too short
    /// for them. Values are compared as by `compare`, and by default nothing else is.
    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        self.validate(left)?;
        self.validate(right)?;
        Ok(self.compare(left, right))
    }

    /// What 2.1 makes of a bound of which nothing has been checked, before it compares it with names, and why it
    /// cannot. By default it takes the bound as it is.
    fn read_unchecked(&self, bound: &[u8]) -> Result<Vec<u8>, MarshalError> {
        Ok(bound.to_vec())
    }

    /// Appends bytes by which the store sorts the name. By default the name itself.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(name);
    }

    /// The name that `ordered` made these bytes of; `None` when they do not tell and the store must keep the
    /// name beside them.
    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        Some(ordered.to_vec())
    }

    /// Whether `restore` is a plain copy, so that the store need not call it.
    fn ordered_is_name(&self) -> bool {
        false
    }

    /// What the order of `ordered` is worth. By default nothing: rows are sorted in memory by `compare`.
    fn stored_order(&self) -> StoredOrder {
        StoredOrder::WithinPrefix(0)
    }

    /// The same type as another release validates and orders it, where that differs. `ordered` and `restore`
    /// are always asked of the type itself, never of such a view, so that all releases can share one store.
    fn at_release(&self, _release: Release) -> Option<&dyn AbstractType> {
        None
    }

    /// The type of a composite name's component after one of this value, where that tells it; `None`: this type.
    fn after(&self, _previous: &[u8]) -> Option<&TypeRef> {
        None
    }

    /// The type as those that hold other types hold it, `CompositeType` and `ReversedType` among them. They came
    /// with 0.8: a type whose stored order is that of an older release gives one here whose stored order is that of
    /// 0.8 and later. By default the type itself.
    fn as_component(&self) -> Option<TypeRef> {
        None
    }

    /// The text form that tools show.
    fn to_text(&self, value: &[u8]) -> String;

    /// Reads the text form.
    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError>;
}

/// The type as `release` sees it.
pub fn at(comparator: &dyn AbstractType, release: Release) -> &dyn AbstractType {
    comparator.at_release(release).unwrap_or(comparator)
}

/// The type as those that hold other types hold it.
pub(super) fn component_of(held: TypeRef) -> TypeRef {
    held.as_component().unwrap_or(held)
}
