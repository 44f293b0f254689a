//! The order of rows in the ring: their tokens, the names of rows in indexes, and the parts of a range.

use bytes::Bytes;

use super::Database;
use base::model::Bounds;
use base::partitioner::{Partitioner, TokenForm};
use base::util::Release;

/// The order of rows that a partitioner defines.
#[derive(Clone, Copy)]
pub struct RingOrder<'a> {
    partitioner: &'a dyn Partitioner,
}

/// A part of the ring: from a token (`true` includes the token itself) to a token, inclusive.
pub struct RingRange {
    pub(super) from: Option<(Vec<u8>, bool)>,
    pub(super) to: Option<Vec<u8>>,
}

impl RingRange {
    /// Returns whether a token, in its stored form, is in the range.
    pub fn has(&self, token: &[u8]) -> bool {
        let is_after = match &self.from {
            None => true,
            Some((from, true)) => token >= &from[..],
            Some((from, false)) => token > &from[..],
        };
        is_after && self.to.as_ref().is_none_or(|to| token <= &to[..])
    }
}

impl Database {
    /// Returns the order of rows.
    pub fn ring_order(&self) -> RingOrder<'_> {
        RingOrder { partitioner: &*self.parts.partitioner }
    }
}

impl RingOrder<'_> {
    /// Returns the token of a row key in its stored form.
    pub fn token(&self, key: &[u8]) -> Vec<u8> {
        let mut token = Vec::new();
        self.partitioner.token(key, &mut token);
        debug_assert!(
            !matches!(self.partitioner.token_form(), TokenForm::Fixed(bytes) if token.len() != bytes),
            "the key would be read from a wrong place of an index entry"
        );
        token
    }

    /// Returns bytes that sort as the rows of these keys do in the ring.
    pub fn position(&self, key: &[u8]) -> Vec<u8> {
        let mut position = self.token(key);
        position.extend_from_slice(key);
        position
    }

    /// Returns the part of a range after one of its rows; `None` if nothing remains.
    pub fn after_key(&self, bounds: &Bounds, key: &Bytes, release: Release) -> Option<Bounds> {
        let token = self.token(key);
        let minimum = self.partitioner.minimum_token(release);
        let end = match bounds {
            Bounds::Keys { end, .. } if end.is_empty() => minimum,
            Bounds::Keys { end, .. } => self.token(end),
            Bounds::KeyToToken { end, .. } => end.clone().unwrap_or(minimum),
            Bounds::Tokens { end, .. } => end.clone(),
        };
        (token != end).then_some(Bounds::Tokens { start: token, end })
    }

    /// Splits a range that wraps around the end of the ring in two.
    pub(super) fn parts(&self, bounds: Bounds, release: Release) -> Vec<Bounds> {
        let minimum = self.partitioner.minimum_token(release);
        match bounds {
            Bounds::Tokens { start, end } if end <= start && end != minimum => {
                vec![Bounds::Tokens { start, end: minimum.clone() }, Bounds::Tokens { start: minimum, end }]
            }
            whole => vec![whole],
        }
    }

    /// Returns the parts of the ring that the bounds cover, in order.
    pub fn ranges(&self, bounds: &Bounds, release: Release) -> Vec<RingRange> {
        let from_key = |start: &Bytes| (!start.is_empty()).then(|| (self.token(start), true));
        match bounds {
            Bounds::Keys { start, end } => {
                vec![RingRange { from: from_key(start), to: (!end.is_empty()).then(|| self.token(end)) }]
            }
            Bounds::KeyToToken { start, end } => {
                vec![RingRange { from: from_key(start), to: end.clone() }]
            }
            Bounds::Tokens { start, end } => {
                let minimum = self.partitioner.minimum_token(release);
                let from = Some((start.clone(), false));
                if *end == minimum {
                    vec![RingRange { from, to: None }]
                } else if start < end {
                    vec![RingRange { from, to: Some(end.clone()) }]
                } else {
                    vec![RingRange { from, to: None }, RingRange { from: None, to: Some(end.clone()) }]
                }
            }
        }
    }

    /// Returns the name of a row's column in an index. These names sort as the rows do in the ring.
    pub(super) fn row_name(&self, key: &[u8]) -> Bytes {
        let mut name = self.token(key);
        match self.partitioner.token_form() {
            TokenForm::IsKey => {}
            TokenForm::Fixed(_) => name.extend_from_slice(key),
            TokenForm::Variable => {
                name = escaped(&name);
                name.extend_from_slice(key);
            }
        }
        name.into()
    }

    /// Returns the position in an index at which the names of the rows with a token begin.
    pub(super) fn row_names_from(&self, token: &[u8]) -> Bytes {
        match self.partitioner.token_form() {
            TokenForm::Variable => escaped(token).into(),
            TokenForm::IsKey | TokenForm::Fixed(_) => Bytes::copy_from_slice(token),
        }
    }

    /// Returns the prefix of the index entries of a partition's cells. Prefixes sort as the partitions do in the
    /// ring, and no prefix is the prefix of another.
    pub(super) fn partition_prefix(&self, key: &[u8]) -> Vec<u8> {
        let mut prefix = self.token(key);
        match self.partitioner.token_form() {
            // The token contains the key.
            TokenForm::IsKey => return escaped(&prefix),
            TokenForm::Fixed(_) => {}
            TokenForm::Variable => prefix = escaped(&prefix),
        }
        prefix.extend(escaped(key));
        prefix
    }

    /// Returns the position in an index after all entries of a partition.
    pub(super) fn after_partition(&self, key: &[u8]) -> Bytes {
        let mut prefix = self.partition_prefix(key);
        // The prefix ends with two zero bytes, and no other prefix has a zero followed by a one at that position.
        debug_assert!(prefix.ends_with(&[0, 0]), "the entries of other rows would be left out");
        prefix.pop();
        prefix.push(1);
        prefix.into()
    }
}

/// Escapes a token so that a longer token sorts after its own prefix, whatever follows the token.
fn escaped(token: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(token.len() + 2);
    for byte in token {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
    out
}
