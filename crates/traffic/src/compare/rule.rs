//! The rules by which unequal parts of two answers count as equal.

use strum::{IntoStaticStr, VariantArray};

/// A rule. Each use is counted in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Rule {
    /// Maps and sets have no order.
    MapOrder,
    /// The server's clock set the time.
    ServerTime,
    /// The rest of a time to live, which has become shorter.
    TimeToLive,
    /// A random UUID that the server made.
    RandomUuid,
    /// The version of the schema, and ids of column families.
    SchemaId,
    /// The ring: tokens, addresses, splits.
    Ring,
    /// One server requires a login, and the other does not.
    Login,
    /// Name and version of the cluster and of its protocols.
    Identity,
    /// System tables and system keyspaces.
    SystemTables,
    /// The field `replication_factor` next to the option of the same name.
    ReplicationFactor,
    /// Ids of prepared statements, and states of paging.
    Handle,
    /// Texts with the printed fields or the address of a Java object.
    JavaObject,
    /// The recorded server failed inside: any error is as good.
    InternalError,
    /// The id of a trace.
    TraceId,
    /// Another call wrote the row at the same time.
    ConcurrentWrite,
}

impl Rule {
    /// All rules.
    pub(crate) const ALL: &[Rule] = Rule::VARIANTS;

    /// Returns the name of the rule in reports.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the meaning of the rule.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Rule::MapOrder => "maps, sets and lists of definitions have the same elements in another order",
            Rule::ServerTime => {
                "both values are times within the run of their side, and no client has sent them: the server's clock \
                 set them (now(), timestamps of statements)"
            }
            Rule::TimeToLive => {
                "the remaining times to live differ by the time that passed on both sides, or by less"
            }
            Rule::RandomUuid => "both values are random UUIDs, and statements of the recording call uuid()",
            Rule::SchemaId => "versions of the schema and ids of column families, which each server makes",
            Rule::Ring => "tokens, addresses and splits of the ring, which each cluster has its own of",
            Rule::Login => "one server requires a login at the start of a connection, and the other does not",
            Rule::Identity => "name and version of the cluster and of its protocols",
            Rule::SystemTables => "rows of system tables, and names of system keyspaces",
            Rule::ReplicationFactor => {
                "definitions of keyspaces have the number of copies in a field, too, which 1.1 and later leave out"
            }
            Rule::Handle => "ids of prepared statements and states of paging, which each server makes",
            Rule::JavaObject => "texts that print the fields or the address of a Java object",
            Rule::InternalError => {
                "the recorded server failed inside, so any error of the candidate is as good"
            }
            Rule::TraceId => "ids of traces, which each server makes",
            Rule::ConcurrentWrite => {
                "a read, while another call of the recording wrote one of its rows: either may come first"
            }
        }
    }
}
