//! Counts the memory and time of requests while they run.
//!
//! ```text
//!   RequestMemory    the memory of all requests together; one for all ports
//!   RequestMeter     one request: bytes held, the deadline, whether its client is still there
//!   ClientPresence   a connection's client; shared by the meters of its requests
//! ```
//!
//! The protocol layers make a meter for each request and run the request with [`metered`]. In the layers below, code
//! whose memory grows with the data calls [`charge`], and long loops call [`check`] now and then. Both find the meter
//! in a task-local, so no signature has it. Work for a request on another thread takes the meter along ([`current`],
//! [`metered_here`]). Without a meter (tools, the store's own threads) nothing is counted.
//!
//! Small requests cost little: a request takes shared memory only when it holds more than `REQUEST_BYTES_FREE`, and
//! then at least `REQUEST_CHUNK_BYTES`.

mod error;
mod presence;
mod request_memory;
mod request_meter;
mod slot;
mod task;
mod time_limits;

pub use error::MeterError;
pub use presence::ClientPresence;
pub use request_memory::RequestMemory;
pub use request_meter::RequestMeter;
pub use slot::MeterSlot;
pub use task::{
    Deadline, MemoryMark, begin, charge, check, current, lacks_memory, mark, metered, metered_here,
    pass_tombstones, release, retried, wait_for_memory, within, yield_if_due,
};
pub use time_limits::{RequestKind, RequestLimits, TimeLimits};
