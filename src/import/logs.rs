//! The commit logs: writes that the old servers had not flushed to SSTables.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use md5::{Digest, Md5};
use tokio::sync::mpsc;

use super::reader::first_changes;
use super::summary::{FamilySummary, Lost, Summary};
use super::transfer::{PIECE_BYTES, Piece, transfer};
use super::{FamilyName, ImportError, Inventory};
use crate::copy::{Interruption, Side, Writer};
use crate::schema::CfDef;
use crate::sstable::{CommitLog, LogFamily, LogRow, SstableError};
use crate::storage::{RowPiece, weight};

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
                let name = FamilyName::of(cf);
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
///
/// # Errors
///
/// If the target fails, or the import is stopped. What cannot be read of a log is in the summary.
pub async fn import_logs(
    inventory: &Inventory,
    to: &Side,
    writer: &Arc<Writer>,
    (interruption, summary): (&Interruption, &mut Summary),
) -> Result<(), ImportError> {
    let families = Arc::new(Families::of(to, inventory));
    for path in &inventory.commit_logs {
        let (path, families, interruption) = (path.clone(), families.clone(), interruption.clone());
        let stopped = ImportError::Interrupted(format!("{} is not imported as a whole", path.display()));
        let read = transfer(Some(writer), {
            let interruption = interruption.clone();
            move |pieces| {
                let mut read = Read {
                    interruption,
                    pieces,
                    families: BTreeMap::new(),
                    bytes: 0,
                    lost: Vec::new(),
                    path,
                };
                read.read(&families);
                (read.families, read.lost)
            }
        });
        let (read, lost) = read.await?;
        if interruption.is_stopped() {
            return Err(stopped);
        }
        for (name, family) in read {
            summary.families.entry(name).or_default().add(&family.counts);
        }
        lost.into_iter().for_each(|lost| summary.lose(lost));
        summary.commit_logs += 1;
    }
    Ok(())
}

/// The reading of a commit log.
struct Read {
    path: PathBuf,
    interruption: Interruption,
    pieces: mpsc::Sender<Piece>,
    families: BTreeMap<FamilyName, ReadFamily>,
    /// Size of the rows that are not sent.
    bytes: usize,
    lost: Vec<Lost>,
}

/// What was read of a column family.
struct ReadFamily {
    cf: Arc<CfDef>,
    /// Those that are not sent.
    rows: Vec<RowPiece>,
    counts: FamilySummary,
    /// Changes that were left out, since they are increments.
    increments: u64,
}

/// The target takes no more.
struct Stopped;

impl Read {
    /// Reads the whole log, and keeps what is wrong with it.
    fn read(&mut self, families: &Families) {
        let mut log = match CommitLog::open(&self.path) {
            Ok(log) => log,
            Err(error) => return self.lose(error.to_string()),
        };
        let is_super = |family: &LogFamily| families.find(family).is_some_and(|cf| cf.is_super());
        loop {
            let rows = match log.next_write(is_super) {
                Ok(None) => break,
                Ok(Some(rows)) => rows,
                Err(SstableError::Damaged(damage)) => {
                    // The records after it are whole.
                    self.lose(format!("{}: {}", self.path.display(), damage.why));
                    continue;
                }
                Err(error) => {
                    self.lose(error.to_string());
                    break;
                }
            };
            for row in rows {
                if let Some(cf) = families.find(&row.family) {
                    self.add(cf, row);
                }
            }
            if self.bytes >= PIECE_BYTES && self.send().is_err() {
                return;
            }
        }
        if self.send().is_err() {
            return;
        }
        if log.skipped() > 0 {
            self.lose(format!("{}: {} writes with a wrong checksum", self.path.display(), log.skipped()));
        }
        let increments: u64 = self.families.values().map(|family| family.increments).sum();
        if increments > 0 {
            let what = "increments of counters, which cannot be told from those in SSTables";
            self.lose(format!("{}: {increments} {what}", self.path.display()));
        }
    }

    /// Adds the changes of a row.
    fn add(&mut self, cf: &Arc<CfDef>, row: LogRow) {
        let family = self.families.entry(FamilyName::of(cf)).or_insert_with(|| ReadFamily {
            cf: cf.clone(),
            rows: Vec::new(),
            counts: FamilySummary::default(),
            increments: 0,
        });
        let mut changes = first_changes(row.deletion);
        if cf.is_counter() {
            // A deletion without the increments around it would remove too much.
            family.increments += (changes.len() + row.atoms.len()) as u64;
            return;
        }
        family.counts.tombstones += changes.len() as u64;
        for atom in row.atoms {
            family.counts.count(&atom);
            match atom.into_change() {
                Some(change) => changes.push(change),
                None => family.increments += 1,
            }
        }
        if changes.is_empty() {
            return;
        }
        family.counts.rows += 1;
        self.bytes += row.key.len() + changes.iter().map(weight).sum::<usize>();
        family.rows.push(RowPiece { key: row.key, changes });
    }

    /// Sends the rows of all column families.
    fn send(&mut self) -> Result<(), Stopped> {
        self.bytes = 0;
        for family in self.families.values_mut() {
            let rows = std::mem::take(&mut family.rows);
            if rows.is_empty() {
                continue;
            }
            let sent = self.pieces.blocking_send(Piece { cf: family.cf.clone(), rows });
            if sent.is_err() || self.interruption.is_stopped() {
                return Err(Stopped);
            }
        }
        Ok(())
    }

    fn lose(&mut self, what: String) {
        self.lost.push(Lost { path: self.path.clone(), what });
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
