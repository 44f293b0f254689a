//! The interface of all languages.

use super::term::TypedCall;
use base::util::is_invisible;

/// Prints calls as code of one language.
pub(super) trait CodeLanguage {
    fn name(&self) -> &'static str;

    /// Returns the beginning of the program.
    fn begin(&self, is_framed: bool) -> String;

    /// Returns the statement that opens a connection.
    fn connect(&self, client: &str) -> String;

    /// Returns the statement of a call. The statement of the last call prints the result.
    fn call(&self, client: &str, call: &TypedCall, is_last: bool) -> String;

    /// Returns the end of the program.
    fn end(&self) -> String;
}

/// Returns calls as a program.
pub(super) fn program(language: &dyn CodeLanguage, calls: &[TypedCall]) -> String {
    let mut connections: Vec<u64> = Vec::new();
    let mut out = language.begin(calls.last().is_none_or(TypedCall::is_framed));
    let is_single =
        calls.iter().all(|call| Some(call.connection) == calls.first().map(|first| first.connection));
    for (at, call) in calls.iter().enumerate() {
        let known = connections.iter().position(|connection| *connection == call.connection);
        let number = known.unwrap_or(connections.len());
        let client = if is_single { "client".to_owned() } else { format!("client{}", number + 1) };
        if known.is_none() {
            connections.push(call.connection);
            out += &language.connect(&client);
        }
        out += &language.call(&client, call, at + 1 == calls.len());
    }
    out + &language.end()
}

/// Returns items, separated by commas.
pub(super) fn separated<T>(items: &[T], print: impl Fn(&T) -> String) -> String {
    items.iter().map(print).collect::<Vec<_>>().join(", ")
}

/// Writes a text as the content of a string literal in double quotes. `other` writes an invisible character.
pub(super) fn escape(out: &mut String, text: &str, other: impl Fn(&mut String, char)) {
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if is_invisible(letter) => other(out, letter),
            letter => out.push(letter),
        }
    }
}

/// Returns a string literal of Java or JavaScript: invisible characters are units of UTF-16.
pub(super) fn utf16_literal(text: &str) -> String {
    let mut out = String::from("\"");
    escape(&mut out, text, utf16);
    out.push('"');
    out
}

/// Returns JSON with invisible characters as units of UTF-16. They only occur in its strings.
pub fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_invisible(letter) { utf16(&mut out, letter) } else { out.push(letter) }
    }
    out
}

fn utf16(out: &mut String, letter: char) {
    for unit in letter.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// Returns a name with capital letters where words begin: `column_family` becomes `ColumnFamily`.
pub(super) fn camel(name: &str) -> String {
    name.split('_').map(capital).collect()
}

/// Returns a word with a capital first letter.
pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
