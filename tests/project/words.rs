//! Checks that comments are in plain words: a list of phrases that hide the thing which they are about is not used.

use std::fs;
use std::path::Path;

use crate::layers::sources;

/// Phrases in lower case that no comment may have. A full stop stands before the beginning of a sentence.
const PHRASES: [&str; 21] = [
    ". what ",
    ". which ",
    ". how ",
    ". who ",
    ". whose ",
    ". that of ",
    ". those of ",
    " is that of ",
    " is those of ",
    " are that of ",
    " are those of ",
    " be that of ",
    " be those of ",
    " is no ",
    " are no ",
    " was no ",
    " were no ",
    " be no ",
    " whoever ",
    "or why it is none",
    "or why there is none",
];

/// Returns the text of the comment in a line, without the slashes.
fn comment_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let whole = ["///", "//!", "//"].iter().find_map(|mark| line.strip_prefix(mark));
    whole.or_else(|| Some(line.split_once(" // ")?.1)).map(str::trim)
}

/// Returns whether a phrase at `at` is used in a plain way: "there is no", "is no longer".
fn is_plain(text: &str, at: usize, phrase: &str) -> bool {
    let (before, after) = (&text[..at], &text[at + phrase.len()..]);
    phrase.ends_with(" no ") && (before.ends_with("there") || after.starts_with("longer "))
}

/// Returns the phrases of the list in the comments of a file, with the numbers of the lines in which they end. A phrase
/// at the end of a line counts with the next line, whose first word decides whether it is plain.
fn phrases_in(code: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    // The line before in the same paragraph; a full stop before the first line.
    let mut before = ".".to_owned();
    for (line, number) in code.lines().zip(1..) {
        let comment = comment_of(line).unwrap_or_default().to_lowercase();
        let text = format!("{before} {comment}");
        for phrase in PHRASES {
            let is_new = |at: usize| at + phrase.len() > before.len();
            let mut places = text.match_indices(phrase).map(|(at, _)| at);
            if places.any(|at| is_new(at) && !is_plain(&text, at, phrase)) {
                found.push((number, phrase));
            }
        }
        let marks = ["#", "|", "```"];
        let ends_paragraph = comment.is_empty() || marks.iter().any(|mark| comment.starts_with(mark));
        before = if ends_paragraph { ".".to_owned() } else { comment };
    }
    found
}

#[test]
fn comments_name_the_things_that_they_are_about() {
    let mut wrong = Vec::new();
    for (name, code) in sources() {
        let found = phrases_in(&code);
        wrong.extend(found.iter().map(|(line, phrase)| format!("{name}:{line} has \"{phrase}\"")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Documents have questions as headings, so only the phrases within sentences count.
#[test]
fn pages_for_users_name_the_things_that_they_are_about() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let summary = read("docs/SUMMARY.md");
    let (for_users, _) = summary.split_once("# For contributors").unwrap();
    let links = for_users.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut wrong = Vec::new();
    for link in links.filter(|link| !link.contains("CHANGELOG")) {
        let text = read(&format!("docs/{link}"));
        let mut is_code = false;
        let as_comments = text.lines().map(|line| {
            is_code ^= line.trim_start().starts_with("```");
            if is_code { "\n".to_owned() } else { format!("// {line}\n") }
        });
        let found = phrases_in(&as_comments.collect::<String>());
        let found = found.iter().filter(|(_, phrase)| !phrase.starts_with('.'));
        wrong.extend(found.map(|(line, phrase)| format!("{link}:{line} has \"{phrase}\"")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_phrase_is_found() {
    for phrase in PHRASES {
        let words: Vec<&str> = phrase.split(' ').filter(|word| !matches!(*word, "" | ".")).collect();
        let start = if phrase.starts_with('.') { "Ends." } else { "Here" };
        let (first, rest) = (words[0], words[1..].join(" "));
        let one_line = format!("let a = 1;\n    /// {start} {first} {rest} it.\n");
        assert_eq!(phrases_in(&one_line), [(2, phrase)], "{one_line}");
        let behind_code = format!("let a = 1; // {start} {first} {rest} it.\n");
        assert_eq!(phrases_in(&behind_code), [(1, phrase)], "{behind_code}");
        let two_lines = format!("//! {start} {first}\n//! {rest} it.\n");
        assert_eq!(phrases_in(&two_lines), [(2, phrase)], "{two_lines}");
    }
}

#[test]
fn paragraphs_begin_sentences_and_code_is_not_searched() {
    assert_eq!(phrases_in("/// Text\n///\n/// What it has.\n"), [(3, ". what ")]);
    assert_eq!(phrases_in("/// # Errors\n/// Those of it.\n"), [(2, ". those of ")]);
    assert_eq!(
        phrases_in("/// There is no file. It is no\n/// longer read: there are no\n/// readers.\n"),
        []
    );
    assert_eq!(phrases_in("let text = \"This is no comment. What is it?\";\n"), []);
}
