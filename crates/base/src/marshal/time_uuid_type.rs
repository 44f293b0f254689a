//! Version 1 UUIDs, ordered by their timestamps.

use std::cmp::Ordering;
use std::sync::Arc;

use super::stored::stored_form;
use super::time_uuid_component::TimeUUIDComponent;
use super::unchecked::{compare_times, empty_first};
use super::uuid_text::{parse_uuid_text, uuid_to_text};
use super::views::views;
use super::{AbstractType, MarshalError, StoredOrder, TypeRef};
use crate::util::Release;

/// Length of the time, which begins the stored form.
pub(super) const TIME_BYTES: usize = 8;

/// Length of the stored form of a valid name: the time, then the UUID.
const STORED_BYTES: usize = TIME_BYTES + 16;

/// Names that are version 1 UUIDs, in the order of their 60-bit timestamps. Releases differ in how they compare two
/// UUIDs of the same time:
///
/// ```text
/// 0.4, 0.5        they are the same name
/// 0.6             ordered by all 16 bytes, unsigned
/// 0.7 and later   ordered by all 16 bytes, signed: 80..ff before 00..7f
/// ```
///
/// The stored form, `time | all 16 bytes`, has the order of 0.6. For the other releases, names of the same time are
/// sorted again in memory.
#[derive(Debug)]
pub struct TimeUUIDType {
    since: Release,
}

views!(TimeUUIDType, stored as V0_6, changed in V0_3 V0_6 V0_7 V2_0);

impl TimeUUIDType {
    /// Returns the view of the type in the releases from this one to the next entry of `VIEWS`.
    pub(super) const fn of_release(since: Release) -> TimeUUIDType {
        TimeUUIDType { since }
    }
}

/// Returns the timestamp of a UUID in units of 100 ns. The UUID has the parts of the timestamp in the opposite order.
/// The version, 4 bits, is not part of it.
///
/// ```text
/// UUID  | low 4 | mid 2 | version and high 2 | clock and node 8 |
/// time  | high 2, without the version | mid 2 | low 4 |
/// ```
pub(super) fn time(uuid: [u8; 16]) -> u64 {
    let [l0, l1, l2, l3, m0, m1, h0, h1, ..] = uuid;
    u64::from_be_bytes([h0 & 0x0f, h1, m0, m1, l0, l1, l2, l3])
}

/// Compares bytes as Java does: as signed numbers.
fn compare_signed(left: &[u8], right: &[u8]) -> Ordering {
    let signed = |byte: &u8| *byte as i8;
    left.iter().map(signed).cmp(right.iter().map(signed))
}

impl TimeUUIDType {
    /// Compares two names of the same time.
    fn compare_ties(&self, left: &[u8], right: &[u8]) -> Ordering {
        match self.since {
            since if since < Release::V0_6 => Ordering::Equal,
            since if since < Release::V0_7 => left.cmp(right),
            _ => compare_signed(left, right),
        }
    }

    /// Compares two names of which at least one is not 16 bytes long: by the first bytes of their stored forms, then as
    /// names of the same time.
    fn compare_invalid(&self, left: &[u8], right: &[u8]) -> Ordering {
        let (left, right) = (stored_form(self, left), stored_form(self, right));
        let heads = left.iter().take(TIME_BYTES).cmp(right.iter().take(TIME_BYTES));
        heads.then_with(|| self.compare_ties(&left, &right))
    }

    /// Returns the message of the release for a name whose length is neither 16 nor 0.
    fn length_error(&self, length: usize) -> String {
        match self.since {
            since if since < Release::V0_7 => "UUIDs must be exactly 16 bytes".to_owned(),
            since if since < Release::V2_0 => format!("TimeUUID should be 16 or 0 bytes ({length})"),
            _ => format!("UUID should be 16 or 0 bytes ({length})"),
        }
    }

    fn version_error(&self) -> &'static str {
        if self.since < Release::V0_7 {
            "TimeUUID only makes sense with version 1 UUIDs"
        } else {
            "Invalid version for TimeUUID type."
        }
    }
}

impl AbstractType for TimeUUIDType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.TimeUUIDType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match <[u8; 16]>::try_from(value) {
            Ok(uuid) if uuid[6] >> 4 == 1 => Ok(()),
            Ok(_) => Err(MarshalError(self.version_error().to_owned())),
            Err(_) if value.is_empty() => Ok(()),
            Err(_) => Err(MarshalError(self.length_error(value.len()))),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match (<[u8; 16]>::try_from(left), <[u8; 16]>::try_from(right)) {
            (Ok(l), Ok(r)) => time(l).cmp(&time(r)).then_with(|| self.compare_ties(&l, &r)),
            _ => self.compare_invalid(left, right),
        }
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        if let Some(order) = empty_first(left, right) {
            return Ok(order);
        }
        let order = compare_times(left, right)
            .ok_or_else(|| MarshalError(self.length_error(left.len().min(right.len()))))?;
        Ok(order.then_with(|| self.compare_ties(left, right)))
    }

    /// Names of an invalid length are stored unchanged. A zero byte after the longer ones ensures that none of them has
    /// the length of a valid name's stored form.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        if let Ok(uuid) = <[u8; 16]>::try_from(name) {
            out.extend_from_slice(&time(uuid).to_be_bytes());
        }
        out.extend_from_slice(name);
        if name.len() >= STORED_BYTES {
            out.push(0);
        }
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        let name = match ordered.len() {
            STORED_BYTES => ordered.get(TIME_BYTES..)?,
            longer if longer > STORED_BYTES => ordered.get(..longer - 1)?,
            _ => ordered,
        };
        Some(name.to_vec())
    }

    fn stored_order(&self) -> StoredOrder {
        if self.since == Release::V0_6 { StoredOrder::Exact } else { StoredOrder::WithinPrefix(TIME_BYTES) }
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        VIEWS.iter().rfind(|view| view.since <= release).map(|view| view as &dyn AbstractType)
    }

    fn as_component(&self) -> Option<TypeRef> {
        Some(Arc::new(TimeUUIDComponent::with_texts_of(Release::V2_0)))
    }

    fn to_text(&self, value: &[u8]) -> String {
        uuid_to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        let name = parse_uuid_text(text)?;
        self.validate(&name)
            .map_err(|_| MarshalError("TimeUUID supports only version 1 UUIDs".to_owned()))?;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::at;

    fn view(release: Release) -> &'static dyn AbstractType {
        static TYPE: TimeUUIDType = TimeUUIDType { since: Release::V0_6 };
        at(&TYPE, release)
    }

    fn uuid(text: &str) -> Vec<u8> {
        TimeUUIDType::default().parse_text(text).unwrap()
    }

    #[test]
    fn an_invalid_name_is_refused_in_the_words_of_the_release() {
        let version_4 = uuid_bytes("00000000-0000-4000-8000-000000000005");
        let texts = |release| {
            let text = |name: &[u8]| view(release).validate(name).unwrap_err().to_string();
            (text(b"x"), text(&version_4))
        };
        let old = ("UUIDs must be exactly 16 bytes", "TimeUUID only makes sense with version 1 UUIDs");
        let new = ("TimeUUID should be 16 or 0 bytes (1)", "Invalid version for TimeUUID type.");
        let newest = ("UUID should be 16 or 0 bytes (1)", "Invalid version for TimeUUID type.");
        for release in Release::ALL {
            let (length, version) = match release {
                release if release < Release::V0_7 => old,
                release if release < Release::V2_0 => new,
                _ => newest,
            };
            assert_eq!(texts(release), (length.to_owned(), version.to_owned()), "{release}");
            assert_eq!(view(release).validate(b""), Ok(()));
        }
    }

    fn uuid_bytes(text: &str) -> Vec<u8> {
        parse_uuid_text(text).unwrap()
    }

    #[test]
    fn names_sort_by_the_high_part_of_the_time_first() {
        let names = [
            Vec::new(),
            uuid("00000000-0000-1000-8000-000000000000"),
            uuid("ffffffff-0000-1000-8000-000000000000"),
            uuid("00000000-ffff-1000-8000-000000000000"),
            uuid("00000000-0000-1001-8000-000000000000"),
            uuid("00000000-0000-1fff-8000-000000000000"),
        ];
        for release in Release::ALL {
            let view = view(release);
            assert!(names.is_sorted_by(|left, right| view.compare(left, right).is_lt()), "{release}");
        }
        assert!(names.is_sorted_by(|left, right| {
            stored_form(&TimeUUIDType::default(), left) < stored_form(&TimeUUIDType::default(), right)
        }));
    }

    #[test]
    fn names_of_the_same_time_compare_as_in_the_release() {
        let node = |byte: &str| uuid(&format!("d3010000-4644-11ea-8000-{byte}0000000001"));
        let [low, high] = [node("7f"), node("80")];
        assert_eq!(view(Release::V0_4).compare(&low, &high), Ordering::Equal);
        assert_eq!(view(Release::V0_5).compare(&low, &high), Ordering::Equal);
        assert_eq!(view(Release::V0_6).compare(&low, &high), Ordering::Less);
        assert_eq!(view(Release::V0_7).compare(&low, &high), Ordering::Greater);
        assert_eq!(view(Release::V2_1).compare(&low, &high), Ordering::Greater);
    }

    #[test]
    fn the_stored_order_is_exact_only_for_0_6() {
        assert_eq!(TimeUUIDType::default().stored_order(), StoredOrder::Exact);
        assert_eq!(view(Release::V0_6).stored_order(), StoredOrder::Exact);
        assert_eq!(view(Release::V0_5).stored_order(), StoredOrder::WithinPrefix(8));
        assert_eq!(view(Release::V0_7).stored_order(), StoredOrder::WithinPrefix(8));
    }

    #[test]
    fn names_of_any_length_are_restored() {
        let time_uuid = TimeUUIDType::default();
        for length in 0..40 {
            let name = vec![0x11; length];
            let mut stored = Vec::new();
            time_uuid.ordered(&name, &mut stored);
            assert_eq!(time_uuid.restore(&stored), Some(name));
        }
    }

    #[test]
    fn text_of_other_versions_than_1_is_refused() {
        let time_uuid = TimeUUIDType::default();
        let error = time_uuid.parse_text("00000000-0000-4000-8000-000000000005").unwrap_err();
        assert_eq!(error.to_string(), "TimeUUID supports only version 1 UUIDs");
        assert_eq!(time_uuid.parse_text("now").unwrap_err().to_string(), "unable to make UUID from 'now'");
    }
}
