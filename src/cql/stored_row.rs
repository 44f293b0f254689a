//! Shows a stored row: its CQL rows on one side, its cells on the other.

use bytes::Bytes;

use super::show;
use super::syntax::TableName;
use super::{CqlError, QueryState};
use crate::compat::features::ConsistencyLevel;
use crate::marshal::TypeRef;
use crate::model::{Cell, CellKind, Predicate, RowColumns, SliceRange, SuperColumn};
use crate::schema::{CfDef, Layout, TableDef};

/// Shows a stored row as the rows of its table and as cells, which are printed as by cassandra-cli's `list`.
pub async fn stored_row(state: &QueryState<'_>, name: &TableName, key: &Bytes) -> Result<String, CqlError> {
    let table = state.table(name)?;
    let predicate = Predicate::Range(SliceRange::all());
    let request = state.request(&table.cf.keyspace, ConsistencyLevel::One);
    let found = request.reads().read_cells(&table.cf, key.clone(), None, predicate).await?;
    let is_composite = table.def.partition_key.len() > 1;
    let mut text = format!(
        "row key {}  {}\n",
        show::framed(key, is_composite),
        show::row_key(state.database, &table.def, key)
    );
    let sides = match &found {
        RowColumns::Cells(cells) => sides_of_cells(state, &table.cf, &table.def, cells),
        RowColumns::Supers(supers) => {
            let sides = |holder: &SuperColumn| {
                let name = table.cf.comparator.to_text(&holder.name);
                let mut sides = vec![(
                    show::assigned(state.database, &table.def.clustering, std::slice::from_ref(&holder.name))
                        .join(" "),
                    format!("=> (super_column={name},"),
                )];
                let names = table.cf.subcomparator().unwrap_or(&table.cf.comparator);
                sides.extend(
                    holder
                        .cells
                        .iter()
                        .map(|cell| (String::new(), format!("     {}", cell_text(&table.cf, cell, names)))),
                );
                sides
            };
            supers.iter().flat_map(sides).collect()
        }
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
        let left = show::meaning(state.database, table, &cell.name, Some(&cell.value));
        sides.push((left, cell_text(cf, cell, &cf.comparator)));
    }
    sides
}

/// Returns a cell as cassandra-cli of 2.1 prints it.
fn cell_text(cf: &CfDef, cell: &Cell, names: &TypeRef) -> String {
    let name = names.to_text(&cell.name);
    if cell.kind == CellKind::Counter {
        return format!("=> (counter={name}, value={})", cell.count().unwrap_or_default());
    }
    let value = cf.value_validator(&cell.name).to_text(&cell.value);
    let ttl = match cell.kind {
        CellKind::Expiring { ttl_s, .. } => format!(", ttl={ttl_s}"),
        _ => String::new(),
    };
    format!("=> (name={name}, value={value}, timestamp={}{ttl})", cell.timestamp)
}
