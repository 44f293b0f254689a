//! The notes and warnings about a configuration that can be served.

/// A sentence about a configuration, with its file and its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// Whether an element, attribute or setting is ignored, such as an unknown one, or has a harmful value.
    pub is_warning: bool,
}

impl Note {
    /// Returns a note that is not a warning.
    pub fn of(text: String) -> Note {
        Note { text, is_warning: false }
    }
}
