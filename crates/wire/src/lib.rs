//! Reads and writes the messages of both protocols. The server, recorders and load tools use this crate, which uses no
//! database.
//!
//! ```text
//!   a connection's bytes                          00 00 00 1c 80 01 00 01 ...
//!     thrift::frame     cuts off one message      80 01 00 01 00 00 00 03 "get" ...
//!     thrift            reads headers and values  MessageHeader { name: "get", .. }, then fields
//!
//!     native::frame     cuts off one frame        04 00 00 07 07 ...
//!     native::segment   unwraps frames of version 5, checks their checksums
//! ```
//!
//! The main types of Thrift are [`thrift::frame::MessageCutter`], [`thrift::Reader`] and [`thrift::Writer`]; an
//! [`Interface`](thrift::interface::Interface) has the methods and structs of one release line. The main types of the
//! native protocol are [`native::FrameCutter`], [`native::BodyReader`], [`native::BodyWriter`] and
//! [`native::SegmentCodec`]. The constants of [`limits`] bound messages, names and nesting.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

pub mod limits;
pub mod native;
pub mod thrift;
