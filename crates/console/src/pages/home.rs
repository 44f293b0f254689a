//! `/`: how the server is doing, its keyspaces, what is slow and what failed, and how to connect.

use std::net::SocketAddr;

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::connect::{ConnectSnippet, snippets};
use crate::census::{FamilySize, Sizes};
use crate::metrics::{Chart, Readings, duration, overview};
use crate::page::{PageFrame, page};
use crate::present::escaped;
use crate::seen_schema::SeenKeyspace;
use crate::served::Served;
use crate::state::{Admin, AdminState};
use crate::status_page::StatusPage;
use crate::visitor::Visitor;
use base::marshal::timestamp_text;
use base::schema::FamilyName;
use base::util::counted;
use base::util::metrics::RequestOutcome;
use store::EngineStatus;

/// Keyspaces that the page lists. The page of all keyspaces has the others.
const KEYSPACES_MAX: usize = 50;
/// Column families of each of them.
const FAMILIES_MAX: usize = 12;
/// Slow requests and errors that the page lists. The page Live has the others.
const PAST_MAX: usize = 5;
/// Characters of the key of a slow request, and of an error.
const PAST_CHARS: usize = 120;

#[derive(Template)]
#[template(path = "pages/home.html")]
struct HomePage {
    frame: PageFrame,
    is_healthy: bool,
    clients: String,
    charts: Vec<Chart>,
    /// `None` for users who may not see the keys of all column families.
    past: Option<Past>,
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
    size: String,
    families: Vec<HomeFamily>,
    left_out: usize,
}

struct HomeFamily {
    name: String,
    shown: String,
    size: String,
}

/// Past requests.
struct Past {
    slow: Vec<SlowRequest>,
    errors: Vec<PastError>,
}

struct SlowRequest {
    time: String,
    method: String,
    place: String,
    key: String,
}

struct PastError {
    text: String,
    count: String,
    method: &'static str,
    last: String,
}

/// Answers `GET /`.
pub(crate) async fn answer(State(state): Admin, visitor: Visitor) -> Response {
    let served = &state.served;
    let used = visitor.connection.local.ip();
    let at = |port: SocketAddr| SocketAddr::new(Served::host(port, used), port.port());
    let (keyspaces, keyspaces_left_out) = keyspaces(&state, &visitor).await;
    let example = keyspaces.first().map_or("Keyspace1", |keyspace| &keyspace.name).to_owned();
    let plan = super::connect::Connecting {
        thrift: at(served.thrift),
        native: served.native.map(at),
        is_encrypted: served.is_encrypted,
        needs_login: state.database.logins().are_required(),
        keyspace: example,
    };
    let readings = Readings::take(&state);
    page(&HomePage {
        frame: PageFrame::new(&visitor, "/", "Home"),
        is_healthy: state.status.failure().is_none(),
        clients: clients(readings.connections_open as u64),
        charts: overview(&state.history.list()),
        past: visitor.user.may_everything().then(|| past(&state)),
        status: status(&state.status),
        keyspaces,
        keyspaces_left_out,
        ports: served.ports().into_iter().map(|(name, port)| (name, shown_port(port))).collect(),
        releases: [
            ("Thrift calls with a keyspace argument", served.compat.with_keyspace.to_string()),
            ("Thrift calls after set_keyspace", served.compat.after_set_keyspace.to_string()),
            ("Version that CQL drivers see", served.reported.release_version().to_owned()),
        ],
        numbers: numbers(&readings),
        snippets: snippets(&plan),
        has_control: state.control.is_some() && visitor.user.may_everything(),
    })
}

fn clients(connections: u64) -> String {
    match connections {
        0 => "No client is connected.".to_owned(),
        _ => format!("Clients have {}.", counted(connections, "open connection")),
    }
}

/// Returns the lines of the status page that the other parts of the page do not have.
fn status(of: &StatusPage) -> Vec<(&'static str, String)> {
    let mut lines = of.lines();
    // These are elsewhere on the page.
    lines.retain(|(name, _)| *name != "bytes on the disk" && (*name != "health" || of.failure().is_some()));
    lines
}

fn shown_port(port: SocketAddr) -> String {
    let addresses = if port.ip().is_unspecified() { " (all addresses of this machine)" } else { "" };
    format!("{port}{addresses}")
}

/// Returns the keyspaces that users have made and that the visitor sees, and how many are left out.
async fn keyspaces(state: &AdminState, visitor: &Visitor) -> (Vec<ShownKeyspace>, usize) {
    let listed: Vec<&SeenKeyspace> = visitor.schema.own().take(KEYSPACES_MAX).collect();
    let left_out = visitor.schema.own().count() - listed.len();
    let families: Vec<_> = listed.iter().flat_map(|keyspace| keyspace.families.iter().cloned()).collect();
    let sizes = state.metered(state.census.take(&state.database, &families)).await;
    let shown = listed.into_iter().map(|keyspace| shown_keyspace(keyspace, sizes.as_ref()));
    (shown.collect(), left_out)
}

fn shown_keyspace(keyspace: &SeenKeyspace, sizes: Option<&Sizes>) -> ShownKeyspace {
    let mut families = Vec::new();
    let mut sum = Some(FamilySize::default());
    for cf in &keyspace.families {
        let size = sizes.and_then(|sizes| sizes.get(&FamilyName::of(cf)).copied());
        sum = sum.zip(size).map(|(sum, size)| sum.and(size));
        if families.len() < FAMILIES_MAX {
            let size = size.map_or_else(String::new, shown_size);
            families.push(HomeFamily { name: cf.name.clone(), shown: escaped(cf.name.as_bytes()), size });
        }
    }
    let size = sum.filter(|_| !families.is_empty()).map(shown_size);
    ShownKeyspace {
        name: keyspace.name.clone(),
        shown: escaped(keyspace.name.as_bytes()),
        size: size.unwrap_or_else(|| counted(keyspace.families.len() as u64, "column family")),
        left_out: keyspace.families.len() - families.len(),
        families,
    }
}

fn shown_size(of: FamilySize) -> String {
    let more = if of.is_cut { "more than " } else { "" };
    match of.rows {
        0 => "empty".to_owned(),
        1 => format!("{more}1 row, {}", size(of.bytes)),
        rows => format!("{more}{} rows, {}", count(rows), size(of.bytes)),
    }
}

/// Returns the slowest requests and the last errors.
fn past(state: &AdminState) -> Past {
    let activity = state.database.activity();
    let shown = |text: &str| {
        let mut text = escaped(text.as_bytes());
        if let Some((at, _)) = text.char_indices().nth(PAST_CHARS) {
            text.truncate(at);
            text.push('…');
        }
        text
    };
    let slow = activity.slow.list().into_iter().take(PAST_MAX).map(|request| SlowRequest {
        time: duration(request.micros as f64),
        method: shown(&request.method),
        place: shown(&request.column_family),
        key: shown(if request.statement.is_empty() { &request.key } else { &request.statement }),
    });
    let (errors, _) = activity.errors.list();
    let errors = errors.into_iter().take(PAST_MAX).map(|error| PastError {
        text: shown(&error.text),
        count: count(error.count),
        method: error.method,
        last: timestamp_text(error.last_ms),
    });
    Past { slow: slow.collect(), errors: errors.collect() }
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
