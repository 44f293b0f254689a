//! Row keys as files store them, and the order of rows.

use bytes::Bytes;

use super::error::SstableError;
use super::format::KeyForm;
use super::input::Input;
use base::partitioner::{Partitioner, PartitionerRef, RandomPartitioner};

/// Reads row keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyReader {
    form: KeyForm,
}

impl KeyReader {
    /// Returns the reader of keys in a form.
    pub(crate) fn new(form: KeyForm) -> KeyReader {
        KeyReader { form }
    }

    /// Reads a key.
    pub(crate) fn read(self, input: &mut Input) -> Result<Bytes, SstableError> {
        let stored = input.short_bytes()?;
        match self.form {
            KeyForm::Bytes => Ok(stored),
            KeyForm::TokenAndBytes => Ok(without_token(stored)),
            KeyForm::TokenAndText => match utf8_of_modified(&stored) {
                Some(text) => Ok(without_token(text)),
                None => Err(input.damaged("a row key that is not text")),
            },
        }
    }
}

/// Removes the token of a RandomPartitioner and its colon from the front of a key. Keys of other partitioners have none,
/// and no key begins with its own MD5 by chance.
fn without_token(stored: Bytes) -> Bytes {
    let Some(colon) = stored.iter().position(|byte| *byte == b':') else { return stored };
    let own = stored.slice(colon + 1..);
    let mut token = Vec::new();
    RandomPartitioner.token(&own, &mut token);
    let token = RandomPartitioner.token_text(&token);
    if token.len() == colon && stored.starts_with(token.as_bytes()) { own } else { stored }
}

/// Converts Java's modified UTF-8 to UTF-8: the former writes a zero as two bytes, and characters above U+FFFF as two
/// surrogates. `None` if the bytes are neither.
fn utf8_of_modified(bytes: &[u8]) -> Option<Bytes> {
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    let more = |rest: &mut std::slice::Iter<'_, u8>| {
        rest.next().filter(|byte| **byte & 0xC0 == 0x80).map(|byte| u16::from(*byte & 0x3F))
    };
    while let Some(first) = rest.next() {
        let first = u16::from(*first);
        units.push(match first {
            0..=0x7F => first,
            0xC0..=0xDF => (first & 0x1F) << 6 | more(&mut rest)?,
            0xE0..=0xEF => {
                let second = more(&mut rest)?;
                (first & 0x0F) << 12 | second << 6 | more(&mut rest)?
            }
            _ => return None,
        });
    }
    // A lone surrogate becomes a question mark, as in Java's own UTF-8.
    let text: String = char::decode_utf16(units).map(|unit| unit.unwrap_or('?')).collect();
    Some(Bytes::from(text))
}

/// Checks that rows come in the order of a partitioner.
#[derive(Debug)]
pub(super) struct KeyOrderCheck {
    partitioner: Option<PartitionerRef>,
    last: Option<(Vec<u8>, Bytes)>,
}

impl KeyOrderCheck {
    /// Returns a check; without a partitioner it accepts all orders.
    pub(crate) fn new(partitioner: Option<PartitionerRef>) -> KeyOrderCheck {
        // The collation of this server differs from the collation of the Java that sorted the keys.
        let partitioner =
            partitioner.filter(|known| !known.class_name().ends_with("CollatingOrderPreservingPartitioner"));
        KeyOrderCheck { partitioner, last: None }
    }

    /// Takes the next key. Returns what is wrong if it does not come after the one before.
    pub(crate) fn take(&mut self, row_key: &Bytes) -> Result<(), String> {
        let Some(partitioner) = &self.partitioner else { return Ok(()) };
        let mut token = Vec::new();
        partitioner.token(row_key, &mut token);
        let next = (token, row_key.clone());
        let is_after = self.last.as_ref().is_none_or(|last| *last < next);
        self.last = Some(next);
        if is_after {
            return Ok(());
        }
        Err(format!("the row is not after the one before it in the order of {}", partitioner.class_name()))
    }

    /// Forgets the last key, when rows are read from another place.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read(form: KeyForm, stored: &[u8]) -> Result<Bytes, SstableError> {
        let mut content = u16::try_from(stored.len()).unwrap().to_be_bytes().to_vec();
        content.extend(stored);
        KeyReader::new(form).read(&mut Input::of_memory(Path::new("memory"), content))
    }

    #[test]
    fn tokens_are_removed_and_texts_decoded() {
        let mut token = Vec::new();
        RandomPartitioner.token("a:\u{0}é😀".as_bytes(), &mut token);
        let mut stored = format!("{}:a:", RandomPartitioner.token_text(&token)).into_bytes();
        stored.extend(b"\xC0\x80\xC3\xA9\xED\xA0\xBD\xED\xB8\x80");
        assert_eq!(read(KeyForm::TokenAndText, &stored).unwrap(), "a:\u{0}é😀".as_bytes());
        assert_eq!(read(KeyForm::TokenAndText, b"12:a").unwrap(), b"12:a"[..]);
        assert_eq!(read(KeyForm::Bytes, &stored).unwrap(), stored);
        assert_eq!(read(KeyForm::TokenAndText, b"\xED\xA0\xBDa").unwrap(), b"?a"[..]);
        for wrong in [&b"\xFF"[..], b"\xC3", b"\xE0\x80", b"\x80"] {
            read(KeyForm::TokenAndText, wrong).expect_err("no text");
        }
    }

    #[test]
    fn rows_out_of_order_are_found() {
        let mut order = KeyOrderCheck::new(base::partitioner::resolve("ByteOrderedPartitioner"));
        order.take(&Bytes::from_static(b"a")).unwrap();
        order.take(&Bytes::from_static(b"b")).unwrap();
        order.take(&Bytes::from_static(b"b")).expect_err("twice");
        order.take(&Bytes::from_static(b"a")).expect_err("back");
        order.forget();
        order.take(&Bytes::from_static(b"a")).unwrap();
        KeyOrderCheck::new(None).take(&Bytes::new()).unwrap();
    }
}
