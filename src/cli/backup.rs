//! `thriftstore backup`: copies a data directory, whether a server is running on it or not.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanBytes;

use super::data;
use super::message::load_config;
use crate::cli::Result;
use base::marshal::Types;
use base::util::output::{print_line, report_line};
use embedded::{BackupOptions, BackupSummary};

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// The directory to create. If it is on the same file system as the data directory, tables are hard-linked instead
    /// of copied
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    /// The configuration of the server to back up [default: as for `serve`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data directory, instead of the configuration's DataFileDirectory. A server may be running on it
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Do not read the tables to verify their checksums. The log and the manifest are always verified
    #[arg(long)]
    no_verify: bool,
}

pub(super) fn backup(args: &BackupArgs, types: &Types) -> Result<()> {
    let source = match &args.data_dir {
        Some(directory) => directory.clone(),
        None => {
            let config = load_config(args.config.as_deref(), types)?;
            data::directory(None, &config)
        }
    };
    let options = BackupOptions { source, target: args.target.clone(), reads_tables: !args.no_verify };
    let started = Instant::now();
    let summary = embedded::back_up(&options, &mut |line| report_line!("{line}"));
    let summary = summary.map_err(|error| format!("cannot back up {}: {error}", options.source.display()))?;
    print_line!("{}", text(&options, &summary, started.elapsed().as_secs_f64()));
    Ok(())
}

fn text(options: &BackupOptions, summary: &BackupSummary, seconds: f64) -> String {
    format!(
        "backed up {} to {}: {} column families, {} tables ({} linked, {} copied), {} of log, {seconds:.1} s",
        options.source.display(),
        options.target.display(),
        summary.column_families,
        summary.tables,
        HumanBytes(summary.linked_bytes),
        HumanBytes(summary.copied_bytes),
        HumanBytes(summary.log_bytes),
    )
}
