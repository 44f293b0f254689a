//! Row keys as text, for conditions and the journal.

use crate::schema::CfDef;

/// Returns whether a condition's text means this key: as UTF-8, or in the text of the key's type.
pub fn means(text: &str, cf: &CfDef, key: &[u8]) -> bool {
    key == text.as_bytes() || typed(cf, key).is_some_and(|typed| typed == text)
}

/// Returns a key for people: in the text of its type if it has one, else as UTF-8, else in hexadecimal digits.
pub fn shown(cf: &CfDef, key: &[u8]) -> String {
    let has_type =
        cf.key_validator.as_ref().is_some_and(|of_key| !of_key.class_name().ends_with(".BytesType"));
    let plain = || std::str::from_utf8(key).ok().map(str::to_owned);
    let text = if has_type { typed(cf, key) } else { plain() };
    text.unwrap_or_else(|| key.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn typed(cf: &CfDef, key: &[u8]) -> Option<String> {
    let of_key = cf.key_validator.as_ref()?;
    of_key.validate(key).ok()?;
    Some(of_key.to_text(key))
}
