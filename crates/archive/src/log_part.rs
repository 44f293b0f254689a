//! A part of the log: bytes of one segment, the changes of the manifest since the last part, and the moments that can be
//! restored with it.

use embedded::{LogPlace, StorePoint};
use serde::{Deserialize, Serialize};

use crate::object::{self, ObjectKind};
use crate::{ArchiveError, Result};

/// A state that can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// When the store was in this state, in microseconds since 1970. Never less than that of the moment before.
    pub at_us: i64,
    pub point: StorePoint,
}

/// A part of the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LogPart {
    pub header: LogPartHeader,
    /// Bytes of the segment.
    pub log: Vec<u8>,
    /// The manifests after the changes, without tables and log.
    pub manifests: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogPartHeader {
    /// The number of the part in its run, from 1 on. It is also in the part's name.
    pub number: u64,
    /// Where the bytes begin.
    pub begin: LogPlace,
    /// The number of bytes.
    pub bytes: u64,
    /// Where the next part begins.
    pub next: LogPlace,
    /// The states that can be restored with this part and those before.
    pub moments: Vec<Moment>,
    /// The number of the first change of the manifest in this part.
    pub first_change: u64,
    /// The bytes of the manifest after each change.
    pub changes: Vec<u64>,
}

impl LogPart {
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut body = self.log.clone();
        self.manifests.iter().for_each(|manifest| body.extend_from_slice(manifest));
        object::encode(ObjectKind::Log, &self.header, &body)
    }

    pub(crate) fn decode(name: &str, object: &[u8]) -> Result<LogPart> {
        let (header, mut body): (LogPartHeader, _) = object::decode(name, ObjectKind::Log, object)?;
        let manifests = take_pieces(name, &mut body, header.bytes, &header.changes)?;
        Ok(LogPart { header, log: body, manifests })
    }
}

/// Leaves the first `first` bytes of a body, and returns the pieces behind them.
pub(crate) fn take_pieces(
    name: &str,
    body: &mut Vec<u8>,
    first: u64,
    lengths: &[u64],
) -> Result<Vec<Vec<u8>>> {
    let short = || ArchiveError::damaged(name, "its parts do not have the lengths in its header");
    let first = usize::try_from(first).ok().filter(|first| *first <= body.len()).ok_or_else(short)?;
    let rest = body.split_off(first);
    let mut rest = &rest[..];
    let mut pieces = Vec::new();
    for length in lengths {
        let length = usize::try_from(*length).map_err(|_| short())?;
        let (piece, left) = rest.split_at_checked(length).ok_or_else(short)?;
        pieces.push(piece.to_vec());
        rest = left;
    }
    if rest.is_empty() { Ok(pieces) } else { Err(short()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_can_be_read_back_and_wrong_lengths_are_damage() {
        let place = |offset| LogPlace { segment: 7, offset };
        let point = StorePoint { place: place(43), changes: 2 };
        let header = LogPartHeader {
            number: 5,
            begin: place(40),
            bytes: 3,
            next: place(43),
            moments: vec![Moment { at_us: 1, point }],
            first_change: 1,
            changes: vec![2, 0],
        };
        let part = LogPart { header, log: vec![1, 2, 3], manifests: vec![vec![4, 5], Vec::new()] };
        assert_eq!(LogPart::decode("log/5", &part.encode().unwrap()).unwrap(), part);
        for changes in [vec![3], vec![2, 1], vec![1, 0], vec![u64::MAX]] {
            let header = LogPartHeader { changes, ..part.header.clone() };
            let wrong = LogPart { header, log: part.log.clone(), manifests: part.manifests.clone() };
            let error = LogPart::decode("log/5", &wrong.encode().unwrap()).unwrap_err().to_string();
            assert!(error.starts_with("log/5 is damaged: its parts"), "{error}");
        }
    }
}
