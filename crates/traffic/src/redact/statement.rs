//! The constants of CQL statements.

use super::hashes::Hashes;
use base::marshal::parse_date;
use base::schema::{quoted_name, quoted_text};
use base::util::{hex, unhex};
use cql_syntax::{Content, Subject, Token, TokenKind, contents};

/// Returns a statement about a subject with its data replaced, and comments by spaces.
pub(super) fn redacted(statement: &str, subject: Subject, hashes: &Hashes) -> String {
    let mut out = String::with_capacity(statement.len());
    for (token, content) in contents(statement, subject) {
        let raw = token.raw(statement);
        match content {
            Content::Structure | Content::Space | Content::Setting => out.push_str(raw),
            Content::Comment => out.extend(raw.chars().map(|_| ' ')),
            Content::Data => out.push_str(&data(&token, statement, hashes)),
        }
    }
    out
}

fn data(token: &Token, statement: &str, hashes: &Hashes) -> String {
    let raw = token.raw(statement);
    let value = token.value(statement);
    match token.kind {
        TokenKind::String if raw.starts_with("$$") => format!("$${}$$", text(&value, hashes)),
        TokenKind::String => quoted_text(&text(&value, hashes)),
        TokenKind::QuotedName => quoted_name(&hashes.text(&value)),
        TokenKind::Integer | TokenKind::Float | TokenKind::Duration => number(raw, hashes),
        TokenKind::Uuid => hashes.text(&raw.to_ascii_lowercase()),
        TokenKind::Blob => match raw.get(2..).and_then(|digits| unhex(digits.as_bytes())) {
            Some(bytes) => format!("0x{}", hex(&hashes.data(&bytes))),
            None => hashes.text(raw),
        },
        _ => hashes.text(raw),
    }
}

/// Returns the hash of a text. A date is stored as a number, and a server would refuse its digits in another order.
fn text(content: &str, hashes: &Hashes) -> String {
    match date_ms(content) {
        Some(ms) => number(&ms.to_string(), hashes),
        None => hashes.text(content),
    }
}

/// Returns the milliseconds of a text that begins as `2013-11-09`.
fn date_ms(text: &str) -> Option<i64> {
    let day: Vec<&str> = text.get(..10)?.split('-').collect();
    let are_digits = day.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if day.len() == 3 && are_digits { parse_date(text) } else { None }
}

/// Returns the number that replaces a number. Numbers that are not 64-bit integers are hashed by their digits.
fn number(text: &str, hashes: &Hashes) -> String {
    match text.parse::<i64>() {
        Ok(number) => match <[u8; 8]>::try_from(hashes.data(&number.to_be_bytes())) {
            Ok(hash) => i64::from_be_bytes(hash).to_string(),
            Err(_) => hashes.text(text),
        },
        Err(_) => text
            .split_inclusive(|c: char| !c.is_ascii_digit())
            .map(|part| match part.find(|c: char| !c.is_ascii_digit()) {
                Some(end) => format!("{}{}", hashes.text(&part[..end]), &part[end..]),
                None => hashes.text(part),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::corpus::{SECRET, hard_statements, planted};
    use crate::redact::{DataRole, DataRoles, RedactionKey};
    use cql_syntax::{Dialect, tokens_of_any};

    fn hashes() -> Hashes {
        Hashes::new(RedactionKey::of_secret(b"cql"), DataRoles::new(&[DataRole::Value]))
    }

    fn redacted(statement: &str) -> String {
        super::redacted(statement, Subject::of(statement, Dialect::Cql3), &hashes())
    }

    /// Returns a redacted statement with a letter for each token that changed.
    fn shape(statement: &str) -> String {
        let redacted = redacted(statement);
        let mut shape = String::new();
        for (before, after) in tokens_of_any(statement).zip(tokens_of_any(&redacted)) {
            assert_eq!(before.kind, after.kind, "{redacted}");
            shape.push_str(match (before.raw(statement) == after.raw(&redacted), after.kind) {
                (true, _) => after.raw(&redacted),
                (false, TokenKind::String) => "T",
                (false, TokenKind::Uuid) => "U",
                (false, TokenKind::Blob) => "H",
                (false, _) => "N",
            });
        }
        shape
    }

    #[test]
    fn constants_are_replaced_and_nothing_else() {
        for (statement, expected) in [
            (
                "SELECT a, b1 FROM t WHERE k = 77 AND c = 'it''s' LIMIT 10",
                "SELECT a, b1 FROM t WHERE k = N AND c = T LIMIT 10",
            ),
            (
                "INSERT INTO t (k) VALUES (-500) USING TTL 60 AND TIMESTAMP 1234",
                "INSERT INTO t (k) VALUES (N) USING TTL 60 AND TIMESTAMP 1234",
            ),
            (
                "UPDATE t SET n = n + 5, l[3] = 'xyz', m['abc'] = 0xCAFE WHERE k = 77",
                "UPDATE t SET n = n + 5, l[3] = T, m[T] = H WHERE k = N",
            ),
            (
                "SELECT * FROM t WHERE token(k) > -99 AND token(j) <= token(55)",
                "SELECT * FROM t WHERE token(k) > -99 AND token(j) <= token(N)",
            ),
            (
                "SELECT * FROM \"T2\" WHERE u = 02a5b7c0-49bc-11e3-8b3d-0800200c9a66",
                "SELECT * FROM \"T2\" WHERE u = U",
            ),
            ("UPDATE t SET l = [300, 400], f = 12.75, g = true", "UPDATE t SET l = [N, N], f = N, g = true"),
            (
                "SELECT $$secret$$ FROM t WHERE k IN (123, ?, :name)",
                "SELECT T FROM t WHERE k IN (N, ?, :name)",
            ),
        ] {
            assert_eq!(shape(statement), expected);
        }
        assert_eq!(redacted("DELETE /* why */ FROM t"), "DELETE           FROM t");
    }

    #[test]
    fn a_constant_becomes_what_its_bytes_become() {
        let hashes = hashes();
        let text = redacted("SELECT 'Hello'");
        assert_eq!(text.as_bytes()[8..13], hashes.data(b"Hello"));
        let date = redacted("SELECT '1970-01-01 00:01:10+0000'");
        assert_eq!(date.replace('\'', ""), redacted("SELECT 70000"));
        let number: i32 = redacted("SELECT 70000")[7..].parse().unwrap();
        assert_eq!(number.to_be_bytes()[..], hashes.data(&70_000_i32.to_be_bytes()));
    }

    #[test]
    fn planted_values_and_passwords_are_hidden() {
        let statements: Vec<String> = planted("value").into_iter().chain(planted("password")).collect();
        let shown: Vec<_> = statements.iter().map(|text| (text, redacted(text))).collect();
        let leaks: Vec<_> = shown.iter().filter(|(_, shown)| shown.contains(SECRET)).collect();
        assert!(leaks.is_empty(), "{} of {}: {leaks:#?}", leaks.len(), shown.len());
        for text in planted("value") {
            let in_cql2 = super::redacted(&text, Subject::of(&text, Dialect::Cql2), &hashes());
            assert!(!in_cql2.contains(SECRET) || text.contains("system.local"), "{in_cql2}");
        }
        hard_statements().iter().for_each(|text| drop(redacted(text)));
    }

    #[test]
    fn settings_stay_in_both_languages() {
        let text = "SELECT FIRST 3 a FROM t USING CONSISTENCY QUORUM WHERE KEY = bob LIMIT 10";
        let shown = super::redacted(text, Subject::of(text, Dialect::Cql2), &hashes());
        assert!(
            shown.starts_with("SELECT FIRST 3 a FROM t USING CONSISTENCY QUORUM WHERE KEY = "),
            "{shown}"
        );
        assert!(shown.ends_with(" LIMIT 10") && !shown.contains("bob"), "{shown}");
        for kept in
            ["SELECT * FROM system.local WHERE key = 'local'", "SELECT * FROM \"system\" . peers", "USE k"]
        {
            assert_eq!(redacted(kept), kept);
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_redacted(statement in "[a-c0-9'\"$x.\\-/*(){}\\[\\] =é\n]{0,60}") {
            redacted(&statement);
        }
    }
}
