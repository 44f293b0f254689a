//! The CQL calls. CQL is not served yet: each says so.

use super::since;
use crate::db;
use crate::thrift::methods::{Arg, Call, CallFuture, Method, Thrown, arg};
use crate::thrift::wire::TType;
use crate::util::Release;

const THROWS: &[(i16, Thrown)] = &[
    (1, Thrown::InvalidRequest),
    (2, Thrown::Unavailable),
    (3, Thrown::TimedOut),
    (4, Thrown::SchemaDisagreement),
];
const QUERY: &[Arg] = &[arg(1, "query", TType::String), arg(2, "compression", TType::I32)];

pub const ROWS: &[Method] = &[
    since(Release::V0_8, "execute_cql_query", QUERY, THROWS, refuse),
    since(Release::V1_1, "prepare_cql_query", QUERY, super::INVALID, refuse),
    since(
        Release::V1_1,
        "execute_prepared_cql_query",
        &[arg(1, "itemId", TType::I32), arg(2, "values", TType::List)],
        THROWS,
        refuse,
    ),
    since(
        Release::V1_2,
        "execute_cql3_query",
        &[
            arg(1, "query", TType::String),
            arg(2, "compression", TType::I32),
            arg(3, "consistency", TType::I32),
        ],
        THROWS,
        refuse,
    ),
    since(Release::V1_2, "prepare_cql3_query", QUERY, super::INVALID, refuse),
    since(
        Release::V1_2,
        "execute_prepared_cql3_query",
        &[arg(1, "itemId", TType::I32), arg(2, "values", TType::List), arg(3, "consistency", TType::I32)],
        THROWS,
        refuse,
    ),
];

fn refuse(_call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let text = "this server does not speak CQL yet: use the calls of column families";
        Err(db::Error::invalid(text).into())
    })
}
