//! Where a node of a cluster is.

use std::net::Ipv6Addr;

/// The port of the native protocol where none is said.
const PORT: u16 = 9042;

/// Reads `host`, `host:port`, `[address of IPv6]:port` or an address of IPv6 alone, and gives it a port. An error says
/// what is wrong.
pub fn contact_point(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.parse::<Ipv6Addr>().is_ok() {
        return Ok(format!("[{text}]:{PORT}"));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let port = match port {
        None => PORT,
        Some(port) => match port.parse() {
            Ok(port) if port > 0 => port,
            _ => return Err(format!("{port:?} is no port of a node: one is between 1 and 65535")),
        },
    };
    let is_ipv6 = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let is_name =
        !host.is_empty() && host.chars().all(|letter| letter.is_alphanumeric() || ".-_".contains(letter));
    if !is_ipv6 && !is_name {
        return Err(format!("{text:?} names no node of a cluster"));
    }
    Ok(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gets_a_port() {
        for (given, expected) in [
            ("node1.example.org", "node1.example.org:9042"),
            (" 10.0.0.1:9142 ", "10.0.0.1:9142"),
            ("::1", "[::1]:9042"),
            ("[fe80::1]", "[fe80::1]:9042"),
            ("[::1]:7", "[::1]:7"),
        ] {
            assert_eq!(contact_point(given).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_names_no_node_is_refused() {
        for wrong in
            ["", ":9042", "http://10.0.0.1", "a b", "[::1", "[::g]:9042", "::g", "user@host", "a/b:1"]
        {
            let error = contact_point(wrong).unwrap_err();
            assert!(error.contains("no node") || error.contains("no port"), "{wrong}: {error}");
        }
        for wrong in ["host:0", "host:70000", "host:", "host:cql"] {
            assert!(contact_point(wrong).unwrap_err().contains("between 1 and 65535"), "{wrong}");
        }
    }
}
