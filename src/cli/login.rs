//! The options of logins, combined with the configuration.

use std::path::PathBuf;

use clap::Args;

use crate::cli::Result;
use config::{AuthenticatorKind, Authority, Config};
use db::limits::LOGIN_FAILURES_MAX;
use db::{Authenticator, LoginGuard, PasswordMode, SimpleAuthenticator};

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Logins of Thrift clients")]
pub(super) struct LoginArgs {
    /// The users of SimpleAuthenticator: a file with lines of user=password
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    passwd: Option<PathBuf>,
    /// The rights of SimpleAuthority: a file with lines of `keyspace=user,user` or
    /// `keyspace.columnfamily.<rw>=user,user`
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    access: Option<PathBuf>,
    /// The format of the passwords in the passwd file: PLAIN or MD5 [default: PLAIN]
    #[arg(long, value_name = "MODE", hide_short_help = true)]
    passwd_mode: Option<PasswordMode>,
    /// Consecutive failed logins of a user from an address before further ones are refused, for 15 seconds at first and
    /// 15 minutes at most; 0: never refuse [default: 10]
    #[arg(long, value_name = "COUNT", hide_short_help = true)]
    login_failures: Option<u32>,
}

impl LoginArgs {
    /// Returns the authenticator of the configuration and the options. Checks the files of SimpleAuthenticator.
    ///
    /// # Errors
    ///
    /// Names the options that contradict the configuration or would have no effect.
    pub(super) fn authenticator(&self, config: &Config) -> Result<Authenticator> {
        check_authority(config)?;
        match config.authenticator {
            AuthenticatorKind::AllowAll => match self.first_option() {
                Some(option) => Err(format!(
                    "{option} has no effect: the configuration has AllowAllAuthenticator, which checks no passwords; \
                     remove it, or write <Authenticator>SimpleAuthenticator</Authenticator> (for --login-failures also \
                     PasswordAuthenticator)"
                )),
                None => Ok(Authenticator::AllowAll),
            },
            AuthenticatorKind::Simple => {
                let simple = self.simple_authenticator(config.authority != Some(Authority::AllowAll))?;
                simple.check_files()?;
                Ok(Authenticator::Simple(simple))
            }
            AuthenticatorKind::Password => {
                match self.first_option().filter(|option| *option != LOGIN_FAILURES) {
                    Some(option) => Err(format!(
                        "{option} is for SimpleAuthenticator; create the users of PasswordAuthenticator with CREATE USER"
                    )),
                    None => {
                        let are_permissions_enforced = config.authority == Some(Authority::Roles);
                        Ok(Authenticator::Password { are_permissions_enforced })
                    }
                }
            }
        }
    }

    /// Returns the guard that limits failed logins.
    pub(super) fn guard(&self) -> LoginGuard {
        LoginGuard::new(self.login_failures.unwrap_or(LOGIN_FAILURES_MAX))
    }

    /// Returns the first given option.
    fn first_option(&self) -> Option<&'static str> {
        let given = [
            (self.passwd.is_some(), "--passwd"),
            (self.access.is_some(), "--access"),
            (self.passwd_mode.is_some(), "--passwd-mode"),
            (self.login_failures.is_some(), LOGIN_FAILURES),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    fn simple_authenticator(&self, asks_rights: bool) -> Result<SimpleAuthenticator> {
        if asks_rights && self.access.is_none() {
            return Err(
                "the configuration has SimpleAuthenticator: set its users with --passwd FILE and its rights with --access \
                 FILE; with AllowAllAuthority as Authority the rights are not needed"
                    .to_owned(),
            );
        }
        if !asks_rights && self.access.is_some() {
            return Err(
                "--access has no effect: with AllowAllAuthority all users have all rights; remove it, or write \
                 <Authority>SimpleAuthority</Authority>"
                    .to_owned(),
            );
        }
        let passwd_file = self
            .passwd
            .clone()
            .ok_or("the configuration has SimpleAuthenticator: set its users with --passwd FILE")?;
        let mode = self.passwd_mode.unwrap_or(PasswordMode::Plain);
        Ok(SimpleAuthenticator { passwd_file, access_file: self.access.clone(), mode })
    }
}

const LOGIN_FAILURES: &str = "--login-failures";

/// Checks that the authority is compatible with the authenticator.
fn check_authority(config: &Config) -> Result<()> {
    let why = match (config.authenticator, config.authority) {
        (AuthenticatorKind::AllowAll, Some(Authority::Simple)) => {
            "the configuration has SimpleAuthority, which needs SimpleAuthenticator: without a login there is no user \
             whose rights could be checked"
        }
        (AuthenticatorKind::AllowAll | AuthenticatorKind::Simple, Some(Authority::Roles)) => {
            "the configuration has CassandraAuthorizer, which needs PasswordAuthenticator: permissions are granted to \
             its users"
        }
        (AuthenticatorKind::Password, Some(Authority::Simple)) => {
            "the configuration has SimpleAuthority, which needs SimpleAuthenticator; with \
             PasswordAuthenticator the Authority is CassandraAuthorizer or AllowAllAuthorizer"
        }
        _ => return Ok(()),
    };
    Err(why.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use base::marshal::Types;

    #[derive(Debug, Parser)]
    struct LoginWords {
        #[command(flatten)]
        login: LoginArgs,
    }

    /// Returns whether a login is required, or why the options are refused.
    fn outcome(line: &str, elements: &str) -> Result<bool> {
        let words = ["serve"].into_iter().chain(line.split_whitespace());
        let args = LoginWords::try_parse_from(words).unwrap().login;
        let file = format!("<Storage>{elements}</Storage>");
        let config = config::parse(&file, "a.xml", &Types::builtin()).unwrap();
        args.authenticator(&config).map(|found| found.requires_login())
    }

    #[test]
    fn options_without_an_effect_are_refused() {
        let simple = "<Authenticator>SimpleAuthenticator</Authenticator>";
        let open =
            "<Authenticator>SimpleAuthenticator</Authenticator><Authority>AllowAllAuthority</Authority>";
        let password = "<Authenticator>PasswordAuthenticator</Authenticator>";
        assert_eq!(outcome("", ""), Ok(false));
        assert_eq!(outcome("", password), Ok(true));
        assert_eq!(outcome("--login-failures 3", password), Ok(true));
        for (line, elements, why) in [
            ("--passwd p", "", "--passwd has no effect: the configuration has AllowAllAuthenticator"),
            ("--access a", "", "--access has no effect"),
            ("--passwd-mode MD5", "", "--passwd-mode has no effect"),
            ("--login-failures 3", "", "--login-failures has no effect"),
            ("--passwd p", password, "--passwd is for SimpleAuthenticator"),
            ("--passwd-mode PLAIN", password, "--passwd-mode is for SimpleAuthenticator"),
            ("--passwd p --access a", open, "--access has no effect: with AllowAllAuthority"),
            ("--passwd p", simple, "--access FILE"),
            ("", open, "--passwd FILE"),
            ("--passwd no/such/file", open, "cannot read --passwd no/such/file: "),
            ("", "<Authority>SimpleAuthority</Authority>", "needs SimpleAuthenticator"),
            ("", "<Authority>CassandraAuthorizer</Authority>", "needs PasswordAuthenticator"),
        ] {
            let error = outcome(line, elements).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }

    #[test]
    fn the_help_has_the_default() {
        let help = <LoginWords as clap::CommandFactory>::command().render_long_help().to_string();
        assert!(help.contains(&format!("[default: {LOGIN_FAILURES_MAX}]")), "{help}");
    }
}
