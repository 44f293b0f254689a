//! The text of `thriftstore --version`: the release, the commit that `build.rs` found, and the formats that the program
//! reads and writes.

use embedded::DATA_FORMAT;
use traffic::FORMAT_VERSION;

/// The short text, of `-V`.
pub(super) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// The release and the commit, as the log has them.
pub(super) const WITH_COMMIT: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("THRIFTSTORE_COMMIT"), ")");

/// Returns the long text.
pub(super) fn long() -> String {
    format!(
        "{WITH_COMMIT}\n\
         reads and writes data directories of format {DATA_FORMAT}\n\
         reads and writes recordings of format {FORMAT_VERSION}\n\
         features: {}",
        features()
    )
}

/// Returns the date of the commit, such as 2026-11-25; `None` in a build without a commit.
pub(super) fn date() -> Option<&'static str> {
    let (_, date) = env!("THRIFTSTORE_COMMIT").split_once(", ")?;
    date.get(..10).filter(|date| date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
}

/// Returns the optional features of the build.
fn features() -> String {
    let features = [
        ("gateway", cfg!(feature = "gateway")),
        ("tls", cfg!(feature = "tls")),
        ("cluster-tls", cfg!(feature = "cluster-tls")),
        ("otlp", cfg!(feature = "otlp")),
        ("archive", cfg!(feature = "archive")),
    ];
    let built: Vec<&str> =
        features.into_iter().filter(|(_, is_built)| *is_built).map(|(name, _)| name).collect();
    if built.is_empty() { "none".to_owned() } else { built.join(", ") }
}
