//! `thriftstore restore` and `thriftstore archive`: read an archive of `serve --archive`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::Result;

/// The error of a program without the feature.
#[cfg(not(feature = "archive"))]
pub(super) const WITHOUT_FEATURE: &str = "this program was built without the feature archive: build it with cargo build --release --features archive";

#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// The archive: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///DIR
    #[arg(long, value_name = "URL")]
    from: String,
    /// The data directory to create
    #[arg(long, value_name = "DIR", required_unless_present_any = ["list", "dry_run"])]
    to: Option<PathBuf>,
    /// Restore the state at this time, such as 2026-11-26T10:15:00Z [default: the newest state]
    #[arg(long, value_name = "TIME", conflicts_with = "list")]
    at: Option<String>,
    /// Restore from this line of the archive [default: the line to which a server began to write last]
    #[arg(long, value_name = "LINE", conflicts_with = "list")]
    line: Option<String>,
    /// Print the lines of the archive and the moments that can be restored
    #[arg(long, conflicts_with_all = ["to", "dry_run"])]
    list: bool,
    /// Read the log and print what would be restored, without doing it
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct ArchiveCommandArgs {
    #[command(subcommand)]
    command: ArchiveCommand,
}

#[derive(Debug, Subcommand)]
enum ArchiveCommand {
    /// Read a whole archive, and print which moments can be restored and which objects are damaged.
    Verify {
        /// The archive: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///DIR
        #[arg(value_name = "URL")]
        url: String,
    },
}

#[cfg(not(feature = "archive"))]
mod run {
    use super::{ArchiveCommand, ArchiveCommandArgs, RestoreArgs, WITHOUT_FEATURE};
    use crate::cli::Result;

    impl RestoreArgs {
        pub(super) fn run(&self) -> Result<()> {
            let RestoreArgs { from: _, to: _, at: _, line: _, list: _, dry_run: _ } = self;
            Err(WITHOUT_FEATURE.to_owned())
        }
    }

    impl ArchiveCommandArgs {
        pub(super) fn run(&self) -> Result<()> {
            let ArchiveCommand::Verify { url: _ } = &self.command;
            Err(WITHOUT_FEATURE.to_owned())
        }
    }
}

#[cfg(feature = "archive")]
mod run {
    use std::time::Instant;

    use indicatif::HumanBytes;

    use super::{ArchiveCommand, ArchiveCommandArgs, RestoreArgs};
    use crate::cli::{Result, process};
    use archive::{
        ArchiveLocation, LineSummary, RestoreOptions, RestoreSummary, RunSummary, format_time, list,
        parse_time, restore, verify,
    };
    use base::util::output::{print_line, report_line};

    impl RestoreArgs {
        pub(super) fn run(&self) -> Result<()> {
            let from =
                ArchiveLocation::open(&self.from, false).map_err(|error| format!("--from: {error}"))?;
            let runtime = process::runtime()?;
            if self.list {
                let lines = runtime.block_on(list(&from)).map_err(|error| error.to_string())?;
                if lines.is_empty() {
                    return Err(format!("{} is not an archive, or an empty one", self.from));
                }
                lines.iter().for_each(print_of_line);
                return Ok(());
            }
            let at_us =
                self.at.as_deref().map(parse_time).transpose().map_err(|why| format!("--at: {why}"))?;
            let to = self.to.clone().filter(|_| !self.dry_run);
            let options = RestoreOptions { from, line: self.line.clone(), at_us, to };
            let began = Instant::now();
            let restored = runtime.block_on(restore(&options, &mut |line| report_line!("{line}")));
            let restored = restored.map_err(|error| format!("cannot restore: {error}"))?;
            let what = match &options.to {
                Some(to) => format!("restored {}", to.display()),
                None => "this would be restored".to_owned(),
            };
            print_line!("{what}: {}, {:.1} s", text(&restored), began.elapsed().as_secs_f64());
            Ok(())
        }
    }

    fn text(restored: &RestoreSummary) -> String {
        format!(
            "the state of {} (line {}, run {}), {} column families, {} tables with {}, {} of log in {} parts",
            format_time(restored.at_us),
            restored.line,
            restored.run,
            restored.column_families,
            restored.tables,
            HumanBytes(restored.table_bytes),
            HumanBytes(restored.log_bytes),
            restored.parts
        )
    }

    fn print_of_line(line: &LineSummary) {
        match &line.restored_from {
            Some((from, run)) => print_line!("line {}, restored from run {run} of line {from}", line.name),
            None => print_line!("line {}", line.name),
        }
        for RunSummary { number, began_us, gap, full_backups, moments, table_bytes } in &line.runs {
            let why = gap.as_ref().map(|why| format!(" after a gap ({why})")).unwrap_or_default();
            print_line!("  run {number}, begun {}{why}", format_time(*began_us));
            match moments {
                Some((first, last)) => print_line!(
                    "    from {} to {}, full backups: {full_backups}, tables of the last one: {}",
                    format_time(*first),
                    format_time(*last),
                    HumanBytes(*table_bytes)
                ),
                None => print_line!("    no complete full backup yet"),
            }
        }
    }

    impl ArchiveCommandArgs {
        pub(super) fn run(&self) -> Result<()> {
            let ArchiveCommand::Verify { url } = &self.command;
            let location = ArchiveLocation::open(url, false).map_err(|error| error.to_string())?;
            let runtime = process::runtime()?;
            let verified = runtime.block_on(verify(&location, &mut |line| report_line!("{line}")));
            let verified = verified.map_err(|error| format!("cannot verify {url}: {error}"))?;
            print_line!(
                "read {} full backups, {} parts of the log, {} tables with {}",
                verified.full_backups,
                verified.parts,
                verified.tables,
                HumanBytes(verified.table_bytes)
            );
            if verified.moments.is_empty() {
                print_line!("no moment can be restored");
            } else {
                print_line!("moments that can be restored:");
            }
            verified.moments.iter().for_each(|moments| print_line!("  {moments}"));
            verified.damages.iter().for_each(|damage| print_line!("damage: {damage}"));
            match verified.damages.len() {
                0 if verified.moments.is_empty() => Err(format!("{url} has nothing to restore")),
                0 => Ok(()),
                damages => Err(format!("{url} has {damages} missing or damaged objects")),
            }
        }
    }
}

pub(super) fn restore(args: &RestoreArgs) -> Result<()> {
    args.run()
}

pub(super) fn archive(args: &ArchiveCommandArgs) -> Result<()> {
    args.run()
}
