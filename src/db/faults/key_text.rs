//! Row keys as text, for conditions and the journal.

use crate::marshal::{AbstractType, BytesType};
use crate::schema::CfDef;

/// Length of a key in the journal. Longer keys are cut.
const SHOWN_CHARS_MAX: usize = 1_000;

/// Returns whether a condition's text means this key: as UTF-8, or in the text of the key's type.
pub fn means(text: &str, cf: &CfDef, key: &[u8]) -> bool {
    key == text.as_bytes() || typed(cf, key).is_some_and(|typed| typed == text)
}

/// Returns a key for people: in the text of its type if it has one, else as UTF-8, else in hexadecimal digits.
/// Long keys are cut.
pub fn shown(cf: &CfDef, key: &[u8]) -> String {
    let has_type =
        cf.key_validator.as_ref().is_some_and(|of_key| !of_key.class_name().ends_with(".BytesType"));
    let plain = || std::str::from_utf8(key).ok().map(str::to_owned);
    let text = if has_type { typed(cf, key) } else { plain() };
    let mut text = text.unwrap_or_else(|| BytesType.to_text(key));
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn typed(cf: &CfDef, key: &[u8]) -> Option<String> {
    let of_key = cf.key_validator.as_ref()?;
    of_key.validate(key).ok()?;
    Some(of_key.to_text(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Types;

    #[test]
    fn keys_are_shown_and_compared_in_the_text_of_their_type() {
        let plain = CfDef::new("ks", "plain");
        assert_eq!(shown(&plain, b"jonas"), "jonas");
        assert_eq!(shown(&plain, b"\xff\x01"), "ff01");
        assert!(means("jonas", &plain, b"jonas") && !means("jonas", &plain, b"anna"));
        let typed = CfDef { key_validator: Types::builtin().resolve("Int32Type"), ..plain };
        assert_eq!(shown(&typed, &[0, 0, 0, 7]), "7");
        assert!(means("7", &typed, &[0, 0, 0, 7]) && !means("8", &typed, &[0, 0, 0, 7]));
    }

    #[test]
    fn long_keys_are_cut() {
        let cf = CfDef::new("ks", "plain");
        let text = shown(&cf, "ä".repeat(SHOWN_CHARS_MAX + 1).as_bytes());
        assert_eq!(text.chars().count(), SHOWN_CHARS_MAX + 1);
        assert!(text.ends_with("ä…"));
        assert!(!shown(&cf, "ä".repeat(SHOWN_CHARS_MAX).as_bytes()).ends_with('…'));
    }
}
