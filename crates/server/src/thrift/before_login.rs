//! The calls that are answered before the login, if the server requires one.
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

use super::args::Args;
use super::methods::Method;

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

/// Returns whether a call is answered to a client that has not logged in.
pub fn is_answered(method: &Method, args: &Args<'_>) -> bool {
    let property = |id| args.bytes(id).is_ok_and(|name| PROPERTIES.contains(&&name[..]));
    match method.name {
        "get_string_property" => property(1),
        "getStringProperty" => property(-1),
        name => METHODS.contains(&name),
    }
}
