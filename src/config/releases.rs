//! Which releases' files have an element.

use crate::util::Release;

/// First and last release; `None` for what only thriftstore has.
pub type Releases = Option<(Release, Release)>;
pub const OWN: Releases = None;
pub const ALL: Releases = Some((Release::V0_4, Release::V0_6));
pub const V0_4: Releases = Some((Release::V0_4, Release::V0_4));
pub const TO_0_5: Releases = Some((Release::V0_4, Release::V0_5));
pub const V0_5: Releases = Some((Release::V0_5, Release::V0_5));
pub const FROM_0_5: Releases = Some((Release::V0_5, Release::V0_6));
pub const V0_6: Releases = Some((Release::V0_6, Release::V0_6));
/// In the YAML file of those releases.
pub const FROM_0_7: Releases = Some((Release::V0_7, Release::V1_1));
pub const FROM_1_2: Releases = Some((Release::V1_2, Release::V2_1));
