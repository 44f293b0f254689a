//! The tokens of a statement.

use crate::cql::Place;

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
    Integer,
    Float,
    Uuid,
    /// A number with units: `1y2mo`.
    Duration,
    /// `0x` and any number of hex digits.
    Blob,
    Symbol,
    /// Space or a comment.
    Hidden,
    End,
}

/// A token, as a range of the text.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub kind: TokenKind,
    /// The range in bytes; `end` is exclusive.
    pub start: u32,
    pub end: u32,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 0, in UTF-16 units like the old servers.
    pub column: u32,
}

impl Token {
    /// Returns the token as it is written.
    pub fn raw<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
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

    pub fn place(&self) -> Place {
        Place { line: self.line as usize, column: self.column as usize }
    }
}
