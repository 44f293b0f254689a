//! Checks the names in conditions of requests: no request would ever meet a condition with a misspelt one.

use std::collections::BTreeSet;

use super::error::ControlError;
use crate::control::Result;
use base::compat::features::ConsistencyLevel;
use config::suggestion;
use db::faults::Condition;
use server::thrift::request_slots;

/// The requests of the native protocol that conditions apply to.
const OPCODES: [&str; 4] = ["QUERY", "PREPARE", "EXECUTE", "BATCH"];

/// Checks that the method and the consistency level exist, in any letter case.
///
/// # Errors
/// `Invalid`, with the name that was probably meant.
pub(super) fn check_condition(when: &Condition) -> Result<()> {
    let methods: BTreeSet<&str> = request_slots().iter().map(|slot| slot.method).chain(OPCODES).collect();
    check_known("method", when.method.as_deref(), &methods, "docs/methods.md lists them")?;
    let levels = ConsistencyLevel::names();
    let levels: BTreeSet<&str> = levels.iter().map(String::as_str).collect();
    let all: Vec<&str> = levels.iter().copied().collect();
    check_known("consistency", when.consistency.as_deref(), &levels, &format!("use {}", all.join(", ")))
}

fn check_known(what: &str, given: Option<&str>, known: &BTreeSet<&str>, which: &str) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    if known.iter().any(|name| name.eq_ignore_ascii_case(given)) {
        return Ok(());
    }
    let meant = suggestion(given, known.iter().copied());
    let which = if meant.is_empty() { format!(": {which}") } else { meant };
    Err(ControlError::invalid(format!("no request has the {what} {given:?}{which}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_levels_of_conditions_exist() {
        let check = |json: &str| {
            let checked = check_condition(&serde_json::from_str(json).unwrap());
            checked.map_err(|error| error.to_string()).err().unwrap_or_default()
        };
        for known in [
            "{}",
            r#"{"method": "get_slice"}"#,
            r#"{"method": "GET_SLICE"}"#,
            r#"{"method": "execute", "consistency": "local_quorum"}"#,
            r#"{"consistency": "DCQUORUM"}"#,
        ] {
            assert_eq!(check(known), "", "{known}");
        }
        assert_eq!(
            check(r#"{"method": "get_slices"}"#),
            r#"no request has the method "get_slices"; did you mean get_slice?"#
        );
        assert_eq!(
            check(r#"{"method": "SELECT"}"#),
            r#"no request has the method "SELECT": docs/methods.md lists them"#
        );
        assert_eq!(
            check(r#"{"consistency": "quorom"}"#),
            r#"no request has the consistency "quorom"; did you mean QUORUM?"#
        );
        assert!(check(r#"{"consistency": "most"}"#).contains(": use ALL, ANY, DCQUORUM, "));
    }
}
