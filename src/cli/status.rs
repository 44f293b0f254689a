//! The options of the status port.

use std::path::PathBuf;

use clap::Args;

use super::http_port::HttpPort;
use crate::cli::Result;
use base::util::Password;
use web::HostNames;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Status port")]
pub(super) struct StatusArgs {
    /// The address of the status port: HTTP with GET / for people and GET /health for probes; port 0 picks a free one.
    /// An address that is not loopback needs --status-token-file [default: disabled]
    #[arg(long, value_name = "HOST:PORT", hide_short_help = true)]
    pub status: Option<String>,
    /// A file whose first line is the token of requests to the status port, as in `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "status", hide_short_help = true)]
    status_token_file: Option<PathBuf>,
    /// A name under which clients reach the status port, besides addresses, localhost and the host of --status; may be
    /// given several times
    #[arg(long, value_name = "NAME", requires = "status", hide_short_help = true)]
    status_host: Vec<String>,
}

const PORT: HttpPort = HttpPort { option: "--status", host_option: "--status-host", name: "status port" };

impl StatusArgs {
    /// Returns the token that requests must have; `None` if all requests from this machine are accepted.
    pub(super) fn token(&self) -> Result<Option<Password>> {
        PORT.token(self.status.as_deref(), self.status_token_file.as_deref())
    }

    /// Returns the names under which clients reach the port.
    pub(super) fn hosts(&self) -> HostNames {
        PORT.hosts(self.status.as_deref(), &self.status_host, self.status_token_file.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn args(address: &str, token_file: Option<PathBuf>) -> StatusArgs {
        StatusArgs {
            status: Some(address.to_owned()),
            status_token_file: token_file,
            status_host: Vec::new(),
        }
    }

    #[test]
    fn other_machines_need_a_token() {
        assert_eq!(StatusArgs::default().token(), Ok(None));
        for own in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "localhost:1"] {
            assert_eq!(args(own, None).token(), Ok(None), "{own}");
        }
        for reachable in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1"] {
            let error = args(reachable, None).token().unwrap_err();
            assert!(error.contains(&format!("--status {reachable} can be reached")), "{error}");
            assert!(error.contains("--status-token-file FILE"), "{error}");
        }
    }

    #[test]
    fn a_token_must_be_long_and_without_blanks() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        let token = || args("0.0.0.0:1", Some(file.clone())).token();
        assert!(token().unwrap_err().contains("cannot read the token of the status port from"));
        for wrong in ["short", "two words of a token", "tökentökentökentöken"] {
            fs::write(&file, wrong).unwrap();
            assert!(token().unwrap_err().contains("at least 16 letters"), "{wrong}");
        }
        fs::write(&file, "0123456789abcdef\nmore\n").unwrap();
        assert_eq!(token().unwrap().unwrap().reveal(), "0123456789abcdef");
    }
}
