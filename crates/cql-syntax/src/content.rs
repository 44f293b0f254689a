//! The content of the tokens of a statement: structure, or data of clients. Recordings, logs and traces hide data.
//!
//! ```text
//!   UPDATE t SET v = 'x' , n = n + 1 WHERE k = 7 -- why
//!                    data          setting     data  comment     all else: structure
//! ```
//!
//! A statement that the parser knows has data where it has constants. In any other text, all that may be a constant
//! counts as one: quoted names, words where a value is expected, and what follows a quote in the wrong place.

use crate::lexer::tokens_of_any;
use crate::script::statements;
use crate::secrets::{has_secret_word, is_about_passwords, is_about_users, is_nearly};
use crate::token::{Token, TokenKind};
use crate::{AccessStatement, Select, Statement, TableName, parse};
use base::schema::{is_reserved, is_system_keyspace};

/// The languages of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// CQL 2, of Cassandra 0.8 to 2.1.
    Cql2,
    /// CQL 3, of Cassandra 1.1 and later.
    Cql3,
}

/// The subject of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Rows, whose values are data.
    Rows,
    /// The same in CQL 2, in which words can be values.
    RowsOfCql2,
    /// The schema, permissions, or reads of tables in which a server describes itself: there is no data.
    System,
    /// Users or roles: their passwords and options are data.
    Users,
    /// The text is not one statement that the parser knows.
    Unknown,
}

/// The content of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A keyword, a name or a symbol.
    Structure,
    /// Spaces and newlines.
    Space,
    /// A comment, to the end of the line or between `/*` and `*/`.
    Comment,
    /// A constant, or what may be one.
    Data,
    /// A number that is not stored: a limit, a timestamp, a time to live, an index of a list, an increment, a token.
    Setting,
}

/// Tables of the system that store data or statements of clients. An empty name stands for all tables of the keyspace.
const WITH_DATA: [(&str, &str); 6] = [
    ("system_traces", ""),
    ("system_views", ""),
    ("system", "batches"),
    ("system", "batchlog"),
    ("system", "hints"),
    ("system", "prepared_statements"),
];

impl Subject {
    /// Returns the subject of a statement.
    pub fn of(text: &str, dialect: Dialect) -> Subject {
        match dialect {
            Dialect::Cql2 => of_cql2(text),
            Dialect::Cql3 => of_cql3(text),
        }
    }
}

fn of_cql3(text: &str) -> Subject {
    let Ok(parsed) = parse(text) else { return Subject::Unknown };
    match &parsed.statement {
        Statement::Select(Select { table, .. }) if is_of_system(table) => Subject::System,
        Statement::Select(_) | Statement::Modify(_) | Statement::Batch(_) => Subject::Rows,
        Statement::Access(
            AccessStatement::CreateUser { .. }
            | AccessStatement::AlterUser { .. }
            | AccessStatement::CreateRole { .. }
            | AccessStatement::AlterRole { .. },
        ) => Subject::Users,
        // The parser skips most of it.
        Statement::Refused(_) => Subject::Unknown,
        _ => Subject::System,
    }
}

/// Decides by words: the parser of this crate does not know CQL 2, which has neither users nor scripts.
fn of_cql2(text: &str) -> Subject {
    if statements(text).len() != 1 {
        return Subject::Unknown;
    }
    let mut words = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden);
    let mut word = || words.next().map_or("", |token| token.raw(text)).to_ascii_uppercase();
    match (&word()[..], &word()[..]) {
        ("SELECT" | "INSERT" | "UPDATE" | "DELETE" | "BEGIN", _) => Subject::RowsOfCql2,
        _ if has_secret_word(text) => Subject::Unknown,
        ("CREATE" | "ALTER" | "DROP", "KEYSPACE" | "COLUMNFAMILY" | "TABLE" | "INDEX") => Subject::System,
        ("TRUNCATE" | "USE", _) => Subject::System,
        _ => Subject::Unknown,
    }
}

fn is_of_system(table: &TableName) -> bool {
    let keyspace = table.keyspace.as_deref().unwrap_or_default();
    is_system_keyspace(keyspace)
        && !WITH_DATA.iter().any(|(of, name)| *of == keyspace && (name.is_empty() || *name == table.name))
}

/// Returns the tokens of a text about a subject with their contents. They cover the text to its last byte.
pub fn contents(text: &str, subject: Subject) -> impl Iterator<Item = (Token, Content)> {
    let mut reader = ContentReader::new(text, subject);
    tokens_of_any(text).map(move |token| {
        let content = reader.content(&token);
        reader.pass(&token, content);
        (token, content)
    })
}

/// The words before a number that is not stored.
const BEFORE_SETTINGS: [&str; 5] = ["LIMIT", "TTL", "TIMESTAMP", "FIRST", "CONSISTENCY"];

/// The digits of the largest index of a list.
const INDEX_DIGITS_MAX: usize = 5;

/// The words of a statement about users that are not part of a password, unless they follow the word.
const OF_USERS: [&str; 7] = ["PASSWORD", "SUPERUSER", "NOSUPERUSER", "LOGIN", "OPTIONS", "TRUE", "FALSE"];

/// Decides the content of the next token, by the tokens before it.
struct ContentReader<'t> {
    text: &'t str,
    subject: Subject,
    /// The last token and the one before it, without space and comments.
    last: &'t str,
    before_last: &'t str,
    last_kind: TokenKind,
    /// Whether nothing is between the last token and this one.
    is_adjacent: bool,
    /// Whether this token belongs to data that has begun without a space between: `my-secret`.
    is_glued: bool,
    /// The open parentheses behind VALUES or IN.
    values_depth: Option<u32>,
    /// The open parentheses in the arguments of `token`.
    token_depth: Option<u32>,
    /// Whether a call of `token` has ended, and what it is compared with follows.
    is_after_token: bool,
    /// Whether a statement about users has reached its passwords.
    has_passwords: bool,
    is_about_users: bool,
    /// Whether the last quote of the text has no end.
    is_unended: bool,
    /// Whether a quote is in the wrong place, so that words may be parts of a text.
    is_torn: bool,
}

impl<'t> ContentReader<'t> {
    fn new(text: &'t str, subject: Subject) -> ContentReader<'t> {
        let mut is_unended = false;
        if subject == Subject::Unknown {
            let last = tokens_of_any(text).last().filter(|token| token.kind == TokenKind::Unknown);
            is_unended = last.is_some_and(|token| token.raw(text).starts_with(['\'', '"', '$']));
        }
        ContentReader {
            text,
            subject,
            last: "",
            before_last: "",
            last_kind: TokenKind::End,
            is_adjacent: false,
            is_glued: false,
            values_depth: None,
            token_depth: None,
            is_after_token: false,
            has_passwords: false,
            is_about_users: false,
            is_unended,
            is_torn: false,
        }
    }

    fn content(&self, token: &Token) -> Content {
        let raw = token.raw(self.text);
        let is_guessed = matches!(self.subject, Subject::Unknown | Subject::RowsOfCql2);
        let is_data = match token.kind {
            TokenKind::Hidden if raw.starts_with(['-', '/']) => return Content::Comment,
            TokenKind::Hidden => return Content::Space,
            _ if self.subject == Subject::System => false,
            TokenKind::String
            | TokenKind::Integer
            | TokenKind::Float
            | TokenKind::Uuid
            | TokenKind::Duration
            | TokenKind::Blob => self.subject != Subject::Users || self.has_passwords,
            TokenKind::QuotedName | TokenKind::Unknown => is_guessed,
            TokenKind::Word if is_guessed => self.is_value(raw),
            TokenKind::Word => self.subject == Subject::Rows && self.is_duration(raw),
            TokenKind::Boolean => is_guessed && self.is_glued,
            TokenKind::Symbol | TokenKind::End => false,
        };
        let has_settings = matches!(self.subject, Subject::Rows | Subject::RowsOfCql2);
        if !is_data {
            Content::Structure
        } else if has_settings && self.is_setting(token) {
            Content::Setting
        } else {
            Content::Data
        }
    }

    /// Returns whether a word may be a value, or a part of one.
    fn is_value(&self, word: &str) -> bool {
        let is_password = self.has_passwords && is_about_passwords(self.last) && !is_reserved(word);
        let is_marker = self.last == ":"
            && self.is_adjacent
            && matches!(self.before_last, "(" | "," | "=" | "<" | ">" | "<=" | ">=" | "+" | "-" | "[");
        if is_marker {
            return false;
        }
        if self.is_glued || self.is_value_expected() || is_password {
            return true;
        }
        let is_in_doubt = self.has_passwords || self.is_torn && self.last != ".";
        is_in_doubt
            && !is_reserved(word)
            && !is_about_users(word)
            && !OF_USERS.iter().any(|known| known.eq_ignore_ascii_case(word))
    }

    fn is_value_expected(&self) -> bool {
        matches!(self.last, "=" | "<" | ">" | "<=" | ">=" | "!=" | "+" | "-" | ":" | "{" | "[")
            || self.values_depth.is_some_and(|depth| depth > 0)
            || ["LIMIT", "JSON"].iter().any(|word| word.eq_ignore_ascii_case(self.last))
    }

    /// Returns whether a word is a duration such as `P1Y`.
    fn is_duration(&self, word: &str) -> bool {
        let rest = word.strip_prefix('P').map(|rest| rest.strip_prefix('T').unwrap_or(rest));
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
            && self.is_value_expected()
    }

    /// Returns whether a constant is a number that is not stored.
    fn is_setting(&self, token: &Token) -> bool {
        if !matches!(token.kind, TokenKind::Integer) {
            return false;
        }
        let is_index = self.last == "["
            && token.end - token.start <= INDEX_DIGITS_MAX
            && self.text[token.end..].trim_start().starts_with(']');
        // `n = n + 5`, and `n = n -5`.
        let is_name = |raw: &str| raw.starts_with(|first: char| first.is_alphabetic() || first == '"');
        let is_increment = match self.last {
            "+" | "-" => is_name(self.before_last),
            name => self.before_last == "=" && is_name(name),
        };
        let is_setting = BEFORE_SETTINGS.iter().any(|word| word.eq_ignore_ascii_case(self.last));
        is_setting || is_index || is_increment || self.is_after_token
    }

    fn pass(&mut self, token: &Token, content: Content) {
        let raw = token.raw(self.text);
        if matches!(content, Content::Space | Content::Comment) {
            (self.is_adjacent, self.is_glued) = (false, false);
            return;
        }
        let is_word = token.kind == TokenKind::Word;
        let is_text = |kind| matches!(kind, TokenKind::String | TokenKind::QuotedName);
        let is_touched = self.is_adjacent
            && (is_text(self.last_kind) && is_word
                || is_text(token.kind) && self.last_kind == TokenKind::Word);
        self.is_torn |=
            self.subject == Subject::Unknown && is_touched || self.is_unended && is_text(token.kind);
        let is_separator =
            token.kind == TokenKind::Symbol && raw != "-" && raw != "+" && raw != "." && raw != "*";
        self.is_glued = !is_separator && (self.is_glued || content == Content::Data);
        self.is_adjacent = true;
        if is_word {
            // A word in the place of a value may be a function.
            if is_nearly(raw, "VALUES") || raw.eq_ignore_ascii_case("IN") || content == Content::Data {
                self.values_depth.get_or_insert(0);
            }
            self.is_about_users |= is_about_users(raw);
            self.has_passwords |= is_about_passwords(raw) && self.subject == Subject::Unknown
                || raw.eq_ignore_ascii_case("WITH")
                    && (self.is_about_users || self.subject == Subject::Users);
        }
        self.pass_parentheses(raw);
        (self.before_last, self.last, self.last_kind) = (self.last, raw, token.kind);
    }

    /// Follows the parentheses of values, and of `token(k) > 5`.
    fn pass_parentheses(&mut self, raw: &str) {
        self.values_depth = match (raw, self.values_depth) {
            ("(", Some(depth)) => Some(depth + 1),
            (")", Some(0 | 1)) | (";", _) => None,
            (")", Some(depth)) => Some(depth - 1),
            (_, depth) => depth,
        };
        match (raw, self.token_depth) {
            ("(", Some(depth)) => self.token_depth = Some(depth + 1),
            (")", Some(0 | 1)) => (self.token_depth, self.is_after_token) = (None, true),
            (")", Some(depth)) => self.token_depth = Some(depth - 1),
            (word, None) if word.eq_ignore_ascii_case("token") => {
                (self.token_depth, self.is_after_token) = (Some(0), false);
            }
            _ => self.is_after_token &= matches!(raw, "=" | "<" | ">" | "<=" | ">="),
        }
    }
}
