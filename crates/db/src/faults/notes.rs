//! The facts that the layers add to the request that runs, when they know them.

use serde_json::{Map, Value};

use super::journal::JournalResult;
use super::watched_request::with_state;
use crate::Database;
use base::compat::features::ConsistencyLevel;

/// Adds the first word of a CQL statement to the request that runs here.
pub fn note_statement(database: &Database, statement: &'static str) {
    if database.has_watched_requests() {
        with_state(|state| state.statement = Some(statement));
    }
}

/// Changes the arguments of the request that runs here.
pub fn note_arguments(database: &Database, change: impl FnOnce(&mut Map<String, Value>)) {
    if database.has_watched_requests() {
        with_state(|state| change(&mut state.arguments));
    }
}

/// Adds the size of the result to the request that runs here.
pub fn note_result(database: &Database, result: impl FnOnce() -> Option<JournalResult>) {
    if database.has_watched_requests() {
        with_state(|state| state.result = result().or(state.result));
    }
}

/// Adds keyspace and consistency level to the request that runs here.
pub(crate) fn note_request(keyspace: &[u8], consistency: ConsistencyLevel) {
    with_state(|state| {
        state.keyspace = Some(String::from_utf8_lossy(keyspace).into_owned());
        state.consistency = Some(consistency);
    });
}

/// Returns whether a JSON value has all that is wanted: fields of objects, elements of lists in their order.
pub(super) fn contains(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| found.get(name).is_some_and(|found| contains(found, wanted)))
        }
        (Value::Array(found), Value::Array(wanted)) => {
            let mut rest = found.iter();
            wanted.iter().all(|wanted| rest.any(|found| contains(found, wanted)))
        }
        (found, wanted) => found == wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wanted_arguments_are_a_part_of_those_found() {
        let found = json!({"key": "k", "column": {"name": "c", "value": "v"}, "names": ["a", "b", "c"]});
        for wanted in [
            json!({}),
            json!({"column": {"name": "c"}}),
            json!({"names": ["a", "c"], "key": "k"}),
            json!({"names": []}),
        ] {
            assert!(contains(&found, &wanted), "{wanted}");
        }
        for other in
            [json!({"column": {"name": "d"}}), json!({"names": ["c", "a"]}), json!({"keys": "k"}), json!("k")]
        {
            assert!(!contains(&found, &other), "{other}");
        }
    }
}
