//! The leftovers of compactions of 1.1.3 to 2.2, by the ancestors that SSTables name.

use std::collections::{BTreeMap, BTreeSet};

use super::LeftOut;
use super::choice::{Generations, Obsolete, Why, of_counters, of_unfinished};
use super::values::{Values, values_of_all};
use crate::import::FamilyName;
use crate::import::schema::read_system_rows;
use crate::import::search::id_of;
use crate::import::{Inventory, SstableFile};
use sstable::{Component, ancestors};

/// The table of the compactions that run.
const IN_PROGRESS: &str = "compactions_in_progress";

/// The doubt about an SSTable if it is not known from which SSTables a compaction made it.
const NOT_KNOWN: &str = "only this file shows from which SSTables a compaction has made the SSTable. All SSTables are read, so \
    nothing is lost, but if its sources are there too, counters up to 2.0 count twice, and deleted values may come back";

/// Column families, and the directories of those that were dropped and created again.
type Groups = BTreeMap<(FamilyName, Option<[u8; 16]>), Vec<SstableFile>>;

/// The sources of the compactions that were in progress, by column family.
type Sources = BTreeMap<FamilyName, BTreeSet<u64>>;

/// The rule by which the release of a node removes leftovers. It is the newest one that wrote there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftoverRule {
    /// By marks only.
    Marks,
    /// Ancestors of counters.
    Counters,
    /// `system.compactions_in_progress`.
    InProgress,
}

impl LeftoverRule {
    fn of(letters: &str) -> LeftoverRule {
        match letters {
            old if old < "he" => LeftoverRule::Marks,
            old if old < "ja" => LeftoverRule::Counters,
            old if old < "ma" => LeftoverRule::InProgress,
            _ => LeftoverRule::Marks,
        }
    }
}

/// Leaves out SSTables of a node.
pub(super) fn leave_out(inventory: &mut Inventory, node: usize) {
    let is_own = |table: &&SstableFile| table.node == node;
    let all = inventory.families.values().chain(inventory.system.values()).flatten();
    let Some(newest) = all.filter(is_own).map(|table| table.descriptor.format.letters).max() else { return };
    let mut groups = Groups::new();
    for (name, tables) in &inventory.families {
        for table in tables.iter().filter(is_own) {
            let id = id_of(&table.descriptor.directory).map(|(_, id)| id);
            groups.entry((name.clone(), id)).or_default().push(table.clone());
        }
    }
    let rule = LeftoverRule::of(newest);
    let in_progress = match rule {
        LeftoverRule::InProgress => in_progress(inventory, node),
        _ => Ok(Some(Sources::new())),
    };
    let in_progress = in_progress.unwrap_or_else(|doubt| {
        inventory.doubts.push(doubt);
        None
    });
    for ((name, _), tables) in &groups {
        if rule == LeftoverRule::Marks || has_several_nodes(tables) {
            continue;
        }
        let (sstables, mut doubts) = generations(name, tables);
        let obsolete = match (rule, &in_progress) {
            (LeftoverRule::Counters, _) => obsolete_counters(name, &sstables, tables, &mut doubts),
            (_, Some(in_progress)) => match in_progress.get(name) {
                Some(sources) => of_unfinished(&sstables, sources),
                // No compaction was in progress, whatever the ancestors are.
                None => continue,
            },
            (_, None) => {
                doubts.extend(doubt_without_record(name, &sstables, tables));
                Obsolete::new()
            }
        };
        // The ancestors of a single SSTable are not there.
        if tables.len() > 1 {
            inventory.doubts.extend(doubts);
        }
        remove(inventory, name, tables, &obsolete);
    }
}

/// Removes SSTables of a column family from the inventory.
fn remove(inventory: &mut Inventory, name: &FamilyName, tables: &[SstableFile], obsolete: &Obsolete) {
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

/// Returns the generations of the SSTables of a column family with their ancestors, and the doubtful ones. An SSTable
/// whose ancestors are not known is read, and so are all others, so nothing is lost.
fn generations(name: &FamilyName, tables: &[SstableFile]) -> (Generations, Vec<LeftOut>) {
    let mut found = Generations::new();
    let mut doubts = Vec::new();
    let mut without = Vec::new();
    for table in tables {
        let of_table = match ancestors(&table.descriptor) {
            Ok(Some(ancestors)) => known_ancestors(name, table, ancestors).unwrap_or_else(|doubt| {
                doubts.push(doubt);
                BTreeSet::new()
            }),
            Ok(None) => {
                without.push(table);
                BTreeSet::new()
            }
            Err(error) => {
                let why = format!("{error}; {NOT_KNOWN}");
                doubts.push(LeftOut { path: table.path.clone(), why, family: name.clone() });
                BTreeSet::new()
            }
        };
        found.insert(table.descriptor.generation, of_table);
    }
    if let Some(first) = without.first() {
        let statistics = first.descriptor.path(Component::Statistics);
        let statistics = statistics.display();
        let missing = match without.len() {
            1 => format!("{statistics} is missing"),
            count => format!("{count} SSTables of {name} have no Statistics file, for example {statistics}"),
        };
        let why = format!("{missing}; {NOT_KNOWN}");
        doubts.push(LeftOut { path: first.path.clone(), why, family: name.clone() });
    }
    (found, doubts)
}

/// Returns the ancestors of an SSTable, if they can come from this directory.
///
/// # Errors
///
/// An SSTable is newer than those that it was made from. After `nodetool refresh` it has a new number, and the ancestors are
/// numbers of another place.
fn known_ancestors(
    name: &FamilyName,
    table: &SstableFile,
    ancestors: BTreeSet<u64>,
) -> Result<BTreeSet<u64>, LeftOut> {
    if ancestors.iter().all(|ancestor| *ancestor < table.descriptor.generation) {
        return Ok(ancestors);
    }
    let why = format!(
        "{} names ancestors that are newer than itself: it was moved here, by nodetool refresh for example. They are not used; \
         if SSTables that it was made from are there, counters up to 2.0 count twice",
        table.path.display()
    );
    Err(LeftOut { path: table.path.clone(), why, family: name.clone() })
}

/// Whether two SSTables have the same number: they are of several nodes, or older copies. Without a rule all are read, with
/// a note or a doubt.
fn has_several_nodes(tables: &[SstableFile]) -> bool {
    let mut found = BTreeSet::new();
    !tables.iter().all(|table| found.insert(table.descriptor.generation))
}

/// Returns the obsolete SSTables of a column family of 1.1.3 to 1.2, if it has counters. If it has none, `doubts` about its
/// SSTables are of no importance, and are removed.
fn obsolete_counters(
    name: &FamilyName,
    sstables: &Generations,
    tables: &[SstableFile],
    doubts: &mut Vec<LeftOut>,
) -> Obsolete {
    let obsolete = of_counters(sstables);
    // The rows of a column family are read only if there are leftovers, or if that is not known.
    if obsolete.is_empty() && doubts.is_empty() {
        return obsolete;
    }
    match values_of_all(tables) {
        Values::Counters => return obsolete,
        Values::Others | Values::None => doubts.clear(),
        Values::Unknown => {
            let path = tables.first().map(|table| table.path.clone()).unwrap_or_default();
            let why = format!(
                "{name}: its SSTables are damaged, so it is not known whether they have counters. If they have, some of the \
                 SSTables were made from others that are there too. All of them are read, so nothing is lost, but counters may \
                 count twice"
            );
            doubts.push(LeftOut { path, why, family: name.clone() });
        }
    }
    Obsolete::new()
}

/// Returns the sources of the compactions that were in progress. `None` if the system keyspace of the node is not there.
fn in_progress(inventory: &Inventory, node: usize) -> Result<Option<Sources>, LeftOut> {
    let own = |tables: &Vec<SstableFile>| -> Vec<SstableFile> {
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
fn doubt_without_record(
    name: &FamilyName,
    sstables: &Generations,
    tables: &[SstableFile],
) -> Option<LeftOut> {
    let table = tables.iter().find(|table| {
        let ancestors = sstables.get(&table.descriptor.generation);
        ancestors.into_iter().flatten().any(|ancestor| sstables.contains_key(ancestor))
    })?;
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
    use std::path::Path;

    use super::*;

    #[test]
    fn rules_are_those_of_the_releases() {
        for (letters, rule) in [
            ("", LeftoverRule::Marks),
            ("hd", LeftoverRule::Marks),
            ("he", LeftoverRule::Counters),
            ("ic", LeftoverRule::Counters),
            ("ja", LeftoverRule::InProgress),
            ("lb", LeftoverRule::InProgress),
            ("ma", LeftoverRule::Marks),
        ] {
            assert_eq!(LeftoverRule::of(letters), rule, "{letters}");
        }
    }

    /// The content of a Data file.
    #[derive(Clone, Copy)]
    enum Data {
        Damaged,
        Counter,
        Value,
        /// A deleted column.
        Deletion,
    }

    impl Data {
        /// Returns the content in the format of 1.2.
        fn bytes(self) -> Vec<u8> {
            let value =
                |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
            let shard = [&[0, 0][..], &[7; 16], &1_i64.to_be_bytes(), &5_i64.to_be_bytes()].concat();
            let cell = match self {
                Data::Damaged => return b"1234".to_vec(),
                Data::Counter => {
                    [&[4][..], &i64::MIN.to_be_bytes(), &9_i64.to_be_bytes(), &value(&shard)].concat()
                }
                Data::Value => [&[0][..], &9_i64.to_be_bytes(), &value(b"v")].concat(),
                Data::Deletion => [&[1][..], &9_i64.to_be_bytes(), &value(&[0; 4])].concat(),
            };
            let head =
                [&i32::MAX.to_be_bytes()[..], &i64::MIN.to_be_bytes(), &[0, 0, 0, 1, 0, 1, b'n']].concat();
            let size = (head.len() + cell.len()) as u64;
            [&[0, 1, b'k'][..], &size.to_be_bytes(), &head, &cell].concat()
        }
    }

    /// Writes an SSTable of 1.2 or 2.0.
    fn write(root: &Path, file: &str, ancestors: &[u32], data: Data) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, data.bytes()).unwrap();
        let between: &[u8] = if file.contains("-ic-") { &[] } else { &[6; 12] };
        let mut statistics = [&[0; 8][..], &[7; 12], &[5; 16], between, &[8; 8], b"\0\x01p"].concat();
        statistics.extend(u32::try_from(ancestors.len()).unwrap().to_be_bytes());
        statistics.extend(ancestors.iter().flat_map(|ancestor| ancestor.to_be_bytes()));
        std::fs::write(root.join(file.replace("Data", "Statistics")), statistics).unwrap();
    }

    /// Returns the SSTables that are read in a directory of 2.0: the third was compacted from 1 and 2.
    fn inventory(files: &[&str]) -> Inventory {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let ancestors: &[u32] = if file.contains("-3-") { &[1, 2] } else { &[] };
            write(root.path(), file, ancestors, Data::Damaged);
        }
        Inventory::of(&[root.path().to_owned()]).unwrap()
    }

    /// Returns the numbers of the SSTables that are read, and the doubts.
    fn read(root: &Path) -> (Vec<u64>, Vec<String>) {
        let found = Inventory::of(&[root.to_owned()]).unwrap();
        let numbers = found.families.values().flatten().map(|table| table.descriptor.generation);
        (numbers.collect(), found.doubts.into_iter().map(|doubt| doubt.why).collect())
    }

    /// SSTables of 1.2: the third was compacted from the others, which were not deleted.
    fn directory(data: [Data; 3]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (number, data) in (1..).zip(data) {
            let ancestors: &[u32] = if number == 3 { &[1, 2] } else { &[] };
            write(root.path(), &format!("Shop/Hits/Shop-Hits-ic-{number}-Data.db"), ancestors, data);
        }
        root
    }

    #[test]
    fn leftovers_with_counters_are_left_out_and_damage_that_hides_them_is_doubted() {
        use Data::{Counter, Damaged, Deletion, Value};
        for (data, expected, is_doubted) in [
            ([Counter, Counter, Counter], &[1, 2][..], false),
            ([Deletion, Damaged, Counter], &[1, 2], false),
            ([Damaged, Value, Damaged], &[1, 2, 3], false),
            ([Deletion, Deletion, Deletion], &[1, 2, 3], false),
            ([Damaged, Deletion, Damaged], &[1, 2, 3], true),
        ] {
            let (numbers, doubts) = read(directory(data).path());
            assert_eq!((&numbers[..], !doubts.is_empty()), (expected, is_doubted), "{doubts:?}");
            assert!(
                doubts.iter().all(|doubt| doubt.contains("not known whether they have counters")),
                "{doubts:?}"
            );
        }
    }

    #[test]
    fn without_its_statistics_it_is_not_known_from_what_an_sstable_was_made() {
        for (data, is_doubted) in [(Data::Counter, true), (Data::Value, false)] {
            let root = directory([data; 3]);
            for number in [2, 3] {
                let path = format!("Shop/Hits/Shop-Hits-ic-{number}-Statistics.db");
                std::fs::remove_file(root.path().join(path)).unwrap();
            }
            let (numbers, doubts) = read(root.path());
            assert_eq!((&numbers[..], doubts.len()), (&[1, 2, 3][..], usize::from(is_doubted)), "{doubts:?}");
            let words = "2 SSTables of Shop.Hits have no Statistics file";
            assert!(doubts.iter().all(|doubt| doubt.contains(words)), "{doubts:?}");
        }
        // The sources of a single SSTable are not there.
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "Shop/Hits/Shop-Hits-ic-3-Data.db", &[], Data::Counter);
        std::fs::remove_file(root.path().join("Shop/Hits/Shop-Hits-ic-3-Statistics.db")).unwrap();
        assert_eq!(read(root.path()), (vec![3], Vec::new()));
    }

    #[test]
    fn ancestors_that_are_not_older_are_ignored_and_doubted() {
        for ancestor in [3, 4] {
            let root = directory([Data::Counter; 3]);
            write(root.path(), "Shop/Hits/Shop-Hits-ic-3-Data.db", &[1, ancestor], Data::Counter);
            let (numbers, doubts) = read(root.path());
            assert_eq!((&numbers[..], doubts.len()), (&[1, 2, 3][..], 1), "{doubts:?}");
            assert!(doubts[0].contains("ancestors that are newer than itself"), "{doubts:?}");
        }
        let root = directory([Data::Counter; 3]);
        write(root.path(), "Shop/Hits/Shop-Hits-ic-3-Data.db", &[1], Data::Counter);
        assert_eq!(read(root.path()), (vec![1, 2], Vec::new()));
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
    fn copies_are_left_out_and_several_nodes_are_noted_or_doubted() {
        let of = |node, number| format!("{node}/Shop/Carts/Shop-Carts-jb-{number}-Data.db");
        let found = inventory(&[&of("a", 1), &of("b", 1), &of("b", 3)]);
        let numbers = |found: &Inventory| -> Vec<u64> {
            found.families.values().flatten().map(|table| table.descriptor.generation).collect()
        };
        assert_eq!((numbers(&found), found.left_out.len(), found.notes.len()), (vec![1, 3], 1, 0));
        assert!(found.left_out[0].why.contains("it is a copy"), "{:?}", found.left_out);
        for (one, other, doubts) in [
            (Data::Value, Data::Deletion, 0),
            (Data::Counter, Data::Deletion, 1),
            (Data::Counter, Data::Counter, 0),
        ] {
            let root = tempfile::tempdir().unwrap();
            for (node, data) in [("a", one), ("b", other)] {
                write(root.path(), &of(node, 1).replace("-jb-", "-ic-"), &[], data);
            }
            let found = Inventory::of(&[root.path().to_owned()]).unwrap();
            let are_equal = found.left_out.len();
            let noted = found.notes.iter().chain(found.doubts.iter().map(|doubt| &doubt.why));
            assert!(noted.into_iter().all(|text| text.contains("--from of their own")));
            assert_eq!((found.notes.len() + are_equal, found.doubts.len()), (1 - doubts, doubts));
            assert_eq!(numbers(&found).len(), 2 - are_equal);
        }
    }
}
