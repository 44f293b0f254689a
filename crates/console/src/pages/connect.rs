//! Shows how clients connect: programs for the usual libraries, with this server's addresses.

use std::net::SocketAddr;

/// A program that connects to this server.
pub(super) struct ConnectSnippet {
    /// The library.
    pub name: &'static str,
    /// The purpose of the program, and its requirements.
    pub note: &'static str,
    pub code: String,
}

/// The addresses to which the programs connect.
pub(super) struct Connecting {
    pub thrift: SocketAddr,
    /// `None` if the native protocol is disabled.
    pub native: Option<SocketAddr>,
    pub is_encrypted: bool,
    pub needs_login: bool,
    /// A keyspace of the server.
    pub keyspace: String,
}

/// Returns the programs. They connect and do no more, because the column families are the reader's.
pub(super) fn snippets(to: &Connecting) -> Vec<ConnectSnippet> {
    let thrift = [generated_python(to), pycassa(to), hector(to)];
    let native = to.native.map(|address| [cqlsh(to, address), python_driver(to, address)]);
    thrift.into_iter().chain(native.into_iter().flatten()).collect()
}

/// Returns a text as a literal of Python and Java. Names of keyspaces have letters, digits and underscores only, except
/// names from old configurations.
fn literal(text: &str) -> String {
    let escaped = text.chars().flat_map(|letter| match letter {
        '"' | '\\' => vec!['\\', letter],
        letter if letter.is_control() => format!("\\u{:04x}", u32::from(letter)).chars().collect(),
        letter => vec![letter],
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn generated_python(to: &Connecting) -> ConnectSnippet {
    let (host, port) = (to.thrift.ip(), to.thrift.port());
    let mut code = "from cassandra import Cassandra\n".to_owned();
    if to.needs_login {
        code += "from cassandra.ttypes import AuthenticationRequest\n";
    }
    code += "from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated\n";
    let socket = if to.is_encrypted { "TSSLSocket" } else { "TSocket" };
    code += &format!("from thrift.transport.{socket} import {socket}\n");
    code += "from thrift.transport.TTransport import TFramedTransport\n\n";
    let certificate = if to.is_encrypted { ", ca_certs=\"ca.pem\"" } else { "" };
    code += &format!("transport = TFramedTransport({socket}(\"{host}\", {port}{certificate}))\n");
    code += "transport.open()\nclient = Cassandra.Client(TBinaryProtocolAccelerated(transport))\n";
    if to.needs_login {
        code += "client.login(AuthenticationRequest({\"username\": \"USER\", \"password\": \"PASSWORD\"}))\n";
    }
    code += &format!("client.set_keyspace({})\n", literal(&to.keyspace));
    code += "print(client.describe_version())\n";
    let note = "Made by the Thrift compiler from the interface of 0.7 or later. Calls of 0.4 to 0.6 have a keyspace \
                argument, and no set_keyspace.";
    ConnectSnippet { name: "Generated client, Python", note, code }
}

fn pycassa(to: &Connecting) -> ConnectSnippet {
    let mut code = "from pycassa.pool import ConnectionPool\n".to_owned();
    if to.is_encrypted {
        code += "from pycassa.connection import make_ssl_socket_factory\n";
    }
    let address = to.thrift;
    code += &format!("\npool = ConnectionPool({}, server_list=[\"{address}\"]", literal(&to.keyspace));
    if to.needs_login {
        code += ",\n                      credentials={\"username\": \"USER\", \"password\": \"PASSWORD\"}";
    }
    if to.is_encrypted {
        code += ",\n                      socket_factory=make_ssl_socket_factory(\"ca.pem\")";
    }
    code += ")\nprint(pool.get().describe_version())\n";
    ConnectSnippet { name: "pycassa", note: "For Python 2, with the calls of 0.7 to 1.x.", code }
}

fn hector(to: &Connecting) -> ConnectSnippet {
    let address = to.thrift;
    let mut code = "import me.prettyprint.cassandra.service.CassandraHostConfigurator;\n".to_owned();
    if to.needs_login {
        code += "import me.prettyprint.cassandra.model.AllOneConsistencyLevelPolicy;\n";
        code += "import me.prettyprint.cassandra.service.FailoverPolicy;\nimport java.util.*;\n";
    }
    code += "import me.prettyprint.hector.api.*;\nimport me.prettyprint.hector.api.factory.HFactory;\n\n";
    code += &format!("CassandraHostConfigurator hosts = new CassandraHostConfigurator(\"{address}\");\n");
    if to.needs_login {
        code += "Map<String, String> login = new HashMap<String, String>();\n";
        code += "login.put(\"username\", \"USER\");\nlogin.put(\"password\", \"PASSWORD\");\n";
        code += "Cluster cluster = HFactory.getOrCreateCluster(\"thriftstore\", hosts, login);\n";
        code += &format!(
            "Keyspace keyspace = HFactory.createKeyspace({}, cluster, new AllOneConsistencyLevelPolicy(),\n        \
             FailoverPolicy.ON_FAIL_TRY_ALL_AVAILABLE, login);\n",
            literal(&to.keyspace)
        );
    } else {
        code += "Cluster cluster = HFactory.getOrCreateCluster(\"thriftstore\", hosts);\n";
        code +=
            &format!("Keyspace keyspace = HFactory.createKeyspace({}, cluster);\n", literal(&to.keyspace));
    }
    code += "System.out.println(cluster.describeThriftVersion());\n";
    let note = if to.is_encrypted {
        "For Java, with the calls of 0.7 to 1.x. Hector takes the certificates for TLS from the system \
                 properties ssl.truststore and ssl.truststore.password."
    } else {
        "For Java, with the calls of 0.7 to 1.x."
    };
    ConnectSnippet { name: "Hector", note, code }
}

fn cqlsh(to: &Connecting, native: SocketAddr) -> ConnectSnippet {
    let mut code = "cqlsh".to_owned();
    if to.is_encrypted {
        code += " --ssl";
    }
    if to.needs_login {
        code += " -u USER";
    }
    code += &format!(" {} {}\n", native.ip(), native.port());
    let note = if to.is_encrypted {
        "The shell of Cassandra. The file ~/.cassandra/cqlshrc names the certificate for --ssl."
    } else {
        "The shell of Cassandra."
    };
    ConnectSnippet { name: "cqlsh", note, code }
}

fn python_driver(to: &Connecting, native: SocketAddr) -> ConnectSnippet {
    let mut code = "from cassandra.cluster import Cluster\n".to_owned();
    let mut options = format!("[\"{}\"], port={}", native.ip(), native.port());
    if to.needs_login {
        code += "from cassandra.auth import PlainTextAuthProvider\n";
        options += ", auth_provider=PlainTextAuthProvider(\"USER\", \"PASSWORD\")";
    }
    if to.is_encrypted {
        code += "from ssl import create_default_context\n";
        options += ",\n                  ssl_context=create_default_context(cafile=\"ca.pem\")";
    }
    code += &format!("\nsession = Cluster({options}).connect()\n");
    code += "print(session.execute(\"SELECT release_version FROM system.local\").one())\n";
    ConnectSnippet {
        name: "Driver for Python",
        note: "The DataStax driver: the package cassandra-driver.",
        code,
    }
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

    fn codes(to: &Connecting) -> Vec<(&'static str, String)> {
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
