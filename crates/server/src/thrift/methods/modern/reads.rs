//! get, slices and counts.

use bytes::Bytes;

use crate::thrift::failure::{Failure, Result};
use crate::thrift::methods::Call;
use crate::thrift::types;
use base::compat::features::{ConsistencyLevel, consistency_of};
use base::model::RowColumns;
use db::{ColumnParent, SlicePredicate};
use wire::thrift::TType;

pub(super) async fn get(mut call: Call<'_>) -> Result<()> {
    let key = call.args.bytes(1)?;
    let path = types::column_path(&mut call.args.required(2)?)?;
    let consistency = call.args.consistency(3, false, call.behaviour)?;
    let keyspace = call.keyspace_to_read(&path.column_family)?;
    let found = call.request(&keyspace, consistency).reads().get(&key, &path).await?;
    call.write_found(&found);
    Ok(())
}

pub(super) async fn get_slice(mut call: Call<'_>) -> Result<()> {
    let key = call.args.bytes(1)?;
    let parent = types::column_parent(&mut call.args.required(2)?)?;
    let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
    let consistency = call.args.consistency(4, false, call.behaviour)?;
    let keyspace = call.keyspace_to_read(&parent.column_family)?;
    let columns = call.request(&keyspace, consistency).reads().get_slice(&key, &parent, &predicate).await?;
    call.write_row(&columns);
    Ok(())
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
    fn of(call: &Call<'_>) -> Result<MultigetArguments> {
        let keys = types::byte_strings(&mut call.args.required(1)?)?;
        let parent = types::column_parent(&mut call.args.required(2)?)?;
        let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
        let consistency = call.args.consistency(4, false, call.behaviour)?;
        let keyspace = call.keyspace_to_read(&parent.column_family)?;
        Ok(MultigetArguments { keyspace, keys, parent, predicate, consistency })
    }
}

pub(super) async fn multiget_slice(mut call: Call<'_>) -> Result<()> {
    let MultigetArguments { keyspace, keys, parent, predicate, consistency } = MultigetArguments::of(&call)?;
    let request = call.request(&keyspace, consistency);
    let rows = request.reads().multiget_slice_in_parts(keys, &parent, &predicate)?;
    call.write_rows_by_key(rows).await
}

pub(super) async fn get_count(mut call: Call<'_>) -> Result<()> {
    let key = call.args.bytes(1)?;
    let parent = types::column_parent(&mut call.args.required(2)?)?;
    let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
    let consistency = call.args.consistency(4, false, call.behaviour)?;
    let keyspace = call.keyspace_to_read(&parent.column_family)?;
    let count = call.request(&keyspace, consistency).reads().count_slice(&key, &parent, &predicate).await?;
    call.writer().field_i32(0, count);
    Ok(())
}

pub(super) async fn multiget_count(mut call: Call<'_>) -> Result<()> {
    let MultigetArguments { keyspace, keys, parent, predicate, consistency } = MultigetArguments::of(&call)?;
    let counts =
        call.request(&keyspace, consistency).reads().multiget_count(keys, &parent, &predicate).await?;
    let mut writer = call.writer();
    writer.field_map(0, TType::String, TType::I32, counts.len());
    for (key, count) in &counts {
        writer.bytes(key);
        writer.i32(i32::try_from(*count).unwrap_or(i32::MAX));
    }
    Ok(())
}

pub(super) async fn get_multi_slice(mut call: Call<'_>) -> Result<()> {
    let (request, number) = types::multi_slice_request(&mut call.args.required(1)?)?;
    let release = call.behaviour.release;
    let consistency = consistency_of(number, release)
        .ok_or_else(|| Failure::missing("consistency_level", "MultiSliceRequest"))?;
    let keyspace = call.keyspace_to_read(&request.column_parent.column_family)?;
    let cells = call.request(&keyspace, consistency).reads().get_multi_slice(request).await?;
    call.write_row(&RowColumns::Cells(cells));
    Ok(())
}
