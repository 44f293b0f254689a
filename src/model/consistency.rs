//! Consistency levels, of every release under one name each.

use std::fmt;

/// How many replicas must answer. On one node it decides little but what is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsistencyLevel {
    /// Writes that nobody waits for (to 0.6).
    Zero,
    /// A write that any node has noted (0.6 and later).
    Any,
    One,
    Quorum,
    /// A quorum of the caller's data centre (0.5, 0.6).
    DcQuorum,
    /// A quorum of every data centre (0.5, 0.6).
    DcQuorumSync,
    All,
    /// A quorum of the caller's data centre (0.7 and later).
    LocalQuorum,
    /// A quorum of every data centre (0.7 and later).
    EachQuorum,
    Two,
    Three,
    /// Reads and conditional updates in one order for all (2.0 and later).
    Serial,
    LocalSerial,
    /// One replica of the caller's data centre (1.2.11 and later).
    LocalOne,
}

impl ConsistencyLevel {
    /// Replicas that must take part when data is kept `replication_factor` times.
    pub fn required(self, replication_factor: i32) -> i32 {
        match self {
            ConsistencyLevel::Zero
            | ConsistencyLevel::Any
            | ConsistencyLevel::One
            | ConsistencyLevel::LocalOne => 1,
            ConsistencyLevel::Two => 2,
            ConsistencyLevel::Three => 3,
            ConsistencyLevel::Quorum
            | ConsistencyLevel::DcQuorum
            | ConsistencyLevel::DcQuorumSync
            | ConsistencyLevel::LocalQuorum
            | ConsistencyLevel::EachQuorum
            | ConsistencyLevel::Serial
            | ConsistencyLevel::LocalSerial => replication_factor / 2 + 1,
            ConsistencyLevel::All => replication_factor,
        }
    }
}

impl ConsistencyLevel {
    /// Whether it asks for the order of conditional updates.
    pub fn is_serial(self) -> bool {
        matches!(self, ConsistencyLevel::Serial | ConsistencyLevel::LocalSerial)
    }
}

impl fmt::Display for ConsistencyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConsistencyLevel::Zero => "ZERO",
            ConsistencyLevel::Any => "ANY",
            ConsistencyLevel::One => "ONE",
            ConsistencyLevel::Quorum => "QUORUM",
            ConsistencyLevel::DcQuorum => "DCQUORUM",
            ConsistencyLevel::DcQuorumSync => "DCQUORUMSYNC",
            ConsistencyLevel::All => "ALL",
            ConsistencyLevel::LocalQuorum => "LOCAL_QUORUM",
            ConsistencyLevel::EachQuorum => "EACH_QUORUM",
            ConsistencyLevel::Two => "TWO",
            ConsistencyLevel::Three => "THREE",
            ConsistencyLevel::Serial => "SERIAL",
            ConsistencyLevel::LocalSerial => "LOCAL_SERIAL",
            ConsistencyLevel::LocalOne => "LOCAL_ONE",
        })
    }
}
