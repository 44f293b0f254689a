//! getStringProperty, getStringListProperty and describeTable of 0.3.

use super::about;
use crate::thrift::methods::{Call, CallFuture, Method, arg};
use wire::thrift::TType;

pub(super) const ROWS: &[Method] = &[
    about("getStringProperty", &[arg(-1, "propertyName", TType::String)], get_string_property),
    about("getStringListProperty", &[arg(-1, "propertyName", TType::String)], get_string_list_property),
    about("describeTable", &[arg(-1, "tableName", TType::String)], describe_table),
];

fn get_string_property(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let property = call.args.bytes(-1)?;
        let value = call.database.describe(call.behaviour).string_property(&property);
        call.writer().field_string(0, value.as_bytes());
        Ok(())
    })
}

fn get_string_list_property(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let is_tables = &call.args.bytes(-1)?[..] == b"tables";
        call.database.stored_schema().refresh_if_possible().await;
        let names = if is_tables { call.database.describe(call.behaviour).table_names() } else { Vec::new() };
        call.write_texts(&names);
        Ok(())
    })
}

fn describe_table(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        call.database.stored_schema().refresh_if_possible().await;
        let text = call.database.describe(call.behaviour).describe_table(&call.args.bytes(-1)?);
        call.writer().field_string(0, text.as_bytes());
        Ok(())
    })
}
