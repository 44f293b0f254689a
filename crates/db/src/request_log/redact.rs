//! Redaction: hides the data that clients store, and keeps their operations.
//!
//! Keys, names and values become `~` and a hash, so equal ones have the same hash until the server restarts. The hash has a
//! key that is random at each start, so nobody can guess values. Constants of statements become `?`, and the texts of errors
//! are hidden. Names of keyspaces and column families, consistency levels, the structure of calls, and numbers that are not
//! values stay: counts, timestamps, times to live.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value};

use crate::faults::JournalEntry;
use base::model::FieldRole;
use base::util::without_statement;
use cql_syntax::{Content, Dialect, Secrets, Subject, contents};

/// The text in the place of data that is always hidden.
const HIDDEN: &str = "(hidden)";

/// Hides texts.
#[derive(Debug, Default)]
pub(super) struct LogRedactor(RandomState);

impl LogRedactor {
    /// Hides keys, names and values of a request, and the text of its error, which can quote them.
    pub(super) fn redact(&self, entry: &mut JournalEntry) {
        self.redact_value(FieldRole::Structure, &mut entry.arguments);
        entry.rows.iter_mut().filter_map(|row| row.key.as_mut()).for_each(|key| *key = self.hash(key));
        if entry.error.is_some() {
            entry.error = Some(HIDDEN.to_owned());
        }
    }

    fn redact_value(&self, role: FieldRole, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redacted(role, text),
            // The increment of a counter.
            Value::Number(number) if role == FieldRole::Value => {
                *value = self.hash(&number.to_string()).into()
            }
            Value::Array(elements) => {
                elements.iter_mut().for_each(|element| self.redact_value(role, element))
            }
            Value::Object(fields) => self.redact_fields(role, fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn redacted(&self, role: FieldRole, text: &str) -> String {
        match role {
            FieldRole::Statement => without_data(text),
            FieldRole::Path => match text.split_once(':') {
                Some((family, names)) => format!("{family}:{}", self.hash(names)),
                None => text.to_owned(),
            },
            role if role.is_stored() => self.hash(text),
            _ => text.to_owned(),
        }
    }

    /// Redacts a map or the fields of a struct. A value with an unknown name is hidden with its name.
    fn redact_fields(&self, role: FieldRole, fields: &mut Map<String, Value>) {
        let is_map = matches!(role, FieldRole::Rows | FieldRole::ColumnFamilies | FieldRole::Definition);
        let redacted = std::mem::take(fields).into_iter().map(|(name, mut value)| {
            let known = FieldRole::of_name(&name);
            let (name, of_value) = match known {
                _ if is_map => (self.redacted(role.of_keys(), &name), role.of_map_values()),
                Some(role) => (name, role),
                None => (self.hash(&name), FieldRole::Data),
            };
            self.redact_value(of_value, &mut value);
            (name, value)
        });
        *fields = redacted.collect();
    }

    fn hash(&self, text: &str) -> String {
        format!("~{:016x}", self.0.hash_one(text))
    }
}

fn is_statement(name: &str) -> bool {
    FieldRole::of_name(name) == Some(FieldRole::Statement)
}

/// Hides the passwords in a request, whether the log is redacted or not. The error of such a request may repeat them.
pub(crate) fn hide_passwords(arguments: &mut Value, error: &mut Option<String>) {
    let has_password = hide_passwords_of(arguments);
    *error = error.take().map(|text| if has_password { HIDDEN.to_owned() } else { without_statement(text) });
}

/// Hides the constants of statements with passwords, and the values that are bound to them. Returns whether there are some.
fn hide_passwords_of(value: &mut Value) -> bool {
    match value {
        Value::Array(elements) => {
            let mut has_password = false;
            for element in elements {
                has_password |= hide_passwords_of(element);
            }
            has_password
        }
        Value::Object(fields) => {
            let mut has_password = false;
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::String(text) if is_statement(name) => {
                        if let Some(secrets) = Secrets::of(text, Dialect::Cql3) {
                            *text = without_data(text);
                            has_password |= secrets.are_in_values;
                        }
                    }
                    value => has_password |= hide_passwords_of(value),
                }
            }
            if has_password && let Some(values) = fields.get_mut("values") {
                *values = HIDDEN.into();
            }
            has_password
        }
        _ => false,
    }
}

/// Returns a statement with `?` in the place of all that may be data, and without comments.
fn without_data(statement: &str) -> String {
    // The log shows no constant, of whatever statement.
    let subject = match Subject::of(statement, Dialect::Cql3) {
        Subject::Unknown => Subject::Unknown,
        _ => Subject::Rows,
    };
    let shown = contents(statement, subject).map(|(token, content)| match (token.raw(statement), content) {
        (raw, Content::Structure | Content::Space) => raw,
        (_, Content::Comment) => " ",
        (raw, Content::Data | Content::Setting) if raw.starts_with('-') => "-?",
        (_, Content::Data | Content::Setting) => "?",
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::corpus::{SECRET, hard_statements, planted};

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
            ("é = 'ü' ä", "? = ? ?"),
            ("", ""),
        ] {
            assert_eq!(without_data(statement), expected);
        }
    }

    #[test]
    fn keys_names_and_values_are_hidden_and_equal_ones_stay_equal() {
        let redactor = LogRedactor::default();
        let mut shown = json!({
            "key": "anna",
            "column_parent": {"column_family": "Posts"},
            "column": {"name": "title", "value": "anna", "timestamp": 7},
            "counter": {"name": "title", "value": 12345},
            "mutation_map": {"anna": {"Posts": [{"deletion": {"predicate": {"column_names": ["title"]}}}]}},
            "values": ["anna", null, true],
            "consistency_level": "ONE",
        });
        redactor.redact_value(FieldRole::Structure, &mut shown);
        let text = shown.to_string();
        assert!(["anna", "title", "12345"].iter().all(|hidden| !text.contains(hidden)), "{text}");
        assert_eq!(shown["key"], shown["column"]["value"]);
        assert_eq!(shown["column_parent"]["column_family"], "Posts");
        assert_eq!(shown["column"]["timestamp"], 7);
        assert_eq!(shown["consistency_level"], "ONE");
        assert!(shown["mutation_map"].get(shown["key"].as_str().unwrap()).is_some(), "{text}");
    }

    #[test]
    fn the_structure_of_calls_stays() {
        let redactor = LogRedactor::default();
        let plain = json!({
            "cfname": "Posts",
            "columnFamily": "Posts",
            "columnParent": "Posts",
            "tablename": "Blog",
            "row_count": 5,
            "maxResults": 5,
            "timeStamp": 9,
            "property": "version",
            "cf_def": {"name": "Posts", "comment": "all posts", "column_metadata": [{"name": "title"}]},
            "compression": "GZIP",
        });
        let mut shown = plain.clone();
        redactor.redact_value(FieldRole::Structure, &mut shown);
        assert_eq!(shown, plain);
        let mut shown = json!({
            "start_column": "secret",
            "columnPath": "Posts:secret",
            "startWith": "secret",
            "cellData": "secret",
            "mutation_map": {"keys": {"Posts": []}},
            "request": {"column_slices": [{"start": "secret", "finish": ""}]},
            "secret": "secret",
        });
        redactor.redact_value(FieldRole::Structure, &mut shown);
        let text = shown.to_string();
        assert!(!text.contains("secret") && !text.contains("keys"), "{text}");
        assert!(text.contains("\"columnPath\":\"Posts:~") && text.contains("\"start_column\":\"~"), "{text}");
        assert!(shown["mutation_map"][redactor.hash("keys")]["Posts"].is_array(), "{text}");
    }

    #[test]
    fn passwords_are_always_hidden() {
        let mut shown = json!({"queries": [
            {"query": "CREATE USER a WITH PassWord 'secret'", "values": ["secret"]},
            {"query": "SELECT 'public'"},
            {"query": "/**/ALTER ROLE a WITH PASWORD = 'secret'"},
        ]});
        hide_passwords(&mut shown, &mut None);
        let text = shown.to_string();
        assert!(!text.contains("secret") && text.contains("'public'"), "{text}");
    }

    #[test]
    fn planted_secrets_are_hidden() {
        for text in planted("password") {
            let mut shown = json!({"query": text});
            hide_passwords(&mut shown, &mut None);
            assert!(!shown.to_string().contains(SECRET), "{text}: {shown}");
        }
        let mut bound = json!({"query": "ALTER USER u WITH PASSWORD ?", "values": [SECRET]});
        let mut error = Some(format!("line 1:9 missing EOF at '{SECRET}'"));
        hide_passwords(&mut bound, &mut error);
        assert!(!format!("{bound}{error:?}").contains(SECRET), "{bound} {error:?}");
        for text in planted("value").into_iter().chain(planted("password")).chain(hard_statements()) {
            assert!(!without_data(&text).contains(SECRET), "{text}: {}", without_data(&text));
        }
    }
}
