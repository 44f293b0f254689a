//! The calls of CQL 3.

use bytes::Bytes;

use crate::thrift::cql_results::{write_outcome, write_prepared};
use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::types;
use base::compat::features::ConsistencyLevel;
use base::marshal::CollectionForm;
use base::model::{BoundValue, StatementId};
use base::util::meter;
use cql::{MarkerSpec, Outcome, QueryOptions, QueryState, marker_notes};

/// Checks whether the session may use this major version of CQL. A session that has not set one may use both.
pub(super) fn check_version(call: &Call<'_>, major: u32) -> Result<()> {
    let set = call.session.cql_major();
    if set.is_none_or(|set| set == major) {
        return Ok(());
    }
    let set = set.unwrap_or_default();
    Err(db::Error::invalid(format!(
        "Cannot execute/prepare CQL{major} statement since the CQL has been set to CQL{set}(This might mean your \
         client hasn't been upgraded correctly to use the new CQL3 methods introduced in Cassandra 1.2+)."
    ))
    .into())
}

/// Returns the session's keyspace as text; `None` if it is not UTF-8.
pub(super) fn keyspace_of(call: &Call<'_>) -> Option<String> {
    let keyspace = call.session.keyspace.as_ref()?;
    String::from_utf8(keyspace.to_vec()).ok()
}

pub(super) fn state<'a>(call: &'a Call<'_>, keyspace: Option<&'a str>) -> QueryState<'a> {
    QueryState {
        language: call.compat.language,
        keyspace,
        user: call.session.user.as_ref(),
        sees_new_indexes: true,
        ..QueryState::of_release(call.database, call.behaviour)
    }
}

fn options(call: &Call<'_>, consistency: ConsistencyLevel, values: Vec<Bytes>) -> QueryOptions {
    let is_short = call.behaviour.cql.thrift_collections_are_short;
    QueryOptions {
        consistency,
        values: values.into_iter().map(BoundValue::Value).collect(),
        collection_form: if is_short { CollectionForm::Short } else { CollectionForm::Long },
        ..QueryOptions::default()
    }
}

/// Returns the consistency level in argument 3, which is required and has no default.
fn consistency(call: &Call<'_>) -> Result<ConsistencyLevel> {
    call.args.consistency_or(3, -1, call.behaviour)
}

/// Writes the result of a statement; USE changes the session's keyspace.
fn answer(mut call: Call<'_>, outcome: &Outcome) {
    if let Outcome::Keyspace(keyspace) = outcome {
        call.session.keyspace = Some(Bytes::copy_from_slice(keyspace.as_bytes()));
    }
    let behaviour = call.behaviour;
    write_outcome(&mut call.writer(), outcome, behaviour);
}

pub(super) async fn execute(call: Call<'_>) -> Result<()> {
    check_version(&call, 3)?;
    let consistency = consistency(&call)?;
    execute_at(call, consistency).await
}

/// Runs the statement in arguments 1 and 2.
pub(super) async fn execute_at(call: Call<'_>, consistency: ConsistencyLevel) -> Result<()> {
    let text = call.args.query_text()?;
    let keyspace = keyspace_of(&call);
    let options = options(&call, consistency, Vec::new());
    let outcome = {
        let state = state(&call, keyspace.as_deref());
        match call.database.remote_cql() {
            Some(remote) => cql::remote::query(&state, remote, &text, &options).await?,
            None => cql::query(&state, &text, &options).await?,
        }
    };
    answer(call, &outcome);
    Ok(())
}

pub(super) async fn prepare(call: Call<'_>) -> Result<()> {
    check_version(&call, 3)?;
    prepare_cql3(call).await
}

/// Prepares the statement in arguments 1 and 2.
pub(super) async fn prepare_cql3(mut call: Call<'_>) -> Result<()> {
    let text = call.args.query_text()?;
    let keyspace = keyspace_of(&call);
    let statements = call.statements;
    if let Some(remote) = call.database.remote_cql() {
        let id = StatementId::hash(keyspace.as_deref(), &text);
        let state = state(&call, keyspace.as_deref());
        let prepared = cql::remote::prepare(&state, remote, &statements.remote, &text, id).await?;
        let notes = marker_notes(&state, &prepared.markers, &[]);
        write_id(&mut call, id, &notes);
        return Ok(());
    }
    let state = state(&call, keyspace.as_deref());
    let (id, prepared) = meter::retried(|| statements.prepare(&state, &text, StatementId::hash)).await?;
    let notes = marker_notes(&state, &prepared.markers, &prepared.parsed.markers);
    write_id(&mut call, id, &notes);
    Ok(())
}

fn write_id(call: &mut Call<'_>, id: StatementId, markers: &[MarkerSpec]) {
    if let StatementId::Hash(id) = id {
        write_prepared(&mut call.writer(), id, markers);
    }
}

pub(super) async fn execute_prepared(call: Call<'_>) -> Result<()> {
    check_version(&call, 3)?;
    let consistency = consistency(&call)?;
    execute_prepared_at(call, consistency).await
}

/// Runs the prepared statement in argument 1 with the values in argument 2.
pub(super) async fn execute_prepared_at(call: Call<'_>, consistency: ConsistencyLevel) -> Result<()> {
    let id = StatementId::Hash(call.args.i32(1)?);
    let values = types::byte_strings(&mut call.args.required(2)?)?;
    let keyspace = keyspace_of(&call);
    let outcome = {
        let state = state(&call, keyspace.as_deref());
        let options = options(&call, consistency, values);
        match call.database.remote_cql() {
            Some(remote) => {
                let prepared = call.statements.remote.get(id)?;
                cql::remote::execute_prepared(&state, remote, &prepared, &options).await?
            }
            None => {
                let prepared = call.statements.get(&state, id)?;
                cql::execute_prepared(&state, &prepared, &options).await?
            }
        }
    };
    answer(call, &outcome);
    Ok(())
}
