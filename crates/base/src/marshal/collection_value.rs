//! The serialized values of collections, tuples and user-defined types.
//!
//! ```text
//!   collection   count | (length | bytes) ...       16 or 32 bits each; a map's keys and values alternate
//!   tuple        (i32 length | bytes) ...           length -1: null
//! ```

use bytes::Bytes;

use super::{CollectionForm, CqlType};

fn push_number(number: usize, form: CollectionForm, out: &mut Vec<u8>) {
    match form {
        CollectionForm::Short => {
            out.extend_from_slice(&u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes());
        }
        CollectionForm::Long => {
            out.extend_from_slice(&i32::try_from(number).unwrap_or(i32::MAX).to_be_bytes());
        }
    }
}

/// Encodes the parts of a collection. Callers drop the elements that the short form cannot count, as the old servers'
/// clients did, because those clients read only as many elements as the count says.
fn encode<'a>(count: usize, parts: impl Iterator<Item = &'a Bytes>, form: CollectionForm) -> Bytes {
    let mut out = Vec::new();
    push_number(count, form, &mut out);
    for part in parts {
        let part = match form {
            CollectionForm::Short => part.get(..usize::from(u16::MAX)).unwrap_or(part),
            CollectionForm::Long => part,
        };
        push_number(part.len(), form, &mut out);
        out.extend_from_slice(part);
    }
    Bytes::from(out)
}

/// Returns the maximum count that the form can encode.
fn count_max(form: CollectionForm) -> usize {
    match form {
        CollectionForm::Short => usize::from(u16::MAX),
        CollectionForm::Long => i32::MAX as usize,
    }
}

/// Appends a part of a collection whose length is long.
pub fn push_part(part: &[u8], out: &mut Vec<u8>) {
    push_number(part.len(), CollectionForm::Long, out);
    out.extend_from_slice(part);
}

/// Returns the parts that [`push_part`] has appended.
pub fn pushed_parts(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk()?;
        let (part, after) = after.split_at_checked(usize::try_from(i32::from_be_bytes(*length)).ok()?)?;
        rest = after;
        Some(part)
    })
}

/// Returns the value of a list or set.
pub fn list_to_bytes(elements: &[Bytes], form: CollectionForm) -> Bytes {
    let count = elements.len().min(count_max(form));
    encode(count, elements.iter().take(count), form)
}

/// Returns the value of a map.
pub fn map_to_bytes(entries: &[(Bytes, Bytes)], form: CollectionForm) -> Bytes {
    let count = entries.len().min(count_max(form));
    encode(count, entries.iter().take(count).flat_map(|(key, value)| [key, value]), form)
}

/// Removes a number from the front of the bytes and returns it.
fn take_number(rest: &mut Bytes, form: CollectionForm) -> Option<i64> {
    let width = if form == CollectionForm::Short { 2 } else { 4 };
    if rest.len() < width {
        return None;
    }
    let number = rest.split_to(width);
    Some(match (form, &number[..]) {
        (CollectionForm::Short, [a, b]) => i64::from(u16::from_be_bytes([*a, *b])),
        (_, [a, b, c, d]) => i64::from(i32::from_be_bytes([*a, *b, *c, *d])),
        _ => return None,
    })
}

fn take_part(rest: &mut Bytes, form: CollectionForm) -> Option<Bytes> {
    let length = usize::try_from(take_number(rest, form)?).ok()?;
    (length <= rest.len()).then(|| rest.split_to(length))
}

/// Entries for which there is room before any is read: clients claim counts that no value has.
const ENTRIES_AT_ONCE: usize = 16 * 1024;

/// Returns the entries of a collection, each read by `take`, or `None` if the bytes are not a valid collection.
fn entries<T>(value: &Bytes, form: CollectionForm, take: impl Fn(&mut Bytes) -> Option<T>) -> Option<Vec<T>> {
    let mut rest = value.clone();
    let count = usize::try_from(take_number(&mut rest, form)?).ok()?;
    // An entry has a length of two bytes at least, whatever the count is.
    let mut found = Vec::with_capacity(count.min(rest.len() / 2).min(ENTRIES_AT_ONCE));
    for _ in 0..count {
        found.push(take(&mut rest)?);
    }
    rest.is_empty().then_some(found)
}

/// Returns the elements of a list or set, or `None` if the value is invalid.
pub fn list_from_bytes(value: &Bytes, form: CollectionForm) -> Option<Vec<Bytes>> {
    entries(value, form, |rest| take_part(rest, form))
}

/// Returns the entries of a map, or `None` if the value is invalid.
pub fn map_from_bytes(value: &Bytes, form: CollectionForm) -> Option<Vec<(Bytes, Bytes)>> {
    entries(value, form, |rest| Some((take_part(rest, form)?, take_part(rest, form)?)))
}

/// Returns a collection's value with short lengths instead of long ones, as native protocols before version 3 and
/// Thrift require. Nested values and values of other types are not changed.
pub fn short_form(cql_type: &CqlType, value: &Bytes) -> Bytes {
    use CollectionForm::{Long, Short};
    let short = match cql_type {
        CqlType::List { .. } | CqlType::Set { .. } => {
            list_from_bytes(value, Long).map(|elements| list_to_bytes(&elements, Short))
        }
        CqlType::Map { .. } => map_from_bytes(value, Long).map(|entries| map_to_bytes(&entries, Short)),
        _ => None,
    };
    short.unwrap_or_else(|| value.clone())
}

/// Returns the value of a tuple or user-defined type.
pub fn tuple_to_bytes(fields: &[Option<Bytes>]) -> Bytes {
    let mut out = Vec::new();
    for field in fields {
        match field {
            Some(field) => {
                push_number(field.len(), CollectionForm::Long, &mut out);
                out.extend_from_slice(field);
            }
            None => out.extend_from_slice(&(-1i32).to_be_bytes()),
        }
    }
    Bytes::from(out)
}

/// Returns the value of a user-defined type whose fields are stored in cells of their own, given as the position in the
/// name of each cell and its value. Fields without a cell are null.
pub fn whole_from_fields<'a>(cells: impl Iterator<Item = (&'a Bytes, &'a Bytes)>, count: usize) -> Bytes {
    let mut fields = vec![None; count];
    for (name, value) in cells {
        let at = <[u8; 2]>::try_from(&name[..]).map_or(usize::MAX, |at| usize::from(u16::from_be_bytes(at)));
        if let Some(field) = fields.get_mut(at) {
            *field = Some(value.clone());
        }
    }
    tuple_to_bytes(&fields)
}

/// Returns the fields that a tuple or user-defined type contains, or `None` if the value is invalid.
pub fn tuple_from_bytes(value: &Bytes) -> Option<Vec<Option<Bytes>>> {
    let mut rest = value.clone();
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let length = take_number(&mut rest, CollectionForm::Long)?;
        match usize::try_from(length) {
            Ok(length) if length <= rest.len() => fields.push(Some(rest.split_to(length))),
            Ok(_) => return None,
            Err(_) => fields.push(None),
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Native;
    use proptest::prelude::*;

    fn element() -> impl Strategy<Value = Bytes> {
        prop::collection::vec(any::<u8>(), 0..6).prop_map(Bytes::from)
    }

    fn form() -> impl Strategy<Value = CollectionForm> {
        prop::sample::select(vec![CollectionForm::Short, CollectionForm::Long])
    }

    proptest! {
        #[test]
        fn collections_round_trip(elements in prop::collection::vec(element(), 0..6), form in form()) {
            let value = list_to_bytes(&elements, form);
            prop_assert_eq!(list_from_bytes(&value, form), Some(elements.clone()));
            let entries: Vec<(Bytes, Bytes)> = elements.iter().map(|part| (part.clone(), part.clone())).collect();
            let value = map_to_bytes(&entries, form);
            prop_assert_eq!(map_from_bytes(&value, form), Some(entries.clone()));
        }

        #[test]
        fn the_short_form_has_the_same_elements(elements in prop::collection::vec(element(), 0..6)) {
            let of = |native| Box::new(CqlType::Native(native));
            let list = CqlType::List { element: of(Native::Blob), is_frozen: false };
            let long = list_to_bytes(&elements, CollectionForm::Long);
            prop_assert_eq!(short_form(&list, &long), list_to_bytes(&elements, CollectionForm::Short));
            prop_assert_eq!(short_form(&CqlType::Native(Native::Blob), &long), long);
        }

        #[test]
        fn tuples_round_trip(fields in prop::collection::vec(prop::option::of(element()), 0..6)) {
            prop_assert_eq!(tuple_from_bytes(&tuple_to_bytes(&fields)), Some(fields));
        }

        #[test]
        fn decoded_collections_encode_to_the_same_bytes(
            bytes in prop::collection::vec(prop::sample::select(vec![0u8, 0, 0, 1, 2, 0xff]), 0..20),
            form in form(),
        ) {
            let value = Bytes::from(bytes);
            if let Some(elements) = list_from_bytes(&value, form) {
                prop_assert_eq!(list_to_bytes(&elements, form), value.clone());
            }
            if let Some(entries) = map_from_bytes(&value, form) {
                prop_assert_eq!(map_to_bytes(&entries, form), value.clone());
            }
            let _ = tuple_from_bytes(&value);
        }
    }

    #[test]
    fn encodings_equal_those_of_the_old_servers() {
        let entries = [(Bytes::from_static(b"hoge1"), Bytes::from_static(b"fuga1"))];
        let short = map_to_bytes(&entries, CollectionForm::Short);
        assert_eq!(&short[..], b"\0\x01\0\x05hoge1\0\x05fuga1");
        let fields = [Some(Bytes::from_static(&[0, 0, 0, 1])), Some(Bytes::from_static(b"x")), None];
        let tuple = [0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, b'x', 0xff, 0xff, 0xff, 0xff];
        assert_eq!(&tuple_to_bytes(&fields)[..], tuple);
    }
}
