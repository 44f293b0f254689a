//! Syntax errors, in the words of the old servers' parser.

use super::token::{Token, TokenKind, Tokens};
use crate::{Place, SyntaxError};

/// The number of tokens that a message shows before and after the faulty token, including spaces.
const WORDS_BEFORE: usize = 10;
const WORDS_AFTER: usize = 2;

/// Returns the error for a single invalid character.
pub(crate) fn at_character(place: Place, message: &str) -> SyntaxError {
    SyntaxError::Syntax { message: format!("line {}:{} {message}", place.line, place.column), place }
}

/// A token that does not fit, as indexes into all tokens: `reported` is the token in the message, `index` is where the
/// parser's choice between alternatives began, and `seen` is the last token that the old parser had looked at.
pub(crate) struct UnexpectedToken {
    pub reported: usize,
    pub index: usize,
    pub seen: usize,
}

/// Returns the error for an unexpected token.
pub(crate) fn at_token(
    text: &str,
    tokens: &Tokens,
    misfit: &UnexpectedToken,
    message: &str,
    shows_words: bool,
) -> SyntaxError {
    let Some(token) = tokens.get(misfit.reported) else {
        return SyntaxError::Syntax { message: message.to_owned(), place: Place::START };
    };
    let place = place_of(text, &token);
    let header = match token.kind {
        // The old servers report the end of the text like this, wherever it is.
        TokenKind::End => "line 0:-1".to_owned(),
        _ => format!("line {}:{}", place.line, place.column),
    };
    let words =
        if shows_words { words_around(text, tokens, misfit).unwrap_or_default() } else { String::new() };
    SyntaxError::Syntax { message: format!("{header} {message}{words}"), place }
}

fn place_of(text: &str, token: &Token) -> Place {
    Place::START.behind(text.get(..token.start).unwrap_or_default())
}

/// Returns ` (...some words [fault] more ...)`, which Cassandra 2.1 and later append. Its lines are joined without a
/// separator, and a string counts without its quotes.
fn words_around(text: &str, tokens: &Tokens, misfit: &UnexpectedToken) -> Option<String> {
    let first = tokens.get(misfit.index.saturating_sub(WORDS_BEFORE))?;
    let last = tokens.get((misfit.index + WORDS_AFTER).min(misfit.seen))?;
    let fault = tokens.get(misfit.index)?;
    if [first, last, fault].iter().any(|token| token.kind == TokenKind::End) {
        return None;
    }
    let [first_place, last_place, fault_place] = [first, last, fault].map(|token| place_of(text, &token));
    let width = |token: &Token| token.value(text).encode_utf16().count();
    let last_end = last_place.column + width(&last);
    let line_count = text.trim_end_matches('\n').split('\n').count();
    if last_place.line > line_count {
        return None;
    }
    // Other lines of the text are not copied: there can be millions of them.
    let shown = text.split('\n').take(last_place.line).skip(first_place.line - 1);
    let mut lines: Vec<Vec<u16>> = shown.map(|line| line.encode_utf16().collect()).collect();
    let is_whole_start = first_place == Place::START;
    let is_whole_end = last_place.line == line_count && Some(last_end) == lines.last().map(Vec::len);

    lines.last_mut()?.truncate(last_end);
    let fault_line = lines.get_mut(fault_place.line - first_place.line)?;
    let close_at = (fault_place.column + width(&fault)).min(fault_line.len());
    fault_line.insert(close_at, u16::from(b']'));
    fault_line.insert(fault_place.column.min(close_at), u16::from(b'['));
    let first_line = lines.first_mut()?;
    first_line.drain(..first_place.column.min(first_line.len()));

    let shown = lines.concat();
    let start = if is_whole_start { "" } else { "..." };
    let end = if is_whole_end { "" } else { "..." };
    Some(format!(" ({start}{}{end})", String::from_utf16_lossy(&shown)))
}
