//! Reads of many rows: ranges, pages and conditions.

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::types;

pub(super) async fn get_range_slices(mut call: Call<'_>) -> Result<()> {
    let parent = types::column_parent(&mut call.args.required(1)?)?;
    let predicate = types::slice_predicate(&mut call.args.required(2)?)?;
    let mut range = types::key_range(&mut call.args.required(3)?)?;
    if !call.behaviour.wire.ranges_have_conditions {
        // Those releases have no conditions here.
        range.row_filter.clear();
    }
    let consistency = call.args.consistency(4, false, call.behaviour)?;
    let keyspace = call.keyspace_to_read(&parent.column_family)?;
    let rows =
        call.request(&keyspace, consistency).ranges().get_range_slices(&parent, &predicate, &range).await?;
    call.write_rows(&rows);
    Ok(())
}

pub(super) async fn get_paged_slice(mut call: Call<'_>) -> Result<()> {
    let family = call.args.bytes(1)?;
    let range = types::key_range(&mut call.args.required(2)?)?;
    let start = call.args.bytes(3)?;
    let consistency = call.args.consistency(4, false, call.behaviour)?;
    let keyspace = call.keyspace_to_read(&family)?;
    let rows = call.request(&keyspace, consistency).ranges().get_paged_slice(&family, &range, start).await?;
    call.write_rows(&rows);
    Ok(())
}

pub(super) async fn get_indexed_slices(mut call: Call<'_>) -> Result<()> {
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
    call.write_rows(&rows);
    Ok(())
}
