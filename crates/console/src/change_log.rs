//! The line of the log about a change that a visitor makes: who, what kind, and which table. It has no keys and no values.

use super::present::escaped;
use super::visitor::Visitor;

/// A change that was made.
pub(crate) struct LoggedChange<'a> {
    /// The Thrift method, or the first words of the statement.
    pub kind: &'a str,
    /// The keyspace, if it is known.
    pub keyspace: Option<&'a str>,
    /// The column family or table, if the change has one.
    pub table: Option<&'a str>,
}

impl LoggedChange<'_> {
    /// Logs the change. Names cannot begin a line of the log.
    pub(crate) fn log(&self, visitor: &Visitor) {
        let shown = |name: &str| escaped(name.as_bytes());
        let (user, kind) = (shown(&visitor.user.name), self.kind);
        let (keyspace, table) = (self.keyspace.map(shown), self.table.map(shown));
        tracing::info!(user, kind, keyspace, table, "a change was made by the admin server");
    }
}
