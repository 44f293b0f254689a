//! Prints lines for the user: results on standard output, and what is said of the work on standard error.
//!
//! `println!` panics if nobody reads any more, as behind `| head`, or if the disk is full. Here a reader that has gone
//! gets no more lines and the work goes on; any other failure is an error at the end ([`failure`]).

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

/// The first failure to write to standard output.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints to standard output, as the macros do.
pub fn to_stdout(text: fmt::Arguments<'_>) {
    check(io::stdout().lock().write_fmt(text));
}

/// Takes the outcome of writing to standard output in another way.
pub fn check(written: io::Result<()>) {
    if let Err(error) = written {
        // Later failures say the same.
        let _ = FAILURE.set(error);
    }
}

/// Prints to standard error, as the macros do. There is nowhere to report a failure.
pub fn to_stderr(text: fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// Writes what is still buffered, and returns why something that was printed is lost; `None` if nothing is, or if the
/// reader has gone.
pub fn failure() -> Option<String> {
    check(io::stdout().lock().flush());
    let error = FAILURE.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)?;
    Some(format!("cannot write to standard output: {error}"))
}

/// Prints a text to standard output.
#[macro_export]
macro_rules! print_text {
    ($($text:tt)*) => { $crate::util::output::to_stdout(format_args!($($text)*)) };
}

/// Prints a line to standard output.
#[macro_export]
macro_rules! print_line {
    ($($text:tt)*) => { $crate::util::output::to_stdout(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints a text to standard error.
#[macro_export]
macro_rules! report_text {
    ($($text:tt)*) => { $crate::util::output::to_stderr(format_args!($($text)*)) };
}

/// Prints a line to standard error.
#[macro_export]
macro_rules! report_line {
    ($($text:tt)*) => { $crate::util::output::to_stderr(format_args!("{}\n", format_args!($($text)*))) };
}

pub use {print_line, print_text, report_line, report_text};
