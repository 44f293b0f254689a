//! Reads inside rows.

use bytes::Bytes;
use scylla::response::PagingState;

use super::link::{Link, level};
use super::paging::Paging;
use super::rows::{FoundCell, Reading};
use super::shape::{Shape, Which};
use super::table::Table;
use super::values::Values;
use crate::model::{ConsistencyLevel, DeletionTime, Predicate, ReadCommand, RowColumns, SuperColumn};
use crate::storage::StoreError;

/// Columns that are asked for at first for each super column: how many it has is not known.
const COLUMNS_PER_SUPER: usize = 16;

/// Columns of one row. An absent row has none.
pub async fn read(
    link: &Link,
    table: &Table,
    key: &Bytes,
    command: &ReadCommand,
    consistency: ConsistencyLevel,
) -> Result<RowColumns, StoreError> {
    let is_of_supers = table.inner.is_some() && command.super_column.is_none();
    let empty = if is_of_supers { RowColumns::Supers(Vec::new()) } else { RowColumns::Cells(Vec::new()) };
    let Some((shape, values)) = slice(table, key, command) else { return Ok(empty) };
    let count = match &command.predicate {
        Predicate::Names(_) => usize::MAX,
        Predicate::Range(range) => range.count,
    };
    if count == 0 {
        return Ok(empty);
    }
    let mut statement = table.prepared(link, shape).await?;
    statement.set_consistency(level(consistency));
    let per_count = if is_of_supers { COLUMNS_PER_SUPER } else { 1 };
    let mut paging = Paging::of(count.saturating_mul(per_count));
    let reading = Reading { table, has_key: false, now_s: command.now_s };
    let mut gathered = Gathered::new(is_of_supers, count);
    let mut from = PagingState::start();
    loop {
        statement.set_page_size(paging.rows());
        let (page, next) = link.page(&statement, &values, from).await?;
        for found in reading.cells(&page)? {
            gathered.add(found);
        }
        paging.learn(&page, gathered.missing().saturating_mul(per_count));
        match next {
            Some(next) if !gathered.is_complete() => from = next,
            _ => break,
        }
    }
    Ok(gathered.columns(is_reversed(command)))
}

/// The columns that have been read so far.
pub struct Gathered {
    count: usize,
    is_of_supers: bool,
    cells: Vec<crate::model::Cell>,
    supers: Vec<SuperColumn>,
}

impl Gathered {
    pub fn new(is_of_supers: bool, count: usize) -> Gathered {
        Gathered { count, is_of_supers, cells: Vec::new(), supers: Vec::new() }
    }

    pub fn add(&mut self, found: FoundCell) {
        let name = match found.super_column {
            Some(name) if self.is_of_supers => name,
            _ => {
                if self.cells.len() < self.count {
                    self.cells.push(found.cell);
                }
                return;
            }
        };
        match self.supers.last_mut() {
            Some(last) if last.name == name => last.cells.push(found.cell),
            _ => {
                self.supers.push(SuperColumn { name, deletion: DeletionTime::LIVE, cells: vec![found.cell] });
            }
        }
    }

    /// Whether no further column can belong to what was asked for. A super column has ended when another begins.
    fn is_complete(&self) -> bool {
        if self.is_of_supers { self.supers.len() > self.count } else { self.cells.len() >= self.count }
    }

    /// How many of what is counted have not come yet.
    fn missing(&self) -> usize {
        let come = if self.is_of_supers { self.supers.len() } else { self.cells.len() };
        self.count.saturating_sub(come)
    }

    /// What was read. Super columns of a reversed slice have their columns in order.
    pub fn columns(mut self, is_reversed: bool) -> RowColumns {
        if !self.is_of_supers {
            return RowColumns::Cells(self.cells);
        }
        self.supers.truncate(self.count);
        if is_reversed {
            self.supers.iter_mut().for_each(|super_column| super_column.cells.reverse());
        }
        RowColumns::Supers(self.supers)
    }
}

fn is_reversed(command: &ReadCommand) -> bool {
    matches!(&command.predicate, Predicate::Range(range) if range.reversed)
}

/// The statement of a read and its values; `None` when nothing can be found.
fn slice(table: &Table, key: &Bytes, command: &ReadCommand) -> Option<(Shape, Values)> {
    let mut values = Values::default().bytes(key.clone());
    let inner = match (&command.super_column, &table.inner) {
        (Some(name), Some(_)) => {
            values = values.bytes(table.outer.encode(name));
            true
        }
        _ => false,
    };
    let form = match &table.inner {
        Some(form) if inner => form,
        _ => &table.outer,
    };
    let which = match &command.predicate {
        Predicate::Names(names) => {
            let mut kept: Vec<Bytes> = names.iter().map(|name| form.encode(name)).collect();
            kept.sort();
            kept.dedup();
            match &kept[..] {
                [] => return None,
                [one] => {
                    values = values.bytes(one.clone());
                    Which::One
                }
                several => {
                    values = values.list(several);
                    Which::Several
                }
            }
        }
        Predicate::Range(range) => {
            let (low, high) =
                if range.reversed { (&range.finish, &range.start) } else { (&range.start, &range.finish) };
            for bound in [low, high].into_iter().filter(|bound| !bound.is_empty()) {
                values = values.bytes(form.encode(bound));
            }
            Which::Run { from: !low.is_empty(), to: !high.is_empty() }
        }
    };
    Some((Shape::Slice { inner, which, is_reversed: is_reversed(command) }, values))
}
