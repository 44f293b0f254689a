//! The options of commands that end with a report.

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::Result;
use base::util::output::{print_line, print_text};
use traffic::report::{DifferenceKind, Report, Summary};

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportForm {
    Text,
    Json,
    Html,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The form of the report
    #[arg(long = "report", value_name = "FORM", value_enum, default_value = "text")]
    form: ReportForm,
    /// Write the report to this file, and print it as text too [default: only print it]
    #[arg(long = "report-to", value_name = "FILE")]
    to: Option<PathBuf>,
    /// Fail if there is a difference of this kind or a more serious one: `data`, `exception` (or data), `text` (or any)
    #[arg(long, value_name = "KIND")]
    fail_on: Option<DifferenceKind>,
}

impl ReportArgs {
    /// Writes the report.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, if the report has differences of `--fail-on`, or if writes are missing from the
    /// candidate.
    pub(super) fn write(&self, report: &Report) -> Result<()> {
        self.write_summary(&report.summary(), report)
    }

    /// Writes a summary of the report.
    ///
    /// # Errors
    ///
    /// As [`ReportArgs::write`].
    pub(super) fn write_summary(&self, summary: &Summary, report: &Report) -> Result<()> {
        let written = match self.form {
            ReportForm::Text => summary.text(),
            ReportForm::Json => summary.json(),
            ReportForm::Html => summary.html(),
        };
        match &self.to {
            None => print_text!("{written}"),
            Some(file) => {
                fs::write(file, written)
                    .map_err(|error| format!("cannot write the report to {}: {error}", file.display()))?;
                print_text!("{}", summary.text());
                print_line!("\nThe report is in {}", file.display());
            }
        }
        let headline = || summary.verdict.headline(summary);
        match self.fail_on {
            Some(kind) if report.has_differences(kind) => Err(format!("{} (--fail-on {kind})", headline())),
            // Equal answers prove nothing if the candidate lacks data.
            _ if summary.calls.missing_writes > 0 => Err(headline()),
            _ => Ok(()),
        }
    }
}
