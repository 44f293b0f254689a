//! Finds invisible characters, which an XML file or a value must not have.
//!
//! Text copied from a web page or a word processor often has no-break spaces instead of blanks. XML treats them as
//! letters: `<ColumnFamily Name="A"\u{a0}CompareWith="UTF8Type"/>` has an attribute named `\u{a0}CompareWith`, and so
//! no comparator. Such characters are reported with their position.

use std::fmt;

use base::util::is_invisible;

/// A character. Displayed as its code point, with its name if it is a common one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodePoint(pub char);

/// The help for an invisible character.
pub(crate) const HELP: &str =
    "replace it with a blank, or remove it; it often comes with text that was copied from a web page";

/// The names of common invisible characters.
const NAMES: [(char, &str); 17] = [
    ('\u{9}', "tab"),
    ('\u{85}', "next line"),
    ('\u{a0}', "no-break space"),
    ('\u{ad}', "soft hyphen"),
    ('\u{2002}', "en space"),
    ('\u{2003}', "em space"),
    ('\u{2009}', "thin space"),
    ('\u{200b}', "zero width space"),
    ('\u{200c}', "zero width non-joiner"),
    ('\u{200d}', "zero width joiner"),
    ('\u{200e}', "left-to-right mark"),
    ('\u{200f}', "right-to-left mark"),
    ('\u{2028}', "line separator"),
    ('\u{202f}', "narrow no-break space"),
    ('\u{2060}', "word joiner"),
    ('\u{3000}', "ideographic space"),
    ('\u{feff}', "byte order mark"),
];

impl fmt::Display for CodePoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "U+{:04X}", u32::from(self.0))?;
        if let Some((_, name)) = NAMES.iter().find(|(named, _)| *named == self.0) {
            return write!(out, " ({name})");
        }
        if !is_of_xml(self.0) || is_invisible(self.0) { Ok(()) } else { write!(out, " ({})", self.0) }
    }
}

/// Returns whether a character is allowed in an XML file: `Char` of XML 1.0.
pub(crate) fn is_of_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Returns whether a character is allowed in the name of an element or attribute: `NameChar` of XML 1.0, without
/// invisible characters.
pub(crate) fn is_of_name(character: char) -> bool {
    matches!(character,
        '-' | '.' | '0'..='9' | ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{b7}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
        | '\u{200c}'..='\u{200d}' | '\u{203f}'..='\u{2040}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
        && !is_invisible(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_characters_are_those_of_xml() {
        assert!("ColumnFamily-1.a_b:cäö漢".chars().all(is_of_name));
        for other in [' ', '=', '"', '“', '/', '<', '\u{a0}', '\u{200b}', '\u{200d}', '\u{3000}', '\u{d7}']
        {
            assert!(!is_of_name(other), "{other:?}");
        }
    }

    #[test]
    fn blanks_of_xml_are_not_invisible() {
        assert!(" \t\r\nA-ü“漢".chars().all(|character| !is_invisible(character)));
        assert!("\u{a0}\u{200b}\u{feff}\u{2003}\u{85}\u{1}\u{7f}".chars().all(is_invisible));
        assert!(is_of_xml('\u{a0}') && !is_of_xml('\u{1}') && !is_of_xml('\u{ffff}'));
    }

    #[test]
    fn code_points_are_shown_with_their_names() {
        let shown = |character| CodePoint(character).to_string();
        assert_eq!(shown('\u{a0}'), "U+00A0 (no-break space)");
        assert_eq!(shown('\u{1}'), "U+0001");
        assert_eq!(shown('\u{2001}'), "U+2001");
        assert_eq!(shown('“'), "U+201C (“)");
    }
}
