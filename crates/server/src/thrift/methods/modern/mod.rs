//! The calls of 0.7 and later, which have no keyspace argument: they use the session's keyspace.

mod counters;
mod cql;
mod cql2;
pub(super) mod describe;
mod ranges;
mod reads;
mod schema;
mod session;
mod splits;
mod writes;

use super::row::{MethodRow, data, guarded, open};
use base::compat::since;
use base::util::Release::{V0_7, V0_8, V1_1, V1_2, V2_0, V2_1};
use base::util::meter::RequestKind::{Range, Read, Truncate, Write};

/// All rows of 0.7 and later.
pub(super) const ROWS: &[MethodRow] = &[
    open("login", since(V0_7), |call| Box::pin(session::login(call))),
    // Several client libraries call set_keyspace before they log in.
    open("set_keyspace", since(V0_7), |call| Box::pin(session::set_keyspace(call))),
    open("set_cql_version", since(V1_1), |call| Box::pin(session::set_cql_version(call))),
    guarded("trace_next_query", since(V1_2), |call| Box::pin(session::trace_next_query(call))),
    data(Read, "get", since(V0_7), |call| Box::pin(reads::get(call))),
    data(Read, "get_slice", since(V0_7), |call| Box::pin(reads::get_slice(call))),
    data(Read, "multiget_slice", since(V0_7), |call| Box::pin(reads::multiget_slice(call))),
    data(Read, "get_count", since(V0_7), |call| Box::pin(reads::get_count(call))),
    data(Read, "multiget_count", since(V0_7), |call| Box::pin(reads::multiget_count(call))),
    data(Read, "get_multi_slice", since(V2_1), |call| Box::pin(reads::get_multi_slice(call))),
    data(Range, "get_range_slices", since(V0_7), |call| Box::pin(ranges::get_range_slices(call))),
    data(Range, "get_paged_slice", since(V1_1), |call| Box::pin(ranges::get_paged_slice(call))),
    data(Range, "get_indexed_slices", since(V0_7), |call| Box::pin(ranges::get_indexed_slices(call))),
    data(Write, "insert", since(V0_7), |call| Box::pin(writes::insert(call))),
    data(Write, "batch_mutate", since(V0_7), |call| Box::pin(writes::batch_mutate(call))),
    data(Write, "atomic_batch_mutate", since(V1_2), |call| Box::pin(writes::atomic_batch_mutate(call))),
    data(Write, "remove", since(V0_7), |call| Box::pin(writes::remove(call))),
    data(Write, "cas", since(V2_0), |call| Box::pin(writes::cas(call))),
    // Up to 1.0 it declares no TimedOutException: those clients would take one for success.
    data(Truncate, "truncate", since(V0_7), |call| Box::pin(writes::truncate(call))),
    data(Write, "add", since(V0_8), |call| Box::pin(counters::add(call))),
    data(Write, "remove_counter", since(V0_8), |call| Box::pin(counters::remove_counter(call))),
    guarded("system_add_keyspace", since(V0_7), |call| Box::pin(schema::add_keyspace(call))),
    guarded("system_update_keyspace", since(V0_7), |call| Box::pin(schema::update_keyspace(call))),
    guarded("system_drop_keyspace", since(V0_7), |call| Box::pin(schema::drop_keyspace(call))),
    guarded("system_add_column_family", since(V0_7), |call| Box::pin(schema::add_column_family(call))),
    guarded("system_update_column_family", since(V0_7), |call| Box::pin(schema::update_column_family(call))),
    guarded("system_drop_column_family", since(V0_7), |call| Box::pin(schema::drop_column_family(call))),
    guarded("describe_keyspaces", since(V0_7), |call| Box::pin(describe::describe_keyspaces(call))),
    guarded("describe_keyspace", since(V0_7), |call| Box::pin(describe::describe_keyspace(call))),
    open("describe_cluster_name", since(V0_7), |call| Box::pin(super::describe::describe_cluster_name(call))),
    open("describe_version", since(V0_7), |call| Box::pin(super::describe::describe_version(call))),
    open("describe_partitioner", since(V0_7), |call| Box::pin(super::describe::describe_partitioner(call))),
    open("describe_snitch", since(V0_7), |call| Box::pin(describe::describe_snitch(call))),
    open("describe_ring", since(V0_7), |call| Box::pin(super::describe::describe_ring(call))),
    open("describe_local_ring", since(V1_2), |call| Box::pin(super::describe::describe_ring(call))),
    open("describe_token_map", since(V1_1), |call| Box::pin(describe::describe_token_map(call))),
    open("describe_schema_versions", since(V0_7), |call| Box::pin(describe::describe_schema_versions(call))),
    open("describe_splits", since(V0_7), |call| Box::pin(splits::describe_splits(call))),
    open("describe_splits_ex", since(V1_1), |call| Box::pin(splits::describe_splits_ex(call))),
    guarded("execute_cql3_query", since(V1_2), |call| Box::pin(cql::execute(call))),
    guarded("prepare_cql3_query", since(V1_2), |call| Box::pin(cql::prepare(call))),
    guarded("execute_prepared_cql3_query", since(V1_2), |call| Box::pin(cql::execute_prepared(call))),
    guarded("execute_cql_query", since(V0_8), |call| Box::pin(cql2::execute(call))),
    guarded("prepare_cql_query", since(V1_1), |call| Box::pin(cql2::prepare(call))),
    guarded("execute_prepared_cql_query", since(V1_1), |call| Box::pin(cql2::execute_prepared(call))),
];
