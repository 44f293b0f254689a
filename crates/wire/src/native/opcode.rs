//! The opcodes of frames.

use base::util::metrics::RequestSlot;

/// The slot in the metrics of frames that cannot be read, or that are not allowed in the state of the connection. The
/// slots before it belong to the opcodes.
pub const UNREADABLE: RequestSlot =
    RequestSlot { number: 15, protocol: "native", method: "unknown", generation: "" };

/// The kinds of frames that a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestCode {
    Startup,
    /// Version 1 only.
    Credentials,
    Options,
    Query,
    Prepare,
    Execute,
    Register,
    Batch,
    AuthResponse,
}

impl RequestCode {
    /// The requests with a statement. Only these are counted: the others belong to the start of a connection.
    pub const WITH_STATEMENT: [RequestCode; 4] =
        [RequestCode::Query, RequestCode::Prepare, RequestCode::Execute, RequestCode::Batch];

    /// Returns whether the request has a statement. Requests with statements run concurrently.
    pub fn has_statement(self) -> bool {
        matches!(self, RequestCode::Query | RequestCode::Prepare | RequestCode::Execute | RequestCode::Batch)
    }

    /// Returns the name in Cassandra's error messages.
    pub fn name(self) -> &'static str {
        match self {
            RequestCode::Startup => "STARTUP",
            RequestCode::Credentials => "CREDENTIALS",
            RequestCode::Options => "OPTIONS",
            RequestCode::Query => "QUERY",
            RequestCode::Prepare => "PREPARE",
            RequestCode::Execute => "EXECUTE",
            RequestCode::Register => "REGISTER",
            RequestCode::Batch => "BATCH",
            RequestCode::AuthResponse => "AUTH_RESPONSE",
        }
    }

    /// Returns the slot of the request in the metrics.
    pub fn slot(self) -> RequestSlot {
        RequestSlot { number: self as usize, protocol: "native", method: self.name(), generation: "" }
    }

    pub fn of_number(number: u8) -> Option<RequestCode> {
        Some(match number {
            0x01 => RequestCode::Startup,
            0x04 => RequestCode::Credentials,
            0x05 => RequestCode::Options,
            0x07 => RequestCode::Query,
            0x09 => RequestCode::Prepare,
            0x0a => RequestCode::Execute,
            0x0b => RequestCode::Register,
            0x0d => RequestCode::Batch,
            0x0f => RequestCode::AuthResponse,
            _ => return None,
        })
    }
}

/// The kinds of frames that a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseCode {
    Error = 0x00,
    Ready = 0x02,
    Authenticate = 0x03,
    Supported = 0x06,
    Result = 0x08,
    Event = 0x0c,
    AuthSuccess = 0x10,
}
