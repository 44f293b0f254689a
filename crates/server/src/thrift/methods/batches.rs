//! batch_insert and batch_mutate of 0.4 to 0.6.

use super::Call;
use crate::thrift::failure::Result;
use crate::thrift::types;
use db::RowBatch;

pub(super) async fn batch_insert(call: Call<'_>) -> Result<()> {
    let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
    let families = types::insert_map(&mut call.args.required(3)?, call.behaviour.release)?;
    let consistency = call.args.required_consistency(4, call.behaviour)?;
    call.request(keyspace, consistency).writes().batch_insert(key, families).await?;
    Ok(())
}

pub(super) async fn batch_mutate(call: Call<'_>) -> Result<()> {
    let keyspace = call.args.raw(1)?;
    let rows = types::mutation_map(&mut call.args.required(2)?, call.behaviour.release)?;
    let rows = rows.into_iter().map(|(key, families)| RowBatch { key, families }).collect();
    let consistency = call.args.required_consistency(3, call.behaviour)?;
    call.request(keyspace, consistency).writes().batch_mutate(rows).await?;
    Ok(())
}
