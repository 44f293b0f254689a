//! Looks at a configuration: its mistakes, directories, ports, logins and certificates.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use super::finding::Findings;
use super::{cluster, directory};
use crate::cli::data;
use crate::cli::http_port::is_loopback;
use crate::cli::message::drawing;
use base::marshal::Types;
use base::util::counted;
use config::{AuthenticatorKind, Authority, CommitLogSync, Config, Note};
use net::Encryption;

/// Loads a configuration. `None` if it has mistakes, which are then problems.
pub(super) fn load(file: Option<&Path>, types: &Types, findings: &mut Findings) -> Option<Config> {
    let name = match file {
        Some(file) => file.display().to_string(),
        None if Path::new(config::FILE_NAME).exists() => config::FILE_NAME.to_owned(),
        None => format!("the {}", config::DEFAULT_NAME),
    };
    match config::load_or_default(file, types) {
        Ok(config) => {
            let families = counted(config.catalog.column_families().count() as u64, "column family");
            let keyspaces = counted(config.catalog.keyspaces.len() as u64, "keyspace");
            findings.fine(format!("{name}: {keyspaces} with {families}"));
            for Note { text, is_warning } in &config.notes {
                if *is_warning {
                    findings.advice(text.clone(), "correct or remove it");
                } else {
                    findings.fine(text.clone());
                }
            }
            Some(config)
        }
        Err(errors) => {
            findings.problem(
                format!("{name} has mistakes\n{}", drawing(&errors)),
                "correct them; docs/configuration.md lists what is allowed",
            );
            None
        }
    }
}

/// Looks at everything that a configuration names.
pub(super) fn check(config: &Config, findings: &mut Findings) {
    check_ports(config, findings);
    check_access(config, findings);
    check_encryption(config, findings);
    match &config.cluster {
        Some(cluster) => cluster::check(cluster, config, findings),
        None => {
            check_sync(config, findings);
            directory::check(&data::directory(None, config), Some(config), false, findings);
        }
    }
}

fn check_ports(config: &Config, findings: &mut Findings) {
    check_port("Thrift", config.thrift_host(), config.thrift_port, "--thrift HOST:PORT", findings);
    if config.native_transport && config.cluster.is_none() {
        check_port("CQL", config.native_host(), config.native_port, "--cql HOST:PORT", findings);
    }
}

fn check_port(protocol: &str, host: &str, port: u16, option: &str, findings: &mut Findings) {
    let address = format!("{host}:{port}");
    match TcpListener::bind(&address) {
        Ok(_) => findings.fine(format!("{address} is free for {protocol} clients")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => findings.advice(
            format!("{address}, for {protocol} clients, is in use"),
            format!("`thriftstore doctor {address}` shows by what; choose another address by {option}"),
        ),
        Err(error) => findings.problem(
            format!("cannot listen for {protocol} clients on {address}: {error}"),
            format!("choose an address of this machine by {option}; 0.0.0.0 is every interface"),
        ),
    }
}

/// Reports clients that need no password although the network reaches the port.
fn check_access(config: &Config, findings: &mut Findings) {
    match config.authenticator {
        AuthenticatorKind::AllowAll if !is_loopback(&format!("{}:0", config.thrift_host())) => findings.advice(
            format!(
                "everybody who reaches {}:{} can read and write",
                config.thrift_host(),
                config.thrift_port
            ),
            "set an Authenticator (docs/logins.md), or let a firewall admit the application's machines only",
        ),
        AuthenticatorKind::AllowAll => {}
        AuthenticatorKind::Simple => {
            let options = match config.authority {
                Some(Authority::AllowAll) => "--passwd FILE",
                _ => "--passwd FILE and --access FILE",
            };
            findings.advice(
                format!("SimpleAuthenticator: the server does not start without {options}"),
                "give these options to `serve`; the service of the deb has them in /etc/default/thriftstore \
                 (docs/logins.md)",
            );
        }
        AuthenticatorKind::Password => {
            findings.fine(
                "PasswordAuthenticator: users are created by CQL; change the password of `cassandra` first",
            );
        }
    }
}

fn check_encryption(config: &Config, findings: &mut Findings) {
    if config.needs_tls && config.client_encryption.is_none() {
        findings.problem(
            "client_encryption_options enables TLS with a Java keystore, which thriftstore does not read",
            "convert it to PEM files (docs/tls.md) and start with --tls-certificate FILE and --tls-key FILE",
        );
    }
    let Some(options) = &config.client_encryption else { return };
    match Encryption::open(options.clone()) {
        Ok(_) => {
            findings.fine(format!("TLS with the certificate of {}", options.certificate_file.display()));
        }
        Err(error) => findings.problem(error.to_string(), "see docs/tls.md"),
    }
}

fn check_sync(config: &Config, findings: &mut Findings) {
    match config.commit_log_sync {
        CommitLogSync::Periodic { period_ms } => findings.fine(format!(
            "a power failure may lose the writes of the last {period_ms} ms; CommitLogSync batch loses none"
        )),
        CommitLogSync::Batch { .. } => findings.fine("each write is on the disk before it is acknowledged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::{Finding, Severity};

    fn worst(check: impl FnOnce(&mut Findings)) -> Finding {
        let mut findings = Findings::default();
        check(&mut findings);
        findings.all().iter().max_by_key(|finding| finding.severity).cloned().unwrap()
    }

    #[test]
    fn mistakes_are_shown_with_their_place() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("storage-conf.xml");
        std::fs::write(&file, "<Storage>\n<Partitioner>None</Partitioner>\n</Storage>").unwrap();
        let found = worst(|findings| assert!(load(Some(&file), &Types::builtin(), findings).is_none()));
        assert_eq!(found.severity, Severity::Problem);
        assert!(found.text.contains("storage-conf.xml:2"), "{}", found.text);
    }

    #[test]
    fn ports_in_use_and_foreign_addresses_are_reported() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let look =
            |host: &str, port| worst(|findings| check_port("Thrift", host, port, "--thrift", findings));
        assert_eq!(look("127.0.0.1", port).severity, Severity::Advice);
        // An address of the documentation's network, which no machine has.
        assert_eq!(look("192.0.2.1", 9160).severity, Severity::Problem);
        drop(taken);
        assert_eq!(look("127.0.0.1", port).severity, Severity::Fine);
    }

    #[test]
    fn open_ports_without_logins_are_reported() {
        let parsed = |elements: &str| {
            config::parse(&format!("<Storage>{elements}</Storage>"), "a.xml", &Types::builtin()).unwrap()
        };
        let found =
            worst(|findings| check_access(&parsed("<ThriftAddress>0.0.0.0</ThriftAddress>"), findings));
        assert_eq!(found.severity, Severity::Advice);
        let mut none = Findings::default();
        check_access(&parsed(""), &mut none);
        assert_eq!(none.all(), []);
    }
}
