//! The nodes of a parsed XML file, with their positions in the text.

use super::characters::{CodePoint, HELP};
use super::source::TextSpan;

/// Text and its position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    /// The text, with character references and the five predefined entities replaced.
    pub value: String,
    /// Position in the file. For the text of an element: from its first to its last visible character.
    pub span: TextSpan,
}

/// An attribute of an element.
#[derive(Debug, Clone)]
pub(crate) struct XmlAttribute {
    pub name: Text,
    pub value: Text,
}

/// An element.
#[derive(Debug, Clone)]
pub(crate) struct XmlNode {
    pub name: Text,
    pub attributes: Vec<XmlAttribute>,
    pub children: Vec<XmlNode>,
    /// The text of the element, without the text of its children.
    pub text: Text,
}

impl XmlNode {
    /// Returns the first child with a name.
    pub(crate) fn child(&self, name: &str) -> Option<&XmlNode> {
        self.children.iter().find(|child| child.name.value == name)
    }

    /// Returns whether the element has a text that is not blank.
    pub(crate) fn has_text(&self) -> bool {
        !self.text.value.trim().is_empty()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&XmlAttribute> {
        self.attributes.iter().find(|attribute| attribute.name.value == name)
    }
}

/// Why a file is not valid XML, or uses XML that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum XmlMistake {
    #[error("the file is empty")]
    Empty,
    #[error("the file has more than {} bytes", super::xml_reader::FILE_BYTES_MAX)]
    TooLarge,
    #[error("the file is not UTF-8: invalid byte {byte:#04x}")]
    NotUtf8 { byte: u8 },
    #[error("the file declares the encoding {encoding}; only UTF-8 is supported")]
    OtherEncoding { encoding: String },
    #[error("{0}")]
    Syntax(String),
    #[error("text outside of the root element")]
    TextOutsideRoot,
    #[error("&lt; outside of the root element")]
    EscapedTag,
    #[error("a DOCTYPE is not supported")]
    Doctype,
    #[error("unknown entity &{name};")]
    UnknownEntity { name: String },
    #[error("a bare & in the text")]
    BareAmpersand,
    #[error("&{reference}; is not a character")]
    BadCharacter { reference: String },
    #[error("{0} in the file: XML does not allow this character")]
    ForbiddenCharacter(CodePoint),
    #[error(
        "{0} in a tag: XML allows only blanks, tabs and line ends between names, and does not allow this in a name"
    )]
    StrayCharacter(CodePoint),
    #[error("attribute {name} is given twice, first on line {first_line}")]
    AttributeTwice { name: String, first_line: usize },
    #[error("the value of attribute {name} contains a <")]
    LessThanInAttribute { name: String },
    #[error("</{found}> does not close <{expected}> of line {line}")]
    EndMisspelt { found: String, expected: String, line: usize },
    #[error("</{found}> closes no open element")]
    ClosesNothing { found: String },
    #[error("<{name}> is never closed")]
    NeverClosed { name: String },
    #[error("elements are nested more than {} deep", super::xml_reader::NESTING_MAX)]
    TooDeep,
}

impl XmlMistake {
    pub fn help(&self) -> Option<String> {
        let help = match self {
            XmlMistake::Empty => "the smallest useful file is <Storage></Storage>",
            XmlMistake::TooLarge => "is this really a storage-conf.xml?",
            XmlMistake::NotUtf8 { byte: 0xfe | 0xff } => "this looks like UTF-16: save the file as UTF-8",
            XmlMistake::NotUtf8 { .. } | XmlMistake::OtherEncoding { .. } => "save the file as UTF-8",
            XmlMistake::Doctype => {
                "remove it: custom entities are never expanded, and other files are never read"
            }
            XmlMistake::UnknownEntity { .. } => {
                "only &amp; &lt; &gt; &quot; &apos; and &#...; are known; custom entities are never expanded"
            }
            XmlMistake::EscapedTag => {
                "an element begins with <: text that was copied from the source of a web page has &lt; and &gt;"
            }
            XmlMistake::BareAmpersand => "write &amp; for &",
            XmlMistake::LessThanInAttribute { .. } => {
                "is the closing quote missing? write &lt; if a < is meant"
            }
            XmlMistake::ForbiddenCharacter(_) => "remove it",
            XmlMistake::StrayCharacter(CodePoint('“' | '”' | '„' | '‘' | '’' | '«' | '»')) => {
                "use straight quotes (\"); text that was copied from a web page often has curly ones"
            }
            XmlMistake::StrayCharacter(_) => HELP,
            XmlMistake::EndMisspelt { expected, .. } => return Some(format!("did you mean </{expected}>?")),
            XmlMistake::Syntax(_)
            | XmlMistake::TextOutsideRoot
            | XmlMistake::BadCharacter { .. }
            | XmlMistake::AttributeTwice { .. }
            | XmlMistake::ClosesNothing { .. }
            | XmlMistake::NeverClosed { .. }
            | XmlMistake::TooDeep => return None,
        };
        Some(help.to_owned())
    }
}
