//! Names composed of several values.
//!
//! ```text
//!   name        component component ...
//!   component   u16 length | value | end-of-component
//! ```
//!
//! The end-of-component byte is 0 in stored names. In the bounds of slices it specifies whether longer names with the
//! same components are included: a negative byte sorts before all of them, a positive one after.

use std::cmp::Ordering;

use super::unchecked::empty_first;
use super::views::{self, Inner, push_escaped, read_escaped};
use super::{AbstractType, BytesType, MarshalError, PACKAGE, StoredOrder, TypeRef};
use crate::util::Release;

/// `CompositeType(A,B,...)`: ordered by the first component, then by the next. A name sorts before longer names with
/// the same first components.
#[derive(Debug)]
pub struct CompositeType {
    class_name: String,
    components: Vec<Inner>,
    /// Whether names may be static, which 2.0 introduced.
    takes_static: bool,
    views: Vec<CompositeType>,
}

/// One component of a name.
pub(super) struct NameComponent<'a> {
    pub value: &'a [u8],
    pub end: u8,
}

/// The prefix of the names of static columns of a CQL table. Read as a length it would be 65535, which no component
/// has.
pub const STATIC_PREFIX: [u8; 2] = [0xFF, 0xFF];

/// Returns the components of a stored name; `None` if it does not consist of whole components.
pub fn components(name: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = name;
    let mut found = Vec::new();
    while let Some(component) = take(&mut rest) {
        found.push(component.ok()?.value);
    }
    Some(found)
}

/// Returns the component of a stored name at a position; `None` if there are fewer whole components.
pub fn component_at(name: &[u8], place: usize) -> Option<&[u8]> {
    let mut rest = name;
    for _ in 0..place {
        take(&mut rest)?.ok()?;
    }
    Some(take(&mut rest)?.ok()?.value)
}

/// Returns whether a name is static, and the name without the static prefix.
fn split_static(name: &[u8]) -> (bool, &[u8]) {
    match name.strip_prefix(&STATIC_PREFIX) {
        Some(rest) => (true, rest),
        None => (false, name),
    }
}

/// The error of a component that cannot be read.
pub(super) enum ComponentError {
    Length,
    Value,
    End,
}

/// Takes the first component off; `None` when nothing is left.
pub(super) fn take<'a>(name: &mut &'a [u8]) -> Option<Result<NameComponent<'a>, ComponentError>> {
    if name.is_empty() {
        return None;
    }
    let Some((length, rest)) = name.split_first_chunk::<2>() else {
        return Some(Err(ComponentError::Length));
    };
    let Some((value, rest)) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length))) else {
        return Some(Err(ComponentError::Value));
    };
    let Some((end, rest)) = rest.split_first() else { return Some(Err(ComponentError::End)) };
    *name = rest;
    Some(Ok(NameComponent { value, end: *end }))
}

impl ComponentError {
    /// Returns the old servers' message; the last one has no space before the number.
    pub(super) fn text(&self, at: usize) -> MarshalError {
        MarshalError(match self {
            ComponentError::Length => format!("Not enough bytes to read value size of component {at}"),
            ComponentError::Value => format!("Not enough bytes to read value of component {at}"),
            ComponentError::End => {
                format!("Not enough bytes to read the end-of-component byte of component{at}")
            }
        })
    }
}

/// Takes the component at a position off a name that must have one there.
pub(super) fn next_component<'a>(name: &mut &'a [u8], at: usize) -> Result<NameComponent<'a>, MarshalError> {
    take(name).unwrap_or(Err(ComponentError::Length)).map_err(|cut| cut.text(at))
}

/// Returns the rank of an end-of-component byte in the order: 1, 2 or 3.
pub(super) fn end_rank(end: u8) -> u8 {
    match end.cast_signed().cmp(&0) {
        Ordering::Less => 1,
        Ordering::Equal => 2,
        Ordering::Greater => 3,
    }
}

/// Returns the end-of-component byte that represents a rank.
pub(super) fn end_of_rank(rank: u8) -> u8 {
    match rank {
        1 => 0xFF,
        2 => 0,
        _ => 1,
    }
}

fn too_many() -> MarshalError {
    MarshalError("Too many bytes for comparator".to_owned())
}

/// Writes a component of a composite name. `end` is 0 in stored names; in bounds, FF sorts before and 01 after all
/// longer names with these components.
pub fn push_component(value: &[u8], end: u8, out: &mut Vec<u8>) {
    // Doubling would leave half of the memory of most names unused.
    out.reserve_exact(value.len() + 3);
    out.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(value);
    out.push(end);
}

impl CompositeType {
    /// Returns the comparator of names with these components, in this order.
    pub fn new(components: &[TypeRef]) -> CompositeType {
        let names: Vec<&str> = components.iter().map(|component| component.class_name()).collect();
        let class_name = format!("{PACKAGE}CompositeType({})", names.join(","));
        let components: Vec<Inner> = components.iter().cloned().map(Inner::new).collect();
        let views = views::each(|release| CompositeType {
            class_name: class_name.clone(),
            components: components.iter().map(|component| component.at(release)).collect(),
            takes_static: release >= Release::V2_0,
            views: Vec::new(),
        });
        CompositeType { class_name, components, takes_static: true, views }
    }

    fn static_part<'a>(&self, name: &'a [u8]) -> (bool, &'a [u8]) {
        if self.takes_static { split_static(name) } else { (false, name) }
    }
}

impl AbstractType for CompositeType {
    fn class_name(&self) -> &str {
        &self.class_name
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        let (_, mut rest) = self.static_part(value);
        let mut previous: &[u8] = &[];
        let mut at = 0;
        while let Some(component) = take(&mut rest) {
            let Some(inner) = self.components.get(at) else {
                return Err(too_many());
            };
            let inner = inner.view_after(previous);
            // The value is checked before the byte that ends it.
            let component = match component {
                Ok(component) => component,
                Err(cut @ ComponentError::End) => {
                    inner.validate(rest.get(2..).unwrap_or_default())?;
                    return Err(cut.text(at));
                }
                Err(cut) => return Err(cut.text(at)),
            };
            inner.validate(component.value)?;
            if component.end != 0 && !rest.is_empty() {
                return Err(MarshalError(format!(
                    "Invalid bytes remaining after an end-of-component at component{at}"
                )));
            }
            previous = component.value;
            at += 1;
        }
        Ok(())
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        let ((left_static, mut left), (right_static, mut right)) = (split_static(left), split_static(right));
        if left_static != right_static {
            // The empty name sorts before all others, then come static names.
            let rank = |is_static: bool, rest: &[u8]| (is_static, !rest.is_empty());
            return match (rank(left_static, left), rank(right_static, right)) {
                ((false, false), _) => Ordering::Less,
                (_, (false, false)) => Ordering::Greater,
                ((is_static, _), _) => {
                    if is_static {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    }
                }
            };
        }
        let mut previous: &[u8] = &[];
        for inner in &self.components {
            match (take(&mut left), take(&mut right)) {
                (Some(Ok(a)), Some(Ok(b))) => {
                    let order = inner.view_after(previous).compare(a.value, b.value);
                    let order = order.then_with(|| end_rank(a.end).cmp(&end_rank(b.end)));
                    if order.is_ne() {
                        return order;
                    }
                    previous = a.value;
                }
                // Invalid components sort after valid ones and after the end of a name.
                (a, b) => {
                    let rank = |taken: Option<Result<_, _>>| match taken {
                        None => 0,
                        Some(Ok(_)) => 1,
                        Some(Err(_)) => 2,
                    };
                    return rank(a.map(|a| a.map(drop)))
                        .cmp(&rank(b.map(|b| b.map(drop))))
                        .then_with(|| left.cmp(right));
                }
            }
        }
        left.cmp(right)
    }

    /// Compares component by component, as 2.0 and later do (`AbstractCompositeType.compare`).
    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        if let Some(order) = empty_first(left, right) {
            return Ok(order);
        }
        let ((left_static, mut left), (right_static, mut right)) = (split_static(left), split_static(right));
        if left_static != right_static {
            return Ok(right_static.cmp(&left_static));
        }
        let mut previous: &[u8] = &[];
        let mut at = 0;
        while !left.is_empty() && !right.is_empty() {
            let inner = self.components.get(at).ok_or_else(too_many)?;
            let (a, b) = (next_component(&mut left, at)?, next_component(&mut right, at)?);
            let order = inner.view_after(previous).compare_unchecked(a.value, b.value)?;
            let order = order.then_with(|| end_rank(a.end).cmp(&end_rank(b.end)));
            if order.is_ne() {
                return Ok(order);
            }
            previous = a.value;
            at += 1;
        }
        Ok(left.is_empty().cmp(&right.is_empty()).reverse())
    }

    /// Rewrites a bound as 2.1 does, which parses composites before it compares them
    /// (`AbstractCompoundCellNameType.fromByteBuffer`) and of the end-of-component bytes keeps only the last one.
    fn read_unchecked(&self, bound: &[u8]) -> Result<Vec<u8>, MarshalError> {
        let (is_static, mut rest) = self.static_part(bound);
        let mut read = if is_static { STATIC_PREFIX.to_vec() } else { Vec::with_capacity(bound.len()) };
        let mut left = self.components.len();
        while !rest.is_empty() {
            let component =
                next_component(&mut rest, 0).map_err(|_| MarshalError("Not enough bytes".to_owned()))?;
            left = left.checked_sub(1).ok_or_else(too_many)?;
            let end = if rest.is_empty() { component.end } else { 0 };
            push_component(component.value, end, &mut read);
        }
        Ok(read)
    }

    /// Appends the ordered bytes of each component, escaped, and the rank of its end-of-component byte. A static name
    /// begins with a 0.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        let (is_static, mut rest) = split_static(name);
        if is_static {
            out.push(0);
        }
        let mut previous: &[u8] = &[];
        let mut ordered = Vec::new();
        for inner in &self.components {
            match take(&mut rest) {
                Some(Ok(component)) => {
                    ordered.clear();
                    inner.of_after(previous).ordered(component.value, &mut ordered);
                    out.push(1);
                    push_escaped(&ordered, out);
                    out.push(end_rank(component.end));
                    previous = component.value;
                }
                None => return,
                Some(Err(_)) => {
                    out.push(2);
                    break;
                }
            }
        }
        out.extend_from_slice(rest);
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        let mut name = Vec::with_capacity(ordered.len());
        let mut rest = ordered;
        if let [0, after @ ..] = rest {
            name.extend_from_slice(&STATIC_PREFIX);
            rest = after;
        }
        let mut previous = Vec::new();
        for inner in &self.components {
            match rest.split_first() {
                Some((1, after)) => {
                    let (value, after) = read_escaped(after)?;
                    let (rank, after) = after.split_first()?;
                    let value = inner.of_after(&previous).restore(&value)?;
                    push_component(&value, end_of_rank(*rank), &mut name);
                    previous = value;
                    rest = after;
                }
                Some((_, after)) => {
                    rest = after;
                    break;
                }
                None => break,
            }
        }
        name.extend_from_slice(rest);
        Some(name)
    }

    fn stored_order(&self) -> StoredOrder {
        views::stored_order(&self.components)
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        self.views.get(release as usize).map(|view| view as &dyn AbstractType)
    }

    /// Separates components with colons. A colon inside a component is written `\:`; `:!` at the end stands for a
    /// positive end-of-component byte.
    fn to_text(&self, value: &[u8]) -> String {
        let mut parts = Vec::new();
        let (is_static, mut rest) = self.static_part(value);
        if is_static {
            parts.push(String::new());
        }
        let mut is_after = false;
        for inner in &self.components {
            match take(&mut rest) {
                Some(Ok(component)) => {
                    parts.push(inner.view().to_text(component.value).replace(':', "\\:"));
                    is_after = component.end.cast_signed() > 0;
                }
                None => break,
                Some(Err(_)) => return BytesType.to_text(value),
            }
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
        for (at, part) in parts.iter().enumerate() {
            let Some(inner) = self.components.get(at) else {
                return Err(MarshalError(format!("'{text}' has more parts than {} has", self.class_name)));
            };
            let end = u8::from(is_after && at + 1 == last);
            push_component(&inner.view().parse_text(part)?, end, &mut name);
        }
        Ok(name)
    }
}

/// Splits the text of a name into its components. Returns also whether the end-of-component byte of the last is positive.
pub(super) fn split_name(text: &str) -> (Vec<String>, bool) {
    if text.is_empty() {
        return (Vec::new(), false);
    }
    let mut parts = split_components(text);
    let is_after = parts.len() > 1 && parts.last().is_some_and(|last| last == "!");
    if is_after {
        parts.pop();
    }
    (parts, is_after)
}

/// Splits a text at colons that are not preceded by a backslash.
pub(super) fn split_components(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let Some(last) = parts.last_mut() else { break };
        match character {
            '\\' if characters.peek() == Some(&':') => {
                last.push(':');
                characters.next();
            }
            ':' => parts.push(String::new()),
            other => last.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Types;

    fn composite() -> TypeRef {
        Types::builtin().resolve("CompositeType(UTF8Type,LongType)").unwrap()
    }

    fn name(parts: &[(&[u8], u8)]) -> Vec<u8> {
        let mut name = Vec::new();
        parts.iter().for_each(|(value, end)| push_component(value, *end, &mut name));
        name
    }

    #[test]
    fn a_bound_sorts_before_or_after_all_names_with_its_components() {
        let one = 1i64.to_be_bytes();
        let in_order = [
            Vec::new(),
            name(&[(b"a", 0xFF)]),
            name(&[(b"a", 0)]),
            name(&[(b"a", 0), (&one, 0)]),
            name(&[(b"a", 0), (&one, 1)]),
            name(&[(b"a", 1)]),
            name(&[(b"ab", 0)]),
            name(&[(b"b", 0xFF)]),
        ];
        assert!(in_order.is_sorted_by(|a, b| composite().compare(a, b).is_lt()));
    }

    #[test]
    fn invalid_names_are_refused_in_cassandras_words() {
        let text = |bytes: &[u8]| composite().validate(bytes).unwrap_err().0;
        assert_eq!(text(b"\0"), "Not enough bytes to read value size of component 0");
        assert_eq!(text(b"\0\x02a"), "Not enough bytes to read value of component 0");
        assert_eq!(text(b"\0\x01a"), "Not enough bytes to read the end-of-component byte of component0");
        assert_eq!(text(b"\0\x01a\x01\0"), "Invalid bytes remaining after an end-of-component at component0");
        let three = name(&[(b"a", 0), (&[0; 8], 0), (b"b", 0)]);
        assert_eq!(text(&three), "Too many bytes for comparator");
    }

    #[test]
    fn text_separates_components_with_colons() {
        let value = composite().parse_text("a\\:b:5").unwrap();
        assert_eq!(value, name(&[(b"a:b", 0), (&5i64.to_be_bytes(), 0)]));
        assert_eq!(composite().to_text(&value), "a\\:b:5");
        assert_eq!(composite().parse_text("a:!").unwrap(), name(&[(b"a", 1)]));
    }
}
