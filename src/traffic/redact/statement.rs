//! The constants of CQL statements.

use super::hashes::{Hashes, hex, unhex};
use crate::marshal::parse_date;

/// What a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Rows, whose values are redacted.
    Data,
    /// The schema, users, or tables of the system: nothing is redacted.
    System,
}

/// The words that begin statements about data.
const OF_DATA: [&str; 5] = ["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN"];

/// The words whose number stays: it is no data.
const BEFORE_SETTINGS: [&str; 5] = ["LIMIT", "TTL", "TIMESTAMP", "FIRST", "CONSISTENCY"];

/// The words that precede a column family.
const BEFORE_FAMILY: [&str; 3] = ["FROM", "INTO", "UPDATE"];

const UUID_LENGTH: usize = 36;

/// Returns what a statement is about, as its first words tell.
pub fn subject_of(statement: &str) -> Subject {
    let mut scan = Scan::new(statement);
    let mut before = String::new();
    let mut is_of_data = false;
    while let Some(token) = scan.next() {
        if matches!(token.kind, Kind::Space | Kind::Comment) {
            continue;
        }
        let word = token.text.trim_matches('"');
        if before.is_empty() {
            is_of_data = OF_DATA.iter().any(|known| known.eq_ignore_ascii_case(word));
        } else if BEFORE_FAMILY.iter().any(|known| known.eq_ignore_ascii_case(&before))
            && word.len() >= 6
            && word.is_char_boundary(6)
            && word[..6].eq_ignore_ascii_case("system")
            && scan.rest.trim_start().starts_with('.')
        {
            return Subject::System;
        }
        before = word.to_owned();
    }
    if is_of_data { Subject::Data } else { Subject::System }
}

/// Returns a statement about data with its constants replaced, and comments by spaces.
pub fn redacted(statement: &str, hashes: &Hashes) -> String {
    let mut out = String::with_capacity(statement.len());
    let mut scan = Scan::new(statement);
    let mut context = Context::default();
    while let Some(token) = scan.next() {
        match token.kind {
            Kind::Comment => out.extend(token.text.chars().map(|_| ' ')),
            Kind::Text => out.push_str(&quoted(token.text, hashes)),
            Kind::Hex => {
                let bytes = unhex(token.text.get(2..).unwrap_or_default().as_bytes());
                match bytes {
                    Some(bytes) => out.push_str(&format!("0x{}", hex(&hashes.data(&bytes)))),
                    None => out.push_str(&hashes.text(token.text)),
                }
            }
            Kind::Uuid => out.push_str(&hashes.text(&token.text.to_ascii_lowercase())),
            Kind::Number if context.keeps_number(&scan) => out.push_str(token.text),
            Kind::Number => out.push_str(&number(token.text, hashes)),
            Kind::Space | Kind::Word | Kind::Sign => out.push_str(token.text),
        }
        context.pass(&token);
    }
    out
}

/// Returns a text in quotes or between `$$` with its content replaced.
fn quoted(text: &str, hashes: &Hashes) -> String {
    let (quote, content) = match text.strip_prefix("$$") {
        Some(rest) => ("$$", rest.strip_suffix("$$").unwrap_or(rest).to_owned()),
        None => {
            let rest = text.strip_prefix('\'').unwrap_or(text);
            ("'", rest.strip_suffix('\'').unwrap_or(rest).replace("''", "'"))
        }
    };
    // A date is stored as a number, and a server would refuse its digits in another order.
    let content = match date_ms(&content) {
        Some(ms) => number(&ms.to_string(), hashes),
        None => hashes.text(&content),
    };
    let content = if quote == "'" { content.replace('\'', "''") } else { content };
    format!("{quote}{content}{quote}")
}

/// Returns the milliseconds of a text that begins as `2013-11-09`.
fn date_ms(text: &str) -> Option<i64> {
    let day: Vec<&str> = text.get(..10)?.split('-').collect();
    let is_day = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    (day.len() == 3 && day.iter().all(is_day)).then(|| parse_date(text)).flatten()
}

/// Returns a number as the value that it has becomes. Numbers that are no 64-bit integers are hashed by their digits.
fn number(text: &str, hashes: &Hashes) -> String {
    match text.parse::<i64>() {
        Ok(number) => match <[u8; 8]>::try_from(hashes.data(&number.to_be_bytes())) {
            Ok(hash) => i64::from_be_bytes(hash).to_string(),
            Err(_) => hashes.text(text),
        },
        Err(_) => text
            .split_inclusive(|c: char| !c.is_ascii_digit())
            .map(|part| match part.find(|c: char| !c.is_ascii_digit()) {
                Some(end) => format!("{}{}", hashes.text(&part[..end]), &part[end..]),
                None => hashes.text(part),
            })
            .collect(),
    }
}

/// What precedes a token.
#[derive(Debug, Default)]
struct Context {
    /// The last word or sign.
    last: String,
    /// Whether the last token was a word, without a space behind it.
    is_after_word: bool,
    is_index: bool,
    /// The open parentheses behind `token`.
    token_depth: Option<u32>,
    /// Whether a token was closed, and its comparison follows.
    is_after_token: bool,
}

impl Context {
    /// Returns whether a number is no data: a limit, a timestamp, a time to live, an index of a list, what a counter is
    /// incremented by, or a token.
    fn keeps_number(&self, scan: &Scan<'_>) -> bool {
        let is_setting = BEFORE_SETTINGS.iter().any(|word| word.eq_ignore_ascii_case(&self.last));
        let is_index = self.is_index && scan.rest.trim_start().starts_with(']');
        is_setting || is_index || self.is_after_token || matches!(self.last.as_str(), "+" | "-")
    }

    fn pass(&mut self, token: &Token<'_>) {
        match token.kind {
            Kind::Space => {
                self.is_after_word = false;
                return;
            }
            Kind::Comment => return,
            _ => {}
        }
        self.is_index = token.text == "[" && self.is_after_word;
        self.is_after_word = token.kind == Kind::Word;
        let depth = self.token_depth;
        match (token.text, depth) {
            ("(", Some(depth)) => self.token_depth = Some(depth + 1),
            (")", Some(1)) => (self.token_depth, self.is_after_token) = (None, true),
            (")", Some(depth)) => self.token_depth = Some(depth - 1),
            (word, None) if word.eq_ignore_ascii_case("token") => {
                (self.token_depth, self.is_after_token) = (Some(0), false);
            }
            _ if self.is_after_token && !matches!(token.text, "=" | "<" | ">") => self.is_after_token = false,
            _ => {}
        }
        token.text.clone_into(&mut self.last);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Comment,
    /// A word, or a name in double quotes.
    Word,
    /// A text in quotes or between `$$`.
    Text,
    Hex,
    Uuid,
    Number,
    /// One character.
    Sign,
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
}

/// The tokens of a statement, to its last character: none is left out, so the statement can be written again.
struct Scan<'a> {
    rest: &'a str,
    /// Whether a number may begin with a minus.
    may_be_negative: bool,
}

impl<'a> Scan<'a> {
    fn new(statement: &'a str) -> Scan<'a> {
        Scan { rest: statement, may_be_negative: true }
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let first = self.rest.chars().next()?;
        let (kind, length) = self.measure(first);
        let (text, rest) = self.rest.split_at(length.clamp(first.len_utf8(), self.rest.len()));
        self.rest = rest;
        if !matches!(kind, Kind::Space | Kind::Comment) {
            self.may_be_negative = matches!(text, "(" | "," | "=" | "<" | ">" | "[" | "{" | ":");
        }
        Some(Token { kind, text })
    }

    fn measure(&self, first: char) -> (Kind, usize) {
        let rest = self.rest;
        let until = |end: &str, from: usize| {
            rest.get(from..).and_then(|rest| rest.find(end)).map_or(rest.len(), |at| from + at)
        };
        let while_ = |is_part: fn(char) -> bool| rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        match first {
            _ if first.is_whitespace() => (Kind::Space, while_(char::is_whitespace)),
            _ if rest.starts_with("--") || rest.starts_with("//") => (Kind::Comment, until("\n", 0)),
            _ if rest.starts_with("/*") => (Kind::Comment, until("*/", 2) + 2),
            _ if rest.starts_with("$$") => (Kind::Text, until("$$", 2) + 2),
            '\'' => (Kind::Text, in_quotes(rest, b'\'')),
            '"' => (Kind::Word, in_quotes(rest, b'"')),
            _ if is_uuid(rest) => (Kind::Uuid, UUID_LENGTH),
            '0' if rest[1..].starts_with(['x', 'X']) => (Kind::Hex, while_(|c| c.is_ascii_alphanumeric())),
            '0'..='9' => (Kind::Number, length_of_number(rest)),
            '-' if self.may_be_negative && rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                (Kind::Number, 1 + length_of_number(&rest[1..]))
            }
            _ if first.is_alphanumeric() || first == '_' => {
                (Kind::Word, while_(|c| c.is_alphanumeric() || c == '_'))
            }
            _ => (Kind::Sign, first.len_utf8()),
        }
    }
}

/// Returns the length of a text in quotes, of which a doubled one is a part.
fn in_quotes(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            _ if *byte != quote => at += 1,
            _ if bytes.get(at + 1) == Some(&quote) => at += 2,
            _ => return at + 1,
        }
    }
    bytes.len()
}

fn is_uuid(text: &str) -> bool {
    let is_part = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let (Some(uuid), after) = (text.as_bytes().get(..UUID_LENGTH), text.as_bytes().get(UUID_LENGTH)) else {
        return false;
    };
    uuid.iter().enumerate().all(is_part) && after.is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// Returns the length of digits with a fraction, an exponent or units (`1h30m`).
fn length_of_number(text: &str) -> usize {
    let mut before = ' ';
    let end = text.find(|c: char| {
        let is_signed_exponent = matches!(before, 'e' | 'E') && matches!(c, '+' | '-');
        before = c;
        !(c.is_ascii_alphanumeric() || c == '.' || is_signed_exponent)
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::traffic::redact::{RedactionKey, Role, Roles};

    fn hashes() -> Hashes {
        Hashes::new(RedactionKey::of_secret(b"cql"), Roles::new(&[Role::Value]))
    }

    /// Returns a redacted statement with `N` for each changed number, and `T` for each changed text.
    fn shape(statement: &str) -> String {
        let redacted = redacted(statement, &hashes());
        let (mut one, mut other) = (Scan::new(statement), Scan::new(&redacted));
        let mut shape = String::new();
        while let (Some(before), Some(after)) = (one.next(), other.next()) {
            assert_eq!(
                before.kind == Kind::Comment,
                after.kind == Kind::Space && before.text.starts_with('/')
            );
            shape.push_str(match (before.text == after.text, after.kind) {
                (true, _) | (_, Kind::Space) => after.text,
                (_, Kind::Number) => "N",
                (_, Kind::Text) => "T",
                (_, Kind::Uuid) => "U",
                (_, Kind::Hex) => "H",
                (_, kind) => panic!("{kind:?} {after:?}"),
            });
        }
        shape
    }

    #[test]
    fn constants_are_replaced_and_nothing_else() {
        for (statement, expected) in [
            (
                "SELECT a, b1 FROM t WHERE k = 77 AND c = 'it''s' LIMIT 10",
                "SELECT a, b1 FROM t WHERE k = N AND c = T LIMIT 10",
            ),
            (
                "INSERT INTO t (k) VALUES (-500) USING TTL 60 AND TIMESTAMP 1234",
                "INSERT INTO t (k) VALUES (N) USING TTL 60 AND TIMESTAMP 1234",
            ),
            (
                "UPDATE t SET n = n + 5, l[3] = 'xyz', m['abc'] = 0xCAFE",
                "UPDATE t SET n = n + 5, l[3] = T, m[T] = H",
            ),
            (
                "SELECT * FROM t WHERE token(k) > -99 AND token(j) <= token(55)",
                "SELECT * FROM t WHERE token(k) > -99 AND token(j) <= token(N)",
            ),
            (
                "SELECT * FROM \"T2\" WHERE u = 02a5b7c0-49bc-11e3-8b3d-0800200c9a66",
                "SELECT * FROM \"T2\" WHERE u = U",
            ),
            ("UPDATE t SET l = [300, 400], f = 12.75, g = true", "UPDATE t SET l = [N, N], f = N, g = true"),
            (
                "SELECT $$secret$$ FROM t WHERE k IN (123, ?, :name)",
                "SELECT T FROM t WHERE k IN (N, ?, :name)",
            ),
        ] {
            assert_eq!(shape(statement), expected);
        }
        assert_eq!(redacted("DELETE /* why */ FROM t", &hashes()), "DELETE           FROM t");
    }

    #[test]
    fn a_constant_becomes_what_its_bytes_become() {
        let hashes = hashes();
        let text = redacted("SELECT 'Hello'", &hashes);
        assert_eq!(text.as_bytes()[8..13], hashes.data(b"Hello"));
        let date = redacted("SELECT '1970-01-01 00:01:10+0000'", &hashes);
        assert_eq!(date.replace('\'', ""), redacted("SELECT 70000", &hashes));
        let number: i32 = redacted("SELECT 70000", &hashes)[7..].parse().unwrap();
        assert_eq!(number.to_be_bytes()[..], hashes.data(&70_000_i32.to_be_bytes()));
    }

    #[test]
    fn statements_of_the_schema_and_the_system_are_recognized() {
        for (statement, subject) in [
            ("  select * from users", Subject::Data),
            ("-- hello\nBEGIN BATCH INSERT INTO t (k) VALUES (1) APPLY BATCH", Subject::Data),
            ("SELECT * FROM system.local WHERE key = 'local'", Subject::System),
            ("SELECT * FROM \"system\" . peers", Subject::System),
            ("SELECT * FROM systems WHERE k = 1", Subject::Data),
            ("CREATE TABLE t (k int PRIMARY KEY) WITH comment = 'c'", Subject::System),
            ("USE k", Subject::System),
            ("", Subject::System),
        ] {
            assert_eq!(subject_of(statement), subject, "{statement}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_redacted(statement in "[a-c0-9'\"$x.\\-/*(){}\\[\\] =é\n]{0,60}") {
            redacted(&statement, &hashes());
            subject_of(&statement);
        }
    }
}
