//! The column families that a call names.

use crate::thrift::decompressed_statement;
use crate::thrift::wire::{Reader, TType, WireError};

/// The most column families of one call that are known: batches have some.
const FAMILIES_OF_CALL_MAX: usize = 16;

/// Column families without their keyspaces, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FamilyNames {
    names: Vec<Vec<u8>>,
    /// Whether the call has more than are listed.
    pub has_others: bool,
}

impl FamilyNames {
    pub fn add(&mut self, name: &[u8]) {
        if self.iter().any(|known| known == name) {
            return;
        }
        if self.names.len() < FAMILIES_OF_CALL_MAX {
            self.names.push(name.to_vec());
        } else {
            self.has_others = true;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &name[..])
    }
}

/// Adds the column families in the arguments of a Thrift call. The reader is at the argument struct.
///
/// # Errors
///
/// If the arguments cannot be read. Families before that are added.
pub fn family_of_arguments(
    method: &[u8],
    reader: &mut Reader<'_>,
    families: &mut FamilyNames,
) -> Result<(), WireError> {
    match method {
        b"truncate" | b"system_drop_column_family" | b"get_paged_slice" => first_text(reader, families),
        b"batch_mutate" | b"atomic_batch_mutate" | b"batch_insert" => families_of_maps(reader, families),
        b"system_add_column_family" | b"system_update_column_family" => of_struct(reader, 2, families),
        b"execute_cql_query" | b"prepare_cql_query" => statement(reader, false, families),
        b"execute_cql3_query" | b"prepare_cql3_query" => statement(reader, true, families),
        b"describe_splits" | b"login" | b"system_add_keyspace" | b"system_update_keyspace" => Ok(()),
        _ => of_struct(reader, 3, families),
    }
}

/// Adds argument 1.
fn first_text(reader: &mut Reader<'_>, families: &mut FamilyNames) -> Result<(), WireError> {
    while let Some((ttype, id)) = reader.field_begin()? {
        if id == 1 && ttype == TType::String {
            families.add(reader.raw()?);
            return Ok(());
        }
        reader.skip(ttype)?;
    }
    Ok(())
}

/// Adds the text `field` of the first struct that begins with it or with a lower field: of ColumnPath and ColumnParent, or
/// of CfDef. In 0.3, argument 3 is a path of names, of which the column family is the first.
fn of_struct(reader: &mut Reader<'_>, field: i16, families: &mut FamilyNames) -> Result<(), WireError> {
    while let Some((ttype, id)) = reader.field_begin()? {
        match ttype {
            TType::Struct => {
                while let Some((inner, id)) = reader.field_begin()? {
                    if id == field && inner == TType::String {
                        families.add(reader.raw()?);
                        return Ok(());
                    }
                    reader.skip(inner)?;
                }
            }
            TType::String if id == 3 && field == 3 => {
                let path = reader.raw()?;
                families.add(path.split(|byte| *byte == b':').next().unwrap_or_default());
                return Ok(());
            }
            _ => reader.skip(ttype)?,
        }
    }
    Ok(())
}

/// Adds the keys of maps: row key, column family, mutations; or column family, columns.
fn families_of_maps(reader: &mut Reader<'_>, families: &mut FamilyNames) -> Result<(), WireError> {
    while let Some((ttype, _)) = reader.field_begin()? {
        if ttype != TType::Map {
            reader.skip(ttype)?;
            continue;
        }
        let (key, value, rows) = reader.map_begin()?;
        for _ in 0..rows {
            match (key, value) {
                (TType::String, TType::Map) => {
                    reader.raw()?;
                    let (inner_key, inner_value, count) = reader.map_begin()?;
                    for _ in 0..count {
                        match inner_key {
                            TType::String => families.add(reader.raw()?),
                            _ => reader.skip(inner_key)?,
                        }
                        reader.skip(inner_value)?;
                    }
                }
                (TType::String, _) => {
                    families.add(reader.raw()?);
                    reader.skip(value)?;
                }
                _ => {
                    reader.skip(key)?;
                    reader.skip(value)?;
                }
            }
        }
    }
    Ok(())
}

/// Adds the column families of the statement in argument 1, with the compression of argument 2.
fn statement(reader: &mut Reader<'_>, is_cql3: bool, families: &mut FamilyNames) -> Result<(), WireError> {
    let (mut text, mut compression) = (None, None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => text = Some(reader.raw()?),
            (2, TType::I32) => compression = Some(reader.i32()?),
            _ => reader.skip(ttype)?,
        }
    }
    if let (Some(text), Some(compression)) = (text, compression)
        && let Some(text) = decompressed_statement(text, compression)
    {
        families_of_statement(&text, is_cql3, families);
    }
    Ok(())
}

/// Adds the column families in a statement's text: the names after FROM, INTO, UPDATE, TRUNCATE, TABLE and COLUMNFAMILY.
/// Names without quotes are in lower case in CQL 3.
pub fn families_of_statement(text: &[u8], is_cql3: bool, families: &mut FamilyNames) {
    const WORDS: [&[u8]; 6] = [b"FROM", b"INTO", b"UPDATE", b"TRUNCATE", b"TABLE", b"COLUMNFAMILY"];
    const SKIPPED: [&[u8]; 5] = [b"IF", b"NOT", b"EXISTS", b"TABLE", b"COLUMNFAMILY"];
    let mut words = Words { rest: text };
    let mut is_next = false;
    while let Some(word) = words.next() {
        let is = |known: &&[u8]| matches!(word, Word::Plain(word) if word.eq_ignore_ascii_case(known));
        if is_next && !SKIPPED.iter().any(is) {
            is_next = false;
            // The name may follow its keyspace and a dot.
            let mut name = word;
            while words.take_dot() {
                match words.next() {
                    Some(after) => name = after,
                    None => break,
                }
            }
            match name {
                Word::Plain(name) if is_cql3 => families.add(&name.to_ascii_lowercase()),
                Word::Plain(name) | Word::Quoted(name) => families.add(name),
            }
        } else {
            is_next = is_next || WORDS.iter().any(is);
        }
    }
}

/// A word of a statement.
#[derive(Debug, Clone, Copy)]
enum Word<'a> {
    Plain(&'a [u8]),
    /// A name in double quotes. Double quotes within it stay doubled.
    Quoted(&'a [u8]),
}

/// The words of a statement without its constants and signs.
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    /// Takes a dot if it comes next.
    fn take_dot(&mut self) -> bool {
        let trimmed = self.rest.trim_ascii_start();
        match trimmed.strip_prefix(b".") {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn split(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Takes a text in quotes, of which a doubled one is a part.
    fn quoted(&mut self, quote: u8) -> &'a [u8] {
        let mut at = 1;
        while let Some(byte) = self.rest.get(at) {
            match byte {
                _ if *byte != quote => at += 1,
                _ if self.rest.get(at + 1) == Some(&quote) => at += 2,
                _ => break,
            }
        }
        let taken = self.split(at + 1);
        taken.get(1..at).unwrap_or_default()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let first = *self.rest.first()?;
            match first {
                b'\'' => {
                    self.quoted(b'\'');
                }
                b'"' => return Some(Word::Quoted(self.quoted(b'"'))),
                _ if is_of_word(first) => {
                    let length = self.rest.iter().position(|byte| !is_of_word(*byte));
                    return Some(Word::Plain(self.split(length.unwrap_or(self.rest.len()))));
                }
                _ => {
                    self.split(1);
                }
            }
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::thrift::wire::{MessageHeader, MessageKind, Writer};

    fn of_statement(text: &str) -> Vec<String> {
        let mut families = FamilyNames::default();
        families_of_statement(text.as_bytes(), true, &mut families);
        families.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[test]
    fn families_of_statements_are_found() {
        assert_eq!(of_statement("SELECT a FROM Posts WHERE b = 'x FROM y'"), ["posts"]);
        assert_eq!(of_statement("insert into \"Blog\" . \"Posts\"(a) values (1)"), ["Posts"]);
        assert_eq!(of_statement("CREATE TABLE IF NOT EXISTS k.t (a int PRIMARY KEY)"), ["t"]);
        assert_eq!(of_statement("TRUNCATE TABLE t"), ["t"]);
        assert_eq!(
            of_statement("BEGIN BATCH UPDATE a SET b = 'it''s'; DELETE FROM c; APPLY BATCH"),
            ["a", "c"]
        );
        assert_eq!(of_statement("USE k"), [""; 0]);
        assert_eq!(of_statement("SELECT * FROM"), [""; 0]);
        assert_eq!(of_statement("SELECT * FROM \"open"), ["open"]);
        assert_eq!(of_statement("SELECT * FROM k."), ["k"]);
    }

    fn of_call(method: &str, write: impl Fn(&mut Writer<'_>)) -> Vec<String> {
        let mut out = BytesMut::new();
        let mut writer = Writer::new(&mut out);
        writer.message_begin(method.as_bytes(), MessageKind::Call, 1);
        write(&mut writer);
        let message = out.freeze();
        let mut reader = Reader::new(&message);
        let header = MessageHeader::read(&mut reader).unwrap();
        let mut families = FamilyNames::default();
        family_of_arguments(header.name, &mut reader, &mut families).unwrap();
        families.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[test]
    fn families_of_thrift_calls_are_found() {
        let parent = |writer: &mut Writer<'_>| {
            writer.field_string(1, b"key");
            writer.field_struct(2);
            writer.field_string(3, b"Posts");
            writer.stop();
            writer.stop();
        };
        assert_eq!(of_call("get_count", parent), ["Posts"]);
        let first = |writer: &mut Writer<'_>| {
            writer.field_string(1, b"Posts");
            writer.stop();
        };
        assert_eq!(of_call("truncate", first), ["Posts"]);
        assert_eq!(of_call("set_keyspace", first), [""; 0]);
        let batch = |writer: &mut Writer<'_>| {
            writer.field_map(1, TType::String, TType::Map, 1);
            writer.bytes(b"row");
            writer.map_begin(TType::String, TType::List, 2);
            for family in [&b"Posts"[..], b"Tags"] {
                writer.bytes(family);
                writer.list_begin(TType::Struct, 0);
            }
            writer.stop();
        };
        assert_eq!(of_call("batch_mutate", batch), ["Posts", "Tags"]);
    }
}
