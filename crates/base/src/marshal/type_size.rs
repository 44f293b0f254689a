//! The length of a type's full class name, computed without formatting it.
//!
//! A user type is shared in memory, and a stored schema refers to it by name. But class names, error messages and the
//! result metadata of the native protocol contain it in full, with the types of all its fields. In a chain of types
//! such as `CREATE TYPE u2 (a frozen<u1>, b frozen<u1>)`, the text of each type is twice as long as the text of the
//! type before.

use super::{CqlType, PACKAGE, UserType};
use crate::util::limits::{TYPE_NESTING_MAX, USER_TYPE_TEXT_BYTES_MAX};

/// The largest allowed depth. One level is reserved for the FrozenType that may enclose the type when it is parsed
/// again.
const DEPTH_MAX: usize = TYPE_NESTING_MAX - 1;

/// The length and depth of a type's full text. Both saturate instead of overflowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeSize {
    /// Length of the class name without FrozenType, in bytes.
    pub text_bytes: usize,
    /// The number of types around the innermost one.
    pub depth: usize,
}

impl TypeSize {
    /// Returns the size of a type that contains others and has `own_bytes` of text itself.
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

    /// Returns whether the type is within the limits of length and depth.
    pub fn is_within_limits(self) -> bool {
        self.excess().is_none()
    }

    /// Returns a clause for a message, without its subject, that says which limit the type exceeds; `None` if it
    /// exceeds none.
    pub fn excess(self) -> Option<String> {
        if self.depth > DEPTH_MAX {
            Some(format!(
                "nests types {} deep, and at most {DEPTH_MAX} levels are allowed: use a blob for inner types",
                self.depth
            ))
        } else if self.text_bytes > USER_TYPE_TEXT_BYTES_MAX {
            Some(format!(
                "has a class name of {} bytes with the types of all fields, and at most {USER_TYPE_TEXT_BYTES_MAX} are \
                 allowed: use fewer fields or shorter names, or a blob for inner types",
                self.text_bytes
            ))
        } else {
            None
        }
    }
}

impl CqlType {
    /// Returns the size of the type's full text. The time is proportional to the length of the statement that defined
    /// the type, because user types store their size.
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
            CqlType::User { user, .. } => user.size(),
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
            let field = |name: &str| (name.to_owned(), CqlType::frozen_user(before.clone()));
            Arc::new(UserType::new("ks", &format!("u{number}"), vec![field("a"), field("b")]))
        })
    }

    #[test]
    fn the_size_is_the_length_of_the_class_name() {
        for count in 0..9 {
            let user = CqlType::frozen_user(doubled(count));
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
    fn the_size_of_a_chain_of_64_doubling_types_is_computed_without_formatting() {
        let user = doubled(64);
        assert_eq!(user.size(), TypeSize { text_bytes: usize::MAX, depth: 65 });
        assert!(!user.size().is_within_limits());
        assert_eq!(user.class_name(), user.short_class_name());
        assert_eq!(CqlType::frozen_user(user.clone()), CqlType::frozen_user(doubled(64)));
    }
}
