//! The parts of composed values: frozen collections, tuples and user-defined types.
//!
//! ```text
//!   collection   i32 count | (i32 length | bytes) ...
//!   tuple        (i32 length | bytes) ...             length -1: null
//!
//!   stored       01 (02 escaped | 01) ...             02: a part's ordered bytes; 01: null
//!                02 bytes                             bytes that are not a value of the type
//! ```
//!
//! Parts are compared one by one. Null sorts before every value, and a value sorts before longer values that begin with
//! the same parts.

use std::cmp::Ordering;

use super::views::{Inner, push_escaped, read_escaped};
use super::{AbstractType, BytesType};

/// A part's bytes; `None` is null.
pub(super) type Part<'a> = Option<&'a [u8]>;

fn take_i32(rest: &mut &[u8]) -> Option<i32> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(i32::from_be_bytes(*number))
}

/// Removes one part and its length from the beginning of the bytes. Returns `None` if the bytes end too early.
pub(super) fn take_part<'a>(rest: &mut &'a [u8]) -> Option<Part<'a>> {
    let length = take_i32(rest)?;
    let Ok(length) = usize::try_from(length) else { return Some(None) };
    let (part, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(Some(part))
}

/// Returns the parts of a collection, `per_entry` for each counted element; `None` if the bytes are not a collection.
pub(super) fn of_collection(value: &[u8], per_entry: usize) -> Option<Vec<Part<'_>>> {
    let mut rest = value;
    let count = usize::try_from(take_i32(&mut rest)?).ok()?;
    let mut found = Vec::new();
    for _ in 0..count.checked_mul(per_entry)? {
        found.push(Some(take_part(&mut rest)??));
    }
    rest.is_empty().then_some(found)
}

/// Returns the fields of a tuple that has at most `at_most` fields; `None` if the bytes are not a tuple. Of the
/// negative lengths only -1 is accepted as null, so that equal values have equal bytes.
pub(super) fn of_tuple(value: &[u8], at_most: usize) -> Option<Vec<Part<'_>>> {
    let mut rest = value;
    let mut found = Vec::new();
    while !rest.is_empty() {
        if found.len() == at_most {
            return None;
        }
        let is_other_null = rest.first() >= Some(&0x80) && !rest.starts_with(&[0xFF; 4]);
        let part = take_part(&mut rest)?;
        if is_other_null {
            return None;
        }
        found.push(part);
    }
    Some(found)
}

/// Appends a part with its length.
pub(super) fn push_part(part: Part<'_>, out: &mut Vec<u8>) {
    match part {
        Some(part) => {
            debug_assert!(i32::try_from(part.len()).is_ok(), "no value has more than 2 GiB");
            out.extend_from_slice(&i32::try_from(part.len()).unwrap_or(i32::MAX).to_be_bytes());
            out.extend_from_slice(part);
        }
        None => out.extend_from_slice(&(-1i32).to_be_bytes()),
    }
}

/// Compares values by their parts; `kind` returns the type of the part at a position.
pub(super) fn compare<'a>(
    left: &[u8],
    left_parts: Option<Vec<Part<'_>>>,
    right: &[u8],
    right_parts: Option<Vec<Part<'_>>>,
    kind: impl Fn(usize) -> Option<&'a Inner>,
) -> Ordering {
    let (left_parts, right_parts) = match (left_parts, right_parts) {
        _ if left.is_empty() || right.is_empty() => return left.is_empty().cmp(&right.is_empty()).reverse(),
        (Some(left), Some(right)) => (left, right),
        (Some(_), None) => return Ordering::Less,
        (None, Some(_)) => return Ordering::Greater,
        (None, None) => return left.cmp(right),
    };
    for (at, (a, b)) in left_parts.iter().zip(&right_parts).enumerate() {
        let order = match (a, b) {
            (Some(a), Some(b)) => kind(at).map_or_else(|| a.cmp(b), |kind| kind.view().compare(a, b)),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
    left_parts.len().cmp(&right_parts.len())
}

/// Appends the bytes by which the store sorts a value of these parts; `None` for bytes that are not a value.
pub(super) fn ordered<'a>(
    value: &[u8],
    parts: Option<Vec<Part<'_>>>,
    kind: impl Fn(usize) -> Option<&'a Inner>,
    out: &mut Vec<u8>,
) {
    if value.is_empty() {
        return;
    }
    let Some(parts) = parts else {
        out.push(2);
        out.extend_from_slice(value);
        return;
    };
    out.push(1);
    for (at, part) in parts.into_iter().enumerate() {
        match part {
            Some(part) => {
                let mut stored = Vec::new();
                match kind(at) {
                    Some(kind) => kind.of.ordered(part, &mut stored),
                    None => stored.extend_from_slice(part),
                }
                out.push(2);
                push_escaped(&stored, out);
            }
            None => out.push(1),
        }
    }
}

/// A value that `restore` has read from its stored form.
pub(super) enum Restored {
    /// The value's bytes: it is empty, or not a value of the type.
    Whole(Vec<u8>),
    /// The parts of the value; `None` is null.
    Parts(Vec<Option<Vec<u8>>>),
}

/// Reads stored bytes; `None` if they do not determine the value.
pub(super) fn restore<'a>(stored: &[u8], kind: impl Fn(usize) -> Option<&'a Inner>) -> Option<Restored> {
    let mut rest = match stored.split_first() {
        None => return Some(Restored::Whole(Vec::new())),
        Some((1, rest)) => rest,
        Some((_, value)) => return Some(Restored::Whole(value.to_vec())),
    };
    let mut parts = Vec::new();
    while let Some((mark, after)) = rest.split_first() {
        rest = after;
        if *mark == 1 {
            parts.push(None);
            continue;
        }
        let (part, after) = read_escaped(rest)?;
        rest = after;
        parts.push(Some(match kind(parts.len()) {
            Some(kind) => kind.of.restore(&part)?,
            None => part,
        }));
    }
    Some(Restored::Parts(parts))
}

/// Formats a part as text, or in hex if it has no type.
pub(super) fn part_text(part: &[u8], kind: Option<&Inner>) -> String {
    kind.map_or_else(|| BytesType.to_text(part), |kind| kind.view().to_text(part))
}
