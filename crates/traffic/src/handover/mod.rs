//! The proxy of a move: clients are answered by the old server or by the new one, and the other one gets the writes.
//!
//! ```text
//!   client <----> gate ----> relay <----> the server that answers
//!                              | writes
//!                            queue to the other server     one for each direction
//! ```
//!
//! At a cutover the gate closes: connections end once their writes are answered, and new ones wait. When the queue to the
//! server that will answer is empty, the gate opens, and clients connect again. So the new server has every write that was
//! acknowledged before it answers the first request. The way back is the same with the other queue.

mod gate;
mod port;
mod switch;

pub use gate::{Answering, HandoverGate};
pub use port::{HandoverPort, HandoverSide};
pub use switch::{Handover, HandoverState, SwitchOptions};
