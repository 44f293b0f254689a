//! A model as a script.

use super::shown_query::beginning;

/// The model of a sketch in one of the forms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// The id of its element on the page.
    pub anchor: &'static str,
    pub name: &'static str,
    pub text: String,
    /// The parts of the model that the form cannot hold, as sentences.
    pub lost: Vec<String>,
}

impl Script {
    pub(crate) fn new(anchor: &'static str, name: &'static str) -> Script {
        Script { anchor, name, ..Script::default() }
    }

    /// Adds a sentence about a part that the form cannot hold, once.
    pub(crate) fn lose(&mut self, what: String) {
        let what = beginning(&what);
        if !self.lost.contains(&what) {
            self.lost.push(what);
        }
    }
}
