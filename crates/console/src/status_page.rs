//! The status page: what is served, where the data is stored, and how the store is doing.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use base::util::Password;
use db::Database;
use web::{HostNames, HttpService, ReadOnlyPort};

/// Time limit for a request to the status port and its reply: silent clients must not keep health probes out.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// Makes the status page of a server.
#[derive(Clone)]
pub struct StatusPage {
    database: Arc<Database>,
    /// Where the data is stored.
    place: Arc<str>,
    started: Instant,
}

impl StatusPage {
    /// Creates the page of a server that starts now.
    pub fn new(database: Arc<Database>, place: &str) -> StatusPage {
        StatusPage { database, place: place.into(), started: Instant::now() }
    }

    /// Returns the status port: `GET /` has the page, `GET /health` 200 or 503. If there is a token, requests must have
    /// it. Clients reach the port under these names.
    pub fn port(self, token: Option<Password>, hosts: HostNames) -> HttpService {
        let port = ReadOnlyPort {
            token,
            hosts,
            time: REQUEST_TIMEOUT,
            wrong_method: "this port is read-only: GET / or GET /health\n",
            unknown_path: "unknown path: use GET / or GET /health\n",
        };
        let routes = Router::new()
            .route("/", get(async |State(page): State<StatusPage>| page.text()))
            .route("/health", get(async |State(page): State<StatusPage>| page.health()));
        port.serve(routes.with_state(self))
    }

    /// Returns why the store cannot serve all requests; `None` if it can.
    pub fn failure(&self) -> Option<String> {
        self.database.store().status().failure()
    }

    fn health(&self) -> (StatusCode, String) {
        match self.failure() {
            None => (StatusCode::OK, "ok\n".to_owned()),
            Some(failure) => (StatusCode::SERVICE_UNAVAILABLE, format!("{failure}\n")),
        }
    }

    /// Returns the names and values of the page, in its order.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let status = self.database.store().status();
        let mut lines = vec![
            ("health", status.failure().unwrap_or_else(|| "ok".to_owned())),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("seconds up", self.started.elapsed().as_secs().to_string()),
            ("schema", self.database.schema_version().to_string()),
            ("data", self.place.to_string()),
        ];
        match &status.cluster {
            None => lines.push(("bytes on the disk", status.disk_bytes.to_string())),
            Some(cluster) => {
                for node in &cluster.nodes {
                    let place = [&node.data_center, &node.rack].map(|name| name.as_deref().unwrap_or("?"));
                    let state = if node.is_up { "up" } else { "down" };
                    lines.push(("node", format!("{} {} {state}", node.address, place.join(" "))));
                }
                lines.push(("requests with the cluster", cluster.requests_in_flight.to_string()));
                lines.push(("requests waiting", cluster.requests_waiting.to_string()));
            }
        }
        lines.extend(status.undefined.iter().map(|family| ("data without a definition", family.to_string())));
        lines
    }

    /// Returns the page as text, one value a line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.lines() {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{name}: {value}");
        }
        text
    }
}
