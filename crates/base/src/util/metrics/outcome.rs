//! The outcome of a request.

/// The outcome of a request, as metrics distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

// Outcomes are counted by their numbers and shown in the order of `ALL`.
const _: () = {
    let mut at = 0;
    while at < RequestOutcome::ALL.len() {
        assert!(RequestOutcome::ALL[at] as usize == at);
        at += 1;
    }
};

impl RequestOutcome {
    /// All outcomes, in the order of their numbers.
    pub const ALL: [RequestOutcome; 9] = [
        RequestOutcome::Ok,
        RequestOutcome::NotFound,
        RequestOutcome::Invalid,
        RequestOutcome::Protocol,
        RequestOutcome::Unauthorized,
        RequestOutcome::Unavailable,
        RequestOutcome::TimedOut,
        RequestOutcome::Overloaded,
        RequestOutcome::Internal,
    ];

    /// Returns the value of the label `outcome`.
    pub fn label(self) -> &'static str {
        match self {
            RequestOutcome::Ok => "ok",
            RequestOutcome::NotFound => "not_found",
            RequestOutcome::Invalid => "invalid",
            RequestOutcome::Protocol => "protocol",
            RequestOutcome::Unauthorized => "unauthorized",
            RequestOutcome::Unavailable => "unavailable",
            RequestOutcome::TimedOut => "timed_out",
            RequestOutcome::Overloaded => "overloaded",
            RequestOutcome::Internal => "internal",
        }
    }
}
