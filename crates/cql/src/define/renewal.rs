//! Finds where a user type is used, and rebuilds those types when it changes.
//!
//! User types contain other user types and share them, so a type may be nested in another one by many paths: 2^64 in a
//! chain of 64 types that contain the previous one twice. Each type is therefore visited only once.

use std::collections::HashMap;
use std::sync::Arc;

use base::marshal::{CqlType, UserType};

/// A map by user type, identified by its address. The map keeps the types alive, so that no other type can get the same
/// address.
type SharedTypeKey<T> = HashMap<*const UserType, (Arc<UserType>, T)>;

/// Finds out which types contain a user type.
pub(super) struct Users {
    keyspace: String,
    name: String,
    seen: SharedTypeKey<bool>,
}

impl Users {
    pub(super) fn new(user: &UserType) -> Users {
        Users { keyspace: user.keyspace.clone(), name: user.name.clone(), seen: HashMap::new() }
    }

    /// Checks whether a type contains the user type.
    pub(super) fn are_in(&mut self, cql_type: &CqlType) -> bool {
        match cql_type {
            CqlType::Native(_) | CqlType::Custom(_) => false,
            CqlType::List { element, .. } | CqlType::Set { element, .. } => self.are_in(element),
            CqlType::Map { key, value, .. } => self.are_in(key) || self.are_in(value),
            CqlType::Tuple(fields) => fields.iter().any(|field| self.are_in(field)),
            CqlType::User { user: other, .. } if self.is_of(other) => true,
            CqlType::User { user: other, .. } => {
                if let Some((_, is_in)) = self.seen.get(&Arc::as_ptr(other)) {
                    return *is_in;
                }
                let is_in = other.fields.iter().any(|(_, field)| self.are_in(field));
                self.seen.insert(Arc::as_ptr(other), (other.clone(), is_in));
                is_in
            }
        }
    }

    /// Checks whether a type is the user type itself, in its current or an earlier definition.
    fn is_of(&self, other: &UserType) -> bool {
        (&other.keyspace, &other.name) == (&self.keyspace, &self.name)
    }
}

/// Rebuilds types with the new definition of a user type. Types that do not contain it stay the same, and shared.
pub(super) struct Renewal {
    user: Arc<UserType>,
    users: Users,
    seen: SharedTypeKey<Arc<UserType>>,
}

impl Renewal {
    pub(super) fn of(user: &Arc<UserType>) -> Renewal {
        Renewal { user: user.clone(), users: Users::new(user), seen: HashMap::new() }
    }

    /// Checks whether a type contains the user type.
    pub(super) fn changes(&mut self, cql_type: &CqlType) -> bool {
        self.users.are_in(cql_type)
    }

    /// Returns a user type, rebuilt with the new definition.
    pub(super) fn of_user(&mut self, old: &Arc<UserType>) -> Arc<UserType> {
        if self.users.is_of(old) {
            return self.user.clone();
        }
        if let Some((_, new)) = self.seen.get(&Arc::as_ptr(old)) {
            return new.clone();
        }
        let new = if old.fields.iter().any(|(_, field)| self.users.are_in(field)) {
            let fields = old.fields.iter().map(|(name, field)| (name.clone(), self.of_type(field)));
            let fields = fields.collect();
            Arc::new(UserType::new(&old.keyspace, &old.name, fields))
        } else {
            old.clone()
        };
        self.seen.insert(Arc::as_ptr(old), (old.clone(), new.clone()));
        new
    }

    /// Returns a type, rebuilt with the new definition.
    pub(super) fn of_type(&mut self, old: &CqlType) -> CqlType {
        match old {
            CqlType::Native(_) | CqlType::Custom(_) => old.clone(),
            CqlType::List { element, is_frozen } => {
                CqlType::List { element: Box::new(self.of_type(element)), is_frozen: *is_frozen }
            }
            CqlType::Set { element, is_frozen } => {
                CqlType::Set { element: Box::new(self.of_type(element)), is_frozen: *is_frozen }
            }
            CqlType::Map { key, value, is_frozen } => {
                let [key, value] = [key, value].map(|held| Box::new(self.of_type(held)));
                CqlType::Map { key, value, is_frozen: *is_frozen }
            }
            CqlType::Tuple(fields) => {
                CqlType::Tuple(fields.iter().map(|field| self.of_type(field)).collect())
            }
            CqlType::User { user: other, is_frozen } => {
                CqlType::User { user: self.of_user(other), is_frozen: *is_frozen }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Native;

    fn user(name: &str, fields: &[(&str, CqlType)]) -> Arc<UserType> {
        let fields = fields.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect();
        Arc::new(UserType::new("ks", name, fields))
    }

    #[test]
    fn each_type_of_a_chain_of_64_doubling_types_is_renewed_once_and_shared() {
        let int = CqlType::Native(Native::Int);
        let first = user("u0", &[("a", int.clone())]);
        let mut all = vec![first.clone()];
        for number in 1..=64 {
            let before = CqlType::frozen_user(all[number - 1].clone());
            all.push(user(&format!("u{number}"), &[("a", before.clone()), ("b", before)]));
        }
        let stranger = user("other", &[("a", CqlType::Native(Native::Text))]);
        let changed = user("u0", &[("a", int.clone()), ("more", int)]);
        let mut renewal = Renewal::of(&changed);
        let last = renewal.of_user(&all[64]);
        assert_eq!(renewal.seen.len(), 64);
        let [(_, CqlType::User { user: one, .. }), (_, CqlType::User { user: two, .. })] = &last.fields[..]
        else {
            panic!("{last:?}")
        };
        assert!(Arc::ptr_eq(one, two) && !Arc::ptr_eq(one, &all[63]));
        assert!(Arc::ptr_eq(&renewal.of_user(&stranger), &stranger));
        assert!(Users::new(&changed).are_in(&CqlType::frozen_user(last)));
        assert!(!Users::new(&stranger).are_in(&CqlType::frozen_user(all[64].clone())));
    }
}
