//! The option --otlp: a span for each request, sent to a collector of OpenTelemetry.
//!
//! The spans are the same as for the log filter `requests=debug` ([`RequestLog`](base::util::RequestLog)). They are
//! exported on a thread of the SDK, in batches. If the collector does not answer, spans are dropped and requests do not
//! wait.

use clap::Args;

use crate::cli::Result;

/// The options of the export of spans.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log of requests")]
pub(super) struct OtlpArgs {
    /// Send a span for each request to a collector of OpenTelemetry, such as http://127.0.0.1:4318. Needs a program that
    /// was built with the feature otlp
    #[arg(id = "otlp", long = "otlp", value_name = "URL", hide_short_help = true)]
    url: Option<String>,
    /// The part of the requests that have a span, from 0 to 1
    #[arg(
        id = "otlp_sample",
        long = "otlp-sample",
        value_name = "RATIO",
        default_value = "1",
        requires = "otlp",
        value_parser = ratio,
        hide_short_help = true
    )]
    sample: f64,
}

fn ratio(text: &str) -> Result<f64> {
    let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| "use a number from 0 to 1, such as 0.01".to_owned())
}

#[cfg(not(feature = "otlp"))]
mod export {
    use super::OtlpArgs;
    use crate::cli::Result;
    use crate::cli::process::start_log;

    /// The export of spans, which this program was built without.
    pub(crate) struct SpanExport;

    impl OtlpArgs {
        /// Starts the log.
        ///
        /// # Errors
        /// If the export is asked for.
        pub(crate) fn start_log(&self) -> Result<SpanExport> {
            if let (Some(url), _) = (&self.url, self.sample) {
                return Err(format!(
                    "--otlp {url}: this program was built without the feature otlp: build it with cargo build \
                     --release --features otlp"
                ));
            }
            start_log();
            Ok(SpanExport)
        }
    }

    impl SpanExport {
        /// Sends the spans that wait.
        pub(crate) fn end(self) {}
    }
}

#[cfg(feature = "otlp")]
mod export {

    use opentelemetry::trace::TracerProvider;
    use opentelemetry_otlp::{SpanExporter, WithExportConfig};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    use super::OtlpArgs;
    use crate::cli::Result;
    use crate::cli::process::{log, start_log};

    /// The path that collectors receive spans at.
    const PATH: &str = "/v1/traces";

    /// The export of spans; `None` if it is not asked for.
    pub(crate) struct SpanExport(Option<SdkTracerProvider>);

    impl OtlpArgs {
        /// Starts the log, and the export if it is asked for.
        ///
        /// # Errors
        /// If the address of the collector cannot be used. Whether the collector answers is not checked.
        pub(crate) fn start_log(&self) -> Result<SpanExport> {
            let Some(url) = &self.url else {
                start_log();
                return Ok(SpanExport(None));
            };
            if !url.starts_with("http://") {
                return Err(format!(
                    "--otlp {url}: use an address that begins with http://, such as http://127.0.0.1:4318"
                ));
            }
            let endpoint = format!("{}{PATH}", url.trim_end_matches('/').trim_end_matches(PATH));
            #[cfg(feature = "archive")]
            archive::choose_cryptography();
            let exporter = SpanExporter::builder().with_http().with_endpoint(endpoint).build();
            let exporter = exporter.map_err(|error| format!("--otlp {url}: {error}"))?;
            let provider = SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_sampler(Sampler::TraceIdRatioBased(self.sample))
                .with_resource(Resource::builder().with_service_name("thriftstore").build())
                .build();
            let tracer = provider.tracer("thriftstore");
            let spans = Targets::new().with_target("requests", LevelFilter::DEBUG);
            let spans = tracing_opentelemetry::layer().with_tracer(tracer).with_filter(spans);
            // An embedding program may have set its own subscriber.
            let _ = tracing_subscriber::registry().with(log()).with(spans).try_init();
            Ok(SpanExport(Some(provider)))
        }
    }

    impl SpanExport {
        /// Sends the spans that wait.
        pub(crate) fn end(self) {
            if let Some(Err(error)) = self.0.map(|provider| provider.shutdown()) {
                tracing::warn!("the last spans were not exported: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_between_0_and_1() {
        assert_eq!(ratio("0.01"), Ok(0.01));
        for wrong in ["", "2", "-1", "NaN", "half"] {
            assert!(ratio(wrong).is_err(), "{wrong}");
        }
    }
}
