//! The text of a configuration file, and positions in it.

use std::fmt;

/// Bytes of a very long line that are shown on each side of a mistake.
const SHOWN_AROUND: usize = 120;

/// A range of the text, in byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextSpan {
    pub start: usize,
    pub end: usize,
}

/// A position as editors count: from 1, in characters. Displayed as `file:line:column`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// The name of the file, as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The line of a mistake, without the ends of a very long one.
#[derive(Debug)]
pub(crate) struct ShownLine<'a> {
    pub text: &'a str,
    /// The mistake in this text.
    pub span: TextSpan,
    /// Whether the text has the beginning of the line.
    pub has_beginning: bool,
}

/// A named text with an index of its lines.
#[derive(Debug)]
pub(crate) struct SourceText {
    pub file: String,
    pub text: String,
    /// Offsets of the starts of lines.
    line_starts: Vec<usize>,
}

impl SourceText {
    pub(crate) fn new(file: &str, text: &str) -> SourceText {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        SourceText { file: file.to_owned(), text: text.to_owned(), line_starts }
    }

    /// Returns the line of an offset, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    pub(crate) fn location(&self, offset: usize) -> SourceLocation {
        let line = self.line(offset);
        let before = self.text.get(self.line_starts[line - 1]..offset).unwrap_or_default();
        SourceLocation { file: self.file.clone(), line, column: before.chars().count() + 1 }
    }

    /// Returns the part of a span that a caret can underline: within the text, in one line, not too long.
    pub(crate) fn underlined(&self, span: TextSpan) -> TextSpan {
        let start = floor(&self.text, span.start);
        let end = span.end.min(self.line_end(start)).min(start + SHOWN_AROUND);
        TextSpan { start, end: floor(&self.text, end).max(start) }
    }

    /// Returns what is shown of the line of an underlined span.
    pub(crate) fn shown(&self, span: TextSpan) -> ShownLine<'_> {
        let line_start = self.line_starts[self.line(span.start) - 1];
        let from = floor(&self.text, span.start.saturating_sub(SHOWN_AROUND)).max(line_start);
        let to = floor(&self.text, span.end + SHOWN_AROUND).min(self.line_end(span.end));
        let span = TextSpan { start: span.start - from, end: span.end - from };
        ShownLine { text: &self.text[from..to], span, has_beginning: from == line_start }
    }

    fn line_end(&self, offset: usize) -> usize {
        self.text[offset..].find(['\r', '\n']).map_or(self.text.len(), |length| offset + length)
    }
}

/// Returns the last character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one_and_in_characters() {
        let source = SourceText::new("a.xml", "<a>\r\n  <ü x='1'/>\n");
        assert_eq!(source.location(0).to_string(), "a.xml:1:1");
        let x = source.text.find('x').unwrap();
        assert_eq!(source.location(x).to_string(), "a.xml:2:6");
        assert_eq!(source.location(source.text.len()).to_string(), "a.xml:3:1");
        assert_eq!(source.location(999).line, 3);
    }

    #[test]
    fn a_span_over_several_lines_is_underlined_on_its_first() {
        let source = SourceText::new("a.xml", "<a\n b='1'>");
        assert_eq!(source.underlined(TextSpan { start: 0, end: 9 }), TextSpan { start: 0, end: 2 });
        assert_eq!(source.underlined(TextSpan { start: 99, end: 120 }), TextSpan { start: 10, end: 10 });
    }
}
