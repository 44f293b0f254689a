//! Which comparator may take the place of another over the same stored names.

use super::{composite_parts, split_arguments, split_class, unreversed};

/// Whether names that were stored under one comparator, by its class, are stored the same under another: it has more
/// collections, or takes more bytes in the same order.
pub fn may_succeed(old: &str, new: &str) -> bool {
    if old == new {
        return true;
    }
    let (Some(old_parts), Some(new_parts)) = (composite_parts(old), composite_parts(new)) else {
        return widens(old, new);
    };
    let (old_parts, old_collections) = without_collections(&old_parts);
    let (new_parts, new_collections) = without_collections(&new_parts);
    let keep_type = old_collections.iter().all(|old| {
        let name = |text: &str| text.split_once(':').map(|(name, _)| name.to_owned());
        new_collections.iter().all(|new| name(old) != name(new) || in_names(old) == in_names(new))
    });
    keep_type
        && old_parts.len() == new_parts.len()
        && old_parts.iter().zip(new_parts).all(|(old, new)| widens(old, new))
}

/// The part of a collection that stands in cells' names: a map's keys, a set's elements, a list's time UUIDs.
fn in_names(collection: &str) -> Option<&str> {
    let (_, class) = collection.split_once(':')?;
    match split_class(class) {
        ("MapType", Some(inner)) => split_arguments(inner).first().copied(),
        ("SetType", Some(inner)) => Some(inner),
        (other, _) => Some(other),
    }
}

fn without_collections<'a, 'b>(parts: &'b [&'a str]) -> (&'b [&'a str], Vec<&'a str>) {
    if let [inner @ .., last] = parts
        && let ("ColumnToCollectionType", Some(collections)) = split_class(last)
    {
        return (inner, split_arguments(collections));
    }
    (parts, Vec::new())
}

/// Whether every value of one type is one of another, in the same order: text of ASCII is text, and both are bytes.
pub fn widens(old: &str, new: &str) -> bool {
    let ((old, old_reversed), (new, new_reversed)) = (unreversed(old), unreversed(new));
    let rank = |class: &str| {
        ["AsciiType", "UTF8Type", "BytesType"].iter().position(|known| split_class(class) == (*known, None))
    };
    old_reversed == new_reversed
        && (old == new || matches!((rank(old), rank(new)), (Some(old), Some(new)) if old <= new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_collections_and_wider_text_keep_stored_names() {
        let plain = "CompositeType(Int32Type,UTF8Type)";
        let set = "CompositeType(Int32Type,UTF8Type,ColumnToCollectionType(73:SetType(Int32Type)))";
        let both =
            "CompositeType(Int32Type,UTF8Type,ColumnToCollectionType(6d:MapType(A,B),73:SetType(Int32Type)))";
        let other = "CompositeType(Int32Type,UTF8Type,ColumnToCollectionType(73:SetType(LongType)))";
        assert!(may_succeed(plain, set) && may_succeed(set, both) && may_succeed(set, plain));
        assert!(!may_succeed(set, other));
        let wider =
            "CompositeType(Int32Type,UTF8Type,ColumnToCollectionType(6d:MapType(A,C),73:SetType(Int32Type)))";
        assert!(may_succeed(both, wider), "values stand in no names");
        assert!(!may_succeed(plain, "CompositeType(LongType,UTF8Type)"));
        assert!(!may_succeed(plain, "CompositeType(Int32Type,UTF8Type,UTF8Type)"));
        assert!(may_succeed("AsciiType", "UTF8Type") && !may_succeed("UTF8Type", "AsciiType"));
        assert!(may_succeed("ReversedType(UTF8Type)", "ReversedType(BytesType)"));
        assert!(!may_succeed("ReversedType(UTF8Type)", "UTF8Type"));
    }
}
