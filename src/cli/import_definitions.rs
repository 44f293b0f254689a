//! The definitions of the column families that `thriftstore import` reads: from scripts, the configuration and the system
//! tables of the old server.

use std::path::PathBuf;
use std::sync::Arc;

use super::control::load_file;
use crate::cli::Result;
use base::marshal::Types;
use base::util::Clock;
use base::util::output::report_line;
use config::Config;
use db::Database;
use transfer::endpoint::Endpoint;
use transfer::import::{FamilyName, FoundSchema, Inventory};

/// Where definitions come from, besides the configuration.
pub(super) struct Definitions<'a> {
    /// The scripts of `--schema`.
    pub scripts: &'a [PathBuf],
    /// The schema in the system tables, or why it cannot be read.
    pub found: Result<&'a FoundSchema, &'a str>,
}

impl Definitions<'_> {
    /// Creates the column families that a database does not have. Prints the ones that it cannot create.
    pub(super) async fn create(&self, database: &Arc<Database>) -> Result<()> {
        for script in self.scripts {
            load_file("--schema", database, script).await?;
        }
        let Ok(schema) = self.found else { return Ok(()) };
        let defined = schema.define(database).await;
        print_each("not defined", &defined.failed);
        print_each("not imported", &defined.left_out);
        Ok(())
    }

    /// Prints the parts that are missing in the system tables, and the parts that are not imported.
    pub(super) fn print_gaps(&self) {
        if let Ok(schema) = self.found {
            print_each("missing in the system tables", &schema.missing);
            print_each("not imported", &schema.left_out);
        }
    }

    /// Returns the column families of SSTables that a target does not define. Views are left out.
    pub(super) fn missing<'i>(&self, inventory: &'i Inventory, to: &Endpoint) -> Vec<&'i FamilyName> {
        let mut missing: Vec<&FamilyName> = inventory.families.keys().collect();
        missing.retain(|name| to.column_family(&name.keyspace, &name.name).is_none());
        missing.retain(|name| !self.found.is_ok_and(|schema| schema.views.contains(*name)));
        missing
    }

    /// Returns a store in memory with the definitions: to read commit logs without a target.
    pub(super) async fn in_memory(
        &self,
        config: &Config,
        types: &Types,
        clock: &Arc<Clock>,
    ) -> Result<Endpoint> {
        let (catalog, partitioner) = (config.catalog.clone(), config.partitioner.clone());
        let side = Endpoint::in_memory("memory", catalog, types, partitioner, clock);
        let side = side.map_err(|error| error.to_string())?;
        self.create(side.writable().map_err(|error| error.to_string())?).await?;
        Ok(side)
    }
}

fn print_each(what: &str, sentences: &[String]) {
    for sentence in sentences {
        report_line!("{what}: {sentence}");
    }
}
