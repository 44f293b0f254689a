//! The options of the admin server.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::http_port::{HttpPort, is_loopback};
use crate::cli::Result;
use base::util::meter::RequestLimits;
use console::metrics::ServerReadings;
use console::{
    ADMIN_TIMES, AdminAccess, AdminParts, AdminState, ConsoleSettings, Served, StatusPage, admin_service,
};
use db::Database;
use double::control::Control;
use web::{HostNames, HttpService};

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Console and metrics")]
pub(super) struct AdminArgs {
    /// The address of the console [default: off]
    ///
    /// The admin server has pages for browsers, and metrics at /metrics. It also has the status page and, with --control,
    /// the control API. Port 0 picks a free one, `off` disables it. An address that is not loopback needs
    /// --admin-token-file or a configuration with logins.
    #[arg(long, value_name = "HOST:PORT")]
    admin: Option<String>,
    /// A file whose first line is the token of the admin server: people enter it in the login form, programs send
    /// `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "admin", hide_short_help = true)]
    admin_token_file: Option<PathBuf>,
    /// A name under which browsers reach the admin server, besides addresses, localhost and the host of --admin; may be
    /// given several times
    #[arg(long, value_name = "NAME", requires = "admin", hide_short_help = true)]
    admin_host: Vec<String>,
    /// Whether people may change data in the console
    ///
    /// Each with the rights of their user. [default: on with --ephemeral, otherwise off]
    #[arg(long, value_name = "on|off", requires = "admin", hide_possible_values = true)]
    admin_changes: Option<OnOff>,
}

/// The values of --admin-changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnOff {
    On,
    Off,
}

/// The checked options of the admin server.
pub(super) struct AdminOptions {
    access: AdminAccess,
    hosts: HostNames,
    may_change: bool,
    /// Whether clients use TLS, if the server has a certificate.
    pub may_encrypt: bool,
}

impl AdminArgs {
    /// Returns the address; `None` if the admin server is disabled.
    pub(super) fn address(&self) -> Option<&str> {
        self.admin.as_deref().filter(|address| *address != "off")
    }

    /// Checks the options. `is_in_memory`: the data ends with the server.
    pub(super) fn options(&self, needs_login: bool, is_in_memory: bool) -> Result<AdminOptions> {
        let port = HttpPort { option: "--admin", host_option: "--admin-host", name: "admin server" };
        // The users of the database are enough.
        let checked = self.address().filter(|_| !needs_login);
        let token = port.token(checked, self.admin_token_file.as_deref())?;
        let hosts = port.hosts(self.address(), &self.admin_host, token.is_some());
        let may_encrypt = self.address().is_some_and(|address| !is_loopback(address));
        let may_change = self.admin_changes.map_or(is_in_memory, |changes| changes == OnOff::On);
        let access = AdminAccess::new(token, needs_login);
        Ok(AdminOptions { access, hosts, may_change, may_encrypt })
    }
}

impl AdminOptions {
    /// Makes the service of the admin server.
    pub(super) fn service(
        self,
        database: &Arc<Database>,
        status: StatusPage,
        control: Option<Arc<Control>>,
        served: Served,
        server: ServerReadings,
        limits: RequestLimits,
    ) -> HttpService {
        let AdminOptions { access, hosts, may_change, .. } = self;
        if served.admin.is_some() {
            database.activity().begin();
        }
        let console = ConsoleSettings { limits, compat: served.compat, may_change };
        let database = database.clone();
        let parts = AdminParts { database, status, access, served, control, server, console };
        admin_service(&Arc::new(AdminState::new(parts)), hosts, ADMIN_TIMES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_a_token_or_a_login() {
        let options = |address: &str, needs_login| {
            let args = AdminArgs { admin: Some(address.to_owned()), ..AdminArgs::default() };
            args.options(needs_login, false).map(|options| options.access.is_open())
        };
        assert_eq!(options("127.0.0.1:0", false), Ok(true));
        assert_eq!(options("off", false), Ok(true));
        assert_eq!(options("0.0.0.0:1", true), Ok(false));
        assert_eq!(options("127.0.0.1:0", true), Ok(false));
        let may_change = |changes, is_in_memory| {
            let args = AdminArgs { admin_changes: changes, ..AdminArgs::default() };
            args.options(false, is_in_memory).map(|options| options.may_change)
        };
        assert_eq!((may_change(None, true), may_change(None, false)), (Ok(true), Ok(false)));
        assert_eq!(may_change(Some(OnOff::Off), true), Ok(false));
        assert_eq!(may_change(Some(OnOff::On), false), Ok(true));
        let error = options("0.0.0.0:1", false).unwrap_err();
        assert!(error.contains("--admin-token-file FILE"), "{error}");
    }
}
