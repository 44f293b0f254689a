//! The tokens of a statement.
//!
//! A long statement has millions of tokens, so they are stored in five bytes each: a token ends where the next one
//! begins, and its line and column are only computed for errors.

use crate::limits::STATEMENT_TOKENS_PER_CHARGE;
use crate::{Place, Result};
use base::util::meter;

/// The kind of a token, by its first characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword, or a name without quotes.
    Word,
    /// `true` or `false`: never a name.
    Boolean,
    /// `"Name"`.
    QuotedName,
    /// `'text'` or `$$text$$`.
    String,
    /// Digits, perhaps after a minus sign.
    Integer,
    /// A number with a fraction or an exponent.
    Float,
    /// 32 hex digits with four hyphens.
    Uuid,
    /// A number with units: `1y2mo`.
    Duration,
    /// `0x` and any number of hex digits.
    Blob,
    /// An operator, a parenthesis or a separator: `<=`, `(`, `;`.
    Symbol,
    /// Space or a comment.
    Hidden,
    /// Text that is not CQL. The parser never sees it.
    Unknown,
    /// The end of the text, without characters.
    End,
}

/// A token, as a range of the text.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    /// The kind of the token.
    pub kind: TokenKind,
    /// The offset of the first byte in the text.
    pub start: usize,
    /// The offset behind the last byte.
    pub end: usize,
}

impl Token {
    /// Returns the token as it is written.
    pub fn raw<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns the token's value: strings and quoted names without their quotes.
    pub fn value(&self, text: &str) -> String {
        let raw = self.raw(text);
        let inner =
            |quote: &str| raw.get(quote.len()..raw.len().saturating_sub(quote.len())).unwrap_or_default();
        match self.kind {
            TokenKind::String if raw.starts_with("$$") => inner("$$").to_owned(),
            TokenKind::String => inner("'").replace("''", "'"),
            TokenKind::QuotedName => inner("\"").replace("\"\"", "\""),
            _ => raw.to_owned(),
        }
    }
}

/// A lower bound for the mean length of tokens in most texts.
const BYTES_PER_TOKEN: usize = 3;

/// All tokens of a text, with spaces and comments. The last one is `End`.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    kinds: Vec<TokenKind>,
    starts: Vec<u32>,
}

impl Tokens {
    /// Returns an empty list with room for the tokens of most texts of this length.
    pub(crate) fn of_length(bytes: usize) -> Tokens {
        let tokens = bytes / BYTES_PER_TOKEN;
        Tokens { kinds: Vec::with_capacity(tokens), starts: Vec::with_capacity(tokens) }
    }

    /// Adds the token that begins at `start`. The memory of the tokens is charged to the request in advance.
    pub(crate) fn push(&mut self, kind: TokenKind, start: usize) -> Result<()> {
        if self.kinds.len().is_multiple_of(STATEMENT_TOKENS_PER_CHARGE) {
            // The lists double when they grow.
            meter::charge(2 * STATEMENT_TOKENS_PER_CHARGE * (size_of::<TokenKind>() + size_of::<u32>()))?;
        }
        debug_assert!(
            self.starts.last().is_none_or(|last| (*last as usize) < start || kind == TokenKind::End),
            "a token would have no text"
        );
        self.kinds.push(kind);
        self.starts.push(u32::try_from(start).unwrap_or(u32::MAX));
        Ok(())
    }

    pub(crate) fn count(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Token> {
        let start = *self.starts.get(at)? as usize;
        let end = self.starts.get(at + 1).map_or(start, |end| *end as usize);
        Some(Token { kind: *self.kinds.get(at)?, start, end })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Token> {
        (0..self.count()).filter_map(|at| self.get(at))
    }

    /// Returns the index of the token `ahead` positions after the token `from`, without hidden tokens; at most the
    /// index of `End`.
    pub(crate) fn visible(&self, from: usize, ahead: usize) -> usize {
        debug_assert!(self.kinds.last() == Some(&TokenKind::End), "a parser would read behind the text");
        let rest = self.kinds.iter().enumerate().skip(from);
        let mut visible = rest.filter(|(_, kind)| **kind != TokenKind::Hidden).map(|(at, _)| at);
        visible.nth(ahead).unwrap_or(self.count().saturating_sub(1))
    }
}

impl Place {
    /// The first character of a text.
    pub(crate) const START: Place = Place { line: 1, column: 0 };

    /// Returns the place behind `text`, which begins at this place.
    #[must_use]
    pub(crate) fn behind(mut self, text: &str) -> Place {
        for c in text.chars() {
            if c == '\n' {
                self = Place { line: self.line + 1, column: 0 };
            } else {
                self.column += c.len_utf16();
            }
        }
        self
    }
}
