//! The outcome of a request.

use strum::{IntoStaticStr, VariantArray};

/// The outcome of a request, as metrics distinguish it. Outcomes are counted by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RequestOutcome {
    /// The request has succeeded.
    Ok,
    /// `get` found nothing.
    NotFound,
    /// The request fails however often it is repeated.
    Invalid,
    /// The bytes of the request could not be read, or its method is unknown.
    Protocol,
    /// The login failed, or the user lacks a right.
    Unauthorized,
    /// Too few nodes of the cluster are alive for the consistency level, or they have different schemas.
    Unavailable,
    /// A time limit has ended the request, or nodes of the cluster have not answered in time.
    TimedOut,
    /// The server had no room for the request; the same request may succeed later.
    Overloaded,
    /// A failure of this server or of its disk.
    Internal,
}

impl RequestOutcome {
    /// All outcomes, in the order of their numbers.
    pub const ALL: &[RequestOutcome] = RequestOutcome::VARIANTS;

    /// Returns the value of the label `outcome`.
    pub fn label(self) -> &'static str {
        self.into()
    }
}
