//! What changed between releases, as one table.

use crate::util::Release;

/// How two timestamps are compared when one cell meets another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampOrder {
    /// By the sign of their wrapping difference, unless the cell that is there is a tombstone: two that lie
    /// 2^63 or more apart compare the wrong way round.
    WrappingUnlessOldIsDeleted,
    /// By the sign of their wrapping difference, unless either is a tombstone.
    WrappingBetweenValues,
    Plain,
}

/// Which of two values with one timestamp wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueTie {
    LastWritten,
    /// By unsigned bytes; a longer value beats its own prefix.
    LargerUnsigned,
    /// By bytes as Java's, -128 to 127.
    LargerSigned,
}

/// Which super columns use up a slice's count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperCount {
    /// Those without a tombstone of their own, whether or not anything in them is live.
    WithoutTombstone,
    /// Those with a live cell newer than their tombstone.
    WithLiveCell,
}

/// How one release behaves where releases differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// Whose comparators and texts apply.
    pub release: Release,
    pub timestamps: TimestampOrder,
    pub value_tie: ValueTie,
    pub super_count: SuperCount,
    /// In a deleted row a super column uses up a slice's count when anything in it is newer than the row's deletion,
    /// even a tombstone (0.4); after, when a live cell is.
    pub super_counts_by_tombstones: bool,
    /// get_count and get_column_count count tombstones that are still kept (0.3, 0.4).
    pub count_includes_tombstones: bool,
    /// get_count checks keyspace and super column as other reads do (not in 0.4).
    pub count_checks_parent: bool,
    /// get of a super column answers NotFound when it has ever been deleted, and an empty one when only its
    /// columns were (0.4).
    pub get_sees_super_tombstones: bool,
    /// Predicates must have exactly one of names and range (0.5 and later); 0.4 prefers the names.
    pub predicate_is_checked: bool,
    /// Reads at ALL are refused (0.4 to 0.6.2).
    pub refuses_reads_at_all: bool,
    /// Reads at ANY are refused; before 0.6 there was no ANY.
    pub refuses_reads_at_any: bool,
    /// The replication factor is the cluster's, not each keyspace's (0.4, 0.5): a keyspace that has another is
    /// none that these releases could have had, and is not listed.
    pub replication_is_global: bool,
    /// When a struct within a call lacks something, the rest of the message is read as the next call (0.7): that
    /// one fails, whatever it is.
    pub loses_its_place: bool,
    /// Two deletions of a row in one mutation merge like any two (1.1 and later); before, the second takes the
    /// place of the first even when it is older.
    pub row_deletions_merge: bool,
    /// An expiring cell is gone when its second begins (1.1 and later), not when it is over.
    pub expires_when_second_begins: bool,
    /// A counter's tombstone wins whatever the timestamps (2.1): a deleted counter stays deleted. Before, it
    /// begins anew with what is added later.
    pub counter_deletions_are_final: bool,
    /// get_key_range does not see super columns that were deleted and filled again (0.4).
    pub key_range_misses_refilled_supers: bool,
    /// Reads of many rows need one at least (0.4, 0.5).
    pub reads_need_a_key: bool,
    /// batch_insert takes white space from both ends of the key (0.4, 0.5); no other call does.
    pub batch_insert_trims_key: bool,
    /// Writes count only the replicas that exist (0.5 to 0.7), so they succeed with too few nodes.
    pub writes_ignore_missing_replicas: bool,
}

impl Behaviour {
    /// The table's row of a release.
    pub fn of(release: Release) -> &'static Behaviour {
        &TABLE[release as usize]
    }

    /// Whether a cell that expires at one second is gone at another.
    pub fn is_expired(&self, expires_at_s: i32, now_s: i32) -> bool {
        if self.expires_when_second_begins { now_s >= expires_at_s } else { now_s > expires_at_s }
    }

    const fn row(release: Release) -> Behaviour {
        Behaviour {
            release,
            timestamps: if before(release, Release::V0_6) {
                TimestampOrder::WrappingUnlessOldIsDeleted
            } else if before(release, Release::V0_7) {
                TimestampOrder::WrappingBetweenValues
            } else {
                TimestampOrder::Plain
            },
            value_tie: if before(release, Release::V0_6) {
                ValueTie::LastWritten
            } else if before(release, Release::V0_7) {
                ValueTie::LargerUnsigned
            } else {
                ValueTie::LargerSigned
            },
            // A slice of 0.3 goes by positions: what takes one and is not returned would hide what comes after.
            super_count: if is_first(release) || !before(release, Release::V0_7) {
                SuperCount::WithLiveCell
            } else {
                SuperCount::WithoutTombstone
            },
            super_counts_by_tombstones: release as u8 == Release::V0_4 as u8,
            count_includes_tombstones: before(release, Release::V0_5),
            count_checks_parent: is_first(release) || !before(release, Release::V0_5),
            get_sees_super_tombstones: !is_first(release) && before(release, Release::V0_5),
            predicate_is_checked: !before(release, Release::V0_5),
            refuses_reads_at_all: before(release, Release::V0_6),
            refuses_reads_at_any: !before(release, Release::V0_6),
            replication_is_global: before(release, Release::V0_6),
            row_deletions_merge: !before(release, Release::V1_1),
            loses_its_place: release as u8 == Release::V0_7 as u8,
            // Releases without expiring cells see those of others as newer ones do.
            expires_when_second_begins: before(release, Release::V0_7) || !before(release, Release::V1_1),
            counter_deletions_are_final: !before(release, Release::V2_1),
            key_range_misses_refilled_supers: release as u8 == Release::V0_4 as u8,
            reads_need_a_key: !is_first(release) && before(release, Release::V0_6),
            batch_insert_trims_key: !is_first(release) && before(release, Release::V0_6),
            writes_ignore_missing_replicas: !before(release, Release::V0_5) && before(release, Release::V0_8),
        }
    }
}

/// One row a release, in the order of [`Release::ALL`].
static TABLE: [Behaviour; Release::ALL.len()] = {
    let mut table = [const { Behaviour::row(Release::V0_3) }; Release::ALL.len()];
    let mut at = 0;
    while at < table.len() {
        table[at] = Behaviour::row(Release::ALL[at]);
        at += 1;
    }
    table
};

/// Whether this is 0.3. Where nothing is known of it, it has the behaviour of 0.4.
const fn is_first(release: Release) -> bool {
    release as u8 == Release::V0_3 as u8
}

/// Whether `release` came out before `other`.
const fn before(release: Release, other: Release) -> bool {
    (release as u8) < (other as u8)
}
