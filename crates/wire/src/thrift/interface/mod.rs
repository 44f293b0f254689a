//! The Thrift interface of each release line, read from the files in `idl/`: methods, arguments, results, exceptions,
//! structs and enums, and the role of each field.
//!
//! For descriptions: logs, recordings, comparisons and reports. Calls are decoded without it.

mod lines;
mod meaning;
mod model;
mod parser;

pub use lines::{declarations, exception_name};
pub use meaning::Meaning;
pub use model::{Enum, Field, Interface, Method, Requirement, Struct, Type};
