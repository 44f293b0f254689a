//! `thriftstore move`: moves an application from an old server to a new one while it runs.
//!
//! ```text
//!   plan       reads both servers, and writes DIRECTORY/plan.json
//!   start      creates the schema at the new server, and runs the proxy: writes go to both servers
//!   backfill   copies the rows that are older than the double writes
//!   verify     compares both servers, and repairs the one that does not answer
//!   cutover    the new server answers; the old one gets the writes      back   the old one answers again
//!   finish     records the end: the proxy does not start again
//! ```
//!
//! `start` runs until the end of the move. The other commands are short, and talk to it by files in the directory
//! (`control`).

mod control;
mod plan;
mod start;
mod steps;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::Result;
use base::marshal::Types;

#[derive(Debug, Args)]
pub(super) struct MoveArgs {
    #[command(subcommand)]
    step: MoveStep,
}

#[derive(Debug, Subcommand)]
enum MoveStep {
    /// Read both servers, say what will not move, and write the plan.
    Plan(Box<plan::PlanArgs>),
    /// Create the schema at the new server, and serve clients by the old one; both get the writes. Runs until SIGTERM.
    Start(Box<start::StartArgs>),
    /// Copy the rows of the old server that the new one does not have yet.
    Backfill(steps::StepArgs),
    /// Compare both servers, look at differences again, and repair the server that does not answer.
    Verify(steps::VerifyArgs),
    /// Print the state of the move.
    Status(DirectoryArg),
    /// Let the new server answer. The old one gets the writes.
    Cutover(control::SwitchArgs),
    /// Let the old server answer again. The new one gets the writes.
    Back(control::SwitchArgs),
    /// Record that the move has ended: once the proxy is stopped, it does not start again.
    Finish(DirectoryArg),
}

/// The directory of a move.
#[derive(Debug, Args)]
struct DirectoryArg {
    /// The directory of the move, with its plan, queues and state
    directory: PathBuf,
}

pub(super) fn run(args: &MoveArgs, types: &Types) -> Result<()> {
    match &args.step {
        MoveStep::Plan(args) => plan::plan(args, types),
        MoveStep::Start(args) => start::start(args, types),
        MoveStep::Backfill(args) => steps::backfill(args, types),
        MoveStep::Verify(args) => steps::verify(args, types),
        MoveStep::Status(args) => control::status(&args.directory),
        MoveStep::Cutover(args) => control::switch(args, &control::ProxyOrder::Cutover),
        MoveStep::Back(args) => control::switch(args, &control::ProxyOrder::Back),
        MoveStep::Finish(args) => control::finish(&args.directory),
    }
}
