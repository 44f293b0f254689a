//! Detects the API generation of each call, and with it the behaviour that the call gets.
//!
//! A client does not send its release. But a method whose arguments changed has one row for each shape in the method
//! table, and the wire has the id and type of each argument. So most calls show their generation:
//!
//! ```text
//! call                               ids and types of the arguments            generation
//! insert(table, key, path, ...)      1 string, 2 string, 3 string, ...         0.3
//! insert(keyspace, key, path, ...)   1 string, 2 string, 3 struct, ...         0.4 to 0.6
//! insert(key, parent, column, ...)   1 string, 2 struct, 3 struct, ...         0.7 and later
//! describe_version()                 none                                      0.4 to 0.6, or 0.7 and later
//! ```
//!
//! The first three set the generation of the [`Session`]; the fourth uses it. For example, a connection that calls
//! `describe_version`, `insert` with a keyspace, and `describe_version` again:
//!
//! 1. `describe_version()` has a row in both generations, and the session has none yet: the expected generation of
//!    [`Compat`] decides, or else the transport. Unframed was the default up to 0.6, framed from 0.7 on.
//! 2. `insert` only fits the row of 0.4 to 0.6, so the session is of that generation.
//! 3. `describe_version()` now means the row of 0.4 to 0.6, whatever the transport.
//!
//! Within a generation [`Compat`] (`--compat`) selects the release, because calls of its releases are alike.

use std::net::IpAddr;

use bytes::Bytes;

use super::args::Args;
use super::methods::{self, Method};
use super::own_statements::OwnStatements;
use base::compat::Behaviour;
use base::compat::features::{ApiGeneration, Language, releases};
use base::util::Release;
use base::util::meter::MeterSlot;
use db::User;
use db::faults::{ClientConnection, ReplyFault};
use wire::thrift::frame::Transport;

/// The release whose behaviour calls of an API generation get, because their bytes do not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compat {
    /// For calls with a keyspace argument: 0.4 to 0.6. Calls of 0.3 have shapes of their own and need no setting.
    pub with_keyspace: Release,
    /// For calls after `set_keyspace`: 0.7 and later.
    pub after_set_keyspace: Release,
    /// The supported features of CQL 3: of the release that was set, or else all.
    pub language: Language,
    /// The API generation of a client before one of its calls shows it. `None`: its transport decides.
    pub expected: Option<ApiGeneration>,
}

impl Default for Compat {
    fn default() -> Compat {
        Compat {
            with_keyspace: releases::WITH_KEYSPACE,
            after_set_keyspace: releases::AFTER_SET_KEYSPACE,
            language: Language::default(),
            expected: None,
        }
    }
}

impl Compat {
    /// Returns the behaviour of these releases, at most one of each API generation.
    ///
    /// # Errors
    /// If a generation has two of them.
    pub fn of(chosen: &[Release]) -> Result<Compat, String> {
        for (are_new, calls) in
            [(false, "calls with a keyspace argument"), (true, "calls after set_keyspace")]
        {
            let mut of_generation = chosen.iter().filter(|release| {
                (ApiGeneration::of_release(**release) == ApiGeneration::AfterSetKeyspace) == are_new
            });
            if let (Some(first), Some(second)) = (of_generation.next(), of_generation.next()) {
                return Err(format!(
                    "{first} and {second} are both for {calls}, which have one release: remove one of them"
                ));
            }
        }
        let mut compat = Compat::default();
        chosen.iter().for_each(|release| compat.set(*release));
        Ok(compat)
    }

    /// Parses a release whose behaviour can be chosen: 0.4 to 3.11.
    ///
    /// # Errors
    /// Says which releases there are. No other release has the calls of 0.3.
    pub fn release(text: &str) -> Result<Release, String> {
        match text.parse()? {
            release if ApiGeneration::of_release(release) == ApiGeneration::WithTextPaths => {
                Err("calls of 0.3 always get the behaviour of 0.3; use 0.4 or later".to_owned())
            }
            release => Ok(release),
        }
    }

    fn level(&self, generation: ApiGeneration) -> Release {
        match generation {
            ApiGeneration::WithTextPaths => releases::WITH_TEXT_PATHS,
            ApiGeneration::WithKeyspace => self.with_keyspace,
            ApiGeneration::AfterSetKeyspace => self.after_set_keyspace,
        }
    }

    /// Returns the same releases with an expected generation, unless `set` has determined it.
    #[must_use]
    pub fn or_expecting(self, generation: Option<ApiGeneration>) -> Compat {
        Compat { expected: self.expected.or(generation), ..self }
    }

    /// Sets the release for its own API generation, and leaves the other generation as it is. 0.3 has no effect: it is
    /// the only release of its generation. If releases of only one generation are set, that generation is expected.
    pub fn set(&mut self, release: Release) {
        let generation = ApiGeneration::of_release(release);
        self.expected = self.expected.is_none_or(|other| other == generation).then_some(generation);
        match generation {
            ApiGeneration::WithTextPaths => {}
            ApiGeneration::WithKeyspace => self.with_keyspace = release,
            ApiGeneration::AfterSetKeyspace => {
                self.after_set_keyspace = release;
                self.language = Language::Of(release);
            }
        }
    }
}

/// The state of a connection.
#[derive(Debug, Default)]
pub struct Session {
    /// The address of the client, if it is connected by a network. Failed logins are counted by address.
    pub address: Option<IpAddr>,
    /// The connection, on a server with faults.
    pub connection: Option<ClientConnection>,
    /// Whether a login of 0.6 has succeeded. It opens all keyspaces to calls with a keyspace argument. A later failed
    /// login does not revoke it.
    pub is_logged_in: bool,
    /// The user of a login of 0.6, if the user's rights are checked at each call.
    pub old_user: Option<User>,
    /// The user of the last successful login of 0.7 or later, if the server has users.
    pub user: Option<User>,
    /// The API generation of the client, once a call has shown it.
    pub generation: Option<ApiGeneration>,
    /// The keyspace that `set_keyspace` selected.
    pub keyspace: Option<Bytes>,
    /// The last call was unreadable, and the release (0.7) then fails at the next call.
    pub has_lost_its_place: bool,
    /// The version that `set_cql_version` selected.
    pub cql_version: Option<String>,
    /// The prepared statements of CQL 2.
    pub own_statements: OwnStatements,
    /// Counts the memory and time of the connection's requests.
    pub meter: MeterSlot,
    /// The effect of a test's fault on the reply of the last request.
    pub reply_fault: Option<ReplyFault>,
}

impl Session {
    /// Returns the state of a new connection from an address.
    pub fn from_address(address: IpAddr) -> Session {
        Session { address: Some(address), ..Session::default() }
    }

    /// Returns the major version of CQL that `set_cql_version` selected.
    pub fn cql_major(&self) -> Option<u32> {
        self.cql_version.as_ref()?.split('.').next()?.parse().ok()
    }

    /// Returns whether the client has logged in for the API generation of a method. A login of one generation does not
    /// count for the other: the login of 0.6 has no user whose rights could be checked, and the login of 0.7 does not
    /// open a whole keyspace.
    pub fn is_open_to(&self, method: &Method) -> bool {
        match method.generation() {
            // 0.3 has no login. If a login is required, its calls need the login of 0.6.
            ApiGeneration::WithTextPaths | ApiGeneration::WithKeyspace => self.is_logged_in,
            ApiGeneration::AfterSetKeyspace => self.user.is_some(),
        }
    }

    /// Returns whether a login of either generation has succeeded.
    pub fn has_logged_in(&self) -> bool {
        self.is_logged_in || self.user.is_some()
    }

    /// Returns whether the client may be of 0.4 to 0.6 as well as of 0.7 or later. Calls of 0.3 do not decide that.
    pub fn is_of_either(&self) -> bool {
        matches!(self.generation, None | Some(ApiGeneration::WithTextPaths))
    }
}

/// Returns the row of the method table for a call; `None` if no method has this name, or if the release that `--compat`
/// names did not have it yet. Among the rows whose arguments have the call's types, it is the row of the release whose
/// behaviour applies.
///
/// If the rows that fit are of one API generation, the call sets the session's generation. If they are of several, the
/// session's generation decides. If the session has none, or its generation has no method of this name, the expected
/// generation decides, or else the transport.
pub(crate) fn find_method(
    name: &[u8],
    args: &Args<'_>,
    compat: &Compat,
    session: &mut Session,
    transport: Transport,
) -> Option<&'static Method> {
    let rows = methods::named(name);
    let named = || rows.iter().copied();
    let fits = rows.iter().rev().fold(0u64, |fits, row| fits << 1 | u64::from(args.fit(&row.args)));
    let of_shape = || named().enumerate().filter(|(at, _)| fits >> at & 1 == 1).map(|(_, method)| method);
    let likelier = compat.expected.unwrap_or(match transport {
        Transport::Framed => ApiGeneration::AfterSetKeyspace,
        Transport::Unframed => ApiGeneration::WithKeyspace,
    });
    let mut generations = of_shape().map(Method::generation);
    let first = generations.next();
    let is_certain = first.is_some() && generations.all(|generation| Some(generation) == first);
    if is_certain {
        session.generation = first;
    }
    let of_session =
        session.generation.filter(|generation| named().any(|method| method.generation() == *generation));
    let generation = of_session.unwrap_or(likelier);
    let level = compat.level(generation);
    // A release does not know what came after it.
    if named().all(|method| method.generation() == generation && method.releases.is_after(level)) {
        return None;
    }
    of_shape()
        .find(|method| method.generation() == generation && method.releases.has(level))
        .or_else(|| of_shape().rfind(|method| method.generation() == generation))
        .or_else(|| of_shape().next_back())
        .or_else(|| named().rfind(|method| method.generation() == generation))
        .or_else(|| named().next_back())
}

/// Returns the behaviour of a method's calls.
pub(crate) fn behaviour_for(method: &Method, compat: &Compat) -> &'static Behaviour {
    Behaviour::of(compat.level(method.generation()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_api_generation_has_one_release() {
        let both = Compat::of(&[Release::V0_5, Release::V1_2]).unwrap();
        assert_eq!((both.with_keyspace, both.after_set_keyspace), (Release::V0_5, Release::V1_2));
        for two in
            [[Release::V0_4, Release::V0_5], [Release::V2_1, Release::V0_7], [Release::V0_6, Release::V0_6]]
        {
            let error = Compat::of(&two).unwrap_err();
            let [first, second] = two;
            assert!(error.starts_with(&format!("{first} and {second} are both for")), "{error}");
        }
    }
}
