//! API generations: releases whose calls have the same arguments.

use serde::{Deserialize, Serialize};

use crate::compat::Line;
use crate::util::Release;

/// An API generation: releases whose calls have the same arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApiGeneration {
    /// 0.3: calls have a table argument, and a text that names the column family and columns.
    WithTextPaths,
    /// 0.4 to 0.6: calls have a keyspace argument.
    WithKeyspace,
    /// 0.7 and later: calls use the keyspace of set_keyspace.
    AfterSetKeyspace,
}

impl ApiGeneration {
    /// The first line of the second generation.
    const WITH_KEYSPACE_SINCE: Line = Line::of(Release::V0_4);
    /// The first line of the third generation.
    const AFTER_SET_KEYSPACE_SINCE: Line = Line::of(Release::V0_7);

    /// Returns the generation of a release line.
    pub const fn of_line(line: Line) -> ApiGeneration {
        if line.is_before(ApiGeneration::WITH_KEYSPACE_SINCE) {
            ApiGeneration::WithTextPaths
        } else if line.is_before(ApiGeneration::AFTER_SET_KEYSPACE_SINCE) {
            ApiGeneration::WithKeyspace
        } else {
            ApiGeneration::AfterSetKeyspace
        }
    }

    /// Returns the generation of a release.
    pub const fn of_release(release: Release) -> ApiGeneration {
        ApiGeneration::of_line(Line::of(release))
    }
}
