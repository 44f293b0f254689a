//! The calls of 0.3, which have a table argument and a text that names the column family and columns.
//!
//! Connections of 0.3 look like any other. Its calls are distinguished from later calls with the same names by the
//! types of their arguments. Error messages come from its CassandraServer if it had any; where it failed with an
//! internal error, the client receives a description of the error.

mod columns;
mod keys;
mod path;
mod query;
mod supers;
mod tables;
mod window;
mod writes;

use super::Call;
use super::row::{MethodRow, data, guarded, open};
use base::compat::{Span, only};
use base::util::Release::V0_3;
use base::util::meter::RequestKind::{Range, Read, Write};
use wire::thrift::WireError;

const FIRST: Span = only(V0_3);

/// All rows of 0.3.
pub(super) const ROWS: &[MethodRow] = &[
    data(Read, "get_column", FIRST, |call| Box::pin(columns::get_column(call))),
    data(Read, "get_slice", FIRST, |call| Box::pin(columns::get_slice(call))),
    data(Read, "get_slice_by_names", FIRST, |call| Box::pin(columns::get_slice_by_names(call))),
    data(Read, "get_columns_since", FIRST, |call| Box::pin(columns::get_columns_since(call))),
    data(Read, "get_column_count", FIRST, |call| Box::pin(columns::get_column_count(call))),
    data(Read, "get_superColumn", FIRST, |call| Box::pin(supers::get_super_column(call))),
    data(Read, "get_slice_super", FIRST, |call| Box::pin(supers::get_slice_super(call))),
    data(Read, "get_slice_super_by_names", FIRST, |call| Box::pin(supers::get_slice_super_by_names(call))),
    data(Range, "get_key_range", FIRST, |call| Box::pin(keys::get_key_range(call))),
    data(Write, "insert", FIRST, |call| Box::pin(writes::insert(call))),
    data(Write, "batch_insert", FIRST, |call| Box::pin(writes::batch_insert(call))),
    data(Write, "batch_insert_superColumn", FIRST, |call| Box::pin(writes::batch_insert_super_column(call))),
    data(Write, "remove", FIRST, |call| Box::pin(writes::remove(call))),
    open("getStringProperty", FIRST, |call| Box::pin(tables::get_string_property(call))),
    open("getStringListProperty", FIRST, |call| Box::pin(tables::get_string_list_property(call))),
    open("describeTable", FIRST, |call| Box::pin(tables::describe_table(call))),
    guarded("executeQuery", FIRST, |call| Box::pin(query::execute_query(call))),
];

/// Returns an optional number: no argument of 0.3 is required, and numbers have the defaults of the interface.
fn i32_or(call: &Call<'_>, id: i16, default: i32) -> Result<i32, WireError> {
    call.args.optional(id).map_or(Ok(default), |mut reader| reader.i32())
}

/// Returns a timestamp; 0 if it is absent.
fn timestamp(call: &Call<'_>, id: i16) -> Result<i64, WireError> {
    call.args.optional(id).map_or(Ok(0), |mut reader| reader.i64())
}
