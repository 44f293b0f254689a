//! `TimeUUIDType` as the type of a component of composite and reversed names.

use std::cmp::Ordering;

use super::stored::compare_stored;
use super::time_uuid_type::{TIME_BYTES, TimeUUIDType, time};
use super::{AbstractType, MarshalError, StoredOrder};
use crate::util::Release;

/// `TimeUUIDType` with the stored order of 0.7 and later. Composite and reversed types came with 0.8, so a component
/// needs no older order. UUIDs of the same time are ordered by their bytes, compared as signed numbers.
///
/// ```text
/// stored   | time 8 | byte 6, with the version | clock and node 8 |   sign bits after the time are flipped
/// ```
#[derive(Debug)]
pub(super) struct TimeUUIDComponent {
    texts: TimeUUIDType,
}

static VIEWS: [TimeUUIDComponent; 2] =
    [TimeUUIDComponent::with_texts_of(Release::V0_7), TimeUUIDComponent::with_texts_of(Release::V2_0)];

impl TimeUUIDComponent {
    pub(super) const fn with_texts_of(release: Release) -> TimeUUIDComponent {
        TimeUUIDComponent { texts: TimeUUIDType::of_release(release) }
    }
}

/// Length of the stored form of a valid name.
const STORED_BYTES: usize = TIME_BYTES + 9;

impl AbstractType for TimeUUIDComponent {
    fn class_name(&self) -> &str {
        self.texts.class_name()
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        self.texts.validate(value)
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if left.len() == 16 && right.len() == 16 {
            self.texts.compare(left, right)
        } else {
            compare_stored(self, left, right)
        }
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        self.texts.compare_unchecked(left, right)
    }

    /// Names of an invalid length are stored unchanged. A zero byte after the longer ones ensures that none of them has
    /// the length of a valid name's stored form.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        let Ok(uuid) = <[u8; 16]>::try_from(name) else {
            out.extend_from_slice(name);
            if name.len() >= STORED_BYTES {
                out.push(0);
            }
            return;
        };
        out.extend_from_slice(&time(uuid).to_be_bytes());
        out.push(uuid[6] ^ 0x80);
        out.extend(uuid[8..].iter().map(|byte| byte ^ 0x80));
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        let Ok(stored) = <[u8; STORED_BYTES]>::try_from(ordered) else {
            let mut name = ordered.to_vec();
            if name.len() > STORED_BYTES {
                name.pop();
            }
            return Some(name);
        };
        let [_, h1, m0, m1, l0, l1, l2, l3, with_version, rest @ ..] = stored;
        let head = [l0, l1, l2, l3, m0, m1, with_version ^ 0x80, h1];
        Some(head.into_iter().chain(rest.map(|byte| byte ^ 0x80)).collect())
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        let view = if release < Release::V2_0 { &VIEWS[0] } else { &VIEWS[1] };
        Some(view)
    }

    fn to_text(&self, value: &[u8]) -> String {
        self.texts.to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        self.texts.parse_text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::stored::stored_form;

    #[test]
    fn uuids_of_a_time_are_stored_by_signed_bytes() {
        let kind = TimeUUIDComponent::with_texts_of(Release::V2_0);
        let uuid = |text: &str| kind.parse_text(text).unwrap();
        let names = [
            Vec::new(),
            uuid("00000001-0000-1000-8000-000000000080"),
            uuid("00000001-0000-1000-8000-000000000000"),
            uuid("00000001-0000-1000-0000-000000000080"),
            uuid("00000001-0000-1000-0000-00000000007f"),
            uuid("00000002-0000-1000-8000-000000000000"),
        ];
        assert!(names.is_sorted_by(|left, right| kind.compare(left, right).is_lt()));
        assert!(names.is_sorted_by(|left, right| stored_form(&kind, left) < stored_form(&kind, right)));
        for name in names {
            assert_eq!(kind.restore(&stored_form(&kind, &name)), Some(name));
        }
    }
}
