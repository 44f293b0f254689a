//! Random statements, and their effect on the model.

use super::dice::Dice;
use super::model::{Address, Cell, Model, Values};
use super::table::{Column, Kind, Layout, Literal, single, small, text};

/// The expected outcome of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Done,
    Refused,
    /// A statement with IF answers `[applied]` with this value.
    Applied(bool),
}

/// Writes the text of one statement and applies it to the model.
pub struct Writer<'w, 'd> {
    pub model: &'w mut Model,
    pub dice: &'w mut Dice<'d>,
    /// The timestamp of the statement's cells.
    pub timestamp: i64,
    /// Whether the statement has USING TIMESTAMP.
    pub has_timestamp: bool,
    /// Whether the statement may change lists. Changes of lists read first and use the server's clock, so batches and
    /// statements with USING TIMESTAMP do not have them.
    pub with_lists: bool,
    ttl_s: Option<i32>,
}

/// A column in the text of an UPDATE or DELETE.
struct Changed {
    text: String,
    is_static: bool,
}

impl<'w, 'd> Writer<'w, 'd> {
    pub fn new(
        model: &'w mut Model,
        dice: &'w mut Dice<'d>,
        (timestamp, has_timestamp): (i64, bool),
        with_lists: bool,
    ) -> Writer<'w, 'd> {
        Writer { model, dice, timestamp, has_timestamp, with_lists, ttl_s: None }
    }

    /// Writes a statement that changes rows.
    pub fn change(&mut self) -> (String, Expected) {
        let can_update = !self.model.table.others.is_empty();
        match self.dice.below(8) {
            0..3 => (self.insert(""), Expected::Done),
            3..6 if can_update => self.update(""),
            6 | 7 => self.delete(),
            _ => (self.insert(""), Expected::Done),
        }
    }

    /// Writes a statement with IF.
    pub fn conditional(&mut self) -> (String, Expected) {
        let (key, row) = (self.key(), self.row());
        let exists = self.model.has_row(&key, &row);
        let mut unseen = Model::new(self.model.table.clone(), self.model.now_s);
        let is_insert = self.dice.below(2) == 0 || self.regulars().is_empty();
        let applies = exists != is_insert;
        let target = if applies { &mut *self.model } else { &mut unseen };
        let mut writer = Writer::new(target, self.dice, (self.timestamp, false), false);
        let statement = match is_insert {
            true => writer.insert_at(&key, &row, " IF NOT EXISTS"),
            false => writer.update_at(&key, &row, " IF EXISTS").0,
        };
        (statement, Expected::Applied(applies))
    }

    fn regulars(&self) -> Vec<Column> {
        let is_meant = |column: &&Column| !column.is_static && column.kind != Kind::List;
        self.model.table.others.iter().filter(is_meant).cloned().collect()
    }

    fn key(&mut self) -> Values {
        let table = self.model.table.clone();
        table.partition_key.iter().map(|column| self.key_value(column.kind, 2).1).collect()
    }

    fn row(&mut self) -> Values {
        let table = self.model.table.clone();
        table.clustering.iter().map(|(column, _)| self.key_value(column.kind, 3).1).collect()
    }

    fn key_value(&mut self, kind: Kind, of: usize) -> Literal {
        let at = self.dice.below(of);
        match kind {
            Kind::Text => {
                let text = ["a", "", "ab"][at];
                let text =
                    if self.model.table.layout == Layout::Dense && text.is_empty() { "b" } else { text };
                (format!("'{text}'"), text.as_bytes().to_vec())
            }
            _ => super::table::int([1, -2, 300][at]),
        }
    }

    fn key_literal(kind: Kind, bytes: &[u8]) -> String {
        match kind {
            Kind::Text => format!("'{}'", String::from_utf8_lossy(bytes)),
            _ => i32::from_be_bytes(bytes.try_into().unwrap()).to_string(),
        }
    }

    fn named_key(&self, key: &Values) -> Vec<(&'static str, String)> {
        let columns = self.model.table.partition_key.iter().zip(key);
        columns.map(|(column, bytes)| (column.name, Self::key_literal(column.kind, bytes))).collect()
    }

    fn named_row(&self, row: &[Vec<u8>]) -> Vec<(&'static str, String)> {
        let columns = self.model.table.clustering.iter().zip(row);
        columns.map(|((column, _), bytes)| (column.name, Self::key_literal(column.kind, bytes))).collect()
    }

    fn conditions(named: &[(&'static str, String)]) -> String {
        named.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(" AND ")
    }

    /// Writes the USING clause; with a random TTL if `may_expire`.
    fn using(&mut self, may_expire: bool) -> String {
        let mut options = Vec::new();
        if self.has_timestamp {
            options.push(format!("TIMESTAMP {}", self.timestamp));
        }
        self.ttl_s = (may_expire && self.dice.below(5) == 0).then(|| 5 + self.dice.below(20) as i32);
        options.extend(self.ttl_s.map(|ttl_s| format!("TTL {ttl_s}")));
        if options.is_empty() { String::new() } else { format!(" USING {}", options.join(" AND ")) }
    }

    fn cell(&self, value: Option<Vec<u8>>) -> Cell {
        let expires_s = self.ttl_s.filter(|_| value.is_some()).map(|ttl_s| self.model.now_s + ttl_s);
        Cell { timestamp: self.timestamp, value, expires_s }
    }

    fn write(&mut self, key: &Values, address: Address, value: Option<Vec<u8>>) {
        let cell = self.cell(value);
        self.model.write(key, address, cell);
    }

    fn chosen(&mut self) -> Vec<Column> {
        let with_lists = self.with_lists;
        let columns: Vec<Column> = self.model.table.others.clone();
        let columns = columns.into_iter().filter(|column| with_lists || column.kind != Kind::List);
        columns.filter(|_| self.dice.below(3) > 0).collect()
    }

    fn insert(&mut self, condition: &str) -> String {
        let (key, row) = (self.key(), self.row());
        self.insert_at(&key, &row, condition)
    }

    fn insert_at(&mut self, key: &Values, row: &Values, condition: &str) -> String {
        let using = self.using(true);
        let mut columns = self.chosen();
        let has_statics = columns.iter().any(|column| column.is_static);
        let is_shared = has_statics && condition.is_empty() && self.dice.below(3) == 0;
        if is_shared {
            columns.retain(|column| column.is_static);
        }
        if self.model.table.layout == Layout::Dense {
            columns.clone_from(&self.model.table.others);
        }
        let mut named = self.named_key(key);
        if !is_shared {
            named.extend(self.named_row(row));
            if self.model.has_markers() || self.model.table.others.is_empty() {
                self.write(key, (Some(row.clone()), "", None), Some(Vec::new()));
            }
        }
        for column in &columns {
            let at = if column.is_static { None } else { Some(row.clone()) };
            let literal = self.set(key, at, column);
            named.push((column.name, literal));
        }
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        let values: Vec<&str> = named.iter().map(|(_, value)| &**value).collect();
        format!("INSERT INTO t ({}) VALUES ({}){condition}{using}", names.join(", "), values.join(", "))
    }

    /// Sets a column to a random value. Returns the constant for the statement.
    fn set(&mut self, key: &Values, row: Option<Values>, column: &Column) -> String {
        let is_null = self.dice.below(6) == 0;
        if !column.kind.is_collection() {
            let literal = (!is_null).then(|| single(column.kind, self.dice));
            let value = literal.as_ref().map(|(_, bytes)| bytes.clone());
            self.write(key, (row, column.name, None), value);
            return literal.map_or("null".to_owned(), |(text, _)| text);
        }
        if column.kind == Kind::List {
            self.model.list(key, row.clone(), column.name).clear();
        } else {
            self.model.delete_collection(key, row.clone(), column.name, self.timestamp - 1);
        }
        if is_null { "null".to_owned() } else { self.put(key, row, column) }
    }

    /// Adds random elements to a collection, to a list at its end. Returns the constant for the statement.
    fn put(&mut self, key: &Values, row: Option<Values>, column: &Column) -> String {
        let count = self.dice.below(4);
        if column.kind == Kind::Map {
            let entries: Vec<(Literal, Literal)> =
                (0..count).map(|_| (text(self.dice), small(self.dice))).collect();
            // Of two entries with the same key the last one wins.
            let mut distinct: Vec<(Literal, Literal)> = Vec::new();
            for entry in entries {
                distinct.retain(|(key, _)| *key != entry.0);
                distinct.push(entry);
            }
            for ((_, name), (_, value)) in &distinct {
                self.write(key, (row.clone(), column.name, Some(name.clone())), Some(value.clone()));
            }
            let texts = distinct.iter().map(|((key, _), (value, _))| format!("{key}: {value}"));
            return format!("{{{}}}", texts.collect::<Vec<_>>().join(", "));
        }
        let elements: Vec<Literal> = (0..count).map(|_| small(self.dice)).collect();
        let texts = elements.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>().join(", ");
        if column.kind == Kind::List {
            let cells: Vec<Cell> = elements.into_iter().map(|(_, value)| self.cell(Some(value))).collect();
            self.model.list(key, row, column.name).extend(cells);
            return format!("[{texts}]");
        }
        for (_, element) in elements {
            self.write(key, (row.clone(), column.name, Some(element)), Some(Vec::new()));
        }
        format!("{{{texts}}}")
    }

    fn update(&mut self, condition: &str) -> (String, Expected) {
        let (key, row) = (self.key(), self.row());
        self.update_at(&key, &row, condition)
    }

    fn update_at(&mut self, key: &Values, row: &Values, condition: &str) -> (String, Expected) {
        let using = self.using(true);
        let mut columns = self.chosen();
        if !condition.is_empty() {
            columns.retain(|column| !column.is_static);
        }
        let column_of_list = columns.iter().find(|column| column.kind == Kind::List).cloned();
        if let Some(column) = column_of_list.filter(|_| self.dice.below(3) == 0) {
            let (assigned, expected) = self.set_index(key, row, &column);
            return (self.updating(key, row, &[assigned], &using, condition), expected);
        }
        if columns.is_empty() {
            let column = match condition.is_empty() {
                true => self.model.table.others.first().cloned().filter(|column| column.kind != Kind::List),
                false => self.regulars().first().cloned(),
            };
            let Some(column) = column else { return (self.insert_at(key, row, ""), Expected::Done) };
            columns.push(column);
        }
        let assigned: Vec<Changed> = columns.iter().map(|column| self.assign(key, row, column)).collect();
        (self.updating(key, row, &assigned, &using, condition), Expected::Done)
    }

    fn updating(
        &self,
        key: &Values,
        row: &Values,
        columns: &[Changed],
        using: &str,
        condition: &str,
    ) -> String {
        let mut named = self.named_key(key);
        if !columns.iter().all(|column| column.is_static) {
            named.extend(self.named_row(row));
        }
        let texts: Vec<&str> = columns.iter().map(|column| &*column.text).collect();
        format!("UPDATE t{using} SET {} WHERE {}{condition}", texts.join(", "), Self::conditions(&named))
    }

    fn assign(&mut self, key: &Values, row: &Values, column: &Column) -> Changed {
        let at = if column.is_static { None } else { Some(row.clone()) };
        let name = column.name;
        let text = match (column.kind, self.dice.below(4)) {
            (Kind::Map, 1) => {
                let ((key_text, element), (text, value)) = (text(self.dice), small(self.dice));
                self.write(key, (at, name, Some(element)), Some(value));
                format!("{name}[{key_text}] = {text}")
            }
            (Kind::Map, 2) => {
                let (text, element) = text(self.dice);
                self.write(key, (at, name, Some(element)), None);
                format!("{name} = {name} - {{{text}}}")
            }
            (Kind::Set, 1 | 2) => {
                let (text, element) = small(self.dice);
                self.write(key, (at, name, Some(element)), None);
                format!("{name} = {name} - {{{text}}}")
            }
            (Kind::List, 1) => {
                let (text, value) = small(self.dice);
                let other = |cell: &Cell| cell.value.as_ref() != Some(&value);
                self.model.list(key, at, name).retain(other);
                format!("{name} = {name} - [{text}]")
            }
            (Kind::List, 2) => {
                let elements: Vec<Literal> = (0..self.dice.below(3)).map(|_| small(self.dice)).collect();
                let texts = elements.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>().join(", ");
                let cells: Vec<Cell> =
                    elements.into_iter().map(|(_, value)| self.cell(Some(value))).collect();
                self.model.list(key, at, name).splice(0..0, cells);
                format!("{name} = [{texts}] + {name}")
            }
            (Kind::Map | Kind::Set | Kind::List, 3) => {
                format!("{name} = {name} + {}", self.put(key, at, column))
            }
            _ => format!("{name} = {}", self.set(key, at, column)),
        };
        Changed { text, is_static: column.is_static }
    }

    fn set_index(&mut self, key: &Values, row: &Values, column: &Column) -> (Changed, Expected) {
        let at = if column.is_static { None } else { Some(row.clone()) };
        let (index, (text, value)) = (self.dice.below(4), small(self.dice));
        let cell = self.cell(Some(value));
        let expected = match self.model.list(key, at, column.name).get_mut(index) {
            Some(old) => {
                *old = cell;
                Expected::Done
            }
            None => Expected::Refused,
        };
        let text = format!("{}[{index}] = {text}", column.name);
        (Changed { text, is_static: column.is_static }, expected)
    }

    fn delete(&mut self) -> (String, Expected) {
        let (key, row) = (self.key(), self.row());
        let using = self.using(false);
        let columns = self.chosen();
        if columns.is_empty() || self.dice.below(3) == 0 {
            let length = self.dice.below(row.len() + 1).max(self.dice.below(row.len() + 1));
            let prefix = row[..length].to_vec();
            let mut named = self.named_key(&key);
            named.extend(self.named_row(&prefix));
            match prefix.is_empty() {
                true => self.model.delete_partition(&key, self.timestamp),
                false => self.model.delete_rows(&key, prefix, self.timestamp),
            }
            return (format!("DELETE FROM t{using} WHERE {}", Self::conditions(&named)), Expected::Done);
        }
        let mut expected = Expected::Done;
        let mut deleted: Vec<Changed> = Vec::new();
        for column in &columns {
            let at = if column.is_static { None } else { Some(row.clone()) };
            if column.kind == Kind::List && self.dice.below(2) == 0 {
                // It is the only change of the statement: if it is refused, no other change is applied.
                let index = self.dice.below(3);
                let list = self.model.list(&key, at, column.name);
                if index < list.len() {
                    list.remove(index);
                } else {
                    expected = Expected::Refused;
                }
                let text = format!("{}[{index}]", column.name);
                deleted = vec![Changed { text, is_static: column.is_static }];
                return (self.deleting(&key, &row, &deleted, &using), expected);
            }
        }
        for column in &columns {
            let at = if column.is_static { None } else { Some(row.clone()) };
            let text = self.delete_column(&key, at, column);
            deleted.push(Changed { text, is_static: column.is_static });
        }
        (self.deleting(&key, &row, &deleted, &using), expected)
    }

    fn delete_column(&mut self, key: &Values, row: Option<Values>, column: &Column) -> String {
        let name = column.name;
        match column.kind {
            Kind::Map | Kind::Set if self.dice.below(2) == 0 => {
                let (text, element) =
                    if column.kind == Kind::Map { text(self.dice) } else { small(self.dice) };
                self.write(key, (row, name, Some(element)), None);
                format!("{name}[{text}]")
            }
            Kind::Map | Kind::Set => {
                self.model.delete_collection(key, row, name, self.timestamp);
                name.to_owned()
            }
            Kind::List => {
                self.model.list(key, row, name).clear();
                name.to_owned()
            }
            _ => {
                self.write(key, (row, name, None), None);
                name.to_owned()
            }
        }
    }

    fn deleting(&self, key: &Values, row: &Values, columns: &[Changed], using: &str) -> String {
        let mut named = self.named_key(key);
        if !columns.iter().all(|column| column.is_static) {
            named.extend(self.named_row(row));
        }
        let texts: Vec<&str> = columns.iter().map(|column| &*column.text).collect();
        format!("DELETE {} FROM t{using} WHERE {}", texts.join(", "), Self::conditions(&named))
    }
}
