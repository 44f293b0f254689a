//! Runs a script of statements.

use super::script::statements;
use super::syntax::{hint, show_place};
use super::{CqlError, Outcome, QueryOptions, QueryState, query};

/// The result of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptOutcome {
    /// How many statements were run.
    pub statements: usize,
    /// The keyspace after the last statement.
    pub keyspace: Option<String>,
}

/// The error of the first statement that failed. The statements before it have been run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the statement at line {line}: {message}")]
pub struct ScriptError {
    /// The line on which the statement begins, counted from 1.
    pub line: usize,
    pub message: String,
}

/// Runs the statements of a script, one after another. USE applies to the statements after it.
pub async fn run_script(state: &QueryState<'_>, script: &str) -> Result<ScriptOutcome, ScriptError> {
    let mut done = ScriptOutcome { statements: 0, keyspace: state.keyspace.map(str::to_owned) };
    for (line, statement) in statements(script) {
        let state = QueryState { keyspace: done.keyspace.as_deref(), ..*state };
        match query(&state, statement, &QueryOptions::default()).await {
            Ok(Outcome::Keyspace(keyspace)) => done.keyspace = Some(keyspace),
            Ok(_) => {}
            Err(error) => return Err(ScriptError { line, message: error_text(&error, statement) }),
        }
        done.statements += 1;
    }
    Ok(done)
}

/// Returns the text of an error, with its position in the statement if it has one.
pub fn error_text(error: &CqlError, statement: &str) -> String {
    match error {
        CqlError::Syntax { message, place } => {
            let hint = hint(statement, *place).map_or(String::new(), |hint| format!("\n{hint}"));
            format!("{message}\n{}{hint}", show_place(statement, *place))
        }
        other => other.to_string(),
    }
}
