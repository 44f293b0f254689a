//! describe_splits and describe_splits_ex.

use super::{INVALID, since};
use crate::thrift::failure::Failure;
use crate::thrift::methods::{Arg, Call, CallFuture, Method, arg};
use base::compat::only;
use base::util::Release;
use base::util::Release::V0_7;
use wire::thrift::TType;

const ARGS: &[Arg] = &[
    arg(1, "cfName", TType::String),
    arg(2, "start_token", TType::String),
    arg(3, "end_token", TType::String),
    arg(4, "keys_per_split", TType::I32),
];

const DESCRIBE_SPLITS: Method =
    Method { needs_login: false, ..since(Release::V0_8, "describe_splits", ARGS, INVALID, describe_splits) };

pub(super) const ROWS: &[Method] = &[
    Method { releases: only(V0_7), throws: &[], ..DESCRIBE_SPLITS },
    DESCRIBE_SPLITS,
    Method {
        needs_login: false,
        ..since(Release::V1_1, "describe_splits_ex", ARGS, INVALID, describe_splits_ex)
    },
];

async fn splits(call: &Call<'_>) -> Result<Vec<String>, Failure> {
    let (family, start, end) = (call.args.bytes(1)?, call.args.bytes(2)?, call.args.bytes(3)?);
    let keyspace = call.keyspace()?;
    call.database.describe(call.behaviour).check_family(&keyspace, &family)?;
    Ok(call.database.describe(call.behaviour).describe_splits(&start, &end, call.args.i32(4)?).await?)
}

fn describe_splits(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let splits = splits(&call).await?;
        call.write_texts(&splits);
        Ok(())
    })
}

fn describe_splits_ex(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let splits = splits(&call).await?;
        let keys_per_split = i64::from(call.args.i32(4)?);
        let mut writer = call.writer();
        writer.field_list(0, TType::Struct, splits.len().saturating_sub(1));
        for ends in splits.windows(2) {
            writer.field_string(1, ends[0].as_bytes());
            writer.field_string(2, ends[1].as_bytes());
            writer.field_i64(3, keys_per_split);
            writer.stop();
        }
        Ok(())
    })
}
