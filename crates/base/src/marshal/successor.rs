//! Checks whether a comparator can replace another one over the same stored names.

use super::{composite_parts, split_arguments, split_class, unreversed};

/// Returns whether names stored under one comparator, given by its class, have the same stored form under another. This
/// is so if the other has more collections, or accepts more values in the same order.
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
        new_collections.iter().all(|new| name(old) != name(new) || same_in_names(old, new))
    });
    keep_type
        && old_parts.len() == new_parts.len()
        && old_parts.iter().zip(new_parts).all(|(old, new)| widens(old, new))
}

/// Returns whether every element of one collection that is stored in a name is an element of the other.
fn same_in_names(old: &str, new: &str) -> bool {
    let kind = |collection: &str| {
        let (_, class) = collection.split_once(':')?;
        Some(split_class(class).0.to_owned())
    };
    kind(old) == kind(new) && in_names(old).zip(in_names(new)).is_some_and(|(old, new)| widens(old, new))
}

/// Returns the type that a collection stores in the names of its cells: a map's keys, a set's elements, a list's time
/// UUIDs.
fn in_names(collection: &str) -> Option<&str> {
    let (_, class) = collection.split_once(':')?;
    match split_class(class) {
        ("MapType", Some(inner)) => split_arguments(inner).first().copied(),
        ("SetType", Some(inner)) => Some(inner),
        // The positions of fields, whatever the fields are.
        ("UserType", _) => Some("ShortType"),
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

/// Returns whether every value of one type is a value of another, in the same order and with the same stored bytes.
/// ASCII text is UTF-8 text, and both are bytes. The types inside a composed type may widen too. Tuples and
/// user-defined types may also get more fields, because values that lack the last fields are valid.
pub fn widens(old: &str, new: &str) -> bool {
    let ((old, old_reversed), (new, new_reversed)) = (unreversed(old), unreversed(new));
    let rank = |class: &str| {
        ["AsciiType", "UTF8Type", "BytesType"].iter().position(|known| split_class(class) == (*known, None))
    };
    old_reversed == new_reversed
        && (old == new
            || matches!((rank(old), rank(new)), (Some(old), Some(new)) if old <= new)
            || widens_parts(old, new))
}

/// Does the same for composed types. The recursion ends because the parser of classes limits their depth.
fn widens_parts(old: &str, new: &str) -> bool {
    let ((old, Some(old_parts)), (new, Some(new_parts))) = (split_class(old), split_class(new)) else {
        return false;
    };
    let (mut old_parts, mut new_parts) = (split_arguments(old_parts), split_arguments(new_parts));
    let may_grow = match old {
        _ if old != new => return false,
        "FrozenType" | "ListType" | "SetType" | "MapType" => false,
        "TupleType" => true,
        "UserType" => {
            let is_same_type = old_parts.len() >= 2 && old_parts.get(..2) == new_parts.get(..2);
            if !is_same_type {
                return false;
            }
            // Values do not contain the names of fields.
            for parts in [&mut old_parts, &mut new_parts] {
                parts.drain(..2);
                parts
                    .iter_mut()
                    .for_each(|field| *field = field.split_once(':').map_or("", |(_, class)| class));
            }
            true
        }
        _ => return false,
    };
    (old_parts.len() == new_parts.len() || may_grow && old_parts.len() < new_parts.len())
        && old_parts.iter().zip(&new_parts).all(|(old, new)| widens(old, new))
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
        assert!(may_succeed(both, wider), "the values of a map are not stored in names");
        assert!(!may_succeed(plain, "CompositeType(LongType,UTF8Type)"));
        assert!(!may_succeed(plain, "CompositeType(Int32Type,UTF8Type,UTF8Type)"));
        assert!(may_succeed("AsciiType", "UTF8Type") && !may_succeed("UTF8Type", "AsciiType"));
        assert!(may_succeed("ReversedType(UTF8Type)", "ReversedType(BytesType)"));
        assert!(!may_succeed("ReversedType(UTF8Type)", "UTF8Type"));
    }

    #[test]
    fn tuples_and_user_types_may_get_more_fields() {
        let tuple = "FrozenType(ListType(TupleType(Int32Type,AsciiType)))";
        assert!(may_succeed(tuple, "FrozenType(ListType(TupleType(Int32Type,UTF8Type,LongType)))"));
        assert!(!may_succeed(tuple, "FrozenType(ListType(TupleType(LongType,AsciiType)))"));
        assert!(!may_succeed(tuple, "FrozenType(ListType(TupleType(Int32Type)))"));
        assert!(!may_succeed(tuple, "FrozenType(SetType(TupleType(Int32Type,AsciiType)))"));
        let user = "ReversedType(UserType(k,61,62:Int32Type))";
        assert!(may_succeed(user, "ReversedType(UserType(k,61,63:Int32Type,64:TupleType(AsciiType)))"));
        assert!(!may_succeed(user, "ReversedType(UserType(k,62,62:Int32Type))"));
        assert!(!may_succeed(user, "ReversedType(TupleType(k,61,Int32Type))"));
        let set =
            |element: &str| format!("CompositeType(UTF8Type,ColumnToCollectionType(73:SetType({element})))");
        let (old, new) =
            (set("UserType(k,61,62:Int32Type)"), set("UserType(k,61,62:Int32Type,63:Int32Type)"));
        assert!(may_succeed(&old, &new) && !may_succeed(&new, &old));
    }
}
