//! The token of a port that speaks HTTP.

use std::net::ToSocketAddrs;
use std::path::Path;

use crate::cli::Result;
use base::util::limits::STATUS_TOKEN_BYTES_MIN;
use base::util::{Password, password_of};
use web::HostNames;

/// A port that speaks HTTP, as errors name it.
#[derive(Debug, Clone, Copy)]
pub(super) struct HttpPort {
    /// The option with its address; the option with its token is the same with `-token-file`.
    pub option: &'static str,
    /// The option with a name under which clients reach it.
    pub host_option: &'static str,
    pub name: &'static str,
}

impl HttpPort {
    /// Returns the token that requests must have; `None` if all requests from this machine are accepted.
    ///
    /// # Errors
    /// If the token is unreadable or short, or if an address that other machines reach has no token.
    pub(super) fn token(&self, address: Option<&str>, file: Option<&Path>) -> Result<Option<Password>> {
        let HttpPort { option, name, .. } = self;
        match (file, address) {
            (Some(file), _) => {
                let token = password_of(&format!("the token of the {name}"), file)?;
                let is_one = token.reveal().bytes().all(|byte| byte.is_ascii_graphic());
                if !is_one || token.reveal().len() < STATUS_TOKEN_BYTES_MIN {
                    return Err(format!(
                        "{}: the token of the {name} must have at least {STATUS_TOKEN_BYTES_MIN} letters, digits and \
                         ASCII signs without blanks; `openssl rand -hex 16` prints one",
                        file.display()
                    ));
                }
                Ok(Some(token))
            }
            (None, Some(address)) if !is_loopback(address) => Err(format!(
                "{option} {address} can be reached from other machines: set a token with {option}-token-file FILE, or use a \
                 loopback address like 127.0.0.1"
            )),
            (None, _) => Ok(None),
        }
    }

    /// Returns the names under which clients reach the port: the host of its address, `HOST:PORT`, and the given names; any
    /// if requests need a token.
    pub(super) fn hosts(&self, address: Option<&str>, names: &[String], has_token: bool) -> HostNames {
        if has_token {
            return HostNames::any();
        }
        let host = address.and_then(|address| address.rsplit_once(':')).map(|(host, _)| host.to_owned());
        HostNames::new(self.host_option, host.into_iter().chain(names.iter().cloned()))
    }
}

/// Returns whether only this machine reaches an address. An address that cannot be resolved is an error later, when it
/// is bound.
pub(super) fn is_loopback(address: &str) -> bool {
    let Ok(mut found) = address.to_socket_addrs() else { return true };
    found.all(|address| address.ip().to_canonical().is_loopback())
}
