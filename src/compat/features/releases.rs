//! Releases that are used by default, rather than chosen by a client.

use crate::compat::{Span, since};
use crate::util::Release;

/// The newest behaviour, used by the native protocol and for the server's own reads and writes.
pub const NEWEST: Release = Release::V2_1;

/// The behaviour of calls with a table argument: no other release has them.
pub const WITH_TEXT_PATHS: Release = Release::V0_3;

/// The behaviour of calls with a keyspace argument, unless `--compat` specifies another.
pub const WITH_KEYSPACE: Release = Release::V0_6;

/// The behaviour of calls after set_keyspace, unless `--compat` specifies another.
pub const AFTER_SET_KEYSPACE: Release = NEWEST;

/// The release whose messages CQL 2 uses: later releases did not change them.
pub const CQL_2: Release = Release::V1_2;

/// The release whose messages a login to a keyspace uses: only 0.6 has that login.
pub const LOGIN_TO_KEYSPACE: Release = Release::V0_6;

/// The first release whose calls come after set_keyspace.
pub const FIRST_AFTER_SET_KEYSPACE: Release = Release::V0_7;

/// The releases with get_range_slices, which can read all rows.
pub const HAS_RANGES_OF_ROWS: Span = since(Release::V0_6);

/// Returns the release whose KsDef and CfDef a client of a release sees: there were none before 0.7.
pub fn of_definitions(release: Release) -> Release {
    release.max(FIRST_AFTER_SET_KEYSPACE)
}
