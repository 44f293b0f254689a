//! Shows which cells a statement reads and writes.

use base::util::{counted, hex};
use std::sync::Arc;

use bytes::Bytes;

use super::select::Reach;
use super::{Execution, QueryOptions, QueryState, run};
use crate::error::invalid;
use base::model::{
    Bounds, Cell, CellKind, Change, Mutation, Predicate, RangeCommand, RangeTombstone, ReadCommand,
    SliceRange,
};
use base::schema::{CfDef, TableDef, show};
use cql_syntax::{Statement, Term};
use store::{RecordingStore, StoreRequest};

/// Runs a SELECT, INSERT, UPDATE, DELETE or BATCH without writing anything. Returns the row keys and cells that it
/// reads and would write, each with its meaning.
pub fn explain<'a>(
    state: &'a QueryState<'a>,
    text: &'a str,
    options: &'a QueryOptions,
) -> Execution<'a, String> {
    Box::pin(async move {
        let watched = Arc::new(RecordingStore::new(state.database.store().clone()));
        let database = Arc::new(state.database.with_store(watched.clone()));
        let state = QueryState { database: &database, ..*state };
        let prepared = run::prepare(&state, text)?;
        match prepared.parsed.statement {
            Statement::Select(_) | Statement::Modify(_) | Statement::Batch(_) => {}
            _ => {
                let why = "only SELECT, INSERT, UPDATE, DELETE and BATCH read or write cells";
                return invalid(why);
            }
        }
        run::execute_prepared(&state, &prepared, options).await?;
        let explained = Explained { state: &state };
        let mut lines: Vec<String> =
            watched.take().iter().map(|request| explained.request(request)).collect();
        if let Statement::Select(select) = &prepared.parsed.statement
            && let Some(Term::Constant { text, .. }) = &select.limit
        {
            lines.push(format!("until there are {text} rows\n"));
        }
        if let Some(reach) = prepared.reach(&state, options)? {
            lines.push(limits(&reach));
            lines.push(format!("on this data it reads {}\n", counted(watched.cells_read() as u64, "cell")));
            lines.extend(reach.warnings.iter().map(|warning| format!("warning: {warning}\n")));
        }
        Ok(if lines.is_empty() { "it reads and writes nothing\n".to_owned() } else { lines.concat() })
    })
}

/// Returns a line with the limits of what a SELECT reads.
fn limits(reach: &Reach) -> String {
    let numbers = [("partition", reach.partitions), ("row", reach.rows), ("cell", reach.cells)];
    let limited =
        numbers.iter().filter_map(|(word, number)| Some(counted((*number)? as u64, word))).collect();
    let open =
        numbers.iter().filter(|(_, number)| number.is_none()).map(|(word, _)| format!("{word}s")).collect();
    match (joined(limited), joined(open)) {
        (limited, None) => format!("it reads at most {}\n", limited.unwrap_or_default()),
        (None, Some(open)) => format!("it reads {open} without a limit\n"),
        (Some(limited), Some(open)) => format!("it reads at most {limited}, and {open} without a limit\n"),
    }
}

/// Joins words with commas and `and`; `None` if there are none.
fn joined(mut words: Vec<String>) -> Option<String> {
    let last = words.pop()?;
    Some(if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) })
}

struct Explained<'a> {
    state: &'a QueryState<'a>,
}

/// One line: the bytes on the left, their meaning on the right.
type Line = (String, String);

impl Explained<'_> {
    fn request(&self, request: &StoreRequest) -> String {
        match request {
            StoreRequest::Read { key, command } => self.read(key, command),
            StoreRequest::Scan(command) => self.scan(command),
            StoreRequest::Write(mutation) => self.write(mutation),
        }
    }

    /// Returns the table of a column family, or `None` for the column family of an index.
    fn table(&self, cf: &CfDef) -> Option<Arc<TableDef>> {
        (!cf.is_index()).then(|| TableDef::of(cf, self.state.behaviour.release))
    }

    fn key(&self, table: Option<&TableDef>, key: &Bytes) -> Line {
        match table {
            Some(table) => (
                show::framed(key, table.partition_key.len() > 1),
                show::row_key(self.state.database.types(), table, key),
            ),
            None => (show::framed(key, false), "(the indexed value)".to_owned()),
        }
    }

    fn read(&self, key: &Bytes, command: &ReadCommand) -> String {
        let table = self.table(&command.cf);
        let (bytes, meaning) = self.key(table.as_deref(), key);
        let head = format!("read {}.{} row {bytes}  {meaning}\n", command.cf.keyspace, command.cf.name);
        head + &aligned(&self.predicate(command, table.as_deref()))
    }

    fn scan(&self, command: &RangeCommand) -> String {
        let read = &command.read;
        let rows = match &command.bounds {
            Bounds::Keys { start, end } if start.is_empty() && end.is_empty() => "all rows".to_owned(),
            Bounds::Keys { start, end } => {
                format!("rows from {} to {}", show::framed(start, false), show::framed(end, false))
            }
            Bounds::KeyToToken { start, end } => format!(
                "rows from {} to token {}",
                show::framed(start, false),
                end.as_ref().map_or("-".to_owned(), |token| hex(token))
            ),
            Bounds::Tokens { start, end } => {
                format!("rows after token {} to token {}", hex(start), hex(end))
            }
        };
        let head = format!("scan {}.{} {rows}\n", read.cf.keyspace, read.cf.name);
        head + &aligned(&self.predicate(read, self.table(&read.cf).as_deref()))
    }

    fn predicate(&self, command: &ReadCommand, table: Option<&TableDef>) -> Vec<Line> {
        let composite = table.is_some_and(show::has_composite_names);
        let mut lines = Vec::new();
        if let Some(holder) = &command.super_column {
            lines.push((format!("in {}", hex(holder)), "(super column)".to_owned()));
        }
        match &command.predicate {
            Predicate::Names(names) => lines.extend(names.iter().map(|name| {
                let meaning =
                    table.map(|table| show::meaning(self.state.database.types(), table, name, None));
                (show::framed(name, composite), meaning.unwrap_or_default())
            })),
            Predicate::Range(range) if range.start.is_empty() && range.finish.is_empty() => {
                lines.push((format!("{}all cells", way(range)), String::new()));
            }
            Predicate::Range(range) => {
                let way = way(range);
                for (word, name) in [("from", &range.start), ("to", &range.finish)] {
                    let (bytes, meaning) = self.bound(table, name);
                    lines.push((format!("{way}{word} {bytes}"), meaning));
                }
            }
        }
        lines
    }

    fn bound(&self, table: Option<&TableDef>, name: &Bytes) -> Line {
        let composite = table.is_some_and(show::has_composite_names);
        let meaning = table.map(|table| show::bound(self.state.database.types(), table, name));
        (show::framed(name, composite), meaning.unwrap_or_default())
    }

    fn write(&self, mutation: &Mutation) -> String {
        let mut text = String::new();
        for family in &mutation.families {
            let table = self.table(&family.cf);
            let (bytes, meaning) = self.key(table.as_deref(), &mutation.key);
            let (keyspace, name) = (&family.cf.keyspace, &family.cf.name);
            text.push_str(&format!("write {keyspace}.{name} row {bytes}  {meaning}\n"));
            let lines: Vec<Line> =
                family.changes.iter().flat_map(|change| self.change(table.as_deref(), &change)).collect();
            text.push_str(&aligned(&lines));
        }
        text
    }

    fn change(&self, table: Option<&TableDef>, change: &Change) -> Vec<Line> {
        match change {
            Change::Cell { super_column, cell } => {
                vec![self.cell(table, super_column.as_ref(), cell)]
            }
            Change::DeleteRow { deletion } => {
                vec![(format!("delete all @{}", deletion.marked_for_delete_at), String::new())]
            }
            Change::DeleteSuper { name, deletion } => {
                let at = deletion.marked_for_delete_at;
                vec![(format!("delete {}/ @{at}", hex(name)), String::new())]
            }
            Change::DeleteRange(RangeTombstone { start, finish, deletion, .. }) => {
                let (from, meaning) = self.bound(table, start);
                let (to, _) = self.bound(table, finish);
                let at = deletion.marked_for_delete_at;
                vec![
                    (format!("delete from {from}"), meaning),
                    (format!("         to {to} @{at}"), String::new()),
                ]
            }
        }
    }

    fn cell(&self, table: Option<&TableDef>, holder: Option<&Bytes>, cell: &Cell) -> Line {
        let composite = table.is_some_and(show::has_composite_names);
        let holder = holder.map_or(String::new(), |name| format!("{}/", hex(name)));
        let name = format!("{holder}{}", show::framed(&cell.name, composite));
        let value = cell.is_live().then_some(&cell.value);
        let meaning = table.map(|table| show::meaning(self.state.database.types(), table, &cell.name, value));
        let at = cell.timestamp;
        let bytes = match cell.kind {
            CellKind::Live | CellKind::Counter => format!("{name} = {} @{at}", hex(&cell.value)),
            CellKind::Expiring { ttl_s, .. } => {
                format!("{name} = {} @{at} ttl {ttl_s}", hex(&cell.value))
            }
            CellKind::Increment => format!("{name} += {}", cell.count().unwrap_or_default()),
            CellKind::Deleted { .. } => format!("delete {name} @{at}"),
        };
        (bytes, meaning.unwrap_or_default())
    }
}

/// Returns the direction of a slice if it is reversed.
fn way(range: &SliceRange) -> &'static str {
    if range.reversed { "backwards " } else { "" }
}

/// Aligns the meanings of the lines in one column. A line that is too long has its meaning on the next line.
fn aligned(lines: &[Line]) -> String {
    const WIDTH_MAX: usize = 72;
    let width = lines.iter().map(|(bytes, _)| bytes.len()).filter(|width| *width <= WIDTH_MAX).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for (bytes, meaning) in lines {
        text += &if meaning.is_empty() {
            format!("  {bytes}\n")
        } else if bytes.len() > width {
            format!("  {bytes}\n  {:width$}  {meaning}\n", "")
        } else {
            format!("  {bytes:width$}  {meaning}\n")
        };
    }
    text
}
