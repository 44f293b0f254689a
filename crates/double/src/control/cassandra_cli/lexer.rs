//! The tokens of a script of cassandra-cli.

use std::fmt;

use crate::limits::CLI_STATEMENT_TOKENS_MAX;

/// A place in a script, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptPlace {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
}

/// A mistake in a script, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {why}", place.line, place.column)]
pub struct CliScriptError {
    /// The place of the statement, or in it.
    pub place: ScriptPlace,
    /// The mistake, and the right form.
    pub why: String,
}

impl CliScriptError {
    /// Describes a mistake.
    pub fn new(place: ScriptPlace, why: impl Into<String>) -> CliScriptError {
        CliScriptError { place, why: why.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CliToken {
    /// Letters, digits, underscores and hyphens, with a letter or digit first.
    Word(String),
    /// A text in quotes, without them.
    Text(String),
    /// A whole number, perhaps negative.
    Integer(String),
    /// A number with a fraction.
    Decimal(String),
    Sign(char),
    End,
}

impl fmt::Display for CliToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CliToken::Word(text) | CliToken::Integer(text) | CliToken::Decimal(text) => {
                write!(out, "`{text}`")
            }
            CliToken::Text(text) => write!(out, "'{text}'"),
            CliToken::Sign(sign) => write!(out, "`{sign}`"),
            CliToken::End => write!(out, "the end of the script"),
        }
    }
}

/// Signs of the grammar. Those after the semicolon are only in statements without an effect.
const SIGNS: &str = "[]{}()=:,;./?<>";

/// Reads the tokens of a script.
pub(super) struct CliLexer<'s> {
    rest: &'s str,
    /// The place of the next character.
    place: ScriptPlace,
}

impl<'s> CliLexer<'s> {
    pub(super) fn new(script: &'s str) -> CliLexer<'s> {
        CliLexer { rest: script, place: ScriptPlace { line: 1, column: 1 } }
    }

    /// Returns the tokens of the next statement, each with its place. The last is a semicolon or `End`.
    pub(super) fn statement(&mut self) -> Result<Vec<(ScriptPlace, CliToken)>, CliScriptError> {
        let mut found = Vec::new();
        loop {
            let token = self.next_token()?;
            if found.len() == CLI_STATEMENT_TOKENS_MAX {
                let why = format!(
                    "a statement has at most {CLI_STATEMENT_TOKENS_MAX} words and signs: end it with `;`"
                );
                return Err(CliScriptError::new(token.0, why));
            }
            let is_last = matches!(token.1, CliToken::Sign(';') | CliToken::End);
            found.push(token);
            if is_last {
                return Ok(found);
            }
        }
    }

    /// Takes the next bytes, which end with a whole character.
    fn take(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for letter in taken.chars() {
            match letter {
                '\n' => self.place = ScriptPlace { line: self.place.line + 1, column: 1 },
                _ => self.place.column += 1,
            }
        }
        self.rest = rest;
        taken
    }

    fn next_char(&mut self) -> Option<char> {
        self.take(self.rest.chars().next()?.len_utf8()).chars().next()
    }

    fn word(&mut self) -> &'s str {
        let end = self.rest.find(|next: char| !next.is_ascii_alphanumeric() && !"_-".contains(next));
        self.take(end.unwrap_or(self.rest.len()))
    }

    fn next_token(&mut self) -> Result<(ScriptPlace, CliToken), CliScriptError> {
        self.skip_blanks()?;
        let place = self.place;
        let token = match self.rest.chars().next() {
            None => CliToken::End,
            Some('\'') => self.text()?,
            Some('-') => {
                self.take(1);
                let digits = self.word();
                if !is_number(digits) {
                    let why = "a hyphen begins a negative number or a comment: `--`";
                    return Err(CliScriptError::new(place, why));
                }
                CliToken::Integer(format!("-{digits}"))
            }
            Some(letter) if letter.is_ascii_alphanumeric() => self.word_or_number(),
            Some(sign) if SIGNS.contains(sign) => {
                self.take(1);
                CliToken::Sign(sign)
            }
            Some('"') => {
                return Err(CliScriptError::new(place, "a text is in single quotes: 'text'"));
            }
            Some(other) => {
                let why = format!("{other:?} is not allowed here: put names and values in single quotes");
                return Err(CliScriptError::new(place, why));
            }
        };
        Ok((place, token))
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) -> Result<(), CliScriptError> {
        loop {
            let bytes = if let Some(comment) = self.rest.strip_prefix("--") {
                2 + comment.find('\n').unwrap_or(comment.len())
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                let end = comment.find("*/").map(|end| end + 4);
                end.ok_or_else(|| CliScriptError::new(self.place, "the comment has no end: */"))?
            } else {
                self.rest.len() - self.rest.trim_start().len()
            };
            if bytes == 0 {
                return Ok(());
            }
            self.take(bytes);
        }
    }

    fn word_or_number(&mut self) -> CliToken {
        let word = self.word();
        let has_fraction = self.rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if !is_number(word) {
            CliToken::Word(word.to_owned())
        } else if has_fraction && self.rest.starts_with('.') {
            self.take(1);
            CliToken::Decimal(format!("{word}.{}", self.word()))
        } else {
            CliToken::Integer(word.to_owned())
        }
    }

    /// Reads a text in quotes, with the escapes of Java.
    fn text(&mut self) -> Result<CliToken, CliScriptError> {
        let (begin, mut text) = (self.place, String::new());
        self.take(1);
        loop {
            let at = self.place;
            match self.next_char() {
                None => return Err(CliScriptError::new(begin, "the text has no end: '")),
                Some('\'') => return Ok(CliToken::Text(text)),
                Some('\\') => text.push(self.escaped(at)?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escaped(&mut self, at: ScriptPlace) -> Result<char, CliScriptError> {
        let digits = match self.next_char() {
            Some('b') => return Ok('\u{8}'),
            Some('f') => return Ok('\u{c}'),
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some('v') => return Ok('\u{b}'),
            Some('0') => return Ok('\0'),
            Some('x') => 2,
            Some('u') => 4,
            Some(other) => return Ok(other),
            None => return Err(CliScriptError::new(at, "the text has no end: '")),
        };
        let code: String = (0..digits).filter_map(|_| self.next_char()).collect();
        let letter = u32::from_str_radix(&code, 16).ok().filter(|_| code.len() == digits);
        letter.and_then(char::from_u32).ok_or_else(|| {
            CliScriptError::new(
                at,
                format!("{code:?} is no character: use \\x and two or \\u and four digits"),
            )
        })
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(script: &str) -> Result<Vec<(ScriptPlace, CliToken)>, CliScriptError> {
        let mut lexer = CliLexer::new(script);
        let mut found = Vec::new();
        while !matches!(found.last(), Some((_, CliToken::End))) {
            found.extend(lexer.statement()?);
        }
        Ok(found)
    }

    fn shown(script: &str) -> String {
        let tokens = tokens(script).unwrap();
        let shown = tokens.iter().map(|(place, token)| format!("{}:{} {token}", place.line, place.column));
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn tokens_have_places() {
        assert_eq!(
            shown("set a-1['b'] = -5;\n 2.5 12ab /* c\n */ 7 -- end\n;"),
            "1:1 `set`, 1:5 `a-1`, 1:8 `[`, 1:9 'b', 1:12 `]`, 1:14 `=`, 1:16 `-5`, 1:18 `;`, 2:2 `2.5`, \
             2:6 `12ab`, 3:5 `7`, 4:1 `;`, 4:2 the end of the script"
        );
        assert_eq!(shown(r"'it\'s \x41\u00e9\n'"), "1:1 'it's Aé\n', 1:21 the end of the script");
        assert_eq!(shown(""), "1:1 the end of the script");
    }

    #[test]
    fn errors_have_places() {
        for (script, error) in [
            ("use a;\n 'x", "line 2, column 2: the text has no end: '"),
            ("/* x", "line 1, column 1: the comment has no end: */"),
            ("a = \"b\"", "line 1, column 5: a text is in single quotes: 'text'"),
            ("a - b", "line 1, column 3: a hyphen begins a negative number or a comment: `--`"),
            ("'\\xfg'", "line 1, column 2: \"fg\" is no character: use \\x and two or \\u and four digits"),
            ("ä", "line 1, column 1: 'ä' is not allowed here: put names and values in single quotes"),
        ] {
            assert_eq!(tokens(script).unwrap_err().to_string(), error);
        }
    }
}
