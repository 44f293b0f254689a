//! `/rows.json`: a slice of a row in the form of `thriftstore sstable show --json`.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::query::{RowsQuery, Target};
use super::row::slice_of;
use crate::admin::failure::AdminError;
use crate::admin::state::AdminState;
use crate::admin::visitor::Visitor;
use crate::sstable::{Atom, Form as ShowForm, Shower, Unit};
use crate::storage::{StoredColumns, StoredSlice};

/// Answers `GET /rows.json` and `POST /rows.json`.
pub async fn json(
    State(state): State<Arc<AdminState>>,
    visitor: Visitor,
    Form(query): Form<RowsQuery>,
) -> Result<Response, AdminError> {
    let target = Target::of(query.family(&state, &visitor)?, &query)?;
    let Some(key) = target.key.clone() else {
        return Err(AdminError::invalid("give the row's key: /rows.json?keyspace=K&family=F&key=KEY"));
    };
    let request = target.request(&state.database);
    let slice = state.metered(slice_of(&request, &target, target.range())).await?;
    drop(request);
    let mut out = Vec::new();
    let print = || {
        let mut shower = Shower::new(&mut out, ShowForm::Json)?;
        shower.show(&Unit::Row { key: key.clone(), deletion: slice.deletion })?;
        for atom in atoms(&target, slice) {
            shower.show(&Unit::Atom(atom))?;
        }
        shower.show(&Unit::EndOfRow)?;
        shower.finish()
    };
    print().map_err(|error: std::io::Error| {
        AdminError::internal(format!("the row could not be printed: {error}"))
    })?;
    Ok(([(header::CONTENT_TYPE, "application/json")], out).into_response())
}

/// Returns the parts of a slice: range tombstones, then super columns' deletions and cells.
fn atoms(target: &Target, slice: StoredSlice) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = slice.ranges.into_iter().map(Atom::Range).collect();
    let holder = target.super_column.clone();
    if let Some(name) = holder.clone().filter(|_| slice.super_deletion.is_deleted()) {
        atoms.push(Atom::SuperDeletion { name, deletion: slice.super_deletion });
    }
    match slice.columns {
        StoredColumns::Cells(cells) => {
            let cell = |stored: crate::storage::StoredCell| Atom::Cell {
                super_column: holder.clone(),
                cell: stored.cell,
            };
            atoms.extend(cells.into_iter().map(cell));
        }
        StoredColumns::Supers(supers) => {
            for column in supers {
                if column.deletion.is_deleted() {
                    atoms.push(Atom::SuperDeletion { name: column.name.clone(), deletion: column.deletion });
                }
                let name = Some(column.name);
                let cell = |stored: crate::storage::StoredCell| Atom::Cell {
                    super_column: name.clone(),
                    cell: stored.cell,
                };
                atoms.extend(column.cells.into_iter().map(cell));
            }
        }
    }
    atoms
}
