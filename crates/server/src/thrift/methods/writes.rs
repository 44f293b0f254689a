//! insert and remove of 0.4 to 0.6.

use super::{Call, CallFuture, Method, WITH_TIMEOUT, WITHOUT_TIMEOUT, arg};
use crate::thrift::types;
use base::compat::features::ConsistencyLevel;
use base::compat::{Span, only};
use base::util::Release::{V0_4, V0_5, V0_6};
use base::util::meter::RequestKind;
use wire::thrift::TType;

pub(super) const INSERT_0_4: Method = Method { releases: only(V0_4), throws: WITHOUT_TIMEOUT, ..INSERT };

pub(super) const INSERT: Method = Method {
    name: "insert",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "key", TType::String),
        arg(3, "column_path", TType::Struct),
        arg(4, "value", TType::String),
        arg(5, "timestamp", TType::I64),
        arg(6, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Write),
    run: insert,
};

fn insert(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let (keyspace, key) = (call.args.raw(1)?, call.args.bytes(2)?);
        let path = types::column_path(&mut call.args.required(3)?)?;
        let (value, timestamp) = (call.args.bytes(4)?, call.args.i64(5)?);
        let consistency = call.args.required_consistency(6, call.behaviour)?;
        call.request(keyspace, consistency).writes().insert(key, path, value, timestamp).await?;
        Ok(())
    })
}

pub(super) const REMOVE_0_4: Method = Method { releases: only(V0_4), throws: WITHOUT_TIMEOUT, ..REMOVE };

pub(super) const REMOVE: Method = Method {
    name: "remove",
    releases: Span::between(V0_5, V0_6),
    args: &[
        arg(1, "keyspace", TType::String),
        arg(2, "key", TType::String),
        arg(3, "column_path", TType::Struct),
        arg(4, "timestamp", TType::I64),
        arg(5, "consistency_level", TType::I32),
    ],
    throws: WITH_TIMEOUT,
    needs_login: true,
    kind: Some(RequestKind::Write),
    run: remove,
};

fn remove(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
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
    })
}
