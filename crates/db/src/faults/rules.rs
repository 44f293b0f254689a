//! The rules of a server, and how often each has had an effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::watch;

use super::rule::{Delay, FaultRule, RuleError};
use super::{FaultyConnections, Journal};
use crate::limits::FAULT_RULES_MAX;
use base::util::SplitMix64;

/// Rules, journal and connection faults of a server that tests control.
#[derive(Debug, Default)]
pub struct Faults {
    /// In the order in which they were set.
    rules: RwLock<Vec<Arc<SetRule>>>,
    next_number: AtomicU64,
    /// Changes when all rules are removed.
    cleared: watch::Sender<u64>,
    /// The requests so far.
    pub journal: Journal,
    /// Faults of all connections.
    pub connections: FaultyConnections,
}

/// A rule that is set.
#[derive(Debug)]
pub(super) struct SetRule {
    /// Differs from the numbers of all other rules, also of rules with the same name.
    pub number: u64,
    pub name: String,
    pub rule: FaultRule,
    /// Requests that have met the condition.
    met: AtomicU64,
    /// Requests that the rule has had an effect on.
    hits: AtomicU64,
}

/// A rule and its effects so far.
#[derive(Debug, Clone)]
pub struct RuleState {
    /// The name by which it is removed.
    pub name: String,
    /// The rule.
    pub rule: FaultRule,
    /// The number of requests that have met its condition.
    pub met: u64,
    /// The number of requests that it has had an effect on.
    pub hits: u64,
}

impl SetRule {
    /// Counts a request that meets the condition. Returns its delay if the rule has an effect on it.
    pub(super) fn take_effect(&self) -> Option<Duration> {
        let number = self.met.fetch_add(1, Ordering::Relaxed);
        let random = |stream: u64| mixed(self.rule.seed ^ mixed(number) ^ stream);
        if number < self.rule.skip || fraction(random(1)) >= self.rule.probability {
            return None;
        }
        let times = self.rule.times.unwrap_or(u64::MAX);
        let one_more = self
            .hits
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |hits| (hits < times).then_some(hits + 1));
        one_more.ok()?;
        let ms = match self.rule.delay_ms {
            None => 0,
            Some(Delay::Fixed(ms)) => ms,
            Some(Delay::Between([least, most])) => {
                assert!(least <= most, "the rule was checked when it was set");
                least + random(2) % (most - least + 1)
            }
        };
        Some(Duration::from_millis(ms))
    }

    fn state(&self) -> RuleState {
        let (met, hits) = (self.met.load(Ordering::Relaxed), self.hits.load(Ordering::Relaxed));
        RuleState { name: self.name.clone(), rule: self.rule.clone(), met, hits }
    }
}

/// Returns a number whose bits depend on all bits of another.
fn mixed(number: u64) -> u64 {
    SplitMix64(number).next_number()
}

/// Returns a number from 0 to just below 1.
fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}

impl Faults {
    /// Sets a rule. It comes after all others, and replaces one of its name.
    ///
    /// # Errors
    /// If the rule is wrong, or there are too many.
    pub fn set(&self, name: &str, rule: FaultRule) -> Result<RuleState, RuleError> {
        rule.check()?;
        let mut rules = self.rules.write();
        if rules.len() >= FAULT_RULES_MAX && rules.iter().all(|other| other.name != name) {
            return Err(RuleError(format!("there are {FAULT_RULES_MAX} rules, the limit: remove some")));
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let name = name.to_owned();
        let rule = SetRule { number, name, rule, met: AtomicU64::new(0), hits: AtomicU64::new(0) };
        let state = rule.state();
        rules.retain(|other| other.name != rule.name);
        rules.push(Arc::new(rule));
        Ok(state)
    }

    /// Returns all rules in their order.
    pub fn list(&self) -> Vec<RuleState> {
        self.rules.read().iter().map(|rule| rule.state()).collect()
    }

    /// Removes a rule. Returns whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        let mut rules = self.rules.write();
        let before = rules.len();
        rules.retain(|rule| rule.name != name);
        rules.len() < before
    }

    /// Removes all rules and ends their delays, forgets the journal, and accepts connections again.
    pub fn clear(&self) {
        self.rules.write().clear();
        self.cleared.send_modify(|number| *number += 1);
        self.connections.refuse(false);
        self.journal.clear();
    }

    pub(super) fn cleared(&self) -> watch::Receiver<u64> {
        self.cleared.subscribe()
    }

    pub(super) fn rules(&self) -> Vec<Arc<SetRule>> {
        self.rules.read().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(json: &str) -> FaultRule {
        serde_json::from_str(json).unwrap()
    }

    fn effects_of(json: &str, requests: usize) -> Vec<Option<Duration>> {
        let faults = Faults::default();
        faults.set("one", rule(json)).unwrap();
        let rules = faults.rules();
        (0..requests).map(|_| rules[0].take_effect()).collect()
    }

    #[test]
    fn a_rule_skips_requests_and_ends() {
        let hit = Some(Duration::from_millis(5));
        assert_eq!(
            effects_of(r#"{"delay_ms": 5, "skip": 2, "times": 2}"#, 6),
            [None, None, hit, hit, None, None]
        );
    }

    #[test]
    fn a_seed_has_the_same_effects_again() {
        let json = r#"{"delay_ms": [10, 20], "probability": 0.3, "seed": 7}"#;
        let once = effects_of(json, 1000);
        assert_eq!(once, effects_of(json, 1000));
        assert_ne!(once, effects_of(&json.replace('7', "8"), 1000));
        let hits: Vec<u128> = once.into_iter().flatten().map(|delay| delay.as_millis()).collect();
        assert!((250..350).contains(&hits.len()), "{}", hits.len());
        assert_eq!((hits.iter().min(), hits.iter().max()), (Some(&10), Some(&20)));
    }

    #[test]
    fn rules_without_sense_are_refused() {
        for (json, why) in [
            ("{}", "no effect"),
            (r#"{"delay_ms": 1, "applied": true}"#, "belong to an \"error\""),
            (r#"{"error": "not_found", "text": "x"}"#, "has no text"),
            (r#"{"delay_ms": [5, 1]}"#, "the least delay comes first"),
            (r#"{"delay_ms": 3600001}"#, "at most 3600000"),
            (r#"{"delay_ms": 1, "probability": 2}"#, "from 0 to 1"),
            (r#"{"delay_ms": 1, "times": 0}"#, "at least 1"),
            (r#"{"delay_ms": 1, "when": {"protocol": "http"}}"#, "\"thrift\" or \"native\""),
            (
                r#"{"delay_ms": 1, "when": {"protocol": "native", "generation": "with_keyspace"}}"#,
                "only Thrift calls",
            ),
        ] {
            let refused = Faults::default().set("one", rule(json)).unwrap_err();
            assert!(refused.0.contains(why), "{json}: {refused}");
        }
        assert!(serde_json::from_str::<FaultRule>(r#"{"delay": 1}"#).is_err());
    }

    #[test]
    fn rules_are_limited_in_number() {
        let faults = Faults::default();
        for number in 0..FAULT_RULES_MAX {
            faults.set(&number.to_string(), rule(r#"{"delay_ms": 1}"#)).unwrap();
        }
        assert!(faults.set("one more", rule(r#"{"delay_ms": 1}"#)).unwrap_err().0.contains("the limit"));
        faults.set("7", rule(r#"{"delay_ms": 2}"#)).unwrap();
    }

    #[test]
    fn rules_are_replaced_and_removed_by_their_names() {
        let faults = Faults::default();
        for (name, ms) in [("first", 1), ("second", 2), ("first", 3)] {
            faults.set(name, rule(&format!(r#"{{"delay_ms": {ms}}}"#))).unwrap();
        }
        let names = || faults.list().into_iter().map(|rule| rule.name).collect::<Vec<_>>();
        assert_eq!(names(), ["second", "first"]);
        assert!(faults.remove("second") && !faults.remove("second"));
        assert_eq!(names(), ["first"]);
        faults.clear();
        assert!(names().is_empty());
    }
}
