//! Shows how clients connect: programs for the usual libraries, with this server's addresses.

use std::net::SocketAddr;

use askama::Template;

/// A program that connects to this server.
pub(super) struct ConnectSnippet {
    /// The library.
    pub name: String,
    /// The purpose of the program, and its requirements.
    pub note: String,
    pub code: String,
}

/// The addresses to which the programs connect. The template has a title, a note and a program for each library.
#[derive(Template)]
#[template(path = "pages/connect.txt")]
pub(super) struct Connecting {
    pub thrift: SocketAddr,
    /// `None` if the native protocol is disabled.
    pub native: Option<SocketAddr>,
    pub is_encrypted: bool,
    pub needs_login: bool,
    /// A keyspace of the server.
    pub keyspace: String,
}

impl Connecting {
    /// Returns the class of the socket in Thrift's library for Python.
    fn socket(&self) -> &'static str {
        if self.is_encrypted { "TSSLSocket" } else { "TSocket" }
    }

    /// Returns the keyspace as a literal of Python and Java. Names of keyspaces have letters, digits and underscores only,
    /// except names from old configurations.
    fn keyspace_literal(&self) -> String {
        let escaped = self.keyspace.chars().flat_map(|letter| match letter {
            '"' | '\\' => vec!['\\', letter],
            letter if letter.is_control() => format!("\\u{:04x}", u32::from(letter)).chars().collect(),
            letter => vec![letter],
        });
        format!("\"{}\"", escaped.collect::<String>())
    }
}

/// Returns the programs. They connect and do no more, because the column families are the reader's.
pub(super) fn snippets(to: &Connecting) -> Vec<ConnectSnippet> {
    let programs = to.render().unwrap_or_default();
    let parts = programs.split("=== ").skip(1).map(|program| program.splitn(3, '\n').map(str::to_owned));
    parts
        .filter_map(|mut part| {
            Some(ConnectSnippet { name: part.next()?, note: part.next()?, code: part.next()? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connecting(host: &str, is_encrypted: bool, needs_login: bool) -> Connecting {
        let address = |port| SocketAddr::new(host.parse().unwrap(), port);
        Connecting {
            thrift: address(9160),
            native: Some(address(9042)),
            is_encrypted,
            needs_login,
            keyspace: "Blog\"\n".to_owned(),
        }
    }

    fn codes(to: &Connecting) -> Vec<(String, String)> {
        snippets(to).into_iter().map(|snippet| (snippet.name, snippet.code)).collect()
    }

    #[test]
    fn programs_have_the_addresses() {
        let codes = codes(&connecting("10.0.0.7", false, false));
        assert_eq!(codes.len(), 5);
        for (name, code) in codes {
            assert!(code.contains("10.0.0.7"), "{name}: {code}");
            assert!(!code.contains("PASSWORD") && !code.contains("ca.pem"), "{name}: {code}");
            assert!(!code.contains("\"Blog\"\n"), "{name}: {code}");
        }
    }

    #[test]
    fn ipv6_addresses_have_brackets_before_a_port() {
        let codes = codes(&connecting("::1", false, false));
        let expected = [
            ("Generated client, Python", "TSocket(\"::1\", 9160)"),
            ("pycassa", "[\"[::1]:9160\"]"),
            ("Hector", "(\"[::1]:9160\")"),
            ("cqlsh", "cqlsh ::1 9042\n"),
            ("Driver for Python", "[\"::1\"], port=9042"),
        ];
        for ((name, code), (expected_name, part)) in codes.iter().zip(expected) {
            assert_eq!(*name, expected_name);
            assert!(code.contains(part), "{name}: {code}");
        }
    }

    #[test]
    fn programs_log_in_and_encrypt_if_the_server_wants_it() {
        for (name, code) in codes(&connecting("10.0.0.7", true, true)) {
            assert!(code.contains("USER"), "{name}: {code}");
            assert!(name == "Hector" || ["ca.pem", "--ssl"].iter().any(|word| code.contains(word)), "{code}");
        }
        assert_eq!(codes(&Connecting { native: None, ..connecting("10.0.0.7", false, false) }).len(), 3);
    }
}
