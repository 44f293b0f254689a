//! get_string_property and get_string_list_property of 0.4 to 0.6.

use super::{Call, CallFuture, Method, arg};
use base::compat::Span;
use base::util::Release::{V0_4, V0_6};
use wire::thrift::TType;

pub(super) const GET_STRING_PROPERTY: Method = Method {
    name: "get_string_property",
    releases: Span::between(V0_4, V0_6),
    args: &[arg(1, "property", TType::String)],
    throws: &[],
    needs_login: false,
    kind: None,
    run: get_string_property,
};

fn get_string_property(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let property = call.args.bytes(1)?;
        let value = call.database.describe(call.behaviour).string_property(&property);
        call.writer().field_string(0, value.as_bytes());
        Ok(())
    })
}

pub(super) const GET_STRING_LIST_PROPERTY: Method =
    Method { name: "get_string_list_property", run: get_string_list_property, ..GET_STRING_PROPERTY };

fn get_string_list_property(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let is_keyspaces = &call.args.bytes(1)?[..] == b"keyspaces";
        call.database.stored_schema().refresh_if_possible().await;
        let names =
            if is_keyspaces { call.database.describe(call.behaviour).keyspace_names() } else { Vec::new() };
        call.write_texts(&names);
        Ok(())
    })
}
