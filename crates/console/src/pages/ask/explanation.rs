//! The explanation of a question: its plan, the slices of rows as drawings, and the cost.

use bytes::Bytes;

use super::recorder::Recorded;
use super::statement::StatementAnswer;
use super::steps::{ReadStep, StepRows, read_steps};
use crate::present::{ShownBytes, escaped, key_class, name_class, read_as};
use base::model::{Bounds, Predicate, SliceRange};
use base::schema::{TableDef, show};
use base::util::Release;
use cql::{PathPartitions, Reach};
use db::Database;

/// Steps that are drawn.
const STEPS_MAX: usize = 12;
/// Names of one step that are listed.
const NAMES_MAX: usize = 20;
/// Characters of a key or bound.
const CHARS_MAX: usize = 160;
/// The width of a drawing, and the ends of its bar.
const WIDTH: u32 = 400;
const LEFT: u32 = 8;
const RIGHT: u32 = WIDTH - 8;

/// A bar that stands for all rows or cells in their order, with the part that is read.
pub(super) struct Bar {
    pub from: u32,
    pub to: u32,
    pub is_reversed: bool,
    /// The drawing in words.
    pub label: String,
}

impl Bar {
    pub(super) fn left(&self) -> u32 {
        LEFT
    }

    pub(super) fn width(&self) -> u32 {
        RIGHT - LEFT
    }

    pub(super) fn part(&self) -> u32 {
        self.to - self.from
    }

    /// Returns the points of the arrow's head.
    pub(super) fn head(&self) -> String {
        let (base, tip) =
            if self.is_reversed { (self.from + 10, self.from) } else { (self.to - 10, self.to) };
        format!("{base},6 {tip},14 {base},22")
    }
}

/// A slice of rows.
pub(super) struct ShownStep {
    pub title: String,
    pub family: String,
    pub rows: Bar,
    pub super_column: String,
    /// The names that are read; empty: a slice.
    pub names: Vec<String>,
    pub names_left_out: usize,
    pub slice: Option<Bar>,
    pub requests: usize,
}

/// A number of the cost.
pub(super) struct Cost {
    pub name: &'static str,
    pub count: u64,
}

/// A part of the plan.
pub(super) struct PlanPart {
    pub name: &'static str,
    pub text: String,
}

#[derive(Default)]
pub(super) struct Explanation {
    pub plan: Vec<PlanPart>,
    pub steps: Vec<ShownStep>,
    pub steps_left_out: usize,
    pub costs: Vec<Cost>,
    pub summary: String,
    pub warnings: Vec<String>,
}

/// Explains a question by its recorded requests. `answer` has the plan of a statement.
pub(super) fn explain(
    database: &Database,
    release: Release,
    recorded: &Recorded,
    answer: Option<&StatementAnswer>,
    rows: usize,
) -> Explanation {
    let drawing = Drawing { database, release, is_cql: answer.is_some_and(|answer| !answer.is_cql2) };
    let steps = read_steps(&recorded.requests);
    let counts = [
        ("cells read", recorded.cells_read as u64),
        ("tombstones passed", recorded.tombstones),
        ("rows returned", rows as u64),
    ];
    let costs = counts.map(|(name, count)| Cost { name, count });
    let reach = answer.and_then(|answer| answer.reach.as_ref());
    Explanation {
        plan: answer.map(|answer| drawing.plan(answer)).unwrap_or_default(),
        steps_left_out: steps.len().saturating_sub(STEPS_MAX),
        steps: steps.iter().take(STEPS_MAX).map(|step| drawing.step(step)).collect(),
        costs: costs.into(),
        summary: summary(recorded, rows, reach),
        warnings: reach.map_or(Vec::new(), |reach| reach.warnings.clone()),
    }
}

/// Returns the cost as a sentence.
fn summary(recorded: &Recorded, rows: usize, reach: Option<&Reach>) -> String {
    let cells = recorded.cells_read;
    let each = match rows {
        0 => String::new(),
        rows => format!(", {} for each row of the result", cells.div_ceil(rows)),
    };
    let limit = match reach.map(|reach| reach.cells) {
        Some(Some(limit)) => format!(" On any data it reads at most {limit} cells."),
        Some(None) => " With more data it reads more cells, without a limit.".to_owned(),
        None => String::new(),
    };
    let requests = match recorded.requests_made {
        1 => "1 request".to_owned(),
        requests => format!("{requests} requests"),
    };
    format!(
        "It read {cells} cells{each}, with {requests} to the store, in {} microseconds with the recording.{limit}",
        recorded.time.as_micros()
    )
}

struct Drawing<'a> {
    database: &'a Database,
    release: Release,
    /// Whether keys and bounds are shown as columns of CQL.
    is_cql: bool,
}

impl Drawing<'_> {
    fn plan(&self, answer: &StatementAnswer) -> Vec<PlanPart> {
        let Some(path) = &answer.path else { return Vec::new() };
        let mut parts = Vec::new();
        let mut part = |name, text: String| parts.push(PlanPart { name, text });
        if let Some(index) = &path.index {
            part("Index", format!("looks up one value of {}", cut(&index.column)));
        }
        let partitions = match &path.partitions {
            PathPartitions::Keys(keys) if keys.len() == 1 => "one, by its key".to_owned(),
            PathPartitions::Keys(keys) => format!("{}, by their keys", keys.len()),
            PathPartitions::Range(_) if path.index.is_some() => "those that the index finds".to_owned(),
            PathPartitions::Range(None) => "none: the range is empty".to_owned(),
            PathPartitions::Range(Some(bounds)) => {
                rows_text(bounds, |key| cut(&String::from_utf8_lossy(key)))
            }
        };
        part("Partitions", partitions);
        part("Direction", if path.is_reversed { "backwards" } else { "forwards" }.to_owned());
        if !path.filtered.is_empty() {
            let names: Vec<String> = path.filtered.iter().map(|name| cut(name)).collect();
            part("Filter", format!("drops rows by {} after reading them", names.join(", ")));
        }
        if path.sorts {
            part("Sort", "rows of all partitions, in memory".to_owned());
        }
        if let Some(limit) = path.limit {
            part("Limit", format!("{limit} rows"));
        }
        parts
    }

    fn step(&self, step: &ReadStep) -> ShownStep {
        let (cf, types) = (&step.cf, self.database.types());
        let table = (self.is_cql && !cf.is_index()).then(|| TableDef::of(cf, self.release));
        let key = |key: &Bytes| match &table {
            Some(table) => cut(&show::row_key(types, table, key)),
            None => cut_bytes(&ShownBytes::at_most(CHARS_MAX, key, |key| read_as(types, key_class(cf), key))),
        };
        let names = name_class(cf, step.super_column.is_some());
        let meaning = |name: &Bytes, is_bound: bool| match &table {
            Some(table) if is_bound => cut(&show::bound(types, table, name)),
            Some(table) => cut(&show::meaning(types, table, name, None)),
            None => cut_bytes(&ShownBytes::of(types, names, name)),
        };
        let what = if cf.is_index() { "entries of an index" } else { "rows" };
        let (title, rows) = match &step.rows {
            StepRows::Key(_) if cf.is_index() => {
                ("Look up a value in the index".to_owned(), one_row("the entries of the value".to_owned()))
            }
            StepRows::Key(bytes) => ("Read one row".to_owned(), one_row(format!("row {}", key(bytes)))),
            StepRows::Scan(bounds) => (format!("Scan {what} in the order of the ring"), scan(bounds, &key)),
        };
        let (shown, all) = match &step.predicate {
            Predicate::Names(all) => {
                (all.iter().take(NAMES_MAX).map(|name| meaning(name, false)).collect(), all.len())
            }
            Predicate::Range(_) => (Vec::new(), 0),
        };
        let super_column = step.super_column.as_ref();
        ShownStep {
            title,
            family: format!("{}.{}", cf.keyspace, if cf.is_index() { "(index)" } else { &cf.name }),
            rows,
            super_column: super_column
                .map_or(String::new(), |name| cut_bytes(&ShownBytes::of(types, &*cf.comparator, name))),
            names: shown,
            names_left_out: all.saturating_sub(NAMES_MAX),
            slice: step.slice().map(|range| {
                let word =
                    if step.super_column.is_none() && cf.is_super() { "super columns" } else { "cells" };
                slice(range, word, &|name: &Bytes| meaning(name, true))
            }),
            requests: step.requests,
        }
    }
}

/// Draws one row among all.
fn one_row(label: String) -> Bar {
    let middle = WIDTH / 2;
    Bar { from: middle - 6, to: middle + 6, is_reversed: false, label }
}

/// Draws the rows of a scan.
fn scan(bounds: &Bounds, key: &dyn Fn(&Bytes) -> String) -> Bar {
    let (is_open, is_endless) = match bounds {
        Bounds::Keys { start, end } => (start.is_empty(), end.is_empty()),
        Bounds::KeyToToken { start, end } => (start.is_empty(), end.is_none()),
        Bounds::Tokens { start, end } => (start.is_empty(), end.is_empty()),
    };
    let (from, to) = ends(is_open, is_endless);
    Bar { from, to, is_reversed: false, label: rows_text(bounds, key) }
}

fn rows_text(bounds: &Bounds, key: impl Fn(&Bytes) -> String) -> String {
    let token = |token: &[u8]| format!("token 0x{}", cut(&base::util::hex(token)));
    let first = |start: &Bytes| if start.is_empty() { "the first row".to_owned() } else { key(start) };
    match bounds {
        Bounds::Keys { start, end } if start.is_empty() && end.is_empty() => "all rows".to_owned(),
        Bounds::Keys { start, end } => {
            let end = if end.is_empty() { "the last row".to_owned() } else { key(end) };
            format!("rows from {} to {end}", first(start))
        }
        Bounds::KeyToToken { start, end } => {
            let end = end.as_ref().map_or("the last row".to_owned(), |end| token(end));
            format!("rows from {} to {end}", first(start))
        }
        Bounds::Tokens { start, end } => format!("rows after {} to {}", token(start), token(end)),
    }
}

/// Draws a slice of cells. A reversed slice starts at its larger name.
fn slice(range: &SliceRange, word: &str, name: &dyn Fn(&Bytes) -> String) -> Bar {
    let (start, finish, is_reversed) = (&range.start, &range.finish, range.reversed);
    let (low, high) = if is_reversed { (finish, start) } else { (start, finish) };
    let (from, to) = ends(low.is_empty(), high.is_empty());
    let way = if is_reversed { "backwards" } else { "forwards" };
    let bound = |bound: &Bytes, open: &str| if bound.is_empty() { open.to_owned() } else { name(bound) };
    let (first, last) = if is_reversed { ("the last", "the first") } else { ("the first", "the last") };
    let label = if start.is_empty() && finish.is_empty() {
        format!("all {word}, {way}")
    } else {
        format!("{word} from {} to {}, {way}", bound(start, first), bound(finish, last))
    };
    Bar { from, to, is_reversed, label }
}

/// Returns the ends of the part that is read: an open end is the end of the bar.
fn ends(is_open: bool, is_endless: bool) -> (u32, u32) {
    (if is_open { LEFT } else { WIDTH / 4 }, if is_endless { RIGHT } else { WIDTH * 3 / 4 })
}

/// Returns a text that can be shown, or its beginning.
fn cut(text: &str) -> String {
    let shown = escaped(text.as_bytes());
    match shown.char_indices().nth(CHARS_MAX) {
        None => shown,
        Some((at, _)) => format!("{}… ({} bytes)", shown.get(..at).unwrap_or_default(), text.len()),
    }
}

fn cut_bytes(shown: &ShownBytes) -> String {
    if shown.is_empty() {
        "(empty)".to_owned()
    } else if shown.is_cut {
        format!("{}… ({} bytes)", shown.text, shown.length)
    } else {
        shown.text.clone()
    }
}
