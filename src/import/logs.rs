//! The commit logs: writes that the old servers had not flushed to SSTables.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use md5::{Digest, Md5};
use tokio::sync::mpsc;

use super::summary::{FamilySummary, Lost, Summary};
use super::transfer::{PARALLEL, write_all};
use super::{FamilyName, ImportError, Inventory};
use crate::copy::{Interruption, Side, Writer};
use crate::model::{CellKind, Change};
use crate::schema::CfDef;
use crate::sstable::{Atom, CommitLog, LogFamily, LogRow, SstableError};
use crate::storage::{RowPiece, weight};

/// Approximate size of a piece in bytes.
const PIECE_BYTES: usize = 128 * 1024;

/// The column families of the target, as commit logs name them.
struct Families {
    by_id: HashMap<[u8; 16], Arc<CfDef>>,
    by_name: HashMap<FamilyName, Arc<CfDef>>,
}

impl Families {
    fn of(to: &Side, inventory: &Inventory) -> Families {
        let mut families = Families { by_id: HashMap::new(), by_name: HashMap::new() };
        for keyspace in to.keyspaces() {
            for cf in keyspace.column_families.values() {
                let name = FamilyName { keyspace: cf.keyspace.clone(), name: cf.name.clone() };
                if !inventory.is_selected(&name) {
                    continue;
                }
                families.by_id.insert(id_of_names(&name), cf.clone());
                families.by_name.insert(name, cf.clone());
            }
        }
        for (id, name) in &inventory.ids {
            if let Some(cf) = families.by_name.get(name) {
                families.by_id.insert(*id, cf.clone());
            }
        }
        families
    }

    fn find(&self, family: &LogFamily) -> Option<&Arc<CfDef>> {
        match family {
            LogFamily::Id(id) => self.by_id.get(id),
            LogFamily::Named { keyspace, name } => {
                self.by_name.get(&FamilyName { keyspace: keyspace.clone(), name: name.clone() })
            }
        }
    }
}

/// Returns the id of a column family up to 2.0, and of one that 2.1 took over: the UUID of version 3 of its names.
fn id_of_names(name: &FamilyName) -> [u8; 16] {
    let mut hasher = Md5::new();
    hasher.update(&name.keyspace);
    hasher.update(&name.name);
    let mut id: [u8; 16] = hasher.finalize().into();
    id[6] = id[6] & 0x0f | 0x30;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

/// Imports the commit logs that the inventory lists.
pub async fn import_logs(
    inventory: &Inventory,
    to: &Side,
    writer: &Arc<Writer>,
    (interruption, summary): (&Interruption, &mut Summary),
) -> Result<(), ImportError> {
    let families = Arc::new(Families::of(to, inventory));
    for path in &inventory.commit_logs {
        if interruption.is_stopped() {
            return Err(ImportError::Interrupted(format!("{} is not imported", path.display())));
        }
        // A channel for each column family, since a piece belongs to one.
        let (path, known) = (path.clone(), families.clone());
        let read = tokio::task::spawn_blocking(move || read_log(&path, &known));
        let log = read.await.map_err(|error| ImportError::Schema(format!("reading has failed: {error}")))?;
        for LogRows { cf, pieces, counts, .. } in log.families {
            let (sender, receiver) = mpsc::channel(PARALLEL);
            let sending = async {
                for piece in pieces {
                    if sender.send(piece).await.is_err() {
                        break;
                    }
                }
                drop(sender);
            };
            let (written, ()) = tokio::join!(write_all(writer, &cf, receiver), sending);
            written?;
            let name = FamilyName { keyspace: cf.keyspace.clone(), name: cf.name.clone() };
            summary.families.entry(name).or_default().add(&counts);
        }
        log.lost.into_iter().for_each(|lost| summary.lose(lost));
        summary.commit_logs += 1;
    }
    Ok(())
}

/// What a commit log has. Segments of old servers have 128 MB at most, so their writes fit into memory.
#[derive(Default)]
struct Log {
    families: Vec<LogRows>,
    lost: Vec<Lost>,
}

/// What a commit log has of a column family.
struct LogRows {
    cf: Arc<CfDef>,
    pieces: Vec<Vec<RowPiece>>,
    /// The size of the last piece.
    bytes: usize,
    counts: FamilySummary,
}

fn read_log(path: &Path, families: &Families) -> Log {
    let mut log = Log::default();
    let mut places: HashMap<FamilyName, usize> = HashMap::new();
    let mut counters = 0_u64;
    let lose = |lost: &mut Vec<Lost>, what: String| lost.push(Lost { path: path.to_owned(), what });
    let mut reader = match CommitLog::open(path) {
        Ok(reader) => reader,
        Err(error) => {
            lose(&mut log.lost, error.to_string());
            return log;
        }
    };
    let is_super = |family: &LogFamily| families.find(family).is_some_and(|cf| cf.is_super());
    loop {
        match reader.next_write(is_super) {
            Ok(None) => break,
            Ok(Some(rows)) => {
                for row in rows {
                    let Some(cf) = families.find(&row.family) else { continue };
                    let name = FamilyName { keyspace: cf.keyspace.clone(), name: cf.name.clone() };
                    let place = *places.entry(name).or_insert_with(|| {
                        let counts = FamilySummary::default();
                        log.families.push(LogRows {
                            cf: cf.clone(),
                            pieces: vec![Vec::new()],
                            bytes: 0,
                            counts,
                        });
                        log.families.len() - 1
                    });
                    counters += log.families.get_mut(place).map_or(0, |rows| rows.add(row));
                }
            }
            // The records after it are whole.
            Err(SstableError::Damaged(damage)) => {
                lose(&mut log.lost, format!("{}: {}", path.display(), damage.why))
            }
            Err(error) => {
                lose(&mut log.lost, error.to_string());
                break;
            }
        }
    }
    if reader.skipped() > 0 {
        lose(&mut log.lost, format!("{}: {} writes with a wrong checksum", path.display(), reader.skipped()));
    }
    if counters > 0 {
        let what = "increments of counters, which cannot be told from those in SSTables";
        lose(&mut log.lost, format!("{}: {counters} {what}", path.display()));
    }
    log
}

impl LogRows {
    /// Adds the changes of a row. Returns how many of them are those of counters, which are left out.
    fn add(&mut self, row: LogRow) -> u64 {
        let mut counters = 0;
        let mut changes = Vec::new();
        if row.deletion.is_deleted() {
            self.counts.tombstones += 1;
            changes.push(Change::DeleteRow { deletion: row.deletion });
        }
        for atom in row.atoms {
            if let Atom::Cell { cell, .. } = &atom {
                self.counts.see(cell.timestamp);
                match cell.kind {
                    CellKind::Deleted { .. } => self.counts.tombstones += 1,
                    _ => self.counts.cells += 1,
                }
            }
            match atom.into_change() {
                Some(change) => changes.push(change),
                None => counters += 1,
            }
        }
        if self.cf.is_counter() {
            // A deletion without the increments around it would remove too much.
            return counters + changes.len() as u64;
        }
        if changes.is_empty() {
            return counters;
        }
        self.counts.rows += 1;
        if self.bytes >= PIECE_BYTES {
            self.pieces.push(Vec::new());
            self.bytes = 0;
        }
        self.bytes += changes.iter().map(weight).sum::<usize>();
        if let Some(last) = self.pieces.last_mut() {
            last.push(RowPiece { key: row.key, changes });
        }
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_old_families_are_those_of_their_names() {
        let name = FamilyName { keyspace: "system".to_owned(), name: "local".to_owned() };
        // As the directories of 2.1 have it.
        assert_eq!(crate::cql::show::hex(&id_of_names(&name)), "7ad54392bcdd35a684174e047860b377");
    }
}
