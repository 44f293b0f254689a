//! `/rows.json`: a slice of a row in the form of `thriftstore sstable show --json`.
//!
//! A row that is longer than a slice has two more fields: `next`, the name at which the row goes on, in hex, and
//! `left_out`, a sentence about range tombstones that are not in the reply.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::query::{RowsQuery, Target};
use super::row::slice_of;
use crate::extract::Form;
use crate::failure::{AdminError, Result, invalid};
use crate::state::Admin;
use crate::visitor::Visitor;
use sstable::{Atom, Form as ShowForm, Shower, Unit};
use store::{StoredColumns, StoredSlice};

/// Answers `GET /rows.json` and `POST /rows.json`.
pub(crate) async fn json(
    State(state): Admin,
    visitor: Visitor,
    Form(query): Form<RowsQuery>,
) -> Result<Response> {
    let target = Target::of(query.family(&state, &visitor)?, &query)?;
    let Some(key) = target.key.clone() else {
        return invalid("give the row's key: /rows.json?keyspace=K&family=F&key=KEY");
    };
    let request = target.request(&state.database);
    let slice = state.metered(slice_of(&request, &target, target.range())).await?;
    drop(request);
    let printed = printed(&target, key, slice);
    let json =
        printed.map_err(|error| AdminError::internal(format!("the row could not be printed: {error}")))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

fn printed(target: &Target, key: Bytes, slice: StoredSlice) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut shower = Shower::new(&mut out, ShowForm::Json)?;
    shower.show(&Unit::Row { key, deletion: slice.deletion })?;
    let rest = rest_of(&slice);
    for atom in atoms(target, slice) {
        shower.show(&Unit::Atom(atom))?;
    }
    shower.end_row_with(&rest)?;
    shower.finish()?;
    Ok(out)
}

/// Returns the fields about data that is not in the slice.
fn rest_of(slice: &StoredSlice) -> Map<String, Value> {
    let mut rest = Map::new();
    if let Some(next) = &slice.next {
        rest.insert("next".to_owned(), base::util::hex(next).into());
    }
    let (shown, all) = (slice.ranges.len(), slice.range_count);
    if shown < all {
        let why = format!("the row has {all} range tombstones: the first {shown} of them are here");
        rest.insert("left_out".to_owned(), why.into());
    }
    rest
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
            let cells = cells.into_iter();
            atoms.extend(cells.map(|stored| Atom::Cell { super_column: holder.clone(), cell: stored.cell }));
        }
        StoredColumns::Supers(supers) => {
            for column in supers {
                if column.deletion.is_deleted() {
                    atoms.push(Atom::SuperDeletion { name: column.name.clone(), deletion: column.deletion });
                }
                let (cells, name) = (column.cells.into_iter(), Some(column.name));
                atoms
                    .extend(cells.map(|stored| Atom::Cell { super_column: name.clone(), cell: stored.cell }));
            }
        }
    }
    atoms
}
