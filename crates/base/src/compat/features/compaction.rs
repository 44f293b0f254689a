//! The classes that a column family's settings may specify, and their options.

use crate::compat::span::{Span, since};
use crate::util::Release;
use crate::util::Release::{V1_2, V2_0};

const ALWAYS: Span = Span::ALWAYS;
/// The options of all strategies have this strategy.
const ANY: &str = "";

const SIZE_TIERED: &str = "SizeTieredCompactionStrategy";
const LEVELED: &str = "LeveledCompactionStrategy";
const DATE_TIERED: &str = "DateTieredCompactionStrategy";

/// The compaction strategies.
const STRATEGIES: [(&str, Span); 3] = [(SIZE_TIERED, ALWAYS), (LEVELED, ALWAYS), (DATE_TIERED, since(V2_0))];

/// The options of compaction strategies: strategy, name, releases (`validateOptions` of each class).
const OPTIONS: [(&str, &str, Span); 26] = [
    (ANY, "tombstone_threshold", ALWAYS),
    (ANY, "tombstone_compaction_interval", ALWAYS),
    (ANY, "unchecked_tombstone_compaction", since(V2_0)),
    (ANY, "enabled", since(V2_0)),
    (SIZE_TIERED, "min_sstable_size", ALWAYS),
    (SIZE_TIERED, "bucket_low", ALWAYS),
    (SIZE_TIERED, "bucket_high", ALWAYS),
    (SIZE_TIERED, "cold_reads_to_omit", ALWAYS),
    (SIZE_TIERED, "min_threshold", ALWAYS),
    (SIZE_TIERED, "max_threshold", ALWAYS),
    (LEVELED, "sstable_size_in_mb", ALWAYS),
    (LEVELED, "min_sstable_size", since(V2_0)),
    (LEVELED, "bucket_low", since(V2_0)),
    (LEVELED, "bucket_high", since(V2_0)),
    (LEVELED, "cold_reads_to_omit", since(V2_0)),
    (DATE_TIERED, "min_sstable_size", since(V2_0)),
    (DATE_TIERED, "bucket_low", since(V2_0)),
    (DATE_TIERED, "bucket_high", since(V2_0)),
    (DATE_TIERED, "cold_reads_to_omit", since(V2_0)),
    (DATE_TIERED, "min_threshold", since(V2_0)),
    (DATE_TIERED, "max_threshold", since(V2_0)),
    (DATE_TIERED, "max_sstable_age_days", since(V2_0)),
    (DATE_TIERED, "base_time_seconds", since(V2_0)),
    (DATE_TIERED, "timestamp_resolution", since(V2_0)),
    (DATE_TIERED, "expired_sstable_check_frequency_seconds", since(V2_0)),
    (DATE_TIERED, "max_window_size_seconds", since(V2_0)),
];

/// The compressors.
const COMPRESSORS: [(&str, Span); 3] =
    [("SnappyCompressor", ALWAYS), ("DeflateCompressor", ALWAYS), ("LZ4Compressor", since(V1_2))];

/// Returns the options of a compaction strategy; `None` for a class that the release does not have.
pub fn compaction_options(strategy: &str, release: Release) -> Option<Vec<&'static str>> {
    STRATEGIES.iter().find(|(name, releases)| *name == strategy && releases.has(release))?;
    let is_known =
        |(of, _, releases): &&(&str, &str, Span)| (*of == ANY || *of == strategy) && releases.has(release);
    Some(OPTIONS.iter().filter(is_known).map(|(_, option, _)| *option).collect())
}

/// Returns whether a release has a compressor of this name.
pub fn has_compressor(name: &str, release: Release) -> bool {
    COMPRESSORS.iter().any(|(known, releases)| *known == name && releases.has(release))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_has_its_own_options_and_those_of_all() {
        let tiered = compaction_options(SIZE_TIERED, Release::V1_2).unwrap();
        assert!(tiered.contains(&"tombstone_threshold") && tiered.contains(&"min_threshold"));
        assert!(!tiered.contains(&"enabled") && !tiered.contains(&"sstable_size_in_mb"));
        assert_eq!(compaction_options(DATE_TIERED, Release::V1_2), None);
        assert_eq!(compaction_options(ANY, Release::V2_1), None);
        let later = compaction_options(LEVELED, Release::V2_0).unwrap();
        assert!(later.contains(&"enabled") && later.contains(&"bucket_low"));
    }
}
