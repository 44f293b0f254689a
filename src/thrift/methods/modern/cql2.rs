//! The calls of CQL 2.

use super::cql::{self, QUERY, THROWS, check_version};
use super::since;
use crate::db;
use crate::model::ConsistencyLevel;
use crate::thrift::methods::{Call, CallFuture, Method, arg};
use crate::thrift::wire::TType;
use crate::util::Release;

pub const ROWS: &[Method] = &[
    since(Release::V0_8, "execute_cql_query", QUERY, THROWS, execute),
    since(Release::V1_1, "prepare_cql_query", QUERY, super::INVALID, prepare),
    since(
        Release::V1_1,
        "execute_prepared_cql_query",
        &[arg(1, "itemId", TType::I32), arg(2, "values", TType::List)],
        THROWS,
        execute_prepared,
    ),
];

/// Whether the session's calls of CQL 2 are CQL 3: 1.1 has no others, and there a client says so first.
fn means_cql3(call: &Call<'_>) -> bool {
    call.behaviour.release == Release::V1_1 && call.session.cql_major() == Some(3)
}

fn execute(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        if means_cql3(&call) {
            return cql::execute_at(call, ConsistencyLevel::One).await;
        }
        check_version(&call, 2)?;
        Err(db::Error::invalid("this server does not speak CQL 2 yet").into())
    })
}

fn prepare(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        if means_cql3(&call) {
            return cql::prepare_cql3(call);
        }
        check_version(&call, 2)?;
        Err(db::Error::invalid("this server does not speak CQL 2 yet").into())
    })
}

fn execute_prepared(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        if means_cql3(&call) {
            return cql::execute_prepared_at(call, ConsistencyLevel::One).await;
        }
        check_version(&call, 2)?;
        Err(db::Error::invalid("this server does not speak CQL 2 yet").into())
    })
}
