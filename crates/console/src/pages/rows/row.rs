//! One row: its deletions, a slice of its cells, and the same as CQL rows.

use askama::Template;
use axum::response::Response;
use bytes::Bytes;

use super::cql_rows::CqlRows;
use super::kin::{Kin, KinRow};
use super::list::{key_type, shown_key, token_of};
use super::page_link::{LinkFields, PageLink};
use super::query::Target;
use crate::failure::Result;
use crate::limits::{ADMIN_PAGE_BYTES_MAX, ADMIN_PAGE_CELLS, ADMIN_PAGE_RANGES};
use crate::page::{PageFrame, page};
use crate::pages::questions::{Asker, Questions};
use crate::present::{CellParts, ShownBytes, ShownCell, ShownTime, date_of_seconds, name_class};
use crate::state::AdminState;
use crate::visitor::Visitor;
use base::marshal::PACKAGE;
use base::model::{DeletionTime, RangeTombstone, SliceRange};
use db::{Database, Error, Request};
use store::{StoredCell, StoredColumns, StoredSlice, StoredSliceCommand, StoredSuper};

/// Cells of each super column in a row of super columns. The page of the super column has all.
const CELLS_PER_SUPER: usize = 20;

/// A deletion on a page.
pub(super) struct ShownDeletion {
    pub time: ShownTime,
    /// When the server deleted it.
    pub at: String,
}

impl ShownDeletion {
    pub(super) fn of(deletion: DeletionTime) -> Option<ShownDeletion> {
        deletion.is_deleted().then(|| ShownDeletion {
            time: ShownTime::of(deletion.marked_for_delete_at),
            at: date_of_seconds(deletion.local_deletion_time),
        })
    }
}

struct ShownRange {
    /// `None`: open.
    start: Option<ShownBytes>,
    finish: Option<ShownBytes>,
    super_column: Option<ShownBytes>,
    time: ShownTime,
    at: String,
}

/// A cell with the link to the page that shows it as a whole.
pub(super) struct RowCell {
    pub shown: ShownCell,
    pub whole: Option<PageLink>,
    pub questions: Questions,
    /// The rows of other column families whose key is the value.
    pub kin: Vec<KinRow>,
}

struct RowSuper {
    /// The title of the table of its cells.
    label: String,
    name: ShownBytes,
    link: PageLink,
    deletion: Option<ShownDeletion>,
    cells: Vec<RowCell>,
    has_more: bool,
}

#[derive(Template)]
#[template(path = "pages/rows/row.html")]
struct RowPage {
    frame: PageFrame,
    keyspace: String,
    family: String,
    family_link: Option<String>,
    /// The row, if the page shows one super column of it.
    row_link: Option<String>,
    key: ShownBytes,
    questions: Questions,
    /// The rows of other column families with the same key.
    kin: Vec<KinRow>,
    key_type: String,
    token: Option<String>,
    super_column: Option<ShownBytes>,
    /// The type of the names in the slice.
    name_type: String,
    form: LinkFields,
    is_reversed: bool,
    deletion: Option<ShownDeletion>,
    super_deletion: Option<ShownDeletion>,
    ranges: Vec<ShownRange>,
    range_count: usize,
    cells: Vec<RowCell>,
    supers: Vec<RowSuper>,
    is_super: bool,
    slices: Slices,
    json: Option<String>,
    cql: CqlRows,
    shows_tombstones: bool,
}

/// The links to other slices of the row.
struct Slices {
    first: Option<PageLink>,
    last: Option<PageLink>,
    previous: Option<PageLink>,
    next: Option<PageLink>,
}

impl Slices {
    fn has_any(&self) -> bool {
        [&self.first, &self.last, &self.previous, &self.next].iter().any(|link| link.is_some())
    }
}

/// Returns the parts with which a cell of the target is shown.
pub(super) fn cell_parts<'a>(database: &'a Database, target: &'a Target, is_shadowed: bool) -> CellParts<'a> {
    let names = match (target.cf.subcomparator(), &target.super_column) {
        (Some(_), None) => target.cf.subcomparator().unwrap_or(&target.cf.comparator),
        _ => target.names(),
    };
    CellParts { database, cf: &target.cf, names: &**names, is_shadowed }
}

/// Reads the slice of a target.
pub(super) async fn slice_of(
    request: &Request<'_>,
    target: &Target,
    range: SliceRange,
) -> Result<StoredSlice, Error> {
    let command = StoredSliceCommand {
        cf: target.cf.clone(),
        key: target.key.clone().unwrap_or_default(),
        super_column: target.super_column.clone(),
        range,
        cells_per_super: CELLS_PER_SUPER,
        max_bytes: ADMIN_PAGE_BYTES_MAX,
        max_ranges: ADMIN_PAGE_RANGES,
    };
    request.reads().stored_slice(command).await
}

/// Shows the row of `target.key`.
pub(super) async fn show(state: &AdminState, visitor: &Visitor, target: &Target) -> Result<Response> {
    let database = &*state.database;
    let request = target.request(database);
    let (slice, before) = state.metered(read(&request, target)).await?;
    drop(request);
    let key = target.key.clone().unwrap_or_default();
    let kin = state.metered(Kin::find(state, visitor, target, &slice)).await;
    let form = LinkFields::of(target);
    let asker = target.asker(database, visitor.may_change);
    let view = RowView { database, target, form: &form, asker: &asker, kin: &kin };
    let (cells, supers) = match &slice.columns {
        StoredColumns::Cells(cells) => {
            let cells = cells.iter().enumerate();
            let shown = cells.map(|(at, stored)| view.cell(stored, format!("c{at}"), None));
            (shown.collect(), Vec::new())
        }
        StoredColumns::Supers(supers) => {
            let columns = supers.iter().enumerate();
            let shown = columns.map(|(at, column)| view.super_column(at, column));
            (Vec::new(), shown.collect())
        }
    };
    let shown_ranges: Vec<ShownRange> =
        slice.ranges.iter().map(|range| shown_range(database, target, range)).collect();
    let family = Target::of_family(target.cf.clone());
    let row =
        LinkFields { fields: form.fields.iter().filter(|(name, _)| *name != "super").cloned().collect() };
    let super_column = target.super_column.as_ref();
    let title = format!("Row of {}", target.shown_family());
    Ok(page(&RowPage {
        frame: PageFrame::of_data(visitor, title, target.place()),
        keyspace: target.cf.keyspace.clone(),
        family: target.cf.name.clone(),
        family_link: LinkFields::of(&family).href("/rows"),
        row_link: row.href("/rows").filter(|_| super_column.is_some()),
        key: shown_key(database, target, &key),
        questions: asker.of_row(&key),
        kin: kin.of(&key),
        key_type: key_type(target),
        token: token_of(database, &key),
        super_column: super_column.map(|name| ShownBytes::of(database.types(), &*target.cf.comparator, name)),
        name_type: target.names().class_name().replace(PACKAGE, ""),
        is_reversed: target.is_reversed,
        deletion: ShownDeletion::of(slice.deletion),
        super_deletion: ShownDeletion::of(slice.super_deletion),
        range_count: slice.range_count,
        ranges: shown_ranges,
        is_super: matches!(slice.columns, StoredColumns::Supers(_)),
        slices: slices_of(target, &form, &slice, before),
        json: form.href("/rows.json").map(|href| json_href(href, target)),
        cql: CqlRows::of(database, target, &slice),
        shows_tombstones: database.store().can_dump(),
        cells,
        supers,
        form,
    }))
}

/// Returns the address of the JSON of the same slice.
fn json_href(href: String, target: &Target) -> String {
    let start = super::page_link::field_of(&target.start);
    match (target.is_reversed, start.is_empty()) {
        (true, _) => format!("{href}&down={start}"),
        (false, false) => format!("{href}&start={start}"),
        (false, true) => href,
    }
}

/// Reads the slice, and the name at which the slice before it begins.
async fn read(request: &Request<'_>, target: &Target) -> Result<(StoredSlice, Option<Bytes>), Error> {
    let slice = slice_of(request, target, target.range()).await?;
    let first = slice.columns.first().or(Some(&target.start)).filter(|_| !target.start.is_empty());
    let Some(first) = first.cloned() else { return Ok((slice, None)) };
    // The other direction, from the first column on.
    let range = SliceRange {
        start: first.clone(),
        reversed: !target.is_reversed,
        count: ADMIN_PAGE_CELLS + 1,
        ..SliceRange::all()
    };
    let back = slice_of(request, target, range).await?;
    let names: Vec<&Bytes> = match &back.columns {
        StoredColumns::Cells(cells) => cells.iter().map(|stored| &stored.cell.name).collect(),
        StoredColumns::Supers(supers) => supers.iter().map(|column| &column.name).collect(),
    };
    let before = names.last().filter(|name| ***name != first).map(|name| (*name).clone());
    Ok((slice, before))
}

fn slices_of(target: &Target, form: &LinkFields, slice: &StoredSlice, before: Option<Bytes>) -> Slices {
    let (same, end) = if target.is_reversed { ("down", "start") } else { ("start", "down") };
    let to = |field, name: &Bytes| form.link("/rows", field, name);
    let is_at_start = target.start.is_empty();
    let (here, other) = (to(same, &Bytes::new()), to(end, &Bytes::new()));
    let is_everything = is_at_start && slice.next.is_none();
    let (first, last) = if target.is_reversed { (other, here) } else { (here, other) };
    Slices {
        first: (!is_at_start || target.is_reversed).then_some(first),
        last: (!(is_everything || is_at_start && target.is_reversed)).then_some(last),
        previous: before.as_ref().map(|name| to(same, name)),
        next: slice.next.as_ref().map(|name| to(same, name)),
    }
}

/// Shows the cells of a row.
struct RowView<'a> {
    database: &'a Database,
    target: &'a Target,
    form: &'a LinkFields,
    asker: &'a Asker<'a>,
    kin: &'a Kin,
}

impl RowView<'_> {
    fn cell(&self, stored: &StoredCell, anchor: String, holder: Option<&Bytes>) -> RowCell {
        let RowView { database, target, form, asker, kin } = *self;
        let parts = cell_parts(database, target, stored.is_shadowed);
        let shown = ShownCell::of(&parts, &stored.cell, anchor);
        let is_cut =
            shown.name.is_cut || shown.value.as_ref().is_some_and(|value| value.is_cut || value.is_hex_cut);
        let name = &stored.cell.name;
        let whole = match holder {
            _ if !is_cut => None,
            None => Some(form.link("/cell", "name", name)),
            Some(holder) => {
                let href = form.href_of_two("/cell", [("super", holder), ("name", name)]);
                href.map(|href| PageLink {
                    path: "/cell",
                    href: Some(href),
                    field: "name",
                    value: String::new(),
                })
            }
        };
        let holder = holder.or(target.super_column.as_ref());
        let key = target.key.as_ref();
        let questions = key.map(|key| asker.of_cell(key, holder, &stored.cell)).unwrap_or_default();
        let is_live = shown.standing.is_live();
        RowCell {
            whole,
            shown,
            questions,
            kin: if is_live { kin.of(&stored.cell.value) } else { Vec::new() },
        }
    }

    fn super_column(&self, at: usize, column: &StoredSuper) -> RowSuper {
        let cells = column.cells.iter().enumerate();
        let cells =
            cells.map(|(inner, stored)| self.cell(stored, format!("s{at}c{inner}"), Some(&column.name)));
        RowSuper {
            label: format!("Columns of super column {}", at + 1),
            name: ShownBytes::of(self.database.types(), &*self.target.cf.comparator, &column.name),
            link: self.form.link("/rows", "super", &column.name),
            deletion: ShownDeletion::of(column.deletion),
            cells: cells.collect(),
            has_more: column.has_more,
        }
    }
}

fn shown_range(database: &Database, target: &Target, range: &RangeTombstone) -> ShownRange {
    let types = database.types();
    let names = name_class(&target.cf, range.super_column.is_some());
    let bound = |name: &Bytes| (!name.is_empty()).then(|| ShownBytes::of(types, names, name));
    let holder = range.super_column.as_ref().filter(|_| target.super_column.is_none());
    ShownRange {
        start: bound(&range.start),
        finish: bound(&range.finish),
        super_column: holder.map(|name| ShownBytes::of(types, &*target.cf.comparator, name)),
        time: ShownTime::of(range.deletion.marked_for_delete_at),
        at: date_of_seconds(range.deletion.local_deletion_time),
    }
}
