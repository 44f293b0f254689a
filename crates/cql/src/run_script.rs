//! Runs a script of statements.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{CqlError, Outcome, QueryOptions, QueryState, query};
use cql_syntax::{Place, hint, show_place, statements};
use db::{Database, User};

/// The result of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptOutcome {
    /// The number of statements that were run.
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
    /// The position of a syntax error in the script.
    pub place: Option<Place>,
    /// The text of the error, with the line of a syntax error below it.
    pub message: String,
}

/// Runs the statements of a script, one after another. USE applies to the statements after it.
pub fn run_script<'a>(
    state: &'a QueryState<'a>,
    script: &'a str,
) -> BoxFuture<'a, Result<ScriptOutcome, ScriptError>> {
    Box::pin(async move {
        let mut done = ScriptOutcome { statements: 0, keyspace: state.keyspace.map(str::to_owned) };
        for (line, statement) in statements(script) {
            let state = QueryState { keyspace: done.keyspace.as_deref(), ..*state };
            match query(&state, statement, &QueryOptions::default()).await {
                Ok(Outcome::Keyspace(keyspace)) => done.keyspace = Some(keyspace),
                Ok(_) => {}
                Err(error) => {
                    let place = match error {
                        CqlError::Syntax { place, .. } => {
                            Some(place_in_script(script, statement, line, place))
                        }
                        _ => None,
                    };
                    return Err(ScriptError { line, place, message: error_text(&error, statement) });
                }
            }
            done.statements += 1;
        }
        Ok(done)
    })
}

/// Runs a script with all rights, by the rules of the newest release. Its memory is charged to the running request.
pub async fn run_script_of_operator(
    database: &Arc<Database>,
    script: &str,
) -> Result<ScriptOutcome, ScriptError> {
    let user = User::operator();
    run_script(&QueryState { user: Some(&user), ..QueryState::of_newest(database) }, script).await
}

/// Returns the position in a script of a position in one of its statements, which begins on a line.
fn place_in_script(script: &str, statement: &str, line: usize, place: Place) -> Place {
    if place.line > 1 {
        return Place { line: line + place.line - 1, ..place };
    }
    // The statement is a part of the script, so the distance of their addresses is its offset.
    let start = (statement.as_ptr() as usize).saturating_sub(script.as_ptr() as usize);
    let before = script.get(..start).unwrap_or_default();
    let on_line = before.rsplit('\n').next().unwrap_or_default();
    Place { line, column: on_line.chars().count() + place.column }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_in_statements_become_positions_in_the_script() {
        let script = "USE k;\n é; SELEC *\nFRO t";
        let found = statements(script);
        let (line, statement) = found[2];
        assert_eq!((line, statement), (2, "SELEC *\nFRO t"));
        let place = |line, column| Place { line, column };
        assert_eq!(place_in_script(script, statement, line, place(1, 6)), place(2, 10));
        assert_eq!(place_in_script(script, statement, line, place(2, 4)), place(3, 4));
    }
}
