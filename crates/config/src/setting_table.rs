//! Reads `settings.txt`, the table of all settings.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::releases::Releases;
use super::setting::{Absence, ConfigSetting, NameKind, NameOrAbsence, SettingName};
use base::compat::Span;

/// The rows of each part of the files.
type Rows = BTreeMap<&'static str, Vec<ConfigSetting>>;

static ROWS: LazyLock<Rows> = LazyLock::new(|| parse(include_str!("settings.txt")));

/// Returns the settings of a part of the files, such as `Storage` or `ColumnFamily`: none if there is no such part.
pub fn settings_of(part: &str) -> &'static [ConfigSetting] {
    ROWS.get(part).map_or(&[], Vec::as_slice)
}

/// Parses the format that the head of `settings.txt` describes.
pub(crate) fn parse(text: &'static str) -> Rows {
    let (mut rows, mut reasons, mut part) = (Rows::new(), BTreeMap::new(), "");
    for paragraph in text.split("\n\n") {
        let mut row = ConfigSetting {
            xml: Err(Absence::OtherReleases),
            yaml: Err(Absence::OtherReleases),
            default: "",
            yaml_default: None,
            unit: "",
            meaning: "",
            has_parts: false,
            is_ignored: false,
            check: "",
            is_free_text: false,
        };
        for line in paragraph.lines().filter(|line| !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "reason" => {
                    let (name, reason) = rest.split_once(' ').unwrap_or((rest, ""));
                    reasons.insert(name, reason);
                }
                "table" => part = rest,
                "element" => row.xml = name(NameKind::Element, rest),
                "attribute" => row.xml = name(NameKind::Attribute, rest),
                "key" => row.yaml = name(NameKind::Key, rest),
                "default" => row.default = rest,
                "yaml-default" => row.yaml_default = Some(rest),
                "unit" => row.unit = rest,
                "meaning" => row.meaning = rest,
                "parts" => row.has_parts = true,
                "free-text" => row.is_free_text = true,
                "checks" => row.check = rest,
                "ignored" => {
                    row.is_ignored = true;
                    row.meaning = reasons.get(rest).copied().unwrap_or(rest);
                }
                _ => debug_assert!(line.is_empty(), "settings.txt: {line}"),
            }
        }
        if !row.id().is_empty() {
            rows.entry(part).or_default().push(row);
        }
    }
    rows
}

fn name(kind: NameKind, text: &'static str) -> NameOrAbsence {
    match text.split_once(' ') {
        None => Err(Absence::Extension),
        Some(("elsewhere", row)) => Err(Absence::OtherRow(row)),
        Some((name, releases)) => Ok(SettingName { kind, name, releases: releases_in(releases) }),
    }
}

fn releases_in(text: &str) -> Releases {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok(), last.parse().ok());
    debug_assert_eq!(first.is_none() || last.is_none(), text == "own", "settings.txt: releases {text}");
    first.zip(last).map(|(first, last)| Span::between(first, last))
}
