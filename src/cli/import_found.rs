//! The output of `thriftstore import --dry-run`: all that is in the directories of old servers.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use indicatif::{HumanBytes, HumanDuration};

use base::marshal::timestamp_text;
use base::util::output::print_line;
use base::util::{counted, listed};
use transfer::import::{
    FamilyName, FamilySummary, FoundSchema, Inventory, LeftOut, SourcePartitioner, Summary,
};

/// SSTables that are printed for each reason not to read them.
const LEFT_OUT_PRINTED: usize = 10;

/// Names of commit logs, and of column families without data, that are printed.
const NAMES_PRINTED: usize = 8;

/// The first and the last second since 1970 that a timestamp may be of: 2000 to 2100.
const PLAUSIBLE_S: std::ops::Range<i64> = 946_684_800..4_102_444_800;

/// Prints the directories, the schema, the partitioner and the commit logs.
pub(super) fn print_sources(
    inventory: &Inventory,
    found: Result<&FoundSchema, &str>,
    config: Option<&Path>,
    partitioner: &SourcePartitioner,
) {
    let mut lines = Vec::new();
    let nodes = inventory.directories.last().map_or(0, |last| last.node + 1);
    lines.extend((0..nodes).map(|node| line_of_node(inventory, node)));
    match found {
        Err(why) => lines.push(format!("schema       cannot be read: {why}")),
        Ok(schema) => lines.extend(lines_of_schema(inventory, schema, config)),
    }
    let class = partitioner.partitioner.class_name();
    let short = class.rsplit('.').next().unwrap_or(class);
    lines.push(format!("partitioner  {short}: {}", partitioner.named_by));
    for (releases, logs) in logs_by_release(inventory) {
        lines.push(format!("commit logs  {} of {releases}: {}", logs.len(), listed(&logs, NAMES_PRINTED)));
    }
    lines.extend(left_out(inventory).into_iter().map(|line| format!("not read     {line}")));
    lines.extend(inventory.notes.iter().map(|note| format!("note         {note}")));
    lines.push(String::new());
    print(&lines);
}

fn line_of_node(inventory: &Inventory, node: usize) -> String {
    let tables = inventory.families.values().flatten().filter(|table| table.node == node);
    let sizes: Vec<u64> = tables.map(|table| table.bytes).collect();
    let logs = inventory.commit_logs.iter().filter(|log| log.node == node).count();
    let (count, logs) = (counted(sizes.len() as u64, "SSTable"), counted(logs as u64, "commit log"));
    let size = HumanBytes(sizes.iter().sum());
    let directories = inventory.directories.iter().filter(|directory| directory.node == node);
    let paths: Vec<String> = directories.map(|directory| directory.path.display().to_string()).collect();
    let title = if paths.len() == 1 { "directory  " } else { "directories" };
    format!("{title}  {}: {size} in {count}, {logs}", paths.join(", "))
}

/// Returns lines with the SSTables that are not read, and why: the first ones of each reason.
pub(super) fn left_out(inventory: &Inventory) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<&LeftOut>> = BTreeMap::new();
    for file in &inventory.left_out {
        by_reason.entry(&file.why).or_default().push(file);
    }
    let mut lines = Vec::new();
    for (why, files) in by_reason {
        let first = files.iter().take(LEFT_OUT_PRINTED);
        lines.extend(first.map(|file| format!("{}: {why}", file.path.display())));
        if let Some(others) = files.len().checked_sub(LEFT_OUT_PRINTED).filter(|others| *others > 0) {
            lines.push(format!("{others} further SSTables: {why}"));
        }
    }
    lines
}

fn lines_of_schema(inventory: &Inventory, schema: &FoundSchema, config: Option<&Path>) -> Vec<String> {
    let Some(source) = schema.source else {
        let from = match config {
            Some(config) => format!("that of {}", config.display()),
            None => "up to 0.6 it is in storage-conf.xml: set --config".to_owned(),
        };
        return vec![format!("schema       not in system tables; {from}")];
    };
    let families = schema.families();
    let keyspaces = counted(schema.keyspace_count() as u64, "keyspace");
    let count = counted(families.len() as u64, "column family");
    let mut lines = vec![format!("schema       {source}: {keyspaces}, {count}")];
    let imported = inventory.families.keys();
    let unknown = imported.filter(|name| !families.contains(name) && !schema.views.contains(*name));
    lines.extend(unknown.map(|name| format!("             missing: the definition of {name}")));
    lines.extend(schema.missing.iter().map(|missing| format!("             missing: {missing}")));
    lines.extend(schema.left_out.iter().map(|what| format!("             not imported: {what}")));
    lines
}

fn print(lines: &[String]) {
    lines.iter().for_each(|line| print_line!("{line}"));
}

fn logs_by_release(inventory: &Inventory) -> BTreeMap<&'static str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for log in &inventory.commit_logs {
        let name = log.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.entry(releases_of_log(&log.path)).or_default().push(name);
    }
    found
}

/// Returns the releases whose commit logs are named so.
fn releases_of_log(path: &Path) -> &'static str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let numbers = name.strip_prefix("CommitLog-").and_then(|name| name.strip_suffix(".log"));
    match numbers.unwrap_or_default().split_once('-') {
        None => "0.4 to 1.1",
        Some(("2", _)) => "1.2",
        Some(("3", _)) => "2.0",
        Some(("4", _)) => "2.1",
        Some(("5", _)) => "2.2",
        Some(("6", _)) => "3.0 to 3.11",
        Some(("7", _)) => "4.0 to 5.0",
        Some(("8", _)) => "5.0",
        Some(_) => "another release",
    }
}

/// Prints the column families as a table.
pub(super) fn print_families(
    inventory: &Inventory,
    found: Result<&FoundSchema, &str>,
    summary: &Summary,
    logged: &BTreeMap<FamilyName, FamilySummary>,
) {
    let families = found.map(FoundSchema::families).unwrap_or_default();
    let expected = families.iter().filter(|name| inventory.is_selected(name));
    let mut names: Vec<&FamilyName> = expected.chain(summary.families.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let head =
        ["column family", "SSTables", "versions", "size", "rows", "logged", "cells", "tombstones", "written"];
    let mut lines = vec![head.map(str::to_owned)];
    let mut empty = Vec::new();
    for name in names {
        if !inventory.families.contains_key(name) && !summary.families.contains_key(name) {
            empty.push(name.to_string());
            continue;
        }
        let size = inventory.families.get(name).into_iter().flatten().map(|table| table.bytes).sum();
        let none = FamilySummary::default();
        let logged_rows = logged.get(name).map_or(0, |family| family.rows);
        lines.push(line_of(name, size, logged_rows, summary.families.get(name).unwrap_or(&none)));
    }
    let mut widths = [0; 9];
    for line in &lines {
        widths = std::array::from_fn(|column| line[column].chars().count().max(widths[column]));
    }
    let mut printed = Vec::new();
    for line in &lines {
        let cells = line.iter().zip(widths).enumerate().map(|(column, (text, width))| {
            // Numbers are on the right.
            if matches!(column, 1 | 3..=7) { format!("{text:>width$}") } else { format!("{text:width$}") }
        });
        printed.push(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned());
    }
    print(&printed);
    if !empty.is_empty() {
        print_line!("without data: {}", listed(&empty, NAMES_PRINTED));
    }
}

/// Prints the size of a target and the time of an import, and what to do with the directories. `took` is the time of the dry
/// run: an import reads as much, merges it and writes it on another thread.
pub(super) fn print_next(inventory: &Inventory, has_damage: bool, took: Duration) {
    print_line!(
        "a target has at most about {}, and an import takes one to two times as long as this dry run: {}",
        HumanBytes(inventory.bytes()),
        HumanDuration(took)
    );
    let nodes = inventory.directories.last().map_or(0, |last| last.node + 1);
    let from = (0..nodes).map(|node| {
        let of_node = inventory.directories.iter().filter(|directory| directory.node == node);
        of_node.fold("--from".to_owned(), |words, directory| format!("{words} {}", directory.path.display()))
    });
    let from = from.collect::<Vec<_>>().join(" ");
    let skip = if has_damage { " --skip-damaged" } else { "" };
    print_line!(
        "next: the rows as CSV, to open in other programs:   thriftstore export {from} --to tables{skip}"
    );
    print_line!(
        "      a data directory, to serve old applications:  thriftstore import {from} --to data:imported{skip}"
    );
}

fn line_of(name: &FamilyName, size: u64, logged: u64, family: &FamilySummary) -> [String; 9] {
    let versions = family.formats.keys().map(|letters| if letters.is_empty() { "0.4-0.6" } else { letters });
    let written = family.timestamps.map(|(first, last)| shown_times(first, last)).unwrap_or_default();
    [
        name.to_string(),
        family.tables.to_string(),
        versions.collect::<Vec<_>>().join(","),
        HumanBytes(size).to_string(),
        (family.rows - logged.min(family.rows)).to_string(),
        logged.to_string(),
        family.cells.to_string(),
        family.tombstones.to_string(),
        written,
    ]
}

/// Returns the range of timestamps as dates.
pub(super) fn shown_times(first: i64, last: i64) -> String {
    match (shown_time(first), shown_time(last)) {
        (first, last) if first == last => first,
        (first, last) => format!("{first} to {last}"),
    }
}

/// Returns a timestamp as a date, if it is one in microseconds, milliseconds or seconds. Clients may write any number.
fn shown_time(timestamp: i64) -> String {
    for (per_second, unit) in [(1_000_000, ""), (1_000, " (ms)"), (1, " (s)")] {
        let seconds = timestamp.div_euclid(per_second);
        if PLAUSIBLE_S.contains(&seconds) {
            let date: String =
                timestamp_text(seconds * 1_000).chars().take("2009-08-18 01:15:30".len()).collect();
            return date + unit;
        }
    }
    timestamp.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_of_all_units_are_dates() {
        assert_eq!(shown_time(1_384_000_000_123_456), "2013-11-09 12:26:40");
        assert_eq!(shown_time(1_384_000_000_123), "2013-11-09 12:26:40 (ms)");
        assert_eq!(shown_time(1_384_000_000), "2013-11-09 12:26:40 (s)");
        for number in [0, 5, -1, i64::MAX, i64::MIN] {
            assert_eq!(shown_time(number), number.to_string());
        }
    }

    #[test]
    fn commit_logs_are_named_by_their_releases() {
        for (name, releases) in [
            ("CommitLog-1384000000000.log", "0.4 to 1.1"),
            ("CommitLog-3-1384000000000.log", "2.0"),
            ("CommitLog-6-1384000000000.log", "3.0 to 3.11"),
            ("CommitLog-7-1384000000000.log", "4.0 to 5.0"),
            ("CommitLog-8-1384000000000.log", "5.0"),
            ("CommitLog-9-1384000000000.log", "another release"),
        ] {
            assert_eq!(releases_of_log(Path::new(name)), releases);
        }
    }
}
