//! insert, remove, batches, conditional updates and truncate.

use bytes::Bytes;

use super::{COLUMN_ARGS, consistency, data};
use crate::thrift::failure::Failure;
use crate::thrift::methods::{Arg, Call, CallFuture, Method, WITHOUT_TIMEOUT, arg};
use crate::thrift::{results, types};
use base::compat::Span;
use base::compat::features::ConsistencyLevel;
use base::util::Release;
use base::util::Release::{V0_7, V1_0};
use base::util::meter::RequestKind;
use db::{Access, CasOutcome, CasRequest, RowBatch};
use wire::thrift::TType;

const BATCH_ARGS: &[Arg] = &[arg(1, "mutation_map", TType::Map), consistency(2)];
const TRUNCATE: Method =
    data(RequestKind::Truncate, Release::V1_1, "truncate", &[arg(1, "cfname", TType::String)], truncate);

pub(super) const ROWS: &[Method] = &[
    data(RequestKind::Write, Release::V0_7, "insert", COLUMN_ARGS, insert),
    data(RequestKind::Write, Release::V0_7, "batch_mutate", BATCH_ARGS, batch_mutate),
    data(RequestKind::Write, Release::V1_2, "atomic_batch_mutate", BATCH_ARGS, atomic_batch_mutate),
    data(
        RequestKind::Write,
        Release::V0_7,
        "remove",
        &[
            arg(1, "key", TType::String),
            arg(2, "column_path", TType::Struct),
            arg(3, "timestamp", TType::I64),
            consistency(4),
        ],
        remove,
    ),
    data(
        RequestKind::Write,
        Release::V2_0,
        "cas",
        &[
            arg(1, "key", TType::String),
            arg(2, "column_family", TType::String),
            arg(3, "expected", TType::List),
            arg(4, "updates", TType::List),
            arg(5, "serial_consistency_level", TType::I32),
            arg(6, "commit_consistency_level", TType::I32),
        ],
        cas,
    ),
    // Up to 1.0 a time-out is reported as UnavailableException, because these clients would take it for success.
    Method { releases: Span::between(V0_7, V1_0), throws: WITHOUT_TIMEOUT, ..TRUNCATE },
    TRUNCATE,
];

fn insert(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let key = call.args.bytes(1)?;
        let parent = types::column_parent(&mut call.args.required(2)?)?;
        let column = types::column(&mut call.args.required(3)?, call.behaviour.release)?;
        let consistency = call.args.consistency(4, true, call.behaviour)?;
        let keyspace = call.keyspace_to_write(&parent.column_family)?;
        call.request(&keyspace, consistency).writes().insert_column(key, parent, column).await?;
        Ok(())
    })
}

/// Reads the arguments of both kinds of batch: the keyspace, the changed rows, and the consistency level. Checks that
/// the user may write all of the column families.
fn batch(call: &Call<'_>) -> Result<(Bytes, Vec<RowBatch>, ConsistencyLevel), Failure> {
    let rows = types::mutation_map(&mut call.args.required(1)?, call.behaviour.release)?;
    let consistency = call.args.consistency(2, true, call.behaviour)?;
    let keyspace = call.keyspace()?;
    for (family, _) in rows.iter().flat_map(|(_, families)| families) {
        call.check(Access::Write { keyspace: &keyspace, family })?;
    }
    let rows = rows.into_iter().map(|(key, families)| RowBatch { key, families }).collect();
    Ok((keyspace, rows, consistency))
}

fn batch_mutate(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, rows, consistency) = batch(&call)?;
        call.request(&keyspace, consistency).writes().batch_mutate(rows).await?;
        Ok(())
    })
}

fn atomic_batch_mutate(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, rows, consistency) = batch(&call)?;
        call.request(&keyspace, consistency).writes().atomic_batch_mutate(rows).await?;
        Ok(())
    })
}

fn remove(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
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
    })
}

fn cas(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
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
    })
}

fn truncate(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let family = call.args.bytes(1)?;
        let keyspace = call.keyspace_to_write(&family)?;
        call.database.schema_changes(call.behaviour).truncate(&keyspace, &family).await?;
        Ok(())
    })
}
