//! get_key_range, get_range_slice and get_range_slices of 0.4 to 0.6.

use super::{Call, CallFuture, Method, WITH_TIMEOUT, WITHOUT_TIMEOUT, arg};
use crate::thrift::{results, types};
use base::compat::{Span, only};
use base::util::Release::{V0_4, V0_5, V0_6};
use base::util::meter::RequestKind;
use db::KeyRange;
use wire::thrift::TType;

pub(super) const GET_KEY_RANGE_0_4: Method =
    Method { releases: only(V0_4), throws: WITHOUT_TIMEOUT, ..GET_KEY_RANGE };

pub(super) const GET_KEY_RANGE: Method = Method {
    name: "get_key_range",
    releases: only(V0_5),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "column_family", TType::String),
        arg(3, "start", TType::String),
        arg(4, "finish", TType::String),
        arg(5, "count", TType::I32),
        arg(6, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Range),
    run: get_key_range,
};

fn get_key_range(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, family) = (call.args.raw(1)?, call.args.raw(2)?);
        // These arguments have defaults.
        let bound = |id: i16| call.args.optional(id).map(|mut key| key.bytes()).transpose();
        let (start, finish) = (bound(3)?.unwrap_or_default(), bound(4)?.unwrap_or_default());
        let count = call.args.i32(5)?;
        // The level has no effect but is required.
        let consistency = call.args.required_consistency(6, call.behaviour)?;
        let keys =
            call.request(keyspace, consistency).ranges().get_key_range(family, start, finish, count).await?;
        call.write_texts(&keys);
        Ok(())
    })
}

pub(super) const GET_RANGE_SLICE: Method = Method {
    name: "get_range_slice",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "column_parent", TType::Struct),
        arg(3, "predicate", TType::Struct),
        arg(4, "start_key", TType::String),
        arg(5, "finish_key", TType::String),
        arg(6, "row_count", TType::I32),
        arg(7, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Range),
    run: get_range_slice,
};

fn get_range_slice(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let count = call.args.i32(6)?;
        let range = KeyRange::of_keys(call.args.bytes(4)?, call.args.bytes(5)?, count);
        range_slices(call, range, 7).await
    })
}

pub(super) const GET_RANGE_SLICES: Method = Method {
    name: "get_range_slices",
    releases: only(V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "column_parent", TType::Struct),
        arg(3, "predicate", TType::Struct),
        arg(4, "range", TType::Struct),
        arg(5, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Range),
    run: get_range_slices,
};

fn get_range_slices(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let range = types::key_range(&mut call.args.required(4)?)?;
        range_slices(call, range, 5).await
    })
}

/// Runs get_range_slice or get_range_slices.
async fn range_slices(
    mut call: Call<'_>,
    range: KeyRange,
    consistency_at: i16,
) -> Result<(), crate::thrift::failure::Failure> {
    let keyspace = call.args.raw(1)?;
    let parent = types::column_parent(&mut call.args.required(2)?)?;
    let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
    let consistency = call.args.required_consistency(consistency_at, call.behaviour)?;
    let rows =
        call.request(keyspace, consistency).ranges().get_range_slices(&parent, &predicate, &range).await?;
    let release = call.behaviour.release;
    results::write_rows(&mut call.writer(), &rows, release);
    Ok(())
}
