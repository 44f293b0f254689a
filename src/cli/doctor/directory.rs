//! Looks at a data directory, or at a directory of an old Cassandra.

use std::path::Path;
use std::{fs, io};

use indicatif::HumanBytes;
use rustix::fs::{Access, access};

use super::finding::Findings;
use base::util::counted;
use base::util::output::report_line;
use config::Config;
use console::limits::VERIFIED_BYTES_PER_S;
use embedded::disk::RealDisk;
use embedded::{
    DATA_FILE, DATA_FORMAT, FreeSpace, Inspection, check_not_foreign, check_not_of_cassandra, check_parents,
};
use store::StoreError;

/// Looks at a directory. With a configuration, it is the data directory of a server with that.
/// With `verifies`, every byte is read.
pub(super) fn check(directory: &Path, config: Option<&Config>, verifies: bool, findings: &mut Findings) {
    // A server that starts in another directory, such as the service, resolves a relative path differently.
    let given = directory;
    let directory = &std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
    let name = directory.display();
    if !directory.exists() {
        // All levels of a relative path are made.
        let above = if given.is_absolute() { check_parents(directory) } else { Ok(()) };
        return check_missing(directory, above, findings);
    }
    if let Err(error) = fs::read_dir(directory) {
        return findings.problem(format!("cannot read {name}: {error}"), "run as the user of the server");
    }
    check_writable(directory, findings);
    if !directory.join(DATA_FILE).exists() {
        return check_without_mark(directory, config.is_some(), findings);
    }
    match embedded::inspect(directory, config.map(|config| &config.catalog)) {
        Ok(mut found) => {
            if verifies && !found.partitioner.is_empty() {
                verify(directory, &mut found, findings);
            }
            report(directory, &found, findings);
            if let Some(config) = config {
                check_schema(&found, config, findings);
            }
        }
        Err(error) => findings.problem(
            format!("{name} cannot be served: {error}"),
            "run `thriftstore --version` to see the formats of this version",
        ),
    }
}

fn check_missing(directory: &Path, above: Result<(), StoreError>, findings: &mut Findings) {
    let name = directory.display();
    if let Err(why) = above {
        return findings
            .problem(why.to_string(), "the server does not start; it makes the last level of the path only");
    }
    let existing = directory.ancestors().skip(1).find(|parent| parent.exists());
    let parent = existing.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Err(error) = access(parent, Access::WRITE_OK) {
        findings.problem(
            format!(
                "{name} does not exist, and cannot be created in {}: {}",
                parent.display(),
                io::Error::from(error)
            ),
            "create it, and make the user of the server its owner",
        );
    } else {
        findings.fine(format!("{name} does not exist; the first start creates it"));
        check_space(embedded::free_space(parent), 0, findings);
    }
}

fn check_writable(directory: &Path, findings: &mut Findings) {
    if let Err(error) = access(directory, Access::WRITE_OK) {
        findings.problem(
            format!("this user cannot write to {}: {}", directory.display(), io::Error::from(error)),
            "run as the user of the server, or make that user the owner of the directory",
        );
    }
}

/// Looks at a directory that is not a data directory.
fn check_without_mark(directory: &Path, is_configured: bool, findings: &mut Findings) {
    let name = directory.display();
    if check_not_of_cassandra(directory).is_err() {
        let remedy = format!(
            "see what is in it: thriftstore import --from {name} --dry-run\nmake a data directory of it: thriftstore \
             import --from {name} --to data:DIRECTORY"
        );
        let text = format!("{name} has files of a Cassandra, which `serve` refuses");
        if is_configured {
            findings.problem(text, format!("{remedy}\nthen set DataFileDirectory to that"));
        } else {
            findings.advice(text, remedy);
        }
    } else if let Err(error) = check_not_foreign(directory) {
        findings.problem(error.to_string(), "specify the data directory itself");
    } else {
        findings.fine(format!("{name} has no data yet; the first start makes it a data directory"));
        check_space(embedded::free_space(directory), 0, findings);
    }
}

/// Reads all files. The damages that it finds replace those that were found without that.
fn verify(directory: &Path, found: &mut Inspection, findings: &mut Findings) {
    let bytes_per_s = found.is_in_use.then_some(VERIFIED_BYTES_PER_S);
    match embedded::verify(&RealDisk, directory, bytes_per_s, &mut |line| report_line!("{line}")) {
        Ok(verified) => {
            findings.fine(format!("every byte was read: {verified}"));
            found.more_damages = 0;
            found.damages = verified.damages.iter().map(ToString::to_string).collect();
        }
        Err(error) => findings.problem(error.to_string(), "start the server once, and verify it then"),
    }
}

fn report(directory: &Path, found: &Inspection, findings: &mut Findings) {
    let name = directory.display();
    if !found.partitioner.is_empty() {
        findings.fine(format!(
            "{name} has format {DATA_FORMAT}, {} column families, {} ({}) and {} of the commit log ({})",
            found.families.len(),
            counted(found.tables, "table"),
            HumanBytes(found.table_bytes),
            counted(found.segments, "segment"),
            HumanBytes(found.log_bytes)
        ));
    } else if found.damages.is_empty() {
        findings.fine(format!("{name} is a new data directory"));
    }
    if found.is_in_use {
        findings.fine(format!("a server is using {name}, so its commit log was not read"));
    }
    for given_up in &found.given_up {
        findings.fine(format!("{} is not used: an operator has renamed it", given_up.display()));
    }
    for damage in &found.damages {
        let (text, _) = without_remedy(damage);
        let remedy =
            "put back a backup, or an undamaged copy of the whole directory; do not remove single files";
        findings.problem(text, remedy);
    }
    if found.more_damages > 0 {
        findings.problem(format!("{} more damaged or missing files", found.more_damages), "as above");
    }
    check_space(found.space, found.table_bytes, findings);
}

/// Splits an error of the store into the problem and the advice.
fn without_remedy(error: &str) -> (&str, &str) {
    error.split_once("; ").unwrap_or((error, ""))
}

/// Checks that the disk has room for writes and for merges of tables.
fn check_space(space: Option<FreeSpace>, table_bytes: u64, findings: &mut Findings) {
    let Some(space) = space else { return };
    let (free, reserve) = (HumanBytes(space.free), embedded::disk_reserve(space));
    if space.free < reserve {
        findings.problem(
            format!("the disk has {free} free: the server refuses writes below {}", HumanBytes(reserve)),
            "free some space, or move the data directory to a larger disk",
        );
    } else if space.free < reserve.saturating_mul(2).max(table_bytes / 4) {
        findings.advice(
            format!("the disk has {free} free, with {} of tables", HumanBytes(table_bytes)),
            format!("the server refuses writes below {}; plan for more space", HumanBytes(reserve)),
        );
    } else {
        findings.fine(format!("the disk has {free} free"));
    }
}

/// Checks that stored data fits the configuration.
fn check_schema(found: &Inspection, config: &Config, findings: &mut Findings) {
    let configured = config.partitioner.class_name();
    if found.has_entries && !found.partitioner.is_empty() && found.partitioner != configured {
        findings.problem(
            format!("the data has the partitioner {}, the configuration {configured}", found.partitioner),
            format!("write {} into the configuration, or choose another data directory", found.partitioner),
        );
    }
    for conflict in &found.conflicts {
        let (text, remedy) = without_remedy(conflict);
        findings.problem(text, remedy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::Severity;

    #[test]
    fn a_full_disk_is_a_problem_before_writes_are_refused() {
        let severity = |free: u64, table_bytes: u64| {
            let mut findings = Findings::default();
            check_space(Some(FreeSpace { free, whole: 100 << 30 }), table_bytes, &mut findings);
            findings.all()[0].severity
        };
        assert_eq!(severity(1 << 20, 0), Severity::Problem);
        assert_eq!(severity(3 << 29, 0), Severity::Advice);
        assert_eq!(severity(10 << 30, 50 << 30), Severity::Advice);
        assert_eq!(severity(10 << 30, 0), Severity::Fine);
    }

    #[test]
    fn a_directory_is_described_by_its_contents() {
        let directory = tempfile::tempdir().unwrap();
        let look = |path: &Path| {
            let mut findings = Findings::default();
            check(path, None, false, &mut findings);
            let worst = findings.all().iter().map(|finding| finding.severity).max().unwrap();
            (worst, findings.all().iter().map(|finding| format!("{}\n", finding.text)).collect::<String>())
        };
        let (severity, text) = look(directory.path());
        assert_eq!(severity, Severity::Fine, "{text}");
        assert!(text.contains("no data yet"), "{text}");
        let (_, text) = look(&directory.path().join("new"));
        assert!(text.contains("the first start creates it"), "{text}");
        fs::write(directory.path().join("Standard1-1-Data.db"), "").unwrap();
        let (severity, text) = look(directory.path());
        assert_eq!(severity, Severity::Advice, "{text}");
        assert!(text.contains("files of a Cassandra"), "{text}");
        // A configuration must not name it.
        let mut findings = Findings::default();
        check(directory.path(), Some(&Config::default()), false, &mut findings);
        assert_eq!(findings.problems(), 1, "{:?}", findings.all());
        fs::write(directory.path().join(DATA_FILE), "thriftstore data, format 9\n").unwrap();
        let (severity, text) = look(directory.path());
        assert_eq!(severity, Severity::Problem, "{text}");
        assert!(text.contains("use the version that wrote it"), "{text}");
    }
}
