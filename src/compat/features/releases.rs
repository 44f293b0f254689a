//! Releases that stand for something other than what a client asked for.

use crate::compat::{Span, since};
use crate::util::Release;

/// The newest behaviour. The native protocol has it, and so has what the server reads and writes for itself.
pub const NEWEST: Release = Release::V2_1;

/// The behaviour of calls that carry a table: no other release has them.
pub const WITH_TEXT_PATHS: Release = Release::V0_3;

/// The behaviour of calls that carry a keyspace, where `--compat` names no other.
pub const WITH_KEYSPACE: Release = Release::V0_6;

/// The behaviour of calls after set_keyspace, where `--compat` names no other.
pub const AFTER_SET_KEYSPACE: Release = NEWEST;

/// The release whose words CQL 2 has: later ones did not change it any more.
pub const CQL_2: Release = Release::V1_2;

/// The release whose words a login to a keyspace has: only 0.6 has that login.
pub const LOGIN_TO_KEYSPACE: Release = Release::V0_6;

/// The first release whose calls come after set_keyspace.
pub const FIRST_AFTER_SET_KEYSPACE: Release = Release::V0_7;

/// The releases with get_range_slices, by which all rows can be read.
pub const HAS_RANGES_OF_ROWS: Span = since(Release::V0_6);

/// Returns the release whose KsDef and CfDef a client of a release is shown: before 0.7 there were none.
pub fn of_definitions(release: Release) -> Release {
    release.max(FIRST_AFTER_SET_KEYSPACE)
}
