//! `/faults`, `/connections` and `/restart`: failures on purpose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{ControlCall, NoBody};
use super::conditions::check_condition;
use super::error::{ControlError, ErrorKind};
use super::json::{Json, Replied};
use super::operations::{Control, check_name};
use super::snapshots::DeletedReply;
use crate::control::Result;
use db::faults::{FaultRule, RuleState};

/// A rule, and its effects so far.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FaultReply {
    /// The name of the rule.
    pub name: String,
    /// The rule as it was set, with all defaults.
    pub rule: FaultRule,
    /// The number of requests that have met its condition.
    pub met: u64,
    /// The number of requests on which it has had an effect.
    pub hits: u64,
}

impl From<RuleState> for FaultReply {
    fn from(RuleState { name, rule, met, hits }: RuleState) -> FaultReply {
        FaultReply { name, rule, met, hits }
    }
}

/// All rules.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FaultList {
    /// In the order in which they were set.
    pub faults: Vec<FaultReply>,
}

/// The request of `POST /connections`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConnectionsRequest {
    /// Whether new connections of clients are closed at once. Open ones stay open.
    pub refuse: bool,
}

/// The reply to `POST /restart`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RestartReply {
    /// Always true.
    pub restarted: bool,
}

pub(super) async fn list(call: ControlCall<NoBody>) -> Replied<FaultList> {
    let rules = call.control.faults()?.list();
    Ok(Json(FaultList { faults: rules.into_iter().map(FaultReply::from).collect() }))
}

pub(super) async fn set(call: ControlCall<Json<FaultRule>>) -> Replied<FaultReply> {
    call.control.set_fault(&call.name, call.body.0).map(Json)
}

impl Control {
    /// Sets a rule. It replaces one of this name.
    ///
    /// # Errors
    /// `Invalid` if the rule has no effect, contradicts itself, or names a method or consistency level that does not exist.
    pub fn set_fault(&self, name: &str, rule: FaultRule) -> Result<FaultReply> {
        check_name("rule", name)?;
        check_condition(&rule.when)?;
        let set = self.faults()?.set(name, rule);
        set.map(FaultReply::from).map_err(|error| ControlError::invalid(error.to_string()))
    }

    /// Removes a rule.
    pub fn remove_fault(&self, name: &str) -> Result<()> {
        if self.faults()?.remove(name) {
            return Ok(());
        }
        let why = format!("there is no rule {name:?}: GET /faults lists them, PUT /faults/NAME sets one");
        Err(ControlError::new(ErrorKind::NotFound, why))
    }
}

pub(super) async fn delete(call: ControlCall<NoBody>) -> Replied<DeletedReply> {
    call.control.remove_fault(&call.name)?;
    Ok(Json(DeletedReply { deleted: call.name }))
}

pub(super) async fn connections(call: ControlCall<Json<ConnectionsRequest>>) -> Replied<ConnectionsRequest> {
    call.control.faults()?.connections.refuse(call.body.0.refuse);
    Ok(call.body)
}

pub(super) async fn restart(call: ControlCall<NoBody>) -> Replied<RestartReply> {
    call.control.faults()?.connections.restart();
    Ok(Json(RestartReply { restarted: true }))
}
