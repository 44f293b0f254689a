//! Parses XML into nodes with positions. Collects as many mistakes as possible.

use std::collections::BTreeMap;

use quick_xml::errors::{Error, IllFormedError};
use quick_xml::escape::{EscapeError, resolve_predefined_entity};
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesDecl, BytesEnd, BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::characters::{CodePoint, is_of_name, is_of_xml};
use super::nearest::nearest;
use super::source::{SourceText, TextSpan};
use super::xml::{Text, XmlAttribute, XmlMistake, XmlNode};
use base::util::is_invisible;

/// Largest accepted file, in bytes. A schema of a thousand column families has a tenth of it; the nodes of the worst
/// file of this size take 40 MB.
pub(crate) const FILE_BYTES_MAX: usize = 1024 * 1024;

/// Deepest nesting of elements; a storage-conf.xml has five levels. Nodes are dropped recursively.
pub(crate) const NESTING_MAX: usize = 64;

/// Maximum number of reported mistakes of a file.
const MISTAKES_MAX: usize = 20;

/// Returns a file's top-level elements; a valid XML file has exactly one.
pub(crate) fn read(source: &SourceText) -> Result<Vec<XmlNode>, Vec<(TextSpan, XmlMistake)>> {
    if source.text.len() > FILE_BYTES_MAX {
        return Err(vec![(TextSpan::default(), XmlMistake::TooLarge)]);
    }
    let mut reader =
        XmlReader { source, text: &source.text, open: Vec::new(), roots: Vec::new(), mistakes: Vec::new() };
    reader.check_characters();
    reader.run();
    if reader.roots.is_empty() && reader.mistakes.is_empty() {
        reader.mistakes.push((TextSpan::default(), XmlMistake::Empty));
    }
    if reader.mistakes.is_empty() { Ok(reader.roots) } else { Err(reader.mistakes) }
}

struct XmlReader<'a> {
    source: &'a SourceText,
    text: &'a str,
    /// Open elements, the innermost last.
    open: Vec<XmlNode>,
    roots: Vec<XmlNode>,
    mistakes: Vec<(TextSpan, XmlMistake)>,
}

impl XmlReader<'_> {
    fn run(&mut self) {
        let body = self.text.trim_start_matches('\u{feff}');
        let skipped = self.text.len() - body.len();
        let mut events = Reader::from_str(body);
        // This reader matches end tags itself, to report where the element was opened and to continue.
        events.config_mut().check_end_names = false;
        events.config_mut().allow_unmatched_ends = true;
        while self.mistakes.len() < MISTAKES_MAX {
            let begin = skipped + offset(events.buffer_position());
            match events.read_event() {
                Ok(Event::Eof) => return self.finish(),
                Ok(event) => {
                    let span = TextSpan { start: begin, end: skipped + offset(events.buffer_position()) };
                    if !self.event(event, span) {
                        return;
                    }
                }
                Err(error) => {
                    let at = skipped + offset(events.error_position());
                    let mistake = match error {
                        Error::IllFormed(IllFormedError::UnclosedReference) => XmlMistake::BareAmpersand,
                        other => XmlMistake::Syntax(other.to_string()),
                    };
                    return self.mistake(TextSpan { start: at, end: at + 1 }, mistake);
                }
            }
        }
    }

    /// Reports characters that XML does not allow.
    fn check_characters(&mut self) {
        let text = self.text;
        let forbidden = text.char_indices().filter(|(_, character)| !is_of_xml(*character));
        for (at, character) in forbidden.take(MISTAKES_MAX) {
            self.mistake(place(at, character), XmlMistake::ForbiddenCharacter(CodePoint(character)));
        }
    }

    fn mistake(&mut self, span: TextSpan, mistake: XmlMistake) {
        self.mistakes.push((span, mistake));
    }

    /// Handles one event. Returns false if reading must stop.
    fn event(&mut self, event: Event<'_>, span: TextSpan) -> bool {
        match event {
            Event::Start(tag) => {
                if self.open.len() >= NESTING_MAX {
                    self.mistake(span, XmlMistake::TooDeep);
                    return false;
                }
                let node = self.node(&tag, span);
                self.open.push(node);
            }
            Event::Empty(tag) => {
                let node = self.node(&tag, span);
                self.close(node);
            }
            Event::End(tag) => self.end(&tag, span),
            Event::Text(text) => self.append(&text.xml_content(XmlVersion::Implicit1_0), span),
            Event::CData(text) => self.append(&text.xml_content(XmlVersion::Implicit1_0), span),
            Event::GeneralRef(reference) => self.reference(&reference, span),
            Event::DocType(_) => self.mistake(span, XmlMistake::Doctype),
            Event::Decl(declaration) => self.declaration(&declaration, span),
            Event::Comment(_) | Event::PI(_) | Event::Eof => {}
        }
        true
    }

    /// Returns the position of a piece that the event reader borrowed from the text.
    fn span_of(&self, piece: &str, within: TextSpan) -> TextSpan {
        let start = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let end = start.wrapping_add(piece.len());
        if start >= within.start && end <= within.end { TextSpan { start, end } } else { within }
    }

    fn node(&mut self, tag: &BytesStart<'_>, span: TextSpan) -> XmlNode {
        let name = tag.name().0;
        let name_span = self.span_of(name, span);
        let strays = self.strays(span);
        // In a tag with stray characters the names are wrong: further errors about them would only confuse.
        let mut attributes = Vec::new();
        if strays.is_empty() {
            attributes = self.attributes(tag, span, name_span.start);
        }
        self.mistakes.extend(strays);
        let name = before_stray(name);
        let text = Text { value: String::new(), span: TextSpan { start: span.end, end: span.end } };
        XmlNode {
            name: Text { value: name.to_owned(), span: name_span },
            attributes,
            children: Vec::new(),
            text,
        }
    }

    /// Returns the characters of a tag that are neither in quotes nor allowed outside of them. ASCII characters are
    /// left to the checks of names and values, whose errors are better.
    fn strays(&self, tag: TextSpan) -> Vec<(TextSpan, XmlMistake)> {
        let text = self.text.get(tag.start..tag.end).unwrap_or_default();
        let mut strays = Vec::new();
        let mut quote = None;
        for (at, character) in text.char_indices() {
            match quote {
                Some(end) if character == end => quote = None,
                Some(_) => {}
                None if matches!(character, '"' | '\'') => quote = Some(character),
                None if character.is_ascii() || is_of_name(character) => {}
                None if is_of_xml(character) && strays.len() < MISTAKES_MAX => {
                    let stray = XmlMistake::StrayCharacter(CodePoint(character));
                    strays.push((place(tag.start + at, character), stray));
                }
                None => {}
            }
        }
        strays
    }

    fn attributes(&mut self, tag: &BytesStart<'_>, span: TextSpan, tag_start: usize) -> Vec<XmlAttribute> {
        let mut attributes = Vec::new();
        // The library's search for duplicates takes quadratic time.
        let mut first_spans = BTreeMap::new();
        for attribute in tag.attributes().with_checks(false) {
            let attribute = match attribute {
                Ok(attribute) => attribute,
                Err(error) => {
                    self.bad_attribute(&error, tag_start, span.end);
                    continue;
                }
            };
            let name = Text { value: attribute.key.0.to_owned(), span: self.span_of(attribute.key.0, span) };
            let stray = name.value.char_indices().find(|(_, character)| !is_of_name(*character));
            if let Some((at, character)) = stray {
                let stray = XmlMistake::StrayCharacter(CodePoint(character));
                self.mistake(place(name.span.start + at, character), stray);
                continue;
            }
            let value_span = self.span_of(&attribute.value, span);
            if attribute.value.contains('<') {
                self.mistake(value_span, XmlMistake::LessThanInAttribute { name: name.value.clone() });
            }
            if let Some(first) = first_spans.insert(name.value.clone(), name.span) {
                let first_line = self.source.line(first.start);
                self.mistake(name.span, XmlMistake::AttributeTwice { name: name.value, first_line });
                continue;
            }
            match attribute.normalized_value(XmlVersion::Implicit1_0) {
                Ok(value) => {
                    let value = Text { value: value.into_owned(), span: value_span };
                    attributes.push(XmlAttribute { name, value });
                }
                Err(error) => self.bad_value(error, value_span),
            }
        }
        attributes
    }

    fn bad_attribute(&mut self, error: &AttrError, tag_start: usize, tag_end: usize) {
        let (at, text) = match error {
            AttrError::ExpectedEq(at) => (at, "an attribute's name must be followed by ="),
            AttrError::ExpectedValue(at) => (at, "an attribute's = must be followed by a value"),
            AttrError::UnquotedValue(at) => (at, "an attribute's value must be in quotes"),
            AttrError::ExpectedQuote(at, _) => (at, "an attribute's value must end with its quote"),
            // The library's search for these is off.
            AttrError::Duplicated(at, _) => (at, "an attribute is given twice"),
        };
        let start = (tag_start + at).min(tag_end);
        self.mistake(TextSpan { start, end: start + 1 }, XmlMistake::Syntax(text.to_owned()));
    }

    /// Reports an invalid reference in an attribute's value.
    fn bad_value(&mut self, error: Error, value: TextSpan) {
        let (range, mistake) = match error {
            Error::Escape(EscapeError::UnrecognizedEntity(range, name)) => {
                (range, XmlMistake::UnknownEntity { name })
            }
            Error::Escape(EscapeError::UnterminatedEntity(range)) => (range, XmlMistake::BareAmpersand),
            other => return self.mistake(value, XmlMistake::Syntax(other.to_string())),
        };
        let span = TextSpan { start: value.start + range.start, end: value.start + range.end };
        self.mistake(span, mistake);
    }

    fn reference(&mut self, reference: &BytesRef<'_>, span: TextSpan) {
        let name: &str = reference;
        match reference.resolve_char_ref() {
            Ok(Some(letter)) if !is_of_xml(letter) => {
                self.mistake(span, XmlMistake::BadCharacter { reference: name.to_owned() });
            }
            Ok(Some(letter)) => self.append(letter.encode_utf8(&mut [0; 4]), span),
            Ok(None) if name == "lt" && self.open.is_empty() => {
                if !self.mistakes.iter().any(|(_, mistake)| *mistake == XmlMistake::EscapedTag) {
                    self.mistake(span, XmlMistake::EscapedTag);
                }
            }
            Ok(None) => match resolve_predefined_entity(name) {
                Some(text) => self.append(text, span),
                None => self.mistake(span, XmlMistake::UnknownEntity { name: name.to_owned() }),
            },
            Err(_) => self.mistake(span, XmlMistake::BadCharacter { reference: name.to_owned() }),
        }
    }

    /// Checks the declared encoding, which only matters if the file is not ASCII.
    fn declaration(&mut self, declaration: &BytesDecl<'_>, span: TextSpan) {
        if let Some(Ok(encoding)) = declaration.encoding()
            && !encoding.eq_ignore_ascii_case("utf-8")
            && !encoding.eq_ignore_ascii_case("utf8")
            && !self.text.is_ascii()
        {
            self.mistake(span, XmlMistake::OtherEncoding { encoding: encoding.into_owned() });
        }
    }

    /// Appends text to the innermost open element.
    fn append(&mut self, text: &str, span: TextSpan) {
        let blank = text.trim().is_empty();
        let Some(node) = self.open.last_mut() else {
            let known = self
                .mistakes
                .iter()
                .any(|(_, mistake)| matches!(mistake, XmlMistake::TextOutsideRoot | XmlMistake::EscapedTag));
            if !blank && !known {
                self.mistake(trimmed(self.text, span), XmlMistake::TextOutsideRoot);
            }
            return;
        };
        if !blank {
            let span = trimmed(self.text, span);
            let first = node.text.value.trim().is_empty();
            node.text.span =
                TextSpan { start: if first { span.start } else { node.text.span.start }, end: span.end };
        }
        node.text.value.push_str(text);
    }

    fn end(&mut self, tag: &BytesEnd<'_>, span: TextSpan) {
        let found = tag.name().0;
        if let Some((at, character)) = found.char_indices().find(|(_, character)| is_invisible(*character)) {
            let start = self.span_of(found, span).start + at;
            self.mistake(place(start, character), XmlMistake::StrayCharacter(CodePoint(character)));
        }
        let found = before_stray(found);
        if !self.open.iter().any(|node| node.name.value == found) {
            return self.stray_end(found, self.span_of(found, span));
        }
        while let Some(node) = self.open.pop() {
            let matches = node.name.value == found;
            if !matches {
                self.mistake(node.name.span, XmlMistake::NeverClosed { name: node.name.value.clone() });
            }
            self.close(node);
            if matches {
                break;
            }
        }
    }

    /// Handles an end tag without an open element of its name: it is either a misspelling of the innermost element's
    /// end tag, or superfluous.
    fn stray_end(&mut self, found: &str, span: TextSpan) {
        let found = found.to_owned();
        match self.open.pop() {
            Some(node) if nearest(&found, [node.name.value.as_str()]).is_some() => {
                let line = self.source.line(node.name.span.start);
                self.mistake(
                    span,
                    XmlMistake::EndMisspelt { found, expected: node.name.value.clone(), line },
                );
                self.close(node);
            }
            innermost => {
                self.open.extend(innermost);
                self.mistake(span, XmlMistake::ClosesNothing { found });
            }
        }
    }

    /// Adds a complete node to its parent.
    fn close(&mut self, node: XmlNode) {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None => self.roots.push(node),
        }
    }

    fn finish(&mut self) {
        for node in std::mem::take(&mut self.open) {
            self.mistake(node.name.span, XmlMistake::NeverClosed { name: node.name.value });
        }
    }
}

/// Returns the position of a character.
fn place(start: usize, character: char) -> TextSpan {
    TextSpan { start, end: start + character.len_utf8() }
}

/// Returns a name up to its first invisible character: probably the intended name.
fn before_stray(name: &str) -> &str {
    name.split(is_invisible).next().unwrap_or(name)
}

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Returns a span without the blanks at its ends.
fn trimmed(text: &str, span: TextSpan) -> TextSpan {
    let part = text.get(span.start..span.end).unwrap_or_default();
    let start = span.start + (part.len() - part.trim_start().len());
    TextSpan { start, end: start + part.trim().len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_its_position() {
        let text = "<?xml version=\"1.0\"?>\n<a b = 'c&amp;d'>  x &#65; <![CDATA[<y>]]> <e/></a>";
        let source = SourceText::new("a.xml", text);
        let roots = read(&source).unwrap();
        let [a] = roots.as_slice() else { panic!("one root") };
        let at = |span: TextSpan| &text[span.start..span.end];
        assert_eq!((at(a.name.span), a.name.value.as_str()), ("a", "a"));
        let b = a.attribute("b").unwrap();
        assert_eq!((at(b.name.span), at(b.value.span), b.value.value.as_str()), ("b", "c&amp;d", "c&d"));
        assert_eq!(a.text.value, "  x A <y> ");
        assert_eq!(at(a.text.span), "x &#65; <![CDATA[<y>]]>");
        assert_eq!(at(a.child("e").unwrap().name.span), "e");
    }
}
