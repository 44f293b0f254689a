//! The status page: what is served, where the data is stored, and how the store is doing.

use std::fmt::{Display, Write};
use std::sync::Arc;
use std::time::Instant;

use db::Database;

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

    /// Returns why the store cannot serve all requests; `None` if it can.
    pub fn failure(&self) -> Option<String> {
        self.database.store().status().failure()
    }

    /// Returns the names and values of the page, in its order.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let status = self.database.store().status();
        let mut lines = Vec::new();
        let mut line = |name: &'static str, value: &dyn Display| lines.push((name, value.to_string()));
        line("health", &status.failure().as_deref().unwrap_or("ok"));
        line("version", &env!("CARGO_PKG_VERSION"));
        line("seconds up", &self.started.elapsed().as_secs());
        line("schema", &self.database.schema_version());
        line("data", &self.place);
        match &status.cluster {
            None => line("bytes on the disk", &status.disk_bytes),
            Some(cluster) => {
                for node in &cluster.nodes {
                    let place = [&node.data_center, &node.rack].map(|name| name.as_deref().unwrap_or("?"));
                    let state = if node.is_up { "up" } else { "down" };
                    line("node", &format_args!("{} {} {state}", node.address, place.join(" ")));
                }
                line("requests with the cluster", &cluster.requests_in_flight);
                line("requests waiting", &cluster.requests_waiting);
            }
        }
        for family in &status.undefined {
            line("data without a definition", family);
        }
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
