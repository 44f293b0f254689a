//! Splits a script into statements.

use std::iter::once;

use crate::lexer::tokens_of_any;
use crate::token::{Token, TokenKind};

/// Returns the statements of a script, each with the line on which it begins, counted from 1. They end with a
/// semicolon, which the last one may omit, and a batch ends after APPLY BATCH. A comment belongs to the statement after
/// it.
pub fn statements(script: &str) -> Vec<(usize, &str)> {
    let end = Token { kind: TokenKind::End, start: script.len(), end: script.len() };
    let mut found = Vec::new();
    let (mut line, mut start) = (1, 0);
    let mut words = EdgeWords::default();
    for token in tokens_of_any(script).chain(once(end)) {
        let raw = token.raw(script);
        let is_semicolon = token.kind == TokenKind::Symbol && raw == ";";
        if token.kind != TokenKind::End && !(is_semicolon && words.are_whole()) {
            words.pass(token.kind, raw);
            continue;
        }
        let text = &script[start..token.start];
        if !words.last.is_empty() {
            let blank = text.len() - text.trim_start().len();
            found.push((line + text[..blank].matches('\n').count(), text.trim()));
        }
        line += text.matches('\n').count();
        start = token.end;
        words = EdgeWords::default();
    }
    found
}

/// The tokens of a statement that decide where it ends. Empty if there are none.
#[derive(Default)]
struct EdgeWords<'t> {
    /// The first one that is CQL: a byte order mark before BEGIN is a mistake, and the batch still one statement.
    first: &'t str,
    before_last: &'t str,
    last: &'t str,
}

impl<'t> EdgeWords<'t> {
    fn pass(&mut self, kind: TokenKind, raw: &'t str) {
        if kind == TokenKind::Hidden {
            return;
        }
        if self.first.is_empty() && kind != TokenKind::Unknown {
            self.first = raw;
        }
        (self.before_last, self.last) = (self.last, raw);
    }

    /// Whether a semicolon here ends the whole statement, and not only a statement within a batch.
    fn are_whole(&self) -> bool {
        !self.first.eq_ignore_ascii_case("BEGIN")
            || self.before_last.eq_ignore_ascii_case("APPLY") && self.last.eq_ignore_ascii_case("BATCH")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_semicolons() {
        let script = "USE k;\n\n-- a; b\nSELECT ';' FROM \"a;b\"; /* c; */\nUSE j";
        let found = statements(script);
        assert_eq!(found[0], (1, "USE k"));
        assert_eq!(found[1].1, "-- a; b\nSELECT ';' FROM \"a;b\"");
        assert_eq!(found[2], (4, "/* c; */\nUSE j"));
        assert_eq!(found.len(), 3);
        assert_eq!(statements("  -- nothing\n;;"), []);
    }

    #[test]
    fn a_batch_is_one_statement() {
        let script = "-- first\nbegin batch insert into t (k) values (1); delete from t; apply batch; USE k;";
        let found = statements(script);
        assert_eq!(found.len(), 2);
        assert!(found[0].1.ends_with("apply batch"));
    }

    #[test]
    fn semicolons_in_texts_and_comments_end_nothing() {
        let count = |script: &str| statements(script).len();
        assert_eq!(count("INSERT INTO t (k) VALUES ($$a;b$$); SELECT 1"), 2);
        assert_eq!(count("-- it's\rUSE k; USE j"), 2);
        for apply in
            ["APPLY BATCH -- done\n", "APPLY /* x */ BATCH", "apply\tbatch // it's\r", "APPLY\nBATCH\n"]
        {
            let script = format!("BEGIN BATCH DELETE FROM t WHERE k = 1; {apply}; USE k");
            assert_eq!(count(&script), 2, "{script}");
            assert_eq!(count(&format!("\u{feff}{script}")), 2, "{script}");
        }
    }

    #[test]
    fn an_unterminated_quote_or_comment_extends_to_the_end() {
        for script in ["'a;", "/* a;", "\"a;", "é;ü'", "--"] {
            assert!(statements(script).len() <= 2, "{script}");
        }
    }
}
