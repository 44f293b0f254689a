//! Reads of many rows: ranges, pages and conditions.

use super::{consistency, data};
use crate::thrift::methods::{Call, CallFuture, Method, arg};
use crate::thrift::{results, types};
use base::util::Release;
use base::util::meter::RequestKind;
use wire::thrift::TType;

pub(super) const ROWS: &[Method] = &[
    data(
        RequestKind::Range,
        Release::V0_7,
        "get_range_slices",
        &[
            arg(1, "column_parent", TType::Struct),
            arg(2, "predicate", TType::Struct),
            arg(3, "range", TType::Struct),
            consistency(4),
        ],
        get_range_slices,
    ),
    data(
        RequestKind::Range,
        Release::V1_1,
        "get_paged_slice",
        &[
            arg(1, "column_family", TType::String),
            arg(2, "range", TType::Struct),
            arg(3, "start_column", TType::String),
            consistency(4),
        ],
        get_paged_slice,
    ),
    data(
        RequestKind::Range,
        Release::V0_7,
        "get_indexed_slices",
        &[
            arg(1, "column_parent", TType::Struct),
            arg(2, "index_clause", TType::Struct),
            arg(3, "column_predicate", TType::Struct),
            consistency(4),
        ],
        get_indexed_slices,
    ),
];

fn get_range_slices(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let parent = types::column_parent(&mut call.args.required(1)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(2)?)?;
        let mut range = types::key_range(&mut call.args.required(3)?)?;
        if !call.behaviour.wire.ranges_have_conditions {
            // Those releases have no conditions here.
            range.row_filter.clear();
        }
        let consistency = call.args.consistency(4, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&parent.column_family)?;
        let rows = call
            .request(&keyspace, consistency)
            .ranges()
            .get_range_slices(&parent, &predicate, &range)
            .await?;
        let release = call.behaviour.release;
        results::write_rows(&mut call.writer(), &rows, release);
        Ok(())
    })
}

fn get_paged_slice(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let family = call.args.bytes(1)?;
        let range = types::key_range(&mut call.args.required(2)?)?;
        let start = call.args.bytes(3)?;
        let consistency = call.args.consistency(4, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&family)?;
        let rows =
            call.request(&keyspace, consistency).ranges().get_paged_slice(&family, &range, start).await?;
        let release = call.behaviour.release;
        results::write_rows(&mut call.writer(), &rows, release);
        Ok(())
    })
}

fn get_indexed_slices(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let parent = types::column_parent(&mut call.args.required(1)?)?;
        let clause = types::index_clause(&mut call.args.required(2)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
        let consistency = call.args.consistency(4, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&parent.column_family)?;
        let rows = call
            .request(&keyspace, consistency)
            .index_reads()
            .get_indexed_slices(&parent, &clause, &predicate)
            .await?;
        let release = call.behaviour.release;
        results::write_rows(&mut call.writer(), &rows, release);
        Ok(())
    })
}
