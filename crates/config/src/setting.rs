//! A setting: its names in both files, its words in the documentation, and how its value is checked. `settings.txt` has a
//! paragraph for each, so that they are written once:
//!
//! ```text
//!   element ThriftPort 0.4-0.6         <ThriftPort>9160</ThriftPort>
//!   key rpc_port 0.7-2.1               rpc_port: 9160
//!   default 9160
//!   meaning The port that Thrift clients connect to.
//! ```
//!
//! Its effect is a line in `set` or `read` of the part that has it (`SettingTarget`), by its first name.

use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::Releases;
use super::setting_table::settings_of;
use super::value::SettingValue;
use super::xml::XmlNode;
use super::yaml::Entry;

/// The kind of thing that a name is for. Each kind is a namespace of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// An element of storage-conf.xml.
    Element,
    /// An attribute of an element of storage-conf.xml.
    Attribute,
    /// A key in a mapping of cassandra.yaml.
    Key,
}

/// A setting's name in a file.
#[derive(Debug, Clone, Copy)]
pub struct SettingName {
    /// The thing with the name.
    pub kind: NameKind,
    /// The name, which is case-sensitive.
    pub name: &'static str,
    /// The releases whose files have it; `None` if it is an extension of thriftstore.
    pub releases: Releases,
}

/// Why a file does not have a setting.
#[derive(Debug, Clone, Copy)]
pub enum Absence {
    /// No release that is configured by this file had it.
    OtherReleases,
    /// The row with this name has it, because its place or its effect in this file differs.
    OtherRow(&'static str),
    /// It is an extension of thriftstore. Only storage-conf.xml is extended.
    Extension,
}

/// A setting's name in a file, or the reason for its absence.
pub type NameOrAbsence = Result<SettingName, Absence>;

/// A setting whose value is not a single text, where it is given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettingParts<'f> {
    /// An element with child elements.
    Element(&'f XmlNode),
    /// A key, and a value that may be a list or a mapping.
    Entry(&'f Entry),
}

/// A known setting.
#[derive(Debug, Clone)]
pub struct ConfigSetting {
    /// Its name in storage-conf.xml.
    pub xml: NameOrAbsence,
    /// Its name in cassandra.yaml.
    pub yaml: NameOrAbsence,
    /// The default value as the documentation prints it; empty if there is none.
    pub default: &'static str,
    /// The default in cassandra.yaml, if it differs.
    pub yaml_default: Option<&'static str>,
    /// The unit or kind of the value; may be empty.
    pub unit: &'static str,
    /// The property that it sets, or for a setting without effect the reason.
    pub meaning: &'static str,
    /// Whether its value is child elements, a list or a mapping instead of one text.
    pub has_parts: bool,
    /// Whether it is accepted and listed, and has no effect.
    pub is_ignored: bool,
    /// The check of the text of an element or attribute without effect (`SettingValue::check_ignored`).
    pub check: &'static str,
    /// Whether it is text for people, which may have invisible characters.
    pub is_free_text: bool,
}

impl ConfigSetting {
    /// Returns the setting's name of a kind, if it has one.
    pub fn name(&self, kind: NameKind) -> Option<SettingName> {
        [self.xml, self.yaml].into_iter().flatten().find(|name| name.kind == kind)
    }

    /// Returns the name by which its effect is found: its name in storage-conf.xml, else its name in cassandra.yaml.
    pub fn id(&self) -> &'static str {
        self.xml.or(self.yaml).map_or("", |own| own.name)
    }
}

/// The values of a part of a file while it is read, which its settings set.
pub(crate) trait SettingTarget {
    /// Returns the name of the part in `settings.txt`.
    fn part(&self) -> &'static str;

    /// Sets the value of the setting with an id from its text.
    fn set(&mut self, id: &str, value: &SettingValue<'_>) -> Result<(), Mistake>;

    /// Reads child elements, a list or a mapping.
    fn read(&mut self, id: &str, _given: SettingParts<'_>, _reading: &mut ConfigReader<'_>) {
        debug_assert!(false, "no code reads the setting {id}");
    }
}

/// Reports a row of `settings.txt` whose setting has no code.
pub(crate) fn unset(id: &str) -> Result<(), Mistake> {
    debug_assert!(false, "no code sets the setting {id}");
    Ok(())
}

/// Stores a parsed value in its field.
pub(crate) fn assign<V>(field: &mut V, parsed: Result<impl Into<V>, Mistake>) -> Result<(), Mistake> {
    *field = parsed?.into();
    Ok(())
}

/// Returns the row of a part with a name, and the name.
pub(crate) fn find(part: &str, kind: NameKind, name: &str) -> Option<(&'static ConfigSetting, SettingName)> {
    settings_of(part).iter().find_map(|row| Some((row, row.name(kind).filter(|own| own.name == name)?)))
}

/// Returns the names of a kind in a part.
pub(crate) fn names(part: &str, kind: NameKind) -> impl Iterator<Item = &'static str> {
    settings_of(part).iter().filter_map(move |row| Some(row.name(kind)?.name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use base::marshal::Types;

    use super::*;
    use crate::cluster::{CLUSTER, ClusterDraft};
    use crate::column_family::{COLUMN, ColumnDraft, FAMILY, FamilyDraft};
    use crate::draft::Draft;
    use crate::encryption::{ENCRYPTION, EncryptionDraft};
    use crate::keyspace::{KEYSPACE, KeyspaceDraft};
    use crate::load::STORAGE;
    use crate::setting_table::parse;
    use crate::xml::Text;

    const PARTS: [&str; 6] = [STORAGE, KEYSPACE, FAMILY, COLUMN, ENCRYPTION, CLUSTER];

    /// The names of a setting in storage-conf.xml and in cassandra.yaml.
    type Names = [NameOrAbsence; 2];

    /// Returns the names of a part's settings. Each is there once, and each setting has a name and a meaning.
    fn names_of(rows: &[ConfigSetting]) -> Vec<Names> {
        let mut found = BTreeSet::new();
        for row in rows {
            assert!(
                row.xml.is_ok() || row.yaml.is_ok(),
                "no file has the setting that means: {}",
                row.meaning
            );
            for own in [row.xml, row.yaml].into_iter().flatten() {
                assert!(!row.meaning.is_empty(), "{} has no meaning", own.name);
                assert!(found.insert((own.kind as u8, own.name)), "{} has two rows", own.name);
            }
        }
        rows.iter().map(|row| [row.xml, row.yaml]).collect()
    }

    /// Returns a name as a word that is the same in both files: `rpc_port` and `RpcPort` are `rpcport`.
    fn word_of(name: &str) -> String {
        name.replace('_', "").to_lowercase()
    }

    /// Checks that a setting of a table which a file does not have is not a setting of that file.
    fn check(table: &[Names], all: &[Vec<Names>]) {
        for (own, other) in [(0, 1), (1, 0)] {
            let there: BTreeSet<&str> =
                all.iter().flatten().filter_map(|names| Some(names[other].ok()?.name)).collect();
            let words: BTreeSet<String> =
                table.iter().filter_map(|names| Some(word_of(names[other].ok()?.name))).collect();
            for names in table {
                let (Ok(SettingName { name, kind, .. }), Err(absence)) = (names[own], names[other]) else {
                    continue;
                };
                match absence {
                    Absence::OtherRow(row) => {
                        assert!(there.contains(row), "{name} names {row}, which is no row")
                    }
                    Absence::Extension => assert!(kind == NameKind::Element, "{name} extends cassandra.yaml"),
                    Absence::OtherReleases => assert!(
                        !words.contains(&word_of(name)),
                        "{name} has a row for each file: make one of them, or name the other row"
                    ),
                }
            }
        }
    }

    /// A setting is one row. If a file does not have it, the row says why: another row has it in that file, and exists, or
    /// the releases with that file did not have it, and then no other row has its name.
    #[test]
    fn a_setting_has_a_name_in_both_files_or_the_reason_for_its_absence() {
        let tables = PARTS.map(|part| names_of(settings_of(part)));
        for table in &tables {
            assert!(!table.is_empty());
            check(table, &tables);
        }
    }

    #[test]
    #[should_panic(expected = "NumTokens has a row for each file")]
    fn a_setting_with_a_row_for_each_file_is_found() {
        let rows = "table A\n\nelement NumTokens 0.4\nignored X\n\nkey num_tokens 1.2-2.1\nignored X";
        let table = names_of(&parse(rows)["A"]);
        check(&table, std::slice::from_ref(&table));
    }

    /// `unset` panics if a row has no code.
    #[test]
    fn every_row_has_code() {
        let mut family = FamilyDraft::new("K");
        let targets: [&mut dyn SettingTarget; 6] = [
            &mut Draft::default(),
            &mut KeyspaceDraft::default(),
            &mut family,
            &mut ColumnDraft::default(),
            &mut EncryptionDraft::default(),
            &mut ClusterDraft::default(),
        ];
        let (types, given) = (Types::builtin(), Text::default());
        for target in targets {
            for row in settings_of(target.part()) {
                let own = row.xml.or(row.yaml).unwrap();
                let value =
                    SettingValue { name: own.name, kind: own.kind, given: &given, text: "1", types: &types };
                if row.is_ignored {
                    let _ = value.check_ignored(row.check);
                } else if !row.has_parts {
                    let _ = target.set(row.id(), &value);
                }
            }
        }
    }
}
