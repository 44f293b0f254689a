//! The table of CQL's scalar functions: name, argument types, return type and implementation of each.
//!
//! `function` creates the functions that take or return any type: `token`, `fromJson`, `toJson`, CAST, and the
//! conversions to and from blobs.

use bytes::Bytes;

use super::function::ResolvedFunction;
use super::{cast, moment, time_uuid};
use crate::json::to_json;
use crate::{Result, TypesOf};
use base::marshal::{CqlType, Native};
use db::Database;

/// Evaluates a call. Most functions return null for a null argument.
pub(super) type Run = fn(&EvaluatedCall<'_>) -> Result<Option<Bytes>>;

/// A function of native types. Rows with the same name take arguments of different types.
pub(super) struct FunctionRow {
    /// In lower case.
    pub name: &'static str,
    pub arguments: &'static [Native],
    pub returns: Native,
    pub run: Run,
}

/// A call of a function, with the values of its arguments.
pub(super) struct EvaluatedCall<'a> {
    pub function: &'a ResolvedFunction,
    pub args: &'a [Option<Bytes>],
    pub database: &'a Database,
    pub types: TypesOf<'a>,
}

impl EvaluatedCall<'_> {
    /// Returns the first argument. `None` is null.
    pub(super) fn value(&self) -> Option<&[u8]> {
        self.args.first()?.as_deref()
    }

    fn timestamp(&self) -> Option<i64> {
        self.value()?.try_into().ok().map(i64::from_be_bytes)
    }

    fn now_ms(&self) -> i64 {
        self.database.next_micros() / 1000
    }

    /// Returns the native types of the first argument and of the result.
    fn natives(&self) -> Option<(Native, Native)> {
        match (self.function.arguments().first()?, self.function.return_type()) {
            (CqlType::Native(from), CqlType::Native(to)) => Some((*from, *to)),
            _ => None,
        }
    }
}

const fn row(name: &'static str, arguments: &'static [Native], returns: Native, run: Run) -> FunctionRow {
    FunctionRow { name, arguments, returns, run }
}

/// All functions of native types. The release that introduced a function is in `compat::features::language`.
pub(super) static FUNCTIONS: &[FunctionRow] = &[
    row("now", &[], Native::Timeuuid, now),
    row("uuid", &[], Native::Uuid, |_| Ok(Some(of_uuid(*uuid::Uuid::new_v4().as_bytes())))),
    row("mintimeuuid", &[Native::Timestamp], Native::Timeuuid, |call| {
        Ok(call.timestamp().map(|ms| of_uuid(time_uuid::min_of_ms(ms))))
    }),
    row("maxtimeuuid", &[Native::Timestamp], Native::Timeuuid, |call| {
        Ok(call.timestamp().map(|ms| of_uuid(time_uuid::max_of_ms(ms))))
    }),
    row("dateof", &[Native::Timeuuid], Native::Timestamp, in_time),
    row("unixtimestampof", &[Native::Timeuuid], Native::Bigint, in_time),
    row("todate", &[Native::Timeuuid], Native::Date, in_time),
    row("todate", &[Native::Timestamp], Native::Date, in_time),
    row("totimestamp", &[Native::Timeuuid], Native::Timestamp, in_time),
    row("totimestamp", &[Native::Date], Native::Timestamp, in_time),
    row("tounixtimestamp", &[Native::Timeuuid], Native::Bigint, in_time),
    row("tounixtimestamp", &[Native::Timestamp], Native::Bigint, in_time),
    row("tounixtimestamp", &[Native::Date], Native::Bigint, in_time),
    row("currenttimeuuid", &[], Native::Timeuuid, now),
    row("currenttimestamp", &[], Native::Timestamp, |call| {
        Ok(moment::of_ms(call.now_ms(), Native::Timestamp))
    }),
    row("currentdate", &[], Native::Date, |call| Ok(moment::of_ms(call.now_ms(), Native::Date))),
    row("currenttime", &[], Native::Time, |call| Ok(Some(moment::time_of_ms(call.now_ms())))),
];

fn of_uuid(uuid: [u8; 16]) -> Bytes {
    Bytes::copy_from_slice(&uuid)
}

fn now(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    Ok(Some(of_uuid(time_uuid::append_uuid(call.database))))
}

/// Converts between two types of points in time.
fn in_time(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    let (Some((from, to)), Some(value)) = (call.natives(), call.value()) else { return Ok(None) };
    Ok(moment::ms_of(from, value).and_then(|ms| moment::of_ms(ms, to)))
}

/// CAST.
pub(super) fn cast_value(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    let (Some((from, to)), Some(value)) = (call.natives(), call.value()) else { return Ok(None) };
    Ok(cast::cast(from, to, value, call.types))
}

/// `toJson`.
pub(super) fn to_json_text(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    let value = call.args.first().and_then(Option::as_ref);
    let of = call.function.arguments().first();
    Ok(of.map(|of| Bytes::from(to_json(of, value, call.types))))
}

/// `intAsBlob` and the like.
pub(super) fn as_blob(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    Ok(call.args.first().cloned().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::compat::features::Language;
    use base::util::Release;

    /// The functions of 1.2 in this table.
    const OF_1_2: [&str; 5] = ["now", "mintimeuuid", "maxtimeuuid", "dateof", "unixtimestampof"];

    #[test]
    fn each_function_after_1_2_has_its_release_and_is_documented() {
        let document = include_str!("../../../../docs/cql.md").to_ascii_lowercase();
        let language = Language::Of(Release::V1_2);
        for FunctionRow { name, .. } in FUNCTIONS {
            let is_new = language.lacks_function(name);
            assert_ne!(OF_1_2.contains(name), is_new, "in which release did {name} come?");
            let is_of_2_1 = !Language::Of(Release::V2_1).lacks_function(name);
            assert!(is_of_2_1 || document.contains(&format!("`{name}")), "docs/cql.md has no {name}");
        }
    }

    /// Two servers return different values of these functions. `crates/traffic/src/compare` accepts them by their types:
    /// points in time, dates, times of day, and version 4 UUIDs. A result of another type needs a kind in
    /// `compare/made_value.rs` and a rule in `compare/native.rs`.
    #[test]
    fn recordings_are_compared_by_rules_for_values_that_the_server_makes() {
        let accepted = [Native::Timeuuid, Native::Uuid, Native::Timestamp, Native::Date, Native::Time];
        for row in FUNCTIONS.iter().filter(|row| row.arguments.is_empty()) {
            let is_random = row.returns == Native::Uuid;
            assert!(accepted.contains(&row.returns), "a replay reports {} as a difference", row.name);
            let is_known = row.name == "now" || row.name.starts_with("current");
            assert!(
                is_known || is_random && row.name.ends_with("uuid"),
                "{}: see ServerMade in compare/context.rs",
                row.name
            );
        }
    }

    #[test]
    fn overloads_of_a_function_differ_only_in_their_arguments() {
        for (at, row) in FUNCTIONS.iter().enumerate() {
            assert_eq!(row.name, row.name.to_ascii_lowercase());
            for other in FUNCTIONS[..at].iter().filter(|other| other.name == row.name) {
                assert_ne!(row.arguments, other.arguments, "{}", row.name);
                assert_eq!(row.returns, other.returns, "{}", row.name);
            }
        }
    }
}
