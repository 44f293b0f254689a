//! Loads a configuration from a file or text.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::draft::Draft;
use super::element::{apply_children, unknown};
use super::elements::ELEMENTS;
use super::error::{ConfigError, ConfigErrors};
use super::home::parent_of;
use super::keyspace::{self, KEYSPACE};
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::settings::Config;
use super::source::{Source, Span};
use super::xml::{Node, Text, XmlMistake};
use super::xml_reader::{self, FILE_BYTES_MAX};
use super::yaml;
use base::marshal::Types;

/// The configuration of a server without a file: the sample file.
pub const DEFAULT: &str = include_str!("../../../storage-conf.xml");

/// The name of `DEFAULT` in messages.
pub const DEFAULT_NAME: &str = "built-in storage-conf.xml";

/// The file that is read in the current directory.
pub const FILE_NAME: &str = "storage-conf.xml";

/// Returns the configuration of a server: of the given file, else of the file in the current directory, else the
/// built-in one.
pub fn load_or_default(path: Option<&Path>, types: &Types) -> Result<Config, ConfigErrors> {
    match path {
        Some(path) => load(path, types),
        None if Path::new(FILE_NAME).exists() => load(Path::new(FILE_NAME), types),
        None => parse(DEFAULT, DEFAULT_NAME, types),
    }
}

/// Loads a file.
pub fn load(path: &Path, types: &Types) -> Result<Config, ConfigErrors> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // Read one byte more than allowed, to detect a longer file without reading all of it.
    let limit = FILE_BYTES_MAX as u64 + 1;
    match File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => parse_bytes(&bytes, &name, types),
        Err(error) => {
            let mistake = Mistake::Unreadable { file: name, reason: error.to_string() };
            Err(ConfigErrors::new(vec![ConfigError::without_place(mistake)]))
        }
    }
}

/// Parses the bytes of a file, which may be invalid UTF-8.
pub fn parse_bytes(bytes: &[u8], file_name: &str, types: &Types) -> Result<Config, ConfigErrors> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, file_name, types),
        // The limit may have cut a character.
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

/// Parses a text; `file_name` is its name in messages. It is a cassandra.yaml if the name ends so, else a
/// storage-conf.xml.
pub fn parse(text: &str, file_name: &str, types: &Types) -> Result<Config, ConfigErrors> {
    if [".yaml", ".yml"].iter().any(|end| file_name.ends_with(end)) {
        return yaml::parse(text, file_name, types);
    }
    let source = Arc::new(Source::new(file_name, text));
    let mut reading = ConfigReader::new(&source, types, parent_of);
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
    // Old servers read keyspaces in <Keyspaces> only; articles often omit that element.
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

/// Returns the `<Storage>` of a file. Elements that belong in one are wrapped in one, so that the fragments in articles
/// are configurations too.
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
