//! The Thrift interface of each release line, read from the files in `idl/`: methods, arguments, results, exceptions,
//! structs and enums, and the role of each field.
//!
//! The server's table of methods takes arguments and exceptions from here. Otherwise it is for descriptions: logs,
//! recordings, comparisons and reports. Structs are decoded without it.

mod lines;
mod meaning;
mod model;
mod parser;

pub use lines::{declarations, exception_name};
pub use meaning::Meaning;
pub use model::{Enum, Field, Interface, Method, Requirement, Struct, Type};
