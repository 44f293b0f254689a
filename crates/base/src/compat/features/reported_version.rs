//! The version that the server reports. Drivers choose by it which system tables they query.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use super::releases::NEWEST;
use crate::compat::{Behaviour, Line};
use crate::util::Release;

/// The default port of the native protocol.
const NATIVE_PORT: u16 = 9042;

/// The CQL versions that the supported releases of cqlsh require.
const CQL_VERSIONS: [&str; 4] = ["3.4.5", "3.4.4", "3.3.1", "3.2.1"];

/// The version of Cassandra that the server reports. The rules of requests do not depend on it but on `Behaviour`. From
/// 2.2 on messages depend on it, and what WHERE may restrict (`base/compat/features/restrictions.rs`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedVersion {
    /// `4.0.11` or `4.0.11-SNAPSHOT`.
    release_version: Cow<'static, str>,
    line: Line,
    /// The newest supported version of the native protocol.
    native_protocol: u8,
    /// The address for clients of the native protocol; `None` means the node's own address.
    rpc_address: Option<IpAddr>,
    rpc_port: u16,
    has_own_tables_only: bool,
}

static V1_2: ReportedVersion = ReportedVersion::last_of("1.2.19", Line(1, 2), 1);
static V2_0: ReportedVersion = ReportedVersion::last_of("2.0.17", Line(2, 0), 2);
static V2_1: ReportedVersion = ReportedVersion::last_of("2.1.22", Line(2, 1), 3);
static V2_2: ReportedVersion = ReportedVersion::last_of("2.2.19", Line(2, 2), 4);
static V3_0: ReportedVersion = ReportedVersion::last_of("3.0.29", Line(3, 0), 4);
static V3_11: ReportedVersion = ReportedVersion::last_of("3.11.19", Line(3, 11), 4);

impl Default for ReportedVersion {
    /// Returns 4.0, the first release for which cqlsh sends DESCRIBE to the server.
    fn default() -> ReportedVersion {
        let newest = ReportedVersion::last_of("4.0.11", Line(4, 0), 5);
        ReportedVersion { has_own_tables_only: false, ..newest }
    }
}

impl ReportedVersion {
    /// The first line whose messages and rules native sessions see if it is reported.
    const OWN_WORDS_SINCE: Line = Line(2, 2);

    /// The first line without versions 1 and 2 of the native protocol.
    const NO_OLD_PROTOCOLS_SINCE: Line = Line(3, 0);

    const fn last_of(release_version: &'static str, line: Line, native_protocol: u8) -> ReportedVersion {
        let release_version = Cow::Borrowed(release_version);
        ReportedVersion {
            release_version,
            line,
            native_protocol,
            rpc_address: None,
            rpc_port: NATIVE_PORT,
            has_own_tables_only: !line.is_before(ReportedVersion::OWN_WORDS_SINCE),
        }
    }

    /// Returns the version reported over Thrift: the last release of the session's line.
    pub fn of_release(behaviour: &Behaviour) -> &'static ReportedVersion {
        match behaviour.release {
            release if release < Release::V2_0 => &V1_2,
            Release::V2_0 => &V2_0,
            Release::V2_1 => &V2_1,
            Release::V2_2 => &V2_2,
            Release::V3_0 => &V3_0,
            _ => &V3_11,
        }
    }

    /// Parses a reported version. The error lists the allowed versions.
    pub fn new(release_version: &str) -> Result<ReportedVersion, String> {
        let mistake = |why: &str| {
            format!(
                "cannot report release {release_version:?}: {why}; use major.minor.patch, with an optional -suffix, from \
                 1.2.0 to 4.1.x, such as 2.2.19, 3.11.17 or 4.0.11"
            )
        };
        let (number, suffix) = release_version.split_once('-').unwrap_or((release_version, "x"));
        let is_other = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_' | '+');
        if suffix.is_empty() || suffix.contains(is_other) {
            return Err(mistake("a suffix consists of letters, digits and . - _ +"));
        }
        let are_numbers =
            number.split('.').all(|part| part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()));
        let parts: Option<Vec<u16>> = number.split('.').map(|part| part.parse().ok()).collect();
        let Some([major, minor, _]) = parts.as_deref().filter(|_| are_numbers) else {
            return Err(mistake("it is not of the form major.minor.patch"));
        };
        let line = Line(*major, *minor);
        if !(Line(1, 2)..=Line(4, 1)).contains(&line) {
            return Err(mistake("drivers would query system tables that this server does not have"));
        }
        let native_protocol = match line {
            line if line < Line(2, 0) => 1,
            line if line < Line(2, 1) => 2,
            line if line < Line(2, 2) => 3,
            line if line < Line(4, 0) => 4,
            _ => 5,
        };
        let release_version = Cow::Owned(release_version.to_owned());
        Ok(ReportedVersion {
            release_version,
            line,
            native_protocol,
            rpc_address: None,
            rpc_port: NATIVE_PORT,
            has_own_tables_only: false,
        })
    }

    /// Returns the version that is reported to a session with a version of the native protocol. Releases from 3.0 on do
    /// not have versions 1 and 2, and drivers of that age cannot decode the frozen collections in their schema tables.
    /// Such a session gets the last release whose newest version it is.
    #[must_use]
    pub fn for_protocol(&self, version: u8) -> ReportedVersion {
        let last = match version {
            1 if self.line >= ReportedVersion::NO_OLD_PROTOCOLS_SINCE => &V1_2,
            2 if self.line >= ReportedVersion::NO_OLD_PROTOCOLS_SINCE => &V2_0,
            _ => return self.clone(),
        };
        ReportedVersion { rpc_address: self.rpc_address, rpc_port: self.rpc_port, ..last.clone() }
    }

    /// Limits the version of the native protocol.
    #[must_use]
    pub fn speaking(self, newest: u8) -> ReportedVersion {
        ReportedVersion { native_protocol: self.native_protocol.min(newest), ..self }
    }

    /// Sets the address at which clients of the native protocol connect. An unspecified address is omitted, because
    /// it is of no use to clients.
    #[must_use]
    pub fn reached_at(self, address: SocketAddr) -> ReportedVersion {
        let rpc_address = Some(address.ip()).filter(|ip| !ip.is_unspecified());
        ReportedVersion { rpc_address, rpc_port: address.port(), ..self }
    }

    /// Returns the whole version, such as `4.0.11`.
    pub fn release_version(&self) -> &str {
        &self.release_version
    }

    /// Returns the newest supported version of the native protocol.
    pub fn native_protocol_version(&self) -> u8 {
        self.native_protocol
    }

    /// Returns the address for clients of the native protocol; `None` means the node's own address.
    pub fn rpc_address(&self) -> Option<IpAddr> {
        self.rpc_address
    }

    /// Returns the port for clients of the native protocol.
    pub fn rpc_port(&self) -> u16 {
        self.rpc_port
    }

    /// Returns the line of the reported release.
    pub fn line(&self) -> Line {
        self.line
    }

    /// Returns the line whose messages are used: the reported one from 2.2 on, otherwise the line of the release
    /// whose behaviour applies.
    pub fn line_of_words(&self, behaviour: &Behaviour) -> Line {
        if self.line >= ReportedVersion::OWN_WORDS_SINCE { self.line } else { behaviour.line() }
    }

    /// Returns whether the messages have the words of 2.1. Many messages changed with 2.2.
    pub fn has_words_of_2_1(&self, behaviour: &Behaviour) -> bool {
        self.line_of_words(behaviour) == Line(2, 1)
    }

    /// Returns whether tables have the properties of 3.0, which have other names than in 2.1.
    pub fn has_properties_of_3_0(&self) -> bool {
        self.line >= Line(3, 0)
    }

    /// Returns the rules of native sessions: those of the reported release from 2.2 to 3.11, otherwise [`NEWEST`].
    pub fn behaviour(&self) -> &'static Behaviour {
        let has_own = (ReportedVersion::OWN_WORDS_SINCE..Line(4, 0)).contains(&self.line);
        Behaviour::of(if has_own { self.release() } else { NEWEST })
    }

    /// Returns whether the tables of other releases' schemas are there too, besides those that the release has. Over
    /// Thrift, from 2.2 on only its own are.
    pub fn has_tables_of_others(&self) -> bool {
        !self.has_own_tables_only
    }

    /// Returns the release whose default settings the tables `system.schema_*` show: at most 2.2, the last with these tables.
    pub fn release_of_settings(&self) -> Release {
        self.release().min(Release::V2_2)
    }

    /// Returns the release of the reported line, or the last one before it.
    fn release(&self) -> Release {
        match self.line {
            line if line < Line(2, 0) => Release::V1_2,
            line if line < Line(2, 1) => Release::V2_0,
            line if line < Line(2, 2) => Release::V2_1,
            line if line < Line(3, 0) => Release::V2_2,
            line if line < Line(3, 11) => Release::V3_0,
            _ => Release::V3_11,
        }
    }

    /// Returns whether the schema lists the columns of the primary key and the value of compact tables (2.0).
    pub fn lists_key_columns(&self) -> bool {
        self.line >= Line(2, 0)
    }

    /// Returns whether the schema has names for the row key, the names of cells and the values of a column family that
    /// has none (2.0).
    pub fn has_default_names(&self) -> bool {
        self.line >= Line(2, 0)
    }

    /// Returns whether the schema has the caching of a table as JSON (2.1).
    pub fn shows_caching_as_json(&self) -> bool {
        self.line >= Line(2, 1)
    }

    /// Returns whether tables have one index interval instead of a smallest and a largest one (2.0).
    pub fn has_index_interval(&self) -> bool {
        self.line == Line(2, 0)
    }

    /// Returns whether columns without an index have the text `null` as its options (2.1).
    pub fn shows_absent_index_options(&self) -> bool {
        self.line >= Line(2, 1)
    }

    /// Returns whether the options of an index on a table of CQL have the number of clustering columns (before 2.0).
    pub fn shows_index_prefix_size(&self) -> bool {
        self.line < Line(2, 0)
    }

    /// Returns whether the listed names of complete indexes begin with the table (before 3.0).
    pub fn names_tables_of_indexes(&self) -> bool {
        self.line < Line(3, 0)
    }

    /// Returns whether system_virtual_schema exists (4.0).
    pub fn has_virtual_tables(&self) -> bool {
        self.line >= Line(4, 0)
    }

    /// Returns the CQL version of the reported release.
    pub fn cql_version(&self) -> &'static str {
        match self.line {
            line if line >= Line(4, 0) => "3.4.5",
            line if line >= Line(3, 11) => "3.4.4",
            line if line >= Line(3, 0) => "3.4.0",
            line if line >= Line(2, 2) => "3.3.1",
            line if line >= Line(2, 1) => "3.2.1",
            line if line >= Line(2, 0) => "3.1.7",
            _ => "3.0.5",
        }
    }

    /// Returns the CQL versions in the protocol's SUPPORTED message, the server's own first. A cqlsh refuses a server
    /// that does not list exactly the version that it knows.
    pub fn supported_cql_versions(&self) -> Vec<&'static str> {
        let own = self.cql_version();
        let others = CQL_VERSIONS.into_iter().filter(|version| *version != own);
        std::iter::once(own).chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cql_and_protocol_versions_follow_from_the_reported_release() {
        for (release, cql, protocol) in [
            ("1.2.19", "3.0.5", 1),
            ("2.0.17", "3.1.7", 2),
            ("2.1.22", "3.2.1", 3),
            ("2.2.19", "3.3.1", 4),
            ("3.0.29", "3.4.0", 4),
            ("3.11.17", "3.4.4", 4),
            ("4.0.11", "3.4.5", 5),
            ("4.0.0-beta4", "3.4.5", 5),
        ] {
            let reported = ReportedVersion::new(release).unwrap();
            assert_eq!(reported.release_version(), release);
            assert_eq!(
                (reported.cql_version(), reported.native_protocol_version()),
                (cql, protocol),
                "{release}"
            );
            assert_eq!(reported.supported_cql_versions()[0], cql);
        }
        assert_eq!(ReportedVersion::new("4.0.11").unwrap(), ReportedVersion::default());
        assert_eq!(ReportedVersion::default().speaking(4).native_protocol_version(), 4);
        assert_eq!(ReportedVersion::default().supported_cql_versions(), ["3.4.5", "3.4.4", "3.3.1", "3.2.1"]);
    }

    #[test]
    fn the_error_for_another_release_lists_the_allowed_ones() {
        for release in
            ["", "4.0", "4.0.x", "4.0.1.2", "4.0.1-", "4.0.1-a b", "+4.0.1", "1.1.9", "5.0.2", "99999.0.0"]
        {
            let why = ReportedVersion::new(release).unwrap_err();
            assert!(why.contains("such as 2.2.19"), "{why}");
        }
    }

    #[test]
    fn thrift_clients_see_the_last_version_of_the_sessions_release() {
        let reported =
            |release| ReportedVersion::of_release(Behaviour::of(release)).release_version().to_owned();
        assert_eq!(
            [Release::V0_7, Release::V1_2, Release::V2_0, Release::V2_1].map(reported),
            ["1.2.19", "1.2.19", "2.0.17", "2.1.22"]
        );
        assert_eq!(
            [Release::V2_2, Release::V3_0, Release::V3_11].map(reported),
            ["2.2.19", "3.0.29", "3.11.19"]
        );
    }

    #[test]
    fn schema_tables_have_the_defaults_of_the_last_release_with_them() {
        let of = |version: &str| ReportedVersion::new(version).unwrap().release_of_settings();
        assert_eq!(
            ["1.2.19", "2.1.22", "2.2.19", "3.11.17", "4.0.11"].map(of),
            [Release::V1_2, Release::V2_1, Release::V2_2, Release::V2_2, Release::V2_2]
        );
    }

    #[test]
    fn native_sessions_have_the_rules_of_a_reported_release_from_2_2_to_3_11() {
        let rules = |version: &str| ReportedVersion::new(version).unwrap().behaviour().release;
        assert_eq!(
            ["1.2.19", "2.1.22", "2.2.1", "3.0.5", "3.9.0", "3.11.17", "4.0.11"].map(rules),
            [NEWEST, NEWEST, Release::V2_2, Release::V3_0, Release::V3_0, Release::V3_11, NEWEST]
        );
    }

    #[test]
    fn sessions_of_old_protocols_get_a_release_that_has_them() {
        let reported = |release: &str, version: u8| {
            let reported =
                ReportedVersion::new(release).unwrap().reached_at("10.0.0.7:9142".parse().unwrap());
            let reported = reported.for_protocol(version);
            assert_eq!((reported.rpc_address(), reported.rpc_port()), (Some([10, 0, 0, 7].into()), 9142));
            reported.release_version().to_owned()
        };
        assert_eq!(
            [1, 2, 3, 4, 5].map(|version| reported("4.0.11", version)),
            ["1.2.19", "2.0.17", "4.0.11", "4.0.11", "4.0.11"]
        );
        assert_eq!([1, 2, 3].map(|version| reported("3.0.9", version)), ["1.2.19", "2.0.17", "3.0.9"]);
        assert_eq!([1, 2, 3].map(|version| reported("2.2.19", version)), ["2.2.19"; 3]);
    }

    #[test]
    fn an_unspecified_address_is_not_reported() {
        let at = |text: &str| ReportedVersion::default().reached_at(text.parse().unwrap());
        assert_eq!(at("10.0.0.7:9142").rpc_address(), Some([10, 0, 0, 7].into()));
        assert_eq!((at("0.0.0.0:9142").rpc_address(), at("[::]:9142").rpc_port()), (None, 9142));
    }
}
