//! The report of `thriftstore import` at its end: the imported data, and the data that was not imported.
//!
//! Everything that is not imported is printed with its reason, and is an error, unless the user has asked to leave it
//! out.

use indicatif::HumanBytes;

use super::import_found::shown_times;
use crate::cli::Result;
use base::util::counted;
use base::util::output::{print_line, report_line};
use transfer::import::{FamilySummary, Inventory, Losses, Summary, UnfoundWrites, VerifiedImport};

/// Lines of each kind about losses that a dry run prints.
const LINES_FOUND: usize = 20;

/// Explains how to define column families that have no definition.
pub(super) const HOW_TO_DEFINE: &str = "Servers of 0.7 and later have the definitions in the keyspace system or system_schema: give the \
    whole data directory. Otherwise define them with --config storage-conf.xml (0.4 to 0.6), or with --schema and a script of \
    CQL or cassandra-cli";

/// Prints the imported data and the losses. Losses are an error.
pub(super) fn report_imported(inventory: &Inventory, summary: &Summary, skips_undefined: bool) -> Result<()> {
    let width = summary.families.keys().map(|name| name.to_string().len()).max().unwrap_or_default();
    for (name, family) in &summary.families {
        print_line!("{:width$}  {}", name.to_string(), shown(family));
    }
    for name in &summary.undefined {
        print_line!("{name} was left out: the target does not define it");
    }
    if summary.done_before > 0 {
        let tables = counted(summary.done_before, "SSTable");
        print_line!("imported before: {tables}, as the progress file says");
    }
    print_line!("imported: {}", total(inventory, summary, summary.commit_logs));
    lines_of_unfound("not imported", &summary.unfound).iter().for_each(|line| report_line!("{line}"));
    let missing = if skips_undefined { 0 } else { summary.unfound.missing() };
    lines_of_losses(summary, usize::MAX).iter().for_each(|line| report_line!("{line}"));
    outcome(inventory, summary, missing)
}

/// Prints the data that was found and the losses. Losses are an error.
pub(super) fn report_found(inventory: &Inventory, summary: &Summary) -> Result<()> {
    let times = summary.total().timestamps;
    let written =
        times.map_or_else(String::new, |(first, last)| format!(", written {}", shown_times(first, last)));
    let total = total(inventory, summary, inventory.commit_logs.len() as u64);
    print_line!("found: {total}{written}");
    lines_of_unfound("not counted", &summary.unfound).iter().for_each(|line| print_line!("{line}"));
    lines_of_losses(summary, LINES_FOUND).iter().for_each(|line| print_line!("{line}"));
    outcome(inventory, summary, 0)
}

/// Prints how many differences there are. They are an error.
pub(super) fn report_verified(verified: &VerifiedImport) -> Result<()> {
    if verified.is_complete {
        print_line!("compared: {} cells and deletions of the files with the target", verified.compared);
    } else {
        print_line!(
            "compared: {} live cells of the files with the target; not compared: deletions, and cells that only the target has",
            verified.compared
        );
    }
    match verified.differences {
        0 => Ok(()),
        differences => {
            Err(format!("the target differs from the files: {}", counted(differences, "difference")))
        }
    }
}

fn total(inventory: &Inventory, summary: &Summary, commit_logs: u64) -> String {
    let total = summary.total();
    let families = match summary.families.len() {
        1 => "1 column family".to_owned(),
        count => format!("{count} column families"),
    };
    format!(
        "{families}, {} in {} and {}, {}, {}, {}",
        HumanBytes(inventory.bytes()),
        counted(total.tables, "SSTable"),
        counted(commit_logs, "commit log"),
        counted(total.rows, "row"),
        counted(total.cells, "cell"),
        counted(total.tombstones, "tombstone")
    )
}

/// Returns lines with the writes in commit logs of column families that are not there, and what to do.
fn lines_of_unfound(what: &str, unfound: &UnfoundWrites) -> Vec<String> {
    let further = (unfound.further() > 0).then(|| counted(unfound.further(), "write"));
    let lines = [
        unfound.undefined().map(|names| {
            format!(
                "{what}: writes in commit logs of column families without a definition, with the number of writes: {names}. \
                 {HOW_TO_DEFINE}; then run the command again"
            )
        }),
        unfound.unnamed().map(|ids| {
            format!(
                "{what}: writes in commit logs of column families whose names are not known, with the number of writes: {ids}. \
                 The names are in the keyspaces system and system_schema: give the whole data directory"
            )
        }),
        further.map(|writes| format!("{what}: {writes} of further column families in commit logs")),
        unfound.dropped().map(|ids| {
            format!(
                "note: commit logs have writes of column families that are not in the old schema, with the number of writes: \
                 {ids}. They were dropped, so these writes are left out"
            )
        }),
    ];
    lines.into_iter().flatten().collect()
}

/// Returns lines with notes, losses and doubts, of each kind the first ones.
fn lines_of_losses(summary: &Summary, most: usize) -> Vec<String> {
    let families = || summary.families.iter();
    let mut notes: Vec<String> = families().flat_map(|(_, family)| family.notes.clone()).collect();
    notes.extend(families().filter_map(|(name, family)| {
        Some(format!("{name}: {}", family.overflowed.note(summary.shift.restores_overflow)?))
    }));
    let texts = |losses: &Losses| losses.first().iter().map(|lost| lost.what.clone()).collect::<Vec<_>>();
    let kinds = [
        ("note", notes, 0),
        ("doubtful", texts(&summary.doubts), summary.doubts.without_text()),
        ("damaged", texts(&summary.losses), summary.losses.without_text()),
    ];
    let mut lines = Vec::new();
    for (kind, texts, without_text) in kinds {
        let further = without_text + texts.len().saturating_sub(most) as u64;
        lines.extend(texts.iter().take(most).map(|text| format!("{kind}: {text}")));
        lines.extend((further > 0).then(|| format!("{kind}: {further} more, which are not printed")));
    }
    lines
}

/// Returns an error if something is lost, in doubt, or not imported.
fn outcome(inventory: &Inventory, summary: &Summary, missing: u64) -> Result<()> {
    let harmless = summary.losses.harmless();
    let lost = summary.losses.count() - harmless;
    let reasons = [
        (lost, "damage", ""),
        (harmless, "damage", " without a loss"),
        (summary.doubts.count(), "doubt", ""),
        (inventory.unreadable.len() as u64, "file", " that cannot be read"),
        (missing, "write", " in commit logs of column families without a definition"),
    ];
    let reasons = reasons.into_iter().filter(|(count, ..)| *count > 0);
    let reasons: Vec<String> = reasons.map(|(count, noun, rest)| counted(count, noun) + rest).collect();
    let reasons = reasons.join(", ");
    let is_lost = lost + inventory.unreadable.len() as u64 + missing > 0;
    match (is_lost, summary.doubts.is_empty()) {
        (true, _) => Err(format!("not everything is there: {reasons} (see above)")),
        (false, false) => Err(format!("nothing is lost, but something may be wrong: {reasons} (see above)")),
        (false, true) if harmless > 0 => {
            Err(format!("all rows were read, but files are damaged: {reasons} (see above)"))
        }
        (false, true) => Ok(()),
    }
}

fn shown(family: &FamilySummary) -> String {
    let FamilySummary { tables, rows, cells, tombstones, timestamps, formats, .. } = family;
    let letters = formats.keys().map(|letters| if letters.is_empty() { "0.4 to 0.6" } else { letters });
    let source = match *tables {
        0 => "commit logs only".to_owned(),
        tables => format!("{} ({})", counted(tables, "SSTable"), letters.collect::<Vec<_>>().join(", ")),
    };
    let times = timestamps
        .map_or_else(String::new, |(first, last)| format!(", written {}", shown_times(first, last)));
    let (rows, cells) = (counted(*rows, "row"), counted(*cells, "cell"));
    format!("{source}, {rows}, {cells}, {}{times}", counted(*tombstones, "tombstone"))
}
