//! The Thrift protocol: decodes the bytes of a message into a request, runs it, and encodes the reply.
//!
//! The crate `wire` cuts messages off a connection, and reads and writes values. `methods` is the table of methods, with
//! one row for each shape of each method. `dialect` finds the row of a call, and `answer` runs it and writes the reply.

mod answer;
mod args;
mod argument_values;
mod before_login;
mod cql_results;
mod dialect;
mod failure;
mod method_call;
pub mod methods;
mod own_statements;
mod refusal;
mod request_slots;
mod result_size;
mod results;
mod schema_types;
mod service;
mod types;

pub use answer::answer;
pub use dialect::{Compat, Session};
pub(crate) use refusal::{refuse_long, refuse_overloaded};
pub(crate) use request_slots::UNKNOWN;
pub use request_slots::request_slots;
pub use service::Service;
