//! get, slices and counts.

use bytes::Bytes;

use super::{consistency, data};
use crate::thrift::failure::Failure;
use crate::thrift::methods::{Arg, Call, CallFuture, Method, NOT_FOUND_OR_TIMEOUT, arg};
use crate::thrift::{results, types};
use base::compat::features::{ConsistencyLevel, consistency_of};
use base::model::RowColumns;
use base::util::Release;
use base::util::meter::RequestKind;
use db::{ColumnParent, SlicePredicate};
use wire::thrift::TType;

const SLICE_ARGS: &[Arg] = &[
    arg(1, "key", TType::String),
    arg(2, "column_parent", TType::Struct),
    arg(3, "predicate", TType::Struct),
    consistency(4),
];
const MULTI_ARGS: &[Arg] = &[
    arg(1, "keys", TType::List),
    arg(2, "column_parent", TType::Struct),
    arg(3, "predicate", TType::Struct),
    consistency(4),
];

pub(super) const ROWS: &[Method] = &[
    Method {
        throws: NOT_FOUND_OR_TIMEOUT,
        ..data(
            RequestKind::Read,
            Release::V0_7,
            "get",
            &[arg(1, "key", TType::String), arg(2, "column_path", TType::Struct), consistency(3)],
            get,
        )
    },
    data(RequestKind::Read, Release::V0_7, "get_slice", SLICE_ARGS, get_slice),
    data(RequestKind::Read, Release::V0_7, "multiget_slice", MULTI_ARGS, multiget_slice),
    data(RequestKind::Read, Release::V0_7, "get_count", SLICE_ARGS, get_count),
    data(RequestKind::Read, Release::V0_7, "multiget_count", MULTI_ARGS, multiget_count),
    data(
        RequestKind::Read,
        Release::V2_1,
        "get_multi_slice",
        &[arg(1, "request", TType::Struct)],
        get_multi_slice,
    ),
];

fn get(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let key = call.args.bytes(1)?;
        let path = types::column_path(&mut call.args.required(2)?)?;
        let consistency = call.args.consistency(3, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&path.column_family)?;
        let found = call.request(&keyspace, consistency).reads().get(&key, &path).await?;
        let release = call.behaviour.release;
        let mut writer = call.writer();
        writer.field_struct(0);
        results::write_found(&mut writer, Some(&found), release);
        Ok(())
    })
}

fn get_slice(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let key = call.args.bytes(1)?;
        let parent = types::column_parent(&mut call.args.required(2)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
        let consistency = call.args.consistency(4, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&parent.column_family)?;
        let columns =
            call.request(&keyspace, consistency).reads().get_slice(&key, &parent, &predicate).await?;
        let release = call.behaviour.release;
        let mut writer = call.writer();
        writer.field_begin(TType::List, 0);
        results::write_columns(&mut writer, &columns, release);
        Ok(())
    })
}

/// The common arguments of multiget_slice and multiget_count.
struct MultigetArguments {
    keyspace: Bytes,
    keys: Vec<Bytes>,
    parent: ColumnParent,
    predicate: SlicePredicate,
    consistency: ConsistencyLevel,
}

impl MultigetArguments {
    fn of(call: &Call<'_>) -> Result<MultigetArguments, Failure> {
        let keys = types::byte_strings(&mut call.args.required(1)?)?;
        let parent = types::column_parent(&mut call.args.required(2)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
        let consistency = call.args.consistency(4, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&parent.column_family)?;
        Ok(MultigetArguments { keyspace, keys, parent, predicate, consistency })
    }
}

fn multiget_slice(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let MultigetArguments { keyspace, keys, parent, predicate, consistency } =
            MultigetArguments::of(&call)?;
        let request = call.request(&keyspace, consistency);
        let rows = request.reads().multiget_slice_in_parts(keys, &parent, &predicate)?;
        results::write_row_map(call.out, rows, call.behaviour.release).await
    })
}

fn get_count(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let key = call.args.bytes(1)?;
        let parent = types::column_parent(&mut call.args.required(2)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
        let consistency = call.args.consistency(4, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&parent.column_family)?;
        let count =
            call.request(&keyspace, consistency).reads().count_slice(&key, &parent, &predicate).await?;
        call.writer().field_i32(0, count);
        Ok(())
    })
}

fn multiget_count(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let MultigetArguments { keyspace, keys, parent, predicate, consistency } =
            MultigetArguments::of(&call)?;
        let counts =
            call.request(&keyspace, consistency).reads().multiget_count(keys, &parent, &predicate).await?;
        let mut writer = call.writer();
        writer.field_map(0, TType::String, TType::I32, counts.len());
        for (key, count) in &counts {
            writer.bytes(key);
            writer.i32(i32::try_from(*count).unwrap_or(i32::MAX));
        }
        Ok(())
    })
}

fn get_multi_slice(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (request, number) = types::multi_slice_request(&mut call.args.required(1)?)?;
        let release = call.behaviour.release;
        let consistency = consistency_of(number, release)
            .ok_or_else(|| Failure::missing("consistency_level", "MultiSliceRequest"))?;
        let keyspace = call.keyspace_to_read(&request.column_parent.column_family)?;
        let cells = call.request(&keyspace, consistency).reads().get_multi_slice(request).await?;
        let mut writer = call.writer();
        writer.field_begin(TType::List, 0);
        results::write_columns(&mut writer, &RowColumns::Cells(cells), release);
        Ok(())
    })
}
