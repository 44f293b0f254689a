//! Which generation of the API a call belongs to, and how the server behaves towards it.

use std::net::IpAddr;

use bytes::Bytes;

use super::args::Args;
use super::frame::Transport;
use super::methods::{self, Method};
use super::own_statements::OwnStatements;
use crate::compat::Behaviour;
use crate::compat::features::{Family, Language, releases};
use crate::db::User;
use crate::util::Release;
use crate::util::meter::MeterSlot;

/// Whose behaviour applies where the bytes of a call do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compat {
    /// For calls that carry a keyspace: 0.4 to 0.6. Those of 0.3 have shapes of their own, so they always tell.
    pub with_keyspace: Release,
    /// For calls after set_keyspace: 0.7 and later.
    pub after_set_keyspace: Release,
    /// How much of CQL 3 there is: what the release had that was asked for, or else all that we know.
    pub language: Language,
}

impl Default for Compat {
    fn default() -> Compat {
        Compat {
            with_keyspace: releases::WITH_KEYSPACE,
            after_set_keyspace: releases::AFTER_SET_KEYSPACE,
            language: Language::default(),
        }
    }
}

impl Compat {
    fn level(&self, family: Family) -> Release {
        match family {
            Family::WithTextPaths => releases::WITH_TEXT_PATHS,
            Family::WithKeyspace => self.with_keyspace,
            Family::AfterSetKeyspace => self.after_set_keyspace,
        }
    }

    /// Sets the level of the release's own family and leaves the other. 0.3 is the whole of its family, which has
    /// nothing to set.
    pub fn set(&mut self, release: Release) {
        match Family::of_release(release) {
            Family::WithTextPaths => {}
            Family::WithKeyspace => self.with_keyspace = release,
            Family::AfterSetKeyspace => {
                self.after_set_keyspace = release;
                self.language = Language::Of(release);
            }
        }
    }
}

/// One connection's state.
#[derive(Debug, Default)]
pub struct Session {
    /// The address of the client, where it came over a network: failed logins are counted by it.
    pub address: Option<IpAddr>,
    /// A login of 0.6 has succeeded. It opens every keyspace to calls that carry one, and a later login that fails
    /// takes nothing back.
    pub is_logged_in: bool,
    /// Who has logged in as of 0.6, where what they may do is asked at each call.
    pub old_user: Option<User>,
    /// Who has logged in as of 0.7 or later, where there are users; the last login that succeeded counts.
    pub user: Option<User>,
    /// Which calls the client uses, once one has told.
    pub family: Option<Family>,
    /// What set_keyspace chose.
    pub keyspace: Option<Bytes>,
    /// The last call was unreadable to a release that then fails at the next one.
    pub has_lost_its_place: bool,
    /// What set_cql_version chose.
    pub cql_version: Option<String>,
    /// What the client has prepared in CQL 2.
    pub own_statements: OwnStatements,
    /// What its requests hold.
    pub meter: MeterSlot,
}

impl Session {
    /// The state of a new connection from an address.
    pub fn from_address(address: IpAddr) -> Session {
        Session { address: Some(address), ..Session::default() }
    }

    /// The major version of CQL that set_cql_version chose.
    pub fn cql_major(&self) -> Option<u32> {
        self.cql_version.as_ref()?.split('.').next()?.parse().ok()
    }

    /// Whether the client has logged in for the calls of a method's family. Neither of the two logins counts for
    /// the other's calls: that of 0.6 names no user whose rights could be looked up, and that of 0.7 opens no
    /// keyspace as a whole.
    pub fn is_open_to(&self, method: &Method) -> bool {
        match method.family() {
            // 0.3 has no login: where one is needed, its calls pass after that of 0.6.
            Family::WithTextPaths | Family::WithKeyspace => self.is_logged_in,
            Family::AfterSetKeyspace => self.user.is_some(),
        }
    }

    /// Whether a login of either generation has succeeded.
    pub fn has_logged_in(&self) -> bool {
        self.is_logged_in || self.user.is_some()
    }

    /// Whether the client may be one of 0.4 to 0.6 as well as one of 0.7 or later. A call of 0.3 tells neither.
    pub fn is_of_either(&self) -> bool {
        matches!(self.family, None | Some(Family::WithTextPaths))
    }
}

/// The row of the method table that a call means: that whose arguments have the call's types, and among those
/// that of the release whose behaviour applies. `None` when there is no method of this name.
///
/// What only one family has tells the session's family. What several have the session's family decides, and where
/// that has no such name, or nothing has been told yet, the transport: unframed was the default up to 0.6, and framed
/// from 0.7 on.
pub fn find_method(
    name: &[u8],
    args: &Args<'_>,
    compat: &Compat,
    session: &mut Session,
    transport: Transport,
) -> Option<&'static Method> {
    let rows = methods::named(name);
    let named = || rows.iter().copied();
    let of_shape = || named().filter(|method| args.fit(method.args));
    let likelier =
        if transport == Transport::Framed { Family::AfterSetKeyspace } else { Family::WithKeyspace };
    let mut families = of_shape().map(Method::family);
    let first = families.next();
    let is_told = first.is_some() && families.all(|family| Some(family) == first);
    if is_told {
        session.family = first;
    }
    let is_named = |family: &Family| named().any(|method| method.family() == *family);
    let family = session.family.filter(is_named).unwrap_or(likelier);
    let level = compat.level(family);
    of_shape()
        .find(|method| method.family() == family && method.releases.has(level))
        .or_else(|| of_shape().rfind(|method| method.family() == family))
        .or_else(|| of_shape().next_back())
        .or_else(|| named().rfind(|method| method.family() == family))
        .or_else(|| named().next_back())
}

/// The behaviour that a method's calls get.
pub fn behaviour_for(method: &Method, compat: &Compat) -> &'static Behaviour {
    Behaviour::of(compat.level(method.family()))
}
