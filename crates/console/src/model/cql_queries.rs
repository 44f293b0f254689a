//! The statements that a table serves: each is planned and run on the sample data.

use std::sync::Arc;

use super::cql_statements::{Candidate, Candidates};
use super::shown_query::{QueryVerdict, ShownQuery, beginning};
use super::sketch::OpenSketch;
use crate::limits::{SKETCH_QUERIES_MAX, SKETCH_ROWS};
use base::schema::{CfDef, TableDef};
use cql::{CqlError, QueryOptions, QueryState, ResultSet};
use store::RecordingStore;

const ALLOW_FILTERING: &str = " ALLOW FILTERING";

/// Tries the statements of a table.
pub(super) async fn cql_queries(
    open: &OpenSketch,
    cf: &CfDef,
    def: &TableDef,
    sample: Option<&ResultSet>,
) -> Vec<ShownQuery> {
    let mut shown: Vec<ShownQuery> = Vec::new();
    let candidates = Candidates { database: &open.database, cf, def, sample };
    for candidate in candidates.all() {
        if shown.len() == SKETCH_QUERIES_MAX {
            break;
        }
        let query = tried(open, candidate).await;
        if !shown.iter().any(|other| other.text == query.text) {
            shown.push(query);
        }
    }
    shown
}

/// Runs a statement, with ALLOW FILTERING if the server asks for it.
async fn tried(open: &OpenSketch, candidate: Candidate) -> ShownQuery {
    let Candidate { purpose, text } = candidate;
    let refused = match measured(open, &text).await {
        Ok(measured) => return measured.shown(purpose, text, QueryVerdict::Served),
        Err(error) => error,
    };
    let filtering = format!("{text}{ALLOW_FILTERING}");
    if refused.to_string().contains(ALLOW_FILTERING.trim_start())
        && let Ok(measured) = measured(open, &filtering).await
    {
        return measured.shown(purpose, filtering, QueryVerdict::Filtering);
    }
    let words = beginning(&refused.to_string());
    let text = escaped_statement(text);
    ShownQuery { purpose: beginning(&purpose), text, verdict: QueryVerdict::Refused, words, cells: None }
}

/// Returns a statement as text in which everything can be seen.
fn escaped_statement(text: String) -> String {
    beginning(&format!("{text};"))
}

/// The cost of the reads of a statement.
struct Measured {
    /// `None` if it has markers, and was only planned.
    cells: Option<usize>,
    /// The reasons why it is slow on much data.
    warnings: Vec<String>,
}

impl Measured {
    fn shown(self, purpose: String, text: String, verdict: QueryVerdict) -> ShownQuery {
        let (purpose, words) = (beginning(&purpose), beginning(&self.warnings.join("; ")));
        ShownQuery { purpose, text: escaped_statement(text), verdict, words, cells: self.cells }
    }
}

/// Plans a statement, and runs it if it has no markers.
async fn measured(open: &OpenSketch, text: &str) -> Result<Measured, CqlError> {
    let watched = Arc::new(RecordingStore::new(open.database.store().clone()));
    let database = Arc::new(open.database.with_store(watched.clone()));
    let state = QueryState::of_newest(&database);
    let prepared = cql::prepare(&state, text)?;
    if !prepared.markers.is_empty() {
        return Ok(Measured { cells: None, warnings: Vec::new() });
    }
    let options = QueryOptions { page_size: Some(SKETCH_ROWS), ..QueryOptions::default() };
    cql::execute_once(&state, &prepared, &options).await?;
    let reach = prepared.reach(&state, &options)?;
    let warnings = reach.map(|reach| reach.warnings).unwrap_or_default();
    Ok(Measured { cells: Some(watched.cells_read()), warnings })
}
