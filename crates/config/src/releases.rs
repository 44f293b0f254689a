//! The releases whose configuration files have a setting. A constant is named after its first or last release: it goes
//! on to the last, or begins with the first, release that is configured by the same file.

use base::compat::{Span, only};
use base::util::Release;

/// The releases; `None` for extensions of thriftstore.
pub type Releases = Option<Span>;

/// The releases that are configured by storage-conf.xml.
pub(crate) const WITH_STORAGE_CONF: Span = Span::between(Release::V0_4, Release::V0_6);

pub(crate) const OWN: Releases = None;
pub(crate) const IN_0_4: Releases = Some(only(Release::V0_4));
pub(crate) const TO_0_5: Releases = Some(Span::between(Release::V0_4, Release::V0_5));
pub(crate) const IN_0_5: Releases = Some(only(Release::V0_5));
pub(crate) const FROM_0_5: Releases = Some(Span::between(Release::V0_5, Release::V0_6));
pub(crate) const TO_0_6: Releases = Some(WITH_STORAGE_CONF);
pub(crate) const IN_0_6: Releases = Some(only(Release::V0_6));
pub(crate) const IN_0_7: Releases = Some(only(Release::V0_7));
/// The releases that are configured by cassandra.yaml.
pub(crate) const FROM_0_7: Releases = Some(Span::between(Release::V0_7, Release::V2_1));
pub(crate) const TO_1_1: Releases = Some(Span::between(Release::V0_7, Release::V1_1));
pub(crate) const FROM_1_2: Releases = Some(Span::between(Release::V1_2, Release::V2_1));
