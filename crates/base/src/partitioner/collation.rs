//! Collation keys of the JDK's `Collator` for US English. Their order as bytes is the collator's order.
//!
//! Today's collation libraries have another order, and no option changes that. The JDK still has its table of the
//! 1990s: blanks and hyphens only distinguish words that are otherwise equal, and all scripts except Latin come after
//! it, in the order of their UTF-16 code units. So the table is defined here. It was compared with JDK 17: the keys of
//! all characters of Latin-1 and Latin Extended-A, and of text in scripts that the JDK does not collate, are equal byte
//! for byte. Missing are rarer Latin letters with accents (such as those of Vietnamese), compatibility characters and
//! rarer combining marks: these 424 characters of the Basic Multilingual Plane are sorted after Latin here.
//!
//! A character has one or more elements, each with three weights. A key has all primaries, then all secondaries, then
//! all tertiaries. Each weight is stored as two bytes, increased by one, and two zero bytes separate the parts:
//!
//! ```text
//! "a b"   0053 0054 | 0000 | 0001 0077 0001 | 0000 | 0001 0001
//!         a    b             a    blank b            a    b
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

/// The weights of a character. Without a primary it only counts if the primaries of two texts are equal.
#[derive(Debug, Clone, Copy)]
struct CollationElement {
    primary: u16,
    secondary: u16,
    tertiary: u16,
}

/// The largest secondary of an element with a primary. Secondaries of elements without a primary are increased by it,
/// so that they sort after these.
const SECONDARY_MAX: u16 = 0x75;
/// The same for tertiaries.
const TERTIARY_MAX: u16 = 1;

/// The primary before a character that is not in the table. The next primaries are its UTF-16 code units.
const UNMAPPED: u16 = 0x7fff;

/// Characters by their primaries, from 1.
const PRIMARIES: &str = "_¯,;:!¡?¿/.´`^¨~·¸'\"«»()[]{}§¶©®@¤฿¢₡₢$₫€₣₤₥₦₧£₨₪₩¥*\\&#%+±÷×<=>¬|¦°µ0123456789¼½¾\
    abcdðefghijklmnopqrstuvwxyz";

/// Characters without a primary (blanks, accents, hyphens) in the order of their secondaries: groups, each with its
/// first secondary.
const SECONDARIES: [(u16, &str); 5] = [
    (0x01, " \u{a0}\u{2000}\u{2001}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{3000}\u{feff}"),
    (0x0e, "\r\t\n\u{c}\u{b}"),
    (0x13, "\u{301}\u{300}\u{306}\u{302}\u{30c}\u{30a}\u{30d}\u{308}\u{30b}\u{303}\u{307}\u{304}"),
    (0x1f, "\u{337}\u{327}\u{328}\u{323}"),
    (0x6e, "\u{ad}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}"),
];

/// Accented letters: the accent, the letters without it, the letters with it.
const ACCENTED: [(char, &str, &str); 13] = [
    ('\u{301}', "AEIOUYaeiouyCcLlNnRrSsZz", "ÁÉÍÓÚÝáéíóúýĆćĹĺŃńŔŕŚśŹź"),
    ('\u{300}', "AEIOUaeiou", "ÀÈÌÒÙàèìòù"),
    ('\u{306}', "AaEeGgIiOoUu", "ĂăĔĕĞğĬĭŎŏŬŭ"),
    ('\u{302}', "AEIOUaeiouCcGgHhJjSsWwYy", "ÂÊÎÔÛâêîôûĈĉĜĝĤĥĴĵŜŝŴŵŶŷ"),
    ('\u{30c}', "CcDdEeLlNnRrSsTtZz", "ČčĎďĚěĽľŇňŘřŠšŤťŽž"),
    ('\u{30a}', "AaUu", "ÅåŮů"),
    ('\u{308}', "AEIOUaeiouyY", "ÄËÏÖÜäëïöüÿŸ"),
    ('\u{30b}', "OoUu", "ŐőŰű"),
    ('\u{303}', "ANOanoIiUu", "ÃÑÕãñõĨĩŨũ"),
    ('\u{307}', "CcEeGgIZz", "ĊċĖėĠġİŻż"),
    ('\u{304}', "AaEeIiOoUu", "ĀāĒēĪīŌōŪū"),
    ('\u{327}', "CcGgKkLlNnRrSsTt", "ÇçĢģĶķĻļŅņŖŗŞşŢţ"),
    ('\u{328}', "AaEeIiUu", "ĄąĘęĮįŲų"),
];

/// Letters that are sorted as two: the letter, the two letters, and their tertiaries.
const DOUBLE: [(char, &str, [u16; 2]); 7] = [
    ('Æ', "ae", [3, 1]),
    ('æ', "ae", [2, 1]),
    ('Œ', "oe", [3, 1]),
    ('œ', "oe", [2, 1]),
    ('Þ', "th", [3, 1]),
    ('þ', "th", [2, 1]),
    ('ß', "ss", [2, 1]),
];

/// The elements of all characters in the table.
static TABLE: LazyLock<HashMap<char, Vec<CollationElement>>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    add_singles(&mut table);
    add_accented(&mut table);
    add_doubles(&mut table);
    table
});

/// Adds characters with one element, and control characters, which have none.
fn add_singles(table: &mut HashMap<char, Vec<CollationElement>>) {
    for (primary, single) in (1..).zip(PRIMARIES.chars()) {
        table.insert(single, vec![CollationElement { primary, secondary: 0, tertiary: 0 }]);
        if let ('a'..='z' | 'ð', Some(capital)) = (single, single.to_uppercase().next()) {
            table.insert(capital, vec![CollationElement { primary, secondary: 0, tertiary: 1 }]);
        }
    }
    for control in ('\0'..='\u{8}').chain('\u{e}'..='\u{1f}').chain('\u{7f}'..='\u{9f}') {
        table.insert(control, Vec::new());
    }
    for joiner in '\u{200b}'..='\u{200f}' {
        table.insert(joiner, Vec::new());
    }
    for (first, group) in SECONDARIES {
        for (secondary, ignored) in (first..).zip(group.chars()) {
            table.insert(ignored, vec![CollationElement { primary: 0, secondary, tertiary: 0 }]);
        }
    }
    // The only one of these that also has a tertiary. Its secondary is the same as for the last symbol mark.
    table.insert('-', vec![CollationElement { primary: 0, secondary: 0x6d, tertiary: 1 }]);
}

/// Adds accented letters: the element of the letter, then the element of the accent.
fn add_accented(table: &mut HashMap<char, Vec<CollationElement>>) {
    for (accent, plain, accented) in ACCENTED {
        assert!(
            plain.chars().count() == accented.chars().count(),
            "a letter of {accented} would not be sorted"
        );
        for (plain, accented) in plain.chars().zip(accented.chars()) {
            let elements =
                [plain, accent].iter().filter_map(|part| table.get(part)).flatten().copied().collect();
            table.insert(accented, elements);
        }
    }
}

/// Adds letters that are sorted as two.
fn add_doubles(table: &mut HashMap<char, Vec<CollationElement>>) {
    for (double, letters, tertiaries) in DOUBLE {
        let plain = letters.chars().filter_map(|letter| table.get(&letter)).flatten().copied();
        assert!(letters.chars().count() == tertiaries.len(), "{double} would be sorted as one letter");
        let elements =
            plain.zip(tertiaries).map(|(letter, tertiary)| CollationElement { tertiary, ..letter }).collect();
        table.insert(double, elements);
    }
}

/// The three parts of a key that is being built.
#[derive(Debug, Default)]
struct Weights {
    primaries: Vec<u16>,
    secondaries: Vec<u16>,
    tertiaries: Vec<u16>,
}

impl Weights {
    fn push(&mut self, element: CollationElement) {
        let CollationElement { primary, secondary, tertiary } = element;
        if primary != 0 {
            // U+FFFF wraps to zero, as in the JDK.
            self.primaries.push(primary.wrapping_add(1));
            self.secondaries.push(secondary + 1);
            self.tertiaries.push(tertiary + 1);
            return;
        }
        if secondary != 0 {
            self.secondaries.push(secondary + SECONDARY_MAX + 1);
        }
        if tertiary != 0 {
            self.tertiaries.push(tertiary + TERTIARY_MAX + 1);
        }
    }

    fn push_char(&mut self, char: char) {
        if let Some(elements) = TABLE.get(&char) {
            elements.iter().for_each(|element| self.push(*element));
            return;
        }
        let unmapped = |primary: u16| CollationElement { primary, secondary: 0, tertiary: 0 };
        self.push(unmapped(UNMAPPED));
        for unit in char.encode_utf16(&mut [0; 2]) {
            self.push(unmapped(*unit));
        }
    }
}

/// Appends the collation key of a text.
pub(super) fn push_collation_key(text: &str, out: &mut Vec<u8>) {
    let mut weights = Weights::default();
    text.chars().for_each(|char| weights.push_char(char));
    let Weights { primaries, secondaries, tertiaries } = weights;
    let parts = [primaries, vec![0], secondaries, vec![0], tertiaries];
    out.extend(parts.into_iter().flatten().flat_map(u16::to_be_bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        push_collation_key(text, &mut key);
        key
    }

    fn hex(text: &str) -> String {
        crate::util::hex(&key(text))
    }

    #[test]
    fn keys_of_the_jdk() {
        assert_eq!(hex(""), "00000000");
        assert_eq!(hex("\0"), "00000000");
        assert_eq!(hex("a"), "00530000000100000001");
        assert_eq!(hex("Z"), "006d0000000100000002");
        assert_eq!(hex("Ð"), "00570000000100000002");
        assert_eq!(hex(" "), "000000770000");
        assert_eq!(hex("-"), "000000e300000003");
        assert_eq!(hex("\t"), "000000850000");
        assert_eq!(hex("é"), "005800000001008900000001");
        assert_eq!(hex("Æ"), "00530058000000010001000000040002");
        assert_eq!(hex("ß"), "00660066000000010001000000030002");
        assert_eq!(
            hex("Žižek"),
            format!(
                "{}{}{}",
                "006d005c006d0058005e0000", "0001008d00010001008d000100010000", "00020001000100010001"
            )
        );
        assert_eq!(hex("日本"), "800065e68000672d0000000100010001000100000001000100010001");
        assert_eq!(hex("😀"), "8000d83ede0100000001000100010000000100010001");
    }

    /// Texts are sorted by letters, then by accents, blanks and hyphens, then by case.
    #[test]
    fn order_of_the_jdk() {
        let order = [
            "_", "/", ".", "@", "0", "10", "9", "a", "A", "ab", "Ab", "a b", "áb", "a-b", "b", "user1",
            "user-1", "user2", "z", "Ω", "а", "日", "한",
        ];
        assert!(order.is_sorted_by_key(|text| key(text)));
    }

    #[test]
    fn the_tables_are_complete() {
        assert_eq!(PRIMARIES.chars().count(), 0x6c);
        for (accent, plain, accented) in ACCENTED {
            assert_eq!(plain.chars().count(), accented.chars().count(), "{accent:?}");
            assert!(accented.chars().all(|letter| TABLE[&letter].len() == 2), "{accent:?}");
        }
        assert!(DOUBLE.iter().all(|(double, ..)| TABLE[double].len() == 2));
    }
}
