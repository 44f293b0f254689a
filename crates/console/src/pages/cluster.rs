//! `/cluster`: the nodes of a gateway's cluster, what they have answered, and the requests at each consistency level.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::home::count;
use crate::failure::{AdminError, Result};
use crate::metrics::duration;
use crate::page::{PageFrame, page};
use crate::state::Admin;
use crate::visitor::Visitor;
use store::NodeStatus;

#[derive(Template)]
#[template(path = "pages/cluster.html")]
struct ClusterPage {
    frame: PageFrame,
    nodes: Vec<ShownNode>,
    numbers: Vec<(&'static str, String)>,
    levels: Vec<(&'static str, String)>,
}

struct ShownNode {
    address: String,
    place: String,
    is_up: bool,
    answers: String,
    /// Empty if it has not answered yet.
    latency: String,
    errors: Vec<(&'static str, String)>,
}

/// Answers `GET /cluster`.
pub(crate) async fn answer(State(state): Admin, visitor: Visitor) -> Result<Response> {
    let Some(cluster) = state.database.store().status().cluster else {
        return Err(AdminError::not_found("this server stores its rows itself: it has no cluster"));
    };
    Ok(page(&ClusterPage {
        frame: PageFrame::new(&visitor, "/cluster", "Cluster"),
        nodes: cluster.nodes.into_iter().map(shown).collect(),
        numbers: vec![
            ("Requests that wait for an answer", count(cluster.requests_in_flight as u64)),
            ("Requests that wait to be sent", count(cluster.requests_waiting as u64)),
            ("Requests without an answer in time", count(cluster.requests_timed_out)),
        ],
        levels: cluster.attempts.into_iter().map(|(level, attempts)| (level, count(attempts))).collect(),
    }))
}

fn shown(node: NodeStatus) -> ShownNode {
    let place: Vec<String> = [node.data_center, node.rack].into_iter().flatten().collect();
    let counts = node.counts;
    let is_measured = counts.answers > 0;
    ShownNode {
        address: node.address,
        place: place.join(", "),
        is_up: node.is_up,
        answers: count(counts.answers),
        latency: if is_measured { duration(counts.recent_micros as f64) } else { String::new() },
        errors: counts.errors.into_iter().map(|(kind, errors)| (kind, count(errors))).collect(),
    }
}
