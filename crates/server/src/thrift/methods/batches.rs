//! batch_insert and batch_mutate of 0.4 to 0.6.

use super::{Call, CallFuture, Method, WITH_TIMEOUT, WITHOUT_TIMEOUT, arg};
use crate::thrift::types;
use base::compat::{Span, only};
use base::util::Release::{V0_4, V0_5, V0_6};
use base::util::meter::RequestKind;
use db::RowBatch;
use wire::thrift::TType;

pub(super) const BATCH_INSERT_0_4: Method =
    Method { releases: only(V0_4), throws: WITHOUT_TIMEOUT, ..BATCH_INSERT };

pub(super) const BATCH_INSERT: Method = Method {
    name: "batch_insert",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "key", TType::String),
        arg(3, "cfmap", TType::Map),
        arg(4, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Write),
    run: batch_insert,
};

fn batch_insert(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
        let families = types::insert_map(&mut call.args.required(3)?, call.behaviour.release)?;
        let consistency = call.args.required_consistency(4, call.behaviour)?;
        call.request(keyspace, consistency).writes().batch_insert(key, families).await?;
        Ok(())
    })
}

pub(super) const BATCH_MUTATE: Method = Method {
    name: "batch_mutate",
    releases: only(V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "mutation_map", TType::Map),
        arg(3, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Write),
    run: batch_mutate,
};

fn batch_mutate(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let keyspace = call.args.raw(1)?;
        let rows = types::mutation_map(&mut call.args.required(2)?, call.behaviour.release)?;
        let rows = rows.into_iter().map(|(key, families)| RowBatch { key, families }).collect();
        let consistency = call.args.required_consistency(3, call.behaviour)?;
        call.request(keyspace, consistency).writes().batch_mutate(rows).await?;
        Ok(())
    })
}
