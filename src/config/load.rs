//! From a file to a configuration.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::draft::Draft;
use super::element::{apply_children, unknown};
use super::elements::ELEMENTS;
use super::error::{ConfigError, ConfigErrors};
use super::keyspace::{self, KEYSPACE};
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::settings::Config;
use super::source::{Source, Span};
use super::xml::{Node, Text, XmlMistake};
use super::xml_reader::{self, FILE_BYTES_MAX};
use crate::marshal::Types;

/// The configuration of a server that was given none: the sample file.
pub const DEFAULT: &str = include_str!("../../storage-conf.xml");

/// What `DEFAULT` is called in messages.
pub const DEFAULT_NAME: &str = "built-in storage-conf.xml";

/// The file that is looked for where the server is started.
const FILE_NAME: &str = "storage-conf.xml";

/// The configuration of a server: the file that it was told to use, else the one in the current directory,
/// else the built-in one.
pub fn load_or_default(path: Option<&Path>, types: &Types) -> Result<Config, ConfigErrors> {
    match path {
        Some(path) => load(path, types),
        None if Path::new(FILE_NAME).exists() => load(Path::new(FILE_NAME), types),
        None => parse(DEFAULT, DEFAULT_NAME, types),
    }
}

/// Reads a file.
pub fn load(path: &Path, types: &Types) -> Result<Config, ConfigErrors> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that a file that never ends is found out.
    let limit = FILE_BYTES_MAX as u64 + 1;
    match File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => parse_bytes(&bytes, &name, types),
        Err(error) => {
            let mistake = Mistake::Unreadable { file: name, reason: error.to_string() };
            Err(ConfigErrors::new(vec![ConfigError::without_place(mistake)]))
        }
    }
}

/// Reads the bytes of a file, which need not be text.
pub fn parse_bytes(bytes: &[u8], file_name: &str, types: &Types) -> Result<Config, ConfigErrors> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, file_name, types),
        // Cut in the middle of a character by the limit.
        Err(_) if bytes.len() > FILE_BYTES_MAX => {
            let source = Arc::new(Source::new(file_name, ""));
            Err(ConfigErrors::new(vec![ConfigError::new(
                XmlMistake::TooLarge.into(),
                Span::default(),
                &source,
            )]))
        }
        Err(error) => {
            let start = error.valid_up_to();
            let byte = bytes.get(start).copied().unwrap_or_default();
            let source = Arc::new(Source::new(file_name, &String::from_utf8_lossy(bytes)));
            let span = Span { start, end: start + 1 };
            Err(ConfigErrors::new(vec![ConfigError::new(XmlMistake::NotUtf8 { byte }.into(), span, &source)]))
        }
    }
}

/// Reads a text; `file_name` is what messages call it.
pub fn parse(text: &str, file_name: &str, types: &Types) -> Result<Config, ConfigErrors> {
    let source = Arc::new(Source::new(file_name, text));
    let mut reading = ConfigReader::new(&source, types);
    let storage = match xml_reader::read(&source) {
        Ok(roots) => storage_of(roots, &mut reading),
        Err(mistakes) => {
            let errors =
                mistakes.into_iter().map(|(span, mistake)| ConfigError::new(mistake.into(), span, &source));
            return Err(ConfigErrors::new(errors.collect()));
        }
    };
    let mut draft = Draft::default();
    apply_children(ELEMENTS, &[KEYSPACE], &mut draft, &storage, &mut reading);
    // The old server looked for keyspaces in <Keyspaces> only; articles often leave that out.
    for node in storage.children.iter().filter(|child| child.name.value == KEYSPACE) {
        keyspace::read_keyspace(&mut draft, node, &mut reading);
    }
    let mut config = draft.finish(&storage, file_name, &mut reading);
    if !reading.errors.is_empty() {
        return Err(ConfigErrors::new(reading.errors));
    }
    config.notes.splice(0..0, reading.into_notes());
    config.text = text.to_owned();
    Ok(config)
}

/// The `<Storage>` of a file; what would stand in one is put into one, so that the fragments that articles
/// print are configurations too.
fn storage_of(mut roots: Vec<Node>, reading: &mut ConfigReader<'_>) -> Node {
    let is_storage = |node: &Node| node.name.value == "Storage";
    if let Some(at) = roots.iter().position(is_storage) {
        let storage = roots.remove(at);
        for other in &roots {
            let found = other.name.value.clone();
            reading.error(other.name.span, Mistake::SecondRoot { found });
        }
        for attribute in &storage.attributes {
            unknown(&attribute.name, "attribute", std::iter::empty(), reading);
        }
        return storage;
    }
    let fits = |name: &str| name == KEYSPACE || ELEMENTS.iter().any(|row| row.tag == name);
    for root in roots.iter().filter(|root| !fits(&root.name.value)) {
        let found = root.name.value.clone();
        reading.error(root.name.span, Mistake::WrongRoot { found });
    }
    roots.retain(|root| fits(&root.name.value));
    Node { name: Text::default(), attributes: Vec::new(), children: roots, text: Text::default() }
}
