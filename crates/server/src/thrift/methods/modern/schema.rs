//! The system_ calls, which change the schema. Each returns the version of the new schema.
//!
//! Permissions are checked on the keyspace that changes. Cassandra up to 1.1, and 1.2 to 2.1 for a new column family,
//! checks the session's keyspace instead, and then changes the one in the definition.

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::schema_types;
use db::Access;

fn write_version(mut call: Call<'_>) {
    let version = call.database.describe(call.behaviour).schema_version();
    call.writer().field_string(0, version.as_bytes());
}

pub(super) async fn add_keyspace(call: Call<'_>) -> Result<()> {
    let request = schema_types::keyspace(&mut call.args.required(1)?)?;
    call.check(Access::AddKeyspace)?;
    let user = call.session.user.as_ref();
    call.database.schema_changes(call.behaviour).by(user).add_keyspace(request).await?;
    write_version(call);
    Ok(())
}

pub(super) async fn update_keyspace(call: Call<'_>) -> Result<()> {
    let request = schema_types::keyspace(&mut call.args.required(1)?)?;
    call.check(Access::UpdateKeyspace { keyspace: request.name.as_bytes() })?;
    call.database.schema_changes(call.behaviour).update_keyspace(request).await?;
    write_version(call);
    Ok(())
}

pub(super) async fn drop_keyspace(call: Call<'_>) -> Result<()> {
    let keyspace = call.args.bytes(1)?;
    call.check(Access::DropKeyspace { keyspace: &keyspace })?;
    let keyspace = String::from_utf8_lossy(&keyspace);
    call.database.schema_changes(call.behaviour).drop_keyspace(&keyspace).await?;
    write_version(call);
    Ok(())
}

pub(super) async fn add_column_family(call: Call<'_>) -> Result<()> {
    let request = schema_types::column_family(&mut call.args.required(1)?)?;
    call.keyspace()?;
    call.check(Access::AddFamily { keyspace: request.keyspace.as_bytes() })?;
    let user = call.session.user.as_ref();
    call.database.schema_changes(call.behaviour).by(user).add_column_family(request).await?;
    write_version(call);
    Ok(())
}

pub(super) async fn update_column_family(call: Call<'_>) -> Result<()> {
    let request = schema_types::column_family(&mut call.args.required(1)?)?;
    let (keyspace, family) = (request.keyspace.as_bytes(), request.name.as_bytes());
    call.check(Access::UpdateFamily { keyspace, family })?;
    call.database.schema_changes(call.behaviour).update_column_family(request).await?;
    write_version(call);
    Ok(())
}

pub(super) async fn drop_column_family(call: Call<'_>) -> Result<()> {
    let name = call.args.bytes(1)?;
    let keyspace = call.keyspace()?;
    call.check(Access::DropFamily { keyspace: &keyspace, family: &name })?;
    let (keyspace, name) = (String::from_utf8_lossy(&keyspace), String::from_utf8_lossy(&name));
    call.database.schema_changes(call.behaviour).drop_column_family(&keyspace, &name).await?;
    write_version(call);
    Ok(())
}
