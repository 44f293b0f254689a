//! Values: converts the terms of a statement and the values bound by a client to the bytes of cells.

mod aggregate;
mod assign;
mod cast;
mod combinations;
mod constant;
mod cql_text;
mod exact_list;
mod function;
mod function_table;
mod held_literals;
mod markers;
mod moment;
mod number;
mod row_keys;
mod term_text;
mod time_uuid;
mod type_scope;
mod typed_term;
mod value;

pub(crate) use aggregate::{Aggregate, AggregateTally};
pub(crate) use combinations::{Combinations, check_combinations};
pub use cql_text::to_cql_text;
pub(crate) use exact_list::exact_list;
pub(crate) use function::{Function, ResolvedFunction, accepts, find_function, token_type};
pub(crate) use markers::{Markers, TableOf};
pub(crate) use row_keys::checked_row_key;
pub(crate) use term_text::{term_text, terms_text};
pub use time_uuid::append_uuid;
pub(crate) use time_uuid::{prepend_uuids, uuid_of_ms};
pub use type_scope::TypeScope;
pub(crate) use typed_term::TypedTerm;
pub use value::Value;
