//! INSERT, UPDATE or DELETE.

/// The kind of the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModifyKind {
    Insert,
    Update,
    Delete,
}

impl ModifyKind {
    /// Returns the keyword, as messages have it.
    pub(super) fn word(self) -> &'static str {
        match self {
            ModifyKind::Insert => "INSERT",
            ModifyKind::Update => "UPDATE",
            ModifyKind::Delete => "DELETE",
        }
    }
}
