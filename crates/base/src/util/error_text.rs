//! Texts of errors for logs and for the console, which are read by others than the client.

/// Replaces an error that may have a password.
const HIDDEN: &str = "a syntax error in a statement with a password";

/// Returns the text of an error without the part of a statement that a syntax error quotes:
///
/// ```text
///   line 1:62 mismatched input 'AN' expecting EOF (...'hunter2' AND LOGIN = true [AN] SUPERUSER...)
///   line 1:62 mismatched input 'AN' expecting EOF
/// ```
///
/// The part in brackets is some words around the mistake, and can have a password without the word before it. Nothing is
/// left of an error that has the word itself, or that expected a string: the text at the mistake can
/// be the password.
pub fn without_statement(mut text: String) -> String {
    // Only syntax errors begin with a place.
    if !text.starts_with("line ") {
        return text;
    }
    if text.to_ascii_lowercase().contains("password") || text.contains("expecting STRING_LITERAL") {
        return HIDDEN.to_owned();
    }
    // The only words of old servers with a bracket are "required (...)+ loop did not match anything".
    let is_quotation = |at: &usize| !text.get(*at..).is_some_and(|rest| rest.starts_with(" (...)+ "));
    if let Some(at) = text.match_indices(" (").map(|(at, _)| at).find(is_quotation) {
        text.truncate(at);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_quote_statements() {
        let cut = |text: &str| without_statement(text.to_owned());
        let near =
            "line 1:40 missing EOF at 'SUPERUSR' (CREATE USER bob WITH PASSWORD 'hunter2' [SUPERUSR]...)";
        assert_eq!(cut(near), HIDDEN);
        assert_eq!(cut("line 1:30 mismatched input 'hunter2' expecting STRING_LITERAL"), HIDDEN);
        let far = "line 1:62 missing EOF at 'AN' (...'hunter2' AND LOGIN = true [AN] SUPERUSER...)";
        assert_eq!(cut(far), "line 1:62 missing EOF at 'AN'");
        assert_eq!(cut("line 1:9 mismatched input 'a (b' at c (d)"), "line 1:9 mismatched input 'a");
        for other in [
            "line 1:7 mismatched input 'FORM' expecting K_FROM",
            "line 1:7 required (...)+ loop did not match anything at input 'x'",
            "Provided username bob and/or password are incorrect",
            "no keyspace (of this name)",
        ] {
            assert_eq!(cut(other), other);
        }
    }
}
