//! Releases are compared only in `crates/base/src/compat`. Comparisons elsewhere ("questions") are counted, and their number may
//! only fall. All rules and texts of `crates/base/src/compat` are used.
//!
//! A question is a line of code, outside of tests and of `use`, that
//! - names a release (`Release::V1_2`, or `V1_2` alone),
//! - names a line of releases (`Line(2, 2)`),
//! - compares a release or a line with another (`release >= …`, `line() < …`), or
//! - chooses a language (`Language::Of`, `Language::Newest`).
//!
//! `crates/base/src/compat` itself, `base/util/release.rs`, the comparators' orders (`crates/base/src/marshal`) and the rows of three tables are not
//! counted: the tables of methods, of interfaces, and of elements of the configuration. Other lines of these files are
//! counted.

use std::collections::BTreeSet;

use super::sources;

/// Files that keep questions: their number and the reason.
const LEFT: &[(&str, usize, &str)] = &[(
    "crates/server/src/thrift/dialect.rs",
    1,
    "--compat specifies the release, and with it the session's language",
)];

/// The number of questions that are left, which may only fall. Before `crates/base/src/compat` existed, this test counted 365 lines
/// in 98 files: 209 questions, 123 rows of tables and 33 lines that are now in `crates/base/src/compat`.
const QUESTIONS_MAX: usize = 1;

/// Folders and files that may compare releases.
const OWN: [&str; 3] =
    ["crates/base/src/compat/", "crates/base/src/marshal/", "crates/base/src/util/release.rs"];

/// Tables with releases in their rows.
const TABLES: [&str; 3] = [
    "crates/server/src/thrift/methods/",
    "crates/wire/src/thrift/interface/lines.rs",
    "crates/config/src/releases.rs",
];

fn is_test(name: &str) -> bool {
    ["/tests.rs", "/testing.rs"].iter().any(|end| name.ends_with(end)) || name.contains("/tests/")
}

/// Returns whether a line contains the name of a release, such as `V1_2`, as a word.
fn names_release(line: &str) -> bool {
    let bytes = line.as_bytes();
    (0..bytes.len()).any(|at| {
        let [b'V', major, b'_', minor] = bytes[at..].first_chunk::<4>().copied().unwrap_or_default() else {
            return false;
        };
        let is_word = |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        major.is_ascii_digit() && minor.is_ascii_digit() && !is_word(before) && !is_word(bytes.get(at + 4))
    })
}

/// Returns whether a line of code compares a release or a release line: `release >= x`, `.line() < x`, `release == x`.
fn compares_release(line: &str) -> bool {
    ["release", "release()", "line()", "level", "version"].iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            let is_end = |letter: char| letter.is_alphanumeric() || letter == '_';
            let is_whole = !line[..at].ends_with(is_end);
            let rest = line[at + word.len()..].trim_start();
            let compares = [">= ", "< ", "<= ", "> ", "== ", "!= "].iter().any(|sign| rest.starts_with(sign));
            let with_release = rest.contains("elease") || rest.contains("Line") || rest.contains("NEWEST");
            is_whole && compares && (with_release || *word == "release" || *word == "line()")
        })
    })
}

/// Returns whether a line is a row of a table: `data(Read, "get", since(V0_7), ...`, or `releases: since(V0_8),`.
fn is_row(line: &str) -> bool {
    let line = line.trim_start();
    let starts = ["data(", "guarded(", "open(", "const FIRST: Span = ", "releases: ", "Release::"];
    let parts =
        ["Some(only(Release::", "Span::between(", "Span::lines(", "Span::since_line(", "include_str!("];
    starts.iter().any(|start| line.starts_with(start)) || parts.iter().any(|part| line.contains(part))
}

/// Returns the questions in a file's code, as lines with their numbers.
fn questions(name: &str, code: &str) -> Vec<(usize, String)> {
    let is_table = TABLES.iter().any(|table| name.starts_with(table));
    let mut in_use = false;
    let mut found = Vec::new();
    for (line, number) in code.lines().zip(1..) {
        let trimmed = line.trim_start();
        in_use |= trimmed.starts_with("use ") || trimmed.starts_with("pub use ");
        let is_counted = !in_use && !trimmed.starts_with("//");
        in_use &= !trimmed.ends_with(';');
        let asks = names_release(line)
            || compares_release(line)
            || ["Language::Of", "Language::Newest", " Line(", "(Line("]
                .iter()
                .any(|part| line.contains(part));
        if is_counted && asks && !(is_table && is_row(line)) {
            found.push((number, trimmed.to_owned()));
        }
    }
    found
}

#[test]
fn questions_are_found_in_every_form() {
    let code = "use Release::{V0_7};\nif release >= Release::V1_2 {}\nmatch x {\n    V0_4 => 1,\n}\n// V0_4\n\
                let a = state.line() < other;\nif at(&*class, Release::V2_1) {}\nlet b = V0_45 + MAV0_4;\n\
                Language::Of(x)\nif self.release() == NEWEST {}\nrelease.name()\nLine(2, 2)\nspan.has(Line(2, 2))\n";
    let lines: Vec<usize> = questions("db/x.rs", code).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [2, 4, 7, 8, 10, 11, 14]);
    let rows = "    releases: only(V0_4),\n    if release < Release::V0_7 {\n";
    assert_eq!(questions("crates/server/src/thrift/methods/x.rs", rows).len(), 1);
    assert_eq!(questions("thrift/x.rs", rows).len(), 2);
}

#[test]
fn releases_are_compared_only_in_compat() {
    let mut total = 0;
    let mut wrong = Vec::new();
    let is_own = |name: &str| OWN.iter().any(|own| name.starts_with(own)) || is_test(name);
    for (name, code) in sources().into_iter().filter(|(name, _)| !is_own(name)) {
        let found = questions(&name, &code);
        total += found.len();
        let left = LEFT.iter().find(|(file, ..)| *file == name).map_or(0, |(_, left, _)| *left);
        if found.len() != left {
            let shown = found.iter().map(|(line, text)| format!("{name}:{line}: {text}"));
            wrong.push(format!("{left} expected in {name}:\n{}", shown.collect::<Vec<_>>().join("\n")));
        }
    }
    println!("{total} questions of releases outside of crates/base/src/compat");
    assert!(
        wrong.is_empty(),
        "a rule of a release is a row in crates/base/src/compat, and is asked for by its name:\n{}",
        wrong.join("\n")
    );
    assert_eq!(total, QUESTIONS_MAX, "the number may only fall: lower QUESTIONS_MAX");
}

/// Returns the names that the tables of rules or texts define.
fn defined(folder: &str, row: impl Fn(&str) -> Option<&str>) -> BTreeSet<String> {
    let files = sources().into_iter().filter(|(name, _)| name.starts_with(folder));
    let names =
        files.flat_map(|(_, code)| code.lines().filter_map(&row).map(str::to_owned).collect::<Vec<_>>());
    names.collect()
}

#[test]
fn every_rule_and_every_text_is_used() {
    let is_name = |name: &&str| {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let rules = defined("crates/base/src/compat/rules/", |line| {
        let (name, rest) = line.strip_prefix("        ")?.split_once(": ")?;
        Some(name).filter(is_name).filter(|_| rest.contains(" = "))
    });
    let texts = defined("crates/base/src/compat/texts/", |line| {
        let (name, _) = line.strip_prefix("    ").filter(|line| line.ends_with('{'))?.split_once('(')?;
        Some(name).filter(is_name)
    });
    assert!(rules.len() > 80 && texts.len() > 30, "{} rules, {} texts", rules.len(), texts.len());
    let users = sources().into_iter().filter(|(name, _)| {
        !name.starts_with("crates/base/src/compat/rules/")
            && !name.starts_with("crates/base/src/compat/texts/")
    });
    let code: String = users.map(|(_, code)| code).collect();
    let is_word = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let asked = |name: String| code.match_indices(&name).any(|(at, _)| is_word(&code[at + name.len()..]));
    let idle: Vec<String> = (rules.into_iter().filter(|rule| !asked(format!(".{rule}"))))
        .chain(texts.into_iter().filter(|text| !asked(format!("texts::{text}"))))
        .collect();
    assert!(idle.is_empty(), "unused rules or texts: {}", idle.join(", "));
}
