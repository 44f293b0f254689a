//! A client of the control API, on one connection.

use std::io::{Error, ErrorKind, Result};
use std::net::TcpStream;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::runtime::{self, Runtime};
use tokio::time::timeout;

use super::content::JSON_LINES;
use crate::limits::{CONTROL_BODY_BYTES_MAX, CONTROL_REQUEST_S};

/// Longest head of a reply, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Longest line of a stream, in bytes: a request with its arguments is far shorter.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// The time to wait for a reply, and for each part of its body. The server ends a request before that.
const PATIENCE: Duration = Duration::from_secs(CONTROL_REQUEST_S + 10);

/// A connection to a control port. Its methods block, and must not be called by asynchronous code.
pub struct ControlClient {
    runtime: Runtime,
    sender: SendRequest<Full<Bytes>>,
    /// The headers of each request.
    headers: Vec<(String, String)>,
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
    ///
    /// # Errors
    /// If nothing listens there.
    pub fn connect(address: &str, token: Option<&str>) -> Result<ControlClient> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let sender = runtime.block_on(async {
            let stream = TokioIo::new(tokio::net::TcpStream::from_std(stream)?);
            let handshake = http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).handshake(stream).await;
            let (sender, connection) = handshake.map_err(unreadable)?;
            // A request that waits for it returns its errors.
            tokio::spawn(connection);
            Ok::<_, Error>(sender)
        })?;
        let client = ControlClient { runtime, sender, headers: Vec::new() };
        let client = client.with_header(HOST.as_str(), address);
        Ok(match token {
            Some(token) => client.with_header(AUTHORIZATION.as_str(), &format!("Bearer {token}")),
            None => client,
        })
    }

    /// Adds a header to each request.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> ControlClient {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends a request with a body, which may be empty, and waits for the reply.
    ///
    /// # Errors
    /// If the server does not answer, or not as HTTP wants it.
    pub fn send(&mut self, method: &str, path: &str, body: &[u8]) -> Result<ControlReply> {
        let request = self.request(method, path, body)?;
        self.runtime.block_on(async { whole(answer(&mut self.sender, request).await?).await })
    }

    /// Sends a request whose reply is a stream, and calls `line` with each line of it until that returns false or the
    /// stream ends. Returns the reply if it is not a stream, such as an error.
    ///
    /// # Errors
    /// If the server does not answer, or not as HTTP wants it.
    pub fn follow(
        &mut self,
        method: &str,
        path: &str,
        body: &[u8],
        line: impl FnMut(&str) -> bool,
    ) -> Result<Option<ControlReply>> {
        let request = self.request(method, path, body)?;
        self.runtime.block_on(async {
            let reply = answer(&mut self.sender, request).await?;
            if reply.headers().get(CONTENT_TYPE).is_none_or(|kind| kind != JSON_LINES) {
                return whole(reply).await.map(Some);
            }
            lines(reply.into_body(), line).await.map(|()| None)
        })
    }

    fn request(&self, method: &str, path: &str, body: &[u8]) -> Result<Request<Full<Bytes>>> {
        let request = Request::builder().method(method).uri(path);
        let request = self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        request
            .body(Full::new(Bytes::copy_from_slice(body)))
            .map_err(|error| Error::new(ErrorKind::InvalidInput, error))
    }
}

/// Sends a request, and waits for the head of the reply.
async fn answer(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>> {
    sender.ready().await.map_err(unreadable)?;
    timeout(PATIENCE, sender.send_request(request)).await?.map_err(unreadable)
}

/// Reads the body of a reply.
async fn whole(reply: Response<Incoming>) -> Result<ControlReply> {
    let (head, mut rest) = reply.into_parts();
    let mut body = Vec::new();
    while let Some(part) = next_part(&mut rest).await? {
        if body.len() + part.len() > 16 * CONTROL_BODY_BYTES_MAX {
            return Err(unreadable("it is too long"));
        }
        body.extend_from_slice(&part);
    }
    let headers = head.headers.iter();
    let headers = headers
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let body = String::from_utf8(body).map_err(unreadable)?;
    Ok(ControlReply { status: head.status.as_u16(), headers: headers.collect(), body })
}

/// Reads lines, until the body ends or one is not wanted.
async fn lines(mut body: Incoming, mut line: impl FnMut(&str) -> bool) -> Result<()> {
    let mut rest = BytesMut::new();
    while let Some(part) = next_part(&mut body).await? {
        rest.extend_from_slice(&part);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let whole = rest.split_to(end);
            rest.advance(1);
            // After a silence the server sends an empty line.
            if !whole.is_empty() && !line(&String::from_utf8_lossy(&whole)) {
                return Ok(());
            }
        }
        if rest.len() > LINE_BYTES_MAX {
            return Err(unreadable("a line is too long"));
        }
    }
    Ok(())
}

/// Returns the next part of a body; `None` at its end.
async fn next_part(body: &mut Incoming) -> Result<Option<Bytes>> {
    match timeout(PATIENCE, body.frame()).await? {
        Some(frame) => Ok(Some(frame.map_err(unreadable)?.into_data().unwrap_or_default())),
        None => Ok(None),
    }
}

fn unreadable(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the reply cannot be read: {why}"))
}
