//! What a request holds and how long it runs, counted while it runs.
//!
//! ```text
//!   RequestMemory    the memory of all requests together; one for all ports
//!   RequestMeter     one request: bytes held, the deadline, whether its client is still there
//!   ClientPresence   a connection's client; shared by the meters of its requests
//! ```
//!
//! The edge of a protocol makes a meter for each request and runs the request with [`metered`]. Below, whatever grows with
//! the data calls [`charge`], and whatever takes long calls [`check`] now and then: both find the meter by a task-local, so
//! no signature carries it. Work that is given to another thread takes the meter along ([`current`], [`metered_here`]).
//! Without a meter (tools, the store's own threads) nothing is counted.
//!
//! Small requests pay little: a request writes to the shared memory only when it holds more than
//! `REQUEST_BYTES_FREE`, and then takes `REQUEST_CHUNK_BYTES` at least.

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
    Deadline, MemoryMark, begin, breathe, charge, check, current, lacks_memory, mark, metered, metered_here,
    release, wait_for_memory, within,
};
pub use time_limits::{RequestKind, RequestLimits, TimeLimits};
