//! Statements on which each user of the lexer of CQL is tested: hard ones, and ones with a planted secret.

/// The word in each planted secret.
pub const SECRET: &str = "hunter2x";

/// A secret as it is written in a statement: also with mistakes.
const FORMS: [&str; 6] =
    ["'hunter2x'", "$$hunter2x$$", "\"hunter2x\"", "hunter2x", "'o'hunter2x'", "'my-hunter2x"];

/// Returns statements that are hard to split into tokens.
pub fn hard_statements() -> Vec<String> {
    include_str!("../data/hard-statements.txt").lines().map(unescaped).collect()
}

/// Returns statements with a planted secret: a `password` or a `value`.
pub fn planted(kind: &str) -> Vec<String> {
    let templates = include_str!("../data/planted-secrets.txt").lines();
    let of_kind =
        templates.filter_map(|line| line.strip_prefix(kind)).map(|line| unescaped(line.trim_start()));
    of_kind.flat_map(|template| FORMS.map(|form| template.replace("{}", form))).collect()
}

fn unescaped(line: &str) -> String {
    line.replace("\\r", "\r").replace("\\n", "\n").replace("\\u{feff}", "\u{feff}")
}
