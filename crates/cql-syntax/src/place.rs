//! Shows users where a statement has an error.

use crate::Place;

/// Returns the line of a place, and below it a caret under the place.
pub fn show_place(text: &str, place: Place) -> String {
    let line = text.split('\n').nth(place.line.saturating_sub(1)).unwrap_or_default().trim_end_matches('\r');
    let mut under = String::new();
    let mut column = 0;
    for c in line.chars() {
        if column >= place.column {
            break;
        }
        // A tab must have the same width in both lines.
        under.push(if c == '\t' { '\t' } else { ' ' });
        column += c.len_utf16();
    }
    format!("{line}\n{under}^")
}

/// Returns a hint for a common mistake.
pub fn hint(text: &str, place: Place) -> Option<&'static str> {
    let (before, after) = split_at_place(text, place)?;
    let before = before.trim_end().to_ascii_uppercase();
    if after.starts_with('"') {
        return Some("a text is written in single quotes: double quotes make a name of it");
    }
    if after.starts_with('(') && before.ends_with(',') && before.contains("PRIMARY KEY") {
        return Some("only the partition key has parentheses of its own: PRIMARY KEY ((a, b), c, d)");
    }
    if after.starts_with(',') && before.ends_with(')') && before.contains("VALUES") {
        return Some("a parenthesis closes too early");
    }
    if before.contains("INSERT") && before.contains("USING") && starts_with_word(after, "IF") {
        return Some("write IF NOT EXISTS before USING");
    }
    None
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn split_at_place(text: &str, place: Place) -> Option<(&str, &str)> {
    let lines_before: usize = text.split_inclusive('\n').take(place.line.checked_sub(1)?).map(str::len).sum();
    let mut column = 0;
    let mut at = lines_before;
    for c in text.get(lines_before..)?.chars() {
        if column >= place.column {
            break;
        }
        column += c.len_utf16();
        at += c.len_utf8();
    }
    text.split_at_checked(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_marks_the_position() {
        let text = "SELECT *\nFROM \t# x";
        assert_eq!(show_place(text, Place { line: 2, column: 6 }), "FROM \t# x\n     \t^");
        assert_eq!(show_place("", Place { line: 9, column: 6 }), "\n^");
    }

    #[test]
    fn common_mistakes_have_hints() {
        let text = "SELECT * FROM t\nWHERE a = \"us\"";
        assert!(hint(text, Place { line: 2, column: 10 }).is_some_and(|hint| hint.contains("single quotes")));
        let text = "CREATE TABLE t (a int, b int, PRIMARY KEY ((a), (b))";
        assert!(hint(text, Place { line: 1, column: 48 }).is_some_and(|hint| hint.contains("partition key")));
        assert_eq!(hint(text, Place { line: 0, column: 48 }), None);
        assert_eq!(hint(text, Place { line: 7, column: 48 }), None);
    }
}
