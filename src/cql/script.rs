//! Splits a script into statements.

/// Returns the statements of a script, each with the line on which it begins, counted from 1. They end with a
/// semicolon, which the last one may omit. Semicolons in quotes and comments are ignored, and a batch ends after APPLY
/// BATCH.
pub fn statements(script: &str) -> Vec<(usize, &str)> {
    let bytes = script.as_bytes();
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let rest = &script.as_bytes()[at..];
        let skipped = match rest {
            [quote @ (b'\'' | b'"'), ..] => after(rest, 1, &[*quote]),
            [b'-', b'-', ..] | [b'/', b'/', ..] => after(rest, 2, b"\n"),
            [b'/', b'*', ..] => after(rest, 2, b"*/"),
            [b';', ..] if is_whole(&script[start..at]) => {
                found.push((start, at));
                start = at + 1;
                1
            }
            _ => 1,
        };
        at += skipped;
    }
    found.push((start, bytes.len()));
    let trimmed = found.into_iter().map(|(start, end)| {
        let text = &script[start..end];
        let blank = text.len() - text.trim_start().len();
        (1 + script[..start + blank].matches('\n').count(), text.trim())
    });
    trimmed.filter(|(_, text)| !without_comments(text).is_empty()).collect()
}

/// Returns the number of bytes up to and including `end`.
fn after(rest: &[u8], from: usize, end: &[u8]) -> usize {
    let found = rest[from..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |place| from + place + end.len())
}

/// Whether the semicolon ends the whole statement, and not only a statement within a batch.
fn is_whole(text: &str) -> bool {
    let words = without_comments(text).to_ascii_uppercase();
    let mut words = words.split_whitespace();
    let is_batch = words.next() == Some("BEGIN");
    !is_batch || (words.next_back() == Some("BATCH") && words.next_back() == Some("APPLY"))
}

/// Returns the text without the comments at its beginning.
fn without_comments(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let bytes = text.as_bytes();
        let skipped = match bytes {
            [b'-', b'-', ..] | [b'/', b'/', ..] => after(bytes, 2, b"\n"),
            [b'/', b'*', ..] => after(bytes, 2, b"*/"),
            _ => return text,
        };
        text = text[skipped..].trim_start();
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
    fn an_unterminated_quote_or_comment_extends_to_the_end() {
        for script in ["'a;", "/* a;", "\"a;", "é;ü'", "--"] {
            assert!(statements(script).len() <= 2, "{script}");
        }
    }
}
