//! Names composed of several values, each of which specifies its type.
//!
//! ```text
//!   component   header | u16 length | value | end-of-component
//!   header      80 | alias                or    u16 length | the type's text
//! ```

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::abstract_type::component_of;
use super::composite_type::{NameComponent, end_rank, next_component, split_name, take};
use super::unchecked::empty_first;
use super::views::{self, push_escaped};
use super::{AbstractType, BytesType, MarshalError, PACKAGE, StoredOrder, TypeRef, Types, at};
use crate::util::Release;

/// The types that a header may specify.
static TYPES: LazyLock<Types> = LazyLock::new(Types::builtin);

/// `DynamicCompositeType(a=>A,b=>B,...)`: compared component by component. Components of different types sort by the
/// names of their types.
#[derive(Debug)]
pub struct DynamicCompositeType {
    class_name: String,
    aliases: BTreeMap<u8, TypeRef>,
    release: Option<Release>,
    views: Vec<DynamicCompositeType>,
}

impl DynamicCompositeType {
    /// Returns the comparator of names whose components specify their types by one of these aliases or by a class name.
    pub fn new(aliases: BTreeMap<u8, TypeRef>) -> DynamicCompositeType {
        let mut listed = Vec::new();
        for (alias, of) in &aliases {
            listed.push(format!("{}=>{}", char::from(*alias), of.class_name()));
        }
        let class_name = format!("{PACKAGE}DynamicCompositeType({})", listed.join(","));
        let views = views::each(|release| DynamicCompositeType {
            class_name: class_name.clone(),
            aliases: aliases.clone(),
            release: Some(release),
            views: Vec::new(),
        });
        DynamicCompositeType { class_name, aliases, release: None, views }
    }

    /// Removes a header from the beginning of the name and returns the type that it specifies.
    fn header(&self, name: &mut &[u8], position: usize) -> Result<TypeRef, MarshalError> {
        let fail = |text: &str| Err(MarshalError(format!("{text} component {position}")));
        let Some((header, rest)) = name.split_first_chunk::<2>() else {
            return fail("Not enough bytes to header of the comparator part of");
        };
        let header = u16::from_be_bytes(*header);
        if header & 0x8000 != 0 {
            *name = rest;
            let alias = (header & 0xFF) as u8;
            return match self.aliases.get(&alias) {
                Some(of) => Ok(reversed_component(of.clone())),
                None => fail("Cannot find comparator for"),
            };
        }
        let Some((text, rest)) = rest.split_at_checked(usize::from(header)) else {
            return fail("Not enough bytes to read comparator name of");
        };
        *name = rest;
        let found = std::str::from_utf8(text).ok().and_then(type_in_header);
        found.map(reversed_component).map_or_else(|| fail("Cannot find comparator for"), Ok)
    }

    /// Removes one component with its header. Returns `None` at the end of the name and if the rest is not a component.
    fn take<'a>(&self, name: &mut &'a [u8]) -> Option<(TypeRef, NameComponent<'a>)> {
        let mut rest = *name;
        let of = self.header(&mut rest, 0).ok()?;
        let component = take(&mut rest)?.ok()?;
        *name = rest;
        Some((of, component))
    }

    fn view<'a>(&self, of: &'a TypeRef) -> &'a dyn AbstractType {
        match self.release {
            Some(release) => at(&**of, release),
            None => &**of,
        }
    }
}

/// Returns the type that a header specifies by its class. Types whose names specify types themselves are refused,
/// because names could be nested without limit.
fn type_in_header(text: &str) -> Option<TypeRef> {
    TYPES.resolve(text).filter(|of| !of.class_name().contains("DynamicCompositeType"))
}

/// Returns the type for use as a component: under a `ReversedType` an empty component sorts last. Other types keep the
/// stored order that they have for whole names.
fn reversed_component(of: TypeRef) -> TypeRef {
    if simple_name(of.class_name()) == "ReversedType" { component_of(of) } else { of }
}

/// Returns a class name without its package.
fn simple_name(class_name: &str) -> &str {
    let class = class_name.split('(').next().unwrap_or(class_name);
    class.rsplit('.').next().unwrap_or(class)
}

/// Compares the types of two components: by simple class name, then by full class name.
fn compare_classes(left: &TypeRef, right: &TypeRef) -> Ordering {
    let (left, right) = (left.class_name(), right.class_name());
    simple_name(left).cmp(simple_name(right)).then_with(|| left.cmp(right))
}

impl AbstractType for DynamicCompositeType {
    fn class_name(&self) -> &str {
        &self.class_name
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        let mut rest = value;
        let mut position = 0;
        while !rest.is_empty() {
            let of = self.header(&mut rest, position)?;
            let component = next_component(&mut rest, position)?;
            self.view(&of).validate(component.value)?;
            if component.end != 0 && !rest.is_empty() {
                return Err(MarshalError(format!(
                    "Invalid bytes remaining after an end-of-component at component{position}"
                )));
            }
            position += 1;
        }
        Ok(())
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        let (mut left, mut right) = (left, right);
        loop {
            let (a, b) = match (self.take(&mut left), self.take(&mut right)) {
                (Some(a), Some(b)) => (a, b),
                (None, None) => return left.cmp(right),
                // The end of a name sorts first, and an invalid component last.
                (Some(_), None) => return if right.is_empty() { Ordering::Greater } else { Ordering::Less },
                (None, Some(_)) => return if left.is_empty() { Ordering::Less } else { Ordering::Greater },
            };
            let order = compare_classes(&a.0, &b.0)
                .then_with(|| self.view(&a.0).compare(a.1.value, b.1.value))
                .then_with(|| end_rank(a.1.end).cmp(&end_rank(b.1.end)));
            if order.is_ne() {
                return order;
            }
        }
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        if let Some(order) = empty_first(left, right) {
            return Ok(order);
        }
        let (mut left, mut right) = (left, right);
        let mut at = 0;
        while !left.is_empty() && !right.is_empty() {
            let (of_a, of_b) = (self.header(&mut left, at)?, self.header(&mut right, at)?);
            let (a, b) = (next_component(&mut left, at)?, next_component(&mut right, at)?);
            let order = match compare_classes(&of_a, &of_b) {
                Ordering::Equal => self.view(&of_a).compare_unchecked(a.value, b.value)?,
                order => order,
            };
            let order = order.then_with(|| end_rank(a.end).cmp(&end_rank(b.end)));
            if order.is_ne() {
                return Ok(order);
            }
            at += 1;
        }
        Ok(left.is_empty().cmp(&right.is_empty()).reverse())
    }

    /// Appends for each component the names of its type, its ordered bytes, and the rank of its end-of-component byte.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        let mut rest = name;
        let mut ordered = Vec::new();
        while let Some((of, component)) = self.take(&mut rest) {
            out.push(1);
            push_escaped(simple_name(of.class_name()).as_bytes(), out);
            push_escaped(of.class_name().as_bytes(), out);
            ordered.clear();
            of.ordered(component.value, &mut ordered);
            push_escaped(&ordered, out);
            out.push(end_rank(component.end));
        }
        if !rest.is_empty() {
            out.push(2);
            out.extend_from_slice(rest);
        }
    }

    /// The stored form does not contain whether the header had an alias or a class name, so the store keeps the name.
    fn restore(&self, _ordered: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// The order is exact unless the release orders one of the types differently from how it is stored. Without aliases
    /// a header can specify any type, so all types are checked.
    fn stored_order(&self) -> StoredOrder {
        let is_known = self.aliases.values().all(|of| self.view(of).stored_order() == StoredOrder::Exact);
        let has_own_orders = self.release.is_some_and(|release| {
            TYPES
                .class_names()
                .filter_map(|name| TYPES.resolve(name))
                .any(|of| at(&*of, release).stored_order() != StoredOrder::Exact)
        });
        if is_known && !has_own_orders { StoredOrder::Exact } else { StoredOrder::WithinPrefix(0) }
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        self.views.get(release as usize).map(|view| view as &dyn AbstractType)
    }

    /// Writes components as `Type@value` or `alias@value`, separated by colons.
    fn to_text(&self, value: &[u8]) -> String {
        let mut parts = Vec::new();
        let mut rest = value;
        let mut is_after = false;
        while let Some((of, component)) = self.take(&mut rest) {
            let alias = self.aliases.iter().find(|(_, other)| other.class_name() == of.class_name());
            let label = match alias {
                Some((alias, _)) => char::from(*alias).to_string(),
                None => of.class_name().trim_start_matches(PACKAGE).to_owned(),
            };
            parts.push(format!("{label}@{}", self.view(&of).to_text(component.value)).replace(':', "\\:"));
            is_after = component.end.cast_signed() > 0;
        }
        if !rest.is_empty() {
            return BytesType.to_text(value);
        }
        if is_after {
            parts.push("!".to_owned());
        }
        parts.join(":")
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        let mut name = Vec::new();
        let (parts, is_after) = split_name(text);
        let last = parts.len();
        for (position, part) in parts.iter().enumerate() {
            let unreadable = || MarshalError(format!("Invalid comparator in '{part}'"));
            let (label, value) = part.split_once('@').ok_or_else(unreadable)?;
            let alias = match label.as_bytes() {
                [alias] => self.aliases.get(alias).map(|of| (*alias, of.clone())),
                _ => None,
            };
            let of = match alias {
                Some((alias, of)) => {
                    name.extend_from_slice(&[0x80, alias]);
                    of
                }
                None => {
                    let of = type_in_header(label).ok_or_else(unreadable)?;
                    let length = u16::try_from(label.len()).map_err(|_| unreadable())?;
                    name.extend_from_slice(&length.to_be_bytes());
                    name.extend_from_slice(label.as_bytes());
                    of
                }
            };
            let end = u8::from(is_after && position + 1 == last);
            super::composite_type::push_component(&self.view(&of).parse_text(value)?, end, &mut name);
        }
        Ok(name)
    }
}
