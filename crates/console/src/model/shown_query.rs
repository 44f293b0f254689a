//! A call or statement, and whether a model serves it.

use crate::present::escaped;

/// Characters of a statement and of the words of an error on the page.
const TEXT_CHARS: usize = 600;

/// Returns the beginning of a text that may contain names and values, with escapes for what cannot be seen in its lines.
pub(super) fn beginning(text: &str) -> String {
    let end = text.char_indices().nth(TEXT_CHARS).map(|(at, _)| at);
    let start = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let lines: Vec<String> = start.lines().map(|line| escaped(line.as_bytes())).collect();
    format!("{}{}", lines.join("\n"), if end.is_some() { "…" } else { "" })
}

/// Whether a model serves a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryVerdict {
    Served,
    /// Only with ALLOW FILTERING, which reads more than it returns.
    Filtering,
    Refused,
}

impl QueryVerdict {
    /// Returns the words of the page.
    pub(crate) fn words(self) -> &'static str {
        match self {
            QueryVerdict::Served => "served",
            QueryVerdict::Filtering => "only with ALLOW FILTERING",
            QueryVerdict::Refused => "refused",
        }
    }

    /// Returns the class of the words' element.
    pub(crate) fn class(self) -> &'static str {
        match self {
            QueryVerdict::Served => "served",
            QueryVerdict::Filtering => "filtering",
            QueryVerdict::Refused => "refused",
        }
    }
}

/// A query that was run on the sample data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownQuery {
    /// The purpose of the query.
    pub purpose: String,
    /// The call or statement.
    pub text: String,
    pub verdict: QueryVerdict,
    /// The server's words if it refuses the query; else what the query reads and what makes it slow.
    pub words: String,
    /// Cells that it read of the sample data; `None` if it was not run.
    pub cells: Option<usize>,
}

/// Queries of one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryList {
    pub name: &'static str,
    pub queries: Vec<ShownQuery>,
}

impl QueryList {
    pub(crate) fn new(name: &'static str, queries: Vec<ShownQuery>) -> QueryList {
        QueryList { name, queries }
    }

    /// Returns the number of queries by their verdict: `12 served, 1 refused`.
    pub(crate) fn summary(&self) -> String {
        let mut counts = Vec::new();
        for verdict in [QueryVerdict::Served, QueryVerdict::Filtering, QueryVerdict::Refused] {
            let count = self.queries.iter().filter(|query| query.verdict == verdict).count();
            if count > 0 {
                counts.push(format!("{count} {}", verdict.words()));
            }
        }
        counts.join(", ")
    }
}
