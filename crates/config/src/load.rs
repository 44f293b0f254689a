//! Loads a configuration from a file or text.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::apply::{ConfigBlock, apply_children, apply_entries, unknown};
use super::draft::Draft;
use super::error::{ConfigError, ConfigErrors};
use super::finish::Finisher;
use super::home::parent_of;
use super::keyspace::{self, KEYSPACE};
use super::mistake::Mistake;
use super::nearest::path_suggestion;
use super::reading::ConfigReader;
use super::setting::{NameKind, find};
use super::settings::Config;
use super::source::{SourceText, TextSpan};
use super::xml::{Text, XmlMistake, XmlNode};
use super::xml_reader::{self, FILE_BYTES_MAX};
use super::yaml::{self, YamlContent, YamlMistake};
use base::marshal::Types;

/// The configuration of a server without a file: the sample file.
pub const DEFAULT: &str = include_str!("../../../storage-conf.xml");

/// The name of `DEFAULT` in messages.
pub const DEFAULT_NAME: &str = "built-in storage-conf.xml";

/// The file that is read in the current directory.
pub const FILE_NAME: &str = "storage-conf.xml";

/// The element with all others.
pub(crate) const STORAGE: &str = "Storage";

/// The element of 0.3 with its column families.
const TABLES: &str = "Tables";

/// Returns the configuration of a server: of the given file, else of the file in the current directory, else the
/// built-in one.
///
/// # Errors
///
/// All mistakes in the file; one if it cannot be read.
pub fn load_or_default(path: Option<&Path>, types: &Types) -> Result<Config, ConfigErrors> {
    match path {
        Some(path) => load(path, types),
        None if Path::new(FILE_NAME).exists() => load(Path::new(FILE_NAME), types),
        None => parse(DEFAULT, DEFAULT_NAME, types),
    }
}

/// Loads a file.
///
/// # Errors
///
/// All mistakes in the file; one if it cannot be read.
pub fn load(path: &Path, types: &Types) -> Result<Config, ConfigErrors> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // Read one byte more than allowed, to detect a longer file without reading all of it.
    let limit = FILE_BYTES_MAX as u64 + 1;
    match File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => parse_bytes(&bytes, &name, types),
        Err(error) => {
            let mistake =
                Mistake::Unreadable { file: name, reason: format!("{error}{}", path_suggestion(path)) };
            Err(ConfigErrors::new(vec![ConfigError::without_place(mistake)]))
        }
    }
}

/// Parses the bytes of a file, which may be invalid UTF-8.
///
/// # Errors
///
/// All mistakes in the file.
pub fn parse_bytes(bytes: &[u8], file_name: &str, types: &Types) -> Result<Config, ConfigErrors> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, file_name, types),
        // The limit may have cut a character.
        Err(_) if bytes.len() > FILE_BYTES_MAX => {
            let source = Arc::new(SourceText::new(file_name, ""));
            Err(ConfigErrors::of([(TextSpan::default(), XmlMistake::TooLarge)], &source))
        }
        Err(error) => {
            let start = error.valid_up_to();
            let byte = bytes.get(start).copied().unwrap_or_default();
            let source = Arc::new(SourceText::new(file_name, &String::from_utf8_lossy(bytes)));
            let span = TextSpan { start, end: start + 1 };
            Err(ConfigErrors::of([(span, XmlMistake::NotUtf8 { byte })], &source))
        }
    }
}

/// Parses a text; `file_name` is its name in messages. It is a cassandra.yaml if the name ends so, else a
/// storage-conf.xml.
///
/// # Errors
///
/// All mistakes in the text.
pub fn parse(text: &str, file_name: &str, types: &Types) -> Result<Config, ConfigErrors> {
    let source = Arc::new(SourceText::new(file_name, text));
    if [".yaml", ".yml"].iter().any(|end| file_name.ends_with(end)) {
        return parse_yaml(&source, types);
    }
    let roots = xml_reader::read(&source).map_err(|mistakes| ConfigErrors::of(mistakes, &source))?;
    let mut reading = ConfigReader::new(&source, types, parent_of);
    let storage = storage_of(roots, &mut reading);
    if let Some(tables) = storage.children.iter().find(|child| child.name.value == TABLES) {
        reading.error(tables.name.span, Mistake::TablesOf03);
    }
    let mut draft = Draft::default();
    // Clients can read the text.
    draft.config.text = text.to_owned();
    apply_children(&[KEYSPACE, TABLES], &mut draft, &storage, &mut reading);
    // Old servers read keyspaces in <Keyspaces> only; articles often omit that element.
    for node in storage.children.iter().filter(|child| child.name.value == KEYSPACE) {
        keyspace::read_keyspace(&mut draft, ConfigBlock::Element(node), &mut reading);
    }
    Finisher::new(ConfigBlock::Element(&storage), reading).finish(draft)
}

/// Parses a cassandra.yaml. Clients cannot read its text, which may have passwords of keystores.
fn parse_yaml(source: &Arc<SourceText>, types: &Types) -> Result<Config, ConfigErrors> {
    let mut repeated = Vec::new();
    let root = yaml::read(source, &mut repeated).map_err(|wrong| ConfigErrors::of([wrong], source))?;
    let YamlContent::Map(entries) = &root.content else {
        let mistake = YamlMistake::NoSettings { found: root.content.kind() };
        return Err(ConfigErrors::of([(root.span, mistake)], source));
    };
    let mut reading = ConfigReader::new(source, types, |_| None);
    for key in repeated {
        reading.warn(key.span, || format!("{} is given again below, and that one counts", key.value));
    }
    let mut draft = Draft::default();
    apply_entries(&mut draft, entries, &mut reading);
    Finisher::new(ConfigBlock::Mapping { entries, span: root.span }, reading).finish(draft)
}

/// Returns the `<Storage>` of a file. Elements that belong in one are wrapped in one, so that the fragments in articles
/// are configurations too.
fn storage_of(mut roots: Vec<XmlNode>, reading: &mut ConfigReader<'_>) -> XmlNode {
    if let Some(at) = roots.iter().position(|node| node.name.value == STORAGE) {
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
    let (fitting, others): (Vec<_>, Vec<_>) = roots.into_iter().partition(|root| {
        let name = &root.name.value;
        name == KEYSPACE || find(STORAGE, NameKind::Element, name).is_some()
    });
    for root in &others {
        let found = root.name.value.clone();
        reading.error(root.name.span, Mistake::WrongRoot { found });
    }
    XmlNode { name: Text::default(), attributes: Vec::new(), children: fitting, text: Text::default() }
}
