//! What a configuration that is right leaves to be said.

/// A sentence about a configuration, with its file and its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// Whether something that is written in the file is not done, such as an unknown element.
    pub is_warning: bool,
}

impl Note {
    /// Returns a note that is no warning.
    pub fn of(text: String) -> Note {
        Note { text, is_warning: false }
    }
}
