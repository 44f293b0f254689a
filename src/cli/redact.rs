//! `thriftstore traffic redact`: replaces the secrets in a recording.

use std::path::{Path, PathBuf};

use clap::Args;

use super::redaction::RedactionArgs;
use super::traffic::{header_of, open, write_recording};
use crate::cli::Result;
use traffic::TrafficError;
use traffic::redact::{Hashes, Redactor};

#[derive(Debug, Args)]
pub(super) struct RedactArgs {
    /// The recording
    file: PathBuf,
    #[command(flatten)]
    redaction: RedactionArgs,
    /// Keep the order of column names of Thrift calls, so that slices have the same columns: the recording is read twice,
    /// and its names must fit into memory
    #[arg(long)]
    keep_order: bool,
    /// The new recording, which must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

pub(super) fn redact(args: &RedactArgs) -> Result<()> {
    let Some(mut hashes) = args.redaction.hashes()? else {
        return Err(
            "nothing to redact: give --redact values, keys or names, or several with commas".to_owned()
        );
    };
    if args.keep_order {
        hashes = with_order(&args.file, hashes)?;
    }
    let recording = open(&args.file)?;
    let mut header = header_of(&recording, format!("redacted from {}", args.file.display()));
    let mut redactor = Redactor::new(hashes);
    redactor.describe(&mut header);
    write_recording(&args.to, header, recording.map(|event| event.map(|event| redactor.redact(event))))
}

/// Collects the names of a recording. Damage is reported when the recording is read again.
fn with_order(file: &Path, hashes: Hashes) -> Result<Hashes> {
    let mut collector = Redactor::new(hashes.collecting());
    for event in open(file)? {
        match event {
            Ok(event) => drop(collector.redact(event)),
            Err(TrafficError::Damaged { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    collector.into_hashes().ordered()
}
