//! `thriftstore explain`: shows what a statement reads and writes.

use clap::Args;

use super::data::{self, DataArgs, OpenedData};
use crate::cli::Result;
use base::marshal::Types;
use base::util::output::print_text;
use cql::QueryOptions;

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A SELECT, INSERT, UPDATE, DELETE or BATCH. Nothing is written
    statement: String,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) fn explain(args: &ExplainArgs, types: &Types) -> Result<()> {
    data::run(async {
        let data = OpenedData::open(&args.data, types).await?;
        let text = cql::explain(&data.state(), &args.statement, &QueryOptions::default()).await;
        data.close().await?;
        let text = text.map_err(|error| cql::error_text(&error, &args.statement))?;
        print_text!("{text}");
        Ok(())
    })
}
