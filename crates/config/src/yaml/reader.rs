//! Parses the text of a YAML file into nodes with their positions.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span as ParserSpan};

use super::mistake::YamlMistake;
use super::node::{Entry, YamlContent, YamlNode};
use crate::source::{SourceText, TextSpan};
use crate::xml::Text;
use crate::xml_reader::{FILE_BYTES_MAX, NESTING_MAX};

/// A mistake and its position.
type Misplaced = (TextSpan, YamlMistake);

/// The byte order mark, which some editors write before the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Parses a file. Of several entries with one key in a mapping the last one counts, as in the old servers; `repeated` gets
/// the keys of the others.
pub(crate) fn read(source: &SourceText, repeated: &mut Vec<Text>) -> Result<YamlNode, Misplaced> {
    if source.text.len() > FILE_BYTES_MAX {
        return Err((TextSpan::default(), YamlMistake::TooLarge));
    }
    let text = source.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&source.text);
    let offsets = Offsets::of(text, source.text.len() - text.len());
    let mut builder = Builder { open: Vec::new(), root: None, repeated };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let at = offsets.at(error.marker().index());
            syntax_mistake(source, at, error.info())
        })?;
        if event == Event::StreamEnd {
            break;
        }
        builder.take(event, offsets.span(span))?;
    }
    builder.root.ok_or((TextSpan::default(), YamlMistake::Empty))
}

/// Returns the mistake at a position that the parser does not understand. For a tab in the indentation of a line it stops in
/// the indentation, behind it, or at the end of the line before.
fn syntax_mistake(source: &SourceText, at: usize, why: &str) -> Misplaced {
    let (before, rest) = source.text.split_at_checked(at).unwrap_or((&source.text, ""));
    let line = rest.trim_start_matches(['\r', '\n']);
    let line_start = match rest.len() - line.len() {
        0 => before.rfind('\n').map_or(0, |end| end + 1),
        line_ends => at + line_ends,
    };
    let line = source.text.get(line_start..).unwrap_or_default();
    let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
    let tab = line.find('\t').filter(|tab| *tab < indentation && at <= line_start + indentation);
    match tab {
        Some(tab) => {
            let start = line_start + tab;
            (TextSpan { start, end: start + 1 }, YamlMistake::Tab)
        }
        None => (TextSpan { start: at, end: at + 1 }, YamlMistake::Syntax(why.to_owned())),
    }
}

/// The byte offsets of characters: the parser counts characters.
struct Offsets {
    /// The offset of each character in the text.
    of_characters: Vec<usize>,
    /// The offset of the text's end.
    end: usize,
}

impl Offsets {
    /// Returns the offsets in a text that begins at `base`.
    fn of(text: &str, base: usize) -> Offsets {
        let of_characters = text.char_indices().map(|(at, _)| base + at).collect();
        Offsets { of_characters, end: base + text.len() }
    }

    fn at(&self, index: usize) -> usize {
        self.of_characters.get(index).copied().unwrap_or(self.end)
    }

    fn span(&self, span: ParserSpan) -> TextSpan {
        TextSpan { start: self.at(span.start.index()), end: self.at(span.end.index()) }
    }
}

/// A list or mapping whose end has not been read yet.
enum OpenNode {
    List { span: TextSpan, nodes: Vec<YamlNode> },
    Map { span: TextSpan, entries: Vec<Entry>, places: HashMap<String, usize>, key: Option<Text> },
}

/// Builds nodes from the events of the parser.
struct Builder<'r> {
    open: Vec<OpenNode>,
    root: Option<YamlNode>,
    repeated: &'r mut Vec<Text>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: TextSpan) -> Result<(), Misplaced> {
        match event {
            Event::Alias(_) => Err((span, YamlMistake::Alias)),
            Event::DocumentStart(_) if self.root.is_some() => Err((span, YamlMistake::SecondDocument)),
            Event::Scalar(value, style, ..) => {
                let is_absent =
                    style == ScalarStyle::Plain && matches!(&*value, "" | "~" | "null" | "Null" | "NULL");
                let content =
                    if is_absent { YamlContent::Absent } else { YamlContent::Scalar(value.into_owned()) };
                self.add(YamlNode { span, content })
            }
            Event::SequenceStart(..) => self.begin(OpenNode::List { span, nodes: Vec::new() }, span),
            Event::MappingStart(..) => {
                let (entries, places) = (Vec::new(), HashMap::new());
                self.begin(OpenNode::Map { span, entries, places, key: None }, span)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(OpenNode::List { span, nodes }) => {
                    self.add(YamlNode { span, content: YamlContent::List(nodes) })
                }
                Some(OpenNode::Map { span, entries, .. }) => {
                    self.add(YamlNode { span, content: YamlContent::Map(entries) })
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn begin(&mut self, open: OpenNode, span: TextSpan) -> Result<(), Misplaced> {
        if self.open.len() >= NESTING_MAX {
            return Err((span, YamlMistake::TooDeep));
        }
        self.open.push(open);
        Ok(())
    }

    /// Adds a node to the innermost open list or mapping.
    fn add(&mut self, node: YamlNode) -> Result<(), Misplaced> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(OpenNode::List { nodes, .. }) => nodes.push(node),
            Some(OpenNode::Map { entries, places, key, .. }) => match key.take() {
                None => *key = Some(node.text().ok_or((node.span, YamlMistake::KeyOfValues))?),
                Some(key) => {
                    let at = *places.entry(key.value.clone()).or_insert(entries.len());
                    let entry = Entry { key, value: node };
                    match entries.get_mut(at) {
                        Some(before) => self.repeated.push(std::mem::replace(before, entry).key),
                        None => entries.push(entry),
                    }
                }
            },
        }
        Ok(())
    }
}
