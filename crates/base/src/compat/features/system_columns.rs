//! The columns that a node of 0.7 to 1.1 stores about itself in column families of `system`, as running servers of each line
//! answer them.
//! From 1.2 on it is in tables of CQL 3.

use crate::compat::span::{Span, since};
use crate::util::Release::{V0_7, V0_8, V1_0, V1_1, V1_2};

/// The value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemValue {
    /// The name of the cluster.
    ClusterName,
    /// The start of the node, as a number of four bytes.
    Generation,
    /// The token of the node, as its partitioner serializes it.
    Token,
    /// The class name of the partitioner.
    Partitioner,
    /// The version of the schema, a UUID. The column exists once there is a schema.
    SchemaVersion,
    /// The last version of the release line.
    ReleaseVersion,
    /// The version of the Thrift interface.
    ThriftVersion,
    /// The version of CQL 2.
    CqlVersion,
    /// A fixed text.
    Text(&'static str),
}

/// A column of `system`.
#[derive(Debug, Clone, Copy)]
pub struct SystemColumn {
    /// The releases that have it.
    pub releases: Span,
    /// The column family.
    pub family: &'static str,
    /// The row key.
    pub key: &'static str,
    /// The name of the column.
    pub name: &'static str,
    /// Its value.
    pub value: SystemValue,
}

const fn column(
    releases: Span,
    family: &'static str,
    key: &'static str,
    name: &'static str,
    value: SystemValue,
) -> SystemColumn {
    SystemColumn { releases, family, key, name, value }
}

/// The releases in which a row of a schema table has a marker, as rows of other CQL tables (1.2 and later).
pub const SYSTEM_ROWS_HAVE_MARKERS: Span = since(V1_2);

/// The releases whose schema tables have the system keyspaces too (1.2 and later).
pub const SCHEMA_LISTS_SYSTEM: Span = since(V1_2);

const TO_0_8: Span = Span::between(V0_7, V0_8);
const TO_1_0: Span = Span::between(V0_7, V1_0);
const TO_1_1: Span = Span::between(V0_7, V1_1);
const FROM_1_0: Span = Span::between(V1_0, V1_1);

/// All columns, in the order of their names in each row.
pub static SYSTEM_COLUMNS: &[SystemColumn] = &[
    column(TO_1_1, "LocationInfo", "Bootstrap", "B", SystemValue::Text("\u{1}")),
    column(
        TO_0_8,
        "LocationInfo",
        "Cookies",
        "Hints purged as part of upgrading from 0.6.x to 0.7",
        SystemValue::Text("oh yes, it they were purged."),
    ),
    column(
        FROM_1_0,
        "LocationInfo",
        "Cookies",
        "Pre-1.0 hints purged",
        SystemValue::Text("oh yes, they were purged"),
    ),
    column(TO_1_1, "LocationInfo", "L", "ClusterName", SystemValue::ClusterName),
    column(TO_1_1, "LocationInfo", "L", "Generation", SystemValue::Generation),
    column(TO_0_8, "LocationInfo", "L", "Partioner", SystemValue::Partitioner),
    column(TO_1_1, "LocationInfo", "L", "Token", SystemValue::Token),
    column(TO_1_0, "Schema", "Last Migration", "Last Migration", SystemValue::SchemaVersion),
    column(FROM_1_0, "Versions", "build", "version", SystemValue::ReleaseVersion),
    column(FROM_1_0, "Versions", "cql", "version", SystemValue::CqlVersion),
    column(FROM_1_0, "Versions", "thrift", "version", SystemValue::ThriftVersion),
];
