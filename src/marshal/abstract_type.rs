//! The comparator trait. Each implementation is a file of its own; a user's crate may add more.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

use crate::util::Release;

/// A shared comparator, as schemas hold it.
pub type TypeRef = Arc<dyn AbstractType>;

/// The error of bytes that are not a valid value of a type, with the old server's message for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MarshalError(pub String);

/// How far the memcmp order of [`AbstractType::ordered`] agrees with the comparator's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredOrder {
    /// Everywhere: equal bytes are equal names, smaller bytes smaller names.
    Exact,
    /// Only the first bytes, of this number, agree: names that share them are sorted in memory, where names that
    /// compare equal are merged. `WithinPrefix(0)` means that a whole row is sorted in memory.
    WithinPrefix(usize),
}

/// Validates, orders and formats the names of a column family.
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

    /// Checks whether the bytes are a valid value of the type. Empty bytes are checked too, as slice bounds.
    fn validate(&self, value: &[u8]) -> Result<(), MarshalError>;

    /// Compares two valid names. Names that compare equal are one cell.
    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering;

    /// Compares unvalidated bytes with a name, as 2.0 and later do; fails on bytes that are too short. By default
    /// only valid values are accepted, and compared as by `compare`.
    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        self.validate(left)?;
        self.validate(right)?;
        Ok(self.compare(left, right))
    }

    /// Converts an unvalidated bound as 2.1 does before it compares it with names; fails if it cannot. By default the
    /// bound is returned unchanged.
    fn read_unchecked(&self, bound: &[u8]) -> Result<Vec<u8>, MarshalError> {
        Ok(bound.to_vec())
    }

    /// Appends the bytes by which the store sorts the name. By default these are the name itself.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(name);
    }

    /// Returns the name from which `ordered` made these bytes; `None` if they do not determine it and the store must
    /// keep the name beside them.
    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        Some(ordered.to_vec())
    }

    /// Returns whether `restore` is a plain copy, so that the store need not call it.
    fn ordered_is_name(&self) -> bool {
        false
    }

    /// Returns how far the order of `ordered` can be used. By default not at all: rows are sorted in memory by
    /// `compare`.
    fn stored_order(&self) -> StoredOrder {
        StoredOrder::WithinPrefix(0)
    }

    /// Returns the view of the type in a release that validates or orders it differently. `ordered` and `restore` are
    /// always called on the type itself, never on such a view, so that all releases can share one store.
    fn at_release(&self, _release: Release) -> Option<&dyn AbstractType> {
        None
    }

    /// Returns the type of a composite name's next component if the value of this one determines it; `None`: this
    /// type.
    fn after(&self, _previous: &[u8]) -> Option<&TypeRef> {
        None
    }

    /// Returns the form of the type inside types that hold other types, such as `CompositeType` and `ReversedType`.
    /// These came with 0.8: a type whose stored order is that of an older release returns here a type with the stored
    /// order of 0.8 and later. By default the type itself is used.
    fn as_component(&self) -> Option<TypeRef> {
        None
    }

    /// Returns the text form that tools show.
    fn to_text(&self, value: &[u8]) -> String;

    /// Reads the text form.
    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError>;
}

/// Returns the view of a type in a release.
pub fn at(comparator: &dyn AbstractType, release: Release) -> &dyn AbstractType {
    comparator.at_release(release).unwrap_or(comparator)
}

/// Returns the form of a type inside types that hold other types.
pub(super) fn component_of(held: TypeRef) -> TypeRef {
    held.as_component().unwrap_or(held)
}
