//! The interface of all languages.

use super::term::{CodeTerm, TypedCall};
use base::util::is_invisible;
use wire::thrift::interface::Type;

/// Calls as code of one language. Texts have places for others, such as `@call@`.
pub(super) struct CodeLanguage {
    pub name: &'static str,
    /// The program around the calls, which have the place `@calls@`.
    pub program: &'static str,
    /// Other places of the program, if messages are framed.
    pub framed: &'static [(&'static str, &'static str)],
    /// The same if they are not framed.
    pub unframed: &'static [(&'static str, &'static str)],
    /// The statement that opens the connection `@client@`.
    pub connect: &'static str,
    /// The statement of `@call@`.
    pub statement: &'static str,
    /// The statement of the last call, which prints the result.
    pub printed: &'static str,
    /// Returns a call by a client.
    pub call: fn(client: &str, call: &TypedCall) -> String,
}

impl CodeLanguage {
    /// Returns calls as a program.
    pub(super) fn program_of(&self, calls: &[TypedCall]) -> String {
        let mut connections: Vec<u64> = Vec::new();
        let mut statements = String::new();
        let is_single =
            calls.iter().all(|call| Some(call.connection) == calls.first().map(|first| first.connection));
        for (at, call) in calls.iter().enumerate() {
            let known = connections.iter().position(|connection| *connection == call.connection);
            let number = known.unwrap_or(connections.len());
            let client = if is_single { "client".to_owned() } else { format!("client{}", number + 1) };
            if known.is_none() {
                connections.push(call.connection);
                statements += &filled(self.connect, &[("client", &client)]);
            }
            let statement = if at + 1 == calls.len() { self.printed } else { self.statement };
            statements += &filled(statement, &[("call", &(self.call)(&client, call))]);
        }
        let is_framed = calls.last().is_none_or(TypedCall::is_framed);
        let places = if is_framed { self.framed } else { self.unframed };
        filled(self.program, &[places, &[("calls", &statements)]].concat())
    }
}

/// Returns a text with its places `@name@` filled. Places without a value stay empty.
pub(super) fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split('@').enumerate() {
        let is_place = at % 2 == 1;
        let value = values.iter().find(|(name, _)| is_place && *name == part).map_or("", |(_, value)| value);
        out += if is_place { value } else { part };
    }
    out
}

/// Returns the arguments of a call. `absent` returns the value of one that the message lacks.
pub(super) fn arguments(
    call: &TypedCall,
    absent: fn(&Type) -> &'static str,
    term: fn(&CodeTerm) -> String,
) -> String {
    separated(&call.arguments, |(field, argument)| match argument {
        None => absent(&field.declared).to_owned(),
        Some(argument) => term(argument),
    })
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
