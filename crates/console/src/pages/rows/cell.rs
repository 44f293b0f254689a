//! `/cell`: one cell, with its name and value as a whole.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;

use super::list::shown_key;
use super::page_link::LinkFields;
use super::query::{RowsQuery, Target};
use super::row::{cell_parts, slice_of};
use crate::extract::Form;
use crate::failure::{AdminError, Result, invalid};
use crate::limits::ADMIN_VALUE_CHARS_MAX;
use crate::page::{PageFrame, page};
use crate::present::{ShownBytes, ShownCell, read_as};
use crate::state::Admin;
use crate::visitor::Visitor;
use base::model::SliceRange;
use db::type_of_value;
use store::StoredColumns;

#[derive(Template)]
#[template(path = "pages/rows/cell.html")]
struct CellPage {
    frame: PageFrame,
    keyspace: String,
    family: String,
    row_link: Option<String>,
    form: LinkFields,
    key: ShownBytes,
    super_column: Option<ShownBytes>,
    cell: ShownCell,
    name: ShownBytes,
    value: Option<ShownBytes>,
}

/// Answers `GET /cell` and `POST /cell`.
pub(crate) async fn cell(
    State(state): Admin,
    visitor: Visitor,
    Form(query): Form<RowsQuery>,
) -> Result<Response> {
    let target = Target::of(query.family(&state, &visitor)?, &query)?;
    let (Some(key), Some(name)) = (&target.key, &target.name) else {
        return invalid("give the key and the name: /cell?keyspace=K&family=F&key=KEY&name=NAME");
    };
    let database = &*state.database;
    let request = target.request(database);
    let range = SliceRange { start: name.clone(), finish: name.clone(), reversed: false, count: 1 };
    let slice = state.metered(slice_of(&request, &target, range)).await?;
    drop(request);
    let StoredColumns::Cells(cells) = slice.columns else {
        return invalid("the cells of a super column need its name: add super=NAME");
    };
    let stored = cells.first().ok_or_else(|| AdminError::not_found("the row has no such cell"))?;
    let parts = cell_parts(database, &target, stored.is_shadowed);
    let types = database.types();
    let whole = |class: &base::marshal::TypeRef, bytes: &Bytes| {
        ShownBytes::at_most(ADMIN_VALUE_CHARS_MAX, bytes, |bytes| read_as(types, &**class, bytes))
    };
    let form = LinkFields::of(&target);
    let shown = ShownCell::of(&parts, &stored.cell, String::new());
    let value = shown.value.is_some().then(|| whole(&type_of_value(&target.cf, name), &stored.cell.value));
    let title = format!("Cell of {}", target.shown_family());
    Ok(page(&CellPage {
        frame: PageFrame::of_data(&visitor, title, target.place()),
        keyspace: target.cf.keyspace.clone(),
        family: target.cf.name.clone(),
        row_link: form.href("/rows"),
        key: shown_key(database, &target, key),
        super_column: target
            .super_column
            .as_ref()
            .map(|name| ShownBytes::of(types, &*target.cf.comparator, name)),
        name: whole(target.names(), name),
        value,
        cell: shown,
        form,
    }))
}
