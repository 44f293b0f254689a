//! A row of the tables of settings.
//!
//! One row has the names of a setting in both files, so that its meaning, its default and its effect are written once:
//!
//! ```text
//!   row(element("ThriftPort", TO_0_6), key("rpc_port", FROM_0_7))     <ThriftPort>9160</ThriftPort>
//!       .default("9160")                                              rpc_port: 9160
//!       .meaning("The port that Thrift clients connect to.")
//!       .sets(|draft, value| assign(&mut draft.config.thrift_port, value.port()))
//! ```
//!
//! A file without the setting has the reason in place of the name: `REMOVED`, `ADDED`, `EXTENSION` or `elsewhere`.

use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::{FROM_0_7, Releases};
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

/// The last release with storage-conf.xml did not have the setting.
pub(crate) const ADDED: NameOrAbsence = Err(Absence::OtherReleases);
/// The first release with cassandra.yaml no longer had the setting.
pub(crate) const REMOVED: NameOrAbsence = Err(Absence::OtherReleases);
/// No Cassandra had the setting.
pub(crate) const EXTENSION: NameOrAbsence = Err(Absence::Extension);

/// The row with this name has the setting in this file.
pub(crate) const fn elsewhere(name: &'static str) -> NameOrAbsence {
    Err(Absence::OtherRow(name))
}

/// The setting is an element of storage-conf.xml in these releases.
pub(crate) const fn element(name: &'static str, releases: Releases) -> NameOrAbsence {
    Ok(SettingName { kind: NameKind::Element, name, releases })
}

/// The setting is an attribute of an element of storage-conf.xml in these releases.
pub(crate) const fn attribute(name: &'static str, releases: Releases) -> NameOrAbsence {
    Ok(SettingName { kind: NameKind::Attribute, name, releases })
}

/// The setting is a key of cassandra.yaml in these releases.
pub(crate) const fn key(name: &'static str, releases: Releases) -> NameOrAbsence {
    Ok(SettingName { kind: NameKind::Key, name, releases })
}

/// A setting whose value is not a single text, where it is given.
#[derive(Debug, Clone, Copy)]
pub enum SettingParts<'f> {
    /// An element with child elements.
    Element(&'f XmlNode),
    /// A key, and a value that may be a list or a mapping.
    Entry(&'f Entry),
}

/// The effect of a setting.
pub enum SettingEffect<T> {
    /// Sets a value from a text.
    Value(fn(&mut T, &SettingValue<'_>) -> Result<(), Mistake>),
    /// Reads child elements, a list or a mapping.
    Parts(fn(&mut T, SettingParts<'_>, &mut ConfigReader<'_>)),
    /// None: it is accepted and listed. Only the text of an element or attribute is checked, as by the old servers.
    Nothing(fn(&SettingValue<'_>) -> Result<(), Mistake>),
}

/// A known setting. `T` has its value.
pub struct ConfigSetting<T> {
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
    /// Its effect if a file has it.
    pub effect: SettingEffect<T>,
    /// Whether it is text for people, which may have invisible characters.
    pub is_free_text: bool,
}

/// Begins a row with the names in storage-conf.xml and in cassandra.yaml.
pub(crate) const fn row<T>(xml: NameOrAbsence, yaml: NameOrAbsence) -> ConfigSetting<T> {
    ConfigSetting {
        xml,
        yaml,
        default: "",
        yaml_default: None,
        unit: "",
        meaning: "",
        effect: SettingEffect::Nothing(|_| Ok(())),
        is_free_text: false,
    }
}

/// Makes the row of a setting without effect that only cassandra.yaml has.
pub(crate) const fn ignored_key<T>(name: &'static str, reason: &'static str) -> ConfigSetting<T> {
    row(ADDED, key(name, FROM_0_7)).ignored(reason, |_| Ok(()))
}

impl<T> ConfigSetting<T> {
    /// With a default value.
    pub const fn default(self, default: &'static str) -> Self {
        ConfigSetting { default, ..self }
    }

    /// With a default value in cassandra.yaml that differs.
    pub const fn yaml_default(self, default: &'static str) -> Self {
        ConfigSetting { yaml_default: Some(default), ..self }
    }

    /// With a unit or kind of the value.
    pub const fn unit(self, unit: &'static str) -> Self {
        ConfigSetting { unit, ..self }
    }

    /// With a text about what it sets.
    pub const fn meaning(self, meaning: &'static str) -> Self {
        ConfigSetting { meaning, ..self }
    }

    /// For people: invisible characters are not mistakes.
    pub const fn free_text(self) -> Self {
        ConfigSetting { is_free_text: true, ..self }
    }

    /// With an effect on a value, which `set` parses.
    pub const fn sets(self, set: fn(&mut T, &SettingValue<'_>) -> Result<(), Mistake>) -> Self {
        ConfigSetting { effect: SettingEffect::Value(set), ..self }
    }

    /// With child elements, a list or a mapping.
    pub const fn reads(self, read: fn(&mut T, SettingParts<'_>, &mut ConfigReader<'_>)) -> Self {
        ConfigSetting { effect: SettingEffect::Parts(read), ..self }
    }

    /// Without an effect, for a reason.
    pub const fn ignored(
        self,
        reason: &'static str,
        check: fn(&SettingValue<'_>) -> Result<(), Mistake>,
    ) -> Self {
        ConfigSetting { meaning: reason, effect: SettingEffect::Nothing(check), ..self }
    }

    /// Returns whether the setting has an effect.
    pub fn has_effect(&self) -> bool {
        !matches!(self.effect, SettingEffect::Nothing(_))
    }

    /// Returns the setting's name of a kind, if it has one.
    pub fn name(&self, kind: NameKind) -> Option<SettingName> {
        [self.xml, self.yaml].into_iter().flatten().find(|name| name.kind == kind)
    }
}

/// Stores a parsed value in its field.
pub(crate) fn assign<V>(field: &mut V, parsed: Result<impl Into<V>, Mistake>) -> Result<(), Mistake> {
    *field = parsed?.into();
    Ok(())
}

/// Returns the row with a name, and the name.
pub(crate) fn find<'r, T>(
    rows: &'r [ConfigSetting<T>],
    kind: NameKind,
    name: &str,
) -> Option<(&'r ConfigSetting<T>, SettingName)> {
    rows.iter().find_map(|row| Some((row, row.name(kind).filter(|own| own.name == name)?)))
}

/// Returns the names of a kind.
pub(crate) fn names<T>(rows: &[ConfigSetting<T>], kind: NameKind) -> impl Iterator<Item = &str> {
    rows.iter().filter_map(move |row| Some(row.name(kind)?.name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cluster::CLUSTER_SETTINGS;
    use crate::column_family::{COLUMN_SETTINGS, FAMILY_SETTINGS};
    use crate::encryption::ENCRYPTION_SETTINGS;
    use crate::keyspace::KEYSPACE_SETTINGS;
    use crate::server_settings::SETTINGS;

    /// The names of a setting in storage-conf.xml and in cassandra.yaml.
    type Names = [NameOrAbsence; 2];

    /// Returns the names of a table's settings. Each is there once, and each setting has a name and a meaning.
    fn names_of<T>(rows: &[ConfigSetting<T>]) -> Vec<Names> {
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
        let tables = [
            names_of(SETTINGS),
            names_of(KEYSPACE_SETTINGS),
            names_of(FAMILY_SETTINGS),
            names_of(COLUMN_SETTINGS),
            names_of(ENCRYPTION_SETTINGS),
            names_of(CLUSTER_SETTINGS),
        ];
        for table in &tables {
            check(table, &tables);
        }
    }

    #[test]
    #[should_panic(expected = "NumTokens has a row for each file")]
    fn a_setting_with_a_row_for_each_file_is_found() {
        let table = names_of::<()>(&[
            row(element("NumTokens", FROM_0_7), REMOVED).ignored("There are no other nodes.", |_| Ok(())),
            ignored_key("num_tokens", "There are no other nodes."),
        ]);
        check(&table, std::slice::from_ref(&table));
    }
}
