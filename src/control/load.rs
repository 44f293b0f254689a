//! Loads data: scripts of CQL.

use std::sync::{Arc, LazyLock};

use super::double::Control;
use super::error::ControlError;
use crate::compat::Behaviour;
use crate::compat::features::releases::NEWEST;
use crate::compat::features::{Language, ReportedVersion};
use crate::cql::{self, QueryState, ScriptOutcome};
use crate::db::{Database, User};
use crate::util::meter::{RequestLimits, RequestMeter, metered};

/// The version for which scripts are written: the one that drivers see by default.
static REPORTED: LazyLock<ReportedVersion> = LazyLock::new(ReportedVersion::default);

/// Runs a script of CQL with all rights, as one request: no reset and no restore comes in between. The statements before
/// one that fails have been run.
pub async fn load_cql(
    database: &Arc<Database>,
    limits: &RequestLimits,
    script: &str,
) -> Result<ScriptOutcome, ControlError> {
    let permit = database.admit().await;
    let meter = Arc::new(RequestMeter::new(limits, Arc::default()).with_permit(permit));
    let user = User::operator();
    let state = QueryState {
        database,
        behaviour: Behaviour::of(NEWEST),
        language: Language::default(),
        reported: &REPORTED,
        keyspace: None,
        user: Some(&user),
    };
    let outcome = metered(meter, Box::pin(cql::run_script(&state, script))).await;
    outcome.map_err(|error| ControlError::invalid(error.to_string()))
}

impl Control {
    /// Runs a script of CQL with all rights.
    pub async fn load_cql(&self, script: &str) -> Result<ScriptOutcome, ControlError> {
        load_cql(&self.database, &self.requests, script).await
    }
}
