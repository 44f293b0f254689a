//! A result as CSV (RFC 4180), for spreadsheets.

use crate::limits::ASK_BYTES_MAX;

/// Collects the lines of a result up to the limit. The first line has the names of the columns.
#[derive(Default)]
pub(super) struct CsvRows {
    text: String,
    left_out: bool,
}

impl CsvRows {
    pub(super) fn new(columns: &[String]) -> CsvRows {
        let mut rows = CsvRows::default();
        rows.push(columns.iter().map(String::as_str));
        rows
    }

    /// Adds a line. The first line that goes beyond the limit and those after it are left out.
    pub(super) fn push<'a>(&mut self, fields: impl Iterator<Item = &'a str>) {
        if self.left_out {
            return;
        }
        let begin = self.text.len();
        for (at, field) in fields.enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            push_field(field, &mut self.text);
        }
        self.text.push_str("\r\n");
        if self.text.len() > ASK_BYTES_MAX {
            self.text.truncate(begin);
            self.left_out = true;
        }
    }

    /// Returns whether a line is left out, and so all further ones.
    pub(super) fn is_cut(&self) -> bool {
        self.left_out
    }

    pub(super) fn finish(mut self) -> String {
        if self.left_out {
            self.text.push_str("\"The result is longer than a file of the console may be.\"\r\n");
        }
        self.text
    }
}

/// Adds a field. A text that a spreadsheet would run as a formula gets an apostrophe, by which it stays a text.
fn push_field(field: &str, out: &mut String) {
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err();
    let needs_quotes = is_formula || field.contains(['"', ',', '\n', '\r']);
    if !needs_quotes {
        out.push_str(field);
        return;
    }
    out.push('"');
    if is_formula {
        out.push('\'');
    }
    out.push_str(&field.replace('"', "\"\""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_never_formulas() {
        let mut rows = CsvRows::new(&["key".to_owned(), "a,b".to_owned()]);
        rows.push(["say \"so\"", "two\nlines"].into_iter());
        rows.push(["=1+2", "-7.5"].into_iter());
        rows.push(["-rm", ""].into_iter());
        let expected = "key,\"a,b\"\r\n\"say \"\"so\"\"\",\"two\nlines\"\r\n\"'=1+2\",-7.5\r\n\"'-rm\",\r\n";
        assert_eq!(rows.finish(), expected);
    }

    #[test]
    fn a_long_result_says_that_it_is_cut() {
        let mut rows = CsvRows::default();
        let long = "x".repeat(ASK_BYTES_MAX / 2 + 1);
        for _ in 0..4 {
            rows.push([&*long].into_iter());
        }
        let text = rows.finish();
        assert!(text.starts_with(&long) && text.ends_with("may be.\"\r\n"));
        assert!(text.len() < long.len() + 100, "the second line would go beyond the limit");
    }
}
