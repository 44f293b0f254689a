//! A model as a script of cassandra-cli, with its sample data.

use base::util::hex;
use std::collections::HashSet;

use bytes::Bytes;

use super::family::read_rows;
use super::script::Script;
use super::sketch::OpenSketch;
use crate::limits::SKETCH_SCRIPT_BYTES_MAX;
use base::marshal::{AbstractType, BytesType, PACKAGE, TypeRef};
use base::model::{Cell, CellKind, RowColumns};
use base::schema::{Catalog, CfDef, ColumnDef, KeyspaceDef, Setting};
use double::control::cassandra_cli::bytes_of_text;

/// The gc_grace of a column family that sets none.
const GC_GRACE_S: i32 = 864_000;
/// Signs besides letters and digits that a word may have without quotes, after the first.
const WORD_SIGNS: &str = "_-";

/// Returns the model and its sample data as a script of cassandra-cli.
pub(super) async fn cassandra_cli_text(open: &OpenSketch, catalog: &Catalog) -> Script {
    let mut script = Script::new("cassandra-cli", "cassandra-cli");
    for keyspace in catalog.keyspaces.values() {
        let mut text = keyspace_text(keyspace);
        for user_type in keyspace.user_types.keys() {
            script.lose(format!("type {user_type}: cassandra-cli has no user-defined types."));
        }
        let mut sets = String::new();
        for cf in keyspace.column_families.values() {
            if cf.table.is_some() {
                let name = &cf.name;
                script.lose(format!(
                    "{name}: left out. cassandra-cli does not know the columns of a CQL table."
                ));
                continue;
            }
            match family_text(cf, &mut script) {
                Ok(family) => text.push_str(&family),
                Err(why) => {
                    script.lose(format!("{}: left out. {why}", cf.name));
                    continue;
                }
            }
            let (rows, is_cut) = read_rows(open, cf).await.unwrap_or_default();
            if is_cut {
                script.lose(format!("{}: rows after the first are left out.", cf.name));
            }
            let mut data = SampleData { cf, typed: HashSet::new() };
            for row in rows {
                sets.push_str(&data.row(&row.key, &row.columns));
            }
        }
        if !sets.is_empty() {
            script.lose("Timestamps: `set` uses the time at which it runs.".to_owned());
        }
        script.text.push_str(&text);
        if script.text.len() + sets.len() > SKETCH_SCRIPT_BYTES_MAX {
            script.lose(format!("Data of {}: they are too long for this page.", keyspace.name));
        } else {
            script.text.push_str(&sets);
        }
    }
    script
}

fn keyspace_text(keyspace: &KeyspaceDef) -> String {
    let mut options = keyspace.strategy_options.clone();
    let class = keyspace.modern_strategy_class();
    if class.ends_with("SimpleStrategy") && !options.contains_key("replication_factor") {
        options.insert("replication_factor".to_owned(), keyspace.replication_factor.to_string());
    }
    let pairs = options.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)));
    let pairs = pairs.collect::<Vec<_>>().join(", ");
    let options = if pairs.is_empty() { pairs } else { format!("\n  and strategy_options = {{{pairs}}}") };
    let durable = if keyspace.durable_writes { "" } else { "\n  and durable_writes = false" };
    let (name, class) = (quoted(&keyspace.name), quoted(class));
    format!("create keyspace {name}\n  with placement_strategy = {class}{options}{durable};\nuse {name};\n\n")
}

/// Returns the statement that creates a column family, or the reason why the language has none.
fn family_text(cf: &CfDef, script: &mut Script) -> Result<String, String> {
    let mut attributes: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| attributes.push((name.to_owned(), value));
    if cf.is_super() {
        add("column_type", "Super".to_owned());
    }
    add("comparator", class(&*cf.comparator));
    if let Some(inner) = cf.subcomparator() {
        add("subcomparator", class(&**inner));
    }
    if let Some(validator) = &cf.key_validator {
        add("key_validation_class", class(&**validator));
    }
    add("default_validation_class", class(&*cf.default_validator));
    let names = cf.subcomparator().unwrap_or(&cf.comparator);
    let columns: Result<Vec<String>, String> =
        cf.column_metadata.values().map(|column| column_text(names, column)).collect();
    let columns = columns?;
    if !columns.is_empty() {
        add("column_metadata", format!("[\n    {}\n  ]", columns.join(",\n    ")));
    }
    if let Some(comment) = cf.comment.as_ref().filter(|comment| !comment.is_empty()) {
        add("comment", quoted(comment));
    }
    if cf.gc_grace_s != GC_GRACE_S {
        add("gc_grace", cf.gc_grace_s.to_string());
    }
    for (name, setting) in &cf.settings {
        match (Setting::field_named(name), setting_text(setting)) {
            (Some(_), Some(value)) => add(name, value),
            _ => script.lose(format!("{}: the setting {name}.", cf.name)),
        }
    }
    let has_alias = cf.key_alias.as_ref().is_some_and(|alias| &alias[..] != b"key");
    if has_alias || !cf.names.is_default() {
        script.lose(format!("{}: names of key and clustering columns exist in CQL only.", cf.name));
    }
    let attributes: Vec<String> =
        attributes.into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
    Ok(format!("create column family {}\n  with {};\n\n", quoted(&cf.name), attributes.join("\n  and ")))
}

fn column_text(names: &TypeRef, column: &ColumnDef) -> Result<String, String> {
    let name = plain(Some(names), &column.name)
        .ok_or_else(|| format!("The column 0x{} has no text of its comparator.", hex(&column.name)))?;
    let mut pairs = vec![format!("column_name: {name}")];
    pairs.push(format!("validation_class: {}", class(&*column.validator)));
    if let Some(index) = &column.index {
        pairs.push(format!("index_type: {}", index.kind.name()));
        pairs.extend(index.name.iter().map(|name| format!("index_name: {}", quoted(name))));
        if let Some(options) = index.options.as_ref().filter(|options| !options.is_empty()) {
            let entries = options.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)));
            pairs.push(format!("index_options: {{{}}}", entries.collect::<Vec<_>>().join(", ")));
        }
    }
    Ok(format!("{{{}}}", pairs.join(", ")))
}

/// Returns the value of a setting; `None` for an empty map, which has no text.
fn setting_text(setting: &Setting) -> Option<String> {
    Some(match setting {
        Setting::Bool(value) => value.to_string(),
        Setting::Int(value) => value.to_string(),
        Setting::Double(value) => quoted(&format!("{value:?}")),
        Setting::Text(text) => quoted(text),
        Setting::Map(entries) if entries.is_empty() => return None,
        Setting::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    })
}

/// Writes the rows of a column family as statements.
struct SampleData<'a> {
    cf: &'a CfDef,
    /// The columns whose values have been written as `bytes(...)`: cassandra-cli remembers that for later values.
    typed: HashSet<Bytes>,
}

impl SampleData<'_> {
    fn row(&mut self, key: &Bytes, columns: &RowColumns) -> String {
        let key = term(self.cf.key_validator.as_ref(), key);
        let path = format!("{}[{key}]", quoted(&self.cf.name));
        match columns {
            RowColumns::Cells(cells) => {
                cells.iter().map(|cell| self.cell(&path, &self.cf.comparator, cell)).collect()
            }
            RowColumns::Supers(supers) => {
                let mut text = String::new();
                for holder in supers {
                    let path = format!("{path}[{}]", term(Some(&self.cf.comparator), &holder.name));
                    let names = self.cf.subcomparator().unwrap_or(&self.cf.comparator);
                    for cell in &holder.cells {
                        text.push_str(&self.cell(&path, names, cell));
                    }
                }
                text
            }
        }
    }

    fn cell(&mut self, path: &str, names: &TypeRef, cell: &Cell) -> String {
        let path = format!("{path}[{}]", term(Some(names), &cell.name));
        match cell.kind {
            CellKind::Deleted { .. } => String::new(),
            CellKind::Counter | CellKind::Increment => {
                format!("incr {path} by {};\n", cell.count().unwrap_or_default())
            }
            CellKind::Live => format!("set {path} = {};\n", self.value(cell)),
            CellKind::Expiring { ttl_s, .. } => {
                format!("set {path} = {} with ttl = {ttl_s};\n", self.value(cell))
            }
        }
    }

    fn value(&mut self, cell: &Cell) -> String {
        let validator = self.cf.value_validator(&cell.name);
        if !self.typed.contains(&cell.name)
            && let Some(text) = plain(Some(validator), &cell.value)
        {
            return text;
        }
        self.typed.insert(cell.name.clone());
        bytes_term(&cell.value)
    }
}

/// Returns a key or name.
fn term(of_type: Option<&TypeRef>, bytes: &Bytes) -> String {
    plain(of_type, bytes).unwrap_or_else(|| bytes_term(bytes))
}

fn bytes_term(bytes: &[u8]) -> String {
    format!("bytes('{}')", hex(bytes))
}

/// Returns a text that cassandra-cli reads as these bytes, if there is one.
fn plain(of_type: Option<&TypeRef>, bytes: &[u8]) -> Option<String> {
    let is_untyped = of_type.is_none_or(|of_type| of_type.class_name() == BytesType.class_name());
    let text = match of_type {
        Some(of_type) if !is_untyped => of_type.to_text(bytes),
        _ => std::str::from_utf8(bytes).ok().map(str::to_owned).unwrap_or_default(),
    };
    let candidates = [text, if is_untyped { hex(bytes) } else { String::new() }];
    let found = candidates.into_iter().find(|text| {
        bytes_of_text(of_type, text).is_ok_and(|read| read == bytes) && !text.contains('\u{fffd}')
    });
    found.map(|text| quoted_always(&text))
}

/// Returns the name of a class without Cassandra's package, in quotes if it has parameters.
fn class(of_type: &dyn AbstractType) -> String {
    quoted(&of_type.class_name().replace(PACKAGE, ""))
}

/// Returns a name, in quotes unless it is a word.
fn quoted(text: &str) -> String {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || WORD_SIGNS.contains(c));
    if is_word { text.to_owned() } else { quoted_always(text) }
}

fn quoted_always(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() && u32::from(c) <= 0xffff => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}
