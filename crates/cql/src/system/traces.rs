//! `system_traces`: the events of the latest traced requests.

use std::sync::Arc;

use super::RequestedTables;
use super::row::RowBuilder;
use crate::QueryState;
use db::Trace;

fn wanted_traces(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<Arc<Trace>> {
    let mut traces = state.database.traces().all();
    if let Some(keys) = &wanted.keys {
        traces.retain(|trace| keys.iter().any(|key| **key == trace.id));
    }
    traces
}

/// Sets a column of a row to the address of this node.
fn with_node(row: RowBuilder, state: &QueryState<'_>, name: &'static str) -> RowBuilder {
    let (_, endpoint) = state.database.token_and_endpoint();
    match state.reported.rpc_address().or_else(|| endpoint.parse().ok()) {
        Some(address) => row.inet(name, address),
        None => row,
    }
}

pub(super) fn sessions(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let row = |trace: Arc<Trace>| {
        let row = RowBuilder::default()
            .bytes("session_id", trace.id.to_vec())
            .inet("client", trace.client)
            .text("command", trace.command)
            .int("duration", trace.duration_us)
            .map("parameters", &trace.parameters)
            .text("request", trace.request)
            .bytes("started_at", trace.started_at_ms.to_be_bytes().to_vec());
        with_node(row, state, "coordinator")
    };
    wanted_traces(state, wanted).into_iter().map(row).collect()
}

pub(super) fn events(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for trace in wanted_traces(state, wanted) {
        for event in &trace.events {
            let row = RowBuilder::default()
                .bytes("session_id", trace.id.to_vec())
                .bytes("event_id", event.id.to_vec())
                .text("activity", &*event.activity)
                .int("source_elapsed", event.elapsed_us)
                .text("thread", "Native-Transport-Requests");
            rows.push(with_node(row, state, "source"));
        }
    }
    rows
}
