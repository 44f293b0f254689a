//! get, multiget, get_slice, multiget_slice and get_count of 0.4 to 0.6.

use super::Call;
use crate::thrift::failure::Result;
use crate::thrift::{results, types};
use wire::thrift::TType;

pub(super) async fn get(mut call: Call<'_>) -> Result<()> {
    let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
    let path = types::column_path(&mut call.args.required(3)?)?;
    let consistency = call.args.required_consistency(4, call.behaviour)?;
    let found = call.request(keyspace, consistency).reads().get(&key, &path).await?;
    call.write_found(&found);
    Ok(())
}

pub(super) async fn multiget(mut call: Call<'_>) -> Result<()> {
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
}

pub(super) async fn get_slice(mut call: Call<'_>) -> Result<()> {
    let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
    let parent = types::column_parent(&mut call.args.required(3)?)?;
    let predicate = types::slice_predicate(&mut call.args.required(4)?)?;
    let consistency = call.args.required_consistency(5, call.behaviour)?;
    let columns = call.request(keyspace, consistency).reads().get_slice(&key, &parent, &predicate).await?;
    call.write_row(&columns);
    Ok(())
}

pub(super) async fn multiget_slice(mut call: Call<'_>) -> Result<()> {
    let keyspace = call.args.raw(1)?;
    let keys = types::byte_strings(&mut call.args.required(2)?)?;
    let parent = types::column_parent(&mut call.args.required(3)?)?;
    let predicate = types::slice_predicate(&mut call.args.required(4)?)?;
    let consistency = call.args.required_consistency(5, call.behaviour)?;
    let request = call.request(keyspace, consistency);
    let rows = request.reads().multiget_slice_in_parts(keys, &parent, &predicate)?;
    call.write_rows_by_key(rows).await
}

pub(super) async fn get_count(mut call: Call<'_>) -> Result<()> {
    let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
    let parent = types::column_parent(&mut call.args.required(3)?)?;
    let consistency = call.args.required_consistency(4, call.behaviour)?;
    let count = call.request(keyspace, consistency).reads().get_count(&key, &parent).await?;
    call.write_count(count);
    Ok(())
}
