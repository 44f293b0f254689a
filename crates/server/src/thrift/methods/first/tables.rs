//! getStringProperty, getStringListProperty and describeTable of 0.3.

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;

pub(super) async fn get_string_property(mut call: Call<'_>) -> Result<()> {
    let property = call.args.bytes(-1)?;
    let value = call.database.describe(call.behaviour).string_property(&property);
    call.writer().field_string(0, value.as_bytes());
    Ok(())
}

pub(super) async fn get_string_list_property(mut call: Call<'_>) -> Result<()> {
    let is_tables = &call.args.bytes(-1)?[..] == b"tables";
    call.database.stored_schema().refresh_if_possible().await;
    let names = if is_tables { call.database.describe(call.behaviour).table_names() } else { Vec::new() };
    call.write_texts(&names);
    Ok(())
}

pub(super) async fn describe_table(mut call: Call<'_>) -> Result<()> {
    call.database.stored_schema().refresh_if_possible().await;
    let text = call.database.describe(call.behaviour).describe_table(&call.args.bytes(-1)?);
    call.writer().field_string(0, text.as_bytes());
    Ok(())
}
