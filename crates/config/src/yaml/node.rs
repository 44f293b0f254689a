//! The nodes of a parsed YAML file, with their positions in the text.

use crate::source::TextSpan;
use crate::xml::Text;

/// A value, and its position.
#[derive(Debug, Clone)]
pub(crate) struct YamlNode {
    pub span: TextSpan,
    pub content: YamlContent,
}

#[derive(Debug, Clone)]
pub(crate) enum YamlContent {
    /// No value: empty, `~` or `null`.
    Absent,
    Scalar(String),
    List(Vec<YamlNode>),
    Map(Vec<Entry>),
}

/// A key of a mapping, and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: Text,
    pub value: YamlNode,
}

impl YamlContent {
    /// Returns the kind of the content, in words for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            YamlContent::Absent => "nothing",
            YamlContent::Scalar(_) => "a single value",
            YamlContent::List(_) => "a list",
            YamlContent::Map(_) => "a mapping",
        }
    }
}

impl YamlNode {
    /// Returns the text of a single value, and its position.
    pub(crate) fn text(&self) -> Option<Text> {
        match &self.content {
            YamlContent::Scalar(value) => Some(Text { value: value.clone(), span: self.span }),
            _ => None,
        }
    }

    /// Returns the text of a single value, or of a list of one: SnakeYAML, with which servers read the file, makes a text
    /// of both.
    pub(crate) fn only_text(&self) -> Option<Text> {
        match &self.content {
            YamlContent::List(nodes) => nodes.first().filter(|_| nodes.len() == 1)?.text(),
            _ => self.text(),
        }
    }
}
