//! Points in time as texts of CQL 2: `now`, milliseconds, and dates, for types of dates and of UUIDs.
//!
//! CQL 2 takes such a text for a UUID in every release; CQL 3 does not (CASSANDRA-4936).

use bytes::Bytes;

use crate::values::{append_uuid, uuid_of_ms};
use crate::{CqlError, QueryState, Result};
use base::compat::texts;
use base::marshal::{AbstractType, PACKAGE, is_date_of, parse_date};

/// Length of a UUID as text.
const UUID_CHARS: usize = 36;

/// Returns the bytes of a text that is a point in time for a type; an error if the type accepts no other texts. `None`: the
/// type parses the text itself.
pub(super) fn parse(text: &str, of: &dyn AbstractType, state: &QueryState<'_>) -> Option<Result<Bytes>> {
    if text.is_empty() {
        return None;
    }
    let is_now = text.eq_ignore_ascii_case("now");
    let class = of.class_name();
    match class.strip_prefix(PACKAGE).unwrap_or(class) {
        "DateType" | "TimestampType" => is_now.then(|| {
            let ms = state.database.next_micros() / 1000;
            Ok(Bytes::copy_from_slice(&ms.to_be_bytes()))
        }),
        name @ ("TimeUUIDType" | "UUIDType") => {
            if has_form_of_uuid(text) {
                return None;
            }
            let release = state.behaviour.release;
            let uuid = if is_now {
                Some(append_uuid(state.database))
            } else {
                parse_date(text).filter(|_| is_date_of(text, release)).map(uuid_of_ms)
            };
            let uuid = uuid.map(|uuid| Bytes::copy_from_slice(&uuid));
            Some(uuid.ok_or_else(|| not_a_time(text, name == "TimeUUIDType", state)))
        }
        _ => None,
    }
}

/// Returns whether a text has the length of a UUID, and hyphens where a UUID has them.
fn has_form_of_uuid(text: &str) -> bool {
    text.len() == UUID_CHARS
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn not_a_time(text: &str, is_time_uuid: bool, state: &QueryState<'_>) -> CqlError {
    let are_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    CqlError::invalid(match (is_time_uuid, are_digits) {
        (true, true) => texts::too_many_ms_of_time_uuid(state.behaviour, text),
        (true, false) => texts::not_time_of_time_uuid(state.behaviour, text),
        (false, true) => format!("unable to make version 1 UUID from '{text}'"),
        (false, false) => texts::not_time_of_uuid(state.behaviour, text),
    })
}
