//! Groups differences by their cause.
//!
//! Two differences have the same cause if they have the same kind and place, and texts of the same shape. A shape is a
//! text without what changes from call to call: numbers, quoted words and long hexadecimal words.
//!
//! ```text
//!   get_slice   data        [3].column.value   0x61 <> 0x62            one cause: data of get_slice at [*].column.value
//!   get_slice   data        [0].column.value   0x63 <> 0x64
//!   insert      exception                      a result <> InvalidRequestException: unknown keyspace "A"
//!   remove      exception                      a result <> InvalidRequestException: unknown keyspace "B"     one cause
//! ```
//!
//! For data, the values say nothing about the cause, but the method does. For exceptions it is the other way round.

use super::compared::{ANOTHER_ORDER, CallDifference, DifferenceKind};
use super::names::short;
use crate::limits::{REPORT_NAME_CHARS_MAX, REPORT_TEXT_CHARS_MAX};

/// The properties that the differences of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// The kind of the differences.
    pub kind: DifferenceKind,
    /// The method, for data. Empty for exceptions and texts.
    pub method: String,
    /// The place, with `[*]` for all indexes.
    pub path: String,
    /// The shape of the recorded answer.
    pub recorded: AnswerShape,
    /// The shape of the candidate's answer.
    pub candidate: AnswerShape,
}

/// The shape of an answer in all differences of a cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerShape {
    /// Nothing at this place, or no answer.
    Nothing,
    /// Any result, or any value at this place.
    Value,
    /// An exception: its name and the shape of its text.
    Exception(String),
}

impl Cause {
    /// Returns the cause of a difference in the answers to a method.
    pub fn of(method: &str, difference: &CallDifference<'_>) -> Cause {
        let shape = |text: Option<&str>| match text {
            None => AnswerShape::Nothing,
            Some(text) if difference.kind != DifferenceKind::Data && is_exception(text) => {
                AnswerShape::Exception(shape(&short(text, REPORT_TEXT_CHARS_MAX)))
            }
            Some(_) => AnswerShape::Value,
        };
        let method = if difference.kind == DifferenceKind::Data { method } else { "" };
        Cause {
            kind: difference.kind,
            method: short(method, REPORT_NAME_CHARS_MAX).into_owned(),
            path: path_shape(&short(difference.path, REPORT_NAME_CHARS_MAX)),
            recorded: shape(difference.recorded),
            candidate: shape(difference.candidate),
        }
    }

    /// Returns whether the candidate has not answered.
    pub fn is_without_answer(&self) -> bool {
        self.path.is_empty() && self.candidate == AnswerShape::Nothing
    }

    /// Returns the cause as a title. `recorded` and `candidate` are the names of the sides.
    pub fn title(&self, recorded: &str, candidate: &str) -> String {
        let place = if self.path.is_empty() { String::new() } else { format!(" at {}", self.path) };
        match (&self.recorded, &self.candidate) {
            _ if self.path.ends_with(ANOTHER_ORDER) => {
                format!("{}: the same elements in another order", self.method)
            }
            (_, AnswerShape::Nothing) if self.is_without_answer() => format!("no answer of the {candidate}"),
            (AnswerShape::Nothing, _) if self.path.is_empty() => format!("no answer of the {recorded}"),
            (AnswerShape::Exception(theirs), AnswerShape::Exception(ours)) => {
                format!("{ours} instead of {theirs}")
            }
            (AnswerShape::Exception(theirs), _) => format!("a result instead of {theirs}"),
            (_, AnswerShape::Exception(ours)) => format!("{ours} instead of a result"),
            (AnswerShape::Nothing, _) => format!("{}: only the {candidate} has a value{place}", self.method),
            (_, AnswerShape::Nothing) => format!("{}: only the {recorded} has a value{place}", self.method),
            (AnswerShape::Value, AnswerShape::Value) => format!("{}: another value{place}", self.method),
        }
    }
}

/// Returns whether a text is an exception: a name, and after it a colon or nothing.
fn is_exception(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_alphanumeric() && !"_.".contains(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    name.starts_with(char::is_alphabetic) && (rest.is_empty() || rest.starts_with(": "))
}

/// Returns a path with `[*]` for each index: `[3].column` becomes `[*].column`.
fn path_shape(path: &str) -> String {
    let mut shape = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('[') {
        shape += before;
        match after.split_once(']') {
            Some((_, after)) => {
                shape += "[*]";
                rest = after;
            }
            None => {
                shape.push('[');
                rest = after;
            }
        }
    }
    shape + rest
}

/// Returns a text with `…` for each number, quoted word and hexadecimal word of at least 8 digits.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let quoted = quoted_length(rest, first);
        let (length, changes) = match (quoted, word) {
            (Some(length), _) => (length, true),
            (None, 0) => (first.len_utf8(), false),
            (None, length) => (length, changes(&rest[..length])),
        };
        if changes {
            shape.push('…')
        } else {
            shape += &rest[..length]
        }
        rest = &rest[length..];
    }
    shape
}

/// Returns the length of a quoted text at the start of `text`. An apostrophe after a letter, as in "doesn't", is never at
/// the start, because it follows a word.
fn quoted_length(text: &str, first: char) -> Option<usize> {
    let quote = ['"', '\'', '`'].into_iter().find(|quote| *quote == first)?;
    text[1..].find(quote).map(|at| at + 2)
}

/// Returns whether a word changes from call to call.
fn changes(word: &str) -> bool {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex =
        word.bytes().all(|byte| byte.is_ascii_hexdigit()) && word.bytes().any(|byte| byte.is_ascii_digit());
    is_number || (is_hex && word.len() >= 8) || word.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_what_changes() {
        for (text, expected) in [
            ("unknown keyspace \"A\"", "unknown keyspace …"),
            (
                "Key length of 65536 is longer than maximum of 65535",
                "Key length of … is longer than maximum of …",
            ),
            ("(row 6b65a6a48b8148f6) v2 deadline facade", "(row …) v2 deadline facade"),
            ("can't open", "can't open"),
            ("0x00ff at 'x", "… at 'x"),
            ("", ""),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
        assert_eq!(path_shape("[31].super_column.columns[0].value"), "[*].super_column.columns[*].value");
        assert_eq!(path_shape("a[b"), "a[b");
    }

    #[test]
    fn a_cause_of_data_has_a_method_and_one_of_exceptions_has_texts() {
        let data = CallDifference {
            kind: DifferenceKind::Data,
            path: "[1].column.value",
            recorded: Some("0x61"),
            candidate: Some("0x62"),
        };
        let elsewhere = CallDifference { path: "[2].column.value", recorded: Some("Error: x"), ..data };
        assert_eq!(Cause::of("get_slice", &data), Cause::of("get_slice", &elsewhere));
        assert_ne!(Cause::of("get_slice", &data), Cause::of("get", &data));
        let missing = CallDifference { candidate: None, ..data };
        assert_eq!(
            Cause::of("get_slice", &missing).title("recording", "candidate"),
            "get_slice: only the recording has a value at [*].column.value"
        );

        let order = CallDifference { path: "[1] (order)", ..data };
        assert_eq!(
            Cause::of("SELECT", &order).title("recording", "candidate"),
            "SELECT: the same elements in another order"
        );

        let exception = CallDifference {
            kind: DifferenceKind::Exception,
            path: "",
            recorded: Some("[]"),
            candidate: Some("InvalidRequestException: unknown keyspace \"A\""),
        };
        let other = CallDifference {
            candidate: Some("InvalidRequestException: unknown keyspace \"B\""),
            ..exception
        };
        assert_eq!(Cause::of("insert", &exception), Cause::of("remove", &other));
        assert_eq!(
            Cause::of("insert", &exception).title("recording", "candidate"),
            "InvalidRequestException: unknown keyspace … instead of a result"
        );
        let silent = CallDifference { candidate: None, ..exception };
        assert_eq!(Cause::of("get", &silent).title("recording", "candidate"), "no answer of the candidate");
    }
}
