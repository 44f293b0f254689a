//! The size of a type's full text, computed without writing it.
//!
//! User types are shared in memory and by their names in a stored schema. But class names, the results' metadata of the
//! native protocol and messages have each of them in full, with all that its fields are made of. With
//! `CREATE TYPE u2 (a frozen<u1>, b frozen<u1>)` and so on each type takes twice what the one before takes.

use super::{CqlType, PACKAGE, UserType};
use crate::util::limits::{TYPE_NESTING_MAX, USER_TYPE_TEXT_BYTES_MAX};

/// Types around the innermost one at most. FrozenType may be around all of them when they are read again.
const DEPTH_MAX: usize = TYPE_NESTING_MAX - 1;

/// What a type takes where it is written in full. Numbers stay at their highest rather than overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeSize {
    /// Bytes of its class name without FrozenType.
    pub text_bytes: usize,
    /// Types around its innermost one.
    pub depth: usize,
}

impl TypeSize {
    /// A type that holds others, with so many bytes of its own.
    fn around(own_bytes: usize, held: impl Iterator<Item = TypeSize>) -> TypeSize {
        held.fold(TypeSize { text_bytes: own_bytes, depth: 0 }, |size, held| TypeSize {
            text_bytes: size.text_bytes.saturating_add(held.text_bytes),
            depth: size.depth.max(held.depth.saturating_add(1)),
        })
    }

    pub(super) fn of_user(user: &UserType) -> TypeSize {
        let names = user.fields.iter().map(|(name, _)| ",:".len() + 2 * name.len()).sum::<usize>();
        let own = PACKAGE.len() + "UserType(,)".len() + user.keyspace.len() + 2 * user.name.len();
        TypeSize::around(own + names, user.fields.iter().map(|(_, field)| field.size()))
    }

    /// Returns whether the type may be written in full.
    pub fn is_within_limits(self) -> bool {
        self.excess().is_none()
    }

    /// Returns which limit the type exceeds, as the end of a sentence that begins with the type.
    pub fn excess(self) -> Option<String> {
        if self.depth > DEPTH_MAX {
            Some(format!(
                "has types in types {} deep, and at most {DEPTH_MAX} are allowed: use a blob for the inner ones",
                self.depth
            ))
        } else if self.text_bytes > USER_TYPE_TEXT_BYTES_MAX {
            Some(format!(
                "has a class name of {} bytes with all that it is made of, and at most {USER_TYPE_TEXT_BYTES_MAX} are \
                 allowed: use fewer fields or shorter names, or a blob for inner types",
                self.text_bytes
            ))
        } else {
            None
        }
    }
}

impl CqlType {
    /// What it takes where it is written in full. Takes as long as the type was written: user types know theirs.
    pub fn size(&self) -> TypeSize {
        let one = |held: &CqlType| std::iter::once(held.size());
        let own = |class: &str| PACKAGE.len() + class.len();
        match self {
            CqlType::Native(native) => TypeSize::around(own(native.class()), std::iter::empty()),
            CqlType::Custom(class) => TypeSize::around(class.class_name().len(), std::iter::empty()),
            CqlType::List { element, .. } => TypeSize::around(own("ListType()"), one(element)),
            CqlType::Set { element, .. } => TypeSize::around(own("SetType()"), one(element)),
            CqlType::Map { key, value, .. } => {
                TypeSize::around(own("MapType(,)"), one(key).chain(one(value)))
            }
            CqlType::Tuple(fields) => {
                let commas = fields.len().saturating_sub(1);
                TypeSize::around(own("TupleType()") + commas, fields.iter().map(CqlType::size))
            }
            CqlType::User(user) => user.size(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::marshal::Native;

    fn doubled(count: usize) -> Arc<UserType> {
        let first = UserType::new("ks", "u0", vec![("a".to_owned(), CqlType::Native(Native::Int))]);
        (1..=count).fold(Arc::new(first), |before, number| {
            let field = |name: &str| (name.to_owned(), CqlType::User(before.clone()));
            Arc::new(UserType::new("ks", &format!("u{number}"), vec![field("a"), field("b")]))
        })
    }

    #[test]
    fn sizes_are_those_of_the_class_name() {
        for count in 0..9 {
            let user = CqlType::User(doubled(count));
            assert_eq!((user.size().text_bytes, user.size().depth), (user.class_name().len(), count + 1));
        }
        let texts = [
            "UTF8Type",
            "MapType(UTF8Type,Int32Type)",
            "SetType(UTF8Type)",
            "ListType(TupleType(Int32Type,UTF8Type,UserType(ks,61646472,7a6970:ListType(Int32Type))))",
            "CompositeType(UTF8Type,LongType)",
        ];
        for text in texts {
            let cql_type = CqlType::of_class(text);
            assert_eq!(cql_type.size().text_bytes, cql_type.class_name().len(), "{text}");
        }
    }

    #[test]
    fn a_chain_of_64_doubling_types_is_measured_and_named_without_being_written() {
        let user = doubled(64);
        assert_eq!(user.size(), TypeSize { text_bytes: usize::MAX, depth: 65 });
        assert!(!user.size().is_within_limits());
        assert_eq!(user.class_name(), user.short_class_name());
        assert_eq!(CqlType::User(user.clone()), CqlType::User(doubled(64)));
    }
}
