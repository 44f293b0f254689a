//! Splits text into tokens, by the lexical rules of CQL 3, which CQL 2 shares.

use super::failure;
use super::token::{Token, TokenKind};
use crate::cql::CqlError;
use crate::util::limits::{STATEMENT_BYTES_MAX, STATEMENT_TOKENS_MAX};

/// Returns all tokens of a text, including spaces and comments; the last token is `End`.
pub fn tokens(text: &str) -> Result<Vec<Token>, CqlError> {
    if text.len() > STATEMENT_BYTES_MAX {
        return Err(CqlError::invalid(format!("A statement can have {STATEMENT_BYTES_MAX} bytes at most")));
    }
    let mut lexer = Lexer { text, at: 0, line: 1, column: 0 };
    let mut tokens = Vec::new();
    loop {
        let (start, line, column) = (lexer.at, lexer.line, lexer.column);
        let kind = lexer.next()?;
        // The length of the text is checked above.
        #[expect(clippy::cast_possible_truncation)]
        tokens.push(Token { kind, start: start as u32, end: lexer.at as u32, line, column });
        if kind == TokenKind::End {
            return Ok(tokens);
        }
        if tokens.len() > STATEMENT_TOKENS_MAX {
            return Err(CqlError::invalid(format!(
                "A statement can have {STATEMENT_TOKENS_MAX} words at most"
            )));
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the byte at an offset from the current position; 0 at the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Consumes bytes. They must end at a character boundary.
    fn take(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        for c in self.text.get(self.at..end).unwrap_or_default().chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 0;
            } else {
                self.column += if c.len_utf16() == 2 { 2 } else { 1 };
            }
        }
        self.at = end;
    }

    fn next(&mut self) -> Result<TokenKind, CqlError> {
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
            b'"' if self.byte(1) == b'"' && self.byte(2) != b'"' => return Err(self.unknown_character()),
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
            _ => return Err(self.unknown_character()),
        };
        self.take(length);
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

    fn closed_by(&mut self, opening: usize, closing: &str) -> Result<usize, CqlError> {
        let found = self.rest().get(opening..).and_then(|inner| inner.find(closing));
        match found {
            Some(at) => Ok(opening + at + closing.len()),
            None => Err(self.unended(&closing[..1])),
        }
    }

    /// Returns the length of a quoted text. A doubled quote is an escaped quote.
    fn quoted(&mut self, quote: u8) -> Result<usize, CqlError> {
        let mut at = 1;
        while at < self.rest().len() {
            match (self.byte(at), self.byte(at + 1)) {
                (found, next) if found == quote && next == quote => at += 2,
                (found, _) if found == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        Err(self.unended(if quote == b'"' { "\"" } else { "'" }))
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
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        (length > from && !is_word(self.byte(length))).then_some(length)
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

    fn unknown_character(&self) -> CqlError {
        let character = self.rest().chars().next().unwrap_or(' ');
        failure::at_character(
            self.line,
            self.column,
            &format!("no viable alternative at character '{character}'"),
        )
    }

    /// Returns the error for a token without an end. The error is at the end of the text.
    fn unended(&mut self, expected: &str) -> CqlError {
        self.take(self.rest().len());
        failure::at_character(
            self.line,
            self.column,
            &format!("mismatched character '<EOF>' expecting '{expected}'"),
        )
    }
}
