//! The options of a cluster behind the server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::Result;
use base::util::password_of;
use cluster::{ClusterOptions, ClusterTls};
use config::{Cluster, ClusterEncryption, ClusterLogin};
use transfer::endpoint::Location;

/// The value of `--cluster` for a server without a cluster.
const OFF: &str = "off";

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Data on a cluster")]
pub(super) struct ClusterArgs {
    /// Store data on the cluster of these nodes
    ///
    /// Nodes of Cassandra 4 or 5 or of ScyllaDB, which report the other nodes. `off`: store data in a directory even if the configuration has a `<Cluster>`.
    #[arg(long = "cluster", value_name = "HOST[:PORT],...")]
    contact_points: Option<String>,
    /// The data centre of the nodes that requests are sent to, and of LOCAL_QUORUM
    #[arg(long = "cluster-dc", value_name = "NAME", hide_short_help = true)]
    data_center: Option<String>,
    /// The user with which the server logs in to the cluster, for all its clients
    #[arg(long = "cluster-user", value_name = "NAME", requires = "password_file", hide_short_help = true)]
    user: Option<String>,
    /// A file whose first line is the password of that user
    #[arg(long = "cluster-password-file", value_name = "FILE", hide_short_help = true)]
    password_file: Option<PathBuf>,
    /// Use TLS to the nodes; this PEM file has the authorities that sign their certificates; `any`: do not check
    /// certificates
    #[arg(long = "cluster-ca", value_name = "FILE", hide_short_help = true)]
    authorities: Option<String>,
    /// The server's certificate in PEM, if nodes require one
    #[arg(long = "cluster-cert", value_name = "FILE", requires = "own_key", hide_short_help = true)]
    own_certificate: Option<PathBuf>,
    /// The private key of that certificate in PEM, without a password
    #[arg(long = "cluster-key", value_name = "FILE", requires = "own_certificate", hide_short_help = true)]
    own_key: Option<PathBuf>,
    /// The replication of all keyspaces that the server creates on the cluster, instead of that in the schema:
    /// SimpleStrategy:3, or copies by data centre, east:3,west:2
    #[arg(long = "cluster-replication", value_name = "TEXT", value_parser = replication, hide_short_help = true)]
    replication: Option<Replication>,
}

/// The map of CQL's `replication`.
type Replication = BTreeMap<String, String>;

fn replication(text: &str) -> Result<Replication> {
    config::replication(text)
}

impl ClusterArgs {
    /// Returns the cluster: options override the configuration. `None` if there is no cluster.
    ///
    /// # Errors
    ///
    /// Names the options that are missing or contradict each other.
    pub(super) fn over(&self, configured: Option<Cluster>) -> Result<Option<Cluster>> {
        let mut cluster = match (self.contact_points.as_deref(), configured) {
            (Some(OFF), _) => None,
            (None, configured) => configured,
            (Some(list), configured) => {
                let contact_points = contact_points(list)?;
                Some(match configured {
                    Some(configured) => Cluster { contact_points, ..configured },
                    None => Cluster { contact_points, ..Cluster::default() },
                })
            }
        };
        let Some(found) = &mut cluster else {
            return match self.first_detail() {
                Some(flag) => Err(format!(
                    "{flag} is for a cluster, and there is none: set its nodes with --cluster HOST"
                )),
                None => Ok(None),
            };
        };
        if let Some(name) = &self.data_center {
            found.local_data_center = Some(name.clone());
        }
        if let Some(replication) = &self.replication {
            found.replication = Some(replication.clone());
        }
        found.login = self.login_over(found.login.take())?;
        found.encryption = self.encryption_over(found.encryption.take())?;
        Ok(cluster)
    }

    /// Returns a cluster whose nodes another option may set, in the form of `--cluster`.
    fn at(&self, nodes: Option<&str>, configured: Option<Cluster>) -> Result<Cluster> {
        let args = ClusterArgs {
            contact_points: nodes.map(str::to_owned).or_else(|| self.contact_points.clone()),
            ..self.clone()
        };
        let missing =
            "no cluster is given: write cluster:HOST:PORT,HOST:PORT, or set <Cluster> in the configuration";
        args.over(configured)?.ok_or_else(|| missing.to_owned())
    }

    /// Returns the options to connect to a location, if that is a cluster.
    pub(super) fn options_of(
        &self,
        location: &Location,
        configured: Option<&Cluster>,
    ) -> Result<Option<ClusterOptions>> {
        let Location::Cluster(nodes) = location else { return Ok(None) };
        options(&self.at(nodes.as_deref(), configured.cloned())?).map(Some)
    }

    /// Returns whether the command line sets the nodes of a cluster.
    pub(super) fn names_nodes(&self) -> bool {
        self.contact_points.as_deref().is_some_and(|list| list != OFF)
    }

    /// Returns the first option that is for a cluster but does not set its nodes.
    fn first_detail(&self) -> Option<&'static str> {
        let given = [
            (self.data_center.is_some(), "--cluster-dc"),
            (self.user.is_some(), "--cluster-user"),
            (self.password_file.is_some(), "--cluster-password-file"),
            (self.authorities.is_some(), "--cluster-ca"),
            (self.own_certificate.is_some(), "--cluster-cert"),
            (self.replication.is_some(), "--cluster-replication"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, flag)| flag)
    }

    fn login_over(&self, configured: Option<ClusterLogin>) -> Result<Option<ClusterLogin>> {
        match (&self.user, &self.password_file, configured) {
            (Some(user), Some(file), _) => {
                Ok(Some(ClusterLogin { user: user.clone(), password_file: file.clone() }))
            }
            (None, Some(file), Some(configured)) => {
                Ok(Some(ClusterLogin { password_file: file.clone(), ..configured }))
            }
            (None, Some(_), None) => Err("--cluster-password-file needs --cluster-user".to_owned()),
            (_, None, configured) => Ok(configured),
        }
    }

    fn encryption_over(&self, configured: Option<ClusterEncryption>) -> Result<Option<ClusterEncryption>> {
        let identity = self.own_certificate.clone().zip(self.own_key.clone());
        let mut encryption = match (&self.authorities, configured) {
            (Some(text), configured) => ClusterEncryption {
                authorities: config::authorities(text),
                identity: configured.and_then(|configured| configured.identity),
            },
            (None, Some(configured)) => configured,
            (None, None) if identity.is_none() => return Ok(None),
            (None, None) => {
                return Err(
                    "--cluster-cert needs TLS: set the authorities of the nodes' certificates with --cluster-ca FILE"
                        .to_owned(),
                );
            }
        };
        if identity.is_some() {
            encryption.identity = identity;
        }
        Ok(Some(encryption))
    }
}

/// Parses `host:port,host`.
fn contact_points(list: &str) -> Result<Vec<String>> {
    let points = list.split(',').map(config::contact_point);
    points.collect::<std::result::Result<_, _>>().map_err(|error| format!("--cluster: {error}"))
}

/// Returns the options to open the store with. Reads the password file.
pub(super) fn options(cluster: &Cluster) -> Result<ClusterOptions> {
    let credentials = match &cluster.login {
        None => None,
        Some(login) => {
            Some((login.user.clone(), password_of("the cluster's password", &login.password_file)?))
        }
    };
    Ok(ClusterOptions {
        local_data_center: cluster.local_data_center.clone(),
        credentials,
        tls: cluster.encryption.clone().map(|encryption| ClusterTls {
            authorities: encryption.authorities,
            certificate: encryption.identity,
        }),
        replication: cluster.replication.clone(),
        request_timeout: cluster
            .request_timeout_ms
            .map_or(ClusterOptions::REQUEST_TIMEOUT, Duration::from_millis),
        requests_max: cluster.requests_max.unwrap_or(ClusterOptions::REQUESTS_MAX),
        ..ClusterOptions::new(cluster.contact_points.clone())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;

    use super::*;
    use base::util::Password;
    use base::util::limits::PASSWORD_FILE_BYTES_MAX;

    #[derive(Debug, Parser)]
    struct ClusterWords {
        #[command(flatten)]
        cluster: ClusterArgs,
    }

    fn args(line: &str) -> ClusterArgs {
        let words = ["serve"].into_iter().chain(line.split_whitespace());
        ClusterWords::try_parse_from(words).unwrap().cluster
    }

    fn configured() -> Cluster {
        Cluster {
            contact_points: vec!["a:1".to_owned()],
            local_data_center: Some("east".to_owned()),
            login: Some(ClusterLogin { user: "front".to_owned(), password_file: "a.txt".into() }),
            encryption: Some(ClusterEncryption {
                authorities: Some("a.pem".into()),
                identity: Some(("a.crt".into(), "a.key".into())),
            }),
            replication: Some(replication("SimpleStrategy:1").unwrap()),
            request_timeout_ms: Some(5),
            requests_max: Some(6),
        }
    }

    #[test]
    fn options_that_are_not_given_are_as_configured() {
        assert_eq!(args("").over(None), Ok(None));
        assert_eq!(args("").over(Some(configured())), Ok(Some(configured())));
        let expected =
            Cluster { contact_points: vec!["b:9042".to_owned(), "c:2".to_owned()], ..configured() };
        assert_eq!(args("--cluster b,c:2").over(Some(configured())), Ok(Some(expected)));
        let alone = args("--cluster b").over(None).unwrap().unwrap();
        assert_eq!(alone, Cluster { contact_points: vec!["b:9042".to_owned()], ..Cluster::default() });
        assert_eq!(args("--cluster off").over(Some(configured())), Ok(None));
    }

    #[test]
    fn each_option_overrides_the_configuration() {
        let given = "--cluster-dc west --cluster-user me --cluster-password-file b.txt --cluster-ca b.pem \
                    --cluster-cert b.crt --cluster-key b.key --cluster-replication west:2";
        let expected = Cluster {
            local_data_center: Some("west".to_owned()),
            login: Some(ClusterLogin { user: "me".to_owned(), password_file: "b.txt".into() }),
            encryption: Some(ClusterEncryption {
                authorities: Some("b.pem".into()),
                identity: Some(("b.crt".into(), "b.key".into())),
            }),
            replication: Some(replication("west:2").unwrap()),
            ..configured()
        };
        assert_eq!(args(given).over(Some(configured())), Ok(Some(expected)));
        let other_file =
            args("--cluster-password-file b.txt").over(Some(configured())).unwrap().unwrap().login.unwrap();
        assert_eq!((other_file.user.as_str(), other_file.password_file), ("front", "b.txt".into()));
        let any = args("--cluster b --cluster-ca any").over(None).unwrap().unwrap();
        assert_eq!(any.encryption, Some(ClusterEncryption::default()));
    }

    #[test]
    fn incomplete_or_wrong_options_are_refused() {
        for (given, why) in [
            ("--cluster-dc east", "--cluster-dc is for a cluster, and there is none"),
            ("--cluster off --cluster-ca any", "--cluster-ca is for a cluster, and there is none"),
            ("--cluster a --cluster-password-file b.txt", "needs --cluster-user"),
            ("--cluster a --cluster-cert b.crt --cluster-key b.key", "--cluster-ca FILE"),
            ("--cluster a,", "is not the address of a node"),
            ("--cluster a:0", "is not a port"),
        ] {
            let error = args(given).over(None).unwrap_err();
            assert!(error.contains(why), "{given}: {error}");
        }
        for wrong in [
            "--cluster a --cluster-user me",
            "--cluster a --cluster-cert a.crt",
            "--cluster a --cluster-replication 3",
        ] {
            let words = ["serve"].into_iter().chain(wrong.split_whitespace());
            assert!(ClusterWords::try_parse_from(words).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_line_of_a_file_is_the_password() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("password");
        let mut cluster = configured();
        cluster.login = Some(ClusterLogin { user: "front".to_owned(), password_file: file.clone() });
        let missing = options(&cluster).unwrap_err();
        assert!(missing.contains("cannot read") && missing.contains("password"), "{missing}");
        fs::write(&file, "se cret\r\nmore\n").unwrap();
        let found = options(&cluster).unwrap();
        assert_eq!(found.credentials, Some(("front".to_owned(), Password::new("se cret"))));
        assert_eq!((found.request_timeout, found.requests_max), (Duration::from_millis(5), 6));
        let tls = found.tls.unwrap();
        assert_eq!(tls.authorities, Some("a.pem".into()));
        assert_eq!(tls.certificate, Some(("a.crt".into(), "a.key".into())));
        fs::write(&file, "\nsecret").unwrap();
        assert!(options(&cluster).unwrap_err().contains("nothing in its first line"));
        fs::write(&file, "x".repeat(PASSWORD_FILE_BYTES_MAX + 1)).unwrap();
        assert!(options(&cluster).unwrap_err().contains("more than"));
    }

    #[test]
    fn settings_that_are_not_configured_have_the_defaults_of_the_store() {
        let cluster = args("--cluster a").over(None).unwrap().unwrap();
        let found = options(&cluster).unwrap();
        assert_eq!(found.contact_points, ["a:9042"]);
        assert_eq!(found.request_timeout, ClusterOptions::REQUEST_TIMEOUT);
        assert_eq!(found.requests_max, ClusterOptions::REQUESTS_MAX);
        assert!(found.credentials.is_none() && found.tls.is_none() && found.replication.is_none());
    }
}
