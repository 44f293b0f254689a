//! Java properties files, in which Thrift-era servers stored users and rights.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

use crate::limits::USERS_FILE_BYTES_MAX;

/// A key and its value.
pub(super) struct PropertyPair {
    /// The number of its first line, from 1.
    pub line: usize,
    pub key: String,
    pub value: String,
    /// Whether a separator ends the key: `=`, `:` or white space.
    pub has_separator: bool,
}

impl PropertyPair {
    /// Returns whether the pair contains an invalid escape. Java refuses such a file.
    pub(super) fn has_bad_escape(&self) -> bool {
        self.key.contains(char::REPLACEMENT_CHARACTER) || self.value.contains(char::REPLACEMENT_CHARACTER)
    }
}

/// Reads `key=value` lines. Later lines win.
pub(super) fn parse(text: &str) -> BTreeMap<String, String> {
    pairs(text).into_iter().map(|pair| (pair.key, pair.value)).collect()
}

/// Reads `key=value` lines: `#` and `!` begin comments, `=`, `:` or white space ends the key, a backslash takes
/// the next character as it is, and one at the end of a line joins the next.
pub(super) fn pairs(text: &str) -> Vec<PropertyPair> {
    let mut pairs = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while ends_in_open_backslash(&line) {
            line.pop();
            line.push_str(lines.next().map_or("", |(_, line)| line).trim_start());
        }
        pairs.push(split_pair(number, &line));
    }
    pairs
}

/// Reads a properties file.
pub(super) fn read(path: &Path) -> std::io::Result<BTreeMap<String, String>> {
    read_text(path).map(|text| parse(&text))
}

/// Reads the text of a file, which must be UTF-8 and within the size limit.
pub(super) fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    // Reads one byte more than the limit, so that an endless file is detected.
    File::open(path)?.take(USERS_FILE_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    if text.len() > USERS_FILE_BYTES_MAX {
        let why = format!("the file has more than {USERS_FILE_BYTES_MAX} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(text)
}

fn ends_in_open_backslash(line: &str) -> bool {
    line.chars().rev().take_while(|character| *character == '\\').count() % 2 == 1
}

fn split_pair(number: usize, line: &str) -> PropertyPair {
    let mut characters = line.chars().peekable();
    let mut key = String::new();
    while let Some(character) = characters.next_if(|character| !matches!(character, '=' | ':' | ' ' | '\t')) {
        push_unescaped(character, &mut characters, &mut key);
    }
    let has_separator = characters.peek().is_some();
    while characters.next_if(|character| matches!(character, ' ' | '\t')).is_some() {}
    characters.next_if(|character| matches!(character, '=' | ':'));
    while characters.next_if(|character| matches!(character, ' ' | '\t')).is_some() {}
    let mut value = String::new();
    while let Some(character) = characters.next() {
        push_unescaped(character, &mut characters, &mut value);
    }
    PropertyPair { line: number, key, value, has_separator }
}

fn push_unescaped(character: char, rest: &mut impl Iterator<Item = char>, out: &mut String) {
    if character != '\\' {
        out.push(character);
        return;
    }
    match rest.next() {
        Some('n') => out.push('\n'),
        Some('t') => out.push('\t'),
        Some('r') => out.push('\r'),
        Some('f') => out.push('\u{c}'),
        Some('u') => {
            let digits: String = rest.take(4).collect();
            let code =
                u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4).and_then(char::from_u32);
            out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Some(other) => out.push(other),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_parsed_as_java_does() {
        let text = "# users\njsmith=havebadpass\nElvis\\ Presley=graceland4evar\n  a : b c \n!x=y\nlong=one,\\\n  two\nu=\\u0041\nempty\n";
        let found = parse(text);
        let get = |key: &str| found.get(key).map(String::as_str);
        assert_eq!(get("jsmith"), Some("havebadpass"));
        assert_eq!(get("Elvis Presley"), Some("graceland4evar"));
        assert_eq!(get("a"), Some("b c "));
        assert_eq!(get("long"), Some("one,two"));
        assert_eq!(get("u"), Some("A"));
        assert_eq!(get("empty"), Some(""));
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn pairs_have_line_numbers() {
        let found = pairs("# users\n\na=b\nlong=one,\\\n  two\nempty\nu=\\uD800\n");
        let shown: Vec<_> =
            found.iter().map(|pair| (pair.line, pair.key.as_str(), pair.has_separator)).collect();
        assert_eq!(shown, [(3, "a", true), (4, "long", true), (6, "empty", false), (7, "u", true)]);
        assert_eq!(
            found.iter().map(PropertyPair::has_bad_escape).collect::<Vec<_>>(),
            [false, false, false, true]
        );
    }
}
