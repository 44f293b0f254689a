//! Runs the store scripts in `tests/store/` on every backend. A script has commands, `---`, and the expected answers.
//!
//! A script is a list of blocks with a blank line between them. All commands of a block run, and their answers follow
//! `---`. A block without answers has `ok` there. `REWRITE=1` writes the answers of the store on disk into the scripts.
//!
//! ```text
//!   partitioner P                       first of all; RandomPartitioner if absent
//!   standard CF TYPE [grace SECONDS]    define, or change the definition
//!   super CF TYPE SUBTYPE [grace SECONDS]
//!   drop CF                             drop the column family
//!   release 0.6                         later commands follow this release's rules
//!   put CF KEY [SUPER/]NAME VALUE @TIMESTAMP [ttl SECONDS]
//!   add CF KEY [SUPER/]NAME DELTA @TIMESTAMP
//!   delete CF KEY [[SUPER/][NAME]] @TIMESTAMP
//!   delete-range CF KEY [in SUPER] [from NAME] [to NAME] @TIMESTAMP
//!   batch ... end                       the writes between become one mutation for each row
//!   get CF KEY [in SUPER] names NAME...
//!   slice CF KEY [in SUPER] [from NAME] [to NAME] [reversed] [count N]
//!   scan CF [keys FROM TO | tokens FROM TO] [rows N] [skip-empty] [slice words]
//!   splits FROM TO KEYS                 tokens as text; `min` is the minimum token
//!   truncate CF
//!   undefined                           column families that hold data and are not defined
//!   record NAME [VALUE]                 store a metadata record, or remove it; `records` lists all
//!   restart, compact                    for the store on disk; no effect on others
//!   sweep                               for the embedded stores; no effect on the reference model
//!   clock SECONDS                       advances the clock
//! ```
//!
//! An expiring cell is printed with its time to live, a counter with its total. With `tombstones` among the words of a
//! slice, tombstones are returned too. Names are in hexadecimal (`0x...`) where they are not printable; `-` is the
//! empty name.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod command;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::store_support::SchemaCalls as _;
use crate::{reference_model, store_support};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal::AbstractType;
use base::model::{
    Bounds, Cell, CellKind, CfMutation, Change, DeletionTime, Mutation, Predicate, RangeCommand,
    RangeTombstone, ReadCommand, RowColumns, SliceRange,
};
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, CfDef};
use base::util::{Clock, Release};
use bytes::Bytes;
use command::{Command, Read, Write, Written, bytes_of, parse};
use embedded::EmbeddedStore;
use reference_model::ReferenceModel;
use store::Store;
use store_support as support;

fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok("") => "-".to_owned(),
        Ok(text) if !text.contains(|c: char| c.is_control() || c.is_whitespace()) => text.to_owned(),
        _ => bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}")),
    }
}

/// Returns whether names are printed in the comparator's text form.
fn has_text_form(comparator: &dyn AbstractType) -> bool {
    let class_name = comparator.class_name();
    class_name.ends_with("LongType") || class_name.ends_with("UUIDType")
}

fn name_of(comparator: &dyn AbstractType, word: &str) -> Bytes {
    if has_text_form(comparator) && word != "-" && !word.starts_with("0x") {
        comparator.parse_text(word).unwrap().into()
    } else {
        bytes_of(word)
    }
}

fn name_text(comparator: &dyn AbstractType, name: &[u8]) -> String {
    if has_text_form(comparator) { comparator.to_text(name) } else { text_of(name) }
}

/// The store that a script runs on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Backend {
    /// The embedded store in a data directory.
    Disk,
    /// The embedded store in memory.
    Memory,
    Model,
}

enum Opened {
    Embedded(Box<EmbeddedStore>),
    Model(Box<ReferenceModel>),
}

impl Opened {
    fn store(&self) -> &dyn Store {
        match self {
            Opened::Embedded(store) => &**store,
            Opened::Model(store) => &**store,
        }
    }
}

/// A run of a script.
struct Run {
    backend: Backend,
    directory: tempfile::TempDir,
    partitioner: PartitionerRef,
    families: Vec<CfDef>,
    catalog: Catalog,
    clock: Arc<Clock>,
    behaviour: &'static Behaviour,
    opened: Option<Opened>,
}

impl Run {
    fn new(backend: Backend) -> Run {
        Run {
            backend,
            directory: tempfile::tempdir().unwrap(),
            partitioner: support::partitioner("RandomPartitioner"),
            families: Vec::new(),
            catalog: Catalog::default(),
            clock: support::manual_clock(),
            behaviour: Behaviour::of(Release::V0_6),
            opened: None,
        }
    }

    /// Opens the store when the first command needs it.
    fn open(&mut self) -> &Opened {
        if self.opened.is_none() {
            let (options, partitioner) = (support::options(self.directory.path()), self.partitioner.clone());
            self.opened = Some(match self.backend {
                Backend::Disk => {
                    let store = EmbeddedStore::open(options, partitioner, &self.catalog, self.clock.clone());
                    Opened::Embedded(Box::new(store.unwrap()))
                }
                Backend::Memory => {
                    let store = EmbeddedStore::in_memory(partitioner, &self.catalog, self.clock.clone());
                    Opened::Embedded(Box::new(store.unwrap()))
                }
                Backend::Model => {
                    Opened::Model(Box::new(ReferenceModel::new(partitioner, self.clock.clone())))
                }
            });
        }
        self.opened.as_ref().unwrap()
    }

    fn cf(&self, name: &str) -> Arc<CfDef> {
        support::cf_of(&self.catalog, name)
    }

    fn run(&mut self, command: Command) -> String {
        match command {
            Command::Partitioner(name) => self.partitioner = support::partitioner(&name),
            Command::Define(cf) => self.define(*cf),
            Command::Release(release) => self.behaviour = Behaviour::of(release),
            Command::Clock(seconds) => self.clock.advance_ms(seconds * 1000),
            Command::Restart => {
                if let Some(Opened::Embedded(store)) = self.opened.take_if(|_| self.backend == Backend::Disk)
                {
                    support::close(*store);
                }
            }
            other => return self.call(other),
        }
        String::new()
    }

    /// Defines a column family, and replaces an earlier definition with the same name.
    fn define(&mut self, cf: CfDef) {
        self.families.retain(|other| other.name != cf.name);
        self.families.push(cf);
        self.alter();
    }

    /// Changes the schema of the store to the currently defined column families.
    fn alter(&mut self) {
        self.catalog = support::catalog(self.families.iter().cloned());
        if let Some(opened) = &self.opened {
            support::wait(opened.store().alter(Arc::new(self.catalog.clone()))).unwrap();
        }
    }

    fn call(&mut self, command: Command) -> String {
        self.open();
        if let Command::Drop(name) = &command {
            support::wait(self.opened.as_ref().unwrap().store().drop_family(self.cf(name))).unwrap();
            self.families.retain(|cf| cf.name != *name);
            self.alter();
            return String::new();
        }
        let opened = self.opened.as_ref().unwrap();
        let store = opened.store();
        match (command, opened) {
            (Command::Write(families), _) => {
                let mutations = self.mutations(families);
                support::wait(store.apply(mutations, self.behaviour, ConsistencyLevel::One)).unwrap();
            }
            (Command::Get { cf, key, read }, _) => {
                let command = self.read(&self.cf(&cf), &read);
                let found = support::wait(store.read(key, command.clone(), ConsistencyLevel::One)).unwrap();
                return self.show(&found, &command, "");
            }
            (Command::Scan { cf, bounds, rows, skip_empty, read }, _) => {
                let read = self.read(&self.cf(&cf), &read);
                return self.scan(
                    store,
                    RangeCommand { bounds: self.bounds(&bounds), max_rows: rows, read, skip_empty },
                );
            }
            (Command::Splits { start, end, keys }, _) => {
                let call = store.splits(self.token(&start), self.token(&end), keys);
                let tokens = support::wait(call).unwrap();
                return tokens.iter().fold(String::new(), |text, token| {
                    format!("{text}{}\n", self.partitioner.token_text(token))
                });
            }
            (Command::Truncate(cf), _) => support::wait(store.truncate(self.cf(&cf))).unwrap(),
            (Command::Undefined, _) => return lines(store.status().undefined),
            (Command::Record { name, value }, _) => {
                support::wait(store.put_records(vec![(name, value)])).unwrap()
            }
            (Command::Records, _) => {
                let records = support::wait(store.records()).unwrap();
                return lines(
                    records.iter().map(|(name, value)| format!("{name} {}", text_of(value))).collect(),
                );
            }
            (Command::Compact, Opened::Embedded(store)) => store.compact().unwrap(),
            (Command::Sweep, Opened::Embedded(store)) => while store.sweep().unwrap() > 0 {},
            _ => {}
        }
        String::new()
    }

    fn scan(&self, store: &dyn Store, command: RangeCommand) -> String {
        let rows = support::wait(store.scan(command.clone(), ConsistencyLevel::One)).unwrap();
        let mut text = String::new();
        for row in rows {
            writeln!(text, "row {}", text_of(&row.key)).unwrap();
            text.push_str(&self.show(&row.columns, &command.read, "  "));
        }
        text
    }

    fn token(&self, word: &str) -> Vec<u8> {
        match word {
            "min" => self.partitioner.minimum_token(self.behaviour.release),
            text => self.partitioner.parse_token(text).unwrap(),
        }
    }

    fn bounds(&self, words: &[String]) -> Bounds {
        match &words[0][..] {
            "keys" => Bounds::Keys { start: bytes_of(&words[1]), end: bytes_of(&words[2]) },
            _ => Bounds::Tokens { start: self.token(&words[1]), end: self.token(&words[2]) },
        }
    }

    /// Returns one mutation for each row, with all column families of the row.
    fn mutations(&self, written: Vec<Write>) -> Vec<Mutation> {
        let mut rows: BTreeMap<Bytes, Vec<CfMutation>> = BTreeMap::new();
        for (cf, key, written) in written {
            let cf = self.cf(&cf);
            let changes: Vec<Change> = written.iter().map(|written| self.change(&cf, written)).collect();
            rows.entry(key).or_default().push(CfMutation { cf, changes: changes.into() });
        }
        rows.into_iter().map(|(key, families)| Mutation { key, families }).collect()
    }

    fn change(&self, cf: &CfDef, written: &Written) -> Change {
        let now_s = self.clock.now_s();
        let deleted = |marked_for_delete_at: i64| DeletionTime {
            marked_for_delete_at,
            local_deletion_time: self.clock.now_s(),
        };
        match written {
            Written::Put { path, value, ttl_s, timestamp } => {
                let (super_column, name) = self.path(cf, path);
                let value = bytes_of(value);
                let cell = match ttl_s {
                    Some(ttl_s) => Cell::expiring(name, value, *timestamp, *ttl_s, now_s),
                    None => Cell::live(name, value, *timestamp),
                };
                Change::Cell { super_column, cell }
            }
            Written::Add { path, delta, timestamp } => {
                let (super_column, name) = self.path(cf, path);
                Change::Cell { super_column, cell: Cell::increment(name, *delta, *timestamp) }
            }
            Written::Delete { path, timestamp } if path.is_empty() => {
                Change::DeleteRow { deletion: deleted(*timestamp) }
            }
            Written::Delete { path, timestamp } => match self.path(cf, path) {
                (Some(name), rest) if rest.is_empty() => {
                    Change::DeleteSuper { name, deletion: deleted(*timestamp) }
                }
                (super_column, name) => {
                    Change::Cell { super_column, cell: Cell::tombstone(name, *timestamp, now_s) }
                }
            },
            Written::DeleteRange { read, timestamp } => {
                let (super_column, [start, finish]) = self.bounds_of_names(cf, read);
                let deletion = deleted(*timestamp);
                Change::DeleteRange(RangeTombstone { super_column, start, finish, deletion })
            }
        }
    }

    /// Returns super column and name of a path; the name of `SUPER/` is empty.
    fn path(&self, cf: &CfDef, path: &str) -> (Option<Bytes>, Bytes) {
        match (cf.subcomparator(), path.split_once('/')) {
            (Some(_), Some((holder, ""))) => (Some(name_of(&*cf.comparator, holder)), Bytes::new()),
            (Some(sub), Some((holder, name))) => {
                (Some(name_of(&*cf.comparator, holder)), name_of(&**sub, name))
            }
            _ => (None, name_of(&*cf.comparator, path)),
        }
    }

    /// Returns the super column of a slice, and the slice's bounds.
    fn bounds_of_names(&self, cf: &CfDef, read: &Read) -> (Option<Bytes>, [Bytes; 2]) {
        let holder = read.within.as_ref().map(|name| name_of(&*cf.comparator, name));
        let bound = |word: &Option<String>| {
            word.as_ref().map(|word| name_of(level_of(cf, read), word)).unwrap_or_default()
        };
        (holder, [bound(&read.from), bound(&read.to)])
    }

    fn read(&self, cf: &Arc<CfDef>, read: &Read) -> ReadCommand {
        let (super_column, [start, finish]) = self.bounds_of_names(cf, read);
        let predicate = match &read.names {
            Some(names) => {
                Predicate::Names(names.iter().map(|name| name_of(level_of(cf, read), name)).collect())
            }
            None => Predicate::Range(SliceRange {
                start,
                finish,
                reversed: read.reversed,
                count: read.count.unwrap_or(100),
            }),
        };
        ReadCommand {
            cf: cf.clone(),
            super_column,
            predicate,
            behaviour: self.behaviour,
            with_tombstones: read.with_tombstones,
            gc_before: self.clock.now_s().saturating_sub(cf.gc_grace_s),
            now_s: self.clock.now_s(),
        }
    }

    fn show(&self, columns: &RowColumns, command: &ReadCommand, indent: &str) -> String {
        let mut text = String::new();
        match columns {
            RowColumns::Cells(cells) => {
                let is_within = command.super_column.is_some();
                let names =
                    command.cf.subcomparator().filter(|_| is_within).unwrap_or(&command.cf.comparator);
                cells.iter().for_each(|cell| show_cell(cell, &**names, indent, &mut text));
            }
            RowColumns::Supers(supers) => {
                let names = command.cf.subcomparator().unwrap();
                for found in supers {
                    write!(text, "{indent}{}", name_text(&*command.cf.comparator, &found.name)).unwrap();
                    if found.deletion.is_deleted() {
                        write!(text, " deleted @{}", found.deletion.marked_for_delete_at).unwrap();
                    }
                    text.push('\n');
                    let indent = format!("{indent}  ");
                    found.cells.iter().for_each(|cell| show_cell(cell, &**names, &indent, &mut text));
                }
            }
        }
        if text.is_empty() && indent.is_empty() { "nothing\n".to_owned() } else { text }
    }
}

/// Returns the comparator of the names that a read returns.
fn level_of<'a>(cf: &'a CfDef, read: &Read) -> &'a dyn AbstractType {
    match (&read.within, cf.subcomparator()) {
        (Some(_), Some(sub)) => &**sub,
        _ => &*cf.comparator,
    }
}

fn lines(lines: Vec<String>) -> String {
    if lines.is_empty() { "nothing\n".to_owned() } else { lines.join("\n") + "\n" }
}

fn show_cell(cell: &Cell, names: &dyn AbstractType, indent: &str, text: &mut String) {
    let name = name_text(names, &cell.name);
    let (value, life) = match cell.kind {
        CellKind::Live => (text_of(&cell.value), String::new()),
        CellKind::Expiring { ttl_s, .. } => (text_of(&cell.value), format!(" ttl {ttl_s}")),
        CellKind::Counter => (cell.count().unwrap().to_string(), String::new()),
        CellKind::Increment => panic!("{name}: an increment was stored"),
        CellKind::Deleted { .. } => ("deleted".to_owned(), String::new()),
    };
    writeln!(text, "{indent}{name} {value} @{}{life}", cell.timestamp).unwrap();
}

/// Returns the script with the answers of this backend.
fn answer(script: &str, backend: Backend) -> String {
    let mut run = Run::new(backend);
    let mut blocks = Vec::new();
    for block in script.trim_end().split("\n\n") {
        let input = block.split("\n---").next().unwrap();
        let is_comment = input.lines().all(|line| line.starts_with('#'));
        let mut output = String::new();
        let mut lines = input.lines();
        while let Some(line) = lines.next() {
            if !line.starts_with('#') && !line.trim().is_empty() {
                let command = parse(line, &mut lines);
                output.push_str(&run.run(command));
            }
        }
        let output = if output.is_empty() { "ok" } else { output.trim_end() };
        blocks.push(if is_comment { input.to_owned() } else { format!("{input}\n---\n{output}") });
    }
    blocks.join("\n\n") + "\n"
}

#[test]
fn every_script_runs_on_the_store_on_disk() {
    support::check_scripts("store", |script| answer(script, Backend::Disk));
}

/// Scripts about tombstones of cells and expired cells. Only a compaction removes these, and a store in memory has
/// none.
const REMOVED_BY_COMPACTION: [&str; 2] = ["purge_cells.txt", "purge_expiring.txt"];

/// Runs the scripts whose answers are the same on this backend as on the store on disk.
fn check_shared_scripts(backend: Backend) {
    for (path, script) in support::scripts("store") {
        let is_shared = match backend {
            Backend::Disk => true,
            Backend::Memory => !REMOVED_BY_COMPACTION.iter().any(|name| path.ends_with(name)),
            Backend::Model => !script.lines().any(|line| matches!(line, "compact" | "sweep")),
        };
        if is_shared && !support::is_rewriting() {
            assert_eq!(answer(&script, backend), script, "{}", path.display());
        }
    }
}

#[test]
fn every_script_runs_on_the_store_in_memory() {
    check_shared_scripts(Backend::Memory);
}

#[test]
fn every_script_runs_on_the_reference_model() {
    check_shared_scripts(Backend::Model);
}
