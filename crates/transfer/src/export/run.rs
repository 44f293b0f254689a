//! Writes an export, table by table.

use std::path::Path;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::export_source::ReadTable;
use super::manifest::{LeftOutTable, Manifest, WrittenTable, written_columns};
use super::record_maker::MakerOptions;
use super::table_file::{FinishedFile, TableFile};
use super::table_shape::TableShape;
use super::{ExportFormat, ExportOptions, ExportSource};
use crate::TransferError;
use crate::copy::SelectedFamilies;
use crate::import::{ImportError, Losses};
use crate::rows::ResumeFile;
use base::schema::{CfDef, KeyspaceDef, keyspace_to_json};
use base::util::output::report_line;

/// The results of an export.
#[derive(Debug, Default)]
pub struct Exported {
    /// The files, also those of earlier runs.
    pub tables: Vec<WrittenTable>,
    /// Tables that were not written, or not to their end.
    pub left_out: Vec<LeftOutTable>,
    /// The lost data.
    pub losses: Losses,
    /// The number of reports of lost data of the tables that earlier runs have written.
    pub earlier_losses: u64,
}

/// Writes the selected tables of a source into a directory, which is new, empty, or has an unfinished export of the same
/// source. `left_out` and `losses` are known already, and belong into the manifest.
///
/// # Errors
///
/// If nothing is selected, if the directory has something else, or if the source or the directory fails. Files that are
/// written stay, and the same command goes on after the last complete table.
pub async fn export(
    source: &ExportSource<'_>,
    directory: &Path,
    options: &ExportOptions,
    known: Exported,
) -> Result<Exported, ImportError> {
    let selected = source.selected(options)?;
    let mut manifest = Manifest::open(directory, source, options)?;
    manifest.record.definitions = definitions(&selected)?;
    let families: Vec<Arc<CfDef>> = selected.into_iter().flat_map(|selected| selected.families).collect();
    let mut exported = known;
    exported.left_out.extend(manifest.record.left_out.iter().cloned());
    exported.earlier_losses =
        manifest.record.tables.iter().fold(0, |sum: u64, table| sum.saturating_add(table.losses));
    let earlier_lost = manifest.record.lost.clone();
    let mut run = ExportRun { source, directory, options, manifest, exported, earlier_lost };
    run.record()?;
    if options.all_cells && !source.has_tombstones() {
        report_line!("{} only returns live columns: no tombstones are written", source.name());
    }
    if options.as_of_s.is_some() && !source.has_tombstones() {
        report_line!(
            "{} only returns live columns: those that have expired by now are missing",
            source.name()
        );
    }
    for (number, cf) in families.iter().enumerate() {
        let title = format!("{}.{} ({} of {})", cf.keyspace, cf.name, number + 1, families.len());
        run.table(cf, title).await?;
    }
    run.manifest.record.is_complete = true;
    run.record()?;
    run.exported.tables = run.manifest.record.tables;
    Ok(run.exported)
}

/// Returns the definitions of the selected tables, by keyspace.
fn definitions(selected: &[SelectedFamilies]) -> Result<Vec<Box<RawValue>>, TransferError> {
    let mut all = Vec::new();
    for SelectedFamilies { keyspace, families } in selected {
        let column_families = families.iter().map(|cf| (cf.name.clone(), cf.clone())).collect();
        let keyspace = KeyspaceDef { column_families, ..keyspace.clone() };
        all.push(RawValue::from_string(keyspace_to_json(&keyspace)).map_err(|error| {
            TransferError::Schema(format!("the definition of {}: {error}", keyspace.name))
        })?);
    }
    Ok(all)
}

/// A running export.
struct ExportRun<'a> {
    source: &'a ExportSource<'a>,
    directory: &'a Path,
    options: &'a ExportOptions,
    manifest: ResumeFile<Manifest>,
    exported: Exported,
    /// The damage that earlier runs have reported.
    earlier_lost: Vec<String>,
}

impl ExportRun<'_> {
    /// Writes a table, unless an earlier run has.
    async fn table(&mut self, cf: &Arc<CfDef>, title: String) -> Result<(), ImportError> {
        let name = format!("{}.{}", cf.keyspace, cf.name);
        if let Some(written) = self.manifest.record.written(&cf.keyspace, &cf.name) {
            report_line!("{name} was written before: {} lines", written.lines);
            return Ok(());
        }
        self.check_interruption(&name)?;
        let shape = Arc::new(TableShape::of(cf, self.options));
        if shape.lacks_selected() {
            let why = "it has none of the columns of --columns".to_owned();
            self.exported.left_out.push(LeftOutTable { table: name, why, is_selected_so: true });
            return self.record();
        }
        let file_name = format!("{name}.{}", self.options.format.extension());
        // The definitions of another server can have any names.
        if file_name.contains(['/', '\\', '\0']) {
            let why = "a file cannot have its name".to_owned();
            self.exported.left_out.push(LeftOutTable { table: name, why, is_selected_so: false });
            return self.record();
        }
        let maker = MakerOptions {
            types: self.options.types.clone(),
            now_s: self.options.now_s,
            all_cells: self.options.all_cells,
            keeps_changes: self.options.format == ExportFormat::Json,
        };
        let path = self.directory.join(&file_name);
        let file = Arc::new(TableFile::create(&path, &shape, self.options, maker)?);
        let mut notes = Vec::new();
        let read = match self.source.read(cf, &file, title, self.options).await {
            Ok(read) => read,
            Err(error @ (ImportError::Target(_) | ImportError::Interrupted(_))) => return Err(error),
            Err(error) if self.options.skips_damage => {
                let why = error.without_advice();
                notes.push(format!("the file is not whole: {why}"));
                let why = format!("it is not whole: {why}");
                self.exported.left_out.push(LeftOutTable { table: name.clone(), why, is_selected_so: false });
                ReadTable::default()
            }
            Err(error) => return Err(error),
        };
        let ReadTable { tally, losses, notes: remarks } = read;
        self.check_interruption(&name)?;
        let FinishedFile { lines, bytes, notes: changed, is_cut } = file.finish()?;
        notes.extend(changed);
        notes.extend(remarks);
        notes.extend(losses.first().iter().map(|lost| lost.what.clone()));
        notes.extend(is_cut.then(|| "there are more lines: --limit".to_owned()));
        let lost = losses.count() - losses.harmless();
        self.exported.losses.append(losses);
        self.manifest.record.tables.push(WrittenTable {
            keyspace: cf.keyspace.clone(),
            table: cf.name.clone(),
            file: file_name,
            line: shape.line.name().to_owned(),
            lines,
            rows: tally.rows,
            bytes,
            columns: written_columns(&shape),
            losses: lost,
            notes,
        });
        self.record()
    }

    fn check_interruption(&self, name: &str) -> Result<(), ImportError> {
        if !self.options.interruption.is_stopped() {
            return Ok(());
        }
        let done = self.manifest.record.tables.len();
        Err(ImportError::Interrupted(format!(
            "{done} tables are written, and {name} is not; the same command goes on there"
        )))
    }

    /// Writes the manifest.
    fn record(&mut self) -> Result<(), ImportError> {
        let record = &mut self.manifest.record;
        record.left_out.clone_from(&self.exported.left_out);
        let lost: Vec<&String> = self.exported.losses.first().iter().map(|lost| &lost.what).collect();
        // Damage of commit logs is found in each run.
        let earlier = self.earlier_lost.iter().filter(|what| !lost.contains(what));
        record.lost = earlier.chain(lost.iter().copied()).cloned().collect();
        let written = self.manifest.write();
        let shown = self.directory.display().to_string();
        written.map_err(|error| TransferError::named(&shown, error).into())
    }
}
