//! Translates table properties from the names of 3.0 and later.

use std::borrow::Cow;

use base::compat::features::ReportedVersion;
use cql_syntax::{Properties, PropertyValue};

/// Properties of later releases that have no effect here.
const LATER: [&str; 5] = ["additional_write_policy", "cdc", "crc_check_chance", "extensions", "read_repair"];

/// Returns the properties with the names of 2.1. Clients of a server that reports an older version must use the old
/// names.
pub(crate) fn in_old_words<'p>(
    reported: &ReportedVersion,
    properties: &'p Properties,
) -> Cow<'p, Properties> {
    if !reported.has_properties_of_3_0() {
        return Cow::Borrowed(properties);
    }
    let mut old = Vec::new();
    for (name, value) in properties.0.iter().filter(|(name, _)| !LATER.contains(&&**name)) {
        let value = match (&**name, value) {
            ("speculative_retry", PropertyValue::Text(text)) => PropertyValue::Text(speculative_retry(text)),
            ("compression", PropertyValue::Map(map)) => PropertyValue::Map(compression(map)),
            _ => value.clone(),
        };
        old.push((name.clone(), value));
    }
    Cow::Owned(Properties(old))
}

/// Translates `99p` to `99PERCENTILE`, and NEVER to NONE.
fn speculative_retry(text: &str) -> String {
    let upper = text.to_ascii_uppercase();
    match upper.strip_suffix('P').map(str::parse::<f64>) {
        Some(Ok(number)) => format!("{number:?}PERCENTILE"),
        _ if upper == "NEVER" => "NONE".to_owned(),
        _ => text.to_owned(),
    }
}

/// Translates `class` to `sstable_compression`, which is empty if compression is off.
fn compression(map: &[(String, String)]) -> Vec<(String, String)> {
    const CLASS: &str = "sstable_compression";
    let is_off = map.iter().any(|(name, value)| name == "enabled" && value.eq_ignore_ascii_case("false"));
    if is_off || map.is_empty() {
        return vec![(CLASS.to_owned(), String::new())];
    }
    let mut old = Vec::new();
    for (name, value) in map {
        let name = match &**name {
            "enabled" => continue,
            "class" => CLASS,
            "chunk_length_in_kb" => "chunk_length_kb",
            other => other,
        };
        old.push((name.to_owned(), value.clone()));
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_property_names_are_accepted_for_newer_releases() {
        let text = |text: &str| PropertyValue::Text(text.to_owned());
        let map = |name: &str, value: &str| PropertyValue::Map(vec![(name.to_owned(), value.to_owned())]);
        let given = Properties(vec![
            ("cdc".to_owned(), text("false")),
            ("comment".to_owned(), text("99p")),
            ("speculative_retry".to_owned(), text("99p")),
            ("compression".to_owned(), map("class", "LZ4Compressor")),
        ]);
        let old = in_old_words(&ReportedVersion::default(), &given);
        let expected = [
            ("comment".to_owned(), text("99p")),
            ("speculative_retry".to_owned(), text("99.0PERCENTILE")),
            ("compression".to_owned(), map("sstable_compression", "LZ4Compressor")),
        ];
        assert_eq!(old.0, expected);
        assert_eq!(*in_old_words(&ReportedVersion::new("2.2.19").unwrap(), &given), given);
        assert_eq!(compression(&[("enabled".to_owned(), "false".to_owned())])[0].1, "");
    }
}
