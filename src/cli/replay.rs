//! `thriftstore replay`: sends the calls of a recording to a server, and compares its answers with the recorded ones.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::process::{self, StopSignals};
use super::replay_server::{ReplayServer, ReplayServerArgs, quoted};
use super::report::ReportArgs;
use super::traffic::open;
use crate::cli::Result;
use base::util::limits::{SHRUNK_BYTES_MAX, SHRUNK_CAUSES_MAX};
use base::util::output::report_line;
use traffic::file::{PartWriter, RotationLimits};
use traffic::replay::{
    FreshServer, Progress, Replay, ReplayOptions, Shrunk, Speed, partitioner_of, reproduction, selected,
    shrink,
};
use traffic::report::{CauseId, Report, ReportSubject, RunKind};
use traffic::{Event, EventKind, Header, Recording, TrafficError};

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The recording: a file of `thriftstore record`, which is read with its further parts, or lines of JSON
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    server: ReplayServerArgs,
    /// The speed at which calls are sent: `max`, `recorded`, or a factor of the recorded speed, such as 2.5
    #[arg(long, value_name = "SPEED", default_value = "max")]
    speed: Speed,
    /// Replay the recording N times. Without --fresh, a server of --against keeps the data of the run before
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// Send only reads of rows that the recording has written before, for a server that begins empty
    #[arg(long)]
    only_own_reads: bool,
    /// The time that an answer may take, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    timeout_ms: u64,
    /// Find the fewest calls that show each difference, and write them as recordings into this directory. A server of
    /// --against needs --fresh
    #[arg(long, value_name = "DIRECTORY")]
    shrink: Option<PathBuf>,
    /// The time to search for the fewest calls of one difference
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "shrink", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    shrink_seconds: u64,
    #[command(flatten)]
    report: ReportArgs,
}

/// Replays, and writes the report.
pub(super) fn replay(args: &ReplayArgs) -> Result<()> {
    process::start_log();
    process::raise_descriptor_limit();
    process::runtime()?.block_on(run(args))
}

async fn run(args: &ReplayArgs) -> Result<()> {
    let recording = Recording::open(&args.file).map_err(|error| error.to_string())?;
    let recorded = described(&args.file, &recording.upstreams());
    let mut server = args.server.open(partitioner_of(recording).as_deref()).await?;
    if let (Some(directory), false) = (&args.shrink, server.can_be_fresh()) {
        return Err(format!(
            "--shrink {} needs the server in its first state again and again: add --fresh COMMAND, or replay to the \
             server in memory, without --against",
            directory.display()
        ));
    }
    let subject = ReportSubject { run: RunKind::Replay, recorded, candidate: server.name() };
    let report = Report::new(subject);
    let mut stop = StopSignals::listen()?;
    for _ in 0..args.times {
        if !replay_once(args, &mut server, &report, &mut stop).await? {
            report_line!("interrupted: the report has the calls so far");
            return args.report.write(&report);
        }
    }
    if let Some(directory) = &args.shrink {
        shrink_all(args, directory, &mut server, &report).await?;
    }
    args.report.write(&report)
}

fn described(file: &Path, upstreams: &str) -> String {
    match upstreams {
        "" => file.display().to_string(),
        upstreams => format!("{} ({upstreams})", file.display()),
    }
}

/// Replays the recording. Returns false if a signal has ended it.
async fn replay_once(
    args: &ReplayArgs,
    server: &mut ReplayServer,
    report: &Report,
    stop: &mut StopSignals,
) -> Result<bool> {
    let candidate = server.fresh().await?;
    let options = ReplayOptions {
        speed: args.speed,
        only_own_reads: args.only_own_reads,
        timeout: Duration::from_millis(args.timeout_ms),
    };
    let (mut report, mut progress) = (report.clone(), Progress::new(None));
    let damaged = report.clone();
    let mut replay = Replay::new(&candidate, &options, &mut report).with_progress(&mut progress);
    let mut recording = Recording::open(&args.file).map_err(|error| error.to_string())?;
    for event in &mut recording {
        match event {
            Ok(event) => tokio::select! {
                () = replay.take(event) => {}
                () = stop.wait() => return Ok(false),
            },
            Err(error @ TrafficError::Damaged { .. }) => {
                report_line!("{error}");
                damaged.add_not_compared("a damaged block of the recording", 1);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    tokio::select! {
        _ = replay.finish() => {}
        () = stop.wait() => return Ok(false),
    }
    if recording.was_cut_off() {
        report_line!("{} was not closed by its recorder: its last calls may be missing", args.file.display());
    }
    Ok(true)
}

/// Finds the fewest calls of each cause of differences.
async fn shrink_all(
    args: &ReplayArgs,
    directory: &Path,
    server: &mut ReplayServer,
    report: &Report,
) -> Result<()> {
    let causes = report.causes();
    if causes.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("--shrink: cannot create {}: {error}", directory.display()))?;
    let listed = causes.len().min(SHRUNK_CAUSES_MAX);
    for (at, (cause, call)) in causes.into_iter().take(SHRUNK_CAUSES_MAX).enumerate() {
        report_line!("shrinking cause {} of {listed}, which call {call} shows", at + 1);
        let file = directory.join(format!("cause-{}.rec", at + 1));
        match shrink_one(args, cause, call, &file, server, report).await {
            Ok(shrunk) => report_line!(
                "  {} calls after {} attempts{}: {}",
                shrunk.calls.len(),
                shrunk.attempts,
                if shrunk.is_shortest { "" } else { ", the time was over" },
                file.display()
            ),
            Err(why) => report_line!("  not shrunk: {why}"),
        }
    }
    Ok(())
}

/// Finds the fewest calls of one cause, and writes them into `file`.
async fn shrink_one(
    args: &ReplayArgs,
    cause: CauseId,
    call: u64,
    file: &Path,
    server: &mut ReplayServer,
    report: &Report,
) -> Result<Shrunk> {
    let events = events_until(&args.file, call)?;
    let shrunk = shrink(&events, call, server, Duration::from_secs(args.shrink_seconds)).await?;
    let header = Header {
        origin: Some(format!("shrunk from {}", args.file.display())),
        ..Header::new(events.first().map_or(0, |event| event.at_us), Vec::new())
    };
    let wanted = shrunk.calls.iter().copied().collect();
    let written = PartWriter::create(file, header, RotationLimits::default()).and_then(|mut writer| {
        selected(&events, &wanted).into_iter().try_for_each(|event| writer.write(event))?;
        writer.finish()
    });
    written.map_err(|error| error.to_string())?;
    let command =
        format!("thriftstore replay {}{}", quoted(&file.display().to_string()), args.server.options());
    report.set_reproduction(cause, reproduction(&events, &shrunk, command));
    if server.is_other() {
        let partitioner = open(&args.file).map(partitioner_of)?;
        let mut own = args.server.in_memory(partitioner.as_deref()).await?;
        if !shrunk.is_answered_by(&events, &own.fresh().await?).await {
            report_line!(
                "  a thriftstore in memory does not give the recorded answer to these calls either: perhaps the \
                 schema or data is from before the recording"
            );
        }
    }
    Ok(shrunk)
}

/// Reads the events up to the reply of a call.
fn events_until(file: &Path, last: u64) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    let mut bytes = 0;
    for event in Recording::open(file).map_err(|error| error.to_string())? {
        let event = match event {
            Ok(event) => event,
            Err(TrafficError::Damaged { .. }) => continue,
            Err(error) => return Err(error.to_string()),
        };
        let is_last = matches!(&event.kind, EventKind::Reply { call, .. } if *call == last);
        if let EventKind::Request { message, .. } | EventKind::Reply { message, .. } = &event.kind {
            bytes += message.len();
        }
        if bytes > SHRUNK_BYTES_MAX {
            return Err(format!(
                "the messages before call {last} have more than {} MB, which would have to be in memory",
                SHRUNK_BYTES_MAX >> 20
            ));
        }
        events.push(event);
        if is_last {
            break;
        }
    }
    Ok(events)
}
