//! The log of requests: a span around each request, and an event when it ends.
//!
//! It is off unless the log's filter names it: `THRIFTSTORE_LOG=info,requests=debug`. A request then gives one line, and what
//! else is logged while the request runs carries the same fields:
//!
//! ```text
//! DEBUG request{protocol="thrift" method="get_slice" client=10.0.0.7 keyspace="Blog" consistency=ONE}: requests: micros=84 reply_bytes=312
//! ```
//!
//! A failed request also has `error`, with the text that the client gets, but without the part of a statement that a syntax
//! error quotes: it may have a password. While the log is off, a request costs one look at a flag.

use std::fmt::{self, Display, Write};
use std::future::Future;
use std::net::IpAddr;
use std::time::Duration;

use tracing::field::{self, Empty};
use tracing::{Instrument, Level, Span};

use super::clock::whole_micros;
use super::error_text::without_statement;

/// The name of the request log in the log's filter.
const TARGET: &str = "requests";

/// The span of one request, until it ends; nothing while the log is off.
pub struct RequestLog(Option<Span>);

impl RequestLog {
    /// Begins a request. `method` is the Thrift method or the opcode of the native protocol.
    pub fn begin(protocol: &'static str, method: impl Display, client: Option<IpAddr>) -> RequestLog {
        if !is_on() {
            return RequestLog(None);
        }
        let (method, client) = (field::display(method), client.map(field::display));
        let span = tracing::debug_span!(
            target: TARGET, "request", protocol, %method, client, keyspace = Empty, consistency = Empty
        );
        RequestLog(Some(span))
    }

    /// Returns whether the request has a span.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Runs the request within its span.
    pub async fn run<F: Future>(&self, request: F) -> F::Output {
        let span = self.0.clone().unwrap_or_else(Span::none);
        request.instrument(span).await
    }

    /// Logs the end of the request, which took `time`. `reply_bytes` is the length of its reply, with the header.
    #[inline]
    pub fn end(self, time: Duration, reply_bytes: usize, error: Option<&dyn Display>) {
        if let Some(span) = self.0 {
            log_end(&span, time, reply_bytes, error);
        }
    }
}

fn log_end(span: &Span, time: Duration, reply_bytes: usize, error: Option<&dyn Display>) {
    let error = error.map(|error| field::display(OneLine(without_statement(error.to_string()))));
    tracing::debug!(target: TARGET, parent: span, micros = whole_micros(time), reply_bytes, error);
}

/// Adds the keyspace and the consistency level to the request that runs here, as soon as they are known.
pub fn log_keyspace(keyspace: &[u8], consistency: impl Display) {
    if is_on() {
        let span = Span::current();
        span.record("keyspace", field::display(OneLine(String::from_utf8_lossy(keyspace))));
        span.record("consistency", field::display(consistency));
    }
}

/// A text in which control characters are escaped. Names and errors contain what clients send, which must neither begin a
/// new line of the log nor reach a terminal as a command.
struct OneLine<T>(T);

impl<T: Display> Display for OneLine<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(EscapedText(out), "{}", self.0)
    }
}

/// Escapes control characters on their way to a formatter.
struct EscapedText<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for EscapedText<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if letter.is_control() {
                write!(self.0, "{}", letter.escape_default())?;
            } else {
                self.0.write_char(letter)?;
            }
        }
        Ok(())
    }
}

fn is_on() -> bool {
    tracing::enabled!(target: TARGET, Level::DEBUG)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    /// Collects the log.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the lines that are logged for a request about a keyspace, under a filter.
    fn logged(filter: &str, error: Option<&str>) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt::layer()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .without_time();
        let log = tracing_subscriber::registry().with(log).with(filter.parse::<Targets>().unwrap());
        tracing::subscriber::with_default(log, || {
            let request = RequestLog::begin("thrift", "get", Some(IpAddr::from([10, 0, 0, 7])));
            let run = request.run(async { log_keyspace(b"Blog", "ONE") });
            futures_util::FutureExt::now_or_never(run);
            request.end(Duration::from_micros(7), 42, error.as_ref().map(|error| error as &dyn Display));
        });
        String::from_utf8(lines.0.lock().clone()).unwrap_or_default()
    }

    #[test]
    fn a_request_is_one_line_with_its_fields() {
        let line = logged("info,requests=debug", None);
        let span = "request{protocol=\"thrift\" method=get client=10.0.0.7 keyspace=Blog consistency=ONE}";
        assert!(line.contains(span), "{line}");
        assert!(line.contains("reply_bytes=42") && line.contains("micros=7"), "{line}");
        assert!(!line.contains("error="), "{line}");
        assert_eq!(line.lines().count(), 1);
        assert!(logged("requests=debug", Some("no such keyspace")).contains("error=no such keyspace"));
    }

    #[test]
    fn statements_with_passwords_are_not_logged() {
        let error = "line 1:50 missing EOF at 'x' (CREATE USER a WITH PASSWORD 'hunter2' [x])";
        let line = logged("requests=debug", Some(error));
        assert!(line.contains("error=line 1:50 missing EOF at '?'") && !line.contains("hunter2"), "{line}");
    }

    #[test]
    fn what_clients_send_begins_no_new_line() {
        let line = logged("requests=debug", Some("no keyspace x\nINFO forged \u{1b}[31m"));
        assert!(line.contains("error=no keyspace x\\nINFO forged \\u{1b}[31m"), "{line}");
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn requests_are_only_logged_if_the_filter_enables_them() {
        assert_eq!(logged("info", Some("no")), "");
    }
}
