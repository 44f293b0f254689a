//! Parses the address of a cluster's node.

use std::net::Ipv6Addr;

/// The default port of the native protocol.
const PORT: u16 = 9042;

/// Parses `host`, `host:port`, `[IPv6 address]:port` or an IPv6 address, and returns it with a port.
///
/// # Errors
///
/// The mistake in the text.
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
            _ => return Err(format!("{port:?} is not a port of a node: use a number between 1 and 65535")),
        },
    };
    let is_ipv6 = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let is_name =
        !host.is_empty() && host.chars().all(|letter| letter.is_alphanumeric() || ".-_".contains(letter));
    if !is_ipv6 && !is_name {
        return Err(format!("{text:?} is not the address of a node"));
    }
    Ok(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_forms_get_a_port() {
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
    fn invalid_addresses_are_refused() {
        for wrong in
            ["", ":9042", "http://10.0.0.1", "a b", "[::1", "[::g]:9042", "::g", "user@host", "a/b:1"]
        {
            let error = contact_point(wrong).unwrap_err();
            assert!(error.contains("not the address") || error.contains("not a port"), "{wrong}: {error}");
        }
        for wrong in ["host:0", "host:70000", "host:", "host:cql"] {
            assert!(contact_point(wrong).unwrap_err().contains("between 1 and 65535"), "{wrong}");
        }
    }
}
