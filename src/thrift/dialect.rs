//! Which generation of the API a call belongs to, and how the server behaves towards it.

use super::args::Args;
use super::methods::{METHODS, Method};
use crate::model::Behaviour;
use crate::util::Release;

/// Whose behaviour applies where the bytes of a call do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compat {
    /// For calls that carry a keyspace: 0.4 to 0.6.
    pub with_keyspace: Release,
    /// For calls after set_keyspace: 0.7 and later.
    pub after_set_keyspace: Release,
}

impl Default for Compat {
    fn default() -> Compat {
        Compat { with_keyspace: Release::V0_6, after_set_keyspace: Release::V2_1 }
    }
}

impl Compat {
    /// Sets the level of the release's own family and leaves the other.
    pub fn set(&mut self, release: Release) {
        if release < Release::V0_7 {
            self.with_keyspace = release;
        } else {
            self.after_set_keyspace = release;
        }
    }
}

/// One connection's state.
#[derive(Debug, Default)]
pub struct Session {
    /// A login has succeeded. It opens every keyspace, and a later one that fails takes nothing back (0.6).
    pub is_logged_in: bool,
}

/// The row of the method table that a call means: that whose arguments have the call's types, and among those
/// that of the release whose behaviour applies. `None` when there is no method of this name.
pub fn find_method(name: &[u8], args: &Args<'_>, compat: &Compat) -> Option<&'static Method> {
    let named = || METHODS.iter().filter(|method| method.name.as_bytes() == name);
    let of_shape = || named().filter(|method| args.fit(method.args));
    of_shape()
        .find(|method| (method.since..=method.until).contains(&compat.with_keyspace))
        .or_else(|| of_shape().next_back())
        .or_else(|| named().next_back())
}

/// The behaviour that a method's calls get.
pub fn behaviour_for(method: &Method, compat: &Compat) -> &'static Behaviour {
    let level = if method.since < Release::V0_7 { compat.with_keyspace } else { compat.after_set_keyspace };
    Behaviour::of(level)
}
