//! The results of schema changes, logins and other long operations.

use futures_util::future::BoxFuture;

use crate::Result;

/// The future of a long operation. It is boxed, so that its code is compiled in this crate, and not again in each crate that
/// awaits it.
pub type DbFuture<'a, T> = BoxFuture<'a, Result<T>>;
