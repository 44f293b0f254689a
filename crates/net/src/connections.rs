//! The places of connections, shared by all ports.
//!
//! A connection is *unproven* until it has completed its handshake, its login or its first request, depending on its
//! protocol and on the server's configuration. Unproven connections may take only a part of the places. If that part or
//! all places are taken, a new connection makes the server close the oldest unproven connection.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::close_request::{CloseRequest, Scarcity};
use crate::limits::{FREE_BYTES_OF_ALL, MESSAGE_BYTES_FREE, MESSAGE_BYTES_FREE_MIN};

/// The time that the server waits for an unproven connection to close before it asks the next one.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// All places. Each listener has a clone of it.
#[derive(Debug, Clone)]
pub struct Connections {
    table: Arc<PlaceTable>,
}

#[derive(Debug)]
struct PlaceTable {
    places: usize,
    free: Arc<Semaphore>,
    unproven_max: usize,
    unproven: Mutex<Unproven>,
}

/// Unproven connections by number, oldest first.
#[derive(Debug, Default)]
struct Unproven {
    next_number: u64,
    by_number: BTreeMap<u64, Arc<CloseRequest>>,
}

impl Unproven {
    /// Asks the oldest connection to close, and forgets it, so that it is asked once.
    fn ask_oldest(&mut self) {
        if let Some((_, oldest)) = self.by_number.pop_first() {
            oldest.ask(Scarcity::Connections);
        }
    }
}

/// The place of one connection. Dropping it frees the place.
#[derive(Debug)]
pub struct ConnectionPlace {
    table: Arc<PlaceTable>,
    /// `None` once the connection is proven.
    number: Option<u64>,
    close_request: Arc<CloseRequest>,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    /// Creates `connections_max` places, and lets unproven connections take `unproven_max` of them.
    pub fn new(connections_max: usize, unproven_max: usize) -> Connections {
        let places = connections_max.clamp(1, Semaphore::MAX_PERMITS);
        let free = Arc::new(Semaphore::new(places));
        Connections { table: Arc::new(PlaceTable { places, free, unproven_max, unproven: Mutex::default() }) }
    }

    /// Returns the number of taken places.
    pub fn taken(&self) -> usize {
        self.table.places.saturating_sub(self.table.free.available_permits())
    }

    /// Waits for a place for a new connection. `None` if the semaphore is closed, which never happens while the server
    /// runs.
    pub async fn enter(&self) -> Option<ConnectionPlace> {
        let permit = self.permit().await?;
        let close_request = Arc::<CloseRequest>::default();
        let mut unproven = self.table.unproven.lock();
        let number = unproven.next_number;
        unproven.next_number += 1;
        let taken = unproven.by_number.insert(number, close_request.clone());
        debug_assert!(taken.is_none(), "a place would be freed with the number of another one");
        if unproven.by_number.len() > self.table.unproven_max {
            unproven.ask_oldest();
        }
        Some(ConnectionPlace {
            table: self.table.clone(),
            number: Some(number),
            close_request,
            _permit: permit,
        })
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        let free = &self.table.free;
        if let Ok(permit) = free.clone().try_acquire_owned() {
            return Some(permit);
        }
        let acquire = free.clone().acquire_owned();
        tokio::pin!(acquire);
        loop {
            self.table.unproven.lock().ask_oldest();
            if let Ok(permit) = timeout(AGAIN_AFTER, &mut acquire).await {
                return permit.ok();
            }
        }
    }
}

impl ConnectionPlace {
    /// Records that the client has completed its handshake, its login or its first request. If the connection was asked
    /// to close for a new connection before that, it stays open, and the server asks another connection if it still
    /// needs a place.
    pub fn prove(&mut self) {
        if let Some(number) = self.number.take() {
            self.table.unproven.lock().by_number.remove(&number);
            self.close_request.withdraw(Scarcity::Connections);
        }
    }

    /// Returns whether it has completed a handshake, a login or a request.
    pub fn is_proven(&self) -> bool {
        self.number.is_none()
    }

    /// Returns the bytes that a buffer of this connection may take without being counted, and may keep while the
    /// connection is idle. The more connections there are, the fewer bytes.
    pub fn free_bytes(&self) -> usize {
        let taken = self.table.places.saturating_sub(self.table.free.available_permits()).max(1);
        (FREE_BYTES_OF_ALL / taken).clamp(MESSAGE_BYTES_FREE_MIN, MESSAGE_BYTES_FREE)
    }

    /// Returns the signal that asks this connection to close.
    pub fn close_request(&self) -> &Arc<CloseRequest> {
        &self.close_request
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.prove();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// Enters while there is a free place.
    fn enter(connections: &Connections) -> ConnectionPlace {
        connections.enter().now_or_never().flatten().unwrap()
    }

    #[test]
    fn the_oldest_unproven_connection_gives_way_to_a_newcomer() {
        let connections = Connections::new(10, 2);
        let mut first = enter(&connections);
        first.prove();
        let second = enter(&connections);
        let third = enter(&connections);
        assert!(!second.close_request().is_asked());
        let fourth = enter(&connections);
        assert!(second.close_request().is_asked());
        assert!(
            !first.close_request().is_asked()
                && !third.close_request().is_asked()
                && !fourth.close_request().is_asked()
        );
        // A connection that has left no longer counts.
        drop(third);
        let _fifth = enter(&connections);
        assert!(!fourth.close_request().is_asked());
    }

    #[test]
    fn free_bytes_shrink_as_connections_grow() {
        let connections = Connections::new(10_000, 10_000);
        let mut places = vec![enter(&connections)];
        assert_eq!(places[0].free_bytes(), MESSAGE_BYTES_FREE);
        let few = FREE_BYTES_OF_ALL / MESSAGE_BYTES_FREE;
        places.extend((1..few).map(|_| enter(&connections)));
        assert_eq!(places[0].free_bytes(), MESSAGE_BYTES_FREE);
        places.extend((0..few).map(|_| enter(&connections)));
        assert_eq!(places[0].free_bytes(), MESSAGE_BYTES_FREE / 2);
        places.extend((places.len()..10_000).map(|_| enter(&connections)));
        assert_eq!(places[0].free_bytes(), MESSAGE_BYTES_FREE_MIN);
        places.truncate(1);
        assert_eq!(places[0].free_bytes(), MESSAGE_BYTES_FREE);
    }

    #[tokio::test]
    async fn a_new_connection_waits_for_a_place_and_proven_connections_keep_theirs() {
        let connections = Connections::new(2, 2);
        let mut proven = enter(&connections);
        proven.prove();
        let silent = enter(&connections);
        let newcomer = tokio::spawn({
            let connections = connections.clone();
            async move { connections.enter().await.unwrap() }
        });
        assert_eq!(silent.close_request().asked().await, Scarcity::Connections);
        assert!(!proven.close_request().is_asked() && !newcomer.is_finished());
        drop(silent);
        let mut newcomer = newcomer.await.unwrap();
        newcomer.prove();
        assert!(connections.enter().now_or_never().is_none(), "both places are taken");
        assert!(!proven.close_request().is_asked() && !newcomer.close_request().is_asked());
        drop(proven);
        enter(&connections);
    }
}
