//! What every layer needs and what knows nothing of Cassandra: clock, limits, releases.

pub mod clock;
pub mod limits;
pub mod release;

pub use clock::Clock;
pub use release::Release;
