//! The opcodes of frames.

use strum::IntoStaticStr;

use base::util::metrics::RequestSlot;

/// The slot in the metrics of frames that cannot be read, or that are not allowed in the state of the connection. The
/// slots before it belong to the opcodes.
pub const UNREADABLE: RequestSlot =
    RequestSlot { number: 15, protocol: "native", method: "unknown", generation: "" };

/// The opcodes of [`RequestCode`].
pub mod request_opcode {
    /// [`RequestCode::Startup`](super::RequestCode::Startup).
    pub const STARTUP: u8 = 0x01;
    /// [`RequestCode::Credentials`](super::RequestCode::Credentials).
    pub const CREDENTIALS: u8 = 0x04;
    /// [`RequestCode::Options`](super::RequestCode::Options).
    pub const OPTIONS: u8 = 0x05;
    /// [`RequestCode::Query`](super::RequestCode::Query).
    pub const QUERY: u8 = 0x07;
    /// [`RequestCode::Prepare`](super::RequestCode::Prepare).
    pub const PREPARE: u8 = 0x09;
    /// [`RequestCode::Execute`](super::RequestCode::Execute).
    pub const EXECUTE: u8 = 0x0a;
    /// [`RequestCode::Register`](super::RequestCode::Register).
    pub const REGISTER: u8 = 0x0b;
    /// [`RequestCode::Batch`](super::RequestCode::Batch).
    pub const BATCH: u8 = 0x0d;
    /// [`RequestCode::AuthResponse`](super::RequestCode::AuthResponse).
    pub const AUTH_RESPONSE: u8 = 0x0f;
}

/// The kinds of frames that a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum RequestCode {
    /// The first request: the client's options, such as the CQL version and the compression.
    Startup,
    /// Version 1 only.
    Credentials,
    /// Requests SUPPORTED. It may precede STARTUP, and drivers also send it as a heartbeat.
    Options,
    /// A statement as text, with its values and options.
    Query,
    /// A statement to parse and store. The reply has its id.
    Prepare,
    /// The id of a prepared statement, with its values and options.
    Execute,
    /// Subscribes the connection to events of the given types.
    Register,
    /// Several statements, each as text or as the id of a prepared one.
    Batch,
    /// A step of the SASL login, from version 2 on.
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
        self.into()
    }

    /// Returns the slot of the request in the metrics.
    pub fn slot(self) -> RequestSlot {
        RequestSlot { number: self as usize, protocol: "native", method: self.name(), generation: "" }
    }

    /// Returns the request with an opcode; `None` for an unknown opcode, or one of a server.
    pub fn of_number(number: u8) -> Option<RequestCode> {
        Some(match number {
            request_opcode::STARTUP => RequestCode::Startup,
            request_opcode::CREDENTIALS => RequestCode::Credentials,
            request_opcode::OPTIONS => RequestCode::Options,
            request_opcode::QUERY => RequestCode::Query,
            request_opcode::PREPARE => RequestCode::Prepare,
            request_opcode::EXECUTE => RequestCode::Execute,
            request_opcode::REGISTER => RequestCode::Register,
            request_opcode::BATCH => RequestCode::Batch,
            request_opcode::AUTH_RESPONSE => RequestCode::AuthResponse,
            _ => return None,
        })
    }
}

/// The kinds of frames that a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseCode {
    /// An error code and its message.
    Error = 0x00,
    /// The connection has started, without a login.
    Ready = 0x02,
    /// A login is required. The body names the authenticator's class.
    Authenticate = 0x03,
    /// The options that the server supports, in reply to OPTIONS.
    Supported = 0x06,
    /// The result of a statement: void, rows, a keyspace, a prepared statement or a schema change.
    Result = 0x08,
    /// A change of the schema, the topology or a node's status, on stream -1.
    Event = 0x0c,
    /// The SASL login has succeeded.
    AuthSuccess = 0x10,
}
