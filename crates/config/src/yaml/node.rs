//! The nodes of a parsed YAML file, with their positions in the text.

use crate::source::TextSpan;
use crate::xml::Text;

/// A value, and its position.
#[derive(Debug, Clone)]
pub struct YamlNode {
    pub span: TextSpan,
    pub content: Content,
}

#[derive(Debug, Clone)]
pub enum Content {
    /// No value: empty, `~` or `null`.
    Absent,
    Scalar(String),
    List(Vec<YamlNode>),
    Map(Vec<Entry>),
}

/// A key of a mapping, and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    pub key: Text,
    pub value: YamlNode,
}

impl Content {
    /// Returns the kind of the content, in words for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Content::Absent => "nothing",
            Content::Scalar(_) => "a single value",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }
}

impl YamlNode {
    /// Returns the text of a single value, and its position.
    pub fn text(&self) -> Option<Text> {
        match &self.content {
            Content::Scalar(value) => Some(Text { value: value.clone(), span: self.span }),
            _ => None,
        }
    }
}
