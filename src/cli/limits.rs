//! The memory and time limits of requests: options of `serve`, and the configuration.

use std::num::NonZeroU64;
use std::sync::Arc;

use clap::Args;

use base::util::meter::{RequestLimits, RequestMemory, TimeLimits};
use base::util::process_memory;
use config::Config;

const MIB: u64 = 1024 * 1024;

/// The memory and time limits of requests.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Memory of all requests together, in megabytes
    ///
    /// Of their arguments, rows and results; one request may use a quarter of it. [default: half of what the process may
    /// use besides its cache, at most 2048]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    request_memory_mb: Option<u64>,
    /// Time limit of reads of rows by key, in milliseconds; 0: none [default: the configuration's RpcTimeoutInMillis,
    /// else 0]
    #[arg(long, value_name = "MS", hide_short_help = true)]
    read_timeout_ms: Option<u64>,
    /// Time limit of scans and reads by an index
    #[arg(long, value_name = "MS", hide_short_help = true)]
    range_timeout_ms: Option<u64>,
    /// Time limit of writes; a write that has begun may still be applied
    #[arg(long, value_name = "MS", hide_short_help = true)]
    write_timeout_ms: Option<u64>,
    /// Time limit of truncate [default: 0]
    #[arg(long, value_name = "MS", hide_short_help = true)]
    truncate_timeout_ms: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits of the requests of all ports, besides a cache of `cache_bytes`.
    pub(super) fn limits(&self, config: &Config, cache_bytes: u64) -> RequestLimits {
        let bytes = match self.request_memory_mb {
            Some(megabytes) => usize::try_from(megabytes.saturating_mul(MIB)).unwrap_or(usize::MAX),
            None => process_memory::for_requests(usize::try_from(cache_bytes).unwrap_or(usize::MAX)),
        };
        RequestLimits { memory: Arc::new(RequestMemory::new(bytes)), times: self.times(config) }
    }

    fn times(&self, config: &Config) -> TimeLimits {
        let configured = &config.timeouts;
        let over = |option: Option<u64>, own: Option<u64>| {
            option.or(own).or(configured.all_ms).and_then(NonZeroU64::new)
        };
        TimeLimits {
            read_ms: over(self.read_timeout_ms, configured.read_ms),
            range_ms: over(self.range_timeout_ms, configured.range_ms),
            write_ms: over(self.write_timeout_ms, configured.write_ms),
            // A truncate waits for a flush; RpcTimeoutInMillis does not apply to it.
            truncate_ms: self.truncate_timeout_ms.or(configured.truncate_ms).and_then(NonZeroU64::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use base::marshal::Types;

    #[derive(Debug, Parser)]
    struct LimitWords {
        #[command(flatten)]
        limits: LimitArgs,
    }

    fn limits(line: &str, elements: &str) -> RequestLimits {
        let words = ["serve"].into_iter().chain(line.split_whitespace());
        let args = LimitWords::try_parse_from(words).unwrap().limits;
        let file = format!("<Storage>{elements}</Storage>");
        args.limits(&config::parse(&file, "a.xml", &Types::builtin()).unwrap(), 0)
    }

    #[test]
    fn time_limits_are_of_the_command_line_and_then_of_the_configuration() {
        let ms = |limit: Option<NonZeroU64>| limit.map_or(0, NonZeroU64::get);
        let all = |line: &str, elements: &str| {
            let times = limits(line, elements).times;
            [times.read_ms, times.range_ms, times.write_ms, times.truncate_ms].map(ms)
        };
        let configured = "<RpcTimeoutInMillis>5000</RpcTimeoutInMillis>";
        assert_eq!(all("", ""), [0, 0, 0, 0]);
        assert_eq!(all("", configured), [5000, 5000, 5000, 0]);
        let line = "--read-timeout-ms 0 --range-timeout-ms 7 --truncate-timeout-ms 9";
        assert_eq!(all(line, configured), [0, 7, 5000, 9]);
        assert_eq!(all("--write-timeout-ms 3", ""), [0, 0, 3, 0]);
        let yaml = "request_timeout_in_ms: 10\nrange_request_timeout_in_ms: 20\ntruncate_request_timeout_in_ms: 30\n";
        let config = config::parse(yaml, "cassandra.yaml", &Types::builtin()).unwrap();
        let words = ["serve", "--write-timeout-ms", "5"];
        let times = LimitWords::try_parse_from(words).unwrap().limits.times(&config);
        let times = [times.read_ms, times.range_ms, times.write_ms, times.truncate_ms].map(ms);
        assert_eq!(times, [10, 20, 5, 30]);
    }

    #[test]
    fn the_memory_of_requests_can_be_set() {
        assert_eq!(limits("--request-memory-mb 64", "").memory.total(), 64 << 20);
        assert!(limits("", "").memory.total() >= 16 << 20);
        assert!(LimitWords::try_parse_from(["serve", "--request-memory-mb", "0"]).is_err());
    }
}
