//! The calls of 0.7 to 2.1, which have no keyspace argument: they use the session's keyspace.

mod counters;
mod cql;
mod cql2;
pub(super) mod describe;
mod ranges;
mod reads;
mod schema;
mod session;
mod splits;
mod writes;

use super::{Arg, CallFuture, DeclaredException, Method, WITH_TIMEOUT, arg};
use crate::thrift::methods::Call;
use base::util::Release;
use base::util::meter::RequestKind;
use wire::thrift::TType;

/// Declares a call that a release introduced and all later ones have.
const fn since(
    first: Release,
    name: &'static str,
    args: &'static [Arg],
    throws: &'static [(i16, DeclaredException)],
    run: for<'a> fn(Call<'a>) -> CallFuture<'a>,
) -> Method {
    Method { name, releases: base::compat::since(first), args, throws, needs_login: true, kind: None, run }
}

/// Declares a call that reads or writes data: it may be refused, find too few replicas or time out.
const fn data(
    kind: RequestKind,
    release: Release,
    name: &'static str,
    args: &'static [Arg],
    run: for<'a> fn(Call<'a>) -> CallFuture<'a>,
) -> Method {
    Method { kind: Some(kind), ..since(release, name, args, WITH_TIMEOUT, run) }
}

const INVALID: &[(i16, DeclaredException)] = &[(1, DeclaredException::InvalidRequest)];

/// The arguments of `insert` and `add`.
const COLUMN_ARGS: &[Arg] = &[
    arg(1, "key", TType::String),
    arg(2, "column_parent", TType::Struct),
    arg(3, "column", TType::Struct),
    consistency(4),
];

/// All rows; if two have the same name, the newer one is last.
pub(super) const ROWS: &[&[Method]] = &[
    session::ROWS,
    reads::ROWS,
    ranges::ROWS,
    writes::ROWS,
    counters::ROWS,
    schema::ROWS,
    describe::ROWS,
    splits::ROWS,
    cql::ROWS,
    cql2::ROWS,
];

/// The last argument of most calls.
const fn consistency(id: i16) -> Arg {
    arg(id, "consistency_level", TType::I32)
}
