//! Selects the calls for the candidate.

use super::super::call::CallEffect;
use super::plan::{Only, ShadowPlan};
use base::util::SplitMix64;

/// Why a call is not sent to the candidate.
pub(super) const NOT_READ: &str = "not sent to the candidate: only reads are";
const NOT_WRITE: &str = "not sent to the candidate: only writes are";
const NOT_IN_SHARE: &str = "not sent to the candidate: outside of the share of reads";
pub(super) const BY_QUEUE: &str = "the queue sends it to the candidate";
const NO_READS: &str = "not sent to the candidate: with --queue it only gets the writes";
const BEHIND: &str = "not sent to the candidate: it was too far behind";

/// Selects calls.
#[derive(Debug)]
pub(super) struct CallSelection {
    only: Option<Only>,
    has_queue: bool,
    share: f64,
    random: SplitMix64,
}

impl CallSelection {
    /// Creates the selection of a plan. The same seed selects the same reads.
    pub(super) fn new(plan: &ShadowPlan, seed: u64) -> CallSelection {
        CallSelection {
            only: plan.only,
            has_queue: plan.has_queue,
            share: plan.share,
            random: SplitMix64(seed),
        }
    }

    /// Returns why a call is not sent; `None` if it is. Calls that only concern the connection, such as `set_keyspace`,
    /// are always sent: without them all later calls of the connection would differ.
    pub(super) fn refusal(&mut self, effect: CallEffect, has_room: bool) -> Option<&'static str> {
        let is_chosen = match (effect, self.only) {
            (CallEffect::Session, _) => return None,
            (CallEffect::Write, _) if self.has_queue => return Some(BY_QUEUE),
            (CallEffect::Read, _) if self.has_queue => return Some(NO_READS),
            (CallEffect::Write, Some(Only::Reads)) => Err(NOT_READ),
            (CallEffect::Read, Some(Only::Writes)) => Err(NOT_WRITE),
            (CallEffect::Write, _) => Ok(()),
            (CallEffect::Read, _) if self.is_in_share() => Ok(()),
            (CallEffect::Read, _) => Err(NOT_IN_SHARE),
        };
        is_chosen.err().or((!has_room).then_some(BEHIND))
    }

    fn is_in_share(&mut self) -> bool {
        // 53 bits are exact in a double.
        let chance = (self.random.next_number() >> 11) as f64 / (1_u64 << 53) as f64;
        chance < self.share
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn selection(share: f64, only: Option<Only>) -> CallSelection {
        CallSelection::new(&ShadowPlan { share, only, has_queue: false, timeout: Duration::from_secs(1) }, 7)
    }

    #[test]
    fn a_share_is_of_reads() {
        let mut selection = selection(0.25, None);
        let sent = (0..10_000).filter(|_| selection.refusal(CallEffect::Read, true).is_none()).count();
        assert!((2_300..2_700).contains(&sent), "{sent}");
        assert!((0..1_000).all(|_| selection.refusal(CallEffect::Write, true).is_none()));
        let mut none = self::selection(0.0, None);
        assert!((0..1_000).all(|_| none.refusal(CallEffect::Read, true) == Some(NOT_IN_SHARE)));
        let mut all = self::selection(1.0, None);
        assert!((0..1_000).all(|_| all.refusal(CallEffect::Read, true).is_none()));
    }

    #[test]
    fn kinds_and_room_are_reasons() {
        let mut reads = selection(1.0, Some(Only::Reads));
        assert_eq!(reads.refusal(CallEffect::Write, true), Some(NOT_READ));
        assert_eq!(reads.refusal(CallEffect::Read, true), None);
        assert_eq!(reads.refusal(CallEffect::Read, false), Some(BEHIND));
        assert_eq!(reads.refusal(CallEffect::Session, false), None);
        let mut writes = selection(1.0, Some(Only::Writes));
        assert_eq!(writes.refusal(CallEffect::Read, true), Some(NOT_WRITE));
        assert_eq!(writes.refusal(CallEffect::Write, true), None);
    }
}
