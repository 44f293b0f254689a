//! The leftovers of compactions of 1.1.3 to 2.2, by the ancestors that SSTables name.

use std::collections::{BTreeMap, BTreeSet};

use super::LeftOut;
use super::choice::{Generations, Obsolete, Why, of_counters, of_unfinished};
use crate::import::FamilyName;
use crate::import::inventory::{FoundTable, Inventory, id_of};
use crate::import::schema::read_system_rows;
use crate::sstable::{Atom, TableOptions, TableReader, Unit, ancestors};

/// The table of the compactions that run.
const IN_PROGRESS: &str = "compactions_in_progress";
/// Parts of rows of an SSTable that are read to see whether it has counters.
const UNITS_READ: usize = 100_000;

/// Column families, and the directories of those that were dropped and created again.
type Groups = BTreeMap<(FamilyName, Option<[u8; 16]>), Vec<FoundTable>>;

/// The sources of the compactions that were in progress, by column family.
type Sources = BTreeMap<FamilyName, BTreeSet<u64>>;

/// How the release of a node removes leftovers. It is the newest one that wrote there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// By marks only.
    Marks,
    /// Ancestors of counters.
    Counters,
    /// `system.compactions_in_progress`.
    InProgress,
}

impl Rule {
    fn of(letters: &str) -> Rule {
        match letters {
            old if old < "he" => Rule::Marks,
            old if old < "ja" => Rule::Counters,
            old if old < "ma" => Rule::InProgress,
            _ => Rule::Marks,
        }
    }
}

/// Leaves out SSTables of a node.
pub fn leave_out(inventory: &mut Inventory, node: usize) {
    let is_own = |table: &&FoundTable| table.node == node;
    let all = inventory.families.values().chain(inventory.system.values()).flatten();
    let Some(newest) = all.filter(is_own).map(|table| table.descriptor.format.letters).max() else { return };
    let mut groups = Groups::new();
    for (name, tables) in &inventory.families {
        for table in tables.iter().filter(is_own) {
            let id = id_of(&table.descriptor.directory).map(|(_, id)| id);
            groups.entry((name.clone(), id)).or_default().push(table.clone());
        }
    }
    let rule = Rule::of(newest);
    let in_progress = match rule {
        Rule::InProgress => in_progress(inventory, node),
        _ => Ok(Some(Sources::new())),
    };
    let in_progress = in_progress.unwrap_or_else(|doubt| {
        inventory.doubts.push(doubt);
        None
    });
    for ((name, _), tables) in &groups {
        if has_copies(inventory, name, tables) || rule == Rule::Marks {
            continue;
        }
        let (sstables, doubts) = generations(name, tables);
        inventory.doubts.extend(doubts);
        let obsolete = match (rule, &in_progress) {
            (Rule::Counters, _) => obsolete_counters(&sstables, tables),
            (_, Some(in_progress)) => {
                in_progress.get(name).map_or_else(Obsolete::new, |sources| of_unfinished(&sstables, sources))
            }
            (_, None) => {
                inventory.doubts.extend(doubt_without_record(name, &sstables, tables));
                Obsolete::new()
            }
        };
        remove(inventory, name, tables, &obsolete);
    }
}

/// Removes SSTables of a column family from the inventory.
fn remove(inventory: &mut Inventory, name: &FamilyName, tables: &[FoundTable], obsolete: &Obsolete) {
    for table in tables {
        let why = match obsolete.get(&table.descriptor.generation) {
            None => continue,
            Some(Why::Unfinished) => {
                "a compaction that was not finished wrote it; the SSTables that it read are there"
            }
            Some(Why::Compacted) => "a compaction has put its rows into another SSTable",
        };
        let left_out = LeftOut { path: table.path.clone(), why: why.to_owned(), family: name.clone() };
        inventory.remove(left_out);
    }
}

/// Returns the generations of the SSTables of a column family with their ancestors, and what of it cannot be read.
fn generations(name: &FamilyName, tables: &[FoundTable]) -> (Generations, Vec<LeftOut>) {
    let mut found = Generations::new();
    let mut doubts = Vec::new();
    for table in tables {
        let mut of_table = ancestors(&table.descriptor).unwrap_or_else(|error| {
            let why = format!(
                "{error}; nothing is lost, but it is not known from which SSTables a compaction made {}: if they are there \
                 still, counters up to 2.0 count twice, and deleted values may come back",
                table.path.display()
            );
            doubts.push(LeftOut { path: table.path.clone(), why, family: name.clone() });
            BTreeSet::new()
        });
        // An SSTable is newer than those that it was made from. After `nodetool refresh` it has a new number, and the
        // ancestors are numbers of another place.
        if of_table.iter().any(|ancestor| *ancestor >= table.descriptor.generation) {
            let why = format!(
                "{} names ancestors that are newer than itself: it was moved here, by nodetool refresh for example. They \
                 are not used; if SSTables that it was made from are there, counters up to 2.0 count twice",
                table.path.display()
            );
            doubts.push(LeftOut { path: table.path.clone(), why, family: name.clone() });
            of_table.clear();
        }
        found.insert(table.descriptor.generation, of_table);
    }
    (found, doubts)
}

/// Whether two SSTables have the same number: they are copies, or of several nodes. Without a rule all are read.
fn has_copies(inventory: &mut Inventory, name: &FamilyName, tables: &[FoundTable]) -> bool {
    let mut paths = BTreeMap::new();
    for table in tables {
        if let Some(other) = paths.insert(table.descriptor.generation, &table.path) {
            let (one, other) = (table.path.display(), other.display());
            inventory.notes.push(format!(
                "{name}: {one} and {other} have the same number, so they are copies or of two nodes. Both are read; \
                 give the directories of each node with a --from of their own"
            ));
            return true;
        }
    }
    false
}

fn obsolete_counters(sstables: &Generations, tables: &[FoundTable]) -> Obsolete {
    let obsolete = of_counters(sstables);
    let is_obsolete = |table: &&FoundTable| obsolete.contains_key(&table.descriptor.generation);
    // The rows of a column family are read only if there are leftovers at all.
    match tables.iter().filter(is_obsolete).any(has_counters) {
        true => obsolete,
        false => Obsolete::new(),
    }
}

/// Whether the first value of an SSTable is a counter. In a column family of counters all are.
fn has_counters(table: &FoundTable) -> bool {
    let Ok(mut reader) = TableReader::open(&table.path, &TableOptions::default()) else { return false };
    for _ in 0..UNITS_READ {
        match reader.next_unit() {
            Ok(Some(Unit::Atom(Atom::Counter { .. }))) => return true,
            Ok(Some(Unit::Atom(Atom::Cell { cell, .. }))) if cell.is_live() => return false,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
    }
    false
}

/// Returns the sources of the compactions that were in progress. `None` if the system keyspace of the node is not there.
fn in_progress(inventory: &Inventory, node: usize) -> Result<Option<Sources>, LeftOut> {
    let own = |tables: &Vec<FoundTable>| -> Vec<FoundTable> {
        tables.iter().filter(|table| table.node == node).cloned().collect()
    };
    if inventory.system.values().all(|tables| own(tables).is_empty()) {
        return Ok(None);
    }
    let name = FamilyName { keyspace: "system".to_owned(), name: IN_PROGRESS.to_owned() };
    let tables = inventory.system.get(&name).map(own).unwrap_or_default();
    let rows = read_system_rows(&tables, 0, false).map_err(|error| LeftOut {
        path: tables.first().map(|table| table.path.clone()).unwrap_or_default(),
        why: format!(
            "{error}; this table has the compactions that were not finished: their SSTables and those that they read may both \
             be there"
        ),
        family: name.clone(),
    })?;
    let mut sources = Sources::new();
    for row in rows {
        let (Some(keyspace), Some(family)) = (row.text("keyspace_name"), row.text("columnfamily_name"))
        else {
            continue;
        };
        let name = FamilyName { keyspace: keyspace.to_owned(), name: family.to_owned() };
        let inputs = row.entries("inputs").filter_map(|(input, _)| input.as_ref().try_into().ok());
        sources.entry(name).or_default().extend(inputs.map(|input| u64::from(u32::from_be_bytes(input))));
    }
    Ok(Some(sources))
}

/// Returns a doubt if SSTables and their ancestors are there, and no record of compactions.
fn doubt_without_record(name: &FamilyName, sstables: &Generations, tables: &[FoundTable]) -> Option<LeftOut> {
    let has_ancestor = |table: &&FoundTable| {
        let of_table = sstables.get(&table.descriptor.generation).into_iter().flatten();
        of_table.into_iter().any(|ancestor| sstables.contains_key(ancestor))
    };
    let table = tables.iter().find(has_ancestor)?;
    let why = format!(
        "{}: a compaction made it of SSTables that are there too. Whether it was finished is in the table {IN_PROGRESS} of the \
         keyspace system, which cannot be read: give the whole data directory. Otherwise both are read, counters up to 2.0 \
         count twice, and deleted values may come back",
        table.path.display()
    );
    Some(LeftOut { path: table.path.clone(), why, family: name.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_those_of_the_releases() {
        for (letters, rule) in [
            ("", Rule::Marks),
            ("hd", Rule::Marks),
            ("he", Rule::Counters),
            ("ic", Rule::Counters),
            ("ja", Rule::InProgress),
            ("lb", Rule::InProgress),
            ("ma", Rule::Marks),
        ] {
            assert_eq!(Rule::of(letters), rule, "{letters}");
        }
    }

    /// Returns what is read of SSTables of 2.0: the second or third was compacted from 1 and 2.
    fn inventory(files: &[&str]) -> Inventory {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, b"1234").unwrap();
            let mut statistics = [&[0; 8][..], &[7; 12], &[5; 16], &[6; 12], &[8; 8], b"\0\x01p"].concat();
            if file.contains("-3-") {
                statistics.extend([0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]);
            } else {
                statistics.extend([0; 4]);
            }
            std::fs::write(root.path().join(file.replace("Data", "Statistics")), statistics).unwrap();
        }
        Inventory::of(&[root.path().to_owned()]).unwrap()
    }

    #[test]
    fn without_the_table_of_compactions_leftovers_are_doubted() {
        let of = |number| format!("Shop/Carts/Shop-Carts-jb-{number}-Data.db");
        let found = inventory(&[&of(1), &of(3)]);
        assert_eq!((found.left_out.len(), found.doubts.len()), (0, 1));
        assert!(found.doubts[0].why.contains("whole data directory"), "{:?}", found.doubts);
        // No ancestor is there.
        let found = inventory(&[&of(3), &of(4)]);
        assert_eq!((found.left_out.len(), found.doubts.len()), (0, 0));
        // The system keyspace is there, and nothing was in progress.
        let found = inventory(&[&of(1), &of(3), "system/local/system-local-jb-1-Data.db"]);
        assert_eq!((found.left_out.len(), found.doubts.len()), (0, 0));
    }

    #[test]
    fn copies_and_several_nodes_are_noted_and_read() {
        let of = |node, number| format!("{node}/Shop/Carts/Shop-Carts-jb-{number}-Data.db");
        let found = inventory(&[&of("a", 1), &of("b", 1), &of("b", 3)]);
        assert_eq!((found.left_out.len(), found.notes.len()), (0, 1));
        assert!(found.notes[0].contains("--from of their own"), "{:?}", found.notes);
        assert_eq!(found.families.values().flatten().count(), 3);
    }
}
