//! Releases that the server uses where no client has chosen one.

use crate::compat::{Span, since};
use crate::util::Release;

/// The newest behaviour that no option has to select. The native protocol and the server's own reads and writes use it.
/// Later releases differ from it mostly in what they refuse.
pub const NEWEST: Release = Release::V2_1;

/// The behaviour of calls with a table argument, which only 0.3 has.
pub const WITH_TEXT_PATHS: Release = Release::V0_3;

/// The behaviour of calls with a keyspace argument, unless `--compat` specifies another.
pub const WITH_KEYSPACE: Release = Release::V0_6;

/// The behaviour of calls after set_keyspace, unless `--compat` specifies another.
pub const AFTER_SET_KEYSPACE: Release = NEWEST;

/// The release whose messages CQL 2 uses. Later releases did not change them.
pub const CQL_2: Release = Release::V1_2;

/// The release whose messages a login to a keyspace uses. No other release has this login.
pub const LOGIN_TO_KEYSPACE: Release = Release::V0_6;

/// The first release whose calls use the keyspace of set_keyspace.
pub const FIRST_AFTER_SET_KEYSPACE: Release = Release::V0_7;

/// The releases with get_range_slices, which returns columns of many rows.
pub const HAS_RANGES_OF_ROWS: Span = since(Release::V0_6);
