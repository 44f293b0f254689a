//! Row keys as text, for conditions and the journal.

use super::argument_text::cut;
use crate::limits::JOURNAL_TEXT_CHARS_MAX;
use base::marshal::{AbstractType, BytesType, TypeRef};
use base::schema::CfDef;

/// Returns whether a condition's text means this key: as UTF-8, in the text of the key's type, or in hexadecimal
/// digits.
pub(super) fn means(text: &str, cf: &CfDef, key: &[u8]) -> bool {
    key == text.as_bytes()
        || bytes_text(cf.key_validator.as_ref(), key) == text
        || BytesType.to_text(key) == text
}

/// Returns a key for people. Long keys are cut.
pub(super) fn shown(cf: &CfDef, key: &[u8]) -> String {
    cut(bytes_text(cf.key_validator.as_ref(), key), JOURNAL_TEXT_CHARS_MAX)
}

/// Returns bytes for people: in the text of their type if they have one, else as UTF-8, else in hexadecimal digits.
pub(super) fn bytes_text(of_type: Option<&TypeRef>, bytes: &[u8]) -> String {
    let of_type = of_type.filter(|of_type| !of_type.class_name().ends_with(".BytesType"));
    if let Some(of_type) = of_type.filter(|of_type| !bytes.is_empty() && of_type.validate(bytes).is_ok()) {
        return of_type.to_text(bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => BytesType.to_text(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;

    #[test]
    fn keys_are_shown_and_compared_in_the_text_of_their_type() {
        let plain = CfDef::new("ks", "plain");
        assert_eq!(shown(&plain, b"jonas"), "jonas");
        assert_eq!(shown(&plain, b"\xff\x01"), "ff01");
        assert_eq!(shown(&plain, &[0, 7]), "0007");
        assert!(means("jonas", &plain, b"jonas") && !means("jonas", &plain, b"anna"));
        let typed = CfDef { key_validator: Types::builtin().resolve("Int32Type"), ..plain };
        assert_eq!(shown(&typed, &[0, 0, 0, 7]), "7");
        assert!(means("7", &typed, &[0, 0, 0, 7]) && !means("8", &typed, &[0, 0, 0, 7]));
    }

    #[test]
    fn long_keys_are_cut() {
        let cf = CfDef::new("ks", "plain");
        let text = shown(&cf, "ä".repeat(JOURNAL_TEXT_CHARS_MAX + 1).as_bytes());
        assert_eq!(text.chars().count(), JOURNAL_TEXT_CHARS_MAX + 1);
        assert!(text.ends_with("ä…"));
        assert!(!shown(&cf, "ä".repeat(JOURNAL_TEXT_CHARS_MAX).as_bytes()).ends_with('…'));
    }
}
