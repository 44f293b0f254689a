//! The admin server: who gets in, what its replies have, and what hostile requests do.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod access;
mod ask;
mod change;
mod double;
mod hostile;
mod live;
mod metrics;
mod model;
mod pages;
mod rows;
mod verification;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use tempfile::TempDir;

use crate::support;
use support::client::PATIENCE;
use support::server::{Server, storage_conf};

/// The token of servers that have one.
const TOKEN: &str = "0123456789abcdef";

/// A server with the admin server on a free port.
struct Admin {
    server: Server,
    address: SocketAddr,
    /// The log of the server is in it.
    directory: TempDir,
}

impl Admin {
    /// Starts a server without logins and with data in memory.
    fn start(more: &[&str]) -> Admin {
        Admin::with("", more)
    }

    /// Starts a server with more elements of the configuration and more options.
    fn with(elements: &str, more: &[&str]) -> Admin {
        let directory = tempfile::tempdir().unwrap();
        let options = [&["--ephemeral", "--admin", "127.0.0.1:0"], more].concat();
        let server = Server::start(directory.path(), &storage_conf(elements), &options);
        let mut server = server.expecting("the user cassandra still has its default password");
        let address = server.admin_address();
        Admin { server, address, directory }
    }

    /// Returns the address of the native protocol, as the home page shows it.
    fn native_address(&self) -> SocketAddr {
        let home = self.browser().get("/").body;
        let (_, rest) = home.split_once("<dt>CQL native protocol</dt>\n<dd>").unwrap();
        rest.split('<').next().unwrap().parse().unwrap()
    }

    fn browser(&self) -> Browser {
        Browser { address: self.address, cookie: None, headers: String::new() }
    }

    fn with_token(&self, token: &str) -> Browser {
        Browser { headers: format!("Authorization: Bearer {token}\r\n"), ..self.browser() }
    }
}

/// Sends requests, each on a connection of its own, and keeps the cookie.
struct Browser {
    address: SocketAddr,
    cookie: Option<String>,
    /// Further headers of each request.
    headers: String,
}

/// A reply.
#[derive(Debug)]
struct Page {
    status: u16,
    head: String,
    body: String,
}

impl Page {
    fn of(text: &str) -> Page {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Page { status: status.unwrap(), head: head.to_owned(), body: body.to_owned() }
    }

    /// Returns the value of a header. The name may have any letter case.
    fn header(&self, name: &str) -> Option<&str> {
        let mut pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the CSRF token of the page.
    fn csrf(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"csrf\" content=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

/// Sends bytes, and returns what the server sends until it closes the connection.
fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The server may close the connection before it has read all.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

impl Browser {
    fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, "Accept: text/html\r\n", "")
    }

    fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let encode = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
        let fields: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        self.send("POST", path, kind, &fields.join("&"))
    }

    /// Sends a request with headers of its own.
    fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Page {
        let address = self.address;
        let cookie = self.cookie.as_ref().map_or(String::new(), |cookie| format!("Cookie: {cookie}\r\n"));
        let host = if headers.contains("Host:") { String::new() } else { format!("Host: {address}\r\n") };
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{}{headers}{cookie}Content-Length: {}\r\n\r\n{body}",
            self.headers,
            body.len()
        );
        let page = Page::of(&exchange(address, request.as_bytes()));
        if let Some(cookie) = page.header("set-cookie") {
            assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
            self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        }
        page
    }

    /// Logs a user in by the form.
    fn log_in(&mut self, fields: &[(&str, &str)]) -> Page {
        let csrf = self.get("/login").csrf();
        let fields = [&[("csrf", &*csrf)], fields].concat();
        self.post("/login", &fields)
    }
}
