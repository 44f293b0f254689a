//! insert and remove of 0.4 to 0.6.

use super::Call;
use crate::thrift::failure::Result;
use crate::thrift::types;
use base::compat::features::ConsistencyLevel;

pub(super) async fn insert(call: Call<'_>) -> Result<()> {
    let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
    let path = types::column_path(&mut call.args.required(3)?)?;
    let (value, timestamp) = (call.args.bytes(4)?, call.args.i64(5)?);
    let consistency = call.args.required_consistency(6, call.behaviour)?;
    call.request(keyspace, consistency).writes().insert(key, path, value, timestamp).await?;
    Ok(())
}

pub(super) async fn remove(call: Call<'_>) -> Result<()> {
    let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
    let path = types::column_path(&mut call.args.required(3)?)?;
    let timestamp = call.args.i64(4)?;
    let consistency = call.args.consistency(5, true, call.behaviour);
    if consistency.is_err() && call.behaviour.wire.removal_level_is_read_last {
        // 0.6 does not require the level, so an invalid one is only reported after all other errors.
        call.request(keyspace, ConsistencyLevel::One).writes().check_removal(&key, &path)?;
    }
    let consistency = consistency?;
    call.request(keyspace, consistency).writes().remove(key, path, timestamp).await?;
    Ok(())
}
