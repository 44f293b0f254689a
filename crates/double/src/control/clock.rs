//! `/clock`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{ControlCall, NoBody};
use super::error::ControlError;
use super::json::{Json, Replied};
use crate::control::Result;
use base::marshal::{parse_date, timestamp_text};
use base::util::{ClockChange, ClockState};

/// The request of `POST /clock`: exactly one of these.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockRequest {
    /// `true` stops the clock, `false` lets it run on from its current time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freeze: Option<bool>,
    /// The new time, such as `2012-01-01T00:00:00Z`. A stopped clock stays stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Milliseconds to add to the time. A stopped clock stays stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advance_ms: Option<i64>,
    /// `true` lets the clock follow the system's again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
}

/// The state of the clock.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClockReply {
    /// The time in UTC, such as `2012-01-01T00:00:00.000Z`.
    pub now: String,
    /// The same in milliseconds since 1970.
    pub now_ms: i64,
    /// Whether the clock is stopped.
    pub frozen: bool,
    /// The difference from the system's clock, in milliseconds.
    pub offset_ms: i64,
}

impl From<ClockState> for ClockReply {
    fn from(state: ClockState) -> ClockReply {
        let ClockState { now_ms, is_frozen: frozen, offset_ms } = state;
        ClockReply { now: timestamp_text(now_ms).replace(' ', "T"), now_ms, frozen, offset_ms }
    }
}

impl ClockRequest {
    fn change(self) -> Result<ClockChange> {
        match self {
            ClockRequest { freeze: Some(freezes), set: None, advance_ms: None, follow: None } => {
                Ok(if freezes { ClockChange::Freeze } else { ClockChange::Unfreeze })
            }
            ClockRequest { freeze: None, set: Some(text), advance_ms: None, follow: None } => {
                parse_date(&text).map(ClockChange::Set).ok_or_else(|| {
                    ControlError::invalid(format!("{text:?} is no time: use the form 2012-01-01T00:00:00Z"))
                })
            }
            ClockRequest { freeze: None, set: None, advance_ms: Some(ms), follow: None } => {
                Ok(ClockChange::Advance(ms))
            }
            ClockRequest { freeze: None, set: None, advance_ms: None, follow: Some(true) } => {
                Ok(ClockChange::Follow)
            }
            _ => Err(ControlError::invalid(
                "give exactly one of \"freeze\": true, \"freeze\": false, \"set\": \"2012-01-01T00:00:00Z\", \
                 \"advance_ms\": 3600000 and \"follow\": true",
            )),
        }
    }
}

pub(super) async fn get(call: ControlCall<NoBody>) -> Replied<ClockReply> {
    Ok(Json(call.control.clock()?.into()))
}

pub(super) async fn change(call: ControlCall<Json<ClockRequest>>) -> Replied<ClockReply> {
    Ok(Json(call.control.change_clock(call.body.0.change()?)?.into()))
}
