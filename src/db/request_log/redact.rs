//! Redaction: hides what clients store, and keeps what they do.
//!
//! Keys, names and values become `~` and a hash, so equal ones have the same hash until the server restarts. The hash has a
//! key that is random at each start, so nobody can guess values. Literals of statements become `?`, and the texts of errors
//! are hidden. Names of keyspaces and column families, consistency levels, the structure of calls, and numbers that are not
//! values stay: counts, timestamps, times to live.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value};

use crate::db::faults::JournalEntry;

/// Fields of calls whose texts say what a call does, not what is stored.
const PLAIN_FIELDS: [&str; 12] = [
    "column_family",
    "columnFamily",
    "keyspace",
    "tablename",
    "tableName",
    "consistency_level",
    "consistency",
    "serial_consistency_level",
    "commit_consistency_level",
    "block_for",
    "op",
    "compression",
];

/// Fields with statements.
const STATEMENT_FIELDS: [&str; 2] = ["query", "cql"];

/// The text in the place of what is hidden always.
const HIDDEN: &str = "(hidden)";

/// The first words of a statement, among which its verb is. Comments can be before it.
const WORDS_OF_VERB: usize = 100;

/// Hides texts.
#[derive(Debug, Default)]
pub struct Redactor(RandomState);

impl Redactor {
    /// Hides keys, names and values of a request, and the text of its error, which can quote them.
    pub fn redact(&self, entry: &mut JournalEntry) {
        self.redact_value(&mut entry.arguments);
        entry.rows.iter_mut().filter_map(|row| row.key.as_mut()).for_each(|key| *key = self.hash(key));
        if entry.error.is_some() {
            entry.error = Some(HIDDEN.to_owned());
        }
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hash(text),
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.redact_value(element)),
            Value::Object(fields) => self.redact_fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn redact_fields(&self, fields: &mut Map<String, Value>) {
        let redacted = std::mem::take(fields).into_iter().map(|(name, mut value)| {
            match &mut value {
                Value::String(_) if PLAIN_FIELDS.contains(&&*name) => {}
                Value::String(text) if STATEMENT_FIELDS.contains(&&*name) => *text = without_literals(text),
                // The number of a counter's increment.
                Value::Number(number) if name == "value" => value = self.hash(&number.to_string()).into(),
                value => self.redact_value(value),
            }
            // Keys of a map are row keys. The fields of structs have names of this form.
            let is_field =
                name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            let is_known = is_field && is_field_name(&name);
            (if is_known { name } else { self.hash(&name) }, value)
        });
        *fields = redacted.collect();
    }

    fn hash(&self, text: &str) -> String {
        format!("~{:016x}", self.0.hash_one(text))
    }
}

/// Returns whether a name is one of the interface: an argument or a field of a struct.
fn is_field_name(name: &str) -> bool {
    const FIELDS: [&str; 58] = [
        "query",
        "queries",
        "cql",
        "values",
        "item_id",
        "itemid",
        "key",
        "keys",
        "column_parent",
        "column_path",
        "column",
        "columns",
        "predicate",
        "column_names",
        "slice_range",
        "start",
        "finish",
        "reversed",
        "count",
        "value",
        "name",
        "timestamp",
        "ttl",
        "super_column",
        "counter_column",
        "counter_super_column",
        "column_or_supercolumn",
        "deletion",
        "mutation_map",
        "cfmap",
        "range",
        "start_key",
        "end_key",
        "start_token",
        "end_token",
        "row_filter",
        "index_clause",
        "expressions",
        "column_name",
        "op",
        "compression",
        "consistency_level",
        "consistency",
        "keyspace",
        "column_family",
        "block_for",
        "path",
        "expected",
        "updates",
        "serial_consistency_level",
        "commit_consistency_level",
        "request",
        "column_slices",
        "unset",
        "auth_request",
        "credentials",
        "batch_mutation",
        "cf_def",
    ];
    FIELDS.contains(&name)
}

/// Hides the literals of statements that set passwords, whether the log is redacted or not.
pub fn hide_passwords(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(hide_passwords),
        Value::Object(fields) => {
            let has_secret = fields.iter().any(|(name, value)| {
                STATEMENT_FIELDS.contains(&&**name) && value.as_str().is_some_and(may_set_password)
            });
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::String(text) if has_secret && STATEMENT_FIELDS.contains(&&**name) => {
                        *text = without_literals(text);
                    }
                    value if has_secret && name == "values" => *value = HIDDEN.into(),
                    value => hide_passwords(value),
                }
            }
        }
        _ => {}
    }
}

/// Returns whether a statement may set a password. One that creates or alters a user may, even if the word PASSWORD in it
/// is misspelled.
fn may_set_password(statement: &str) -> bool {
    let statement = statement.to_ascii_lowercase();
    let words = statement.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(WORDS_OF_VERB).collect();
    let defines_user = |pair: &[&str]| {
        let [verb, what] = pair else { return false };
        ["create", "alter"].contains(verb) && ["user", "role"].contains(what)
    };
    statement.contains("password") || words.windows(2).any(defines_user)
}

/// Returns a statement with `?` in the place of each literal, and without comments. An unreadable statement is cut where it
/// becomes so: at a quote that does not end.
fn without_literals(statement: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(statement.len()), statement);
    while let Some(letter) = rest.chars().next() {
        let (taken, shown) = match letter {
            '\'' => (quoted(rest, "'"), "?"),
            '"' => {
                let length = quoted(rest, "\"");
                (length, rest.get(..length).unwrap_or_default())
            }
            '$' if rest.starts_with("$$") => (after(rest, 2, "$$"), "?"),
            '-' if rest.starts_with("--") => (after(rest, 2, "\n"), " "),
            '/' if rest.starts_with("//") => (after(rest, 2, "\n"), " "),
            '/' if rest.starts_with("/*") => (after(rest, 2, "*/"), " "),
            letter if letter.is_alphanumeric() || letter == '_' => {
                let is_uuid = uuid_at(rest);
                let of_word = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
                let word = rest.find(|letter| !of_word(letter)).unwrap_or(rest.len());
                match is_uuid {
                    true => (36, "?"),
                    false if letter.is_ascii_digit() => (word, "?"),
                    false => (word, rest.get(..word).unwrap_or_default()),
                }
            }
            letter => (letter.len_utf8(), rest.get(..letter.len_utf8()).unwrap_or_default()),
        };
        out.push_str(shown);
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// Returns the length of a quoted text, in which a doubled quote is one quote. Without an end it is all.
fn quoted(text: &str, quote: &str) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(quote)) {
        at += found + 1;
        if !text.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// Returns the length of a text up to an end, included. Without the end it is all.
fn after(text: &str, from: usize, end: &str) -> usize {
    text.get(from..).and_then(|rest| rest.find(end)).map_or(text.len(), |found| from + found + end.len())
}

fn uuid_at(text: &str) -> bool {
    text.get(..36).is_some_and(|text| uuid::Uuid::try_parse(text).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statements_have_no_literals() {
        for (statement, expected) in [
            ("SELECT a FROM b1 WHERE c = 'it''s' AND d=-12.5e3", "SELECT a FROM b1 WHERE c = ? AND d=-?"),
            (
                "INSERT INTO \"T\"\"x\" (a) VALUES (0xcafe, $$x'y$$)",
                "INSERT INTO \"T\"\"x\" (a) VALUES (?, ?)",
            ),
            ("a = a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11;", "a = ?;"),
            ("a -- secret\n= 1 /* s */// t", "a  = ?   "),
            ("a = 'open", "a = ?"),
            ("é = 'ü' ä", "é = ? ä"),
            ("", ""),
        ] {
            assert_eq!(without_literals(statement), expected);
        }
    }

    #[test]
    fn keys_names_and_values_are_hidden_and_equal_ones_stay_equal() {
        let redactor = Redactor::default();
        let mut shown = json!({
            "key": "anna",
            "column_parent": {"column_family": "Posts"},
            "column": {"name": "title", "value": "anna", "timestamp": 7},
            "counter": {"name": "title", "value": 12345},
            "mutation_map": {"anna": {"Posts": [{"deletion": {"predicate": {"column_names": ["title"]}}}]}},
            "values": ["anna", null, true],
            "consistency_level": "ONE",
        });
        redactor.redact_value(&mut shown);
        let text = shown.to_string();
        assert!(["anna", "title", "12345"].iter().all(|hidden| !text.contains(hidden)), "{text}");
        assert_eq!(shown["key"], shown["column"]["value"]);
        assert_eq!(shown["column_parent"]["column_family"], "Posts");
        assert_eq!(shown["column"]["timestamp"], 7);
        assert_eq!(shown["consistency_level"], "ONE");
        assert!(shown["mutation_map"].get(shown["key"].as_str().unwrap()).is_some(), "{text}");
    }

    #[test]
    fn passwords_are_always_hidden() {
        let mut shown = json!({"queries": [
            {"query": "CREATE USER a WITH PassWord 'secret'", "values": ["secret"]},
            {"query": "SELECT 'public'"},
            {"query": "/**/ALTER ROLE a WITH PASWORD = 'secret'"},
        ]});
        hide_passwords(&mut shown);
        let text = shown.to_string();
        assert!(!text.contains("secret") && text.contains("'public'"), "{text}");
    }
}
