//! Checks the promises to users that name files and tests, and the table of log lines against the program.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::layers::sources;
use embedded::DATA_FORMAT;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text_of(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

/// Returns the texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn each_format_has_a_fixture_and_a_test() {
    let page = text_of("docs/promises.md");
    let (_, rows) = page.split_once("## Upgrades").unwrap();
    let (rows, _) = rows.split_once("\n## ").unwrap();
    let rows: Vec<&str> = rows.lines().filter(|line| line.contains("../tests/fixtures/")).collect();
    let files = ["tests/store/fixture.rs", "tests/archive/fixture.rs", "crates/traffic/src/file/tests.rs"];
    let tests = files.map(text_of).concat();
    let mut linked = BTreeSet::new();
    for row in &rows {
        let links = row.split("(../tests/fixtures/").skip(1).filter_map(|link| link.split(')').next());
        linked.extend(links.map(str::to_owned));
        let names: Vec<&str> = quoted(row).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            assert!(
                tests.contains(&format!("\nfn {name}()")) || tests.contains(&format!("\nasync fn {name}()")),
                "{name}"
            );
        }
    }
    let existing = fs::read_dir(file("tests/fixtures")).unwrap().map(|entry| entry.unwrap().path());
    let existing = existing.filter(|path| path.is_file() && !path.ends_with("README.md"));
    let existing = existing.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    assert_eq!(linked, existing.collect(), "fixtures");
    let start = format!("| data directory, format {DATA_FORMAT} |");
    assert_eq!(rows.iter().filter(|row| row.starts_with(&start)).count(), 1, "{start}");
}

/// Texts that the program logs without words of its own, and what the page shows instead. Those of `cli/serve.rs` are notes of
/// the configuration, which `noted` finds.
const PASSED_ON: [(&str, &str); 9] = [
    ("src/cli/gateway.rs", "the configuration specifies"),
    ("src/cli/ports.rs", "listening for … clients on …"),
    ("src/cli/serve.rs", "…: "),
    ("src/cli/shadow.rs", "… calls, … compared"),
    ("src/cli/stopping.rs", "waiting for "),
    ("crates/db/src/request_log/switch.rs", "requests"),
    ("crates/base/src/util/repeated_lines.rs", "…: and … more like it in the last … s"),
    ("crates/embedded/src/log/replay.rs", "the commit log … ends at byte"),
    ("crates/embedded/src/disk_guard.rs", "the disk of … is nearly full"),
];

/// Returns the log lines of a source file: level, and text with `…` for each placeholder.
fn logged(source: &str) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for level in ["info", "warn", "error"] {
        for call in source.split(&format!("tracing::{level}!(")).skip(1) {
            let call = call.split(");").next().unwrap_or_default();
            // The text is the first literal that is not the name of a target.
            let text = call.split('"').nth(1).unwrap_or_default();
            let joined = text.split("\\\n").map(str::trim_start).collect::<String>();
            lines.push((level, without_placeholders(&joined)));
        }
    }
    lines
}

/// Returns the notes and warnings about a configuration in a source file, as they are logged.
fn noted(source: &str) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    // Those with a place have it before the text.
    for (call, level, place) in
        [("reading.warn(", "warn", "…: "), ("reading.note(", "info", "…: "), ("Note::of(", "info", "")]
    {
        let texts = source.split(call).skip(1).filter_map(|rest| rest.split('"').nth(1));
        lines.extend(texts.map(|text| (level, place.to_owned() + &without_placeholders(text))));
    }
    lines
}

fn without_placeholders(text: &str) -> String {
    let mut parts = text.split('{');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += "…";
        shown += part.split_once('}').map_or("", |(_, rest)| rest);
    }
    shown
}

#[test]
fn the_page_of_log_lines_has_all_of_them() {
    let page = text_of("docs/log.md");
    let (_, rest) = page.split_once("<!-- log lines -->").unwrap();
    let (rows, _) = rest.split_once("<!-- end of log lines -->").unwrap();
    let rows = rows.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| level"));
    let mut documented = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert!(cells.len() == 4 && !cells[2].is_empty(), "{row}");
        documented.extend(quoted(cells[1]).map(|line| (cells[0].to_owned(), line.to_owned())));
    }
    let mut unused = documented.clone();
    for (name, source) in sources() {
        let imports = source.lines().filter(|line| line.starts_with("use tracing::"));
        for word in imports.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric())) {
            assert!(!["info", "warn", "error"].contains(&word), "{name}: write tracing::{word}!");
        }
        let notes = if name.starts_with("crates/config/") { noted(&source) } else { Vec::new() };
        for (level, line) in logged(&source).into_iter().chain(notes) {
            if line.trim_matches(['…', ' ']).is_empty() || line == "requests" {
                let passed_on = PASSED_ON.iter().find(|(file, _)| *file == name);
                let (_, shown) = passed_on.unwrap_or_else(|| panic!("{name}: {line:?} is not in PASSED_ON"));
                assert!(
                    documented.iter().any(|(of, line)| of == level && line.starts_with(shown)),
                    "{name}: {shown}"
                );
                continue;
            }
            let row = (level.to_owned(), line);
            assert!(documented.contains(&row), "docs/log.md has no line {row:?} of {name}");
            unused.remove(&row);
        }
    }
    unused.retain(|(_, line)| !PASSED_ON.iter().any(|(_, shown)| line.starts_with(shown)));
    // Further lines of the configuration, which crates/config/src writes.
    let notes =
        ["…: No keyspaces configured", "…: accepted, without effect here: …", "…: and … more like these"];
    unused.retain(|(_, line)| !notes.contains(&line.as_str()) && line != "the admin server is at …");
    assert!(unused.is_empty(), "docs/log.md has lines that the program does not log: {unused:?}");
}

/// Returns the commands of the program, with their options.
fn command_line() -> BTreeMap<String, BTreeSet<String>> {
    let pages = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_thriftstore")).arg("man").arg(pages.path()).status();
    assert!(status.unwrap().success());
    let mut commands = BTreeMap::new();
    for page in fs::read_dir(pages.path()).unwrap() {
        let text = fs::read_to_string(page.unwrap().path()).unwrap().replace("\\-", "-");
        // The synopsis: `\fBthriftstore sstable show\fR [\fB--json\fR] ..`
        let synopsis = text.lines().find_map(|line| line.strip_prefix("\\fBthriftstore")).unwrap();
        let (name, rest) = synopsis.split_once("\\fR").unwrap();
        let words = rest.split("\\fB").filter_map(|part| part.split_once("\\fR"));
        let options = words.map(|(word, _)| word.to_owned()).filter(|word| word.starts_with("--"));
        commands.insert(name.trim().to_owned(), options.collect::<BTreeSet<_>>());
    }
    assert!(commands["serve"].contains("--config") && commands["sstable show"].contains("--json"));
    commands
}

/// `tests/project/command_line.txt` has every command and option of 1.x, and none of its words may ever be removed.
#[test]
fn commands_and_options_stay() {
    const FILE: &str = "tests/project/command_line.txt";
    let commands = command_line();
    let recorded = text_of(FILE);
    for line in recorded.lines() {
        let (command, options) = line.split_once(':').unwrap();
        for option in options.split_whitespace() {
            let exists = commands.get(command).is_some_and(|options| options.contains(option));
            assert!(
                exists,
                "thriftstore {command} has lost {option}, and docs/promises.md promises that it stays"
            );
        }
        assert!(commands.contains_key(command), "the command {command} is lost");
    }
    let form = |(command, options): (&String, &BTreeSet<String>)| {
        let options: String = options.iter().map(|option| format!(" {option}")).collect();
        format!("{command}:{options}\n")
    };
    let text: String = commands.iter().map(form).collect();
    if std::env::var_os("REWRITE").is_some() {
        fs::write(file(FILE), &text).unwrap();
    } else {
        assert!(text == recorded, "there are new commands or options: REWRITE=1 adds them to {FILE}");
    }
}
