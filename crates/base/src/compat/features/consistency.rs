//! The consistency levels of all releases, under one name each.

use std::collections::BTreeSet;
use std::fmt;

use crate::compat::span::{Span, before, only, since};
use crate::util::Release;
use crate::util::Release::{V0_4, V0_5, V0_6, V0_7, V1_2, V2_0};

/// The number of replicas that must respond. On a single node it mainly decides which requests are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsistencyLevel {
    /// A write that does not wait for any replica (to 0.6).
    Zero,
    /// A write that any node has recorded, even as a hint (0.6 and later).
    Any,
    /// One replica.
    One,
    /// More than half of the replicas.
    Quorum,
    /// A quorum of the caller's data centre (0.5, 0.6).
    DcQuorum,
    /// A quorum of every data centre (0.5, 0.6).
    DcQuorumSync,
    /// All replicas.
    All,
    /// A quorum of the caller's data centre (0.7 and later).
    LocalQuorum,
    /// A quorum of every data centre (0.7 and later).
    EachQuorum,
    /// Two replicas (0.7 and later).
    Two,
    /// Three replicas (0.7 and later).
    Three,
    /// A quorum that agrees on the order of conditional updates (2.0 and later).
    Serial,
    /// Such a quorum within the caller's data centre (2.0 and later).
    LocalSerial,
    /// One replica of the caller's data centre (1.2.11 and later).
    LocalOne,
}

impl ConsistencyLevel {
    /// Returns how many replicas must respond if data has `replication_factor` replicas.
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
    /// Returns the names of all levels, each once.
    pub fn names() -> BTreeSet<String> {
        NUMBERS.iter().map(|(_, level, _)| level.to_string()).collect()
    }

    /// Returns whether this is a serial level.
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

/// The numbers of levels in Thrift, with the releases in which they have that meaning (`cassandra.thrift` of each).
const NUMBERS: [(i32, ConsistencyLevel, Span); 15] = [
    (0, ConsistencyLevel::Zero, before(V0_7)),
    (1, ConsistencyLevel::One, Span::ALWAYS),
    (2, ConsistencyLevel::Quorum, Span::ALWAYS),
    (3, ConsistencyLevel::All, only(V0_4)),
    (3, ConsistencyLevel::DcQuorum, Span::between(V0_5, V0_6)),
    (3, ConsistencyLevel::LocalQuorum, since(V0_7)),
    (4, ConsistencyLevel::DcQuorumSync, Span::between(V0_5, V0_6)),
    (4, ConsistencyLevel::EachQuorum, since(V0_7)),
    (5, ConsistencyLevel::All, since(V0_5)),
    (6, ConsistencyLevel::Any, since(V0_6)),
    (7, ConsistencyLevel::Two, since(V0_7)),
    (8, ConsistencyLevel::Three, since(V0_7)),
    (9, ConsistencyLevel::Serial, since(V2_0)),
    (10, ConsistencyLevel::LocalSerial, since(V2_0)),
    (11, ConsistencyLevel::LocalOne, since(V1_2)),
];

/// Returns the level that a number denotes in a release.
pub fn consistency_of(number: i32, release: Release) -> Option<ConsistencyLevel> {
    let is_meant =
        |(known, _, releases): &&(i32, ConsistencyLevel, Span)| *known == number && releases.has(release);
    NUMBERS.iter().find(is_meant).map(|(_, level, _)| *level)
}
