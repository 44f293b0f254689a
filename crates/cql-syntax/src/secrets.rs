//! Passwords in statements: which statements have them, and where.
//!
//! Statements that set a password are often mistyped, and a server repeats such a statement in its error. So any text with
//! a word of users or passwords counts, also misspelt: if the parser knows the statement, its passwords are secret, else
//! all that may be a constant.

use std::borrow::Cow;
use std::ops::Range;

use crate::content::{Content, Dialect, Subject, contents};
use crate::token::{Token, TokenKind};

/// The words that name or set a password.
const OF_PASSWORDS: [&str; 4] = ["PASSWORD", "IDENTIFIED", "HASHED", HASH];
/// The beginnings of PASSWORD and IDENTIFIED with more than one mistake.
const MISTYPED: [&str; 6] = ["PASS", "PASW", "PSW", "PSSW", "PWD", "IDENTIF"];
const OF_USERS: [&str; 3] = ["USER", "ROLE", "LOGIN"];

/// The column of `system_auth` with the hashes of passwords.
const HASH: &str = "SALTED_HASH";

/// The secret parts of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Where they are in the text, without quotes.
    pub places: Vec<Range<usize>>,
    /// Whether the values that are bound to its markers, and the error of the statement, are secret, too.
    pub are_in_values: bool,
}

impl Secrets {
    /// Returns the secrets of a statement; `None` if it has none.
    pub fn of(text: &str, dialect: Dialect) -> Option<Secrets> {
        if !has_secret_word(text) {
            return None;
        }
        match Subject::of(text, dialect) {
            subject @ (Subject::Users | Subject::Unknown) => Some(Secrets::in_text(text, subject)),
            _ if writes_hash(text) => Some(Secrets::in_text(text, Subject::Unknown)),
            // Only a comment can have a password.
            _ => {
                let places = Secrets::in_text(text, Subject::System).places;
                (!places.is_empty()).then_some(Secrets { places, are_in_values: false })
            }
        }
    }

    /// Returns whether a text may have the secrets of a statement. It can be a part of a message.
    pub fn may_be_in(text: &str) -> bool {
        has_secret_word(text)
    }

    /// Returns all that may be secret in the text of an error, which can repeat any part of a statement.
    pub fn of_error(text: &str) -> Secrets {
        Secrets::in_text(text, Subject::Unknown)
    }

    fn in_text(text: &str, subject: Subject) -> Secrets {
        let mut places = Vec::new();
        let mut has_passwords = subject == Subject::Unknown;
        for (token, content) in contents(text, subject) {
            let raw = token.raw(text);
            has_passwords |= subject == Subject::Users && raw.eq_ignore_ascii_case("WITH");
            let is_secret = match content {
                Content::Data | Content::Setting => true,
                Content::Comment => has_passwords || has_secret_word(raw),
                Content::Structure | Content::Space => false,
            };
            if is_secret {
                places.push(inner(&token, raw));
            }
        }
        places.retain(|place| !place.is_empty());
        debug_assert!(
            places.is_sorted_by(|one, next| one.end <= next.start)
                && places.last().is_none_or(|last| last.end <= text.len()),
            "a part of a secret would be shown"
        );
        Secrets { places, are_in_values: true }
    }
}

/// Returns a statement with asterisks in the place of its passwords.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let Some(secrets) = Secrets::of(text, Dialect::Cql3) else { return Cow::Borrowed(text) };
    let mut shown = text.as_bytes().to_vec();
    for place in secrets.places {
        shown[place].fill(b'*');
    }
    // A place has whole characters.
    Cow::Owned(String::from_utf8_lossy(&shown).into_owned())
}

/// Returns where the content of a token is, without quotes and the signs of comments.
fn inner(token: &Token, raw: &str) -> Range<usize> {
    let is_block = raw.starts_with("/*");
    let sign = match token.kind {
        TokenKind::Hidden => 2,
        _ if raw.starts_with("$$") || is_block => 2,
        TokenKind::QuotedName => 0,
        _ => usize::from(raw.starts_with(['\'', '"'])),
    };
    let closing = match token.kind {
        TokenKind::String | TokenKind::QuotedName => sign,
        TokenKind::Hidden if is_block => 2,
        TokenKind::Hidden => usize::from(raw.ends_with(['\n', '\r'])),
        _ => 0,
    };
    token.start + sign..token.end - closing
}

/// Returns whether a statement that the parser knows may write the hash of a password.
fn writes_hash(text: &str) -> bool {
    let verb = text.trim_start().get(..6).unwrap_or_default();
    !verb.eq_ignore_ascii_case("SELECT") && words(text).any(|word| word.eq_ignore_ascii_case(HASH))
}

/// Returns whether a text has a word of users or passwords.
pub(crate) fn has_secret_word(text: &str) -> bool {
    words(text).any(|word| is_about_passwords(word) || is_about_users(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

/// Returns whether a word names a password, perhaps misspelt.
pub(crate) fn is_about_passwords(word: &str) -> bool {
    let starts =
        |start: &&str| word.get(..start.len()).is_some_and(|first| first.eq_ignore_ascii_case(start));
    OF_PASSWORDS.iter().any(|known| is_nearly(word, known))
        || MISTYPED.iter().any(starts)
        || word.len() > 8 && word.to_ascii_uppercase().contains("PASSWORD")
}

/// Returns whether a word names a user or a role, perhaps misspelt.
pub(crate) fn is_about_users(word: &str) -> bool {
    !word.eq_ignore_ascii_case("USE") && OF_USERS.iter().any(|known| is_nearly(word, known))
}

/// Returns whether a word is another one with at most one mistake: a letter too many, missing, wrong, or swapped with the
/// next one.
pub(crate) fn is_nearly(word: &str, known: &str) -> bool {
    let (word, known) = (word.as_bytes(), known.as_bytes());
    if word.len().abs_diff(known.len()) > 1 {
        return false;
    }
    let is_same = |(one, other): &(&u8, &u8)| one.eq_ignore_ascii_case(other);
    let before = word.iter().zip(known).take_while(is_same).count();
    let (word, known) = (&word[before..], &known[before..]);
    let behind = word.iter().rev().zip(known.iter().rev()).take_while(is_same).count();
    match (&word[..word.len() - behind], &known[..known.len() - behind]) {
        ([a, b], [c, d]) => a.eq_ignore_ascii_case(d) && b.eq_ignore_ascii_case(c),
        (wrong, right) => wrong.len() <= 1 && right.len() <= 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{SECRET, hard_statements, planted};

    #[test]
    fn planted_passwords_are_found() {
        let statements = planted("password");
        let shown: Vec<_> = statements.iter().map(|text| (text, without_secrets(text))).collect();
        let leaks: Vec<_> = shown.iter().filter(|(_, shown)| shown.contains(SECRET)).collect();
        assert!(leaks.is_empty(), "{} of {}: {leaks:#?}", leaks.len(), shown.len());
        assert!(shown.iter().all(|(text, shown)| text.len() == shown.len()));
    }

    #[test]
    fn other_statements_stay() {
        for text in [
            "SELECT password, user FROM users WHERE name = 'bob' AND role = 'x'",
            "INSERT INTO user (k, v) VALUES ('my password is x', 1)",
            "GRANT SELECT ON ks.user TO bob",
            "CREATE TABLE login (password text PRIMARY KEY) WITH comment = 'c'",
            "USE k",
            "SELECT unknown syntax 'x'",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    #[test]
    fn any_text_is_read() {
        for text in hard_statements() {
            let shown = without_secrets(&text).into_owned();
            assert_eq!(shown.len(), text.len(), "{text}");
        }
    }
}
