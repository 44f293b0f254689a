//! The access file of SimpleAuthenticator (0.6) and SimpleAuthority (0.7 and 0.8), which lists the users' rights.
//!
//! It is a Java properties file. One file may contain lines of both releases' forms; the key shows which form a line
//! has.
//!
//! | line | the listed users may |
//! |---|---|
//! | `<modify-keyspaces>=users` | add, change and drop keyspaces |
//! | `K.<rw>=users` | add, change and drop column families of the keyspace K |
//! | `K.<ro>=users` | nothing that the API asks for |
//! | `K.C.<ro>=users` | read the column family C of K |
//! | `K.C.<rw>=users` | read and write it |
//! | `K=users`, 0.6's | log in to K as of 0.6; after a login of 0.7 read and write every column family of K |
//!
//! Users are separated by commas. Neither release trims their names: a space after a comma is part of the name.

use std::collections::BTreeMap;
use std::path::Path;

use super::properties;
use super::rights::{RightLevel, Rights};

/// The key of the users who may add, change and drop keyspaces.
const MODIFY_KEYSPACES: &str = "<modify-keyspaces>";

/// The contents of an access file.
#[derive(Debug, Clone, Default)]
pub(super) struct AccessFile {
    /// Users by key.
    lines: BTreeMap<String, String>,
}

/// The parsed key of a line.
enum Key<'a> {
    Keyspaces,
    /// A keyspace's or a column family's full name, `K` or `K.C`.
    Named(&'a str, RightLevel),
    /// A keyspace, in 0.6's form.
    Old(&'a str),
}

fn key(text: &str) -> Key<'_> {
    if text == MODIFY_KEYSPACES {
        return Key::Keyspaces;
    }
    let named = |suffix, level| text.strip_suffix(suffix).map(|name| Key::Named(name, level));
    named(".<ro>", RightLevel::ReadOnly)
        .or_else(|| named(".<rw>", RightLevel::ReadWrite))
        .unwrap_or(Key::Old(text))
}

/// Returns whether a key has a valid form. Other text in angle brackets would be taken for the name of a keyspace.
pub(super) fn is_well_formed(text: &str) -> bool {
    match key(text) {
        Key::Keyspaces => true,
        Key::Named(name, _) | Key::Old(name) => !name.is_empty() && !name.contains(['<', '>']),
    }
}

fn names(users: &str, user: &str) -> bool {
    users.split(',').any(|name| name == user)
}

impl AccessFile {
    /// Reads a file; the error comes from the operating system.
    pub(super) fn read(path: &Path) -> std::io::Result<AccessFile> {
        properties::read(path).map(|lines| AccessFile { lines })
    }

    /// Returns whether a user may log in to a keyspace with the login of 0.6. Only the keyspace's own line in the
    /// form of 0.6 counts, because such a login allows more than any line of the other form.
    pub(super) fn opens(&self, keyspace: &str, user: &str) -> bool {
        matches!(key(keyspace), Key::Old(_))
            && self.lines.get(keyspace).is_some_and(|users| names(users, user))
    }

    /// Returns the user's rights after a login of 0.7 or later.
    pub(super) fn rights_of(&self, user: &str) -> Rights {
        let mut rights = Rights::default();
        for (text, _) in self.lines.iter().filter(|(_, users)| names(users, user)) {
            match key(text) {
                Key::Keyspaces => rights.grant_keyspaces(),
                Key::Named(name, level) => {
                    if level == RightLevel::ReadWrite {
                        rights.grant_definitions(name);
                    }
                    // Names may contain dots, so each dot may be the separator. 0.7 built the key from the names and
                    // therefore also matched every split.
                    for (dot, _) in name.match_indices('.') {
                        rights.grant_family(&name[..dot], &name[dot + 1..], level);
                    }
                }
                // The rights that 0.6 gave these users; its clients could not change the schema.
                Key::Old(keyspace) => rights.grant_data(keyspace),
            }
        }
        rights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;

    const FILE: &str = "\
        <modify-keyspaces>=root\n\
        K.<ro>=reader\n\
        K.<rw>=root,owner\n\
        K.C.<ro>=reader,both\n\
        K.C.<rw>=writer,both, blank\n\
        K.with.dots.<rw>=writer\n\
        Old=reader,old\n\
        Old.C.<ro>=old\n";

    fn file() -> AccessFile {
        AccessFile { lines: properties::parse(FILE) }
    }

    fn reads(user: &str, keyspace: &str, family: &str) -> bool {
        let (keyspace, family) = (keyspace.as_bytes(), family.as_bytes());
        file().rights_of(user).allow(Access::Read { keyspace, family })
    }

    fn writes(user: &str, keyspace: &str, family: &str) -> bool {
        let (keyspace, family) = (keyspace.as_bytes(), family.as_bytes());
        file().rights_of(user).allow(Access::Write { keyspace, family })
    }

    #[test]
    fn each_column_family_has_its_users() {
        assert!(reads("reader", "K", "C") && !writes("reader", "K", "C"));
        assert!(reads("writer", "K", "C") && writes("writer", "K", "C"), "who may write may read");
        assert!(writes("both", "K", "C"), "the greater of two rights counts");
        assert!(!reads("reader", "K", "D") && !reads("writer", "K", "D") && !reads("reader", "L", "C"));
        assert!(!reads("nobody", "K", "C") && !reads("", "K", "C"));
        assert!(!reads("blank", "K", "C") && reads(" blank", "K", "C"), "names are not trimmed");
        assert!(writes("writer", "K", "with.dots") && writes("writer", "K.with", "dots"));
    }

    #[test]
    fn a_right_to_definitions_is_no_right_to_data() {
        assert!(!reads("owner", "K", "C") && !reads("root", "K", "C"));
        let may_define = |user: &str, keyspace: &[u8]| {
            let rights = file().rights_of(user);
            let accesses = [
                Access::AddFamily { keyspace },
                Access::UpdateFamily { keyspace, family: b"C" },
                Access::DropFamily { keyspace, family: b"C" },
            ];
            let allowed = accesses.map(|access| rights.allow(access));
            assert_eq!(allowed, [allowed[0]; 3]);
            allowed[0]
        };
        assert!(may_define("owner", b"K") && may_define("root", b"K"));
        assert!(!may_define("owner", b"L") && !may_define("reader", b"K") && !may_define("writer", b"K"));
        assert!(!may_define("old", b"Old"), "clients of 0.6 could not change the schema");
        let change_keyspaces = |user: &str| {
            let rights = file().rights_of(user);
            let accesses = [
                Access::AddKeyspace,
                Access::UpdateKeyspace { keyspace: b"K" },
                Access::DropKeyspace { keyspace: b"K" },
            ];
            accesses.map(|access| rights.allow(access))
        };
        assert_eq!(change_keyspaces("root"), [true; 3]);
        assert_eq!(change_keyspaces("owner"), [false; 3]);
    }

    #[test]
    fn an_access_line_of_0_6_allows_all_data_of_its_keyspace() {
        assert!(writes("old", "Old", "C") && writes("reader", "Old", "Any"));
        assert!(!reads("old", "K", "C"));
        assert!(file().opens("Old", "old") && !file().opens("Old", "writer") && !file().opens("K", "root"));
    }

    #[test]
    fn a_login_of_0_6_cannot_use_a_key_of_the_later_format() {
        for (keyspace, user) in
            [("<modify-keyspaces>", "root"), ("K.<rw>", "owner"), ("K.<ro>", "reader"), ("K.C.<ro>", "both")]
        {
            assert!(!file().opens(keyspace, user), "{keyspace}");
        }
    }
}
