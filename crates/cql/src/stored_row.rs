//! Shows a stored row: its CQL rows on one side, its cells on the other.

use bytes::Bytes;

use super::QueryState;
use crate::Result;
use base::compat::features::ConsistencyLevel;
use base::marshal::{AbstractType, PACKAGE, STATIC_PREFIX, TypeRef, composite_parts, unreversed};
use base::model::{Cell, CellKind, Predicate, RowColumns, SliceRange};
use base::schema::{CfDef, Layout, TableDef, show};
use cql_syntax::TableName;

/// Shows a stored row as the rows of its table and as cells, which are printed as by cassandra-cli's `list`.
pub async fn stored_row(state: &QueryState<'_>, name: &TableName, key: &Bytes) -> Result<String> {
    let table = state.table(name)?;
    let predicate = Predicate::Range(SliceRange::all());
    let request = state.request(&table.cf.keyspace, ConsistencyLevel::One);
    let found = request.reads().read_cells(&table.cf, key.clone(), None, predicate).await?;
    let is_composite = table.def.partition_key.len() > 1;
    let mut text = format!(
        "row key {}  {}\n",
        show::framed(key, is_composite),
        show::row_key(state.database.types(), &table.def, key)
    );
    let sides = match &found {
        RowColumns::Cells(cells) => sides_of_cells(state, &table.cf, &table.def, cells),
        RowColumns::Supers(supers) => supers
            .iter()
            .flat_map(|holder| {
                let name = cli_text(&*table.cf.comparator, &holder.name, state);
                let mut sides = vec![(
                    show::assigned(
                        state.database.types(),
                        &table.def.clustering,
                        std::slice::from_ref(&holder.name),
                    )
                    .join(" "),
                    format!("=> (super_column={name},"),
                )];
                let names = table.cf.subcomparator().unwrap_or(&table.cf.comparator);
                sides.extend(holder.cells.iter().map(|cell| {
                    (String::new(), format!("     {}", cell_text(state, &table.cf, cell, names)))
                }));
                sides
            })
            .collect(),
    };
    if sides.is_empty() {
        text.push_str("no cells\n");
    }
    let width = sides.iter().map(|(left, _)| left.chars().count()).filter(|width| *width <= 60).max();
    let width = width.unwrap_or_default();
    for (left, right) in sides {
        text.push_str(format!("  {left:width$}  {right}").trim_end());
        text.push('\n');
    }
    Ok(text)
}

/// Returns the two sides of the cells: on the left the meaning of each cell in CQL, below its row; on the right the
/// cell.
fn sides_of_cells(
    state: &QueryState<'_>,
    cf: &CfDef,
    table: &TableDef,
    cells: &[Cell],
) -> Vec<(String, String)> {
    let mut sides = Vec::new();
    let mut row = None;
    for cell in cells {
        let place = table.place_of(&cell.name);
        let of = place.map(|place| (place.is_static, place.clustering));
        let is_apart = table.layout == Layout::Sparse && !table.clustering.is_empty();
        if is_apart && row.as_ref() != Some(&of) && row.is_some() {
            sides.push((String::new(), String::new()));
        }
        row = Some(of);
        let left = show::meaning(state.database.types(), table, &cell.name, Some(&cell.value));
        sides.push((left, cell_text(state, cf, cell, &cf.comparator)));
    }
    sides
}

/// Returns a cell as cassandra-cli prints it.
fn cell_text(state: &QueryState<'_>, cf: &CfDef, cell: &Cell, names: &TypeRef) -> String {
    let name = cli_text(&**names, &cell.name, state);
    if cell.kind == CellKind::Counter {
        return format!("=> (counter={name}, value={})", cell.count().unwrap_or_default());
    }
    let value = cli_text(&**cf.value_validator(&cell.name), &cell.value, state);
    let ttl = match cell.kind {
        CellKind::Expiring { ttl_s, .. } => format!(", ttl={ttl_s}"),
        _ => String::new(),
    };
    format!("=> (name={name}, value={value}, timestamp={}{ttl})", cell.timestamp)
}

/// Returns a value or name as cassandra-cli prints it: since 2.0 without the seconds of dates
/// (`TimestampSerializer.DEFAULT_FORMAT`).
fn cli_text(class: &dyn AbstractType, value: &[u8], state: &QueryState<'_>) -> String {
    let text = class.to_text(value);
    if !state.behaviour.cql.dates_are_shown_to_the_minute {
        return text;
    }
    match composite_parts(class.class_name()) {
        None if is_date(class.class_name()) => without_seconds(&text),
        None => text,
        Some(classes) => {
            // The text of a static column begins with an empty part.
            let before = usize::from(value.starts_with(&STATIC_PREFIX));
            let mut parts = Vec::new();
            for (at, part) in parts_of(&text).into_iter().enumerate() {
                let class = at.checked_sub(before).and_then(|at| classes.get(at));
                let is_date = class.is_some_and(|class| is_date(class));
                parts.push(if is_date { without_seconds(part) } else { part.to_owned() });
            }
            parts.join(":")
        }
    }
}

/// Splits the text of a composite at its colons; those within components have a backslash.
fn parts_of(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest[from..].find(':').map(|at| from + at) {
        if rest[..at].ends_with('\\') {
            from = at + 1;
        } else {
            parts.push(&rest[..at]);
            (rest, from) = (&rest[at + 1..], 0);
        }
    }
    parts.push(rest);
    parts
}

fn is_date(class: &str) -> bool {
    let (class, _) = unreversed(class);
    matches!(class.strip_prefix(PACKAGE).unwrap_or(class), "DateType" | "TimestampType")
}

/// Returns the text of a date, `2013-05-02 00:00:00+0000`, as `2013-05-02 00:00Z`. Other texts stay as they are.
fn without_seconds(text: &str) -> String {
    let minutes = || {
        let time = text.strip_suffix("+0000")?;
        let (minutes, _) = time.rsplit_once(':')?;
        Some(format!("{}Z", minutes.strip_suffix('\\').unwrap_or(minutes)))
    };
    minutes().unwrap_or_else(|| text.to_owned())
}
