//! Conversion from a type's class to its CQL type.

use std::sync::{Arc, LazyLock};

use super::{BytesType, CqlType, Native, PACKAGE, TypeRef, Types, UserType};
use crate::util::limits::TYPE_NESTING_MAX;
use crate::util::unhex;

static BUILTIN: LazyLock<Types> = LazyLock::new(Types::builtin);

/// Splits the text of a class into its name and the text inside its parentheses: `ListType(X)` is `("ListType",
/// Some("X"))`. The package of Cassandra's own classes is removed.
pub fn split_class(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let short = text.strip_prefix(PACKAGE).unwrap_or(text);
    match short.find('(') {
        Some(at) if short.ends_with(')') => (&short[..at], Some(&short[at + 1..short.len() - 1])),
        _ => (short, None),
    }
}

/// Splits a text at the commas that are not inside parentheses.
pub fn split_arguments(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0usize, 0usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// Returns the component types in the text of a CompositeType; `None` for any other class.
pub fn composite_parts(class: &str) -> Option<Vec<&str>> {
    match split_class(class) {
        ("CompositeType", Some(inner)) => Some(split_arguments(inner)),
        _ => None,
    }
}

/// Returns a type without ReversedType, and whether it was reversed.
pub fn unreversed(class: &str) -> (&str, bool) {
    match split_class(class) {
        ("ReversedType", Some(inner)) => (inner.trim(), true),
        _ => (class, false),
    }
}

/// Returns whether names of a type may have components under a `ReversedType`. The names of a DynamicCompositeType
/// specify their types themselves, so they always may.
pub fn has_reversed_components(class: &str) -> bool {
    let (whole, _) = unreversed(class);
    whole.contains("ReversedType(") || whole.contains("DynamicCompositeType")
}

fn text_of_hex(digits: &str) -> Option<String> {
    String::from_utf8(unhex(digits.as_bytes())?).ok()
}

/// Finds user types by their keyspaces and names.
pub type FindUser<'a> = &'a dyn Fn(&str, &str) -> Option<Arc<UserType>>;

/// Returns the user type for the arguments of a `UserType`. If `find` knows its name, the fields are not parsed,
/// because the text may be long.
fn user_type(inner: &str, depth: usize, find: FindUser<'_>) -> Option<CqlType> {
    let mut beginning = inner.splitn(3, ',').map(str::trim);
    let (keyspace, name) = (beginning.next()?, text_of_hex(beginning.next()?)?);
    if let Some(found) = find(keyspace, &name) {
        return Some(CqlType::frozen_user(found));
    }
    let field = |text: &&str| {
        let (field, class) = text.split_once(':')?;
        Some((text_of_hex(field.trim())?, read(class, depth + 1, find)?.frozen()))
    };
    let fields = split_arguments(inner).iter().skip(2).map(field).collect::<Option<Vec<_>>>()?;
    Some(CqlType::frozen_user(Arc::new(UserType::new(keyspace, &name, fields))))
}

fn read(class: &str, depth: usize, find: FindUser<'_>) -> Option<CqlType> {
    if depth > TYPE_NESTING_MAX {
        return None;
    }
    let (name, inner) = split_class(class);
    if name == "UserType" {
        return user_type(inner?, depth, find);
    }
    let arguments = inner.map(split_arguments).unwrap_or_default();
    let part = |at: usize| read(arguments.get(at)?, depth + 1, find).map(Box::new);
    match (name, arguments.len()) {
        ("ReversedType", 1) => part(0).map(|held| *held),
        ("FrozenType", 1) => part(0).map(|held| held.frozen()),
        ("ListType", 1) => Some(CqlType::List { element: part(0)?, is_frozen: false }),
        ("SetType", 1) => Some(CqlType::Set { element: part(0)?, is_frozen: false }),
        ("MapType", 2) => Some(CqlType::Map { key: part(0)?, value: part(1)?, is_frozen: false }),
        ("TupleType", _) => {
            let fields = arguments
                .iter()
                .map(|field| read(field, depth + 1, find).map(CqlType::frozen))
                .collect::<Option<Vec<_>>>()?;
            Some(CqlType::Tuple(fields))
        }
        (name, 0) => Native::of_class(name).map(CqlType::Native).or_else(|| custom(class)),
        _ => custom(class),
    }
}

fn custom(class: &str) -> Option<CqlType> {
    if class.trim().is_empty() {
        return None;
    }
    BUILTIN.resolve(class).map(CqlType::Custom)
}

impl CqlType {
    /// Returns the CQL type of a class; `blob` if the class is unknown.
    pub fn of_class(class: &str) -> CqlType {
        CqlType::of_class_with(class, &|_, _| None)
    }

    /// Returns the CQL type of a class; `blob` if the class is unknown. For user types that `find` returns, the fields
    /// in the text are ignored.
    pub fn of_class_with(class: &str, find: FindUser<'_>) -> CqlType {
        read(class, 0, find).unwrap_or(CqlType::Native(Native::Blob))
    }

    /// Returns the CQL type of a comparator or validator. A custom comparator becomes `CqlType::Custom`.
    pub fn of(of: &TypeRef) -> CqlType {
        read(of.class_name(), 0, &|_, _| None).unwrap_or_else(|| CqlType::Custom(of.clone()))
    }

    /// Returns the class with which the store handles values of this type: BytesType if the class name is longer than
    /// the limit or unknown.
    pub fn type_ref(&self, types: &Types) -> TypeRef {
        match self {
            CqlType::Custom(class) => class.clone(),
            large if !large.size().is_within_limits() => Arc::new(BytesType),
            other => types.resolve(&other.class_name()).unwrap_or_else(|| Arc::new(BytesType)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_converted_to_types_and_back() {
        let texts = [
            "UTF8Type",
            "MapType(UTF8Type,Int32Type)",
            "FrozenType(ListType(Int32Type))",
            "TupleType(Int32Type,UTF8Type)",
            "FrozenType(SetType(ListType(Int32Type)))",
            "ListType(FrozenType(MapType(UTF8Type,TupleType(SetType(Int32Type)))))",
            "UserType(ks,61646472,7a6970:ListType(Int32Type))",
            "DateType",
            "UserType(ks,61646472,7a6970:Int32Type)",
            "CompositeType(UTF8Type,LongType)",
        ];
        for text in texts {
            let class = CqlType::of_class(text).class_name();
            assert_eq!(class.replace(PACKAGE, ""), text);
            assert_eq!(CqlType::of_class(&class).class_name(), class);
        }
        assert_eq!(CqlType::of_class("ReversedType(LongType)").to_string(), "bigint");
        let nested = CqlType::of_class("FrozenType(SetType(ListType(Int32Type)))").to_string();
        assert_eq!(nested, "frozen<set<frozen<list<int>>>>");
        assert_eq!(CqlType::of_class("DateType").to_string(), "timestamp");
    }

    #[test]
    fn unknown_and_malformed_classes_become_blob() {
        for text in [
            "",
            "NoType",
            "UserType(ks,6)",
            &"ListType(".repeat(100),
            &format!("{}x", "ListType(".repeat(50)),
        ] {
            assert_eq!(CqlType::of_class(text).to_string(), "blob", "{text}");
        }
    }
}
