//! The open connections, by protocol and by address.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::pages::home::count;
use crate::present::{countdown, escaped};
use net::{ClientKind, ConnectedClient};

/// Groups of clients that the page shows.
const GROUPS_MAX: usize = 100;

/// The connections of clients that speak the same.
pub(super) struct KindGroup {
    pub kind: &'static str,
    pub connections: String,
    pub requests: String,
}

/// The connections of a user from an address.
pub(super) struct ClientGroup {
    pub address: String,
    pub kind: &'static str,
    /// Empty if nobody has logged in.
    pub user: String,
    pub is_encrypted: bool,
    pub connections: String,
    pub requests: String,
    /// The age of the oldest connection.
    pub open_for: String,
}

#[derive(Default)]
struct Sum {
    connections: u64,
    requests: u64,
    oldest: Duration,
}

impl Sum {
    fn add(&mut self, client: &ConnectedClient) {
        self.connections += 1;
        self.requests += client.requests;
        self.oldest = self.oldest.max(client.open_for);
    }
}

/// Returns connections by what they speak, and by address, user and TLS: those with the most requests first, and how many
/// groups are left out.
pub(super) fn grouped(clients: &[ConnectedClient]) -> (Vec<KindGroup>, Vec<ClientGroup>, usize) {
    let mut by_kind: BTreeMap<ClientKind, Sum> = BTreeMap::new();
    let mut by_client: BTreeMap<(IpAddr, ClientKind, &str, bool), Sum> = BTreeMap::new();
    for client in clients {
        let user = client.user.as_deref().unwrap_or_default();
        let address = client.peer.ip().to_canonical();
        by_kind.entry(client.kind).or_default().add(client);
        by_client.entry((address, client.kind, user, client.is_encrypted)).or_default().add(client);
    }
    let kinds = by_kind.into_iter().map(|(kind, sum)| KindGroup {
        kind: kind.name(),
        connections: count(sum.connections),
        requests: count(sum.requests),
    });
    let mut groups: Vec<_> = by_client.into_iter().collect();
    groups.sort_by_key(|(_, sum)| Reverse(sum.requests));
    let left_out = groups.len().saturating_sub(GROUPS_MAX);
    let groups = groups.into_iter().take(GROUPS_MAX);
    let shown = groups.map(|((address, kind, user, is_encrypted), sum)| ClientGroup {
        address: address.to_string(),
        kind: kind.name(),
        user: escaped(user.as_bytes()),
        is_encrypted,
        connections: count(sum.connections),
        requests: count(sum.requests),
        open_for: countdown(i64::try_from(sum.oldest.as_secs()).unwrap_or(i64::MAX)),
    });
    (kinds.collect(), shown.collect(), left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: [u8; 4], kind: ClientKind, user: Option<&str>, requests: u64) -> ConnectedClient {
        ConnectedClient {
            peer: (address, 1000).into(),
            is_encrypted: false,
            open_for: Duration::from_secs(requests),
            kind,
            requests,
            user: user.map(str::to_owned),
        }
    }

    #[test]
    fn connections_are_grouped_by_address_and_user() {
        let clients = [
            client([10, 0, 0, 1], ClientKind::Thrift07, Some("anna"), 5),
            client([10, 0, 0, 1], ClientKind::Thrift07, Some("anna"), 1),
            client([10, 0, 0, 1], ClientKind::Native, Some("b\n"), 2000),
            client([10, 0, 0, 2], ClientKind::Thrift07, None, 0),
        ];
        let (kinds, groups, left_out) = grouped(&clients);
        let kinds: Vec<_> = kinds.iter().map(|group| (group.kind, &*group.connections)).collect();
        assert_eq!(kinds, [("Thrift 0.7 to 2.1", "3"), ("CQL native protocol", "1")]);
        assert_eq!((groups.len(), left_out), (3, 0));
        assert_eq!((&*groups[0].user, &*groups[0].requests), ("b\\n", "2,000"));
        assert_eq!((&*groups[1].connections, &*groups[1].requests), ("2", "6"));
        assert_eq!(groups[1].open_for, "5 seconds");
    }

    #[test]
    fn the_number_of_groups_is_bounded() {
        let many: Vec<_> =
            (0..=255).map(|last| client([10, 0, 0, last], ClientKind::Native, None, 1)).collect();
        let (_, groups, left_out) = grouped(&many);
        assert_eq!((groups.len(), left_out), (GROUPS_MAX, 256 - GROUPS_MAX));
    }
}
