//! Java properties files, in which the era's servers kept users and rights.

use std::collections::BTreeMap;
use std::path::Path;

/// Reads `key=value` lines: `#` and `!` begin comments, `=`, `:` or white space ends the key, a backslash takes
/// the next character as it is, and one at the end of a line joins the next. Later lines win.
pub fn parse(text: &str) -> BTreeMap<String, String> {
    let mut properties = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while ends_in_open_backslash(&line) {
            line.pop();
            line.push_str(lines.next().unwrap_or_default().trim_start());
        }
        let (key, value) = split_pair(&line);
        properties.insert(key, value);
    }
    properties
}

/// Reads a file of properties.
pub fn read(path: &Path) -> std::io::Result<BTreeMap<String, String>> {
    std::fs::read_to_string(path).map(|text| parse(&text))
}

fn ends_in_open_backslash(line: &str) -> bool {
    line.chars().rev().take_while(|character| *character == '\\').count() % 2 == 1
}

fn split_pair(line: &str) -> (String, String) {
    let mut characters = line.chars().peekable();
    let mut key = String::new();
    while let Some(character) = characters.next_if(|character| !matches!(character, '=' | ':' | ' ' | '\t')) {
        push_unescaped(character, &mut characters, &mut key);
    }
    while characters.next_if(|character| matches!(character, ' ' | '\t')).is_some() {}
    characters.next_if(|character| matches!(character, '=' | ':'));
    while characters.next_if(|character| matches!(character, ' ' | '\t')).is_some() {}
    let mut value = String::new();
    while let Some(character) = characters.next() {
        push_unescaped(character, &mut characters, &mut value);
    }
    (key, value)
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
            let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
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
    fn reads_what_java_reads() {
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
}
