//! get, multiget, get_slice, multiget_slice and get_count of 0.4 to 0.6.

use super::{Call, CallFuture, Method, NOT_FOUND_OR_TIMEOUT, WITH_TIMEOUT, WITHOUT_TIMEOUT, arg};
use crate::thrift::args::Arg;
use crate::thrift::failure::DeclaredException;
use crate::thrift::{results, types};
use base::compat::{Span, only};
use base::util::Release::{V0_4, V0_5, V0_6};
use base::util::meter::RequestKind;
use wire::thrift::TType;

const PATH_ARGS: &[Arg] = &[
    arg(1, "keyspace", TType::String),
    arg(2, "key", TType::String),
    arg(3, "column_path", TType::Struct),
    arg(4, "consistency_level", TType::I32),
];

/// The first of two rows of `get`: 0.4 has no exception for time-outs.
pub(super) const GET_0_4: Method = Method {
    releases: only(V0_4),
    throws: &[
        (1, DeclaredException::InvalidRequest),
        (2, DeclaredException::NotFound),
        (3, DeclaredException::Unavailable),
    ],
    ..GET
};

pub(super) const GET: Method = Method {
    name: "get",
    releases: Span::between(V0_5, V0_6),
    args: PATH_ARGS,
    throws: NOT_FOUND_OR_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Read),
    run: get,
};

fn get(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
        let path = types::column_path(&mut call.args.required(3)?)?;
        let consistency = call.args.required_consistency(4, call.behaviour)?;
        let found = call.request(keyspace, consistency).reads().get(&key, &path).await?;
        let release = call.behaviour.release;
        let mut writer = call.writer();
        writer.field_struct(0);
        results::write_found(&mut writer, Some(&found), release);
        Ok(())
    })
}

pub(super) const MULTIGET_0_4: Method = Method { releases: only(V0_4), throws: WITHOUT_TIMEOUT, ..MULTIGET };

pub(super) const MULTIGET: Method = Method {
    name: "multiget",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "keys", TType::List),
        arg(3, "column_path", TType::Struct),
        arg(4, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Read),
    run: multiget,
};

fn multiget(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let keyspace = call.args.raw(1)?;
        let keys = types::byte_strings(&mut call.args.required(2)?)?;
        let path = types::column_path(&mut call.args.required(3)?)?;
        let consistency = call.args.required_consistency(4, call.behaviour)?;
        let rows = call.request(keyspace, consistency).reads().multiget(keys, &path).await?;
        let release = call.behaviour.release;
        let mut writer = call.writer();
        writer.field_map(0, TType::String, TType::Struct, rows.len());
        for (key, found) in &rows {
            writer.bytes(key);
            results::write_found(&mut writer, found.as_ref(), release);
        }
        Ok(())
    })
}

/// 0.4 returns the UnavailableException of get_slice, unlike all other calls, in field 3.
pub(super) const GET_SLICE_0_4: Method = Method {
    releases: only(V0_4),
    throws: &[(1, DeclaredException::InvalidRequest), (3, DeclaredException::Unavailable)],
    ..GET_SLICE
};

pub(super) const GET_SLICE: Method = Method {
    name: "get_slice",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "key", TType::String),
        arg(3, "column_parent", TType::Struct),
        arg(4, "predicate", TType::Struct),
        arg(5, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Read),
    run: get_slice,
};

fn get_slice(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
        let parent = types::column_parent(&mut call.args.required(3)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(4)?)?;
        let consistency = call.args.required_consistency(5, call.behaviour)?;
        let columns =
            call.request(keyspace, consistency).reads().get_slice(&key, &parent, &predicate).await?;
        let release = call.behaviour.release;
        let mut writer = call.writer();
        writer.field_begin(TType::List, 0);
        results::write_columns(&mut writer, &columns, release);
        Ok(())
    })
}

pub(super) const MULTIGET_SLICE_0_4: Method =
    Method { releases: only(V0_4), throws: WITHOUT_TIMEOUT, ..MULTIGET_SLICE };

pub(super) const MULTIGET_SLICE: Method = Method {
    name: "multiget_slice",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "keys", TType::List),
        arg(3, "column_parent", TType::Struct),
        arg(4, "predicate", TType::Struct),
        arg(5, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Read),
    run: multiget_slice,
};

fn multiget_slice(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let keyspace = call.args.raw(1)?;
        let keys = types::byte_strings(&mut call.args.required(2)?)?;
        let parent = types::column_parent(&mut call.args.required(3)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(4)?)?;
        let consistency = call.args.required_consistency(5, call.behaviour)?;
        let request = call.request(keyspace, consistency);
        let rows = request.reads().multiget_slice_in_parts(keys, &parent, &predicate)?;
        results::write_row_map(call.out, rows, call.behaviour.release).await
    })
}

pub(super) const GET_COUNT_0_4: Method =
    Method { releases: only(V0_4), throws: WITHOUT_TIMEOUT, ..GET_COUNT };

pub(super) const GET_COUNT: Method = Method {
    name: "get_count",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "key", TType::String),
        arg(3, "column_parent", TType::Struct),
        arg(4, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Read),
    run: get_count,
};

fn get_count(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
        let parent = types::column_parent(&mut call.args.required(3)?)?;
        let consistency = call.args.required_consistency(4, call.behaviour)?;
        let count = call.request(keyspace, consistency).reads().get_count(&key, &parent).await?;
        call.writer().field_i32(0, i32::try_from(count).unwrap_or(i32::MAX));
        Ok(())
    })
}
