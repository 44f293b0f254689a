//! Questions about data: the addresses of the pages Ask and Change with their fields filled in. Rows of CQL tables are asked
//! for by statements, those of other column families by Thrift calls.

use bytes::Bytes;

use super::ask::{bytes_of, query};
use crate::present::{key_class, name_class, read_as};
use base::marshal::{AbstractType, TypeRef, Types};
use base::model::Cell;
use base::schema::show::literal;
use base::schema::{CfDef, TableColumn, TableDef, name_text, row_key_parts};
use db::type_of_value;

/// Longest address of a question. Pages have hundreds of them.
const PATH_BYTES_MAX: usize = 2048;
/// Longest value that is offered to be changed.
const VALUE_BYTES_MAX: usize = 512;

/// The questions about a row or a cell. Those whose address would be too long are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Questions {
    /// Asks for it.
    pub ask: Option<String>,
    /// Shows the reads of the same question.
    pub explain: Option<String>,
    /// The form that changes it, if the visitor may.
    pub change: Option<String>,
}

/// Makes questions about the data of a column family.
pub(crate) struct Asker<'a> {
    pub types: &'a Types,
    pub cf: &'a CfDef,
    /// The table of the column family, if a statement of CQL has created it.
    pub table: Option<&'a TableDef>,
    pub may_change: bool,
}

/// Returns the text of bytes from which forms read the same bytes again.
fn typed(types: &Types, of: Option<&TypeRef>, class: &dyn AbstractType, bytes: &Bytes) -> String {
    let text = read_as(types, class, bytes).text;
    let is_same = text.trim() == text && !text.contains('\n') && !text.starts_with("0x");
    match bytes_of(of, &text, "") {
        Ok(read) if is_same && read == *bytes => text,
        _ => format!("0x{}", base::util::hex(bytes)),
    }
}

fn path(page: &str, fields: &[(&str, &str)]) -> Option<String> {
    let length: usize = fields.iter().map(|(_, value)| value.len()).sum();
    let fields: Vec<_> = fields.iter().copied().filter(|(_, value)| !value.is_empty()).collect();
    let path = (length <= PATH_BYTES_MAX).then(|| format!("{page}?{}", query(&fields)));
    path.filter(|path| path.len() <= PATH_BYTES_MAX)
}

impl Asker<'_> {
    /// Returns the questions about a row.
    pub(crate) fn of_row(&self, key: &Bytes) -> Questions {
        if key.is_empty() {
            return Questions::default();
        }
        match self.table {
            Some(table) => self.of_statement(self.key_relations(table, key), self.insert(table, key)),
            None => self.of_call(key, None, None),
        }
    }

    /// Returns the questions about a cell, which may be in a super column.
    pub(crate) fn of_cell(&self, key: &Bytes, holder: Option<&Bytes>, cell: &Cell) -> Questions {
        if key.is_empty() || cell.name.is_empty() {
            return Questions::default();
        }
        let Some(table) = self.table else { return self.of_call(key, holder, Some(cell)) };
        let relations = self.cell_relations(table, key, cell);
        let change = relations.as_ref().and_then(|relations| self.update(table, relations, cell));
        self.of_statement(relations, change)
    }

    /// Returns the statement that reads the first rows of a table.
    pub(crate) fn first_rows(&self) -> String {
        format!("SELECT * FROM {} LIMIT 10", self.full_name())
    }

    /// Returns the statement that reads a row of the table by its key.
    pub(crate) fn select(&self, table: &TableDef, key: &Bytes) -> Option<String> {
        let relations = self.key_relations(table, key)?;
        Some(format!("SELECT * FROM {} WHERE {}", self.full_name(), relations.join(" AND ")))
    }

    /// Returns a row key as forms read it.
    pub(crate) fn typed_key(&self, key: &Bytes) -> String {
        typed(self.types, self.cf.key_validator.as_ref(), key_class(self.cf), key)
    }

    fn full_name(&self) -> String {
        format!("{}.{}", name_text(&self.cf.keyspace), name_text(&self.cf.name))
    }

    fn of_statement(&self, relations: Option<Vec<String>>, change: Option<String>) -> Questions {
        let Some(relations) = relations else { return Questions::default() };
        let select = format!("SELECT * FROM {} WHERE {}", self.full_name(), relations.join(" AND "));
        let ask = path("/ask", &[("cql", &*select)]);
        Questions {
            explain: ask.as_ref().map(|ask| format!("{ask}#explain-title")),
            change: change
                .filter(|_| self.may_change)
                .and_then(|change| path("/ask", &[("cql", &*change), ("view", "form")])),
            ask,
        }
    }

    fn of_call(&self, key: &Bytes, holder: Option<&Bytes>, cell: Option<&Cell>) -> Questions {
        let cf = self.cf;
        let key = self.typed_key(key);
        let holder = holder.map(|name| typed(self.types, Some(&cf.comparator), &*cf.comparator, name));
        let holder = holder.unwrap_or_default();
        let is_inside = !holder.is_empty();
        let names = cf.subcomparator().filter(|_| is_inside).unwrap_or(&cf.comparator);
        let name = cell.map(|cell| typed(self.types, Some(names), name_class(cf, is_inside), &cell.name));
        let name = name.unwrap_or_default();
        let ask = path(
            "/ask",
            &[
                ("with", "thrift"),
                ("method", "get_slice"),
                ("keyspace", &cf.keyspace),
                ("family", &cf.name),
                ("keys", &key),
                ("super_column", &holder),
                ("columns", &name),
            ],
        );
        let value = cell.filter(|cell| cell.is_live() && cell.value.len() <= VALUE_BYTES_MAX);
        let value = value.filter(|_| !cf.is_counter()).map(|cell| {
            let class = type_of_value(cf, &cell.name);
            typed(self.types, Some(&class), &*class, &cell.value)
        });
        let change = path(
            "/change",
            &[
                ("operation", if cf.is_counter() { "add" } else { "" }),
                ("keyspace", &cf.keyspace),
                ("family", &cf.name),
                ("key", &key),
                ("super_column", &holder),
                ("column", &name),
                ("value", &value.unwrap_or_default()),
            ],
        );
        // The form of a call is long, and its answer is below.
        Questions {
            explain: ask.as_ref().map(|ask| format!("{ask}#explain-title")),
            change: change.filter(|_| self.may_change),
            ask: ask.map(|ask| format!("{ask}#answer")),
        }
    }

    fn relation(&self, column: &TableColumn, value: &Bytes) -> String {
        format!("{} = {}", name_text(&column.name), literal(self.types, &column.cql_type, value))
    }

    fn key_relations(&self, table: &TableDef, key: &Bytes) -> Option<Vec<String>> {
        let values = row_key_parts(key, table.partition_key.len())?;
        Some(
            table
                .partition_key
                .iter()
                .zip(&values)
                .map(|(column, value)| self.relation(column, value))
                .collect(),
        )
    }

    fn cell_relations(&self, table: &TableDef, key: &Bytes, cell: &Cell) -> Option<Vec<String>> {
        let place = table.place_of(&cell.name)?;
        let mut relations = self.key_relations(table, key)?;
        let clustering = table.clustering.iter().zip(&place.clustering).filter(|_| !place.is_static);
        relations.extend(clustering.map(|(column, value)| self.relation(column, value)));
        Some(relations)
    }

    /// Returns the statement that sets the value of a cell to what it is. `None` for elements of collections and for
    /// markers of rows.
    fn update(&self, table: &TableDef, relations: &[String], cell: &Cell) -> Option<String> {
        let place = table.place_of(&cell.name)?;
        let column = match &place.column {
            None => table.compact_value(),
            Some(name) => table.others.values().find(|column| column.cell_name == *name),
        }?;
        if column.cql_type.is_multi_cell() || cell.value.len() > VALUE_BYTES_MAX {
            return None;
        }
        let name = name_text(&column.name);
        let value = if self.cf.is_counter() {
            format!("{name} + 1")
        } else if cell.is_live() {
            literal(self.types, &column.cql_type, &cell.value)
        } else {
            "null".to_owned()
        };
        let condition = relations.join(" AND ");
        Some(format!("UPDATE {} SET {name} = {value} WHERE {condition}", self.full_name()))
    }

    /// Returns the statement that adds a first row to a table, with the types of its values. `None` for column families
    /// of Thrift.
    pub(crate) fn first_insert(&self) -> Option<String> {
        let table = self.table?;
        let name = |column: &TableColumn| name_text(&column.name);
        if self.cf.is_counter() {
            let keys = table.partition_key.iter().chain(&table.clustering);
            let keys: Vec<_> = keys.map(|column| format!("{} = ?", name(column))).collect();
            let counter = name(table.others.values().next()?);
            let (family, keys) = (self.full_name(), keys.join(" AND "));
            return Some(format!("UPDATE {family} SET {counter} = {counter} + 1 WHERE {keys};"));
        }
        let columns: Vec<_> = table.columns().collect();
        let names: Vec<_> = columns.iter().map(|column| name(column)).collect();
        let types: Vec<_> = columns.iter().map(|column| format!("<{}>", column.cql_type)).collect();
        Some(format!(
            "INSERT INTO {} ({})\nVALUES ({});",
            self.full_name(),
            names.join(", "),
            types.join(", ")
        ))
    }

    /// Returns the beginning of a statement that adds a row to a partition.
    fn insert(&self, table: &TableDef, key: &Bytes) -> Option<String> {
        if self.cf.is_counter() {
            return None;
        }
        let values = row_key_parts(key, table.partition_key.len())?;
        let keys = table.partition_key.iter().zip(&values);
        let keys = keys.map(|(column, value)| literal(self.types, &column.cql_type, value));
        let (mut names, mut literals): (Vec<_>, Vec<_>) =
            table.partition_key.iter().map(|column| name_text(&column.name)).zip(keys).unzip();
        for column in table.clustering.iter().chain(table.others.values().take(1)) {
            names.push(name_text(&column.name));
            literals.push("?".to_owned());
        }
        let (names, literals) = (names.join(", "), literals.join(", "));
        Some(format!("INSERT INTO {} ({names}) VALUES ({literals})", self.full_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(key: &'static [u8], name: &'static [u8], value: &'static [u8]) -> Questions {
        let types = Types::builtin();
        let cf = CfDef::new("K", "F&G");
        let cell = Cell::live(Bytes::from_static(name), Bytes::from_static(value), 1);
        let asker = Asker { types: &types, cf: &cf, table: None, may_change: true };
        asker.of_cell(&Bytes::from_static(key), None, &cell)
    }

    #[test]
    fn questions_name_the_bytes_that_they_are_about() {
        let of = asked(b"ada", b"email", b"a=b");
        let expected = "/ask?with=thrift&method=get_slice&keyspace=K&family=F%26G&keys=ada&columns=email";
        assert_eq!(of.ask, Some(format!("{expected}#answer")));
        assert_eq!(of.explain, Some(format!("{expected}#explain-title")));
        let expected = "/change?keyspace=K&family=F%26G&key=ada&column=email&value=a%3Db";
        assert_eq!(of.change.as_deref(), Some(expected));
    }

    #[test]
    fn bytes_that_cannot_be_typed_are_in_hex() {
        let ask = asked(b"a\nb", b" x", b"v").ask.unwrap();
        assert!(ask.contains("keys=0x610a62") && ask.contains("columns=0x2078"), "{ask}");
        assert_eq!(asked(b"", b"x", b"v"), Questions::default());
    }
}
