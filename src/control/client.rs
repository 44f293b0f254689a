//! A client of the control API, on one connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::util::limits::{CONTROL_BODY_BYTES_MAX, CONTROL_REQUEST_S};

/// Longest head of a reply, in bytes.
const HEAD_BYTES_MAX: u64 = 64 * 1024;

/// A connection to a control port.
pub struct ControlClient {
    stream: BufReader<TcpStream>,
    /// The headers of each request.
    headers: String,
}

/// A reply of the control API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlReply {
    /// The HTTP status.
    pub status: u16,
    /// The names of the headers in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: String,
}

impl ControlReply {
    /// Returns the value of a header. The name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

impl ControlClient {
    /// Connects to `HOST:PORT`. If the port requires a token, requests have it.
    pub fn connect(address: &str, token: Option<&str>) -> std::io::Result<ControlClient> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        // The server ends a request before that.
        let patience = Some(Duration::from_secs(CONTROL_REQUEST_S + 10));
        stream.set_read_timeout(patience)?;
        stream.set_write_timeout(patience)?;
        let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
        Ok(ControlClient { stream: BufReader::new(stream), headers: format!("Host: {address}\r\n{token}") })
    }

    /// Adds a header to each request.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> ControlClient {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// Sends a request with a body, which may be empty, and waits for the reply.
    pub fn send(&mut self, method: &str, path: &str, body: &[u8]) -> std::io::Result<ControlReply> {
        let mut request = Vec::with_capacity(body.len() + 256);
        write!(
            request,
            "{method} {path} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n",
            self.headers,
            body.len()
        )?;
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request)?;
        self.receive()
    }

    fn receive(&mut self) -> std::io::Result<ControlReply> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| unreadable(&format!("it begins with {first:?}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| unreadable("a header has no colon"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, value)| value.parse::<usize>().ok());
        let length = length.filter(|length| *length <= 16 * CONTROL_BODY_BYTES_MAX);
        let length = length.ok_or_else(|| unreadable("its length is not known, or too large"))?;
        let mut body = String::new();
        let read = self.stream.by_ref().take(length as u64).read_to_string(&mut body)?;
        if read < length {
            return Err(unreadable("it ends too early"));
        }
        Ok(ControlReply { status, headers, body })
    }

    /// Reads a line of the head.
    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        self.stream.by_ref().take(HEAD_BYTES_MAX).read_line(&mut line)?;
        match line.strip_suffix('\n') {
            Some(line) => Ok(line.trim_end_matches('\r').to_owned()),
            None => Err(unreadable("its head ends too early")),
        }
    }
}

fn unreadable(why: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, format!("the reply cannot be read: {why}"))
}
