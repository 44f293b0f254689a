//! The comparator trait. Each implementation has its own file; an application's crate can add more.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

use crate::util::Release;

/// A comparator shared by schemas and composed types.
pub type TypeRef = Arc<dyn AbstractType>;

/// The error for bytes that are not a valid value of a type, with the old servers' message for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MarshalError(pub String);

/// The agreement between the memcmp order of [`AbstractType::ordered`] and the comparator's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredOrder {
    /// Completely: equal bytes are equal names, and smaller bytes are smaller names.
    Exact,
    /// Only the first bytes agree, as many as this number. Names that share these bytes are sorted in memory, where
    /// names that compare equal are merged. `WithinPrefix(0)` means that whole rows are sorted in memory.
    WithinPrefix(usize),
}

/// Validates, orders and formats the names of a column family.
///
/// Laws: `compare` is a total order in which the empty name is smallest. Bytes of `ordered` have the order that
/// `stored_order` promises. Names that compare different have different `ordered` bytes. Where `restore` returns a
/// name, it is the one that `ordered` was called with.
///
/// The Java class name is stored with the data and compared when the data is opened again. If the order of a comparator
/// changes, give it another name.
pub trait AbstractType: Debug + Send + Sync {
    /// Returns the full Java class name, such as `org.apache.cassandra.db.marshal.BytesType`.
    fn class_name(&self) -> &str;

    /// Checks whether the bytes are a valid value of the type. It is called for empty bytes too, which are open bounds
    /// of slices.
    fn validate(&self, value: &[u8]) -> Result<(), MarshalError>;

    /// Compares two valid names. Cells of a row whose names compare equal are the same cell.
    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering;

    /// Compares unvalidated bytes with a name, as 2.0 and later do. By default both must be valid, and are compared
    /// with `compare`.
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

    /// Appends the bytes by which the store sorts the name. By default this is the name itself.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(name);
    }

    /// Returns the name that `ordered` was called with; `None` if the bytes do not determine it, so that the store must
    /// keep the name beside them.
    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        Some(ordered.to_vec())
    }

    /// Returns whether `restore` is a plain copy, so that the store need not call it.
    fn ordered_is_name(&self) -> bool {
        false
    }

    /// Returns how far the order of `ordered` can be used. By default it cannot be used: rows are sorted in memory with
    /// `compare`.
    fn stored_order(&self) -> StoredOrder {
        StoredOrder::WithinPrefix(0)
    }

    /// Returns the view of the type in a release that validates or orders it differently; `None` if the release has no
    /// such view. `ordered` and `restore` are always called on the type itself, never on a view, so that all releases
    /// can share one store.
    fn at_release(&self, _release: Release) -> Option<&dyn AbstractType> {
        None
    }

    /// Returns the type of a component whose preceding component has this value, if it depends on that value; `None`
    /// means this type.
    fn after(&self, _previous: &[u8]) -> Option<&TypeRef> {
        None
    }

    /// Returns the type to use for components, inside types such as `CompositeType` and `ReversedType`. These came with
    /// 0.8: a type with the stored order of an older release returns a type with the stored order of 0.8 and later.
    /// `None` means the type itself.
    fn as_component(&self) -> Option<TypeRef> {
        None
    }

    /// Formats a value as text, as tools show it.
    fn to_text(&self, value: &[u8]) -> String;

    /// Parses the text form of a value.
    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError>;
}

/// Returns the view of a type in a release, or the type itself if it has no view of its own.
pub fn at(comparator: &dyn AbstractType, release: Release) -> &dyn AbstractType {
    comparator.at_release(release).unwrap_or(comparator)
}

/// Returns the type to use for components, see `AbstractType::as_component`.
pub(super) fn component_of(held: TypeRef) -> TypeRef {
    held.as_component().unwrap_or(held)
}
