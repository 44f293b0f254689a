//! get_key_range of 0.3.

use super::{INVALID, TABLE, data, i32_or};
use crate::thrift::methods::{Call, CallFuture, Method, arg};
use base::compat::features::ConsistencyLevel;
use base::util::meter::RequestKind;
use wire::thrift::TType;

pub(super) const ROWS: &[Method] = &[data(
    RequestKind::Range,
    "get_key_range",
    &[
        TABLE,
        arg(2, "startWith", TType::String),
        arg(3, "stopAt", TType::String),
        arg(4, "maxResults", TType::I32),
    ],
    INVALID,
    get_key_range,
)];

fn get_key_range(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let table = call.args.bytes(1)?;
        let bound = |id: i16| call.args.optional(id).map(|mut reader| reader.bytes()).transpose();
        let (start, finish) = (bound(2)?.unwrap_or_default(), bound(3)?.unwrap_or_default());
        let count = i32_or(&call, 4, 1000)?;
        let keys =
            call.request(&table, ConsistencyLevel::One).ranges().get_table_keys(start, finish, count).await?;
        call.write_texts(&keys);
        Ok(())
    })
}
