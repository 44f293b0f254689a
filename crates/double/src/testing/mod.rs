//! A server for tests of applications, in the process of the test.
//!
//! ```
//! use std::time::Duration;
//!
//! use double::testing::Server;
//!
//! let server = Server::start()?;
//! // Connect clients of the application to these addresses.
//! let (thrift, native) = (server.thrift_address(), server.native_address());
//! assert_ne!(thrift.port(), native.port());
//!
//! server.cql(
//!     "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
//!      CREATE TABLE shop.notes (id int PRIMARY KEY, note text)",
//! )?;
//! let with_table = server.snapshot()?;
//! server.cql("INSERT INTO shop.notes (id, note) VALUES (1, 'short') USING TTL 60")?;
//! server.clock().advance(Duration::from_secs(61));
//! server.cql("DROP TABLE shop.notes")?;
//! server.restore(&with_table)?;
//!
//! // Between two tests:
//! server.reset()?;
//! # Ok::<(), double::testing::TestingError>(())
//! ```
//!
//! `docs/testing.md` compares it with a server in a process of its own.

mod builder;
mod clock;
mod server;

pub use builder::ServerBuilder;
pub use clock::TestClock;
pub use server::{Server, Snapshot, TestingError};
