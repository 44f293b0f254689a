//! Types inside other types, and their views in a release.

use std::sync::Arc;

use super::abstract_type::component_of;
use super::{AbstractType, StoredOrder, TypeRef, at};
use crate::util::Release;

/// Declares the views of a comparator that releases validate or order differently: one for each release that changed it.
/// The default is the form of the type in the store, whose order and stored form never change.
macro_rules! views {
    ($type:ident, stored as $stored:ident, changed in $($since:ident)+) => {
        static VIEWS: &[$type] = &[$($type { since: Release::$since }),+];

        impl Default for $type {
            fn default() -> $type {
                $type { since: Release::$stored }
            }
        }
    };
}
pub(super) use views;

/// A type inside another type. With a release, its methods use the view of the type in that release.
#[derive(Debug, Clone)]
pub(super) struct Inner {
    pub of: TypeRef,
    release: Option<Release>,
}

impl Inner {
    pub(super) fn new(of: TypeRef) -> Inner {
        Inner { of: component_of(of), release: None }
    }

    /// Returns the inner type with its view in a release.
    pub(super) fn at(&self, release: Release) -> Inner {
        Inner { of: Arc::clone(&self.of), release: Some(release) }
    }

    /// Returns the type of a component whose preceding component has this value.
    pub(super) fn of_after(&self, previous: &[u8]) -> &TypeRef {
        self.of.after(previous).unwrap_or(&self.of)
    }

    /// Returns the view of the type of a component whose preceding component has this value.
    pub(super) fn view_after(&self, previous: &[u8]) -> &dyn AbstractType {
        let of = self.of_after(previous);
        match self.release {
            Some(release) => at(&**of, release),
            None => &**of,
        }
    }

    pub(super) fn view(&self) -> &dyn AbstractType {
        match self.release {
            Some(release) => at(&*self.of, release),
            None => &*self.of,
        }
    }
}

/// Returns the stored order of a value with these parts: it cannot be used unless each part's order is exact.
pub(super) fn stored_order<'a>(parts: impl IntoIterator<Item = &'a Inner>) -> StoredOrder {
    let is_exact = parts.into_iter().all(|part| part.view().stored_order() == StoredOrder::Exact);
    if is_exact { StoredOrder::Exact } else { StoredOrder::WithinPrefix(0) }
}

/// Returns the result of a function for each release, in the order of `Release`.
pub(super) fn each<T>(make: impl Fn(Release) -> T) -> Vec<T> {
    Release::ALL.into_iter().map(make).collect()
}

/// Appends bytes with a terminator, in an encoding that keeps their order: 00 becomes 00 FF, and 00 00 ends the bytes.
pub(super) fn push_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Decodes escaped bytes. Returns them and the bytes after their terminator.
pub(super) fn read_escaped(mut bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut out = Vec::new();
    loop {
        match bytes {
            [0, 0, rest @ ..] => return Some((out, rest)),
            [0, 0xFF, rest @ ..] => {
                out.push(0);
                bytes = rest;
            }
            [0, ..] | [] => return None,
            [byte, rest @ ..] => {
                out.push(*byte);
                bytes = rest;
            }
        }
    }
}
