//! The names under which this server is reached.
//!
//! A web page of another server can let its own name lead to this server's address (DNS rebinding), and the browser then
//! takes this server for that page's own. But the browser sends the page's name in the header Host. So that header must be
//! an address, which no page can choose, or a name that the operator has given.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The names that the header Host may have, besides addresses and `localhost`.
#[derive(Debug, Clone)]
pub struct HostNames {
    names: Vec<String>,
    option: &'static str,
    /// Whether any name is admitted.
    is_any: bool,
}

impl HostNames {
    /// Admits these names, in any letter case. The option of the command line that adds one is for refusals.
    pub fn new(option: &'static str, names: impl IntoIterator<Item = String>) -> HostNames {
        let names = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        HostNames { names, option, is_any: false }
    }

    /// Admits any name: for a port whose requests need a token, which no web page of another server has.
    pub fn any() -> HostNames {
        HostNames { names: Vec::new(), option: "", is_any: true }
    }

    /// Returns whether a request names this server. A request of HTTP/1.0 without the header comes from no browser.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(header::HOST).iter();
        match (values.next(), values.next()) {
            (None, _) => true,
            (Some(value), None) => self.is_any || value.to_str().is_ok_and(|host| self.admit_name(host)),
            _ => false,
        }
    }

    fn admit_name(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        let is_address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => name.parse::<Ipv4Addr>().is_ok(),
        };
        let name = name.to_ascii_lowercase();
        is_address || name == "localhost" || self.names.contains(&name)
    }
}

/// Refuses requests that name another server.
pub(crate) async fn check_host(State(names): State<HostNames>, request: Request, next: Next) -> Response {
    if !names.admit(request.headers()) {
        let why = format!(
            "the header Host names another server: use an address or localhost, or start the server with {} NAME\n",
            names.option
        );
        return (StatusCode::MISDIRECTED_REQUEST, why).into_response();
    }
    next.run(request).await
}

/// Returns the name in `name:port` or `[address]:port`; `None` if the text has another form.
fn name_of(host: &str) -> Option<&str> {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at_checked(end)?;
    let is_port = match port.strip_prefix(':') {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()),
        None => port.is_empty(),
    };
    (is_port && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_own_names_are_admitted() {
        let names = HostNames::new("--admin-host", ["DB1.example.com".to_owned()]);
        for own in [
            "127.0.0.1",
            "127.0.0.1:9170",
            "[::1]:9170",
            "[::1]",
            "LocalHost:1",
            "10.0.0.7:80",
            "db1.Example.com",
        ] {
            assert!(names.admit_name(own), "{own}");
        }
        for foreign in [
            "",
            ":80",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:9170",
            "db1.example.com.",
            "db1.example.com:80:80",
            "db1.example.com:x",
            "[::1",
            "[::1]x",
            "[evil]",
            "::1",
            "127.0.0.1:9170@evil.example",
        ] {
            assert!(!names.admit_name(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_request_has_one_host_at_most() {
        let names = HostNames::new("--admin-host", None);
        let mut headers = HeaderMap::new();
        assert!(names.admit(&headers));
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert!(names.admit(&headers));
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert!(!names.admit(&headers));
    }
}
