//! The words of a statement.

use crate::cql::Place;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword or a name without quotes.
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
    /// Numbers with units: `1y2mo`.
    Duration,
    /// `0x` and digits, of whatever number.
    Blob,
    Symbol,
    /// Space or a comment.
    Hidden,
    End,
}

/// A word, by its place in the text.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub kind: TokenKind,
    /// Bytes of the text.
    pub start: u32,
    pub end: u32,
    /// From 1.
    pub line: u32,
    /// From 0, in UTF-16 units as the old servers count.
    pub column: u32,
}

impl Token {
    /// As it stands in the text.
    pub fn raw<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// What it means: strings and quoted names without their quotes.
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
