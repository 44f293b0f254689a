//! Texts of errors for logs and for the console, which are read by others than the client.

/// Returns the text of an error without what a syntax error repeats of the statement:
///
/// ```text
///   line 1:62 mismatched input 'AN' expecting EOF (...'hunter2' AND LOGIN = true [AN] SUPERUSER...)
///   line 1:62 mismatched input '?' expecting EOF
/// ```
///
/// The word at the mistake can be a value without its quotes, or what follows a quote in a password, and the part in
/// parentheses is some words around it.
pub fn without_statement(mut text: String) -> String {
    // Only syntax errors begin with a place.
    if !text.starts_with("line ") {
        return text;
    }
    // The only words of old servers with a parenthesis are "required (...)+ loop did not match anything".
    let quoted = text.match_indices(" (").find(|(at, _)| !text[*at..].starts_with(" (...)+ "));
    if let Some((at, _)) = quoted {
        text.truncate(at);
    }
    let Some((before, word)) = text.split_once(" '") else { return text };
    let shown = if word.starts_with("<EOF>'") { "<EOF>" } else { "?" };
    let expected = word.rsplit_once("' expecting ").map(|(_, token)| token);
    // Other letters or a quote belong to a string with this word in it.
    match expected.filter(|token| token.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')) {
        Some(token) => format!("{before} '{shown}' expecting {token}"),
        None => format!("{before} '{shown}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_quote_statements() {
        for (text, shown) in [
            (
                "line 1:40 missing EOF at 'SUPERUSR' (CREATE USER bob WITH PASSWORD 'hunter2' [SUPERUSR]...)",
                "line 1:40 missing EOF at '?'",
            ),
            (
                "line 1:30 mismatched input 'hunter2' expecting STRING_LITERAL",
                "line 1:30 mismatched input '?' expecting STRING_LITERAL",
            ),
            (
                "line 1:62 mismatched input 'AN' expecting EOF (...'hunter2' AND LOGIN = true [AN] SUPERUSER...)",
                "line 1:62 mismatched input '?' expecting EOF",
            ),
            ("line 1:9 mismatched input 'a (b' at c (d)", "line 1:9 mismatched input '?'"),
            ("line 1:9 extraneous input 'it'' expecting X''", "line 1:9 extraneous input '?'"),
            (
                "line 0:-1 mismatched input '<EOF>' expecting K_FROM",
                "line 0:-1 mismatched input '<EOF>' expecting K_FROM",
            ),
            (
                "line 1:7 required (...)+ loop did not match anything at input 'x'",
                "line 1:7 required (...)+ loop did not match anything at input '?'",
            ),
            ("line 1:7 no alternative (INSERT INTO t (k) VALUES ('a' [x])", "line 1:7 no alternative"),
        ] {
            assert_eq!(without_statement(text.to_owned()), shown);
        }
        for other in [
            "line 1:7 required (...)+ loop did not match anything",
            "Provided username bob and/or password are incorrect",
            "no keyspace (of this name)",
        ] {
            assert_eq!(without_statement(other.to_owned()), other);
        }
    }
}
