//! The versions that releases report.

use crate::util::Release;

/// Returns the API version that a release reports. In 0.3 and 0.4 it is the version of the product, from 0.5 on the
/// version of the Thrift interface.
pub fn api_version(release: Release) -> &'static str {
    match release {
        Release::V0_3 => "0.3.0",
        Release::V0_4 => "0.4.2",
        Release::V0_5 => "0.5.1",
        Release::V0_6 => "2.2.0",
        Release::V0_7 => "19.4.0",
        Release::V0_8 => "19.16.0",
        Release::V1_0 => "19.20.0",
        Release::V1_1 => "19.33.0",
        Release::V1_2 => "19.36.2",
        Release::V2_0 | Release::V2_1 => "19.39.0",
        Release::V2_2 | Release::V3_0 | Release::V3_11 => "20.1.0",
    }
}

/// Returns the last version of a release line that Maven Central has. Of 3.0 it is the last one with the Thrift interface.
pub fn last_version(release: Release) -> &'static str {
    match release {
        Release::V0_7 => "0.7.10",
        Release::V0_8 => "0.8.10",
        Release::V1_0 => "1.0.12",
        Release::V1_1 => "1.1.12",
        Release::V1_2 => "1.2.19",
        Release::V2_0 => "2.0.17",
        Release::V2_1 => "2.1.22",
        Release::V2_2 => "2.2.19",
        Release::V3_0 => "3.0.29",
        Release::V3_11 => "3.11.19",
        older => api_version(older),
    }
}

/// Returns the version of CQL 3 that a release has. Releases before 1.2 had a beta version.
pub fn cql3_version(release: Release) -> &'static str {
    match release {
        Release::V3_11 => "3.4.4",
        Release::V3_0 => "3.4.0",
        Release::V2_2 => "3.3.1",
        Release::V2_1 => "3.2.1",
        Release::V2_0 => "3.1.7",
        Release::V1_2 => "3.0.5",
        _ => "3.0.0-beta1",
    }
}
