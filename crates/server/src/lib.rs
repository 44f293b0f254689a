//! The server of both protocols: runs the requests of Thrift and native clients on a database.
//!
//! ```text
//!   net         accepts a socket and hands it to a ConnectionHandler, with its share of memory
//!     connection / native_connection     read messages off it, in turn or several at once
//!       thrift::answer / native::answer  find the method or statement, run it, encode the reply
//!         observed_request               reports it to metrics, logs, journal, console and traces
//! ```
//!
//! For example, two clients read the same cell:
//!
//! ```text
//!   Thrift 0.7    get("austen", Books/"title", ONE)                   native    EXECUTE id, ['austen']
//!     Session   0.7, keyspace Blog                                      Identity  keyspace Blog
//!     Method    get of 0.7 and later, its Args                          Prepared  the statement of the id
//!     reply     ColumnOrSuperColumn("title" = "Emma" @10)               Reply     RESULT, Rows [['Emma']]
//! ```
//!
//! A [`thrift::Service`] and a [`native::NativeService`] have what all connections of their port share: the database,
//! prepared statements, and limits. [`thrift::methods::METHODS`] is the table of all methods, with one row for each
//! signature.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod connection;
mod faulty_reply;
pub mod limits;
pub mod native;
mod native_answering;
mod native_connection;
mod observed_request;
pub mod thrift;
mod tracer;
