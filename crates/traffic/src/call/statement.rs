//! The effect of a CQL statement and its table, by its words.
//!
//! Statements of all languages are described (CQL 1 to 3), also those that this server cannot parse. The words before a
//! table's name are the same in all of them.

use cql_syntax::{Token, TokenKind, tokens_of_any};

use super::CallEffect;

/// A statement by its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementWords {
    /// The first word in capitals: `SELECT`. Empty if the text has none.
    pub verb: String,
    /// The effect, by the first word.
    pub effect: CallEffect,
    /// The keyspace, if the statement names it before the table.
    pub keyspace: Option<String>,
    /// Whether it has a condition: IF.
    pub is_conditional: bool,
    /// The table; `None` if the statement has none or several.
    pub table: Option<String>,
}

impl StatementWords {
    /// Describes a statement.
    pub fn of(text: &str) -> StatementWords {
        let words: Vec<Token> = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden).collect();
        let verb = words.first().map(|token| token.raw(text).to_ascii_uppercase()).unwrap_or_default();
        let effect = match &verb[..] {
            "SELECT" => CallEffect::Read,
            "INSERT" | "UPDATE" | "DELETE" | "BEGIN" | "TRUNCATE" | "CREATE" | "ALTER" | "DROP" | "GRANT"
            | "REVOKE" => CallEffect::Write,
            _ => CallEffect::Session,
        };
        let (keyspace, table) = table_of(&words, text, &verb);
        let is_if =
            |token: &Token| token.kind == TokenKind::Word && token.raw(text).eq_ignore_ascii_case("IF");
        let is_conditional = words.iter().any(is_if);
        StatementWords { verb, effect, keyspace, is_conditional, table }
    }

    /// Returns the keyspace that `USE` selects.
    pub fn used_keyspace(text: &str) -> Option<String> {
        let mut words = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden);
        let verb = words.next()?.raw(text);
        verb.eq_ignore_ascii_case("USE").then(|| words.next().map(|token| name_of(&token, text)))?
    }
}

/// Returns the keyspace and the name of the only table.
fn table_of(words: &[Token], text: &str, verb: &str) -> (Option<String>, Option<String>) {
    let mut found: Option<(Option<String>, String)> = None;
    for at in 0..words.len() {
        let Some(token) = words.get(at).filter(|token| token.kind == TokenKind::Word) else { continue };
        if !precedes_table(&token.raw(text).to_ascii_uppercase(), at, verb) {
            continue;
        }
        let Some(table) = table_at(words, at + 1, text) else { continue };
        match &found {
            Some(other) if *other != table => return (None, None),
            _ => found = Some(table),
        }
    }
    found.map_or((None, None), |(keyspace, table)| (keyspace, Some(table)))
}

/// Returns whether the name of a table follows a word.
fn precedes_table(word: &str, at: usize, verb: &str) -> bool {
    match word {
        "FROM" | "INTO" | "TABLE" | "COLUMNFAMILY" => true,
        "UPDATE" | "TRUNCATE" => at == 0 || verb == "BEGIN",
        "ON" => matches!(verb, "CREATE"),
        _ => false,
    }
}

/// Returns the name at a position, which may follow `TABLE` or `IF NOT EXISTS`.
fn table_at(words: &[Token], mut at: usize, text: &str) -> Option<(Option<String>, String)> {
    let skipped = ["TABLE", "COLUMNFAMILY", "IF", "NOT", "EXISTS"];
    let is_skipped = |raw: &str| skipped.iter().any(|word| word.eq_ignore_ascii_case(raw));
    let rest = words.get(at..)?.iter();
    at += rest.take_while(|token| token.kind == TokenKind::Word && is_skipped(token.raw(text))).count();
    let first = name_at(words, at, text)?;
    if words.get(at + 1).is_some_and(|token| token.raw(text) == ".") {
        return Some((Some(first), name_at(words, at + 2, text)?));
    }
    Some((None, first))
}

fn name_at(words: &[Token], at: usize, text: &str) -> Option<String> {
    let named = [TokenKind::Word, TokenKind::QuotedName, TokenKind::String];
    words.get(at).filter(|token| named.contains(&token.kind)).map(|token| name_of(token, text))
}

/// Returns a name: in lower case unless it is quoted, as CQL 3 does.
fn name_of(token: &Token, text: &str) -> String {
    match token.kind {
        TokenKind::Word => token.raw(text).to_ascii_lowercase(),
        _ => token.value(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_name_their_table() {
        for (text, effect, keyspace, table) in [
            ("SELECT a FROM ks.T WHERE k = 'from x'", CallEffect::Read, Some("ks"), Some("t")),
            ("select FIRST 3 '1'..'5' from \"Cf\"", CallEffect::Read, None, Some("Cf")),
            ("INSERT INTO t (k) VALUES (now())", CallEffect::Write, None, Some("t")),
            ("UPDATE t USING TTL 5 SET a = 1 WHERE k = 2", CallEffect::Write, None, Some("t")),
            (
                "BEGIN BATCH UPDATE t SET a = 1 WHERE k = 2; INSERT INTO t (k) VALUES (1) APPLY BATCH",
                CallEffect::Write,
                None,
                Some("t"),
            ),
            (
                "BEGIN BATCH INSERT INTO a (k) VALUES (1); INSERT INTO b (k) VALUES (1) APPLY BATCH",
                CallEffect::Write,
                None,
                None,
            ),
            ("DELETE FROM t WHERE k = 1", CallEffect::Write, None, Some("t")),
            ("TRUNCATE t", CallEffect::Write, None, Some("t")),
            ("TRUNCATE TABLE t", CallEffect::Write, None, Some("t")),
            ("CREATE TABLE IF NOT EXISTS ks.t (k int PRIMARY KEY)", CallEffect::Write, Some("ks"), Some("t")),
            ("CREATE INDEX ON t (a)", CallEffect::Write, None, Some("t")),
            ("CREATE KEYSPACE ks WITH x", CallEffect::Write, None, None),
            ("USE ks", CallEffect::Session, None, None),
            ("", CallEffect::Session, None, None),
            ("\u{1}", CallEffect::Session, None, None),
        ] {
            let words = StatementWords::of(text);
            let got = (words.effect, words.keyspace.as_deref(), words.table.as_deref());
            assert_eq!(got, (effect, keyspace, table), "{text}");
        }
    }
    #[test]
    fn use_names_a_keyspace() {
        assert_eq!(StatementWords::used_keyspace("USE Ks;").as_deref(), Some("ks"));
        assert_eq!(StatementWords::used_keyspace("use \"Ks\"").as_deref(), Some("Ks"));
        assert_eq!(StatementWords::used_keyspace("SELECT use FROM t"), None);
    }
}
