//! The describe calls except describe_splits and describe_splits_ex.

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::methods::describe::{write_old_keyspace, write_old_names};
use crate::thrift::schema_types;
use base::compat::Behaviour;
use wire::thrift::TType;

pub(super) async fn describe_snitch(mut call: Call<'_>) -> Result<()> {
    call.writer().field_string(0, b"org.apache.cassandra.locator.SimpleSnitch");
    Ok(())
}

pub(super) async fn describe_token_map(mut call: Call<'_>) -> Result<()> {
    let (token, endpoint) = call.database.describe(call.behaviour).token_and_endpoint();
    let mut writer = call.writer();
    writer.field_map(0, TType::String, TType::String, 1);
    writer.bytes(token.as_bytes());
    writer.bytes(endpoint.as_bytes());
    Ok(())
}

pub(super) async fn describe_schema_versions(mut call: Call<'_>) -> Result<()> {
    call.database.stored_schema().refresh_if_possible().await;
    let (_, endpoint) = call.database.token_and_endpoint();
    let version = call.database.describe(call.behaviour).schema_version();
    let mut writer = call.writer();
    writer.field_map(0, TType::String, TType::List, 1);
    writer.bytes(version.as_bytes());
    writer.list_begin(TType::String, 1);
    writer.bytes(endpoint.as_bytes());
    Ok(())
}

/// A client whose calls so far do not show its release may be a 0.6 client: the reply contains both results, and the
/// client uses the one whose type it knows.
pub(super) async fn describe_keyspaces(mut call: Call<'_>) -> Result<()> {
    call.database.stored_schema().refresh_if_possible().await;
    if call.session.is_of_either() {
        write_old_names(&mut call);
    }
    write_keyspaces(&mut call);
    Ok(())
}

/// Writes every keyspace as a KsDef, in the form of the release for 0.7 and later.
pub(crate) fn write_keyspaces(call: &mut Call<'_>) {
    let release = call.compat.after_set_keyspace;
    let keyspaces = call.database.describe(Behaviour::of(release)).keyspaces();
    let mut writer = call.writer();
    writer.field_list(0, TType::Struct, keyspaces.len());
    for keyspace in &keyspaces {
        schema_types::write_keyspace(&mut writer, keyspace, release);
    }
}

pub(super) async fn describe_keyspace(mut call: Call<'_>) -> Result<()> {
    let name = call.args.bytes(1)?;
    call.database.stored_schema().refresh_if_possible().await;
    if call.session.is_of_either() {
        match write_old_keyspace(&mut call, &name) {
            // 0.6 does not have every keyspace that later releases show.
            Ok(()) | Err(db::Error::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    write_keyspace(&mut call, &name)?;
    Ok(())
}

/// Writes one keyspace as a KsDef, in the form of the release for 0.7 and later.
pub(crate) fn write_keyspace(call: &mut Call<'_>, name: &[u8]) -> Result<(), db::Error> {
    let release = call.compat.after_set_keyspace;
    let keyspace =
        call.database.describe(Behaviour::of(release)).keyspace(name).ok_or(db::Error::NotFound)?;
    let mut writer = call.writer();
    writer.field_struct(0);
    schema_types::write_keyspace(&mut writer, &keyspace, release);
    Ok(())
}
