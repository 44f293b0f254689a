//! The sources of an export.

use std::sync::Arc;

use super::ExportOptions;
use super::table_file::TableFile;
use crate::TransferError;
use crate::copy::{SelectedFamilies, selected_families};
use crate::endpoint::{DEFAULT_ROWS, Endpoint, StoreWalk};
use crate::import::{FileRows, ImportError, Losses, ReadSummary};
use crate::native::NativeSource;
use crate::rows::{Delivered, Pump, RateLimit, RowSource, Tally, WalkMeter};
use base::schema::{CfDef, FamilyName};

/// A source of rows.
pub enum ExportSource<'a> {
    /// A data directory, a server or a cluster.
    Endpoint(Arc<Endpoint>),
    /// The files of old servers.
    Files(FileRows<'a>),
    /// A server of the native protocol.
    Native(NativeSource),
}

/// The result of reading a table.
#[derive(Default)]
pub(super) struct ReadTable {
    pub tally: Tally,
    /// Damage of the files of the table.
    pub losses: Losses,
    /// Remarks about the files, such as values that have no place here.
    pub notes: Vec<String>,
}

impl ExportSource<'_> {
    /// Returns the name, the same in every run.
    pub fn name(&self) -> &str {
        match self {
            ExportSource::Endpoint(endpoint) => &endpoint.name,
            ExportSource::Files(files) => files.name(),
            ExportSource::Native(server) => &server.name,
        }
    }

    /// Returns whether tombstones and expired cells can be read.
    pub(super) fn has_tombstones(&self) -> bool {
        match self {
            ExportSource::Endpoint(endpoint) => endpoint.can_dump(),
            ExportSource::Files(_) => true,
            ExportSource::Native(_) => false,
        }
    }

    /// Returns the selected column families, in the order of their names.
    pub(super) fn selected(&self, options: &ExportOptions) -> Result<Vec<SelectedFamilies>, TransferError> {
        let endpoint = match self {
            ExportSource::Endpoint(endpoint) => endpoint,
            ExportSource::Files(files) => files.definitions(),
            ExportSource::Native(server) => &server.definitions,
        };
        let mut selected = selected_families(endpoint, &options.selection)?;
        selected.sort_by(|one, other| one.keyspace.name.cmp(&other.keyspace.name));
        for SelectedFamilies { families, .. } in &mut selected {
            families.retain(|cf| !cf.is_index() && self.has(cf));
            families.sort_by(|one, other| one.name.cmp(&other.name));
        }
        selected.retain(|selected| !selected.families.is_empty());
        Ok(selected)
    }

    /// Returns whether there may be rows of a column family that can be read.
    fn has(&self, cf: &CfDef) -> bool {
        match self {
            ExportSource::Endpoint(_) => true,
            ExportSource::Files(files) => files.has(&FamilyName::of(cf)),
            ExportSource::Native(_) => NativeSource::can_read(cf),
        }
    }

    /// Moves the rows of a column family into a file.
    pub(super) async fn read(
        &self,
        cf: &Arc<CfDef>,
        file: &Arc<TableFile>,
        title: String,
        options: &ExportOptions,
    ) -> Result<ReadTable, ImportError> {
        // Rows are written in their order.
        let pump =
            Pump { parallel: 1, interruption: options.interruption.clone(), rate: RateLimit::default() };
        match self {
            ExportSource::Endpoint(endpoint) => {
                let meter = WalkMeter::new(title, endpoint.partitioner.as_ref(), Tally::default());
                let walk = StoreWalk::new(endpoint.clone(), cf.clone(), None, DEFAULT_ROWS.into());
                read_walk(walk, &pump, file, meter).await
            }
            ExportSource::Native(server) => {
                let meter = WalkMeter::new(title, None, Tally::default());
                read_walk(server.read(cf), &pump, file, meter).await
            }
            ExportSource::Files(files) => {
                files.set_title(title);
                let mut tally = Tally::default();
                let mut thread = file.limited(files.read(cf)?);
                let delivered = async |batch: Delivered<()>| {
                    tally.add(batch.tally);
                    Ok(())
                };
                let moved = pump.run(&mut thread, file, delivered).await;
                let read = thread.into_inner().finish().await;
                moved?;
                let ReadSummary { family, losses } = read?;
                let mut notes = family.notes;
                notes.extend(family.overflowed.note(files.restores_overflow()));
                Ok(ReadTable { tally, losses, notes })
            }
        }
    }
}

/// Moves the rows of a store or server into a file.
async fn read_walk(
    walk: impl RowSource<Error = TransferError>,
    pump: &Pump,
    file: &Arc<TableFile>,
    mut meter: WalkMeter,
) -> Result<ReadTable, ImportError> {
    let mut walk = file.limited(walk);
    let delivered = async |batch: Delivered<()>| {
        meter.add(batch.tally, batch.last_key.as_ref());
        Ok(())
    };
    pump.run(&mut walk, file, delivered).await?;
    Ok(ReadTable { tally: meter.finish(), ..ReadTable::default() })
}
