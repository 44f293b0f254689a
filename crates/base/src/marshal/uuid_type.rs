//! UUIDs of any version, ordered by version, then by timestamp, then by bytes.

use std::cmp::Ordering;

use super::stored::compare_stored;
use super::uuid_text::{parse_uuid_text, uuid_to_text};
use super::views::views;
use super::{AbstractType, MarshalError, StoredOrder};
use crate::util::Release;

/// Names that are UUIDs, ordered by version. UUIDs of version 1 are ordered by timestamp next, and all then by their
/// bytes.
#[derive(Debug)]
pub struct UUIDType {
    since: Release,
}

views!(UUIDType, stored as V2_0, changed in V0_3 V2_0);

/// Returns the version, and for version 1 the timestamp, most significant byte first.
fn rank(uuid: &[u8; 16]) -> (u8, [u8; 8]) {
    let version = uuid[6] >> 4;
    let time = if version == 1 {
        [uuid[6] & 0x0F, uuid[7], uuid[4], uuid[5], uuid[0], uuid[1], uuid[2], uuid[3]]
    } else {
        [0; 8]
    };
    (version, time)
}

impl AbstractType for UUIDType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.UUIDType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match value.len() {
            0 | 16 => Ok(()),
            _ if self.since < Release::V2_0 => Err(MarshalError("UUIDs must be exactly 16 bytes".to_owned())),
            length => Err(MarshalError(format!("UUID should be 16 or 0 bytes ({length})"))),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match (<&[u8; 16]>::try_from(left), <&[u8; 16]>::try_from(right)) {
            (Ok(left), Ok(right)) => rank(left).cmp(&rank(right)).then_with(|| left.cmp(right)),
            _ => compare_stored(self, left, right),
        }
    }

    /// Sorts bytes shorter than a UUID first, and ignores bytes after the first 16.
    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        let ranked = |value: &[u8]| value.first_chunk::<16>().map(|uuid| (rank(uuid), *uuid));
        Ok(ranked(left).cmp(&ranked(right)))
    }

    /// Appends the version, the timestamp, and the UUID itself. Bytes of another length sort before all UUIDs.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        match <&[u8; 16]>::try_from(name) {
            Ok(uuid) => {
                let (version, time) = rank(uuid);
                out.push(version + 1);
                out.extend_from_slice(&time);
                out.extend_from_slice(uuid);
            }
            Err(_) if name.is_empty() => {}
            Err(_) => {
                out.push(0);
                out.extend_from_slice(name);
            }
        }
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        match ordered {
            [] => Some(Vec::new()),
            [0, name @ ..] => Some(name.to_vec()),
            _ => ordered.get(9..).map(<[u8]>::to_vec),
        }
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        VIEWS.iter().rfind(|view| view.since <= release).map(|view| view as &dyn AbstractType)
    }

    fn to_text(&self, value: &[u8]) -> String {
        uuid_to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        parse_uuid_text(text)
    }
}
