//! login, set_keyspace, set_cql_version and trace_next_query.

use super::cql::state;
use super::cql2::check_has_cql2;
use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::types;
use cql::remote::check_keyspace;

pub(super) async fn login(call: Call<'_>) -> Result<()> {
    let credentials = types::credentials(&mut call.args.required(1)?)?;
    // A failed login does not change the session's user, as in ClientState.
    let logins = call.database.logins();
    let login = logins.authenticate(&credentials, call.behaviour.release);
    call.session.user = logins.guarded(call.session.address, &credentials, login).await?;
    Ok(())
}

pub(super) async fn set_keyspace(call: Call<'_>) -> Result<()> {
    let keyspace = call.args.bytes(1)?;
    // Before the login any name is accepted, as by ClientState.setKeyspace of 2.1. The calls after the login report a
    // keyspace that does not exist.
    if call.may_see_keyspaces() {
        match (call.database.remote_cql(), std::str::from_utf8(&keyspace)) {
            (Some(remote), Ok(name)) => check_keyspace(&state(&call, None), remote, name).await?,
            _ => call.database.describe(call.behaviour).check_keyspace(&keyspace)?,
        }
    }
    call.session.keyspace = Some(keyspace);
    Ok(())
}

pub(super) async fn set_cql_version(call: Call<'_>) -> Result<()> {
    let version = call.args.bytes(1)?;
    if !call.behaviour.wire.has_cql2 {
        return Ok(());
    }
    let version = String::from_utf8_lossy(&version).into_owned();
    let version = db::cql_version(&version, call.behaviour.release)?;
    if version.starts_with('2') {
        check_has_cql2(call.database)?;
    }
    call.session.cql_version = Some(version);
    Ok(())
}

pub(super) async fn trace_next_query(mut call: Call<'_>) -> Result<()> {
    // No trace is recorded: the client only receives a new session id.
    let id = call.database.new_time_uuid();
    call.writer().field_string(0, &id);
    Ok(())
}
