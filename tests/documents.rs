//! The documents lead somewhere: links go to files that are there, and the README's table has every method.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::{Path, PathBuf};

use thriftstore::thrift::methods::METHODS;
use thriftstore::util::Release;

const DOCUMENTS: [&str; 11] = [
    "README.md",
    "clients/README.md",
    "clients/generated/README.md",
    "docs/architecture.md",
    "docs/backup.md",
    "docs/cluster.md",
    "docs/configuration.md",
    "docs/cql.md",
    "docs/formats.md",
    "docs/performance.md",
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
