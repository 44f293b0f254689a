//! The values of another type in reverse order.
//!
//! An empty whole name sorts first, as under every comparator, because it is the open end of a slice. An empty
//! component of a composite name is an ordinary value: it is the smallest of its type, so it sorts last, as in
//! Cassandra 2.1. From 0.8 to 2.0 an empty component sorted first; this is not copied, because all releases share the
//! stored order.

use std::cmp::Ordering;
use std::sync::Arc;

use super::unchecked::empty_first;
use super::views::{self, Inner, push_escaped, read_escaped};
use super::{AbstractType, MarshalError, PACKAGE, StoredOrder, TypeRef};
use crate::util::Release;

/// `ReversedType(T)`: the reverse order of T.
#[derive(Debug)]
pub struct ReversedType {
    class_name: String,
    inner: Inner,
    /// Whether the type orders components of names instead of whole names.
    is_component: bool,
    views: Vec<ReversedType>,
}

impl ReversedType {
    /// Returns the comparator of the same names in the opposite order.
    pub fn new(inner: TypeRef) -> ReversedType {
        let class_name = format!("{PACKAGE}ReversedType({})", inner.class_name());
        ReversedType::with_views(class_name, Inner::new(inner), false)
    }

    fn with_views(class_name: String, inner: Inner, is_component: bool) -> ReversedType {
        let views = views::each(|release| ReversedType {
            class_name: class_name.clone(),
            inner: inner.at(release),
            is_component,
            views: Vec::new(),
        });
        ReversedType { class_name, inner, is_component, views }
    }

    /// Compares two whole names if at least one is empty; `None` for others and for components.
    fn empty_name_first(&self, left: &[u8], right: &[u8]) -> Option<Ordering> {
        if self.is_component { None } else { empty_first(left, right) }
    }
}

impl AbstractType for ReversedType {
    fn class_name(&self) -> &str {
        &self.class_name
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        self.inner.view().validate(value)
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        self.empty_name_first(left, right).unwrap_or_else(|| self.inner.view().compare(right, left))
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        match self.empty_name_first(left, right) {
            Some(order) => Ok(order),
            None => self.inner.view().compare_unchecked(right, left),
        }
    }

    /// Appends the inner type's bytes, escaped so that none is a prefix of another, and inverted.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        if name.is_empty() && !self.is_component {
            return;
        }
        let mut ordered = Vec::with_capacity(name.len() + 9);
        self.inner.of.ordered(name, &mut ordered);
        let from = out.len();
        push_escaped(&ordered, out);
        out.iter_mut().skip(from).for_each(|byte| *byte = !*byte);
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        if ordered.is_empty() && !self.is_component {
            return Some(Vec::new());
        }
        let turned: Vec<u8> = ordered.iter().map(|byte| !byte).collect();
        let (inner, rest) = read_escaped(&turned)?;
        if rest.is_empty() { self.inner.of.restore(&inner) } else { None }
    }

    fn stored_order(&self) -> StoredOrder {
        views::stored_order([&self.inner])
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        self.views.get(release as usize).map(|view| view as &dyn AbstractType)
    }

    fn as_component(&self) -> Option<TypeRef> {
        (!self.is_component).then(|| {
            Arc::new(ReversedType::with_views(self.class_name.clone(), self.inner.clone(), true)) as TypeRef
        })
    }

    fn to_text(&self, value: &[u8]) -> String {
        self.inner.view().to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        self.inner.view().parse_text(text)
    }
}
