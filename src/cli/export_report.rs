//! The report of `thriftstore export`.

use std::path::Path;

use indicatif::HumanBytes;

use crate::cli::Result;
use base::util::counted;
use base::util::output::{print_line, report_line};
use transfer::export::{ExportOptions, Exported, MANIFEST, WrittenTable};

/// Tables without lines that are listed by their names.
const EMPTY_MAX: usize = 20;

/// Prints what begins.
pub(super) fn report_start(from: &str, to: &Path, options: &ExportOptions) {
    let what = if options.all_cells { "everything that is stored" } else { "the live rows" };
    report_line!("writing {what} of {from} to {} as {}", to.display(), options.format);
}

/// Prints the files, and what they do not have. Losses are an error.
pub(super) fn report_exported(exported: &Exported, to: &Path, options: &ExportOptions) -> Result<()> {
    let (written, empty): (Vec<&WrittenTable>, Vec<&WrittenTable>) =
        exported.tables.iter().partition(|table| table.lines > 0);
    let width = written.iter().map(|table| table.file.len()).max().unwrap_or_default();
    for table in &written {
        let lines = counted(table.lines, &table.line.replace("part of a row", "line"));
        print_line!("{:width$}  {lines}, {}", table.file, HumanBytes(table.bytes));
    }
    if !empty.is_empty() {
        let names: Vec<String> =
            empty.iter().map(|table| format!("{}.{}", table.keyspace, table.table)).collect();
        print_line!("without rows: {}", base::util::listed(&names, EMPTY_MAX));
    }
    let (lines, bytes) =
        written.iter().fold((0, 0), |(lines, bytes), table| (lines + table.lines, bytes + table.bytes));
    print_line!(
        "written: {}, {}, {} in {}; {MANIFEST} lists them with the types of their columns",
        counted(exported.tables.len() as u64, "table"),
        counted(lines, "line"),
        HumanBytes(bytes),
        to.display()
    );
    if exported.tables.iter().any(|table| table.line == "cell") && !options.all_cells {
        print_line!(
            "column families that CQL did not create are written cell by cell: docs/export.md has queries for them"
        );
    }
    for table in &exported.tables {
        table.notes.iter().for_each(|note| report_line!("{}: {note}", table.file));
    }
    let of_logs = exported.losses.first().iter();
    let of_files: Vec<&String> = exported.tables.iter().flat_map(|table| &table.notes).collect();
    for lost in of_logs.filter(|lost| !of_files.contains(&&lost.what)) {
        report_line!("damaged: {}", lost.what);
    }
    exported.left_out.iter().for_each(|table| report_line!("left out: {}: {}", table.table, table.why));
    let lost = exported.losses.count() - exported.losses.harmless() + exported.earlier_losses;
    let missing = exported.left_out.iter().filter(|table| !table.is_selected_so).count();
    match (lost, missing as u64) {
        (0, 0) => Ok(()),
        (lost, left_out) => Err(format!(
            "not everything is there: {}, {} left out (see above)",
            counted(lost, "damage"),
            counted(left_out, "table")
        )),
    }
}
