//! Reads the definitions of a Thrift server's CQL tables. `describe_keyspaces` leaves them out, but since 1.2 Thrift clients can
//! read the schema tables, which have them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Endpoint, StoreWalk};
use crate::TransferError;
use crate::import::{
    FoundSchema, NEW_TABLES, OLD_TABLES, OLD_USER_TYPES, SchemaRow, SchemaTables, ServerTable, rows_of_cells,
};
use crate::rows::RowSource;
use crate::thrift::{Fields, ThriftCallError, ThriftPages};
use base::marshal::Types;
use base::schema::{CfDef, FamilyName, KeyspaceDef};
use store::RowPiece;

/// The interface version of 1.2, the first release with CQL 3 tables.
const FIRST_VERSION: [u32; 2] = [19, 35];
/// Rows of a page.
const ROWS: usize = 100;

/// The tables of CQL of a server.
#[derive(Debug, Default)]
pub(crate) struct ServerTables {
    pub tables: Vec<ServerTable>,
    /// Those that cannot be defined here, with the reasons.
    pub left_out: Vec<(FamilyName, String)>,
}

/// Returns the tables of CQL in these keyspaces. A server without tables of CQL has none.
///
/// # Errors
///
/// If its own tables cannot be read.
pub(super) async fn server_tables(
    server: &Arc<Endpoint>,
    pages: &ThriftPages,
    keyspaces: &[KeyspaceDef],
    types: &Types,
) -> Result<ServerTables, TransferError> {
    let mut rows = BTreeMap::new();
    let found = system_tables(pages).await.map_err(|why| TransferError::of(server, why))?;
    let Some(tables) = found else { return Ok(ServerTables::default()) };
    for table in tables.of_all_releases {
        let pieces = pieces_of(server, tables.keyspace, table.name).await?;
        rows.insert(table.name.to_owned(), rows_of_cells(&pieces, table.clustering, table.is_compact));
    }
    // The tables of 1.2 to 2.2 describe themselves, and those of 2.1 and 2.2 have user types.
    let families: &[SchemaRow] = rows.get("schema_columnfamilies").map_or(&[], Vec::as_slice);
    if families.iter().any(|row| row.keyspace == tables.keyspace && row.clustering == [OLD_USER_TYPES.name]) {
        let pieces = pieces_of(server, tables.keyspace, OLD_USER_TYPES.name).await?;
        let of_types = rows_of_cells(&pieces, OLD_USER_TYPES.clustering, OLD_USER_TYPES.is_compact);
        rows.insert(OLD_USER_TYPES.name.to_owned(), of_types);
    }
    let schema = FoundSchema::of_rows(&rows, types).map_err(|why| TransferError::of(server, why))?;
    let mut all = ServerTables::default();
    for keyspace in keyspaces {
        for (place, table) in schema.tables_of(keyspace, types) {
            match table {
                _ if keyspace.column_families.contains_key(&place.name) => {}
                Ok(table) => all.tables.push(table),
                Err(why) => all.left_out.push((place, why)),
            }
        }
    }
    Ok(all)
}

/// Returns the tables with the schema of a server; `None` before 1.2.
async fn system_tables(pages: &ThriftPages) -> Result<Option<SchemaTables>, ThriftCallError> {
    let version = pages.exchange(None, "describe_version", Fields::default()).await?;
    let version = version.and_then(|version| version.into_text().ok()).unwrap_or_default();
    let numbers: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    if numbers[..] < FIRST_VERSION[..] {
        return Ok(None);
    }
    let arguments = Fields(vec![(1, NEW_TABLES.keyspace.into())]);
    match pages.exchange(None, "describe_keyspace", arguments).await {
        Ok(_) => Ok(Some(NEW_TABLES)),
        Err(ThriftCallError::Refused { .. }) => Ok(Some(OLD_TABLES)),
        Err(error) => Err(error),
    }
}

async fn pieces_of(
    server: &Arc<Endpoint>,
    keyspace: &str,
    name: &str,
) -> Result<Vec<RowPiece>, TransferError> {
    let mut walk = StoreWalk::new(server.clone(), Arc::new(CfDef::new(keyspace, name)), None, ROWS);
    let mut rows = Vec::new();
    while let Some(batch) = walk.next().await? {
        rows.extend(batch.rows);
    }
    Ok(rows)
}
