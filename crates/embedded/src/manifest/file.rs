//! The manifest's file: a line with format and checksum, and a document that people can read.
//!
//! ```text
//!   thriftstore manifest, format 3, 1234 bytes, CRC-32 0a1b2c3d
//!   { ... }                                                          as in `document`
//! ```
//!
//! The checksum covers the beginning of the first line, up to the length, and the document. A manifest with a file of
//! changes (`changes_file.rs`) has the number of that file as `"changes"`.
//!
//! Formats 1 and 2 do not have the identities of tables, which programs that do not know them would not update. Format
//! 2 has a file of changes, with lines of another form. The checksum covers the document alone.

use super::changes_file::LineForm;
use super::contents::Contents;
use super::document::ManifestDocument;

/// The beginning of the first line.
const MAGIC: &str = "thriftstore manifest, format 3, ";
/// The beginning of the first line in format 1.
const MAGIC_1: &str = "thriftstore manifest, format 1, ";
/// The beginning of the first line in format 2.
const MAGIC_2: &str = "thriftstore manifest, format 2, ";

/// The file of changes that a manifest names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NamedChanges {
    pub number: u64,
    pub form: LineForm,
}

/// Encodes the file. `changes` is the number of its file of changes.
pub(super) fn encode(contents: &Contents, changes: Option<u64>) -> Result<Vec<u8>, String> {
    let document = ManifestDocument::of_all(contents, changes);
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    let bytes = format!("{MAGIC}{}\n{text}", sums_of(MAGIC, &text)).into_bytes();
    debug_assert!(
        decode(&bytes)
            .is_ok_and(|(read, named)| read == *contents && named.map(|named| named.number) == changes),
        "a start would read another manifest than the one that was written"
    );
    Ok(bytes)
}

/// Returns the rest of the first line: length and checksum of the document.
fn sums_of(magic: &str, text: &str) -> String {
    let mut sum = crc32fast::Hasher::new();
    if magic == MAGIC {
        sum.update(magic.as_bytes());
    }
    sum.update(text.as_bytes());
    format!("{} bytes, CRC-32 {:08x}", text.len(), sum.finalize())
}

/// Decodes the file. Returns its contents and its file of changes. The error says what is wrong with the file.
pub(super) fn decode(bytes: &[u8]) -> Result<(Contents, Option<NamedChanges>), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let (line, text) = text.split_once('\n').unwrap_or((text, ""));
    let known = [MAGIC, MAGIC_1, MAGIC_2].into_iter();
    let Some((magic, sums)) = known.filter_map(|magic| Some((magic, line.strip_prefix(magic)?))).next()
    else {
        return Err(format!(
            "it begins with {:?}, not with {MAGIC:?}",
            line.chars().take(60).collect::<String>()
        ));
    };
    let expected = sums_of(magic, text);
    if sums != expected {
        return Err(format!("its first line has {sums}, but the rest has {expected}"));
    }
    let document: ManifestDocument = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if magic != MAGIC && document.changes.is_some() != (magic == MAGIC_2) {
        return Err("its format does not match its \"changes\"".to_owned());
    }
    let form = if magic == MAGIC { LineForm::Sectors } else { LineForm::Unpadded };
    let changes = document.changes.map(|number| NamedChanges { number, form });
    let mut contents = Contents::default();
    document.apply(&mut contents);
    Ok((contents, changes))
}

#[cfg(test)]
mod tests {
    use base::schema::FamilyName;
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::{FamilyRecord, LogSpan, TreeIdentity, TreeRecord};

    fn any_family() -> impl Strategy<Value = (FamilyName, FamilyRecord)> {
        let record = (any::<u32>(), any::<u32>(), any::<String>(), any::<Option<String>>(), any::<bool>());
        (any::<(String, String)>(), record).prop_map(
            |((keyspace, name), (id, generation, text, sub, is_dropped))| {
                let record = FamilyRecord {
                    key_order: None,
                    id,
                    generation,
                    type_name: text.clone(),
                    comparator: text,
                    subcomparator: sub,
                    is_dropped,
                };
                (FamilyName { keyspace, name }, record)
            },
        )
    }

    fn any_tree() -> impl Strategy<Value = TreeRecord> {
        let identity = any::<Option<(u64, u64, u64)>>();
        (any::<Option<i64>>(), identity).prop_map(|(newest, identity)| {
            let identity =
                identity.map(|(list, list_sum, tables_sum)| TreeIdentity { list, list_sum, tables_sum });
            TreeRecord { newest, identity }
        })
    }

    proptest! {
        #[test]
        fn contents_round_trip_and_every_changed_byte_is_found(
            (partitioner, token) in any::<(String, Option<String>)>(),
            log in any::<Option<(u64, u64)>>(),
            families in prop::collection::btree_map(any::<(String, String)>(), any_family(), 0..3),
            tables in prop::collection::btree_map(any::<String>(), any_tree(), 0..3),
            records in prop::collection::btree_map(any::<String>(), prop::collection::vec(any::<u8>(), 0..9), 0..3),
            (changes, at, mask) in (any::<Option<u64>>(), any::<prop::sample::Index>(), 1u8..),
        ) {
            let contents = Contents {
                partitioner,
                token,
                log: log.map(|(first, last)| LogSpan { first, last }),
                families: families.into_values().collect(),
                tables: tables.into_iter().collect(),
                records: records.into_iter().map(|(name, value)| (name, value.into())).collect(),
            };
            let mut bytes = encode(&contents, changes).unwrap();
            let named = changes.map(|number| NamedChanges { number, form: LineForm::Sectors });
            prop_assert_eq!(decode(&bytes).unwrap(), (contents, named));
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn the_record_of_a_tree_in_format_1_is_a_timestamp(newest in any::<Option<i64>>()) {
            let newest_text = newest.map_or("null".to_owned(), |newest| newest.to_string());
            let text = format!(r#"{{"partitioner": "P", "log": null, "tables": {{"1.1": {newest_text}}}}}"#);
            let bytes = format!("{MAGIC_1}{}\n{text}", sums_of(MAGIC_1, &text));
            let (contents, changes) = decode(bytes.as_bytes()).unwrap();
            prop_assert_eq!((contents.tables["1.1"], changes), (TreeRecord { newest, identity: None }, None));
        }

        #[test]
        fn decoding_any_bytes_is_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
