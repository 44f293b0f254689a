//! Limits how fast passwords can be guessed.
//!
//! Failed logins are counted by the address of the client and the name of the user. After `failures_max` consecutive
//! failures, logins of that user from that address are refused for 15 seconds, without checking the password; after
//! as many further failures for 30 seconds, and so on up to 15 minutes. A successful login resets the count, and so
//! does an hour without a failure. The same user from another address and another user from the same address are not
//! affected.
//!
//! Memory is bounded. Each address has separate counts for a limited number of names and one count for all further
//! names, so a client that tries many names is refused as well; names whose count was reset make room. If too many
//! addresses have failed logins, the address with the oldest last login is forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{
    LOGIN_ADDRESSES_MAX, LOGIN_FAILURES_KEPT, LOGIN_FAILURES_MAX, LOGIN_NAMES_MAX, LOGIN_REFUSED_MAX,
    LOGIN_REFUSED_MIN,
};
use crate::{Error, Result};

/// Counts failed logins, and refuses logins after too many.
#[derive(Debug)]
pub struct LoginGuard {
    /// The number of consecutive failures after which logins are refused; 0: never.
    pub(super) failures_max: u32,
    addresses: Mutex<HashMap<IpAddr, Address>>,
    hasher: RandomState,
}

impl Default for LoginGuard {
    fn default() -> LoginGuard {
        LoginGuard::new(LOGIN_FAILURES_MAX)
    }
}

/// The state of an address.
#[derive(Debug)]
struct Address {
    last_login: Instant,
    /// The counts by the hash of the name; `None` is the count of names that came after there were `LOGIN_NAMES_MAX`.
    names: HashMap<Option<u64>, Count>,
}

/// The count of a user at an address.
#[derive(Debug)]
struct Count {
    failures: u32,
    last_failure: Option<Instant>,
    /// The number of times that logins have been suspended, and the end of the current suspension.
    refusals: u32,
    refused_until: Option<Instant>,
    /// Permits for logins in progress. Further logins wait, so that a burst of connections gets no more guesses than
    /// the limit.
    under_way: Arc<Semaphore>,
}

/// The key of a login's count: the user, and the network of the client.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoginKey {
    pub(super) address: IpAddr,
    name: Option<u64>,
}

/// A login in progress.
pub(super) struct Attempt {
    pub(super) key: LoginKey,
    _permit: Option<OwnedSemaphorePermit>,
}

impl LoginGuard {
    /// Returns a guard with the same limits that has counted nothing yet.
    pub fn another(&self) -> LoginGuard {
        LoginGuard::new(self.failures_max)
    }

    /// Creates a guard that refuses logins after `failures_max` consecutive failures; 0: never.
    pub fn new(failures_max: u32) -> LoginGuard {
        LoginGuard { failures_max, addresses: Mutex::default(), hasher: RandomState::new() }
    }

    /// Forgets all failed logins.
    pub fn forget_all(&self) {
        self.addresses.lock().clear();
    }

    /// Begins a login. Waits while as many logins of the same user from the same address are in progress as may fail.
    pub(super) async fn begin(&self, address: IpAddr, name: &[u8]) -> Result<Attempt> {
        let (key, under_way) = self.enter(address, name, Instant::now());
        self.check(key, Instant::now())?;
        let permit = under_way.acquire_owned().await.ok();
        // The logins before this one may have failed.
        self.check(key, Instant::now())?;
        Ok(Attempt { key, _permit: permit })
    }

    /// Returns the key of a login's count, and the permits of that count.
    fn enter(&self, address: IpAddr, name: &[u8], now: Instant) -> (LoginKey, Arc<Semaphore>) {
        let address = network_of(address);
        let name = Some(self.hasher.hash_one(name));
        let mut addresses = self.addresses.lock();
        if !addresses.contains_key(&address) && addresses.len() >= LOGIN_ADDRESSES_MAX {
            forget_one(&mut addresses, now);
        }
        let of_address =
            addresses.entry(address).or_insert_with(|| Address { last_login: now, names: HashMap::new() });
        of_address.last_login = now;
        let names = &mut of_address.names;
        if !names.contains_key(&name) && names.len() >= LOGIN_NAMES_MAX {
            names.retain(|_, count| count.is_needed(now));
        }
        let is_one_too_many = !names.contains_key(&name) && names.len() >= LOGIN_NAMES_MAX;
        let key = LoginKey { address, name: name.filter(|_| !is_one_too_many) };
        debug_assert!(names.len() <= LOGIN_NAMES_MAX + 1, "clients cannot make more counts");
        let count = names.entry(key.name).or_insert_with(|| Count::new(self.failures_max));
        count.forget_what_is_old(now);
        (key, count.under_way.clone())
    }

    fn check(&self, key: LoginKey, now: Instant) -> Result<()> {
        let addresses = self.addresses.lock();
        let count = addresses.get(&key.address).and_then(|address| address.names.get(&key.name));
        let left = count.and_then(|count| count.refused_until?.checked_duration_since(now));
        match left.filter(|left| !left.is_zero()) {
            None => Ok(()),
            Some(left) => Err(Error::Authentication(format!(
                "Too many failed logins of this user from {}: the next one is accepted in {} s",
                key.address,
                left.as_secs() + 1
            ))),
        }
    }

    /// Resets a count, because the password was right.
    pub(super) fn succeeded(&self, key: LoginKey) {
        let mut addresses = self.addresses.lock();
        let Some(address) = addresses.get_mut(&key.address) else { return };
        // The right password for one of many names does not justify more guesses at the others.
        if key.name.is_some() {
            address.names.remove(&key.name);
        }
        if address.names.is_empty() {
            addresses.remove(&key.address);
        }
    }

    /// Counts a failure. Returns how long logins are refused from now on, if this failure reached the limit.
    pub(super) fn failed(&self, key: LoginKey, now: Instant) -> Option<Duration> {
        let mut addresses = self.addresses.lock();
        let count = addresses.get_mut(&key.address)?.names.get_mut(&key.name)?;
        count.failures += 1;
        count.last_failure = Some(now);
        if count.failures < self.failures_max {
            return None;
        }
        let refused = LOGIN_REFUSED_MIN.saturating_mul(1 << count.refusals.min(16)).min(LOGIN_REFUSED_MAX);
        count.failures = 0;
        count.refusals += 1;
        count.refused_until = Some(now + refused);
        Some(refused)
    }
}

impl Count {
    fn new(failures_max: u32) -> Count {
        let permits = usize::try_from(failures_max).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Count {
            failures: 0,
            last_failure: None,
            refusals: 0,
            refused_until: None,
            under_way: Arc::new(Semaphore::new(permits)),
        }
    }

    fn has_failed_lately(&self, now: Instant) -> bool {
        self.last_failure.is_some_and(|last| now.saturating_duration_since(last) <= LOGIN_FAILURES_KEPT)
    }

    /// Returns whether the count has to be kept: it has a recent failure, or a login is in progress.
    fn is_needed(&self, now: Instant) -> bool {
        self.has_failed_lately(now) || Arc::strong_count(&self.under_way) > 1
    }

    fn forget_what_is_old(&mut self, now: Instant) {
        if !self.has_failed_lately(now) {
            (self.failures, self.last_failure) = (0, None);
            (self.refusals, self.refused_until) = (0, None);
        }
    }
}

/// Makes room for an address: removes an address without counts to keep, or else the one with the oldest last login.
fn forget_one(addresses: &mut HashMap<IpAddr, Address>, now: Instant) {
    let oldest = addresses.iter().min_by_key(|(_, address)| {
        let is_needed = address.names.values().any(|count| count.is_needed(now));
        (is_needed, address.last_login)
    });
    if let Some(oldest) = oldest.map(|(address, _)| *address) {
        addresses.remove(&oldest);
    }
}

/// Returns the address that is counted: for IPv6 the /64 network, because a client has all addresses of one.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    /// Counts a failed login; returns how long logins are refused after it.
    fn fail(guard: &LoginGuard, address: IpAddr, name: &str, now: Instant) -> Option<Duration> {
        let (key, _) = guard.enter(address, name.as_bytes(), now);
        guard.failed(key, now)
    }

    fn is_refused(guard: &LoginGuard, address: IpAddr, name: &str, now: Instant) -> bool {
        let (key, _) = guard.enter(address, name.as_bytes(), now);
        guard.check(key, now).is_err()
    }

    #[test]
    fn a_user_is_refused_at_one_address_alone() {
        let (guard, now) = (LoginGuard::new(3), Instant::now());
        assert_eq!([1, 2].map(|_| fail(&guard, HERE, "anna", now)), [None; 2]);
        assert!(!is_refused(&guard, HERE, "anna", now));
        assert_eq!(fail(&guard, HERE, "anna", now), Some(LOGIN_REFUSED_MIN));
        assert!(is_refused(&guard, HERE, "anna", now));
        assert!(!is_refused(&guard, THERE, "anna", now) && !is_refused(&guard, HERE, "bert", now));
        let (key, _) = guard.enter(HERE, b"anna", now);
        let why = guard.check(key, now).unwrap_err().to_string();
        assert_eq!(
            why,
            "Too many failed logins of this user from 10.0.0.1: the next one is accepted in 16 s"
        );
    }

    #[test]
    fn refusals_end_and_each_is_longer() {
        let (guard, mut now) = (LoginGuard::new(2), Instant::now());
        let mut refused_for = Vec::new();
        for _ in 0..9 {
            fail(&guard, HERE, "anna", now);
            let refused = fail(&guard, HERE, "anna", now).unwrap();
            assert!(is_refused(&guard, HERE, "anna", now + refused - Duration::from_millis(1)));
            now += refused;
            assert!(!is_refused(&guard, HERE, "anna", now));
            refused_for.push(refused.as_secs());
        }
        assert_eq!(refused_for, [15, 30, 60, 120, 240, 480, 900, 900, 900]);
        now += LOGIN_FAILURES_KEPT + Duration::from_secs(1);
        fail(&guard, HERE, "anna", now);
        assert_eq!(fail(&guard, HERE, "anna", now), Some(LOGIN_REFUSED_MIN), "an hour later it begins anew");
    }

    #[test]
    fn a_successful_login_resets_the_count() {
        let (guard, now) = (LoginGuard::new(2), Instant::now());
        for _ in 0..9 {
            assert_eq!(fail(&guard, HERE, "anna", now), None);
            let (key, _) = guard.enter(HERE, b"anna", now);
            guard.succeeded(key);
        }
        assert!(guard.addresses.lock().is_empty(), "nothing is kept of those that log in rightly");
    }

    #[test]
    fn many_names_of_one_address_share_a_count() {
        let (guard, now) = (LoginGuard::new(3), Instant::now());
        for number in 0..LOGIN_NAMES_MAX {
            assert_eq!(fail(&guard, HERE, &format!("user{number}"), now), None);
        }
        let more = ["a", "b", "c"].map(|name| fail(&guard, HERE, name, now));
        assert_eq!(more, [None, None, Some(LOGIN_REFUSED_MIN)]);
        assert!(is_refused(&guard, HERE, "d", now) && !is_refused(&guard, HERE, "user0", now));
        assert_eq!(guard.addresses.lock()[&HERE].names.len(), LOGIN_NAMES_MAX + 1);
    }

    #[test]
    fn names_with_an_expired_count_make_room_for_others() {
        let (guard, now) = (LoginGuard::new(3), Instant::now());
        for number in 0..LOGIN_NAMES_MAX {
            fail(&guard, HERE, &format!("user{number}"), now);
        }
        let later = now + LOGIN_FAILURES_KEPT + Duration::from_secs(1);
        for name in ["a", "b", "c", "d"] {
            assert_eq!(fail(&guard, HERE, name, later), None, "{name} has a count of its own");
        }
        assert!(guard.addresses.lock()[&HERE].names.len() <= LOGIN_NAMES_MAX);
        // Logins in progress keep their counts.
        let under_way: Vec<_> = (0..2 * LOGIN_NAMES_MAX)
            .map(|number| guard.enter(THERE, format!("user{number}").as_bytes(), now))
            .collect();
        assert_eq!(under_way.iter().filter(|(key, _)| key.name.is_some()).count(), LOGIN_NAMES_MAX);
        drop(under_way);
        assert!(guard.enter(THERE, b"other", now).0.name.is_some(), "none of them has failed");
    }

    #[test]
    fn the_oldest_address_is_removed_and_memory_is_bounded() {
        let (guard, start) = (LoginGuard::new(1), Instant::now());
        let address = |number: usize| IpAddr::from(u32::try_from(number).unwrap().to_be_bytes());
        for number in 0..=LOGIN_ADDRESSES_MAX {
            let now = start + Duration::from_millis(u64::try_from(number).unwrap());
            assert!(fail(&guard, address(number), "anna", now).is_some());
        }
        assert_eq!(guard.addresses.lock().len(), LOGIN_ADDRESSES_MAX);
        assert!(is_refused(&guard, address(LOGIN_ADDRESSES_MAX), "anna", start));
        assert!(!guard.addresses.lock().contains_key(&address(0)));
        assert!(guard.addresses.lock().contains_key(&address(1)));
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let (guard, now) = (LoginGuard::new(1), Instant::now());
        fail(&guard, "2001:db8::1".parse().unwrap(), "anna", now);
        assert!(is_refused(&guard, "2001:db8::ffff:2".parse().unwrap(), "anna", now));
        assert!(!is_refused(&guard, "2001:db8:0:1::1".parse().unwrap(), "anna", now));
        fail(&guard, "::ffff:10.0.0.1".parse().unwrap(), "anna", now);
        assert!(is_refused(&guard, HERE, "anna", now));
    }

    #[tokio::test]
    async fn concurrent_logins_have_no_more_guesses_than_the_limit() {
        let guard = LoginGuard::new(2);
        let both = [guard.begin(HERE, b"anna").await.unwrap(), guard.begin(HERE, b"anna").await.unwrap()];
        let third = guard.begin(HERE, b"anna");
        tokio::pin!(third);
        assert!(third.as_mut().now_or_never().is_none(), "two are under way");
        assert!(guard.begin(HERE, b"bert").await.is_ok());
        for attempt in both {
            guard.failed(attempt.key, Instant::now());
        }
        assert!(third.await.is_err());
    }
}
