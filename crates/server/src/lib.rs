//! The server of both protocols: runs the requests of Thrift and native clients on a database.
//!
//! ```text
//!   net         accepts a socket and hands it to a ConnectionHandler, with its share of memory
//!     connection / native_connection     read messages off it, in turn or several at once
//!       thrift::answer / native::answer  find the method or statement, run it, encode the reply
//!         observed_request               reports it to metrics, logs, journal, console and traces
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]

mod connection;
mod faulty_reply;
pub mod limits;
pub mod native;
mod native_answering;
mod native_connection;
mod observed_request;
pub mod thrift;
mod tracer;
