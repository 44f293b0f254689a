//! Whether a call may run before a login, and the calls that are answered before it if the server requires one.
//!
//! Client libraries make these calls on a connection before they log in. None of the replies depends on which keyspaces
//! exist. Cassandra answered more: every describe call of 0.6, and with it the schema. This server answers those before
//! a login only under AllowAllAuthenticator.
//!
//! | call | made before the login by |
//! |---|---|
//! | `describe_version` | pycassa and phpcassa, to check the version of the interface |
//! | `set_keyspace` | pycassa, phpcassa, Hector, the Ruby gem, Hadoop's input format; any name is accepted, as in 2.1 |
//! | `describe_cluster_name` | Hector, to test whether a host is up again |
//! | `describe_ring`, `describe_local_ring` | the Ruby gem and Hadoop's input format, to find the nodes |
//! | `set_cql_version` | drivers of CQL over Thrift |
//! | `get_string_property` of the token map | the Ruby gem for 0.4 to 0.6, to find the nodes |

use std::sync::Arc;

use super::args::Args;
use super::dialect::Session;
use super::failure::Failure;
use super::methods::Method;
use crate::thrift::failure::Result;
use base::compat::features::ApiGeneration;
use base::compat::features::releases::LOGIN_TO_KEYSPACE;
use base::compat::texts;
use db::Database;

/// Methods whose replies do not depend on their arguments, or that handle a missing login themselves.
const METHODS: [&str; 7] = [
    "login",
    "set_keyspace",
    "set_cql_version",
    "describe_version",
    "describe_cluster_name",
    "describe_ring",
    "describe_local_ring",
];

/// Properties that reveal no more than these methods do.
const PROPERTIES: [&[u8]; 3] = [b"cluster name", b"version", b"token map"];

/// Refuses a call of a client that has not logged in, if the call needs a login. This does not depend on keyspaces in the
/// arguments, so the error does not reveal which keyspaces exist.
pub(super) fn check_login(
    database: &Arc<Database>,
    session: &Session,
    method: &Method,
    args: &Args<'_>,
) -> Result<()> {
    let is_open = if method.needs_login {
        session.is_open_to(method)
    } else {
        session.has_logged_in() || is_answered(method, args)
    };
    if !is_open && database.logins().are_required() {
        let text = texts::not_logged_in(method.releases.first());
        return Err(Failure::Failed(db::Error::invalid(text)));
    }
    check_old_user(session, method, args)
}

/// Checks whether the user of a login of 0.6 may use the keyspace in a call of 0.4 to 0.6. 0.6 checked this at the login
/// only, but the permissions of roles can change after it.
fn check_old_user(session: &Session, method: &Method, args: &Args<'_>) -> Result<()> {
    let Some(user) = &session.old_user else { return Ok(()) };
    if !method.needs_login || method.generation() == ApiGeneration::AfterSetKeyspace {
        return Ok(());
    }
    // A call without a keyspace argument affects all keyspaces.
    let keyspace = args.bytes(1).unwrap_or_default();
    if user.opens(&keyspace) {
        return Ok(());
    }
    let (user, keyspace) = (&user.name, String::from_utf8_lossy(&keyspace));
    let why = texts::keyspace_not_authorized(LOGIN_TO_KEYSPACE, user, &keyspace);
    Err(Failure::Failed(db::Error::invalid(why)))
}

/// Returns whether a call is answered to a client that has not logged in.
fn is_answered(method: &Method, args: &Args<'_>) -> bool {
    let has_property = |id| args.bytes(id).is_ok_and(|name| PROPERTIES.contains(&&name[..]));
    match method.name {
        "get_string_property" => has_property(1),
        "getStringProperty" => has_property(-1),
        name => METHODS.contains(&name),
    }
}
