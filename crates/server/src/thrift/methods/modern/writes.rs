//! insert, remove, batches, conditional updates and truncate.

use bytes::Bytes;

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::{results, types};
use base::compat::features::ConsistencyLevel;
use db::{Access, CasOutcome, CasRequest, RowBatch};
use wire::thrift::TType;

pub(super) async fn insert(call: Call<'_>) -> Result<()> {
    let key = call.args.bytes(1)?;
    let parent = types::column_parent(&mut call.args.required(2)?)?;
    let column = types::column(&mut call.args.required(3)?, call.behaviour.release)?;
    let consistency = call.args.consistency(4, true, call.behaviour)?;
    let keyspace = call.keyspace_to_write(&parent.column_family)?;
    call.request(&keyspace, consistency).writes().insert_column(key, parent, column).await?;
    Ok(())
}

/// Reads the arguments of both kinds of batch: the keyspace, the changed rows, and the consistency level. Checks that
/// the user may write all of the column families.
fn batch(call: &Call<'_>) -> Result<(Bytes, Vec<RowBatch>, ConsistencyLevel)> {
    let rows = types::mutation_map(&mut call.args.required(1)?, call.behaviour.release)?;
    let consistency = call.args.consistency(2, true, call.behaviour)?;
    let keyspace = call.keyspace()?;
    for (family, _) in rows.iter().flat_map(|(_, families)| families) {
        call.check(Access::Write { keyspace: &keyspace, family })?;
    }
    let rows = rows.into_iter().map(|(key, families)| RowBatch { key, families }).collect();
    Ok((keyspace, rows, consistency))
}

pub(super) async fn batch_mutate(call: Call<'_>) -> Result<()> {
    let (keyspace, rows, consistency) = batch(&call)?;
    call.request(&keyspace, consistency).writes().batch_mutate(rows).await?;
    Ok(())
}

pub(super) async fn atomic_batch_mutate(call: Call<'_>) -> Result<()> {
    let (keyspace, rows, consistency) = batch(&call)?;
    call.request(&keyspace, consistency).writes().atomic_batch_mutate(rows).await?;
    Ok(())
}

pub(super) async fn remove(call: Call<'_>) -> Result<()> {
    let key = call.args.bytes(1)?;
    let path = types::column_path(&mut call.args.required(2)?)?;
    let timestamp = call.args.i64(3)?;
    let consistency = call.args.consistency(4, true, call.behaviour);
    let keyspace = call.keyspace_to_write(&path.column_family)?;
    if consistency.is_err() {
        // The level has a default in the interface, so an invalid one is only reported after all other errors.
        call.request(&keyspace, ConsistencyLevel::One).writes().check_removal(&key, &path)?;
    }
    let consistency = consistency?;
    call.request(&keyspace, consistency).writes().remove(key, path, timestamp).await?;
    Ok(())
}

pub(super) async fn cas(mut call: Call<'_>) -> Result<()> {
    let columns = |id: i16| call.args.optional(id).map(|mut list| types::columns(&mut list)).transpose();
    let request = CasRequest {
        key: call.args.bytes(1)?,
        column_family: call.args.bytes(2)?,
        expected: columns(3)?.unwrap_or_default(),
        updates: columns(4)?.unwrap_or_default(),
        serial_consistency: call.args.consistency_or(5, 9, call.behaviour)?,
    };
    let consistency = call.args.consistency_or(6, 2, call.behaviour)?;
    let keyspace = call.keyspace_to_write(&request.column_family)?;
    // A refused update returns the current columns, so the user needs read access.
    call.keyspace_to_read(&request.column_family)?;
    let outcome = call.request(&keyspace, consistency).writes().cas(request).await?;
    let mut writer = call.writer();
    writer.field_struct(0);
    match outcome {
        CasOutcome::Applied => writer.field_bool(1, true),
        CasOutcome::Refused(current) => {
            writer.field_bool(1, false);
            writer.field_list(2, TType::Struct, current.len());
            for cell in &current {
                results::write_column(&mut writer, cell);
            }
        }
    }
    writer.stop();
    Ok(())
}

pub(super) async fn truncate(call: Call<'_>) -> Result<()> {
    let family = call.args.bytes(1)?;
    let keyspace = call.keyspace_to_write(&family)?;
    call.database.schema_changes(call.behaviour).truncate(&keyspace, &family).await?;
    Ok(())
}
