//! The services of the ports that speak HTTP: the status port, the control port, the admin server.

use std::sync::Arc;

use super::admin::{AdminArgs, AdminOptions};
use super::control::{ControlArgs, ControlOptions};
use super::status::StatusArgs;
use crate::cli::Result;
use base::util::Password;
use base::util::meter::RequestLimits;
use console::metrics::ServerReadings;
use console::{Served, StatusPage};
use db::{Authenticator, Database};
use double::control::Sandboxes;
use web::{HostNames, HttpService};

/// The checked options of the ports.
pub(super) struct HttpOptions {
    status_token: Option<Password>,
    status_hosts: HostNames,
    control: Option<ControlOptions>,
    admin: AdminOptions,
}

/// The services of the ports.
pub(super) struct HttpServices {
    pub status: HttpService,
    /// `None` if the control port is disabled.
    pub control: Option<HttpService>,
    pub admin: HttpService,
    /// Whether clients of the admin server use TLS, if the server has a certificate.
    pub may_encrypt_admin: bool,
}

impl HttpOptions {
    /// Checks the options.
    pub(super) fn checked(
        status: &StatusArgs,
        control: &ControlArgs,
        admin: &AdminArgs,
        is_in_memory: bool,
        authenticator: &Authenticator,
    ) -> Result<HttpOptions> {
        Ok(HttpOptions {
            status_token: status.token()?,
            status_hosts: status.hosts(),
            control: control.options(is_in_memory)?,
            admin: admin.options(authenticator.requires_login(), is_in_memory)?,
        })
    }

    /// Makes the services. The current state of the database becomes the start-up state of the control API.
    pub(super) async fn services(
        self,
        database: &Arc<Database>,
        place: &str,
        sandboxes: Sandboxes,
        served: Served,
        server: ServerReadings,
        limits: RequestLimits,
    ) -> Result<HttpServices> {
        let HttpOptions { status_token, status_hosts, control, admin } = self;
        let page = StatusPage::new(database.clone(), place);
        let (controlled, control) = match control {
            Some(options) => {
                let control = options.control(database.clone(), sandboxes).await?;
                (Some(control.clone()), Some(options.service(&control)))
            }
            None => (None, None),
        };
        let may_encrypt_admin = admin.may_encrypt;
        let admin = admin.service(database, page.clone(), controlled, served, server, limits);
        Ok(HttpServices { status: page.port(status_token, status_hosts), control, admin, may_encrypt_admin })
    }
}
