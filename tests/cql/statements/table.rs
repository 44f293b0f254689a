//! A random table: its definition, random values for its columns, and the names of its cells.

use super::dice::Dice;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int,
    Text,
    Frozen,
    List,
    Set,
    Map,
}

impl Kind {
    pub fn is_collection(self) -> bool {
        matches!(self, Kind::List | Kind::Set | Kind::Map)
    }

    /// Returns values to query an index for.
    pub fn values(self) -> Vec<Literal> {
        match self {
            Kind::Text => TEXTS.iter().map(|text| of_text(text)).collect(),
            Kind::Frozen => vec![("[]".to_owned(), counted(&[], 0))],
            _ => NUMBERS.iter().map(|number| int(*number)).collect(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Int => "int",
            Kind::Text => "text",
            Kind::Frozen => "frozen<list<int>>",
            Kind::List => "list<int>",
            Kind::Set => "set<int>",
            Kind::Map => "map<text, int>",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Sparse,
    StaticCompact,
    /// With one clustering column or several.
    Dense,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub is_static: bool,
}

#[derive(Debug, Clone)]
pub struct Table {
    pub layout: Layout,
    pub partition_key: Vec<Column>,
    /// Each column, and whether it is reversed.
    pub clustering: Vec<(Column, bool)>,
    /// The other columns, in the order of their names.
    pub others: Vec<Column>,
}

/// A constant in a statement, and its bytes.
pub type Literal = (String, Vec<u8>);

fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_static: false }
}

pub fn int(number: i32) -> Literal {
    (number.to_string(), number.to_be_bytes().to_vec())
}

const TEXTS: [&str; 6] = ["", "a", "aa", "b", "~", "ab"];
const NUMBERS: [i32; 8] = [0, 1, 2, 3, -1, 128, -2, 300];

fn of_text(text: &str) -> Literal {
    (format!("'{text}'"), text.as_bytes().to_vec())
}

pub fn text(dice: &mut Dice<'_>) -> Literal {
    of_text(dice.pick::<&str>(&TEXTS))
}

/// Returns a random value of a column that is one cell.
pub fn single(kind: Kind, dice: &mut Dice<'_>) -> Literal {
    match kind {
        Kind::Text => text(dice),
        Kind::Frozen => {
            let numbers: Vec<Literal> = (0..dice.below(3)).map(|_| small(dice)).collect();
            let texts: Vec<&str> = numbers.iter().map(|(text, _)| &**text).collect();
            let values: Vec<&[u8]> = numbers.iter().map(|(_, bytes)| &bytes[..]).collect();
            (format!("[{}]", texts.join(", ")), counted(&values, values.len()))
        }
        _ => small(dice),
    }
}

pub fn small(dice: &mut Dice<'_>) -> Literal {
    int(*dice.pick(&NUMBERS))
}

/// Returns the value of a collection as results have it.
pub fn counted(parts: &[&[u8]], count: usize) -> Vec<u8> {
    let mut bytes = (count as i32).to_be_bytes().to_vec();
    for part in parts {
        bytes.extend((part.len() as i32).to_be_bytes());
        bytes.extend(*part);
    }
    bytes
}

/// Appends a component of a composite name.
pub fn component(part: &[u8], out: &mut Vec<u8>) {
    out.extend((part.len() as u16).to_be_bytes());
    out.extend(part);
    out.push(0);
}

impl Table {
    pub fn of(dice: &mut Dice<'_>) -> Table {
        let key_kind = |dice: &mut Dice<'_>| *dice.pick(&[Kind::Int, Kind::Text]);
        let partition_key = match dice.below(3) {
            0 => vec![column("k", Kind::Int), column("k2", key_kind(dice))],
            _ => vec![column("k", Kind::Int)],
        };
        let layout = *dice.pick(&[Layout::Sparse, Layout::Sparse, Layout::StaticCompact, Layout::Dense]);
        let clustering = match layout {
            Layout::StaticCompact => 0,
            Layout::Dense => 1 + dice.below(2),
            Layout::Sparse => dice.below(3),
        };
        let clustering: Vec<(Column, bool)> = ["c", "d"]
            .into_iter()
            .take(clustering)
            .map(|name| (column(name, key_kind(dice)), dice.below(2) == 0))
            .collect();
        let mut others = match layout {
            Layout::Dense if dice.below(4) == 0 => Vec::new(),
            Layout::Dense => vec![column("v", Kind::Int)],
            Layout::StaticCompact => vec![column("v", Kind::Int), column("w", Kind::Text)],
            Layout::Sparse => {
                let all = [
                    ("f", Kind::Frozen),
                    ("l", Kind::List),
                    ("m", Kind::Map),
                    ("s", Kind::Set),
                    ("v", Kind::Int),
                    ("w", Kind::Text),
                ];
                let chosen = all.into_iter().filter(|_| dice.below(2) == 0);
                chosen.map(|(name, kind)| column(name, kind)).collect()
            }
        };
        if layout == Layout::Sparse && !clustering.is_empty() {
            let all = [("x", Kind::Int), ("y", Kind::Set), ("z", Kind::List)];
            for (name, kind) in all.into_iter().filter(|_| dice.below(2) == 0) {
                others.push(Column { name, kind, is_static: true });
            }
        }
        Table { layout, partition_key, clustering, others }
    }

    pub fn statement(&self) -> String {
        let keys = self.partition_key.iter().chain(self.clustering.iter().map(|(column, _)| column));
        let defined = keys.chain(&self.others).map(|column| {
            let word = if column.is_static { " static" } else { "" };
            format!("{} {}{word}", column.name, column.kind.name())
        });
        let names = |columns: Vec<&'static str>| columns.join(", ");
        let key = names(self.partition_key.iter().map(|column| column.name).collect());
        let mut primary = vec![format!("({key})")];
        primary.extend(self.clustering.iter().map(|(column, _)| column.name.to_owned()));
        let defined: Vec<String> = defined.collect();
        let mut text =
            format!("CREATE TABLE t ({}, PRIMARY KEY ({}))", defined.join(", "), primary.join(", "));
        let mut properties = Vec::new();
        if self.layout != Layout::Sparse {
            properties.push("COMPACT STORAGE".to_owned());
        }
        if !self.clustering.is_empty() {
            let order = self.clustering.iter().map(|(column, is_reversed)| {
                format!("{} {}", column.name, if *is_reversed { "DESC" } else { "ASC" })
            });
            properties.push(format!("CLUSTERING ORDER BY ({})", order.collect::<Vec<_>>().join(", ")));
        }
        if !properties.is_empty() {
            text += &format!(" WITH {}", properties.join(" AND "));
        }
        text
    }

    /// Returns the columns that may be indexed.
    pub fn indexable(&self) -> Vec<Column> {
        let clustering = self.clustering.iter().map(|(column, _)| column);
        match self.layout {
            Layout::Sparse => {
                clustering.chain(&self.others).filter(|column| !column.is_static).cloned().collect()
            }
            Layout::StaticCompact => self.others.clone(),
            Layout::Dense => Vec::new(),
        }
    }

    /// Returns the columns outside of the primary key in the order of `SELECT *`.
    pub fn shown(&self) -> impl Iterator<Item = &Column> {
        let those = |is_static| self.others.iter().filter(move |column| column.is_static == is_static);
        those(true).chain(those(false))
    }

    /// Returns the definition of a column for ALTER TABLE ADD.
    pub fn definition_of(&self, column: &Column) -> String {
        let word = if column.is_static { " static" } else { "" };
        format!("{} {}{word}", column.name, column.kind.name())
    }

    /// Returns the row key of a partition.
    pub fn row_key(&self, values: &[Vec<u8>]) -> Vec<u8> {
        if let [value] = values {
            return value.clone();
        }
        let mut key = Vec::new();
        values.iter().for_each(|value| component(value, &mut key));
        key
    }

    /// Returns the name of a cell: of a row or, with `None`, of the static columns; for a collection with an element.
    pub fn cell_name(&self, row: Option<&[Vec<u8>]>, name: &str, element: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        match (self.layout, row) {
            (Layout::StaticCompact, _) => return name.as_bytes().to_vec(),
            (Layout::Dense, Some([value])) => return value.clone(),
            (_, Some(row)) => row.iter().for_each(|value| component(value, &mut out)),
            (_, None) => {
                out.extend([0xFF, 0xFF]);
                self.clustering.iter().for_each(|_| component(&[], &mut out));
            }
        }
        if self.layout == Layout::Sparse {
            component(name.as_bytes(), &mut out);
            if let Some(element) = element {
                component(element, &mut out);
            }
        }
        out
    }
}
