//! The file of a table: takes rows from the pipeline, and counts what it writes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::Mutex;

use super::ExportOptions;
use super::formats::create;
use super::record_maker::{MakerOptions, Record, RecordMaker};
use super::record_writer::RecordWriter;
use super::table_shape::TableShape;
use crate::TransferError;
use crate::rows::{RowBatch, RowSource, RowTarget};

/// A file of an export.
pub(super) struct TableFile {
    /// The path for errors.
    shown: String,
    path: PathBuf,
    /// The name until the file is complete.
    part: PathBuf,
    limit: u64,
    /// Set when the file has as many lines as it may have.
    is_full: Arc<AtomicBool>,
    state: Mutex<Writing>,
}

struct Writing {
    maker: RecordMaker,
    writer: Box<dyn RecordWriter>,
    records: Vec<Record>,
    lines: u64,
}

/// A complete file.
pub(super) struct FinishedFile {
    pub lines: u64,
    pub bytes: u64,
    /// Values that the format cannot have.
    pub notes: Vec<String>,
    /// Whether there are more rows than the limit.
    pub is_cut: bool,
}

impl TableFile {
    pub(super) fn create(
        path: &Path,
        shape: &Arc<TableShape>,
        options: &ExportOptions,
        maker: MakerOptions,
    ) -> Result<TableFile, TransferError> {
        let shown = path.display().to_string();
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let writer = create(&part, shape, options).map_err(|error| TransferError::named(&shown, error))?;
        let maker = RecordMaker::new(shape.clone(), maker);
        Ok(TableFile {
            shown,
            path: path.to_owned(),
            part,
            limit: options.limit.unwrap_or(u64::MAX),
            is_full: Arc::default(),
            state: Mutex::new(Writing { maker, writer, records: Vec::new(), lines: 0 }),
        })
    }

    /// Ends a source when the file is full.
    pub(super) fn limited<S>(&self, source: S) -> UntilFull<S> {
        UntilFull { source, is_full: self.is_full.clone() }
    }

    fn failed(&self, error: io::Error) -> TransferError {
        TransferError::named(&self.shown, error)
    }

    /// Writes the records that are complete.
    fn write(&self, writing: &mut Writing) -> Result<(), TransferError> {
        for record in writing.records.drain(..) {
            if writing.lines == self.limit {
                self.is_full.store(true, Relaxed);
                break;
            }
            writing.writer.write(record).map_err(|error| self.failed(error))?;
            writing.lines += 1;
        }
        Ok(())
    }

    /// Writes the last record, and gives the file its name.
    pub(super) fn finish(self: Arc<TableFile>) -> Result<FinishedFile, TransferError> {
        let Some(mut file) = Arc::into_inner(self) else {
            return Err(TransferError::named("export", "a task of the export still writes"));
        };
        let is_cut = file.is_full.load(Relaxed);
        let Writing { maker, records, .. } = file.state.get_mut();
        if !is_cut {
            maker.finish(records);
        }
        let mut writing = file.state.lock();
        file.write(&mut writing)?;
        drop(writing);
        let is_cut = file.is_full.load(Relaxed);
        let TableFile { shown, path, part, state, .. } = file;
        let Writing { writer, lines, .. } = state.into_inner();
        let failed = |error: io::Error| TransferError::named(&shown, error);
        let notes = writer.finish().map_err(failed)?;
        fs::rename(&part, &path).map_err(failed)?;
        let bytes = fs::metadata(&path).map_err(failed)?.len();
        Ok(FinishedFile { lines, bytes, notes, is_cut })
    }
}

impl RowTarget for TableFile {
    type Outcome = ();

    fn name(&self) -> &str {
        &self.shown
    }

    async fn take(&self, batch: RowBatch) -> Result<(), TransferError> {
        let mut state = self.state.lock();
        let writing = &mut *state;
        for row in batch.rows {
            if self.is_full.load(Relaxed) {
                break;
            }
            writing.maker.take(row, &mut writing.records);
            self.write(writing)?;
        }
        Ok(())
    }
}

/// A source that ends when a file is full.
pub(super) struct UntilFull<S> {
    source: S,
    is_full: Arc<AtomicBool>,
}

impl<S> UntilFull<S> {
    /// Returns the source.
    pub(super) fn into_inner(self) -> S {
        self.source
    }
}

impl<S: RowSource> RowSource for UntilFull<S> {
    type Error = S::Error;

    async fn next(&mut self) -> Result<Option<RowBatch>, S::Error> {
        if self.is_full.load(Relaxed) {
            return Ok(None);
        }
        self.source.next().await
    }
}
