//! The drawing of a column family: its row key, and what a row holds.
//!
//! ```text
//!   +---------+   +-----------+ +-----------+ +-------------+
//!   | row key |   | title     | | body      | | any name    |
//!   | user_id |   | UTF8Type  | | UTF8Type  | | BytesType   |  ...
//!   +---------+   +-----------+ +-----------+ +-------------+
//! ```
//!
//! A Super column family has a box of the super column around the columns. A CQL table has its clustering columns, by
//! which a partition repeats the regular columns, in place of the super column.

use crate::present::{escaped, key_class, read_as};
use base::marshal::{AbstractType, PACKAGE};
use base::schema::{CfDef, ColumnKind, TableColumn, TableDef};
use db::Database;

/// The titles of the parts that repeat in a row.
const SUPER_COLUMNS: &str = "super columns";
const ROWS: &str = "rows, sorted by clustering columns";

/// A box of the drawing: a name, and the type of its values.
pub(super) struct DrawnBox {
    pub name: String,
    pub of: String,
    /// That it has an index, or that it sorts in descending order; mostly empty.
    pub mark: &'static str,
}

/// A column family as it is drawn.
pub(super) struct FamilyDrawing {
    pub keyspace: String,
    pub name: String,
    pub kind: &'static str,
    /// The drawing in words.
    pub words: String,
    pub key: Vec<DrawnBox>,
    /// Super columns, or clustering columns: the part that repeats in a row.
    pub repeats: Vec<DrawnBox>,
    /// The title of `repeats`.
    pub repeats_name: &'static str,
    pub statics: Vec<DrawnBox>,
    pub columns: Vec<DrawnBox>,
    /// Columns of any other name.
    pub others: Option<DrawnBox>,
    pub settings: Vec<(&'static str, String)>,
}

/// Returns a class without the package of Cassandra's own types.
fn class_text(class: &dyn AbstractType) -> String {
    class.class_name().replace(PACKAGE, "")
}

impl FamilyDrawing {
    /// Returns the kind of a column family.
    pub(super) fn kind_of(cf: &CfDef) -> &'static str {
        let [plain, of_counters] = if cf.table.is_some() {
            ["CQL table", "CQL table of counters"]
        } else if cf.is_super() {
            ["Super column family", "Super column family of counters"]
        } else {
            ["Standard column family", "Standard column family of counters"]
        };
        if cf.is_counter() { of_counters } else { plain }
    }

    pub(super) fn of(database: &Database, cf: &CfDef) -> FamilyDrawing {
        let mut drawing = match &cf.table {
            Some(table) => FamilyDrawing::of_table(cf, table),
            None => FamilyDrawing::of_family(database, cf),
        };
        drawing.words = drawing.in_words();
        drawing.settings = settings_of(cf);
        drawing
    }

    fn empty(cf: &CfDef) -> FamilyDrawing {
        FamilyDrawing {
            keyspace: cf.keyspace.clone(),
            name: cf.name.clone(),
            kind: FamilyDrawing::kind_of(cf),
            words: String::new(),
            key: Vec::new(),
            repeats: Vec::new(),
            repeats_name: "",
            statics: Vec::new(),
            columns: Vec::new(),
            others: None,
            settings: Vec::new(),
        }
    }

    fn of_family(database: &Database, cf: &CfDef) -> FamilyDrawing {
        let key = DrawnBox {
            name: cf.key_alias.as_ref().map_or_else(String::new, |alias| escaped(alias)),
            of: class_text(key_class(cf)),
            mark: "",
        };
        let names = cf.subcomparator().unwrap_or(&cf.comparator);
        let columns = cf.column_metadata.values().map(|column| DrawnBox {
            name: read_as(database.types(), &**names, &column.name).text,
            of: class_text(&*column.validator),
            mark: if column.index.is_some() { "indexed" } else { "" },
        });
        let others = DrawnBox {
            name: format!("any {}", class_text(&**names)),
            of: class_text(&*cf.default_validator),
            mark: "",
        };
        let repeats = cf.is_super().then(|| DrawnBox {
            name: format!("any {}", class_text(&*cf.comparator)),
            of: String::new(),
            mark: "",
        });
        FamilyDrawing {
            key: vec![key],
            repeats: repeats.into_iter().collect(),
            repeats_name: if cf.is_super() { SUPER_COLUMNS } else { "" },
            columns: columns.collect(),
            others: Some(others),
            ..FamilyDrawing::empty(cf)
        }
    }

    fn of_table(cf: &CfDef, table: &TableDef) -> FamilyDrawing {
        let others = table.others.values().filter(|column| column.kind != ColumnKind::Static);
        FamilyDrawing {
            key: slots(cf, &table.partition_key),
            repeats: slots(cf, &table.clustering),
            repeats_name: if table.clustering.is_empty() { "" } else { ROWS },
            statics: slots(cf, table.static_columns()),
            columns: slots(cf, others),
            ..FamilyDrawing::empty(cf)
        }
    }

    /// Returns the name of a row in the words of the column family's language.
    pub(super) fn row_name(&self) -> &'static str {
        if self.is_table() { "partition key" } else { "row key" }
    }

    pub(super) fn is_table(&self) -> bool {
        self.others.is_none()
    }

    /// Returns the drawing in words.
    fn in_words(&self) -> String {
        let unnamed = self.key.first().filter(|key| !self.is_table() && key.name.is_empty());
        let key = unnamed.map_or_else(|| list(&self.key), |key| key.of.clone());
        let mut words = format!("The {} is {key}.", self.row_name());
        match (self.repeats_name, self.repeats.first()) {
            (SUPER_COLUMNS, Some(slot)) => {
                words.push_str(&format!(" A row has super columns of {} name.", slot.name));
            }
            (ROWS, _) => {
                words.push_str(&format!(" The rows of a partition are sorted by {}.", list(&self.repeats)));
            }
            _ => {}
        }
        if !self.statics.is_empty() {
            words.push_str(&format!(" The partition has one value of {}.", list(&self.statics)));
        }
        let [once, repeated] =
            if self.is_table() { ["The row", "Each of them"] } else { ["A row", "Each super column"] };
        let holder = if self.repeats.is_empty() { once } else { repeated };
        let named = (!self.columns.is_empty()).then(|| format!("the columns {}", list(&self.columns)));
        let others = self.others.as_ref();
        let others = others.map(|others| format!("of {} name with values of {}", others.name, others.of));
        let columns = match (named, others) {
            (None, None) => "no other columns".to_owned(),
            (Some(named), None) => named,
            (None, Some(others)) => format!("columns {others}"),
            (Some(named), Some(others)) => format!("{named}, and others {others}"),
        };
        words.push_str(&format!(" {holder} has {columns}."));
        words
    }
}

/// Returns the boxes of a table's columns.
fn slots<'a>(cf: &CfDef, columns: impl IntoIterator<Item = &'a TableColumn>) -> Vec<DrawnBox> {
    let mut slots = Vec::new();
    for column in columns {
        let of_cell = cf.column_metadata.get(&column.cell_name);
        let mark = if of_cell.is_some_and(|column| column.index.is_some()) {
            "indexed"
        } else if column.is_reversed {
            "descending"
        } else {
            ""
        };
        slots.push(DrawnBox { name: escaped(column.name.as_bytes()), of: column.cql_type.to_string(), mark });
    }
    slots
}

/// Returns names with their types.
fn list(slots: &[DrawnBox]) -> String {
    let mut texts = Vec::new();
    for DrawnBox { name, of, mark } in slots {
        let mark = if mark.is_empty() { String::new() } else { format!(", {mark}") };
        texts.push(format!("{name} ({of}{mark})"));
    }
    texts.join(", ")
}

fn settings_of(cf: &CfDef) -> Vec<(&'static str, String)> {
    let mut rows = vec![("Comparator", class_text(&*cf.comparator))];
    rows.extend(cf.subcomparator().map(|class| ("Subcomparator", class_text(&**class))));
    rows.extend(cf.key_validator.as_ref().map(|class| ("Key validator", class_text(&**class))));
    rows.push(("Default validator", class_text(&*cf.default_validator)));
    rows.push(("Tombstones are kept", format!("{} s (gc_grace)", cf.gc_grace_s)));
    rows.extend(cf.default_ttl_s().map(|ttl| ("Default time to live", format!("{ttl} s"))));
    rows.extend(
        cf.comment.as_ref().filter(|text| !text.is_empty()).map(|text| ("Comment", escaped(text.as_bytes()))),
    );
    rows
}
