//! A client of the control API, on one connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::limits::{CONTROL_BODY_BYTES_MAX, CONTROL_REQUEST_S};

/// Longest head of a reply, in bytes.
const HEAD_BYTES_MAX: u64 = 64 * 1024;

/// Longest part of a stream, in bytes: a request with its arguments is far shorter.
const CHUNK_BYTES_MAX: usize = 1024 * 1024;

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
        self.begin(method, path, body)?;
        self.receive()
    }

    fn begin(&mut self, method: &str, path: &str, body: &[u8]) -> std::io::Result<()> {
        let mut request = Vec::with_capacity(body.len() + 256);
        write!(
            request,
            "{method} {path} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n",
            self.headers,
            body.len()
        )?;
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request)
    }

    /// Sends a request whose reply is a stream, and calls `line` with each line of it until that returns false or the
    /// stream ends. Returns the reply if it is not a stream, such as an error.
    pub fn follow(
        &mut self,
        method: &str,
        path: &str,
        body: &[u8],
        mut line: impl FnMut(&str) -> bool,
    ) -> std::io::Result<Option<ControlReply>> {
        self.begin(method, path, body)?;
        let (status, headers) = self.head()?;
        if !headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked") {
            return self.whole(status, headers).map(Some);
        }
        let mut rest = Vec::new();
        loop {
            let length = self.line()?;
            let length = usize::from_str_radix(&length, 16).ok();
            let length = length.filter(|length| *length <= CHUNK_BYTES_MAX);
            let length = length.ok_or_else(|| unreadable("a chunk has no length, or is too large"))?;
            let from = rest.len();
            rest.resize(from + length, 0);
            self.stream.read_exact(&mut rest[from..])?;
            self.line()?;
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let whole: Vec<u8> = rest.drain(..=end).collect();
                // After a silence the server sends an empty line.
                if end > 0 && !line(&String::from_utf8_lossy(&whole[..end])) {
                    return Ok(None);
                }
            }
            if length == 0 {
                return Ok(None);
            }
        }
    }

    fn receive(&mut self) -> std::io::Result<ControlReply> {
        let (status, headers) = self.head()?;
        self.whole(status, headers)
    }

    /// Reads the status and the headers of a reply.
    fn head(&mut self) -> std::io::Result<(u16, Vec<(String, String)>)> {
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
        Ok((status, headers))
    }

    /// Reads the body of a reply.
    fn whole(&mut self, status: u16, headers: Vec<(String, String)>) -> std::io::Result<ControlReply> {
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
