//! `/`: what is served, how the data is doing, and how to connect.

use std::net::SocketAddr;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::connect::{ConnectSnippet, snippets};
use super::keyspaces::{may_see, readable};
use crate::metrics::Readings;
use crate::page::{Frame, page};
use crate::present::escaped;
use crate::served::Served;
use crate::state::AdminState;
use crate::status_page::StatusPage;
use crate::visitor::Visitor;
use base::util::metrics::RequestOutcome;
use db::is_reserved;
use store::EngineStatus;

/// Keyspaces that the page lists. The page of all keyspaces has the others.
const KEYSPACES_MAX: usize = 50;

#[derive(Template)]
#[template(path = "pages/home.html")]
struct HomePage {
    frame: Frame,
    is_healthy: bool,
    status: Vec<(&'static str, String)>,
    keyspaces: Vec<ShownKeyspace>,
    keyspaces_left_out: usize,
    ports: Vec<(&'static str, String)>,
    releases: [(&'static str, String); 3],
    numbers: Vec<(&'static str, String)>,
    snippets: Vec<ConnectSnippet>,
    has_control: bool,
}

struct ShownKeyspace {
    name: String,
    shown: String,
    families: usize,
}

/// Answers `GET /`.
pub(crate) async fn answer(State(state): State<Arc<AdminState>>, visitor: Visitor) -> Response {
    let served = &state.served;
    let used = visitor.connection.local.ip();
    let at = |port: SocketAddr| SocketAddr::new(Served::host(port, used), port.port());
    let (keyspaces, keyspaces_left_out) = keyspaces(&state, &visitor);
    let example = keyspaces.first().map_or("Keyspace1", |keyspace| &keyspace.name).to_owned();
    let plan = super::connect::Connecting {
        thrift: at(served.thrift),
        native: served.native.map(at),
        is_encrypted: served.is_encrypted,
        needs_login: state.database.logins().are_required(),
        keyspace: example,
    };
    page(&HomePage {
        frame: Frame::new(&visitor, "/", "Home"),
        is_healthy: state.status.failure().is_none(),
        status: status(&state.status),
        keyspaces,
        keyspaces_left_out,
        ports: served.ports().into_iter().map(|(name, port)| (name, shown_port(port))).collect(),
        releases: [
            ("Thrift calls with a keyspace argument", served.compat.with_keyspace.to_string()),
            ("Thrift calls after set_keyspace", served.compat.after_set_keyspace.to_string()),
            ("Version that CQL drivers see", served.reported.release_version().to_owned()),
        ],
        numbers: numbers(&Readings::take(&state)),
        snippets: snippets(&plan),
        has_control: state.control.is_some() && visitor.user.may_everything(),
    })
}

/// Returns the lines of the status page that the other parts of the page do not have.
fn status(of: &StatusPage) -> Vec<(&'static str, String)> {
    let is_elsewhere = |name: &str| name == "bytes on the disk" || name == "health" && of.failure().is_none();
    of.lines().into_iter().filter(|(name, _)| !is_elsewhere(name)).collect()
}

fn shown_port(port: SocketAddr) -> String {
    let addresses = if port.ip().is_unspecified() { " (all addresses of this machine)" } else { "" };
    format!("{port}{addresses}")
}

/// Returns the keyspaces that users have made and that the visitor sees, and how many are left out.
fn keyspaces(state: &AdminState, visitor: &Visitor) -> (Vec<ShownKeyspace>, usize) {
    let catalog = state.database.catalog();
    let capabilities = state.database.store().capabilities();
    let all = catalog
        .keyspaces
        .iter()
        .filter(|(name, _)| !is_reserved(capabilities, name))
        .filter(|(_, keyspace)| may_see(keyspace, visitor));
    let all: Vec<ShownKeyspace> = all
        .map(|(name, keyspace)| ShownKeyspace {
            name: name.clone(),
            shown: escaped(name.as_bytes()),
            families: readable(keyspace, visitor).count(),
        })
        .collect();
    let left_out = all.len().saturating_sub(KEYSPACES_MAX);
    (all.into_iter().take(KEYSPACES_MAX).collect(), left_out)
}

/// Returns the numbers of the server's data and work.
fn numbers(now: &Readings) -> Vec<(&'static str, String)> {
    let mut numbers = Vec::new();
    let mut add = |name, value| numbers.push((name, value));
    if let Some(bytes) = now.resident_bytes {
        add("Memory of the process", size(bytes));
    }
    if now.store.cluster.is_none() {
        add("On the disk", size(now.store.disk_bytes));
    }
    if let Some(engine) = &now.store.engine {
        engine_numbers(engine, &mut add);
    }
    add("Indexes being built", count(now.index_builds as u64));
    add("Connections of clients", count(now.connections_open as u64));
    let outcomes = |from: usize| -> u64 {
        let of_methods = now.requests.iter().map(|(_, totals)| &totals.outcomes);
        of_methods.flat_map(|outcomes| outcomes.iter().skip(from)).sum()
    };
    add("Requests", count(outcomes(0)));
    add("Failed requests", count(outcomes(RequestOutcome::Invalid as usize)));
    numbers
}

fn engine_numbers(engine: &EngineStatus, add: &mut impl FnMut(&'static str, String)) {
    add("Sorted tables", size(engine.table_bytes));
    add("Commit log", size(engine.commit_log_bytes));
    add("Memtables", size(engine.memtable_bytes));
    add("Flushes", count(engine.flushes));
    add("Compactions", count(engine.compactions));
    add("Runs that wait for compaction", count(engine.unmerged_runs));
    let reads = engine.row_cache_hits + engine.row_cache_misses;
    let hits = match reads {
        0 => String::new(),
        reads => {
            format!(", {} % of {} reads found their row", engine.row_cache_hits * 100 / reads, count(reads))
        }
    };
    add("Block cache", size(engine.block_cache_bytes));
    add("Row cache", format!("{}{hits}", size(engine.row_cache_bytes)));
}

/// Returns a number of bytes in its largest unit with one decimal.
fn size(bytes: u64) -> String {
    let units = ["KB", "MB", "GB", "TB"];
    let mut value = bytes as f64 / 1024.0;
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    for unit in units {
        if value < 1024.0 || unit == "TB" {
            return format!("{value:.1} {unit}");
        }
        value /= 1024.0;
    }
    String::new()
}

/// Returns a number with commas between groups of three digits.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let shown = [0, 1023, 1024, 1536, 5 << 20, 3 << 30, 7 << 40, u64::MAX].map(size);
        assert_eq!(shown[..5], ["0 bytes", "1023 bytes", "1.0 KB", "1.5 KB", "5.0 MB"]);
        assert_eq!(shown[5..], ["3.0 GB", "7.0 TB", "16777216.0 TB"]);
    }
}
