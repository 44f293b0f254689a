//! A server in the test process, with chosen limits.

use std::net::SocketAddr;

use db::Authenticator;
use double::testing::Server;
use net::{ConnectionLimits, Encryption};

use super::client::{Client, PATIENCE, Style};
use super::server::storage_conf;

/// A running server and its addresses.
pub struct Serving {
    server: Server,
    pub thrift: SocketAddr,
    pub native: SocketAddr,
}

impl Serving {
    /// Serves `storage_conf("")` without logins.
    pub fn limited(limits: ConnectionLimits) -> Serving {
        Serving::start(limits, Authenticator::AllowAll, None)
    }

    pub fn start(
        limits: ConnectionLimits,
        authenticator: Authenticator,
        encryption: Option<Encryption>,
    ) -> Serving {
        let builder = Server::builder().config_text(storage_conf("")).limits(limits);
        let builder = builder.authenticator(authenticator);
        let builder = match encryption {
            Some(encryption) => builder.encryption(encryption),
            None => builder,
        };
        let server = builder.start().unwrap();
        Serving { thrift: server.thrift_address(), native: server.native_address(), server }
    }

    pub fn client(&self, style: Style) -> Client {
        Client::connect(self.thrift, style)
    }

    /// Shuts the server down, and checks that all connections end in time.
    pub fn stop(self) {
        assert!(self.server.stop(PATIENCE), "some connections did not end");
    }
}
