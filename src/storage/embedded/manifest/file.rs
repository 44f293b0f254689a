//! The manifest's file: a line with format and checksum, and a document that people can read.
//!
//! ```text
//!   thriftstore manifest, format 1, 1234 bytes, CRC-32 0a1b2c3d
//!   { ... }                                                          as in `document`
//! ```
//!
//! A manifest with a file of changes (`changes_file.rs`) has format 2, so that programs that do not know such files
//! refuse it. Its `"changes"` is the number of that file.

use super::contents::Contents;
use super::document::Document;

/// The beginning of the first line.
const MAGIC: &str = "thriftstore manifest, format 1, ";
/// The beginning of the first line if there is a file of changes.
const MAGIC_WITH_CHANGES: &str = "thriftstore manifest, format 2, ";

/// Encodes the file. `changes` is the number of its file of changes.
pub fn encode(contents: &Contents, changes: Option<u64>) -> Result<Vec<u8>, String> {
    let document = Document::of_all(contents, changes);
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    let sum = crc32fast::hash(text.as_bytes());
    let magic = if changes.is_some() { MAGIC_WITH_CHANGES } else { MAGIC };
    Ok(format!("{magic}{} bytes, CRC-32 {sum:08x}\n{text}", text.len()).into_bytes())
}

/// Decodes the file. Returns its contents and the number of its file of changes. The error says what is wrong with the
/// file.
pub fn decode(bytes: &[u8]) -> Result<(Contents, Option<u64>), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let (line, text) = text.split_once('\n').unwrap_or((text, ""));
    let Some(sums) = line.strip_prefix(MAGIC).or_else(|| line.strip_prefix(MAGIC_WITH_CHANGES)) else {
        return Err(format!(
            "it begins with {:?}, not with {MAGIC:?}",
            line.chars().take(60).collect::<String>()
        ));
    };
    let sum = crc32fast::hash(text.as_bytes());
    let expected = format!("{} bytes, CRC-32 {sum:08x}", text.len());
    if sums != expected {
        return Err(format!("its first line has {sums}, but the rest has {expected}"));
    }
    let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if document.changes.is_some() != line.starts_with(MAGIC_WITH_CHANGES) {
        return Err("its format does not match its \"changes\"".to_owned());
    }
    let (mut contents, changes) = (Contents::default(), document.changes);
    document.apply(&mut contents);
    Ok((contents, changes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::storage::embedded::manifest::{FamilyRecord, LogSpan};

    fn any_family() -> impl Strategy<Value = ((String, String), FamilyRecord)> {
        let record = (any::<u32>(), any::<u32>(), any::<String>(), any::<Option<String>>(), any::<bool>());
        (any::<(String, String)>(), record).prop_map(|(name, (id, generation, text, sub, is_dropped))| {
            let record = FamilyRecord {
                key_order: None,
                id,
                generation,
                type_name: text.clone(),
                comparator: text,
                subcomparator: sub,
                is_dropped,
            };
            (name, record)
        })
    }

    proptest! {
        #[test]
        fn contents_round_trip_and_every_changed_byte_is_found(
            (partitioner, token) in any::<(String, Option<String>)>(),
            log in any::<Option<(u64, u64)>>(),
            families in prop::collection::btree_map(any::<(String, String)>(), any_family(), 0..3),
            tables in prop::collection::btree_map(any::<String>(), any::<Option<i64>>(), 0..3),
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
            prop_assert_eq!(decode(&bytes).unwrap(), (contents, changes));
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn decoding_any_bytes_is_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
