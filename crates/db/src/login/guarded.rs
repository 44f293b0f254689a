//! Logins under the guard against guessed passwords.

use std::future::Future;
use std::net::IpAddr;
use std::time::Instant;

use crate::{Credential, Error, Logins, Result};

impl Logins<'_> {
    /// Runs a login from an address, unless too many have failed there. Nothing is counted without an address, as in
    /// tests and tools, or if no login is required.
    ///
    /// # Errors
    /// `Authentication` if logins are refused, and any error of the login itself.
    pub async fn guarded<T>(
        &self,
        address: Option<IpAddr>,
        credentials: &[Credential],
        login: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let outcome = self.attempt(address, credentials, login).await;
        if self.are_required() {
            let metrics = self.database.metrics();
            match &outcome {
                Ok(_) => metrics.logins_ok.increase(),
                Err(_) => metrics.logins_failed.increase(),
            }
        }
        outcome
    }

    /// Runs a login, unless too many have failed.
    async fn attempt<T>(
        &self,
        address: Option<IpAddr>,
        credentials: &[Credential],
        login: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let guard = &self.database.login_guard;
        let is_counted = self.are_required() && guard.failures_max > 0;
        let Some(address) = address.filter(|_| is_counted) else { return login.await };
        let name = credentials.iter().find(|(key, _)| key == "username").map(|(_, name)| name);
        let name = name.map_or(&b""[..], |name| &name[..]);
        let attempt = guard.begin(address, name).await?;
        let outcome = login.await;
        match &outcome {
            // A 0.6 user without access to the keyspace has given the right password.
            Ok(_) | Err(Error::Authorization(_)) => guard.succeeded(attempt.key),
            Err(Error::Authentication(_)) => {
                if let Some(refused) = guard.failed(attempt.key, Instant::now()) {
                    let name: String = String::from_utf8_lossy(name).chars().take(64).collect();
                    tracing::warn!(
                        "logins of {name:?} from {} are refused for {refused:?}: {} have failed",
                        attempt.key.address,
                        guard.failures_max
                    );
                }
            }
            // The password was not checked.
            Err(_) => {}
        }
        outcome
    }
}
