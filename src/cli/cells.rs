//! `thriftstore cells`: shows a stored row, as CQL rows and as cells.

use bytes::Bytes;
use clap::Args;

use super::data::{self, DataArgs, OpenedData};
use crate::cli::Result;
use base::marshal::{AbstractType, BytesType, Types};
use base::util::output::print_text;
use base::util::unhex;
use config::suggestion;
use cql_syntax::TableName;

#[derive(Debug, Args)]
pub(super) struct CellsArgs {
    /// The keyspace
    keyspace_name: String,
    /// The table or column family
    table: String,
    /// The row key as text of its type: `theo`, `103`, or with several columns `theo:v` as in cassandra-cli; or its
    /// bytes as 0x...
    key: String,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) fn cells(args: &CellsArgs, types: &Types) -> Result<()> {
    data::run(async {
        let data = OpenedData::open(&args.data, types).await?;
        let text = row_of(args, &data).await;
        data.close().await?;
        print_text!("{}", text?);
        Ok(())
    })
}

async fn row_of(args: &CellsArgs, data: &OpenedData) -> Result<String> {
    let state = data.state();
    let name = TableName { keyspace: Some(args.keyspace_name.clone()), name: args.table.clone() };
    let table = state.table(&name).map_err(|error| format!("{error}{}", meant(args, data)))?;
    let key: Bytes = match (args.key.strip_prefix("0x"), &table.cf.key_validator) {
        (Some(hex), _) => unhex(hex.as_bytes()).ok_or_else(|| format!("{} is not hex", args.key))?.into(),
        (None, Some(class)) if class.class_name() != BytesType.class_name() => class
            .parse_text(&args.key)
            .map_err(|error| {
                format!("{error}: specify the row key as text of its type, or its bytes as 0x...")
            })?
            .into(),
        (None, _) => args.key.clone().into(),
    };
    cql::stored_row(&state, &name, &key).await.map_err(|error| error.to_string())
}

/// Returns the keyspace or column family that was probably meant, as the end of a message.
fn meant(args: &CellsArgs, data: &OpenedData) -> String {
    let catalog = data.database.catalog();
    match catalog.keyspace(&args.keyspace_name) {
        None => suggestion(&args.keyspace_name, catalog.keyspaces.keys().map(String::as_str)),
        Some(keyspace) => suggestion(&args.table, keyspace.column_families.keys().map(String::as_str)),
    }
}
