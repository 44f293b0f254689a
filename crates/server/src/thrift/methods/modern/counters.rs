//! add and remove_counter.

use super::{COLUMN_ARGS, consistency, data};
use crate::thrift::methods::{Call, CallFuture, Method, arg};
use crate::thrift::types;
use base::util::Release;
use base::util::meter::RequestKind;
use wire::thrift::TType;

pub(super) const ROWS: &[Method] = &[
    data(RequestKind::Write, Release::V0_8, "add", COLUMN_ARGS, add),
    data(
        RequestKind::Write,
        Release::V0_8,
        "remove_counter",
        &[arg(1, "key", TType::String), arg(2, "path", TType::Struct), consistency(3)],
        remove_counter,
    ),
];

fn add(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let key = call.args.bytes(1)?;
        let parent = types::column_parent(&mut call.args.required(2)?)?;
        let column = types::counter_column(&mut call.args.required(3)?)?;
        let consistency = call.args.consistency(4, true, call.behaviour)?;
        let keyspace = call.keyspace_to_write(&parent.column_family)?;
        call.request(&keyspace, consistency).writes().add(key, parent, column).await?;
        Ok(())
    })
}

fn remove_counter(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let key = call.args.bytes(1)?;
        let path = types::column_path(&mut call.args.required(2)?)?;
        let consistency = call.args.consistency(3, true, call.behaviour)?;
        let keyspace = call.keyspace_to_write(&path.column_family)?;
        call.request(&keyspace, consistency).writes().remove_counter(key, path).await?;
        Ok(())
    })
}
