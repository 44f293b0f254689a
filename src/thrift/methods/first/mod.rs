//! The calls of 0.3, which name a table, and in one text what in it they mean.
//!
//! A connection of 0.3 looks like any other. Its calls are told from those that later releases gave the same names
//! by the types of their arguments. Texts of refusal are those of its CassandraServer where it had any; where it
//! failed inside, the client is told what is wrong.

mod columns;
mod keys;
mod path;
mod query;
mod supers;
mod tables;
mod window;
mod writes;

use super::{Arg, Call, CallFuture, DeclaredException, Method, arg};
use crate::compat::only;
use crate::thrift::wire::{TType, WireError};
use crate::util::Release::V0_3;
use crate::util::meter::RequestKind;

/// Every row.
pub const ROWS: &[&[Method]] =
    &[columns::ROWS, supers::ROWS, keys::ROWS, writes::ROWS, tables::ROWS, query::ROWS];

const INVALID: &[(i16, DeclaredException)] = &[(1, DeclaredException::InvalidRequest)];
const INVALID_OR_ABSENT: &[(i16, DeclaredException)] =
    &[(1, DeclaredException::InvalidRequest), (2, DeclaredException::NotFound)];

/// A call of data.
const fn data(
    kind: RequestKind,
    name: &'static str,
    args: &'static [Arg],
    throws: &'static [(i16, DeclaredException)],
    run: for<'a> fn(Call<'a>) -> CallFuture<'a>,
) -> Method {
    Method { name, releases: only(V0_3), args, throws, needs_login: true, kind: Some(kind), run }
}

/// A call about the server. Its argument had no id in the interface's file, so that Thrift numbered it downwards.
const fn about(
    name: &'static str,
    args: &'static [Arg],
    run: for<'a> fn(Call<'a>) -> CallFuture<'a>,
) -> Method {
    Method { name, releases: only(V0_3), args, throws: &[], needs_login: false, kind: None, run }
}

const TABLE: Arg = arg(1, "tablename", TType::String);
const KEY: Arg = arg(2, "key", TType::String);

/// A number that may be left out: no argument of 0.3 is required, and numbers have the interface's defaults.
fn i32_or(call: &Call<'_>, id: i16, default: i32) -> Result<i32, WireError> {
    call.args.optional(id).map_or(Ok(default), |mut reader| reader.i32())
}

/// A timestamp; 0 when it is left out.
fn timestamp(call: &Call<'_>, id: i16) -> Result<i64, WireError> {
    call.args.optional(id).map_or(Ok(0), |mut reader| reader.i64())
}
