//! The results of a store's methods.

use std::future::Future;
use std::pin::Pin;

use crate::Result;

/// The future of a store's result.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;
