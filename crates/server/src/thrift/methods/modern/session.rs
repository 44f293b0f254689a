//! login, set_keyspace, set_cql_version and trace_next_query.

use super::cql::state;
use super::cql2::check_has_cql2;
use super::{INVALID, since};
use crate::thrift::methods::{Call, CallFuture, DeclaredException, Method, arg};
use crate::thrift::types;
use base::util::Release;
use cql::remote::check_keyspace;
use wire::thrift::TType;

pub(super) const ROWS: &[Method] = &[
    Method {
        needs_login: false,
        ..since(
            Release::V0_7,
            "login",
            &[arg(1, "auth_request", TType::Struct)],
            &[(1, DeclaredException::Authentication), (2, DeclaredException::Authorization)],
            login,
        )
    },
    Method {
        // Several client libraries call set_keyspace before they log in.
        needs_login: false,
        ..since(Release::V0_7, "set_keyspace", &[arg(1, "keyspace", TType::String)], INVALID, set_keyspace)
    },
    Method {
        needs_login: false,
        ..since(
            Release::V1_1,
            "set_cql_version",
            &[arg(1, "version", TType::String)],
            INVALID,
            set_cql_version,
        )
    },
    since(Release::V1_2, "trace_next_query", &[], &[], trace_next_query),
];

fn login(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let credentials = types::credentials(&mut call.args.required(1)?)?;
        // A failed login does not change the session's user, as in ClientState.
        let logins = call.database.logins();
        let login = logins.authenticate(&credentials, call.behaviour.release);
        call.session.user = logins.guarded(call.session.address, &credentials, login).await?;
        Ok(())
    })
}

fn set_keyspace(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
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
    })
}

fn set_cql_version(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
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
    })
}

fn trace_next_query(mut call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        // No trace is recorded: the client only receives a new session id.
        let id = call.database.new_time_uuid();
        call.writer().field_string(0, &id);
        Ok(())
    })
}
