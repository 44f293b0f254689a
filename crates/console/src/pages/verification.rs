//! `/verify`: reads every byte of the data directory of this server.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;
use parking_lot::Mutex;

use crate::failure::{AdminError, Result, forbidden};
use crate::limits::VERIFIED_BYTES_PER_S;
use crate::state::Admin;
use crate::visitor::Visitor;
use embedded::disk::RealDisk;

/// The verification that is running, or the result of the last one.
#[derive(Debug, Default)]
pub(crate) struct Verification {
    is_running: bool,
    /// The last line of the progress, or the result. Empty if there was no verification since the start.
    text: String,
}

/// Answers `GET /verify` with the progress or the result. A damage is described with row keys, so its user must be
/// allowed everything.
pub(crate) async fn show(State(state): Admin, visitor: Visitor) -> Result<String> {
    check_may_verify(&visitor)?;
    Ok(state.verification.lock().text.clone())
}

/// Answers `POST /verify`, which starts a verification in a thread of its own.
pub(crate) async fn start(State(state): Admin, visitor: Visitor) -> Result<&'static str> {
    check_may_verify(&visitor)?;
    let store = state.database.store();
    let Some(directory) = store.capabilities().directory else {
        return Err(AdminError::not_found("this server has no data directory that could be verified"));
    };
    let mut verification = state.verification.lock();
    if verification.is_running {
        let why = "a verification is running: GET /verify returns its progress";
        return Err(AdminError::new(StatusCode::CONFLICT, why));
    }
    let (run, directory) = (state.verification.clone(), directory.to_owned());
    std::thread::Builder::new()
        .name("verification".to_owned())
        .spawn(move || verify(&directory, &run))
        .map_err(|error| AdminError::internal(format!("the verification cannot start: {error}")))?;
    *verification = Verification { is_running: true, text: "verification started\n".to_owned() };
    Ok("verification started: GET /verify returns the progress and the result\n")
}

fn verify(directory: &Path, run: &Mutex<Verification>) {
    let verified = embedded::verify(&RealDisk, directory, Some(VERIFIED_BYTES_PER_S), &mut |line| {
        run.lock().text = format!("{line}\n");
    });
    let text = match verified {
        Ok(verified) => {
            let mut text = format!("{verified}\n");
            for damage in &verified.damages {
                tracing::error!("the verification of the data directory found: {damage}");
                text += &format!("{damage}\n");
            }
            text
        }
        Err(error) => format!("the verification failed: {error}\n"),
    };
    *run.lock() = Verification { is_running: false, text };
}

fn check_may_verify(visitor: &Visitor) -> Result<()> {
    if visitor.user.may_everything() {
        return Ok(());
    }
    forbidden("only a superuser verifies the data directory")
}
