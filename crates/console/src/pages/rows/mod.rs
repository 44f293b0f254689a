//! `/rows`: the rows of a column family in ring order, one row as cells and as CQL rows, and one cell as a whole.
//!
//! ```text
//!   /rows?keyspace=K&family=F                      rows in ring order           list
//!   /rows?...&from=KEY                             from the token of a key on   list
//!   /rows?...&key=KEY                              the first cells of a row     row
//!   /rows?...&key=KEY&start=NAME                   a slice, ascending           row
//!   /rows?...&key=KEY&down=NAME                    a slice, descending          row
//!   /rows?...&key=KEY&super=NAME                   the columns of a super column
//!   /rows.json?...                                 the same slice, in the form of `sstable show --json`
//!   /cell?...&key=KEY[&super=NAME]&name=NAME       one cell, not cut            cell
//! ```
//!
//! Keys and names are bytes in hex after `0x`, or the text form of their type. They may have 64 KB, which is too long
//! for an URI in hex, so all of these paths take the same fields by POST too.

mod cell;
mod cql_rows;
mod json;
mod kin;
mod list;
mod page_link;
mod query;
mod row;

pub(crate) use cell::cell;
pub(crate) use json::json;
pub(crate) use query::RowsQuery;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use self::query::Target;
use crate::extract::Form;
use crate::failure::{AdminError, Result};
use crate::state::Admin;
use crate::visitor::Visitor;

/// Answers `GET /rows` and `POST /rows`.
pub(crate) async fn answer(
    State(state): Admin,
    visitor: Visitor,
    Form(query): Form<RowsQuery>,
) -> Result<Response> {
    let family = query.family(&state, &visitor)?;
    let shown = match Target::of(family.clone(), &query) {
        Ok(target) if target.key.is_some() => row::show(&state, &visitor, &target).await,
        Ok(target) => return list::show(&state, &visitor, &target, None).await,
        Err(why) => Err(why),
    };
    match shown {
        // A key that cannot be read is shown above the rows, where the form is.
        Err(AdminError { status: StatusCode::BAD_REQUEST, why }) => {
            let page = list::show(&state, &visitor, &Target::of_family(family), Some(why)).await?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
        shown => shown,
    }
}
