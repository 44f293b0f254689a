//! Rows as JSON: what `GET /dump` prints, `POST /load` reads, `export` writes and `import --from json:` reads.
//!
//! ```text
//!   {"key": "ada", "cells": [{"name": "email", "value": "ada@example.com", "timestamp": 1}]}
//!     |                |        |              |
//!   JsonRow            |      JsonBytes      JsonBytes: a text, {"hex": "00ff"} or {"typed": "42"}
//!                   JsonCell
//! ```
//!
//! [`JsonRow::add`] takes the changes of a stored row, and [`JsonRow::changes`] returns the changes that write it.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod json_bytes;
mod json_cell;
mod json_data;
mod json_deletion;
mod json_row;
mod row_error;
mod row_origin;

pub use json_bytes::{BytesForm, JsonBytes, JsonHex, JsonTyped};
pub use json_cell::JsonCell;
pub use json_data::{JsonData, JsonFamily};
pub use json_deletion::{JsonDeletion, JsonRange, JsonSuperDeletion};
pub use json_row::JsonRow;
pub use row_error::RowError;
pub use row_origin::{LoadTime, RowOrigin};
