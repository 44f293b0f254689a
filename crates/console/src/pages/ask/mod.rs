//! `/ask`: a statement of CQL, or a Thrift call, with its result, its reads, and the same as code.
//!
//! ```text
//!   form         the fields of the page, and links with them
//!   page         the handlers and the template
//!   recorder     a database that records what a request reads, and discards what it writes
//!   statement    runs CQL 3 and CQL 2
//!   call         makes a Thrift call from the form; `reply` reads the result
//!   typed        bytes from the text form of their type
//!   result       the result as a table and as JSON; `csv` as CSV
//!   files        the result as a file
//!   examples     questions to begin with
//!   cells        the cells that were read, as rows of cells
//!   steps        the requests to the store, those of one slice together
//!   explanation  the plan, the steps as drawings, and the cost
//! ```
//!
//! On a gateway the cluster plans and runs statements of CQL, as it does for clients. Then there is no explanation, and
//! nothing is known about the cells that a statement reads. Thrift calls are the same as on other servers.
//!
//! Requests by GET run on the recorder, except SELECTs of system tables, whose rows are not stored. So it cannot change
//! data, even if the check of the statement had a mistake.

mod call;
mod cells;
mod csv;
mod examples;
mod explanation;
mod files;
mod form;
mod page;
mod recorder;
mod reply;
mod result;
mod statement;
mod steps;
mod typed;

pub(crate) use call::{LEVELS, ThriftCall, family, follow_schema, level, run_call, text};
pub(crate) use files::{csv, json};
pub(crate) use form::query;
pub(crate) use page::{CHANGES_ARE_OFF, answer, answer_form, visible_lines};
pub(crate) use reply::failure;
pub(crate) use typed::bytes_of;
