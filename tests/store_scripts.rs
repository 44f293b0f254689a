//! Runs the store scripts in `tests/store/` on every backend: commands, `---`, answers.
//!
//! A script is a list of blocks with a blank line between them. All commands of a block run, and their answers
//! follow `---`; a block without answers says `ok`. `REWRITE=1` writes down what the embedded store answers.
//!
//! ```text
//!   partitioner P                       first of all; RandomPartitioner if absent
//!   standard CF TYPE [grace SECONDS]    define; before the first other command
//!   super CF TYPE SUBTYPE [grace SECONDS]
//!   release 0.6                         whose rules apply from here on
//!   put CF KEY [SUPER/]NAME VALUE @TIMESTAMP
//!   delete CF KEY [[SUPER/][NAME]] @TIMESTAMP
//!   batch ... end                       the puts and deletes between are one mutation a row
//!   get CF KEY [in SUPER] names NAME...
//!   slice CF KEY [in SUPER] [from NAME] [to NAME] [reversed] [count N]
//!   scan CF [keys FROM TO | tokens FROM TO] [rows N] [skip-empty] [slice words]
//!   splits FROM TO KEYS                 tokens in their text form; `min` is the ring's minimum
//!   truncate CF
//!   restart, compact, sweep             the embedded store's own; the memory store has nothing to do
//!   clock SECONDS                       moves the clock on
//! ```
//!
//! `tombstones` among slice words returns them too. Names are written in the comparator's text form, or as
//! `0x...`; `-` is the empty name.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod store_support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use store_support as support;
use thriftstore::marshal::AbstractType;
use thriftstore::model::{
    Behaviour, Bounds, Cell, CellKind, CfMutation, Change, ConsistencyLevel, DeletionTime, Mutation,
    Predicate, RangeCommand, ReadCommand, RowColumns, SliceRange,
};
use thriftstore::partitioner::PartitionerRef;
use thriftstore::schema::{Catalog, CfDef};
use thriftstore::storage::{EmbeddedStore, MemoryStore, Store};
use thriftstore::util::{Clock, Release};

/// The words of a command line, taken from the left.
struct Words<'a>(std::iter::Peekable<std::str::SplitWhitespace<'a>>);

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Words<'a> {
        Words(line.split_whitespace().peekable())
    }

    fn next(&mut self) -> &'a str {
        self.0.next().unwrap_or_else(|| panic!("a word is missing"))
    }

    fn number<T: std::str::FromStr>(&mut self) -> T {
        let word = self.next();
        word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
    }

    fn take_if(&mut self, word: &str) -> bool {
        self.0.next_if_eq(&word).is_some()
    }

    fn timestamp(&mut self) -> i64 {
        let word = self.next();
        word.strip_prefix('@').and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{word}: @N?"))
    }
}

/// One command of a script.
enum Command {
    Partitioner(String),
    Define(Box<CfDef>),
    Release(Release),
    Write(Vec<(String, Bytes, Vec<Written>)>),
    Get { cf: String, key: Bytes, read: Read },
    Scan { cf: String, bounds: Vec<String>, rows: usize, skip_empty: bool, read: Read },
    Splits { start: String, end: String, keys: usize },
    Truncate(String),
    Restart,
    Compact,
    Sweep,
    Clock(i64),
}

/// A put or delete, names still as text.
struct Written {
    path: String,
    /// `None` deletes.
    value: Option<String>,
    timestamp: i64,
}

/// What to read in a row, names still as text.
#[derive(Default)]
struct Read {
    within: Option<String>,
    names: Option<Vec<String>>,
    from: Option<String>,
    to: Option<String>,
    reversed: bool,
    count: Option<usize>,
    with_tombstones: bool,
}

fn parse_read(words: &mut Words<'_>) -> Read {
    let mut read = Read::default();
    while let Some(word) = words.0.next() {
        match word {
            "in" => read.within = Some(words.next().to_owned()),
            "names" => read.names = Some(words.0.by_ref().map(str::to_owned).collect()),
            "from" => read.from = Some(words.next().to_owned()),
            "to" => read.to = Some(words.next().to_owned()),
            "reversed" => read.reversed = true,
            "count" => read.count = Some(words.number()),
            "tombstones" => read.with_tombstones = true,
            other => panic!("{other} says nothing of a slice"),
        }
    }
    read
}

fn parse_write(verb: &str, words: &mut Words<'_>) -> (String, Bytes, Written) {
    let (cf, key) = (words.next().to_owned(), bytes_of(words.next()));
    let mut rest: Vec<&str> = words.0.by_ref().collect();
    let timestamp = Words::of(rest.pop().unwrap()).timestamp();
    let value = (verb == "put").then(|| rest.pop().unwrap().to_owned());
    (cf, key, Written { path: rest.join(" "), value, timestamp })
}

fn parse_define(is_super: bool, words: &mut Words<'_>) -> CfDef {
    let (name, comparator) = (words.next(), words.next());
    let subcomparator = is_super.then(|| words.next());
    let mut cf = support::family(name, comparator, subcomparator);
    if words.take_if("grace") {
        cf.gc_grace_s = words.number();
    }
    cf
}

fn parse(line: &str, rest: &mut std::str::Lines<'_>) -> Command {
    let mut words = Words::of(line);
    match words.next() {
        "partitioner" => Command::Partitioner(words.next().to_owned()),
        verb @ ("standard" | "super") => Command::Define(Box::new(parse_define(verb == "super", &mut words))),
        "release" => Command::Release(words.next().parse().unwrap()),
        verb @ ("put" | "delete") => {
            let (cf, key, written) = parse_write(verb, &mut words);
            Command::Write(vec![(cf, key, vec![written])])
        }
        "batch" => Command::Write(parse_batch(rest)),
        "get" | "slice" => {
            let (cf, key) = (words.next().to_owned(), bytes_of(words.next()));
            Command::Get { cf, key, read: parse_read(&mut words) }
        }
        "scan" => {
            let cf = words.next().to_owned();
            let bounds = match words.0.next_if(|word| matches!(*word, "keys" | "tokens")) {
                Some(kind) => [kind, words.next(), words.next()].map(str::to_owned).to_vec(),
                None => ["keys", "-", "-"].map(str::to_owned).to_vec(),
            };
            let rows = if words.take_if("rows") { words.number() } else { usize::MAX };
            let skip_empty = words.take_if("skip-empty");
            Command::Scan { cf, bounds, rows, skip_empty, read: parse_read(&mut words) }
        }
        "splits" => Command::Splits {
            start: words.next().to_owned(),
            end: words.next().to_owned(),
            keys: words.number(),
        },
        "truncate" => Command::Truncate(words.next().to_owned()),
        "restart" => Command::Restart,
        "compact" => Command::Compact,
        "sweep" => Command::Sweep,
        "clock" => Command::Clock(words.number()),
        other => panic!("unknown command {other}"),
    }
}

fn parse_batch(rest: &mut std::str::Lines<'_>) -> Vec<(String, Bytes, Vec<Written>)> {
    let mut families: Vec<(String, Bytes, Vec<Written>)> = Vec::new();
    for line in rest.take_while(|line| line.trim() != "end") {
        let mut words = Words::of(line);
        let verb = words.next();
        let (cf, key, written) = parse_write(verb, &mut words);
        match families.iter_mut().find(|(other, row, _)| *other == cf && *row == key) {
            Some((_, _, all)) => all.push(written),
            None => families.push((cf, key, vec![written])),
        }
    }
    families
}

/// Bytes from `0x...`, or the text itself; `-` is nothing.
fn bytes_of(word: &str) -> Bytes {
    match (word, word.strip_prefix("0x")) {
        ("-", _) => Bytes::new(),
        (_, Some(hex)) => {
            let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (0..hex.len()).step_by(2).map(digits).collect()
        }
        _ => Bytes::copy_from_slice(word.as_bytes()),
    }
}

fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok("") => "-".to_owned(),
        Ok(text) if !text.contains(|c: char| c.is_control() || c.is_whitespace()) => text.to_owned(),
        _ => bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}")),
    }
}

/// Whether a type's own text form is better to read than its bytes.
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

/// Which store a script runs on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Backend {
    Embedded,
    Memory,
}

enum Opened {
    Embedded(EmbeddedStore),
    Memory(MemoryStore),
}

impl Opened {
    fn store(&self) -> &dyn Store {
        match self {
            Opened::Embedded(store) => store,
            Opened::Memory(store) => store,
        }
    }
}

/// A script's run.
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
            self.catalog = support::catalog(self.families.iter().cloned());
            let (options, partitioner) = (support::options(self.directory.path()), self.partitioner.clone());
            self.opened = Some(match self.backend {
                Backend::Memory => Opened::Memory(MemoryStore::new(partitioner, self.clock.clone())),
                Backend::Embedded => Opened::Embedded(
                    EmbeddedStore::open(options, partitioner, &self.catalog, self.clock.clone()).unwrap(),
                ),
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
            Command::Define(cf) => self.families.push(*cf),
            Command::Release(release) => self.behaviour = Behaviour::of(release),
            Command::Clock(seconds) => self.clock.advance_ms(seconds * 1000),
            Command::Restart => {
                if let Some(Opened::Embedded(store)) =
                    self.opened.take_if(|_| self.backend == Backend::Embedded)
                {
                    support::close(store);
                }
            }
            other => return self.call(other),
        }
        String::new()
    }

    fn call(&mut self, command: Command) -> String {
        self.open();
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

    /// One mutation for each row, all its column families in it.
    fn mutations(&self, written: Vec<(String, Bytes, Vec<Written>)>) -> Vec<Mutation> {
        let mut rows: BTreeMap<Bytes, Vec<CfMutation>> = BTreeMap::new();
        for (cf, key, written) in written {
            let cf = self.cf(&cf);
            let changes = written.iter().map(|written| self.change(&cf, written)).collect();
            rows.entry(key).or_default().push(CfMutation { cf, changes });
        }
        rows.into_iter().map(|(key, families)| Mutation { key, families }).collect()
    }

    fn change(&self, cf: &CfDef, written: &Written) -> Change {
        let deletion =
            DeletionTime { marked_for_delete_at: written.timestamp, local_deletion_time: self.clock.now_s() };
        let (holder, name) = match (cf.subcomparator(), written.path.split_once('/')) {
            (Some(sub), Some((holder, name))) => {
                let holder = name_of(&*cf.comparator, holder);
                if name.is_empty() {
                    return Change::DeleteSuper { name: holder, deletion };
                }
                (Some(holder), name_of(&**sub, name))
            }
            _ if written.path.is_empty() => return Change::DeleteRow { deletion },
            _ => (None, name_of(&*cf.comparator, &written.path)),
        };
        let cell = match &written.value {
            Some(value) => Cell::live(name, bytes_of(value), written.timestamp),
            None => Cell::tombstone(name, written.timestamp, self.clock.now_s()),
        };
        Change::Cell { super_column: holder, cell }
    }

    fn read(&self, cf: &Arc<CfDef>, read: &Read) -> ReadCommand {
        let level = match (&read.within, cf.subcomparator()) {
            (Some(_), Some(sub)) => &**sub,
            _ => &*cf.comparator,
        };
        let bound =
            |word: &Option<String>| word.as_ref().map(|word| name_of(level, word)).unwrap_or_default();
        let predicate = match &read.names {
            Some(names) => Predicate::Names(names.iter().map(|name| name_of(level, name)).collect()),
            None => Predicate::Range(SliceRange {
                start: bound(&read.from),
                finish: bound(&read.to),
                reversed: read.reversed,
                count: read.count.unwrap_or(100),
            }),
        };
        ReadCommand {
            cf: cf.clone(),
            super_column: read.within.as_ref().map(|name| name_of(&*cf.comparator, name)),
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

fn show_cell(cell: &Cell, names: &dyn AbstractType, indent: &str, text: &mut String) {
    let name = name_text(names, &cell.name);
    let value = match cell.kind {
        CellKind::Live => text_of(&cell.value),
        _ => "deleted".to_owned(),
    };
    writeln!(text, "{indent}{name} {value} @{}", cell.timestamp).unwrap();
}

/// The whole script as it should be, by what this backend answers.
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

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "txt")).collect();
    scripts.sort();
    scripts
}

#[test]
fn every_script_runs_on_the_embedded_store() {
    for path in scripts() {
        let script = std::fs::read_to_string(&path).unwrap();
        let answered = answer(&script, Backend::Embedded);
        if std::env::var_os("REWRITE").is_some() {
            std::fs::write(&path, answered).unwrap();
        } else {
            assert_eq!(answered, script, "{} (REWRITE=1 rewrites it)", path.display());
        }
    }
}

/// But those about compaction, which memory has not.
#[test]
fn every_script_runs_on_the_memory_store() {
    for path in scripts() {
        let script = std::fs::read_to_string(&path).unwrap();
        let is_shared = !script.lines().any(|line| matches!(line, "compact" | "sweep"));
        if is_shared && std::env::var_os("REWRITE").is_none() {
            assert_eq!(answer(&script, Backend::Memory), script, "{}", path.display());
        }
    }
}
