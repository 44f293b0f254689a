//! The SSTables in the directories of old servers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::leftovers::{self, LeftOut};
use super::schema::family_ids;
use super::{ImportError, ImportOptions};
use crate::schema::CfDef;
use crate::sstable::{Component, Descriptor, SstableError, is_transaction_log};

/// Directories below a data directory that repeat its tables.
const COPIES: [&str; 2] = ["snapshots", "backups"];
/// The usual name of the directory of commit logs, which is beside the data directory.
const COMMIT_LOGS: &str = "commitlog";
/// Keyspaces of the servers themselves.
const SYSTEM_KEYSPACES: [&str; 6] =
    ["system", "system_auth", "system_distributed", "system_schema", "system_traces", "dse_system"];
/// The directories that an SSTable is in, from that of a snapshot to that of its column family.
const PLACES: usize = 3;
/// How deep directories are searched: keyspace, family, and some above them.
const DEPTH_MAX: u32 = 8;

/// Whether a keyspace is one of the servers themselves.
pub fn is_system(keyspace: &str) -> bool {
    SYSTEM_KEYSPACES.contains(&keyspace)
}

/// A column family by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FamilyName {
    pub keyspace: String,
    pub name: String,
}

impl FamilyName {
    pub fn of(cf: &CfDef) -> FamilyName {
        FamilyName { keyspace: cf.keyspace.clone(), name: cf.name.clone() }
    }
}

impl fmt::Display for FamilyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.keyspace, self.name)
    }
}

/// An SSTable.
#[derive(Debug, Clone)]
pub struct FoundTable {
    /// The Data file.
    pub path: PathBuf,
    /// The size of the Data file in bytes.
    pub bytes: u64,
    pub descriptor: Descriptor,
    /// The number of the node whose directory it is in.
    pub node: usize,
}

/// A file or directory of a node: a commit log, a transaction log, or a directory that was given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundPath {
    pub path: PathBuf,
    /// The number of the node, as of an SSTable.
    pub node: usize,
}

/// The only keyspace and the only name of column families.
pub(super) type Selection = (Option<String>, Option<String>);

/// What directories have.
#[derive(Debug, Default)]
pub struct Inventory {
    /// The directories that were searched, in the order of the nodes.
    pub directories: Vec<FoundPath>,
    /// The SSTables of each column family of users, by node, file version and generation.
    pub families: BTreeMap<FamilyName, Vec<FoundTable>>,
    /// The SSTables in which the servers kept their schema.
    pub system: BTreeMap<FamilyName, Vec<FoundTable>>,
    /// Data files that cannot be read, with the reason.
    pub unreadable: Vec<SstableError>,
    /// SSTables that are not read: those that the server had not finished or has replaced, and would have removed when it
    /// started.
    pub left_out: Vec<LeftOut>,
    /// Files of which it is not known whether they should be read. They end an import that does not skip damage.
    pub doubts: Vec<LeftOut>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// The column families by the ids in the names of their directories (2.1 and later).
    pub ids: HashMap<[u8; 16], FamilyName>,
    /// The column families by the ids that servers of 0.7 to 1.1 gave them, as far as their schema can be read. The commit
    /// logs of these releases name column families so.
    pub number_ids: HashMap<i32, FamilyName>,
    /// Commit logs in the directories, and in a directory `commitlog` beside one of them.
    pub commit_logs: Vec<FoundPath>,
    /// Logs of transactions (3.0 to 3.11) in the directories of column families.
    pub(super) transaction_logs: Vec<FoundPath>,
    /// The only keyspace and the only name of column families that are wanted.
    pub(super) selection: Selection,
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

    /// Searches the directories of nodes for SSTables: data directories, or those of a keyspace or of a column family. A node
    /// has one for each of its disks. Snapshots, incremental backups, indexes, files that a server has not finished and
    /// those that it has compacted are left out; a directory of a snapshot is read if it is given itself.
    ///
    /// # Errors
    ///
    /// If a directory cannot be read.
    pub fn of_nodes(nodes: &[Vec<PathBuf>]) -> Result<Inventory, ImportError> {
        let mut inventory = Inventory::default();
        let directories = nodes.iter().enumerate().flat_map(|(node, of)| of.iter().map(move |of| (node, of)));
        for (node, directory) in directories {
            let full = fs::canonicalize(directory).map_err(|error| failed(directory, &error))?;
            inventory.search(&full, node, DEPTH_MAX)?;
            let beside = full.with_file_name(COMMIT_LOGS);
            if beside.is_dir() {
                inventory.search(&beside, node, 0)?;
            }
            inventory.directories.push(FoundPath { path: full, node });
        }
        inventory.commit_logs.sort();
        inventory.commit_logs.dedup_by(|one, other| one.path == other.path);
        leftovers::leave_out(&mut inventory);
        // Damage of these tables is reported when the schema is read.
        inventory.number_ids = family_ids(&inventory.system).unwrap_or_default();
        for tables in inventory.families.values_mut() {
            tables.sort_by(|one, other| {
                let order =
                    |table: &FoundTable| (table.node, table.descriptor.generation, table.path.clone());
                order(one).cmp(&order(other))
            });
        }
        Ok(inventory)
    }

    fn search(&mut self, directory: &Path, node: usize, depth: u32) -> Result<(), ImportError> {
        let entries = fs::read_dir(directory).map_err(|error| failed(directory, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| failed(directory, &error))?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // Links are not followed: they could lead back.
            let kind = entry.file_type().map_err(|error| failed(&path, &error))?;
            if kind.is_dir() {
                // Directories of indexes begin with a full stop.
                self.add_id(&path);
                if depth > 0 && !COPIES.contains(&&*name) && !name.starts_with('.') {
                    self.search(&path, node, depth - 1)?;
                }
            } else if name.ends_with(&format!("-{}", Component::Data.name())) {
                let metadata = entry.metadata().map_err(|error| failed(&path, &error))?;
                self.add(path, metadata.len(), node);
            } else if name.starts_with("CommitLog-") && name.ends_with(".log") {
                self.commit_logs.push(FoundPath { path, node });
            } else if is_transaction_log(&name) {
                self.transaction_logs.push(FoundPath { path, node });
            }
        }
        Ok(())
    }

    /// Takes the id of a column family from the name of its directory, `<family>-<id>`.
    fn add_id(&mut self, directory: &Path) {
        let keyspace = directory.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        if let (Some(keyspace), Some((name, id))) = (keyspace, id_of(directory)) {
            self.ids.insert(id, FamilyName { keyspace: keyspace.to_owned(), name });
        }
    }

    fn add(&mut self, path: PathBuf, bytes: u64, node: usize) {
        let descriptor = match Descriptor::of_data_file(&path) {
            Ok(descriptor) => descriptor,
            Err(error) => return self.unreadable.push(error),
        };
        let (Some(keyspace), Some(name)) = (descriptor.keyspace.clone(), descriptor.family.clone()) else {
            let why = "neither its name nor its directory says of which column family it is".to_owned();
            return self.unreadable.push(SstableError::Unsupported { path, why });
        };
        let is_index = name.contains('.');
        if is_index {
            return;
        }
        let name = FamilyName { keyspace, name };
        let why = match &descriptor {
            found if found.is_temporary => "the server had not finished it",
            found if found.is_compacted() => "the server has marked it as compacted or truncated",
            _ => "",
        };
        if !why.is_empty() {
            return self.left_out.push(LeftOut { path, why: why.to_owned(), family: name });
        }
        let families = match &name.keyspace[..] {
            "system" | "system_schema" => &mut self.system,
            other if is_system(other) => return,
            _ => &mut self.families,
        };
        let table = FoundTable { path, bytes, descriptor, node };
        families.entry(name).or_default().push(table);
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

    /// Leaves out the SSTables of tables that were dropped before one of their name was created: those in a directory with
    /// another id than the table's own (2.1 and later). Returns these directories. A directory that was given itself stays.
    pub fn leave_out_dropped(&mut self, ids: &HashMap<FamilyName, [u8; 16]>) -> Vec<PathBuf> {
        let mut left_out = BTreeSet::new();
        for (name, tables) in &mut self.families {
            let Some(current) = ids.get(name) else { continue };
            tables.retain(|table| {
                let mut places = table.descriptor.directory.ancestors().take(PLACES);
                let Some((place, id)) = places.find_map(|place| Some((place, id_of(place)?.1))) else {
                    return true;
                };
                let is_given = self.directories.iter().any(|directory| directory.path.starts_with(place));
                let stays = id == *current || is_given;
                if !stays {
                    left_out.insert(place.to_owned());
                }
                stays
            });
        }
        self.families.retain(|_, tables| !tables.is_empty());
        left_out.into_iter().collect()
    }

    /// Leaves only the column families of a keyspace or of a name.
    ///
    /// # Errors
    ///
    /// If nothing is left.
    pub fn select(&mut self, keyspace: Option<&str>, family: Option<&str>) -> Result<(), ImportError> {
        let found: Vec<String> = self.families.keys().map(FamilyName::to_string).collect();
        self.selection = (keyspace.map(str::to_owned), family.map(str::to_owned));
        let selection = self.selection.clone();
        self.families.retain(|name, _| is_wanted(&selection, name));
        for of in [&mut self.left_out, &mut self.doubts] {
            of.retain(|left_out| {
                is_system(&left_out.family.keyspace) || is_wanted(&selection, &left_out.family)
            });
        }
        // Everything may be in the commit logs.
        if !self.families.is_empty() || found.is_empty() && !self.commit_logs.is_empty() {
            return Ok(());
        }
        let why = match found.is_empty() {
            true if self.unreadable.is_empty() => {
                "there is no SSTable of a user's column family: no file is named like Standard1-5-Data.db"
                    .to_owned()
            }
            true => format!("no SSTable can be read, for example: {}", self.unreadable[0]),
            false => format!("there is no such column family; there are {}", found.join(", ")),
        };
        Err(ImportError::Nothing(why))
    }

    /// Whether a column family was selected. One that was never flushed is in commit logs only.
    pub fn is_selected(&self, name: &FamilyName) -> bool {
        is_wanted(&self.selection, name)
    }

    /// Whether the last server of a node was one of 3.x: an upgraded one has read the files of earlier releases by its own rules.
    pub(super) fn is_modern(&self) -> bool {
        let tables = self.families.values().chain(self.system.values()).flatten();
        tables.into_iter().any(|table| table.descriptor.format.has_modern_rows)
    }

    /// Returns the size of all Data files in bytes.
    pub fn bytes(&self) -> u64 {
        self.families.values().flatten().map(|table| table.bytes).sum()
    }
}

/// Returns the name and the id of a column family in the name of its directory, `<family>-<id>`.
pub(super) fn id_of(directory: &Path) -> Option<(String, [u8; 16])> {
    let (name, id) = directory.file_name()?.to_str()?.rsplit_once('-')?;
    Some((name.to_owned(), uuid::Uuid::try_parse(id).ok()?.into_bytes()))
}

pub(super) fn is_wanted((keyspace, family): &Selection, name: &FamilyName) -> bool {
    keyspace.as_ref().is_none_or(|only| name.keyspace == *only)
        && family.as_ref().is_none_or(|only| name.name == *only)
}

fn failed(path: &Path, error: &std::io::Error) -> ImportError {
    ImportError::Directory { path: path.to_owned(), why: error.to_string() }
}

#[cfg(test)]
mod tests {
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
        let tables = |tables: &[FoundTable]| {
            let one = |table: &FoundTable| format!("{}:{}", table.node, table.descriptor.generation);
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
        "b/data/Blog/posts-9786ac1cdd583201a7cdad556410c985/nb-1-big-Data.db",
    ];

    #[test]
    fn tables_of_all_directories_are_found() {
        let (_root, found) = inventory(FILES, &["a/data", "b"]).unwrap();
        assert_eq!(listed(&found), ["Blog.posts 1:1", "Shop.Carts 0:9 0:10 1:1"]);
        assert_eq!((found.bytes(), found.system.len()), (16, 1));
        assert_eq!(found.commit_logs.len(), 1);
        // The version nb is of 4.0.
        assert_eq!(found.unreadable.len(), 1);
    }

    #[test]
    fn compacted_sstables_and_those_of_dropped_tables_are_left_out() {
        let (of_old, of_new) = ("9786ac1cdd583201a7cdad556410c985", "9786ac1cdd583201a7cdad556410c986");
        let files = [
            "data/Shop/Carts-f-1-Data.db",
            "data/Shop/Carts-f-1-Compacted",
            "data/Shop/Carts-f-2-Data.db",
            &format!("data/Blog/posts-{of_old}/me-1-big-Data.db"),
            &format!("data/Blog/posts-{of_new}/me-3-big-Data.db"),
        ];
        let name = FamilyName { keyspace: "Blog".to_owned(), name: "posts".to_owned() };
        let ids = HashMap::from([(name, uuid::Uuid::try_parse(of_new).unwrap().into_bytes())]);
        let (_root, mut found) = inventory(&files, &["data"]).unwrap();
        assert_eq!(listed(&found), ["Blog.posts 0:1 0:3", "Shop.Carts 0:2"]);
        let left_out = found.leave_out_dropped(&ids);
        assert!(left_out.len() == 1 && left_out[0].ends_with(format!("Blog/posts-{of_old}")), "{left_out:?}");
        assert_eq!(listed(&found), ["Blog.posts 0:3", "Shop.Carts 0:2"]);
        let given = format!("data/Blog/posts-{of_old}");
        let (_root, mut found) = inventory(&files, &["data", &given]).unwrap();
        assert_eq!(found.leave_out_dropped(&ids), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn a_snapshot_is_read_if_it_is_given() {
        let (_root, found) = inventory(FILES, &["a/data/Shop/snapshots/old"]).unwrap();
        assert_eq!(listed(&found), ["Shop.Carts 0:4"]);
    }

    #[test]
    fn a_selection_names_what_there_is() {
        let (_root, mut found) = inventory(FILES, &["a", "b"]).unwrap();
        let error = found.select(Some("Shop"), Some("posts")).unwrap_err().to_string();
        assert_eq!(error, "there is no such column family; there are Blog.posts, Shop.Carts");
        let (_root, mut none) = inventory(&["x/readme"], &["x"]).unwrap();
        assert!(none.select(None, None).unwrap_err().to_string().contains("no SSTable"));
        assert!(matches!(inventory(FILES, &["nowhere"]), Err(ImportError::Directory { .. })));
    }
}
