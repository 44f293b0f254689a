//! The SSTables in the directories of old servers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::leftovers::{self, LeftOut};
use super::schema::family_ids;
use super::search::{Search, id_of};
use super::{FamilyName, ImportError, ImportOptions, NodePath, SstableFile};
use base::schema::is_system_keyspace;
use base::util::listed;
use sstable::SstableError;

/// Names of column families that an error lists.
const NAMES_SHOWN: usize = 20;
/// The directories that an SSTable is in, from a snapshot's to its column family's.
const PLACES: usize = 3;

/// The wanted column families.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// Only this keyspace.
    pub keyspace: Option<String>,
    /// Only this name.
    pub name: Option<String>,
}

impl Wanted {
    pub(super) fn has(&self, family: &FamilyName) -> bool {
        self.keyspace.as_ref().is_none_or(|only| family.keyspace == *only)
            && self.name.as_ref().is_none_or(|only| family.name == *only)
    }
}

/// The files in the directories.
#[derive(Debug, Default)]
pub struct Inventory {
    /// The directories that were searched, in the order of the nodes.
    pub directories: Vec<NodePath>,
    /// The SSTables of each column family of users, by node, file version and generation.
    pub families: BTreeMap<FamilyName, Vec<SstableFile>>,
    /// The SSTables in which the servers kept their schema.
    pub system: BTreeMap<FamilyName, Vec<SstableFile>>,
    /// SSTables with an Index file and without a Data file.
    pub(super) missing: Vec<(FamilyName, SstableFile)>,
    /// Data files that cannot be read, with the reason.
    pub unreadable: Vec<SstableError>,
    /// SSTables that are not read: those that the server had not finished or has replaced, and would have removed when it
    /// started.
    pub left_out: Vec<LeftOut>,
    /// Files for which the import cannot tell whether to read them. They end an import that does not skip damage.
    pub doubts: Vec<LeftOut>,
    /// The snapshots that are not read, by their names, with the number of SSTables of users' column families in them.
    pub snapshots: BTreeMap<String, u64>,
    /// The number of SSTables in directories of incremental backups, which are not read.
    pub backups: u64,
    /// Other facts that are worth knowing.
    pub notes: Vec<String>,
    /// The column families by the ids in the names of their directories (2.1 and later).
    pub ids: HashMap<[u8; 16], FamilyName>,
    /// The column families by the ids that servers of 0.7 to 1.1 gave them; `None` without a schema that can be read. The
    /// commit logs of these releases name column families so.
    pub number_ids: Option<HashMap<i32, FamilyName>>,
    /// Commit logs in the directories, and in a directory `commitlog` beside one of them.
    pub commit_logs: Vec<NodePath>,
    /// Logs of transactions (3.0 and later) in the directories of column families.
    pub(super) transaction_logs: Vec<NodePath>,
    pub(super) wanted: Wanted,
    /// Why it may be that nothing is selected: only commit logs may have it.
    nothing_selected: Option<String>,
}

impl Inventory {
    /// Searches the directories of nodes, with one directory for each node: see [`Inventory::of_nodes`].
    ///
    /// # Errors
    ///
    /// If a directory cannot be read.
    pub fn of(directories: &[PathBuf]) -> Result<Inventory, ImportError> {
        let nodes: Vec<Vec<PathBuf>> = directories.iter().map(|directory| vec![directory.clone()]).collect();
        Inventory::of_nodes(&nodes)
    }

    /// Searches the directories of nodes for SSTables: data directories, or directories of a keyspace or of a column
    /// family. A node has one for each of its disks. Snapshots, incremental backups, indexes, files that a server has
    /// not finished and those that it has compacted are left out; a directory of a snapshot is read if it is given
    /// itself.
    ///
    /// # Errors
    ///
    /// If a directory cannot be read, or the directories of two nodes have the same file.
    pub fn of_nodes(nodes: &[Vec<PathBuf>]) -> Result<Inventory, ImportError> {
        Inventory::of_snapshot(nodes, None)
    }

    /// Searches the directories of nodes as [`Inventory::of_nodes`] does, for a snapshot if one is named. Then the present
    /// SSTables of users' column families and the commit logs are left out, and those of the schema are not.
    ///
    /// # Errors
    ///
    /// If a directory cannot be read, or the directories of two nodes have the same file.
    pub fn of_snapshot(nodes: &[Vec<PathBuf>], snapshot: Option<&str>) -> Result<Inventory, ImportError> {
        let mut inventory = Inventory::default();
        let mut search = Search::new(&mut inventory, snapshot);
        for (node, directories) in nodes.iter().enumerate() {
            for directory in directories {
                search.add(directory, node)?;
            }
        }
        search.finish();
        if let Some(copies) = inventory.shown_copies() {
            inventory.notes.push(format!("not read: {copies}"));
        }
        inventory.commit_logs.sort();
        for tables in inventory.families.values_mut() {
            tables.sort_by(|one, other| {
                let order =
                    |table: &SstableFile| (table.node, table.descriptor.generation, table.path.clone());
                order(one).cmp(&order(other))
            });
        }
        leftovers::leave_out(&mut inventory);
        inventory.doubt_missing();
        // Damage of these tables is reported when the schema is read.
        inventory.number_ids = family_ids(&inventory.system).unwrap_or_default();
        Ok(inventory)
    }

    /// Returns the snapshots and incremental backups that are not read, and how to read them.
    fn shown_copies(&self) -> Option<String> {
        let names: Vec<String> =
            self.snapshots.iter().map(|(name, tables)| format!("{name} ({tables})")).collect();
        let snapshots = (!names.is_empty()).then(|| {
            format!(
                "snapshots, with the number of SSTables: {}; --snapshot NAME reads one of them instead of the present files",
                listed(&names, NAMES_SHOWN)
            )
        });
        let backups = (self.backups > 0).then(|| {
            format!(
                "{} SSTables in directories of incremental backups (backups): to read them, give these directories with the \
                 others",
                self.backups
            )
        });
        let copies: Vec<String> = snapshots.into_iter().chain(backups).collect();
        (!copies.is_empty()).then(|| copies.join("; "))
    }

    /// Doubts whether the rows of missing Data files are lost. Servers remove the Data file of an SSTable first, so a
    /// server may have been killed while it removed the SSTable.
    pub(super) fn doubt_missing(&mut self) {
        for (family, table) in std::mem::take(&mut self.missing) {
            let why = format!(
                "{}: the Data file is missing, and its Index file is there; lost: all its rows, unless the server was removing the \
                 SSTable when it was killed",
                table.path.display()
            );
            self.doubts.push(LeftOut { path: table.path, why, family });
        }
    }

    /// Records that the schema in the system tables cannot be read.
    pub fn doubt_schema(&mut self, error: &str) {
        let why = format!(
            "{error}; the schema in the system tables is not used: all column families must be defined by the target, --config or \
             --schema, and tables that were dropped are read if they are defined"
        );
        let family = FamilyName { keyspace: "system".to_owned(), name: String::new() };
        self.doubts.push(LeftOut { path: PathBuf::new(), why, family });
    }

    /// Checks that nothing is doubtful, or that damage is skipped.
    ///
    /// # Errors
    ///
    /// The first doubt.
    pub fn check_doubts(&self, options: &ImportOptions) -> Result<(), ImportError> {
        match self.doubts.first().filter(|_| !options.skips_damage) {
            Some(doubt) => Err(ImportError::Doubt(doubt.why.clone())),
            None => Ok(()),
        }
    }

    /// Leaves out an SSTable.
    pub(super) fn remove(&mut self, left_out: LeftOut) {
        for families in [&mut self.families, &mut self.system] {
            if let Some(tables) = families.get_mut(&left_out.family) {
                tables.retain(|table| table.path != left_out.path);
            }
            families.retain(|_, tables| !tables.is_empty());
        }
        self.left_out.push(left_out);
    }

    /// Leaves out the SSTables of tables that were dropped before one of their name was created: those in a directory
    /// with another id than the table's own (2.1 and later). Returns these directories. A directory that was given itself
    /// stays.
    pub fn leave_out_dropped(&mut self, ids: &HashMap<FamilyName, [u8; 16]>) -> Vec<PathBuf> {
        let directories = &self.directories;
        // The directory of the table that a file in `directory` was of, if that table was dropped.
        let dropped = |name: &FamilyName, directory: &Path| {
            let current = ids.get(name)?;
            let mut places = directory.ancestors().take(PLACES);
            let (place, id) = places.find_map(|place| Some((place.to_owned(), id_of(place)?.1)))?;
            let is_given = directories.iter().any(|given| given.path.starts_with(&place));
            (id != *current && !is_given).then_some(place)
        };
        let mut left_out = BTreeSet::new();
        let mut stays = |name: &FamilyName, directory: &Path| {
            let dropped = dropped(name, directory);
            let stays = dropped.is_none();
            left_out.extend(dropped);
            stays
        };
        for (name, tables) in &mut self.families {
            tables.retain(|table| stays(name, &table.descriptor.directory));
        }
        self.doubts
            .retain(|doubt| doubt.path.parent().is_none_or(|directory| stays(&doubt.family, directory)));
        self.families.retain(|_, tables| !tables.is_empty());
        left_out.into_iter().collect()
    }

    /// Leaves only the column families of a keyspace or of a name.
    ///
    /// # Errors
    ///
    /// If nothing is left. If there are commit logs, [`Inventory::check_selection`] decides that.
    pub fn select(&mut self, keyspace: Option<&str>, family: Option<&str>) -> Result<(), ImportError> {
        let found: Vec<String> = self.families.keys().map(FamilyName::to_string).collect();
        self.wanted = Wanted { keyspace: keyspace.map(str::to_owned), name: family.map(str::to_owned) };
        self.families.retain(|name, _| self.wanted.has(name));
        for of in [&mut self.left_out, &mut self.doubts] {
            of.retain(|left_out| {
                is_system_keyspace(&left_out.family.keyspace) || self.wanted.has(&left_out.family)
            });
        }
        if !self.families.is_empty() {
            return Ok(());
        }
        let why = match found.is_empty() {
            true if self.unreadable.is_empty() => {
                let searched = self.directories.iter().map(|directory| directory.path.display().to_string());
                let searched = searched.collect::<Vec<_>>().join(", ");
                let copies = self.shown_copies().map(|copies| format!("; there are {copies}"));
                format!(
                    "there is no SSTable of a user's column family: no file in {searched} is named like \
                     Standard1-5-Data.db{}",
                    copies.unwrap_or_default()
                )
            }
            true => format!("no SSTable can be read, for example: {}", self.unreadable[0]),
            false => {
                let found = listed(&found, NAMES_SHOWN);
                format!("no SSTable is of a selected column family; there are {found}")
            }
        };
        if self.commit_logs.is_empty() {
            return Err(ImportError::Nothing(why));
        }
        let is_selection = keyspace.is_some() || family.is_some();
        self.nothing_selected = is_selection.then_some(why);
        Ok(())
    }

    /// Checks that a selected column family exists, given those that are defined: commit logs may have one that was never
    /// flushed.
    ///
    /// # Errors
    ///
    /// If no SSTable is of a selected column family and none is defined.
    pub fn check_selection(&self, mut defined: impl Iterator<Item = FamilyName>) -> Result<(), ImportError> {
        match &self.nothing_selected {
            Some(why) if !defined.any(|name| self.is_selected(&name)) => Err(ImportError::Nothing(format!(
                "{why}. Commit logs may have another one, but none that is selected is defined"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the directory of files of 2.2 or later if it is not named like the directory of a table, `<table>-<id>`: only the
    /// directory names the column family of such files.
    pub fn flat_directory(&self, name: &FamilyName) -> Option<&Path> {
        let mut descriptors = self.families.get(name)?.iter().map(|table| &table.descriptor);
        let flat = descriptors.find(|descriptor| {
            let mut places = descriptor.directory.ancestors().take(PLACES);
            descriptor.format.is_named_by_directory() && !places.any(|place| id_of(place).is_some())
        });
        flat.map(|descriptor| &*descriptor.directory)
    }

    /// Whether a column family was selected. One that was never flushed is in commit logs only.
    pub fn is_selected(&self, name: &FamilyName) -> bool {
        self.wanted.has(name)
    }

    /// Whether the last server of a node was one of 3.x: an upgraded one has read the files of earlier releases by its
    /// own rules.
    pub(super) fn is_modern(&self) -> bool {
        let tables = self.families.values().chain(self.system.values()).flatten();
        tables.into_iter().any(|table| table.descriptor.format.has_modern_rows)
    }

    /// Returns the size of all Data files in bytes.
    pub fn bytes(&self) -> u64 {
        self.families.values().flatten().map(|table| table.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn inventory(files: &[&str], from: &[&str]) -> Result<(tempfile::TempDir, Inventory), ImportError> {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"1234").unwrap();
        }
        let directories: Vec<PathBuf> = from.iter().map(|name| root.path().join(name)).collect();
        Inventory::of(&directories).map(|found| (root, found))
    }

    fn listed(inventory: &Inventory) -> Vec<String> {
        let tables = |tables: &[SstableFile]| {
            let one = |table: &SstableFile| format!("{}:{}", table.node, table.descriptor.generation);
            tables.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        inventory.families.iter().map(|(name, of)| format!("{name} {}", tables(of))).collect()
    }

    const FILES: &[&str] = &[
        "a/data/Shop/Carts-10-Data.db",
        "a/data/Shop/Carts-9-Data.db",
        "a/data/Shop/Carts-9-Index.db",
        "a/data/Shop/Carts-8-Data.db",
        "a/data/Shop/Carts-8-Compacted",
        "a/data/Shop/Carts.by_age-f-3-Data.db",
        "a/data/Shop/snapshots/old/Carts-4-Data.db",
        "a/data/system/Schema-f-1-Data.db",
        "a/commitlog/CommitLog-2-1384000000000.log",
        "a/commitlog/CommitLog-2-1384000000000.log.header",
        "b/data/Shop/Carts/Shop-Carts-ic-1-Data.db",
        "b/data/Shop/Carts/Shop-Carts-tmp-ic-2-Data.db",
        "b/data/Blog/posts-9786ac1cdd583201a7cdad556410c985/.by_age/me-1-big-Data.db",
        "b/data/Blog/posts-9786ac1cdd583201a7cdad556410c985/me-1-big-Data.db",
        "b/data/Blog/posts-9786ac1cdd583201a7cdad556410c985/nc-1-big-Data.db",
    ];

    #[test]
    fn tables_of_all_directories_are_found() {
        let (_root, found) = inventory(FILES, &["a/data", "b"]).unwrap();
        assert_eq!(listed(&found), ["Blog.posts 1:1", "Shop.Carts 0:9 0:10 1:1"]);
        assert_eq!((found.bytes(), found.system.len()), (16, 1));
        assert_eq!(found.commit_logs.len(), 1);
        // No release writes the version nc.
        assert_eq!(found.unreadable.len(), 1);
    }

    #[test]
    fn snapshots_are_counted_and_one_can_be_read() {
        let files = [
            "data/Shop/Carts/Shop-Carts-ic-9-Data.db",
            "data/Shop/Carts/snapshots/old/Shop-Carts-ic-1-Data.db",
            "data/Shop/Carts/snapshots/old/Shop-Carts.by_age-ic-1-Data.db",
            "data/Shop/Carts/snapshots/older/Shop-Carts-ic-2-Data.db",
            "data/Shop/Carts/backups/Shop-Carts-ic-3-Data.db",
            "data/Blog/posts/snapshots/old/Blog-posts-ic-4-Data.db",
            "data/system/schema_columns/system-schema_columns-ic-5-Data.db",
            "data/system/schema_columns/snapshots/old/system-schema_columns-ic-4-Data.db",
            "commitlog/CommitLog-2-1384000000000.log",
        ];
        let (root, found) = inventory(&files, &["data"]).unwrap();
        assert_eq!(listed(&found), ["Shop.Carts 0:9"]);
        let note = "not read: snapshots, with the number of SSTables: old (2), older (1); --snapshot NAME";
        assert!(found.notes.len() == 1 && found.notes[0].starts_with(note), "{:?}", found.notes);
        assert!(found.notes[0].contains("1 SSTables in directories of incremental backups"));
        let nodes = [vec![root.path().join("data")]];
        let mut found = Inventory::of_snapshot(&nodes, Some("old")).unwrap();
        assert_eq!(listed(&found), ["Blog.posts 0:4", "Shop.Carts 0:1"]);
        assert_eq!((found.commit_logs.len(), found.system.values().flatten().count()), (0, 2));
        found.select(None, None).unwrap();
        // Files may be in snapshots alone.
        let (_root, mut found) = inventory(&files[1..6], &["data"]).unwrap();
        let error = found.select(None, None).unwrap_err().to_string();
        assert!(
            error.contains("there are snapshots, with the number of SSTables: old (2), older (1)"),
            "{error}"
        );
    }

    #[test]
    fn compacted_sstables_and_those_of_dropped_tables_are_left_out() {
        let (of_old, of_new) = ("9786ac1cdd583201a7cdad556410c985", "9786ac1cdd583201a7cdad556410c986");
        let files = [
            "data/Shop/Carts-f-1-Data.db",
            "data/Shop/Carts-f-1-Compacted",
            "data/Shop/Carts-f-2-Data.db",
            &format!("data/Blog/posts-{of_old}/me-1-big-Data.db"),
            // The server was killed while it removed the dropped table.
            &format!("data/Blog/posts-{of_old}/me-2-big-Index.db"),
            &format!("data/Blog/posts-{of_new}/me-3-big-Data.db"),
        ];
        let name = FamilyName { keyspace: "Blog".to_owned(), name: "posts".to_owned() };
        let (_root, flat) = inventory(&["copy/flat/me-1-big-Data.db", files[3]], &["."]).unwrap();
        let of_copy = FamilyName { keyspace: "copy".to_owned(), name: "flat".to_owned() };
        assert!(flat.flat_directory(&of_copy).is_some_and(|directory| directory.ends_with("copy/flat")));
        assert_eq!(flat.flat_directory(&name), None);
        let ids = HashMap::from([(name, uuid::Uuid::try_parse(of_new).unwrap().into_bytes())]);
        let (_root, mut found) = inventory(&files, &["data"]).unwrap();
        assert_eq!(listed(&found), ["Blog.posts 0:1 0:3", "Shop.Carts 0:2"]);
        assert_eq!(found.doubts.len(), 1);
        let left_out = found.leave_out_dropped(&ids);
        assert_eq!(found.doubts, []);
        assert!(left_out.len() == 1 && left_out[0].ends_with(format!("Blog/posts-{of_old}")), "{left_out:?}");
        assert_eq!(listed(&found), ["Blog.posts 0:3", "Shop.Carts 0:2"]);
        let (root, _) = inventory(&files, &["data"]).unwrap();
        let given = ["data", &format!("data/Blog/posts-{of_old}")].map(|name| root.path().join(name));
        let mut found = Inventory::of_nodes(&[given.to_vec()]).unwrap();
        assert_eq!(listed(&found), ["Blog.posts 0:1 0:3", "Shop.Carts 0:2"]);
        assert_eq!(found.leave_out_dropped(&ids), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn a_snapshot_is_read_if_it_is_given() {
        let (_root, found) = inventory(FILES, &["a/data/Shop/snapshots/old"]).unwrap();
        assert_eq!(listed(&found), ["Shop.Carts 0:4"]);
    }

    #[test]
    fn a_selection_names_what_there_is() {
        let without_logs: Vec<&str> =
            FILES.iter().filter(|file| !file.contains("commitlog")).copied().collect();
        let (_root, mut found) = inventory(&without_logs, &["a", "b"]).unwrap();
        let error = found.select(Some("Shop"), Some("posts")).unwrap_err().to_string();
        assert_eq!(error, "no SSTable is of a selected column family; there are Blog.posts, Shop.Carts");
        let (_root, mut none) = inventory(&["x/readme"], &["x"]).unwrap();
        assert!(none.select(None, None).unwrap_err().to_string().contains("no SSTable"));
        assert!(matches!(inventory(FILES, &["nowhere"]), Err(ImportError::Directory { .. })));
    }

    #[test]
    fn a_selected_column_family_may_be_in_commit_logs_only() {
        let named = |name: &str| FamilyName { keyspace: "Shop".to_owned(), name: name.to_owned() };
        let (_root, mut found) = inventory(FILES, &["a", "b"]).unwrap();
        found.select(Some("Shop"), Some("Sessions")).unwrap();
        found.check_selection([named("Carts"), named("Sessions")].into_iter()).unwrap();
        let error = found.check_selection([named("Carts")].into_iter()).unwrap_err().to_string();
        assert!(
            error.contains("there are Blog.posts, Shop.Carts") && error.contains("is defined"),
            "{error}"
        );
        let (_root, mut found) = inventory(FILES, &["a", "b"]).unwrap();
        found.select(Some("Shop"), None).unwrap();
        found.check_selection(std::iter::empty()).unwrap();
    }
}
