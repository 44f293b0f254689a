//! Redacts the quotations in the texts of errors and warnings.

use super::hashes::Hashes;
use base::util::{hex, unhex};

/// Shorter words of hexadecimal digits may be words.
const HEX_DIGITS_MIN: usize = 8;

/// Returns a text of equal length in which quoted and bracketed parts and long hexadecimal numbers are replaced.
pub(super) fn redacted(text: &str, hashes: &Hashes) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (_, after) = rest.split_at(first.len_utf8());
        // An apostrophe after a letter is none of a quotation: `start key's md5`.
        let is_apostrophe = first == '\'' && out.ends_with(char::is_alphanumeric);
        let closing = closing(first).filter(|_| !is_apostrophe);
        // A syntax error quotes the statement in parentheses, at its end.
        let end = match closing {
            Some(')') if text.starts_with("line ") => after.rfind(')'),
            _ => closing.and_then(|close| after.find(close)),
        };
        let quoted = end.map(|end| after.split_at(end));
        if let Some((content, from_close)) = quoted {
            let is_kept = is_no_data(&out, content);
            out.push(first);
            if is_kept {
                out.push_str(content);
            } else {
                out.push_str(&of_quoted(content, hashes));
            }
            rest = from_close;
            // The closing sign must not open another quotation.
            let close = rest.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..close]);
            rest = &rest[close..];
            continue;
        }
        let length = match first {
            _ if first.is_alphanumeric() => rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        if word.len() >= HEX_DIGITS_MIN && unhex(word.as_bytes()).is_some() {
            out.push_str(&replaced(word, hashes));
        } else {
            out.push_str(word);
        }
        rest = behind;
    }
    out
}

fn closing(open: char) -> Option<char> {
    match open {
        '\'' | '"' => Some(open),
        '(' => Some(')'),
        '[' => Some(']'),
        '<' => Some('>'),
        _ => None,
    }
}

/// Returns whether a quoted part is a length, a class or the name of a field, as the text before it tells: `Expected 8 or 0
/// byte long (3)`, `strategy (org.apache.cassandra.locator.SimpleStrategy)`, `Required field 'key' was not present`.
fn is_no_data(before: &str, content: &str) -> bool {
    (before.contains(" byte") && content.bytes().all(|byte| byte.is_ascii_digit()))
        || content.starts_with("org.apache.cassandra.")
        || before.ends_with("Required field ")
}

/// Returns a quoted part with its values replaced. In `key:null, column_family:Posts` the names of fields stay.
fn of_quoted(content: &str, hashes: &Hashes) -> String {
    let fields = content.split(',').map(|part| match part.split_once(':') {
        Some((name, "null")) => format!("{name}:null"),
        Some((name, value)) if name.trim_start().chars().all(|c| c.is_alphanumeric() || c == '_') => {
            format!("{name}:{}", replaced(value, hashes))
        }
        _ => replaced(part, hashes),
    });
    fields.collect::<Vec<_>>().join(",")
}

/// Returns a part as the bytes become that it shows, in hexadecimal or as text.
fn replaced(part: &str, hashes: &Hashes) -> String {
    match unhex(part.as_bytes()) {
        Some(bytes) if part.len() >= HEX_DIGITS_MIN => hex(&hashes.data(&bytes)),
        _ => hashes.text(part),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::redact::{DataRole, DataRoles, RedactionKey};

    fn hashes() -> Hashes {
        Hashes::new(RedactionKey::of_secret(b"errors"), DataRoles::new(&[DataRole::Value]))
    }

    #[test]
    fn what_is_quoted_is_replaced() {
        let text = "Invalid STRING constant (secret) for v of type int: 6162636465, 'x1'";
        let redacted = redacted(text, &hashes());
        assert!(
            redacted.starts_with("Invalid STRING constant (") && redacted.contains(") for v of type int: ")
        );
        for secret in ["secret", "6162636465", "'x1'"] {
            assert!(!redacted.contains(secret), "{redacted}");
        }
        assert!(redacted.contains(&hex(&hashes().data(b"abcde"))), "{redacted}");
    }

    #[test]
    fn texts_without_quotations_stay() {
        for text in [
            "unconfigured columnfamily Posts",
            "it's open (",
            "",
            "start key's md5 sorts after end key's md5",
            "Expected 8 or 0 byte long (3)",
            "Required field 'key' was not present! Struct: ColumnPath(column_family:null)",
        ] {
            assert_eq!(redacted(text, &hashes()), text);
        }
    }

    proptest! {
        #[test]
        fn the_length_stays(text in "[a-f0-9é'()\\[\\] ]{0,50}") {
            prop_assert_eq!(redacted(&text, &hashes()).len(), text.len());
        }
    }
}
