//! A model of a table, as simple as possible: every cell by its address, and every deletion so far.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::table::{Column, Kind, Layout, Table, counted};

/// The values of columns of the primary key.
pub type Values = Vec<Vec<u8>>;

/// The address of a cell: its row, or `None` for static columns; its column, empty for the row marker; for a collection
/// its element, for a list the number of its element in the order of insertion.
pub type Address = (Option<Values>, &'static str, Option<Vec<u8>>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub timestamp: i64,
    /// `None` if the cell is deleted.
    pub value: Option<Vec<u8>>,
    pub expires_s: Option<i32>,
}

#[derive(Debug, Default)]
pub struct Partition {
    deleted: Vec<i64>,
    /// Deletions of all rows whose clustering values begin with these.
    ranges: Vec<(Values, i64)>,
    /// Deletions of whole collections.
    collections: Vec<(Option<Values>, &'static str, i64)>,
    cells: BTreeMap<Address, Cell>,
    /// The elements of lists, in order.
    lists: BTreeMap<(Option<Values>, &'static str), Vec<Cell>>,
}

pub struct Model {
    pub table: Table,
    pub now_s: i32,
    partitions: BTreeMap<Values, Partition>,
    dropped: Vec<(&'static str, i64)>,
}

/// A row in the result of SELECT *.
pub type Row = Vec<Option<Vec<u8>>>;

impl Model {
    pub fn new(table: Table, now_s: i32) -> Model {
        Model { table, now_s, partitions: BTreeMap::new(), dropped: Vec::new() }
    }

    pub fn keys(&self) -> impl Iterator<Item = &Values> {
        self.partitions.keys()
    }

    fn partition(&mut self, key: &Values) -> &mut Partition {
        self.partitions.entry(key.clone()).or_default()
    }

    /// Writes a cell. The cell with the larger timestamp wins; of two with the same timestamp a deletion, then the
    /// larger value by signed bytes, then the one that expires later.
    pub fn write(&mut self, key: &Values, address: Address, new: Cell) {
        let now_s = self.now_s;
        let rank = |cell: &Cell| {
            let is_over = cell.expires_s.is_some_and(|expires_s| expires_s <= now_s);
            let value = cell.value.clone().filter(|_| !is_over);
            let signed = value.map(|value| value.iter().map(|byte| byte.cast_signed()).collect::<Vec<i8>>());
            let life = cell.expires_s.unwrap_or(i32::MAX);
            (cell.timestamp, signed.is_none(), signed, life)
        };
        let cells = &mut self.partition(key).cells;
        let stays = cells.get(&address).is_some_and(|old| rank(old) >= rank(&new));
        if !stays {
            cells.insert(address, new);
        }
    }

    pub fn delete_partition(&mut self, key: &Values, timestamp: i64) {
        self.partition(key).deleted.push(timestamp);
    }

    pub fn delete_rows(&mut self, key: &Values, prefix: Values, timestamp: i64) {
        self.partition(key).ranges.push((prefix, timestamp));
    }

    pub fn delete_collection(
        &mut self,
        key: &Values,
        row: Option<Values>,
        column: &'static str,
        timestamp: i64,
    ) {
        self.partition(key).collections.push((row, column, timestamp));
    }

    pub fn drop_column(&mut self, column: &'static str, timestamp: i64) {
        self.dropped.push((column, timestamp));
    }

    /// Removes the elements of a list that are no longer visible, and returns the others for a change.
    pub fn list(&mut self, key: &Values, row: Option<Values>, column: &'static str) -> &mut Vec<Cell> {
        let seen = self.seen_list(key, row.as_ref(), column);
        let list = self.partition(key).lists.entry((row, column)).or_default();
        *list = seen;
        list
    }

    pub fn seen_list(&self, key: &Values, row: Option<&Values>, column: &'static str) -> Vec<Cell> {
        let Some(partition) = self.partitions.get(key) else { return Vec::new() };
        let list = partition.lists.get(&(row.cloned(), column)).cloned().unwrap_or_default();
        list.into_iter().filter(|cell| self.is_seen(partition, row, column, cell)).collect()
    }

    fn is_seen(
        &self,
        partition: &Partition,
        row: Option<&Values>,
        column: &'static str,
        cell: &Cell,
    ) -> bool {
        let hides = |timestamp: &i64| *timestamp >= cell.timestamp;
        let of_rows =
            partition.ranges.iter().filter(|(prefix, _)| row.is_some_and(|row| row.starts_with(prefix)));
        let of_collection =
            |other: &&(Option<Values>, &'static str, i64)| (other.0.as_ref(), other.1) == (row, column);
        cell.value.is_some()
            && cell.expires_s.is_none_or(|expires_s| expires_s > self.now_s)
            && !partition.deleted.iter().any(hides)
            && !of_rows.map(|(_, timestamp)| timestamp).any(hides)
            && !partition.collections.iter().filter(of_collection).any(|(.., timestamp)| hides(timestamp))
            && !self.dropped.iter().any(|(name, timestamp)| *name == column && hides(timestamp))
    }

    /// Returns the visible cells of a partition without those of lists.
    pub fn seen_cells(&self, key: &Values) -> BTreeMap<Address, Vec<u8>> {
        let Some(partition) = self.partitions.get(key) else { return BTreeMap::new() };
        let seen = partition
            .cells
            .iter()
            .filter(|((row, column, _), cell)| self.is_seen(partition, row.as_ref(), column, cell));
        seen.map(|(address, cell)| (address.clone(), cell.value.clone().unwrap_or_default())).collect()
    }

    /// Returns the lists of a partition that have visible elements.
    pub fn seen_lists(&self, key: &Values) -> BTreeMap<(Option<Values>, &'static str), Vec<Vec<u8>>> {
        let names = self.partitions.get(key).into_iter().flat_map(|partition| partition.lists.keys());
        let seen = names.map(|(row, column)| {
            let cells = self.seen_list(key, row.as_ref(), column);
            let values = cells.into_iter().filter_map(|cell| cell.value).collect::<Vec<_>>();
            ((row.clone(), *column), values)
        });
        seen.filter(|(_, values)| !values.is_empty()).collect()
    }

    /// Returns whether a row exists.
    pub fn has_row(&self, key: &Values, row: &Values) -> bool {
        let is_of = |other: &Option<Values>| other.as_ref() == Some(row);
        self.seen_cells(key).keys().any(|(other, ..)| is_of(other))
            || self.seen_lists(key).keys().any(|(other, _)| is_of(other))
    }

    /// Returns the rows of a partition as SELECT * does.
    pub fn rows(&self, key: &Values) -> Vec<Row> {
        let (cells, lists) = (self.seen_cells(key), self.seen_lists(key));
        let of_cells = cells.keys().map(|(row, ..)| row.clone());
        let mut rows: Vec<Values> =
            of_cells.chain(lists.keys().map(|(row, _)| row.clone())).flatten().collect();
        rows.sort_by(|a, b| self.compare(a, b));
        rows.dedup();
        let value = |row: Option<&Values>, column: &Column| {
            let row = if column.is_static { None } else { Some(row?) };
            match column.kind {
                Kind::List => {
                    let values = lists.get(&(row.cloned(), column.name))?;
                    let parts: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
                    Some(counted(&parts, parts.len()))
                }
                Kind::Set | Kind::Map => elements(&cells, row, column.name, column.kind),
                _ => cells.get(&(row.cloned(), column.name, None)).cloned(),
            }
        };
        let answer = |row: Option<&Values>| -> Row {
            let key = key.iter().cloned().map(Some);
            let clustering = (0..self.table.clustering.len()).map(|at| row.map(|row| row[at].clone()));
            key.chain(clustering).chain(self.table.shown().map(|column| value(row, column))).collect()
        };
        if rows.is_empty() && !(cells.is_empty() && lists.is_empty()) {
            // The partition has only static columns.
            return vec![answer(None)];
        }
        rows.iter().map(|row| answer(Some(row))).collect()
    }

    /// Returns the rows of a partition in which a column has a value, or contains it as an element.
    pub fn rows_with(&self, key: &Values, column: &Column, value: &[u8]) -> Vec<Row> {
        let columns =
            self.table.partition_key.iter().chain(self.table.clustering.iter().map(|(column, _)| column));
        let mut names = columns.chain(self.table.shown()).map(|column| column.name);
        let at = names.position(|name| name == column.name).unwrap();
        let holds = |held: &[u8]| match column.kind {
            Kind::List | Kind::Set => parts(held).contains(&value),
            Kind::Map => parts(held).iter().skip(1).step_by(2).any(|part| *part == value),
            _ => held == value,
        };
        let has_row = |row: &Row| {
            row[self.table.partition_key.len()..][..self.table.clustering.len()].iter().all(Option::is_some)
        };
        let rows = self.rows(key).into_iter().filter(|row| has_row(row));
        rows.filter(|row| row[at].as_deref().is_some_and(holds)).collect()
    }

    fn compare(&self, a: &Values, b: &Values) -> Ordering {
        let orders =
            self.table.clustering.iter().zip(a.iter().zip(b)).map(|((column, is_reversed), (a, b))| {
                let number = |bytes: &[u8]| i32::from_be_bytes(bytes.try_into().unwrap());
                let order = match column.kind {
                    Kind::Int => number(a).cmp(&number(b)),
                    _ => a.cmp(b),
                };
                // An empty value sorts first even in a reversed column.
                if *is_reversed { order.reverse() } else { order }
            });
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// Returns whether INSERT writes a row marker.
    pub fn has_markers(&self) -> bool {
        self.table.layout == Layout::Sparse
    }
}

/// Splits the value of a collection into its parts.
fn parts(collection: &[u8]) -> Vec<&[u8]> {
    let mut rest = &collection[4..];
    let mut found = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (part, after) = after.split_at(i32::from_be_bytes(*length) as usize);
        found.push(part);
        rest = after;
    }
    found
}

/// Returns the value of a set or map as results have it.
fn elements(
    cells: &BTreeMap<Address, Vec<u8>>,
    row: Option<&Values>,
    column: &'static str,
    kind: Kind,
) -> Option<Vec<u8>> {
    let of_column = cells.iter().filter(|((other, name, _), _)| (other.as_ref(), *name) == (row, column));
    let mut found: Vec<(&[u8], &[u8])> =
        of_column.filter_map(|((.., element), value)| Some((element.as_deref()?, &value[..]))).collect();
    if kind == Kind::Set {
        found.sort_by_key(|(element, _)| i32::from_be_bytes((*element).try_into().unwrap()));
    }
    let parts: Vec<&[u8]> = match kind {
        Kind::Set => found.iter().map(|(element, _)| *element).collect(),
        _ => found.iter().flat_map(|(element, value)| [*element, *value]).collect(),
    };
    (!found.is_empty()).then(|| counted(&parts, found.len()))
}
