//! The calls of 0.3, which have a table argument and a text that names the column family and columns.
//!
//! Connections of 0.3 look like any other. Its calls are distinguished from later calls with the same names by the
//! types of their arguments. Error messages come from its CassandraServer if it had any; where it failed with an
//! internal error, the client receives a description of the error.

mod columns;
mod keys;
mod path;
mod query;
mod supers;
mod tables;
mod window;
mod writes;

use super::{Arg, Call, CallFuture, DeclaredException, Method, arg};
use base::compat::only;
use base::util::Release::V0_3;
use base::util::meter::RequestKind;
use wire::thrift::{TType, WireError};

/// All rows of 0.3.
pub(super) const ROWS: &[&[Method]] =
    &[columns::ROWS, supers::ROWS, keys::ROWS, writes::ROWS, tables::ROWS, query::ROWS];

const INVALID: &[(i16, DeclaredException)] = &[(1, DeclaredException::InvalidRequest)];
const INVALID_OR_ABSENT: &[(i16, DeclaredException)] =
    &[(1, DeclaredException::InvalidRequest), (2, DeclaredException::NotFound)];

/// Declares a call that reads or writes data.
const fn data(
    kind: RequestKind,
    name: &'static str,
    args: &'static [Arg],
    throws: &'static [(i16, DeclaredException)],
    run: for<'a> fn(Call<'a>) -> CallFuture<'a>,
) -> Method {
    Method { name, releases: only(V0_3), args, throws, needs_login: true, kind: Some(kind), run }
}

/// Declares a call about the server. Its argument has no id in the interface file, so Thrift assigned a negative one.
const fn about(
    name: &'static str,
    args: &'static [Arg],
    run: for<'a> fn(Call<'a>) -> CallFuture<'a>,
) -> Method {
    Method { name, releases: only(V0_3), args, throws: &[], needs_login: false, kind: None, run }
}

const TABLE: Arg = arg(1, "tablename", TType::String);
const KEY: Arg = arg(2, "key", TType::String);

/// Returns an optional number: no argument of 0.3 is required, and numbers have the defaults of the interface.
fn i32_or(call: &Call<'_>, id: i16, default: i32) -> Result<i32, WireError> {
    call.args.optional(id).map_or(Ok(default), |mut reader| reader.i32())
}

/// Returns a timestamp; 0 if it is absent.
fn timestamp(call: &Call<'_>, id: i16) -> Result<i64, WireError> {
    call.args.optional(id).map_or(Ok(0), |mut reader| reader.i64())
}
