//! Checks the documents: links and paths lead to files and headings, every document is linked from another and is a
//! chapter of the book, the table in docs/methods.md has every method, and the tables of limits name existing tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base::util::Release;
use server::thrift::methods::METHODS;

/// Documents outside of the repository's root and `docs/`.
const OTHER_DOCUMENTS: [&str; 9] = [
    "clients/README.md",
    "clients/generated/README.md",
    "examples/custom_comparator/README.md",
    "kits/go/README.md",
    "kits/java/README.md",
    "kits/node/README.md",
    "kits/python/README.md",
    "tests/fixtures/README.md",
    "tests/recordings/README.md",
];

/// A report to the maintainers of another program, with paths in its sources.
const ABOUT_OTHER_SOURCES: &str = "docs/decisions/engine-defect.md";

/// Folders that documents name relative to the root of the repository.
const FOLDERS: [&str; 11] = [
    ".ci/",
    "clients/",
    "crates/",
    "docs/",
    "examples/",
    "fuzz/",
    "idl/",
    "kits/",
    "src/",
    "tests/",
    "tools/",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

/// Adds the files of a folder with an extension to a list, as paths relative to the root of the repository.
fn collect_files(folder: &str, extension: &str, is_deep: bool, files: &mut Vec<String>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && is_deep {
            collect_files(&name, extension, is_deep, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(name);
        }
    }
}

/// Returns every document: all in the root of the repository and in `docs/`, and some others.
fn documents() -> Vec<String> {
    let mut documents = OTHER_DOCUMENTS.map(str::to_owned).to_vec();
    collect_files("", "md", false, &mut documents);
    collect_files("docs", "md", true, &mut documents);
    documents.sort();
    assert!(documents.len() > 20, "the documents are elsewhere: {documents:?}");
    documents
}

/// Returns each part of a text that is between a beginning and an end.
fn between<'t>(text: &'t str, beginning: &'t str, end: char) -> impl Iterator<Item = &'t str> {
    text.split(beginning).skip(1).filter_map(move |rest| rest.split_once(end)).map(|(inside, _)| inside)
}

/// Returns the lines of a document that are not in blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchor of a heading by the rules of GitHub: `Logins and rights` becomes `logins-and-rights`.
fn anchor_of(heading: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    heading
        .trim_matches(['#', ' '])
        .to_lowercase()
        .chars()
        .filter(is_kept)
        .collect::<String>()
        .replace(' ', "-")
}

fn has_heading(file: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    prose(&text).filter(|line| line.starts_with('#')).any(|heading| anchor_of(heading) == anchor)
}

/// Returns the links of a document to files and headings of the repository: the link, the file, and the heading's
/// anchor.
fn links(document: &str) -> Vec<(String, PathBuf, Option<String>)> {
    let text = read(document);
    let file = root().join(document);
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let text: String = prose(&text).flat_map(|line| [line, "\n"]).collect();
    let ours = between(&text, "](", ')').filter(|link| !link.starts_with("http"));
    let target = |link: &str| match link.split_once('#') {
        None => (link.to_owned(), folder.join(link), None),
        Some(("", anchor)) => (link.to_owned(), file.clone(), Some(anchor.to_owned())),
        Some((other, anchor)) => (link.to_owned(), folder.join(other), Some(anchor.to_owned())),
    };
    ours.map(target).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for document in documents() {
        for (link, file, anchor) in links(&document) {
            if !file.exists() || anchor.is_some_and(|anchor| !has_heading(&file, &anchor)) {
                broken.push(format!("{document}: {link}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn each_document_can_be_found_by_links() {
    let mut found = BTreeSet::from([root().join("README.md").canonicalize().unwrap()]);
    let mut next = vec!["README.md".to_owned()];
    while let Some(document) = next.pop() {
        for (_, file, _) in links(&document) {
            let Ok(file) = file.canonicalize() else { continue };
            let is_document = file.extension().is_some_and(|extension| extension == "md");
            if is_document && found.insert(file.clone()) {
                next.push(
                    file.strip_prefix(root().canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned(),
                );
            }
        }
    }
    let is_lost = |document: &String| !found.contains(&root().join(document).canonicalize().unwrap());
    assert_eq!(documents().into_iter().filter(is_lost).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn each_document_is_a_chapter_of_the_book() {
    let summary = "docs/SUMMARY.md";
    let chapters: BTreeSet<PathBuf> =
        links(summary).into_iter().filter_map(|(_, file, _)| file.canonicalize().ok()).collect();
    let is_missing = |document: &String| {
        document != summary && !chapters.contains(&root().join(document).canonicalize().unwrap())
    };
    assert_eq!(documents().into_iter().filter(is_missing).collect::<Vec<_>>(), Vec::<String>::new());
}

/// Returns whether a path relative to the root of the repository exists. `*` matches any rest of a name.
fn path_exists(path: &str) -> bool {
    let Some((start, _)) = path.split_once('*') else { return root().join(path).exists() };
    let (folder, name) = start.rsplit_once('/').unwrap_or(("", start));
    let mut entries = fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().to_string_lossy().starts_with(name))
}

/// Paths that documents name as code exist: `crates/db/src/request.rs` relative to the root of the repository, or without
/// the folders `crates` and `src`, as `db/request.rs`, or the end of that. NAME in a path matches any name.
#[test]
fn paths_lead_to_files() {
    let mut sources = Vec::new();
    for folder in ["src", "crates", "tests", "examples", "fuzz"] {
        collect_files(folder, "rs", true, &mut sources);
    }
    let named: Vec<String> =
        sources.iter().map(|source| format!("/{source}").replace("/src/", "/")).collect();
    let is_end_of_some = |path: &str| named.iter().any(|source| source.ends_with(&format!("/{path}")));
    let mut missing = Vec::new();
    let mut count = 0;
    for document in documents().into_iter().filter(|document| document != ABOUT_OTHER_SOURCES) {
        let text = read(&document);
        for span in prose(&text).flat_map(|line| line.split('`').skip(1).step_by(2)) {
            let path = span.split(' ').next().unwrap_or_default();
            let is_from_top =
                FOLDERS.iter().any(|folder| path.starts_with(folder) && path.len() > folder.len());
            let is_source = path.ends_with(".rs") && !path.contains('*');
            if path.contains("NAME") || path.contains('{') || !is_from_top && !is_source {
                continue;
            }
            count += 1;
            let is_there =
                if is_from_top { path_exists(path) } else { is_end_of_some(path.trim_start_matches("../")) };
            if !is_there {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(count > 200, "only {count} paths");
}

#[test]
fn the_document_lists_the_methods_of_each_release() {
    let document = read("docs/methods.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `")).collect();
    for method in METHODS.iter() {
        let quoted = format!("`{}`", method.name);
        let of_name = METHODS.iter().filter(|other| other.name == method.name);
        let has = |release| of_name.clone().any(|other| other.releases.has(release));
        let releases: Vec<Release> = Release::ALL.into_iter().filter(|release| has(*release)).collect();
        let (first, last) = (releases[0], releases[releases.len() - 1]);
        let is_span = |release| (first..=last).contains(&release) == has(release);
        assert!(Release::ALL.into_iter().all(is_span), "{quoted} is not of releases in a row");
        let (from, to) = (first.name(), last.name());
        let expected = if from == to { from.to_owned() } else { format!("{from} to {to}") };
        let row = rows.iter().find(|row| row.contains(&quoted));
        let cell = row.and_then(|row| row.trim_end_matches([' ', '|']).rsplit(" | ").next());
        assert_eq!(cell, Some(&*expected), "{quoted}");
    }
}

/// Routes of the console that other pages lead to, and that no document has to name.
const PARTS_OF_PAGES: [&str; 4] = ["/login", "/logout", "/static", "/cell"];

#[test]
fn each_page_of_the_console_is_documented() {
    let documents = ["docs/admin.md", "docs/console.md", "docs/monitoring.md"].map(read).concat();
    let ends = ['`', ' ', '?', '/'];
    let source = read("crates/console/src/routes.rs");
    let routes: Vec<&str> = between(&source, ".route(\"", '"').collect();
    assert!(routes.len() > 15, "the routes are elsewhere: {routes:?}");
    for route in routes {
        let page = route.split("/{").next().unwrap();
        let mut named = documents.match_indices(page).map(|(at, _)| &documents[at + page.len()..]);
        let is_named = page == "/" || named.any(|rest| rest.starts_with(ends));
        assert!(
            is_named || PARTS_OF_PAGES.contains(&page),
            "no document names the page {page} of the console"
        );
    }
}

/// Adds the names of the tests in the Rust files of a folder: functions after an attribute that ends in `test]`, also
/// inside `proptest!`.
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

/// Returns the rows of the tables of a text: the heading above each with its first cell, and its last cell.
fn table_rows(text: &str) -> Vec<(String, &str)> {
    let (mut heading, mut before) = ("", "");
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = title;
        }
        // The first row of a table has the titles of its columns.
        if let Some(row) = line.strip_prefix("| ").filter(|_| before.starts_with('|')) {
            let cells: Vec<&str> = row.trim_end_matches([' ', '|']).split(" | ").collect();
            rows.push((format!("{heading} | {}", cells[0]), *cells.last().unwrap()));
        }
        before = line;
    }
    rows
}

#[test]
fn each_limit_has_an_existing_test() {
    let mut tests = BTreeSet::new();
    for folder in ["src", "crates", "tests"] {
        collect_tests(&root().join(folder), &mut tests);
    }
    let (limits, list) = (read("docs/limits.md"), read("tests/project/limits.txt"));
    let lines: Vec<(&str, &str)> = list.lines().map(|line| line.rsplit_once(": ").unwrap()).collect();
    let documented: Vec<String> = table_rows(&limits).into_iter().map(|(limit, _)| limit).collect();
    let listed: Vec<&str> = lines.iter().map(|(limit, _)| *limit).collect();
    assert_eq!(documented, listed, "tests/project/limits.txt names the tests of each row of docs/limits.md");
    assert!(documented.len() > 50, "only {} rows", documented.len());
    let measured = read("docs/notes/limits.md").replace(['`', ','], "");
    let of_measurements = table_rows(&measured).into_iter().map(|(_, names)| names);
    let named = lines.iter().map(|(_, names)| *names).chain(of_measurements);
    let missing: Vec<&str> =
        named.flat_map(|names| names.split(' ')).filter(|name| !tests.contains(*name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// The options in the tables of limits are documented beside the configuration.
#[test]
fn each_option_of_a_limit_is_documented() {
    let (limits, configuration) =
        (read("docs/limits.md"), read("docs/configuration.md") + &read("docs/logins.md"));
    let options: BTreeSet<&str> = between(&limits, "`--", '`').collect();
    let undocumented = options.into_iter().filter(|option| !configuration.contains(&format!("`--{option}`")));
    assert_eq!(undocumented.collect::<Vec<_>>(), Vec::<&str>::new());
}
