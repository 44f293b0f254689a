//! The versions that the server reports to its sessions.

use std::net::SocketAddr;

use base::compat::features::ReportedVersion;
use wire::native::ProtocolVersion;

/// The reported version of the server, and the versions for sessions with a protocol version that the reported release
/// does not have.
#[derive(Debug)]
pub(super) struct ReportedVersions {
    server: ReportedVersion,
    v1: ReportedVersion,
    v2: ReportedVersion,
}

impl ReportedVersions {
    pub(super) fn new(reported: ReportedVersion) -> ReportedVersions {
        let server = reported.speaking(ProtocolVersion::HIGHEST.number());
        let [v1, v2] =
            [ProtocolVersion::V1, ProtocolVersion::V2].map(|version| server.for_protocol(version.number()));
        ReportedVersions { v1, v2, server }
    }

    /// Returns the same versions for a client that connected to this address.
    pub(super) fn reached_at(&self, address: SocketAddr) -> ReportedVersions {
        ReportedVersions::new(self.server.clone().reached_at(address))
    }

    /// Returns the reported version of the server.
    pub(super) fn server(&self) -> &ReportedVersion {
        &self.server
    }

    /// Returns the reported version of a session.
    pub(super) fn of(&self, version: ProtocolVersion) -> &ReportedVersion {
        match version {
            ProtocolVersion::V1 => &self.v1,
            ProtocolVersion::V2 => &self.v2,
            _ => &self.server,
        }
    }
}
