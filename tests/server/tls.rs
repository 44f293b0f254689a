//! Clients with and without TLS on one port, certificates, and broken handshakes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support;
use net::{
    Admission, Client as Connected, ConnectionEnd, ConnectionHandler, Conversation, Encryption, Listener,
    Shutdown,
};
use support::Chance;
use support::calls::*;
use support::certificates::{Authority, TlsStream};
use support::client::{Client, PATIENCE, Style, raw};
use support::server::{Server, logged, storage_conf, wait_for_log};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::ProtocolVersion;
use tokio_rustls::rustls::version::{TLS12, TLS13};

const KS: &str = "Keyspace1";
const CERTIFICATE: [&str; 4] = ["--tls-certificate", "server.pem", "--tls-key", "server.key"];

/// Starts a server with a certificate; returns the authority that signed it too.
fn start(more: &[&str]) -> (Server, Authority, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign().write(directory.path());
    let more: Vec<&str> = ["--ephemeral"].iter().chain(&CERTIFICATE).chain(more).copied().collect();
    let server = Server::start(directory.path(), &storage_conf(""), &more);
    (server, authority, directory)
}

/// Starts a server whose certificate is configured in `<ClientEncryptionOptions>`, with more elements and files.
fn start_configured(elements: &str, files: &[(&str, String)]) -> (Server, Authority, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign().write(directory.path());
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let conf = storage_conf(&format!(
        "<ClientEncryptionOptions><CertificateFile>server.pem</CertificateFile><KeyFile>server.key</KeyFile>{elements}
         </ClientEncryptionOptions>"
    ));
    let server = Server::start(directory.path(), &conf, &["--ephemeral"]);
    (server, authority, directory)
}

fn is_served(stream: TlsStream) -> bool {
    let version = support::value::fields([]);
    Client::over(stream, Style::FRAMED).try_call("describe_version", &version).is_ok()
}

/// Returns whether the server closes the connection, ignoring what it sends before.
fn is_closed(mut stream: TcpStream) -> bool {
    let mut ignored = Vec::new();
    match stream.read_to_end(&mut ignored) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn every_tls_version_and_transport_is_served() {
    let (server, authority, _directory) = start(&[]);
    for (version, number) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)] {
        for style in Style::ALL {
            let mut client = Client::over(authority.connect(server.address, version, None), style);
            check_alive(&mut client);
            assert_eq!(client.stream.conn.protocol_version(), Some(number));
        }
    }
    server.stop();
}

#[test]
fn an_encrypted_connection_ends_with_close_notify() {
    let (server, authority, _directory) = start(&[]);
    let mut client = Client::over(authority.connect(server.address, &TLS13, None), Style::FRAMED);
    check_alive(&mut client);
    server.terminate();
    // Without `close_notify`, the read would fail: the connection could have been cut off.
    assert_eq!(client.stream.read(&mut [0]).unwrap(), 0);
    assert!(server.wait().success());
}

#[test]
fn large_messages_are_sent_in_both_directions() {
    let (server, authority, _directory) = start(&[]);
    let value = Chance::new(1).bytes(20 * 1024 * 1024);
    for version in [&TLS12, &TLS13] {
        let mut client = Client::over(authority.connect(server.address, version, None), Style::FRAMED);
        let args = insert_args(KS, b"large", path("Standard1", None, Some(b"c")), (&value, 1), ONE);
        client.call("insert", &args).void();
        assert!(value_of(&mut client, b"large", b"c") == Some(value.clone()));
    }
    server.stop();
}

#[test]
fn a_client_without_tls_is_closed_and_logged() {
    let (server, authority, directory) = start(&["--tls", "required"]);
    for style in Style::ALL {
        let mut client = server.client(style);
        client.begin("describe_version", &support::value::fields([])).unwrap();
        assert!(is_closed(client.stream));
    }
    wait_for_log(directory.path(), "the client does not use TLS");
    check_alive(&mut Client::over(authority.connect(server.address, &TLS13, None), Style::FRAMED));
    server.stop();
}

#[test]
fn optional_tls_serves_clients_with_and_without_tls() {
    let on_the_command_line = start(&["--tls", "optional"]);
    let configured = start_configured("<Optional>true</Optional>", &[]);
    for (server, authority, _directory) in [on_the_command_line, configured] {
        let mut plain: Vec<Client> = Style::ALL.into_iter().map(|style| server.client(style)).collect();
        let mut encrypted: Vec<_> = [&TLS12, &TLS13]
            .into_iter()
            .map(|version| Client::over(authority.connect(server.address, version, None), Style::FRAMED))
            .collect();
        for _ in 0..2 {
            plain.iter_mut().for_each(check_alive);
            encrypted.iter_mut().for_each(check_alive);
        }
        server.stop();
    }
}

#[test]
fn client_certificates_are_checked() {
    let (ours, others) = (Authority::new(), Authority::new());
    let required = "<ClientCertificateAuthorities>clients.pem</ClientCertificateAuthorities>";
    let files = [("clients.pem", ours.pem())];
    let (server, authority, directory) = start_configured(required, &files);
    let (right, wrong) = (ours.sign(), others.sign());
    for version in [&TLS12, &TLS13] {
        assert!(!is_served(authority.connect(server.address, version, None)), "a client without one");
        assert!(!is_served(authority.connect(server.address, version, Some(&wrong))), "another's");
        assert!(is_served(authority.connect(server.address, version, Some(&right))));
    }
    wait_for_log(directory.path(), "the TLS handshake failed: peer sent no certificates");
    wait_for_log(directory.path(), "the TLS handshake failed: invalid peer certificate: UnknownIssuer");
    server.stop();

    let may = format!("{required}<RequireClientAuth>false</RequireClientAuth>");
    let (server, authority, _directory) = start_configured(&may, &files);
    for version in [&TLS12, &TLS13] {
        assert!(is_served(authority.connect(server.address, version, None)));
        assert!(!is_served(authority.connect(server.address, version, Some(&wrong))));
        assert!(is_served(authority.connect(server.address, version, Some(&right))));
    }
    server.stop();
}

/// Returns the ClientHello of a TLS 1.0 client of 2012, with one cipher suite and no extensions.
fn hello_of_tls_1_0() -> Vec<u8> {
    let body = [&[0x03, 0x01][..], &[7; 32], &[0, 0, 2, 0x00, 0x2f, 1, 0]].concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[0x16, 0x03, 0x01, 0, length + 4, 0x01, 0, 0, length][..], &body].concat()
}

#[test]
fn broken_handshakes_do_not_affect_other_clients() {
    let (server, authority, directory) = start(&["--tls", "optional"]);
    let mut chance = Chance::new(7);
    for length in [0, 1, 5, 500, 70_000] {
        let mut stream = raw(server.address);
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(&[&[0x16, 0x03, 0x01][..], &chance.bytes(length)].concat());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(is_closed(stream), "{length}");
    }
    let mut stream = raw(server.address);
    stream.write_all(&hello_of_tls_1_0()).unwrap();
    assert!(is_closed(stream));
    wait_for_log(directory.path(), "the server supports TLS 1.2 and 1.3");
    assert!(!is_served(Authority::new().connect(server.address, &TLS13, None)));
    wait_for_log(directory.path(), "the client does not trust the server's certificate");
    check_alive(&mut Client::over(authority.connect(server.address, &TLS13, None), Style::FRAMED));
    check_alive(&mut server.client(Style::FRAMED));
    server.stop();
}

#[test]
fn shutdown_does_not_wait_for_handshakes() {
    let (server, _authority, _directory) = start(&[]);
    let silent = raw(server.address);
    let mut stalled = raw(server.address);
    stalled.write_all(&[0x16, 0x03, 0x01, 0x02]).unwrap();
    let start = Instant::now();
    server.stop();
    assert!(start.elapsed() < Duration::from_secs(7));
    assert!(is_closed(silent) && is_closed(stalled));
}

#[test]
fn certificates_are_read_again_at_sighup() {
    let (server, former, directory) = start(&[]);
    let server = server.expecting("the former certificates stay");
    let mut open = Client::over(former.connect(server.address, &TLS13, None), Style::FRAMED);
    check_alive(&mut open);

    fs::write(directory.path().join("server.pem"), "no certificate").unwrap();
    server.hang_up();
    wait_for_log(
        directory.path(),
        "the former certificates stay in use: server.pem is not a PEM file with certificates",
    );
    assert!(is_served(former.connect(server.address, &TLS13, None)));

    let fresh = Authority::new();
    fresh.sign().write(directory.path());
    server.hang_up();
    wait_for_log(directory.path(), "certificates read again");
    assert!(is_served(fresh.connect(server.address, &TLS13, None)));
    assert!(!is_served(former.connect(server.address, &TLS13, None)));
    check_alive(&mut open);
    server.stop();
}

#[test]
fn without_a_certificate_the_log_explains_how_to_enable_tls() {
    let (server, directory) = Server::ephemeral(&[]);
    assert!(!is_served(Authority::new().connect(server.address, &TLS13, None)));
    wait_for_log(directory.path(), "set one with --tls-certificate and --tls-key");
    server.stop();
}

/// Returns the output of a server that does not start.
fn failure(directory: &Path, more: &[&str]) -> String {
    let more: Vec<&str> = ["--ephemeral"].iter().chain(more).copied().collect();
    let (status, output) = Server::fail(directory, &more);
    assert!(!status.success());
    output
}

#[test]
fn invalid_tls_files_prevent_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("storage-conf.xml"), storage_conf("")).unwrap();
    assert!(failure(directory, &CERTIFICATE).contains("cannot read server.pem: No such file"));
    assert!(failure(directory, &CERTIFICATE[..2]).contains("--tls-key"));
    assert!(failure(directory, &["--tls", "required"]).contains("set --tls-certificate"));

    let authority = Authority::new();
    let [certificate, key] = authority.sign().write(directory);
    let wrong_way_round = ["--tls-certificate", "server.key", "--tls-key", "server.pem"];
    let error = failure(directory, &wrong_way_round);
    assert!(
        error.contains("server.key is not a PEM file with certificates: there are none in it"),
        "{error}"
    );
    fs::write(&key, authority.sign().key).unwrap();
    let error = failure(directory, &CERTIFICATE);
    assert!(
        error.contains("the certificate in server.pem cannot be used with the key in server.key"),
        "{error}"
    );
    fs::write(&key, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
        .unwrap();
    assert!(failure(directory, &CERTIFICATE).contains("the key has a password: `openssl pkey` takes it off"));
    fs::write(&certificate, b"\xfe\xed\xfe\xed\0\0\0\x02").unwrap();
    assert!(
        failure(directory, &CERTIFICATE)
            .contains("it is a Java keystore: convert it with `keytool -importkeystore")
    );
    fs::write(&certificate, vec![b'\n'; 2 * 1024 * 1024]).unwrap();
    assert!(failure(directory, &CERTIFICATE).contains("server.pem has more than 1048576 bytes"));

    authority.sign().write(directory);
    fs::write(directory.join("clients.pem"), "").unwrap();
    let error = failure(directory, &[&CERTIFICATE[..], &["--tls-client-ca", "clients.pem"]].concat());
    assert!(error.contains("clients.pem is not a PEM file with certificates"), "{error}");
    assert!(!logged(directory).contains("panicked"));
}

/// A protocol that sends back all bytes that it receives.
#[derive(Clone)]
struct Echo;

impl ConnectionHandler for Echo {
    fn serve(&self, client: Connected) -> Conversation {
        Box::pin(echo(client))
    }
}

async fn echo(mut client: Connected) -> Result<(), ConnectionEnd> {
    let mut words = [0; 100];
    loop {
        let count = client.stream.read(&mut words).await?;
        if count == 0 {
            return Ok(());
        }
        client.stream.write_all(&words[..count]).await?;
        client.stream.flush().await?;
    }
}

#[test]
fn a_stalled_handshake_is_closed_and_does_not_delay_others() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let options = authority.server_in(directory.path(), false);
    let patience = Duration::from_millis(200);
    let encryption = Encryption::open(options).unwrap().with_patience(patience);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let shutdown = Shutdown::new();
    let admission = Admission::new(shutdown.signal().unwrap()).with_encryption(Some(Arc::new(encryption)));
    let address = runtime.block_on(async {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address;
        listener.start(Echo, admission);
        address
    });

    let start = Instant::now();
    let silent = raw(address);
    let mut stalled = raw(address);
    stalled.write_all(&[0x16, 0x03, 0x01, 0x02]).unwrap();
    let mut quick = authority.connect(address, &TLS13, None);
    for word in [b"one", b"two"] {
        quick.write_all(word).unwrap();
        let mut back = [0; 3];
        quick.read_exact(&mut back).unwrap();
        assert_eq!(&back, word);
    }
    assert!(is_closed(silent) && is_closed(stalled));
    assert!(start.elapsed() >= patience);
    // A connection has no time limit after its handshake.
    std::thread::sleep(patience);
    quick.write_all(b"end").unwrap();
    quick.read_exact(&mut [0; 3]).unwrap();
    drop(quick);
    assert!(runtime.block_on(shutdown.end(PATIENCE)));
}
