//! The column families that a call names.

use crate::readable::readable;
use base::model::FieldRole;
use cql_syntax::limits::STATEMENT_BYTES_MAX;
use cql_syntax::{Token, TokenKind, tokens_of_any};
use wire::thrift::interface::{Meaning, Method, declarations};
use wire::thrift::{Reader, TType, WireError, query_text};

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
/// If the arguments cannot be read.
pub(crate) fn family_of_arguments(
    method: &[u8],
    reader: &mut Reader<'_>,
    families: &mut FamilyNames,
) -> Result<(), WireError> {
    match method {
        b"execute_cql_query" | b"prepare_cql_query" => return statement(reader, false, families),
        b"execute_cql3_query" | b"prepare_cql3_query" => return statement(reader, true, families),
        _ => {}
    }
    let Some(method) = declaration(method, reader.clone())? else { return Ok(()) };
    while let Some((ttype, id)) = reader.field_begin()? {
        let meaning = method.argument(id).map_or(Meaning::UNKNOWN, Meaning::of_field);
        families_within(meaning, ttype, reader, families)?;
    }
    Ok(())
}

/// Returns the newest method with a name whose arguments have the types of a call.
fn declaration(name: &[u8], mut reader: Reader<'_>) -> Result<Option<&'static Method>, WireError> {
    let mut types = Vec::new();
    while let Some((ttype, id)) = reader.field_begin()? {
        types.push((id, ttype));
        reader.skip(ttype)?;
    }
    let mut methods = declarations(name).iter().copied();
    Ok(methods.rfind(|method| types.iter().all(|(id, ttype)| method.accepts(*id, *ttype))))
}

/// Reads a value, and adds the column families that it names outside of lists.
fn families_within(
    meaning: Meaning,
    ttype: TType,
    reader: &mut Reader<'_>,
    families: &mut FamilyNames,
) -> Result<(), WireError> {
    match (ttype, meaning.role) {
        (TType::String, FieldRole::ColumnFamily) => families.add(reader.raw()?),
        (TType::String, FieldRole::Path) => {
            families.add(reader.raw()?.split(|byte| *byte == b':').next().unwrap_or_default());
        }
        (TType::Struct, _) if meaning.as_struct().is_some() => {
            while let Some((ttype, id)) = reader.field_begin()? {
                let of_field = meaning.field(id).map_or(Meaning::UNKNOWN, Meaning::of_field);
                families_within(of_field, ttype, reader, families)?;
            }
        }
        (TType::Map, FieldRole::Rows | FieldRole::ColumnFamilies) => {
            let (key, value, count) = reader.map_begin()?;
            for _ in 0..count {
                families_within(meaning.key(), key, reader, families)?;
                families_within(meaning.map_value(), value, reader, families)?;
            }
        }
        _ => reader.skip(ttype)?,
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
        && let Ok(text) = query_text(text, compression, STATEMENT_BYTES_MAX)
    {
        families_of_statement(&text, is_cql3, families);
    }
    Ok(())
}

/// Adds the column families in a statement's text: the names after FROM, INTO, UPDATE, TRUNCATE, TABLE and COLUMNFAMILY.
/// Names without quotes are in lower case in CQL 3.
pub(crate) fn families_of_statement(text: &[u8], is_cql3: bool, families: &mut FamilyNames) {
    const WORDS: [&str; 6] = ["FROM", "INTO", "UPDATE", "TRUNCATE", "TABLE", "COLUMNFAMILY"];
    const SKIPPED: [&str; 5] = ["IF", "NOT", "EXISTS", "TABLE", "COLUMNFAMILY"];
    let text = readable(text);
    let is_dot = |token: &Token| token.raw(&text) == ".";
    let words = tokens_of_any(&text).filter(|token| match token.kind {
        TokenKind::Word | TokenKind::QuotedName => true,
        TokenKind::Unknown => token.raw(&text).starts_with('"'),
        _ => is_dot(token),
    });
    let mut words = words.peekable();
    let mut is_next = false;
    while let Some(word) = words.next() {
        let is = |known: &&str| word.kind == TokenKind::Word && word.raw(&text).eq_ignore_ascii_case(known);
        if !is_next || SKIPPED.iter().any(is) || is_dot(&word) {
            is_next = is_next || WORDS.iter().any(is);
            continue;
        }
        is_next = false;
        // The name may follow its keyspace and a dot.
        let mut name = word;
        while words.next_if(is_dot).is_some() {
            name = words.next().unwrap_or(name);
        }
        let value = name.value(&text);
        match name.kind {
            TokenKind::Word if is_cql3 => families.add(value.to_ascii_lowercase().as_bytes()),
            _ => families.add(value.trim_start_matches('"').as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use wire::thrift::{MessageHeader, MessageKind, Writer};

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
