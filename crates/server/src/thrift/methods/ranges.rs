//! get_key_range, get_range_slice and get_range_slices of 0.4 to 0.6.

use super::Call;
use crate::thrift::failure::Result;
use crate::thrift::types;
use db::KeyRange;

pub(super) async fn get_key_range(mut call: Call<'_>) -> Result<()> {
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
}

pub(super) async fn get_range_slice(call: Call<'_>) -> Result<()> {
    let count = call.args.i32(6)?;
    let range = KeyRange::of_keys(call.args.bytes(4)?, call.args.bytes(5)?, count);
    range_slices(call, range, 7).await
}

pub(super) async fn get_range_slices(call: Call<'_>) -> Result<()> {
    let range = types::key_range(&mut call.args.required(4)?)?;
    range_slices(call, range, 5).await
}

/// Runs get_range_slice or get_range_slices.
async fn range_slices(mut call: Call<'_>, range: KeyRange, consistency_at: i16) -> Result<()> {
    let keyspace = call.args.raw(1)?;
    let parent = types::column_parent(&mut call.args.required(2)?)?;
    let predicate = types::slice_predicate(&mut call.args.required(3)?)?;
    let consistency = call.args.required_consistency(consistency_at, call.behaviour)?;
    let rows =
        call.request(keyspace, consistency).ranges().get_range_slices(&parent, &predicate, &range).await?;
    call.write_rows(&rows);
    Ok(())
}
