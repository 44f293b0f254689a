//! `thriftstore traffic`: prints, counts, filters, merges and converts recordings.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::redact::{RedactArgs, redact};
use crate::cli::Result;
use base::marshal::parse_date;
use base::util::output::{print_line, print_text, report_line};
use traffic::file::{PartWriter, RotationLimits};
use traffic::tools::{Filter, JsonWriter, Kept, Merge, PairedCall, Pairing, Stats, line_of};
use traffic::{Event, Header, Recording, TrafficError};

#[derive(Debug, Args)]
pub(super) struct TrafficArgs {
    #[command(subcommand)]
    command: TrafficCommand,
}

#[derive(Debug, Subcommand)]
enum TrafficCommand {
    /// Print the calls, one per line.
    Show(ShowRecordingArgs),
    /// Count calls by method, column family and client, with latencies.
    Stats(StatsArgs),
    /// Write a recording of the selected calls, with those that prepare their connections.
    Filter(FilterCommandArgs),
    /// Write the recording with the secrets replaced by keyed hashes.
    Redact(RedactArgs),
    /// Make one recording of several, in the order of time.
    Merge(MergeArgs),
    /// Write the Thrift calls as lines of JSON.
    ToJson(ToJsonArgs),
    /// Make a recording of lines of JSON.
    FromJson(FromJsonArgs),
}

/// The options that select calls.
#[derive(Debug, Args)]
struct SelectArgs {
    /// Only calls from this time on: `2013-11-09`, `2013-11-09T12:30:00Z`, or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<i64>,
    /// Only calls until this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<i64>,
    /// Only calls of this connection, by its number; may be given several times, as all of these options
    #[arg(long, value_name = "NUMBER")]
    connection: Vec<u64>,
    /// Only calls of this Thrift method, or statements with this first word
    #[arg(long, value_name = "NAME")]
    method: Vec<String>,
    /// Only calls of this column family
    #[arg(long, value_name = "[KEYSPACE.]FAMILY")]
    family: Vec<String>,
    /// Only calls of clients whose address begins so
    #[arg(long, value_name = "ADDRESS")]
    client: Vec<String>,
}

#[derive(Debug, Args)]
struct ShowRecordingArgs {
    /// The recording
    file: PathBuf,
    #[command(flatten)]
    select: SelectArgs,
    /// Only calls that ended with an exception
    #[arg(long)]
    failed: bool,
    /// Print at most this number of calls
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
}

#[derive(Debug, Args)]
struct StatsArgs {
    /// The recording
    file: PathBuf,
    #[command(flatten)]
    select: SelectArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct FilterCommandArgs {
    /// The recording
    file: PathBuf,
    #[command(flatten)]
    select: SelectArgs,
    /// The new recording, which must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

#[derive(Debug, Args)]
struct MergeArgs {
    /// The recordings
    #[arg(required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// The new recording, which must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

#[derive(Debug, Args)]
struct ToJsonArgs {
    /// The recording
    file: PathBuf,
    #[command(flatten)]
    select: SelectArgs,
    /// The file of the lines, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct FromJsonArgs {
    /// The lines of JSON
    file: PathBuf,
    /// The new recording, which must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

/// Returns a time in microseconds since 1970.
fn time(text: &str) -> Result<i64> {
    let ms = parse_date(text).ok_or_else(|| {
        format!("{text:?} is no time: use 2013-11-09, 2013-11-09T12:30:00Z, or milliseconds since 1970")
    })?;
    Ok(ms.saturating_mul(1000))
}

impl SelectArgs {
    fn filter(&self) -> Filter {
        Filter {
            from_us: self.from,
            until_us: self.until,
            connections: self.connection.clone(),
            methods: self.method.clone(),
            families: self.family.clone(),
            clients: self.client.clone(),
            only_failed: false,
        }
    }
}

pub(super) fn traffic(args: &TrafficArgs) -> Result<()> {
    match &args.command {
        TrafficCommand::Show(args) => show(args),
        TrafficCommand::Stats(args) => stats(args),
        TrafficCommand::Filter(args) => filter(args),
        TrafficCommand::Redact(args) => redact(args),
        TrafficCommand::Merge(args) => merge(args),
        TrafficCommand::ToJson(args) => to_json(args),
        TrafficCommand::FromJson(args) => from_json(args),
    }
}

pub(super) fn open(file: &Path) -> Result<Recording> {
    Recording::open(file).map_err(|error| error.to_string())
}

/// Passes the wanted calls to `each`, until it returns false. Damage is reported, and the readable calls are passed.
fn each_call(
    file: &Path,
    filter: &Filter,
    mut each: impl FnMut(&PairedCall) -> io::Result<bool>,
) -> Result<Pairing> {
    let mut recording = open(file)?.only(filter.blocks());
    let mut pairing = Pairing::default();
    let mut damage = None;
    loop {
        let (calls, is_last) = match recording.next() {
            Some(Ok(event)) => (pairing.take(event), false),
            Some(Err(error @ TrafficError::Damaged { .. })) => {
                report_line!("{error}");
                damage = Some(error);
                continue;
            }
            Some(Err(error)) => return Err(error.to_string()),
            None => (pairing.finish(), true),
        };
        for call in calls.iter().filter(|call| filter.wants(call)) {
            match each(call) {
                Ok(true) => {}
                Ok(false) => return Ok(pairing),
                // The reader of the output has read enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(pairing),
                Err(error) => return Err(format!("cannot write: {error}")),
            }
        }
        if is_last {
            break;
        }
    }
    if recording.was_cut_off() {
        report_line!("{} was not closed by its recorder: its last calls may be missing", file.display());
    }
    match damage {
        Some(_) => Err(format!("{} is damaged: what could be read was used", file.display())),
        None => Ok(pairing),
    }
}

fn show(args: &ShowRecordingArgs) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut left = args.limit;
    let filter = Filter { only_failed: args.failed, ..args.select.filter() };
    let shown = each_call(&args.file, &filter, |call| {
        if left == 0 {
            return Ok(false);
        }
        left -= 1;
        writeln!(out, "{}", line_of(call))?;
        Ok(left > 0)
    });
    match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write: {error}")),
        _ => shown.map(drop),
    }
}

fn stats(args: &StatsArgs) -> Result<()> {
    let mut stats = Stats::default();
    let pairing = each_call(&args.file, &args.select.filter(), |call| {
        stats.add(call);
        Ok(true)
    })?;
    let summary = stats.summary(&pairing);
    if args.json {
        print_line!("{}", serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())?);
    } else {
        print_text!("{summary}");
    }
    Ok(())
}

fn filter(args: &FilterCommandArgs) -> Result<()> {
    let (filter, recording) = (args.select.filter(), open(&args.file)?);
    let mut kept = Kept::new(&filter);
    let header = header_of(&recording, format!("selected from {}", args.file.display()));
    write_recording(
        &args.to,
        header,
        recording.filter(|event| event.as_ref().map_or(true, |event| kept.keeps(event))),
    )?;
    print_line!("{}: {} calls", args.to.display(), kept.calls());
    Ok(())
}

fn merge(args: &MergeArgs) -> Result<()> {
    let recordings: Vec<Recording> = args.files.iter().map(|file| open(file)).collect::<Result<_, _>>()?;
    let upstreams: Vec<String> = recordings.iter().map(Recording::upstreams).collect();
    let origin = format!("merged from {} recordings", args.files.len());
    let header = Header { upstreams, ..merged(recordings.iter().map(|one| header_of(one, origin.clone()))) };
    write_recording(&args.to, header, Merge::new(recordings))
}

fn from_json(args: &FromJsonArgs) -> Result<()> {
    let recording = open(&args.file)?;
    let header = header_of(&recording, format!("lines of JSON in {}", args.file.display()));
    write_recording(&args.to, header, recording)
}

/// Returns the header of a recording that is made of another one.
pub(super) fn header_of(recording: &Recording, origin: String) -> Header {
    let (redacted, redaction_key) = recording.redaction();
    let header = Header::new(0, vec![recording.upstreams()]);
    Header { origin: Some(origin), redacted, redaction_key, ..header }
}

/// Returns one header for all. Roles that are redacted in one of them count for the whole; the key only if it is the
/// same.
fn merged(mut headers: impl Iterator<Item = Header>) -> Header {
    let Some(mut merged) = headers.next() else { return Header::new(0, Vec::new()) };
    for other in headers {
        for role in other.redacted {
            if !merged.redacted.contains(&role) {
                merged.redacted.push(role);
            }
        }
        merged.redaction_key = merged.redaction_key.filter(|key| other.redaction_key.as_ref() == Some(key));
    }
    merged
}

/// Writes events as a recording, with the time of the first one in the header.
pub(super) fn write_recording(
    to: &Path,
    header: Header,
    events: impl Iterator<Item = Result<Event, TrafficError>>,
) -> Result<()> {
    let mut events = events.peekable();
    let started_us = match events.peek() {
        Some(Ok(event)) => event.at_us,
        _ => 0,
    };
    let header = Header { started_us, ..header };
    let mut writer =
        PartWriter::create(to, header, RotationLimits::default()).map_err(|error| error.to_string())?;
    let mut damage = None;
    for event in events {
        match event {
            Ok(event) => writer.write(&event).map_err(|error| error.to_string())?,
            Err(error @ TrafficError::Damaged { .. }) => {
                report_line!("{error}");
                damage = Some(error);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    writer.finish().map_err(|error| error.to_string())?;
    match damage {
        Some(error) => Err(format!("{}: what could be read is written. {error}", to.display())),
        None => Ok(()),
    }
}

fn to_json(args: &ToJsonArgs) -> Result<()> {
    let out: Box<dyn Write> = match &args.to {
        None => Box::new(io::stdout().lock()),
        Some(file) => Box::new(
            File::create_new(file).map_err(|error| format!("cannot create {}: {error}", file.display()))?,
        ),
    };
    let mut writer = JsonWriter::new(BufWriter::new(out), open(&args.file)?.upstreams());
    each_call(&args.file, &args.select.filter(), |call| writer.write(call).map(|()| true))?;
    let written = writer.finish().map_err(|error| format!("cannot write: {error}"))?;
    if written.native + written.unanswered > 0 {
        report_line!(
            "{} calls written; left out: {} of the native protocol, {} without an answer",
            written.calls,
            written.native,
            written.unanswered
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_milliseconds() {
        assert_eq!(time("1970-01-01T00:00:01Z"), Ok(1_000_000));
        assert_eq!(time("1500"), Ok(1_500_000));
        assert!(time("yesterday").unwrap_err().contains("is no time"));
    }
}
