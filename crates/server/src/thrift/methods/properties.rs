//! get_string_property and get_string_list_property of 0.4 to 0.6.

use super::Call;
use crate::thrift::failure::Result;

pub(super) async fn get_string_property(mut call: Call<'_>) -> Result<()> {
    let property = call.args.bytes(1)?;
    let value = call.database.describe(call.behaviour).string_property(&property);
    call.writer().field_string(0, value.as_bytes());
    Ok(())
}

pub(super) async fn get_string_list_property(mut call: Call<'_>) -> Result<()> {
    let is_keyspaces = &call.args.bytes(1)?[..] == b"keyspaces";
    call.database.stored_schema().refresh_if_possible().await;
    let names =
        if is_keyspaces { call.database.describe(call.behaviour).keyspace_names() } else { Vec::new() };
    call.write_texts(&names);
    Ok(())
}
