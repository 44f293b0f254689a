//! The rows of a column family in the order of the ring.

use askama::Template;
use axum::response::Response;
use bytes::Bytes;

use super::page_link::{LinkFields, PageLink};
use super::query::Target;
use super::row::{ShownDeletion, cell_parts};
use crate::failure::Result;
use crate::limits::{ADMIN_PAGE_BYTES_MAX, ADMIN_PAGE_ROWS};
use crate::page::{PageFrame, page};
use crate::pages::questions::{Asker, Questions};
use crate::present::{ShownBytes, ShownCell, escaped, key_class};
use crate::state::AdminState;
use crate::visitor::Visitor;
use db::{Database, StoredRowsArgs};
use store::{StoredColumns, StoredSlice};

/// Columns of each row in the list.
const COLUMNS_SHOWN: usize = 4;

#[derive(Template)]
#[template(path = "pages/rows/list.html")]
struct ListPage {
    frame: PageFrame,
    keyspace: String,
    family: String,
    /// The type of keys.
    key_type: String,
    failure: Option<String>,
    form: LinkFields,
    rows: Vec<ListedRow>,
    /// Whether the list begins at a key.
    begins_at: Option<ShownBytes>,
    first: Option<String>,
    next: Option<PageLink>,
    order: &'static str,
    shows_tombstones: bool,
    /// Whether the page Change puts rows in.
    may_change: bool,
    /// The languages and statements by which a client puts a first row in.
    begin: Vec<(&'static str, String)>,
}

struct ListedRow {
    key: ShownBytes,
    link: PageLink,
    questions: Questions,
    token: String,
    deletion: Option<ShownDeletion>,
    columns: Vec<ListedColumn>,
    has_more: bool,
}

/// A cell, or a super column without its cells.
struct ListedColumn {
    name: ShownBytes,
    cell: Option<ShownCell>,
}

/// Shows the rows from `target.from` on, and why the last request was refused.
pub(super) async fn show(
    state: &AdminState,
    visitor: &Visitor,
    target: &Target,
    failure: Option<String>,
) -> Result<Response> {
    let args = StoredRowsArgs {
        cf: target.cf.clone(),
        start: target.from.clone(),
        rows: ADMIN_PAGE_ROWS,
        columns: COLUMNS_SHOWN,
        max_bytes: ADMIN_PAGE_BYTES_MAX,
    };
    let database = &state.database;
    let request = target.request(database);
    let found = state.metered(request.ranges().stored_rows(args)).await?;
    let form = LinkFields::of(target);
    let title = format!("Rows of {}", target.shown_family());
    let asker = target.asker(database, visitor.may_change);
    let listing = Listing { database, target, asker: &asker, form: &form };
    Ok(page(&ListPage {
        frame: PageFrame::of_data(visitor, title, target.place()),
        keyspace: target.cf.keyspace.clone(),
        family: target.cf.name.clone(),
        key_type: key_type(target),
        failure,
        begins_at: (!target.from.is_empty()).then(|| shown_key(database, target, &target.from)),
        first: form.href("/rows").filter(|_| !target.from.is_empty()),
        next: found.next.as_ref().map(|key| form.link("/rows", "from", key)),
        rows: found.rows.iter().map(|(key, slice)| listing.row(key, slice)).collect(),
        begin: begin_of(target, &asker),
        form,
        order: if database.partitioner().preserves_order() { "keys" } else { "tokens" },
        shows_tombstones: database.store().can_dump(),
        may_change: visitor.may_change,
    }))
}

/// Returns the type of the column family's keys, without its package.
pub(super) fn key_type(target: &Target) -> String {
    key_class(&target.cf).class_name().replace(base::marshal::PACKAGE, "")
}

/// Shows a row key by its validator.
pub(super) fn shown_key(database: &Database, target: &Target, key: &Bytes) -> ShownBytes {
    ShownBytes::of(database.types(), key_class(&target.cf), key)
}

/// Returns the token of a key as text. Of a partitioner that preserves order it is the key itself.
pub(super) fn token_of(database: &Database, key: &[u8]) -> Option<String> {
    let partitioner = database.partitioner();
    (!partitioner.preserves_order()).then(|| partitioner.token_text(&database.ring_order().token(key)))
}

/// Makes the rows of the list.
struct Listing<'a> {
    database: &'a Database,
    target: &'a Target,
    asker: &'a Asker<'a>,
    form: &'a LinkFields,
}

impl Listing<'_> {
    fn row(&self, key: &Bytes, slice: &StoredSlice) -> ListedRow {
        let Listing { database, target, asker, form } = *self;
        let types = database.types();
        let columns = match &slice.columns {
            StoredColumns::Cells(cells) => cells
                .iter()
                .map(|stored| {
                    let parts = cell_parts(database, target, stored.is_shadowed);
                    let cell = ShownCell::of(&parts, &stored.cell, String::new());
                    ListedColumn { name: cell.name.clone(), cell: Some(cell) }
                })
                .collect(),
            StoredColumns::Supers(supers) => {
                let names =
                    supers.iter().map(|column| ShownBytes::of(types, &*target.cf.comparator, &column.name));
                names.map(|name| ListedColumn { name, cell: None }).collect()
            }
        };
        ListedRow {
            key: shown_key(database, target, key),
            link: form.link("/rows", "key", key),
            questions: asker.of_row(key),
            token: token_of(database, key).unwrap_or_default(),
            deletion: ShownDeletion::of(slice.deletion),
            columns,
            has_more: slice.next.is_some(),
        }
    }
}

/// Returns how a client puts a first row in: the language, and the code.
fn begin_of(target: &Target, asker: &Asker<'_>) -> Vec<(&'static str, String)> {
    match asker.first_insert() {
        Some(statement) => vec![("CQL", statement)],
        None => {
            let name = escaped(target.cf.name.as_bytes());
            let path = if target.cf.is_super() { "['super column']['column']" } else { "['column']" };
            let line = if target.cf.is_counter() {
                format!("incr {name}['key']{path};")
            } else {
                format!("set {name}['key']{path} = 'value';")
            };
            vec![("cassandra-cli", format!("use {};\n{line}", escaped(target.cf.keyspace.as_bytes())))]
        }
    }
}
