//! Finds out which protocol a port speaks, by the answers to the first message of each.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::cli::Result;

/// Time limit of connecting and of each answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// OPTIONS of the native protocol, version 4: it needs no session and changes nothing.
const OPTIONS: &[u8] = &[4, 0, 0, 0, 5, 0, 0, 0, 0];
/// The first byte of answers of the native protocol has this bit.
const IS_ANSWER: u8 = 0x80;
/// Opcodes of the native protocol.
const ERROR: u8 = 0x00;
const SUPPORTED: u8 = 0x06;

/// Thrift's describe_version, framed, in the strict form of TBinaryProtocol; all generations since 0.6 have it.
const DESCRIBE_VERSION: &[u8] =
    b"\x00\x00\x00\x1d\x80\x01\x00\x01\x00\x00\x00\x10describe_version\x00\x00\x00\x01\x00";

/// A request of HTTP that the admin server, the status port and the control port answer.
const HEALTH: &[u8] = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// The protocol of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpokenProtocol {
    ThriftFramed,
    ThriftUnframed,
    Native,
    /// HTTP with the status code of /health.
    Http(u16),
    /// Only TLS.
    Tls,
    Unknown,
}

/// Connects within the time limit. Returns the connection, and the time it took.
///
/// # Errors
/// Why no address of the name can be reached.
pub(super) fn connect(address: &str) -> Result<(TcpStream, Duration)> {
    let addresses =
        address.to_socket_addrs().map_err(|error| format!("the name cannot be resolved: {error}"))?;
    let mut why = "the name has no address".to_owned();
    for candidate in addresses {
        let begun = Instant::now();
        match TcpStream::connect_timeout(&candidate, TIMEOUT) {
            Ok(stream) => return Ok((stream, begun.elapsed())),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// Detects the protocol of a port.
pub(super) fn protocol_of(address: &str) -> SpokenProtocol {
    let native = ask(address, OPTIONS);
    if let [first, _, _, _, opcode, ..] = native[..]
        && first & IS_ANSWER != 0
        && matches!(opcode, SUPPORTED | ERROR)
    {
        return SpokenProtocol::Native;
    }
    let http = ask(address, HEALTH);
    if let Some(status) = status_of(&http) {
        return SpokenProtocol::Http(status);
    }
    let framed = ask(address, DESCRIBE_VERSION);
    if framed.get(4..6) == Some(&[0x80, 0x01]) {
        return SpokenProtocol::ThriftFramed;
    }
    let unframed = ask(address, DESCRIBE_VERSION.get(4..).unwrap_or_default());
    if unframed.starts_with(&[0x80, 0x01]) {
        return SpokenProtocol::ThriftUnframed;
    }
    if [&native, &http, &framed].iter().any(|answer| is_alert(answer)) || speaks_tls(address) {
        return SpokenProtocol::Tls;
    }
    SpokenProtocol::Unknown
}

/// Returns the status code of an answer of HTTP.
fn status_of(answer: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(answer.get(..12)?).ok()?;
    line.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..)?.parse().ok())
}

/// Returns whether an answer is an alert of TLS.
fn is_alert(answer: &[u8]) -> bool {
    answer.starts_with(&[0x15, 0x03])
}

/// Sends the beginning of a handshake of TLS with a version that does not exist, and returns whether an alert comes back.
fn speaks_tls(address: &str) -> bool {
    is_alert(&ask(address, &[0x16, 0x03, 0x01, 0x00, 0x04, 0x01, 0x00, 0x00, 0x00]))
}

/// Sends bytes on a new connection, and returns the beginning of the answer. Empty if there is none.
fn ask(address: &str, request: &[u8]) -> Vec<u8> {
    exchange(address, request).unwrap_or_default()
}

fn exchange(address: &str, request: &[u8]) -> Option<Vec<u8>> {
    let (mut stream, _) = connect(address).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(TIMEOUT)).ok()?;
    stream.write_all(request).ok()?;
    let mut answer = vec![0; ANSWER_BYTES_MAX];
    let length = stream.read(&mut answer).ok()?;
    answer.truncate(length);
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_call_is_a_whole_frame() {
        let length = u32::from_be_bytes(DESCRIBE_VERSION[..4].try_into().unwrap());
        assert_eq!(length as usize, DESCRIBE_VERSION.len() - 4);
    }

    #[test]
    fn the_status_of_http_is_read() {
        assert_eq!(status_of(b"HTTP/1.1 200 OK\r\n"), Some(200));
        assert_eq!(status_of(b"HTTP/1.0 503 Service Unavailable\r\n"), Some(503));
        assert_eq!(status_of(b"SSH-2.0-OpenSSH_9.2"), None);
        assert_eq!(status_of(b""), None);
    }
}
