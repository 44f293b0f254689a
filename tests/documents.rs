//! The documents lead somewhere: links go to files that are there, the README's table has every method, and the tables of limits
//! name tests that are there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use thriftstore::thrift::methods::METHODS;
use thriftstore::util::Release;

const DOCUMENTS: [&str; 16] = [
    "README.md",
    "clients/README.md",
    "clients/generated/README.md",
    "docs/architecture.md",
    "docs/backup.md",
    "docs/cluster.md",
    "docs/configuration.md",
    "docs/copy.md",
    "docs/cql.md",
    "docs/engine-defect.md",
    "docs/formats.md",
    "docs/limits.md",
    "docs/native-protocol.md",
    "docs/performance.md",
    "docs/schema.md",
    "examples/custom_comparator/README.md",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

/// What stands between a beginning and an end, each time.
fn between<'t>(text: &'t str, beginning: &'t str, end: char) -> impl Iterator<Item = &'t str> {
    text.split(beginning).skip(1).filter_map(move |rest| rest.split_once(end)).map(|(inside, _)| inside)
}

/// Whether a document has a heading that a link calls so: `#logins-and-rights`.
fn has_heading(file: &Path, called: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let mut names = headings.map(|heading| heading.trim_matches(['#', ' ']).to_lowercase().replace(' ', "-"));
    names.any(|name| name == called)
}

#[test]
fn links_lead_to_files() {
    let mut broken = Vec::new();
    for document in DOCUMENTS {
        let text = read(document);
        let file = root().join(document);
        let folder = file.parent().unwrap_or(Path::new(""));
        let is_ours = |link: &&str| !link.starts_with("http") && !link.starts_with('#');
        let leads_nowhere = |link: &&str| match link.split_once('#') {
            None => !folder.join(link).exists(),
            Some((file, heading)) => !has_heading(&folder.join(file), heading),
        };
        let missing = between(&text, "](", ')').filter(is_ours).filter(leads_nowhere);
        broken.extend(missing.map(|link| format!("{document}: {link}")));
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn the_readme_says_which_release_has_which_method() {
    let readme = read("README.md");
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    for (column, release) in Release::ALL.into_iter().enumerate() {
        for method in METHODS.iter() {
            let quoted = format!("`{}`", method.name);
            let has = METHODS
                .iter()
                .any(|other| other.name == method.name && (other.since..=other.until).contains(&release));
            let row = rows.iter().find(|row| row.contains(&quoted));
            let cell = row.and_then(|row| row.split('|').nth(column + 2)).map(str::trim);
            assert_eq!(cell, Some(if has { "yes" } else { "-" }), "{quoted} in {}", release.name());
        }
    }
}

/// Adds the names of the tests in the Rust files of a folder: functions after an attribute that ends in `test]`, and those in a
/// `proptest!`, which have it too.
fn collect_tests(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_tests(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                if line.starts_with("#[") {
                    is_test |= line.ends_with("test]");
                    continue;
                }
                let name = line.trim_start_matches("async ").strip_prefix("fn ");
                if let Some((name, _)) = name.filter(|_| is_test).and_then(|name| name.split_once('(')) {
                    names.insert(name.to_owned());
                }
                is_test = false;
            }
        }
    }
}

#[test]
fn each_limit_names_a_test_that_shows_it() {
    let mut tests = BTreeSet::new();
    for folder in ["src", "tests"] {
        collect_tests(&root().join(folder), &mut tests);
    }
    let text = read("docs/limits.md");
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| what |");
    let mut rows = 0;
    let mut missing = Vec::new();
    for row in text.lines().filter(is_row) {
        rows += 1;
        let last = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default().trim();
        let is_test = |name: &str| {
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            name.is_some_and(|name| tests.contains(name))
        };
        if !last.split(", ").all(is_test) {
            missing.push(row);
        }
    }
    assert_eq!(missing, Vec::<&str>::new());
    assert!(rows > 50, "only {rows} rows");
}

/// The options in the tables of limits are options of `serve`.
#[test]
fn each_option_of_a_limit_is_documented() {
    let (limits, configuration) = (read("docs/limits.md"), read("docs/configuration.md"));
    let options: BTreeSet<&str> = between(&limits, "`--", '`').collect();
    let undocumented = options.into_iter().filter(|option| !configuration.contains(&format!("`--{option}`")));
    assert_eq!(undocumented.collect::<Vec<_>>(), Vec::<&str>::new());
}
