//! The values by which a CQL statement selects rows, or which an INSERT stores: without the schema, the columns of the key
//! are among them.
//!
//! ```text
//!   SELECT v FROM t WHERE k = 1 AND c IN (?, 3)      k: 1    c: the first value, 3
//!   INSERT INTO t (k, v) VALUES (1, 'x')             k: 1    v: 'x'
//! ```

use std::collections::BTreeMap;

use bytes::Bytes;

use super::StatementWords;
use base::model::BoundValue;
use cql_syntax::{Token, TokenKind, tokens_of_any};

/// A value, as far as it can be compared without its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyValue {
    /// A bound value, or the key of a Thrift call.
    Bytes(Bytes),
    /// A constant as it is written.
    Text(String),
    /// Neither: a function, a name, or a marker without a value.
    Unknown,
}

impl KeyValue {
    /// Returns whether both may be the same value.
    pub(crate) fn may_equal(&self, other: &KeyValue) -> bool {
        match (self, other) {
            (KeyValue::Bytes(one), KeyValue::Bytes(other)) => one == other,
            (KeyValue::Text(one), KeyValue::Text(other)) => one == other,
            _ => true,
        }
    }
}

/// The values of each column that a statement restricts by `=` or IN, or that an INSERT stores.
pub(crate) type ColumnValues = BTreeMap<String, Vec<KeyValue>>;

/// Returns the values of a statement. A batch as text restricts nothing.
pub(crate) fn column_values(text: &str, bound: &[BoundValue]) -> ColumnValues {
    let tokens: Vec<Token> = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden).collect();
    let mut reader = TokenReader { text, tokens: &tokens, at: 0, bound: bound.iter() };
    match &StatementWords::of(text).verb[..] {
        "INSERT" => reader.insert(),
        "SELECT" | "UPDATE" | "DELETE" => reader.relations(),
        _ => ColumnValues::new(),
    }
}

struct TokenReader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    /// The values of the next markers.
    bound: std::slice::Iter<'a, BoundValue>,
}

impl TokenReader<'_> {
    /// Returns the token at a distance. Empty behind the last one.
    fn raw(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.raw(self.text))
    }

    fn is(&self, word: &str) -> bool {
        self.raw(0).eq_ignore_ascii_case(word)
    }

    /// Takes a token, and the value of a marker.
    fn value(&mut self) -> KeyValue {
        let Some(token) = self.tokens.get(self.at) else { return KeyValue::Unknown };
        self.at += 1;
        match token.kind {
            TokenKind::Symbol if token.raw(self.text) == "?" => match self.bound.next() {
                Some(BoundValue::Value(bytes)) => KeyValue::Bytes(bytes.clone()),
                _ => KeyValue::Unknown,
            },
            TokenKind::Symbol | TokenKind::Word => KeyValue::Unknown,
            // Blobs and UUIDs may have letters of either case.
            TokenKind::Blob | TokenKind::Uuid => KeyValue::Text(token.raw(self.text).to_ascii_lowercase()),
            _ => KeyValue::Text(token.value(self.text)),
        }
    }

    /// Passes tokens up to a word.
    fn skip_to(&mut self, word: &str) {
        while self.at < self.tokens.len() && !self.is(word) {
            self.value();
        }
    }

    fn name(&self) -> String {
        self.tokens.get(self.at).map_or_else(String::new, |token| match token.kind {
            TokenKind::Word => token.raw(self.text).to_ascii_lowercase(),
            _ => token.value(self.text),
        })
    }

    fn insert(&mut self) -> ColumnValues {
        let mut names = Vec::new();
        self.skip_to("(");
        while self.at < self.tokens.len() && !self.is(")") {
            self.at += 1;
            names.push(self.name());
            self.at += 1;
        }
        self.skip_to("VALUES");
        self.at += 1;
        let mut values = ColumnValues::new();
        for name in names {
            self.at += 1;
            let value = self.item();
            values.insert(name, vec![value]);
        }
        values
    }

    /// Takes the tokens of one item of a list. A value of several tokens is unknown.
    fn item(&mut self) -> KeyValue {
        let (mut depth, start) = (0_u32, self.at);
        let mut value = KeyValue::Unknown;
        while self.at < self.tokens.len() {
            match self.raw(0) {
                "," | ")" if depth == 0 => break,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            value = self.value();
        }
        if self.at == start + 1 { value } else { KeyValue::Unknown }
    }

    fn relations(&mut self) -> ColumnValues {
        let mut values = ColumnValues::new();
        self.skip_to("WHERE");
        while self.at < self.tokens.len() {
            if !self.is("WHERE") && !self.is("AND") {
                self.value();
                continue;
            }
            self.at += 1;
            let (name, operator) = (self.name(), self.raw(1).to_owned());
            if operator == "=" {
                self.at += 2;
                let value = if self.raw(1) == "(" { KeyValue::Unknown } else { self.value() };
                values.insert(name, vec![value]);
            } else if operator.eq_ignore_ascii_case("IN") && self.raw(2) == "(" {
                self.at += 2;
                let mut items = Vec::new();
                while !self.is(")") && self.at < self.tokens.len() {
                    self.at += 1;
                    items.push(self.item());
                }
                values.insert(name, items);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let bound = [BoundValue::Value("b".into()), BoundValue::Null];
        let columns = column_values(text, &bound);
        let column = columns.iter().map(|(name, values)| {
            let values = values.iter().map(|value| match value {
                KeyValue::Bytes(bytes) => format!("{bytes:?}"),
                KeyValue::Text(text) => text.clone(),
                KeyValue::Unknown => "any".to_owned(),
            });
            format!("{name}={}", values.collect::<Vec<_>>().join("|"))
        });
        column.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn relations_and_values_of_columns_are_found() {
        for (text, expected) in [
            ("SELECT v FROM t WHERE k = 1 AND \"C\" IN ('x', ?) AND d > 5 LIMIT 3", "C=x|b\"b\" k=1"),
            ("UPDATE t SET v = ?, l = [?] WHERE k = 0xFF", "k=0xff"),
            ("UPDATE t SET v = 1 WHERE K = ? AND c = ?", "c=any k=b\"b\""),
            ("DELETE v FROM t USING TIMESTAMP 5 WHERE k = f(1) AND c = 2 IF v = 3", "c=2 k=any"),
            ("SELECT * FROM t WHERE token(k) > 5 AND c = 1", "c=1"),
            ("SELECT * FROM t WHERE (a, b) = (1, 2)", ""),
            ("INSERT INTO ks.t (k, \"C\", v) VALUES (1, [2, ?], 'x') IF NOT EXISTS", "C=any k=1 v=x"),
            ("INSERT INTO t (k, v) VALUES (?, f(1, 2)) USING TTL ?", "k=b\"b\" v=any"),
            ("SELECT * FROM t", ""),
            ("SELECT * FROM t WHERE", ""),
            ("INSERT INTO t", ""),
            ("INSERT INTO t (k", "k=any"),
            ("BEGIN BATCH INSERT INTO t (k) VALUES (1) APPLY BATCH", ""),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
