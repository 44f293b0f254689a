//! Looks at a data directory, or at a directory of an old Cassandra.

use std::fs;
use std::io;
use std::path::Path;

use indicatif::HumanBytes;
use rustix::fs::{Access, access};

use super::finding::Findings;
use crate::cli::import_report::counted;
use crate::config::Config;
use crate::storage::{
    self, DATA_FILE, DATA_FORMAT, FreeSpace, Inspection, check_not_foreign, check_not_of_cassandra,
};

/// Looks at a directory. With a configuration, it is the data directory of a server with that.
pub fn check(directory: &Path, config: Option<&Config>, findings: &mut Findings) {
    // A server that starts in another directory, such as the service, resolves a relative path differently.
    let directory = &std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let name = directory.display();
    if !directory.exists() {
        return check_missing(directory, findings);
    }
    if let Err(error) = fs::read_dir(directory) {
        return findings.problem(format!("cannot read {name}: {error}"), "run as the user of the server");
    }
    check_writable(directory, findings);
    if !directory.join(DATA_FILE).exists() {
        return check_without_mark(directory, config.is_some(), findings);
    }
    match storage::inspect(directory, config.map(|config| &config.catalog)) {
        Ok(found) => {
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

fn check_missing(directory: &Path, findings: &mut Findings) {
    let name = directory.display();
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
        check_space(storage::free_space(parent), 0, findings);
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
        match is_configured {
            true => findings.problem(text, format!("{remedy}\nthen set DataFileDirectory to that")),
            false => findings.advice(text, remedy),
        }
    } else if let Err(error) = check_not_foreign(directory) {
        findings.problem(error.to_string(), "specify the data directory itself");
    } else {
        findings.fine(format!("{name} has no data yet; the first start makes it a data directory"));
        check_space(storage::free_space(directory), 0, findings);
    }
}

fn report(directory: &Path, found: &Inspection, findings: &mut Findings) {
    let name = directory.display();
    if found.format < DATA_FORMAT {
        findings.advice(
            format!("{name} has format {}; the next start upgrades it to format {DATA_FORMAT}", found.format),
            "copy the directory before: earlier versions cannot read it afterwards",
        );
    } else if !found.partitioner.is_empty() {
        findings.fine(format!(
            "{name} has format {}, {} column families, {} ({}) and {} of the commit log ({})",
            found.format,
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

/// Splits an error of the store into what is wrong and what to do.
fn without_remedy(error: &str) -> (&str, &str) {
    error.split_once("; ").unwrap_or((error, ""))
}

/// Checks that the disk has room for writes and for merges of tables.
fn check_space(space: Option<FreeSpace>, table_bytes: u64, findings: &mut Findings) {
    let Some(space) = space else { return };
    let (free, reserve) = (HumanBytes(space.free), storage::disk_reserve(space));
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
    if !found.partitioner.is_empty() && found.partitioner != configured {
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
            check(path, None, &mut findings);
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
        check(directory.path(), Some(&Config::default()), &mut findings);
        assert_eq!(findings.problems(), 1, "{:?}", findings.all());
        fs::write(directory.path().join(DATA_FILE), "thriftstore data, format 9\n").unwrap();
        let (severity, text) = look(directory.path());
        assert_eq!(severity, Severity::Problem, "{text}");
        assert!(text.contains("use the version that wrote it"), "{text}");
    }
}
