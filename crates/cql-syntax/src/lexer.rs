//! Splits text into tokens, by the lexical rules of CQL 3, which CQL 2 shares.
//!
//! The parser gets an error for text that is not CQL ([`tokens`]). Readers of any text, such as scripts, recordings and
//! logs, get it as [`TokenKind::Unknown`] instead ([`tokens_of_any`]).

use super::failure;
use super::token::{Token, TokenKind, Tokens};
use crate::error::invalid;
use crate::limits::{STATEMENT_BYTES_MAX, STATEMENT_TOKENS_MAX};
use crate::{Place, Result, SyntaxError};

/// Returns all tokens of a text, including spaces and comments; the last token is `End`.
pub(crate) fn tokens(text: &str) -> Result<Tokens> {
    if text.len() > STATEMENT_BYTES_MAX {
        return invalid(format!("A statement can have {STATEMENT_BYTES_MAX} bytes at most"));
    }
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Tokens::of_length(text.len());
    loop {
        let start = lexer.at;
        let kind = lexer.next().map_err(|unreadable| lexer.failure(unreadable))?;
        tokens.push(kind, start)?;
        if kind == TokenKind::End {
            return Ok(tokens);
        }
        if tokens.count() > STATEMENT_TOKENS_MAX {
            return invalid(format!("A statement can have {STATEMENT_TOKENS_MAX} words at most"));
        }
    }
}

/// Returns the tokens of any text, including spaces and comments, without `End`. They cover the text to its last byte.
/// Text that is not CQL is `Unknown`: one character, or from a quote or comment without an end to the end of the text.
pub fn tokens_of_any(text: &str) -> impl Iterator<Item = Token> {
    let mut lexer = Lexer { text, at: 0 };
    std::iter::from_fn(move || {
        let start = lexer.at;
        let kind = lexer.next().unwrap_or_else(|unreadable| {
            lexer.at += match unreadable {
                UnreadableText::Characters(length) => length,
                UnreadableText::Unended(_) => text.len() - start,
            };
            TokenKind::Unknown
        });
        (kind != TokenKind::End).then_some(Token { kind, start, end: lexer.at })
    })
}

/// Text that is not a token.
enum UnreadableText {
    /// A character that begins no token, or an empty name `""`. Contains the length in bytes.
    Characters(usize),
    /// A quote or a comment without an end. Contains the first character of the end.
    Unended(&'static str),
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the byte at an offset from the current position; 0 at the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads the next token. The position stays before text that is not one.
    fn next(&mut self) -> Result<TokenKind, UnreadableText> {
        debug_assert!(self.text.is_char_boundary(self.at), "the rest of the text would be left out");
        let (kind, length) = match self.byte(0) {
            _ if self.rest().is_empty() => (TokenKind::End, 0),
            b' ' | b'\t' | b'\r' | b'\n' => {
                (TokenKind::Hidden, self.run(0, |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')))
            }
            b'-' if self.byte(1) == b'-' => (TokenKind::Hidden, self.line_comment()),
            b'/' if self.byte(1) == b'/' => (TokenKind::Hidden, self.line_comment()),
            b'/' if self.byte(1) == b'*' => (TokenKind::Hidden, self.closed_by(2, "*/")?),
            b'$' if self.byte(1) == b'$' => (TokenKind::String, self.closed_by(2, "$$")?),
            b'\'' => (TokenKind::String, self.quoted(b'\'')?),
            b'"' if self.byte(1) == b'"' && self.byte(2) != b'"' => {
                return Err(UnreadableText::Characters(2));
            }
            b'"' => (TokenKind::QuotedName, self.quoted(b'"')?),
            _ if self.is_uuid() => (TokenKind::Uuid, 36),
            b'0' if matches!(self.byte(1), b'x' | b'X') => {
                (TokenKind::Blob, 2 + self.run(2, |byte| byte.is_ascii_hexdigit()))
            }
            b'0'..=b'9' => self.number(0),
            b'-' if self.byte(1).is_ascii_digit() => self.number(1),
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'!' | b'<' | b'>' if self.byte(1) == b'=' => (TokenKind::Symbol, 2),
            b'=' | b'<' | b'>' | b'+' | b'-' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b':'
            | b';' | b'.' | b'*' | b'?' => (TokenKind::Symbol, 1),
            _ => {
                let character = self.rest().chars().next();
                return Err(UnreadableText::Characters(character.map_or(0, char::len_utf8)));
            }
        };
        debug_assert!(length > 0 || kind == TokenKind::End, "the text would never end");
        self.at = (self.at + length).min(self.text.len());
        Ok(kind)
    }

    /// Returns how many bytes from `from` on meet the condition.
    fn run(&self, from: usize, is_in: impl Fn(u8) -> bool) -> usize {
        self.rest().bytes().skip(from).take_while(|byte| is_in(*byte)).count()
    }

    /// Returns the length of a comment up to and including its newline, or up to the end of the text.
    fn line_comment(&self) -> usize {
        self.rest().find(['\n', '\r']).map_or(self.rest().len(), |end| end + 1)
    }

    fn closed_by(&self, opening: usize, closing: &'static str) -> Result<usize, UnreadableText> {
        let found = self.rest().get(opening..).and_then(|inner| inner.find(closing));
        match found {
            Some(at) => Ok(opening + at + closing.len()),
            None => Err(UnreadableText::Unended(&closing[..1])),
        }
    }

    /// Returns the length of a quoted text. A doubled quote is an escaped quote.
    fn quoted(&self, quote: u8) -> Result<usize, UnreadableText> {
        let mut at = 1;
        while at < self.rest().len() {
            match (self.byte(at), self.byte(at + 1)) {
                (found, next) if found == quote && next == quote => at += 2,
                (found, _) if found == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        Err(UnreadableText::Unended(if quote == b'"' { "\"" } else { "'" }))
    }

    fn is_uuid(&self) -> bool {
        let Some(found) = self.text.as_bytes().get(self.at..self.at + 36) else {
            return false;
        };
        found.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    }

    /// Returns the length of a duration such as `1y2mo`, or `None` if there is none.
    fn duration(&self, from: usize) -> Option<usize> {
        const UNITS: [&str; 11] = ["mo", "ms", "us", "µs", "ns", "y", "w", "d", "h", "m", "s"];
        let mut length = from;
        loop {
            let digits = self.run(length, |byte| byte.is_ascii_digit());
            let rest = self.rest().get(length + digits..)?;
            let has_unit =
                |unit: &&&str| rest.get(..unit.len()).is_some_and(|start| start.to_lowercase() == **unit);
            match UNITS.iter().find(has_unit) {
                Some(unit) if digits > 0 => length += digits + unit.len(),
                _ => break,
            }
        }
        let next = self.byte(length);
        let ends_word = !next.is_ascii_alphanumeric() && next != b'_';
        (length > from && ends_word).then_some(length)
    }

    /// Scans a number. `from` is the offset of its first digit.
    fn number(&self, from: usize) -> (TokenKind, usize) {
        if let Some(length) = self.duration(from) {
            return (TokenKind::Duration, length);
        }
        let mut kind = TokenKind::Integer;
        let mut length = from + self.run(from, |byte| byte.is_ascii_digit());
        // `1..2` is a range of CQL 2.
        if self.byte(length) == b'.' && self.byte(length + 1) != b'.' {
            kind = TokenKind::Float;
            length += 1;
            length += self.run(length, |byte| byte.is_ascii_digit());
        }
        if matches!(self.byte(length), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(length + 1), b'+' | b'-'));
            let digits = self.run(length + 1 + sign, |byte| byte.is_ascii_digit());
            if digits > 0 {
                kind = TokenKind::Float;
                length += 1 + sign + digits;
            }
        }
        (kind, length)
    }

    fn word(&self) -> (TokenKind, usize) {
        let length = self.run(0, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let word = self.rest().get(..length).unwrap_or_default();
        let is_boolean = word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false");
        (if is_boolean { TokenKind::Boolean } else { TokenKind::Word }, length)
    }

    /// Returns the error for text that is not a token. The error for a missing end is at the end of the text.
    fn failure(&self, unreadable: UnreadableText) -> SyntaxError {
        let (at, message) = match unreadable {
            UnreadableText::Characters(_) => {
                let character = self.rest().chars().next().unwrap_or(' ');
                (self.at, format!("no viable alternative at character '{character}'"))
            }
            UnreadableText::Unended(expected) => {
                (self.text.len(), format!("mismatched character '<EOF>' expecting '{expected}'"))
            }
        };
        failure::at_character(Place::START.behind(self.text.get(..at).unwrap_or_default()), &message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{hard_statements, planted};

    #[test]
    fn the_tokens_of_any_text_cover_it() {
        for text in hard_statements().into_iter().chain(planted("password")).chain(planted("value")) {
            let shown: String = tokens_of_any(&text).map(|token| token.raw(&text).to_owned()).collect();
            assert_eq!(shown, text);
            let kinds: Vec<TokenKind> = tokens_of_any(&text).map(|token| token.kind).collect();
            match tokens(&text) {
                Ok(tokens) => assert!(
                    tokens.iter().map(|token| token.kind).eq(kinds.into_iter().chain([TokenKind::End]))
                ),
                Err(_) => assert!(kinds.contains(&TokenKind::Unknown), "{text}"),
            }
        }
    }

    #[test]
    fn text_that_is_not_cql_is_unknown() {
        for (text, expected) in [
            ("a 'b", ["a", "'b"]),
            ("a /* b", ["a", "/* b"]),
            ("a $$b'", ["a", "$$b'"]),
            ("\u{feff}a", ["\u{feff}", "a"]),
            ("\"\"a", ["\"\"", "a"]),
        ] {
            let visible = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden);
            let visible: Vec<Token> = visible.collect();
            assert_eq!(visible.iter().map(|token| token.raw(text)).collect::<Vec<_>>(), expected);
            assert_eq!(visible.iter().filter(|token| token.kind == TokenKind::Unknown).count(), 1, "{text}");
        }
    }
}
