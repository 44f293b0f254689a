//! The stored form of user types.

use std::cell::Cell;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::stored_table::ClassForm;
use crate::marshal::{CqlType, UserType};
use crate::util::SharedMap;

/// A user type: its name, and the names and class names of its fields.
#[derive(PartialEq, Serialize, Deserialize)]
pub(super) struct StoredUserType {
    name: String,
    fields: Vec<(String, String)>,
}

impl StoredUserType {
    pub(super) fn of(user_type: &UserType, form: ClassForm) -> StoredUserType {
        let fields = user_type.fields.iter();
        let fields = fields.map(|(name, cql_type)| (name.clone(), form.class_of(cql_type))).collect();
        StoredUserType { name: user_type.name.clone(), fields }
    }

    /// Returns the type, with the types in it from `known`. `None` if one of them is stored but not in `known` yet.
    fn restore(
        &self,
        keyspace: &str,
        known: &SharedMap<String, Arc<UserType>>,
        is_stored: &dyn Fn(&str) -> bool,
    ) -> Option<UserType> {
        let is_missing = Cell::new(false);
        let find = |of: &str, name: &str| {
            let found = known.get(name).filter(|_| of == keyspace).cloned();
            is_missing.set(is_missing.get() || found.is_none() && of == keyspace && is_stored(name));
            // While a type is missing, the text of its fields is not decoded, since it may have millions of them.
            found.or_else(|| is_missing.get().then(|| Arc::new(UserType::new(of, name, Vec::new()))))
        };
        let mut fields = Vec::with_capacity(self.fields.len());
        for (name, class) in &self.fields {
            fields.push((name.clone(), CqlType::of_class_with(class, &find)));
            if is_missing.get() {
                return None;
            }
        }
        Some(UserType::new(keyspace, &self.name, fields))
    }
}

/// Decodes the user types of a keyspace. Each is decoded once and then shared, whether other types contain it by name
/// or, as in records of earlier versions, in full. Without sharing, a chain of 20 types, each of which contains the
/// previous one twice, would take 300 MB.
pub(super) fn restore_user_types(
    keyspace: &str,
    stored: Vec<StoredUserType>,
) -> SharedMap<String, Arc<UserType>> {
    let names: std::collections::HashSet<String> = stored.iter().map(|stored| stored.name.clone()).collect();
    let mut known = SharedMap::new();
    let mut left = stored;
    while !left.is_empty() {
        let before = left.len();
        left.retain(|stored| match stored.restore(keyspace, &known, &|name| names.contains(name)) {
            Some(user_type) => {
                known.insert(stored.name.clone(), Arc::new(user_type));
                false
            }
            None => true,
        });
        if left.len() == before {
            // The types contain each other, which CREATE TYPE does not allow. Each is decoded alone.
            for stored in left.drain(..) {
                if let Some(user_type) = stored.restore(keyspace, &SharedMap::new(), &|_| false) {
                    known.insert(stored.name.clone(), Arc::new(user_type));
                }
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Native;

    fn chain(count: usize) -> Vec<Arc<UserType>> {
        let int = CqlType::Native(Native::Int);
        let mut all = vec![Arc::new(UserType::new("ks", "u0", vec![("a".to_owned(), int)]))];
        for number in 1..=count {
            let field = |name: &str| (name.to_owned(), CqlType::frozen_user(all[number - 1].clone()));
            all.push(Arc::new(UserType::new("ks", &format!("u{number}"), vec![field("a"), field("b")])));
        }
        all
    }

    fn is_shared(known: &SharedMap<String, Arc<UserType>>, count: usize) -> bool {
        (1..=count).all(|number| {
            let held = known[&*format!("u{number}")].fields.iter().map(|(_, field)| match field {
                CqlType::User { user, .. } => Arc::ptr_eq(user, &known[&*format!("u{}", number - 1)]),
                _ => false,
            });
            held.eq([true, true])
        })
    }

    #[test]
    fn a_chain_of_64_doubling_types_is_stored_by_names_and_read_as_shared_types() {
        let all = chain(64);
        let stored: Vec<_> = all.iter().map(|user| StoredUserType::of(user, ClassForm::ByName)).collect();
        assert!(serde_json::to_string(&stored).unwrap().len() < 65 * 200);
        let known = restore_user_types("ks", stored);
        assert!(known.len() == 65 && is_shared(&known, 64));
    }

    #[test]
    fn types_stored_in_full_are_shared_in_any_order() {
        let all = chain(9);
        for is_backwards in [false, true] {
            let mut stored: Vec<_> =
                all.iter().map(|user| StoredUserType::of(user, ClassForm::Full)).collect();
            if is_backwards {
                stored.reverse();
            }
            let known = restore_user_types("ks", stored);
            assert!(known.len() == 10 && is_shared(&known, 9));
            assert_eq!(known["u9"].class_name(), all[9].class_name());
        }
    }

    #[test]
    fn types_that_contain_each_other_are_read() {
        let stored = |name: &str, class: &str| StoredUserType {
            name: name.to_owned(),
            fields: vec![("a".to_owned(), class.to_owned())],
        };
        let known =
            restore_user_types("ks", vec![stored("x", "UserType(ks,79)"), stored("y", "UserType(ks,78)")]);
        assert_eq!(known.len(), 2);
    }
}
