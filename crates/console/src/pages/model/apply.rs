//! Takes a sketch over: its column families and rows are made on this server, if it has everything in memory.

use crate::change_log::LoggedChange;
use crate::failure::{AdminError, Result, forbidden};
use crate::model::{ShownModel, Sketch, SketchLanguage};
use crate::pages::ask::CHANGES_ARE_OFF;
use crate::state::AdminState;
use crate::visitor::Visitor;
use double::control::cassandra_cli;

/// Returns why a visitor may not apply a sketch; `None` if it may.
pub(super) fn refusal(state: &AdminState, visitor: &Visitor) -> Option<&'static str> {
    let store = state.database.store().capabilities();
    let is_in_memory = store.directory.is_none() && store.shared_schema.is_none();
    if !visitor.may_change {
        return Some(CHANGES_ARE_OFF);
    }
    if !visitor.user.may_everything() {
        return Some("a sketch is applied with all rights: this needs a superuser");
    }
    (!is_in_memory).then_some("a sketch is applied to a server in memory only: start one with --ephemeral")
}

/// Makes the column families and rows of a sketch on this server. Returns the names of the new keyspaces.
///
/// # Errors
/// If the visitor may not, and if a statement fails: such as one that creates a keyspace which exists. The statements
/// before it have been run.
pub(super) async fn apply(
    state: &AdminState,
    visitor: &Visitor,
    sketch: &Sketch,
    model: &ShownModel,
) -> Result<Vec<String>> {
    if let Some(why) = refusal(state, visitor) {
        return forbidden(why);
    }
    // CQL has no super columns, and cassandra-cli no tables of CQL.
    let is_cql = sketch.language == SketchLanguage::Cql;
    let script = model.script(if is_cql { "cql" } else { "cassandra-cli" });
    let script = script.ok_or_else(|| AdminError::invalid("the sketch defines no column family"))?;
    let before = state.database.catalog().keyspaces.clone();
    LoggedChange { kind: "apply a sketch", keyspace: None, table: None }.log(visitor);
    let database = &state.database;
    let run = async {
        if is_cql {
            let outcome = cql::run_script_of_operator(database, &script.text).await;
            outcome.map(drop).map_err(|error| error.to_string())
        } else {
            let outcome = cassandra_cli::run_script(database, None, &script.text).await;
            outcome.map(drop).map_err(|error| error.to_string())
        }
    };
    state
        .metered(run)
        .await
        .map_err(|why| AdminError::invalid(format!("the sketch was not applied as a whole: {why}")))?;
    let catalog = state.database.catalog();
    let new = catalog.keyspaces.keys().filter(|name| before.get_named(name.as_bytes()).is_none());
    Ok(new.cloned().collect())
}
