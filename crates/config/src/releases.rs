//! The releases whose configuration files have a setting.

use base::compat::Span;
use base::util::Release;

/// The releases; `None` for extensions of thriftstore.
pub type Releases = Option<Span>;

/// The releases that are configured by storage-conf.xml.
pub(crate) const WITH_STORAGE_CONF: Span = Span::between(Release::V0_4, Release::V0_6);
