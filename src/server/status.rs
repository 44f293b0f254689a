//! The status port: serves plain text over HTTP to people and health probes.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::client_stream::ClientStream;
use super::handler::{Client, ConnectionEnd, ConnectionHandler};
use crate::db::Database;
use crate::util::Password;
use crate::util::limits::STATUS_REQUEST_BYTES_MAX;

/// Time limit for a request and its reply: silent clients must not keep health probes out.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves `GET /` with the status page, and `GET /health` with 200 or 503.
#[derive(Clone)]
pub struct StatusService {
    database: Arc<Database>,
    /// Where the data is stored.
    place: Arc<str>,
    started: Instant,
    /// The token that requests must have; `None` if none is required.
    token: Option<Arc<Password>>,
}

/// A reply: the code and reason of its status line, and its text.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: &'static str,
    text: String,
}

impl StatusService {
    pub fn new(database: Arc<Database>, place: &str) -> StatusService {
        StatusService { database, place: place.into(), started: Instant::now(), token: None }
    }

    /// Returns the same service that requires `Authorization: Bearer TOKEN`, and answers other requests with 401.
    /// `None` requires no token.
    #[must_use]
    pub fn with_token(self, token: Option<Password>) -> StatusService {
        StatusService { token: token.map(Arc::new), ..self }
    }

    fn answer(&self, request: &[u8]) -> Answer {
        let answer = |status, text: &str| Answer { status, text: format!("{text}\n") };
        let mut words = request.split(|byte| byte.is_ascii_whitespace());
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if !words.next().is_some_and(|version| version.starts_with(b"HTTP/")) {
            return answer("400 Bad Request", "this port speaks HTTP: GET / or GET /health");
        }
        if ![&b"GET"[..], b"HEAD"].contains(&method) {
            return answer("405 Method Not Allowed", "this port is read-only: GET / or GET /health");
        }
        if !self.is_admitted(request) {
            return answer("401 Unauthorized", "a request needs the header Authorization: Bearer TOKEN");
        }
        match path {
            b"/" => Answer { status: "200 OK", text: self.page() },
            b"/health" => match self.database.store().status().failure() {
                None => answer("200 OK", "ok"),
                Some(failure) => answer("503 Service Unavailable", &failure),
            },
            _ => answer("404 Not Found", "unknown path: use GET / or GET /health"),
        }
    }

    /// Returns whether a request has the token, if one is required.
    fn is_admitted(&self, request: &[u8]) -> bool {
        let Some(token) = &self.token else { return true };
        let given = request.split(|byte| *byte == b'\n').skip(1).find_map(bearer_token);
        given.is_some_and(|given| is_same(given, token.reveal().as_bytes()))
    }

    /// Returns the status page, one value a line.
    fn page(&self) -> String {
        let status = self.database.store().status();
        let mut page = String::new();
        let mut line = |name: &str, value: &dyn std::fmt::Display| {
            // Writing to a `String` cannot fail.
            let _ = writeln!(page, "{name}: {value}");
        };
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
        page
    }
}

impl ConnectionHandler for StatusService {
    async fn serve(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { mut stream, mut shutdown, .. } = client;
        let conversation = timeout(REQUEST_TIMEOUT, self.converse(&mut stream));
        tokio::select! {
            // A client that is too slow is not logged.
            done = conversation => done.unwrap_or(Ok(()))?,
            () = shutdown.requested() => {}
        }
        stream.close().await;
        Ok(())
    }
}

impl StatusService {
    async fn converse(&self, stream: &mut ClientStream) -> std::io::Result<()> {
        let mut request = Vec::new();
        while !has_ended(&request) && request.len() < STATUS_REQUEST_BYTES_MAX {
            let mut part = [0; 1024];
            let count = stream.read(&mut part).await?;
            if count == 0 {
                break;
            }
            request.extend_from_slice(&part[..count]);
        }
        if request.is_empty() {
            return Ok(());
        }
        let Answer { status, text } = self.answer(&request);
        let challenge = if status.starts_with("401") { "WWW-Authenticate: Bearer\r\n" } else { "" };
        let head = format!(
            "HTTP/1.0 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             {challenge}Connection: close\r\n\r\n",
            text.len()
        );
        stream.write_all(head.as_bytes()).await?;
        if !request.starts_with(b"HEAD ") {
            stream.write_all(text.as_bytes()).await?;
        }
        stream.shutdown().await
    }
}

/// Returns the bearer token of a header line, if it is an `Authorization` header.
fn bearer_token(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let (scheme, token) = value.split_at_checked(b"Bearer ".len())?;
    let is_bearer = name.eq_ignore_ascii_case(b"Authorization") && scheme.eq_ignore_ascii_case(b"Bearer ");
    is_bearer.then(|| token.trim_ascii())
}

/// Compares two texts in constant time for a given length, so that timing does not reveal how many bytes are right.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |seen, (one, other)| seen | (one ^ other));
    left.len() == right.len() && std::hint::black_box(differences) == 0
}

/// Returns whether the request's headers are complete, that is, followed by an empty line.
fn has_ended(request: &[u8]) -> bool {
    request.windows(4).any(|bytes| bytes == b"\r\n\r\n") || request.windows(2).any(|bytes| bytes == b"\n\n")
}
