//! The system_ calls, which change the schema. Each returns the version of the new schema.
//!
//! Permissions are checked on the keyspace that changes. Cassandra up to 1.1, and 1.2 to 2.1 for a new column family,
//! checks the session's keyspace instead, and then changes the one in the definition.

use super::{INVALID, since};
use crate::thrift::methods::{Arg, Call, CallFuture, DeclaredException, Method, arg};
use crate::thrift::schema_types;
use base::compat::only;
use base::util::Release;
use db::Access;
use wire::thrift::TType;

type Run = for<'a> fn(Call<'a>) -> CallFuture<'a>;

const KS_DEF: &[Arg] = &[arg(1, "ks_def", TType::Struct)];
const CF_DEF: &[Arg] = &[arg(1, "cf_def", TType::Struct)];
const KEYSPACE: &[Arg] = &[arg(1, "keyspace", TType::String)];
const COLUMN_FAMILY: &[Arg] = &[arg(1, "column_family", TType::String)];

/// From 0.8 on there is an exception for nodes that disagree about the schema. A single node never returns it.
const MAY_DISAGREE: &[(i16, DeclaredException)] =
    &[(1, DeclaredException::InvalidRequest), (2, DeclaredException::SchemaDisagreement)];

const fn of_0_7(name: &'static str, args: &'static [Arg], run: Run) -> Method {
    Method { releases: only(Release::V0_7), ..since(Release::V0_7, name, args, INVALID, run) }
}

const fn from_0_8(name: &'static str, args: &'static [Arg], run: Run) -> Method {
    since(Release::V0_8, name, args, MAY_DISAGREE, run)
}

pub(super) const ROWS: &[Method] = &[
    of_0_7("system_add_keyspace", KS_DEF, add_keyspace),
    from_0_8("system_add_keyspace", KS_DEF, add_keyspace),
    of_0_7("system_update_keyspace", KS_DEF, update_keyspace),
    from_0_8("system_update_keyspace", KS_DEF, update_keyspace),
    of_0_7("system_drop_keyspace", KEYSPACE, drop_keyspace),
    from_0_8("system_drop_keyspace", KEYSPACE, drop_keyspace),
    of_0_7("system_add_column_family", CF_DEF, add_column_family),
    from_0_8("system_add_column_family", CF_DEF, add_column_family),
    of_0_7("system_update_column_family", CF_DEF, update_column_family),
    from_0_8("system_update_column_family", CF_DEF, update_column_family),
    of_0_7("system_drop_column_family", COLUMN_FAMILY, drop_column_family),
    from_0_8("system_drop_column_family", COLUMN_FAMILY, drop_column_family),
];

fn write_version(mut call: Call<'_>) {
    let version = call.database.describe(call.behaviour).schema_version();
    call.writer().field_string(0, version.as_bytes());
}

fn add_keyspace(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let request = schema_types::keyspace(&mut call.args.required(1)?)?;
        call.check(Access::AddKeyspace)?;
        let user = call.session.user.as_ref();
        call.database.schema_changes(call.behaviour).by(user).add_keyspace(request).await?;
        write_version(call);
        Ok(())
    })
}

fn update_keyspace(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let request = schema_types::keyspace(&mut call.args.required(1)?)?;
        call.check(Access::UpdateKeyspace { keyspace: request.name.as_bytes() })?;
        call.database.schema_changes(call.behaviour).update_keyspace(request).await?;
        write_version(call);
        Ok(())
    })
}

fn drop_keyspace(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let keyspace = call.args.bytes(1)?;
        call.check(Access::DropKeyspace { keyspace: &keyspace })?;
        let keyspace = String::from_utf8_lossy(&keyspace);
        call.database.schema_changes(call.behaviour).drop_keyspace(&keyspace).await?;
        write_version(call);
        Ok(())
    })
}

fn add_column_family(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let request = schema_types::column_family(&mut call.args.required(1)?)?;
        call.keyspace()?;
        call.check(Access::AddFamily { keyspace: request.keyspace.as_bytes() })?;
        let user = call.session.user.as_ref();
        call.database.schema_changes(call.behaviour).by(user).add_column_family(request).await?;
        write_version(call);
        Ok(())
    })
}

fn update_column_family(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let request = schema_types::column_family(&mut call.args.required(1)?)?;
        let (keyspace, family) = (request.keyspace.as_bytes(), request.name.as_bytes());
        call.check(Access::UpdateFamily { keyspace, family })?;
        call.database.schema_changes(call.behaviour).update_column_family(request).await?;
        write_version(call);
        Ok(())
    })
}

fn drop_column_family(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let name = call.args.bytes(1)?;
        let keyspace = call.keyspace()?;
        call.check(Access::DropFamily { keyspace: &keyspace, family: &name })?;
        let (keyspace, name) = (String::from_utf8_lossy(&keyspace), String::from_utf8_lossy(&name));
        call.database.schema_changes(call.behaviour).drop_column_family(&keyspace, &name).await?;
        write_version(call);
        Ok(())
    })
}
