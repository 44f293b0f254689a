//! The calls of CQL 2.

use bytes::Bytes;

use super::cql;
use super::cql::{check_version, keyspace_of, state};
use crate::thrift::cql_results::{write_cql2_outcome, write_cql2_prepared};
use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::types;
use ::cql::cql2;
use ::cql::cql2::Cql2Outcome;
use base::compat::features::ConsistencyLevel;
use base::compat::texts;
use db::Database;

/// The error for clients of CQL 2 if the store is a cluster.
const NO_CQL2: &str = "CQL 2 is not supported by a gateway, because its cluster only executes CQL 3: from 1.2 on use \
                       execute_cql3_query and the like, in 1.1 set_cql_version with 3.0.0";

/// Returns whether the CQL 2 calls of the session run CQL 3: 1.1 has no others, and its clients request CQL 3 with
/// set_cql_version.
fn means_cql3(call: &Call<'_>) -> bool {
    call.behaviour.wire.cql3_by_calls_of_cql2 && call.session.cql_major() == Some(3)
}

/// Checks that the session can run CQL 2, which clusters and later releases do not support.
fn check_cql2(call: &Call<'_>) -> Result<()> {
    if !call.behaviour.wire.has_cql2 {
        return Err(db::Error::invalid(texts::cql2_removed(call.behaviour)).into());
    }
    check_version(call, 2)?;
    check_has_cql2(call.database)
}

/// Refuses CQL 2 if a cluster runs the statements.
pub(super) fn check_has_cql2(database: &Database) -> Result<()> {
    match database.remote_cql() {
        Some(_) => Err(db::Error::invalid(NO_CQL2).into()),
        None => Ok(()),
    }
}

/// Writes the result of a statement; USE changes the session's keyspace.
fn answer(mut call: Call<'_>, outcome: &Cql2Outcome) {
    if let Cql2Outcome::Keyspace(keyspace) = outcome {
        call.session.keyspace = Some(Bytes::copy_from_slice(keyspace.as_bytes()));
    }
    let release = call.behaviour.release;
    write_cql2_outcome(&mut call.writer(), outcome, release);
}

pub(super) async fn execute(call: Call<'_>) -> Result<()> {
    if means_cql3(&call) {
        return cql::execute_at(call, ConsistencyLevel::One).await;
    }
    check_cql2(&call)?;
    let text = call.args.query_text()?;
    let keyspace = keyspace_of(&call);
    let outcome = cql2::execute(&state(&call, keyspace.as_deref()), &text).await?;
    answer(call, &outcome);
    Ok(())
}

pub(super) async fn prepare(mut call: Call<'_>) -> Result<()> {
    if means_cql3(&call) {
        return cql::prepare_cql3(call).await;
    }
    check_cql2(&call)?;
    let (id, prepared) = call.session.own_statements.prepare(&call.args.query_text()?)?;
    write_cql2_prepared(&mut call.writer(), id, prepared.markers);
    Ok(())
}

pub(super) async fn execute_prepared(call: Call<'_>) -> Result<()> {
    if means_cql3(&call) {
        return cql::execute_prepared_at(call, ConsistencyLevel::One).await;
    }
    check_cql2(&call)?;
    let prepared = call.session.own_statements.get(call.args.i32(1)?)?;
    let values = types::byte_strings(&mut call.args.required(2)?)?;
    let keyspace = keyspace_of(&call);
    let outcome = cql2::run(&state(&call, keyspace.as_deref()), &prepared, &values).await?;
    answer(call, &outcome);
    Ok(())
}
