//! Takes the place of `gateway` in a build without the feature `driver`.

use super::args::GatewayArgs;

/// Returns an error: there is no driver to compare a gateway with.
pub(crate) fn compare(_args: &GatewayArgs) -> Result<(), String> {
    Err("this program was built without the driver of clusters: build it with `cargo build --release`"
        .to_owned())
}
