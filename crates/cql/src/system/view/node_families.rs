//! The rows of column families in which a node of 0.7 to 1.1 stores its own state.

use bytes::Bytes;

use super::cells::live;
use crate::QueryState;
use base::compat::features::{SYSTEM_COLUMNS, SystemValue, api_version, last_version};
use base::marshal::{AbstractType, IntegerType};
use base::model::Cell;

/// The version of CQL 2 that these releases report.
const CQL_VERSION: &str = "2.0.0";

/// The start of the node that `system.local` reports, too.
const GENERATION: i32 = 1;

/// Returns the rows of a column family, each with its key and its cells in the order of their names.
pub(super) fn rows(state: &QueryState<'_>, family: &str) -> Vec<(Bytes, Vec<Cell>)> {
    let mut rows: Vec<(Bytes, Vec<Cell>)> = Vec::new();
    let of_family = SYSTEM_COLUMNS.iter().filter(|column| column.family == family);
    for column in of_family.filter(|column| column.releases.has(state.behaviour.release)) {
        let Some(value) = value_of(state, column.value) else { continue };
        let cell = live(Bytes::from_static(column.name.as_bytes()), value);
        match rows.last_mut().filter(|(key, _)| key == column.key.as_bytes()) {
            Some((_, cells)) => cells.push(cell),
            None => rows.push((Bytes::from_static(column.key.as_bytes()), vec![cell])),
        }
    }
    rows
}

fn value_of(state: &QueryState<'_>, value: SystemValue) -> Option<Bytes> {
    let (database, release) = (state.database, state.behaviour.release);
    Some(match value {
        SystemValue::ClusterName => Bytes::from(database.cluster_name().to_owned()),
        SystemValue::Generation => Bytes::copy_from_slice(&GENERATION.to_be_bytes()),
        SystemValue::Token => token(state),
        SystemValue::Partitioner => Bytes::from_static(database.partitioner().class_name().as_bytes()),
        SystemValue::SchemaVersion if database.catalog().keyspaces.is_empty() => return None,
        SystemValue::SchemaVersion => {
            let version =
                database.describe(state.behaviour).schema_version().parse::<uuid::Uuid>().unwrap_or_default();
            Bytes::copy_from_slice(version.as_bytes())
        }
        SystemValue::ReleaseVersion => Bytes::from_static(last_version(release).as_bytes()),
        SystemValue::ThriftVersion => Bytes::from_static(api_version(release).as_bytes()),
        SystemValue::CqlVersion => Bytes::from_static(CQL_VERSION.as_bytes()),
        SystemValue::Text(text) => Bytes::from_static(text.as_bytes()),
    })
}

/// Returns the node's token as its partitioner serializes it: a number of any length, a key, or bytes.
fn token(state: &QueryState<'_>) -> Bytes {
    let (text, _) = state.database.token_and_endpoint();
    let partitioner = state.database.partitioner();
    let serialized = if !partitioner.preserves_order() {
        IntegerType.parse_text(&text).ok()
    } else if partitioner.has_hex_tokens() {
        partitioner.parse_token(&text).ok()
    } else {
        None
    };
    serialized.map(Bytes::from).unwrap_or_else(|| Bytes::from(text))
}
