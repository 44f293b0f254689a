//! describe_splits and describe_splits_ex.

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use wire::thrift::TType;

async fn splits(call: &Call<'_>) -> Result<Vec<String>> {
    let (family, start, end) = (call.args.bytes(1)?, call.args.bytes(2)?, call.args.bytes(3)?);
    let keyspace = call.keyspace()?;
    call.database.describe(call.behaviour).check_family(&keyspace, &family)?;
    Ok(call.database.describe(call.behaviour).describe_splits(&start, &end, call.args.i32(4)?).await?)
}

pub(super) async fn describe_splits(mut call: Call<'_>) -> Result<()> {
    let splits = splits(&call).await?;
    call.write_texts(&splits);
    Ok(())
}

pub(super) async fn describe_splits_ex(mut call: Call<'_>) -> Result<()> {
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
}
