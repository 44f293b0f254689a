//! The Thrift side of the server: messages are cut off the connection by `frame` and read and written by `wire`.

pub mod frame;
pub mod wire;
