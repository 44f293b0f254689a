//! Syntax errors, in the words of the old servers' parser.

use super::token::{Token, TokenKind};
use crate::cql::{CqlError, Place};

/// The number of tokens that a message shows before and after the faulty token, including spaces.
const WORDS_BEFORE: usize = 10;
const WORDS_AFTER: usize = 2;

/// Returns the error for a single invalid character.
pub fn at_character(line: u32, column: u32, message: &str) -> CqlError {
    CqlError::Syntax {
        message: format!("line {line}:{column} {message}"),
        place: Place { line: line as usize, column: column as usize },
    }
}

/// A token that does not fit, as indexes into all tokens: `reported` is the token in the message, `index` is where the
/// parser's choice between alternatives began, and `seen` is the last token that the old parser had looked at.
pub struct UnexpectedToken {
    pub reported: usize,
    pub index: usize,
    pub seen: usize,
}

/// Returns the error for an unexpected token.
pub fn at_token(
    text: &str,
    tokens: &[Token],
    misfit: &UnexpectedToken,
    message: &str,
    shows_words: bool,
) -> CqlError {
    let Some(token) = tokens.get(misfit.reported) else {
        return CqlError::Syntax { message: message.to_owned(), place: Place { line: 1, column: 0 } };
    };
    let header = match token.kind {
        // The old servers report the end of the text like this, wherever it is.
        TokenKind::End => "line 0:-1".to_owned(),
        _ => format!("line {}:{}", token.line, token.column),
    };
    let words =
        if shows_words { words_around(text, tokens, misfit).unwrap_or_default() } else { String::new() };
    CqlError::Syntax { message: format!("{header} {message}{words}"), place: token.place() }
}

/// Returns ` (...some words [fault] more ...)`, which Cassandra 2.1 and later append. Its lines are joined without a
/// separator, and a string counts without its quotes.
fn words_around(text: &str, tokens: &[Token], misfit: &UnexpectedToken) -> Option<String> {
    let first = tokens.get(misfit.index.saturating_sub(WORDS_BEFORE))?;
    let last = tokens.get((misfit.index + WORDS_AFTER).min(misfit.seen))?;
    let fault = tokens.get(misfit.index)?;
    if [first, last, fault].iter().any(|token| token.kind == TokenKind::End) {
        return None;
    }
    let mut lines: Vec<Vec<u16>> = text.split('\n').map(|line| line.encode_utf16().collect()).collect();
    while lines.len() > 1 && lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    let end_of = |token: &Token| token.column as usize + token.value(text).encode_utf16().count();
    let line_of = |token: &Token| token.line as usize - 1;
    let is_whole_start = first.line == 1 && first.column == 0;
    let is_whole_end = last.line as usize == lines.len() && Some(end_of(last)) == lines.last().map(Vec::len);

    lines.get_mut(line_of(last))?.truncate(end_of(last));
    let fault_line = lines.get_mut(line_of(fault))?;
    let close_at = end_of(fault).min(fault_line.len());
    fault_line.insert(close_at, u16::from(b']'));
    fault_line.insert((fault.column as usize).min(close_at), u16::from(b'['));
    let first_line = lines.get_mut(line_of(first))?;
    first_line.drain(..(first.column as usize).min(first_line.len()));

    let shown: Vec<u16> = lines.get(line_of(first)..=line_of(last))?.concat();
    let start = if is_whole_start { "" } else { "..." };
    let end = if is_whole_end { "" } else { "..." };
    Some(format!(" ({start}{}{end})", String::from_utf16_lossy(&shown)))
}
