//! The events that wait for the replay. Their memory is bounded: a slow candidate makes the source leave out calls, and
//! never makes it wait.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::super::{Event, EventKind};
use crate::limits::SHADOW_BACKLOG_BYTES_MAX;

/// The queue from the source to the replay, which alone takes from it.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    events: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<Event>,
    bytes: usize,
    is_last: bool,
}

/// The size of the waiting events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BacklogSize {
    pub events: usize,
    pub bytes: usize,
}

impl Backlog {
    /// Returns whether there is room for a call.
    pub(super) fn has_room(&self) -> bool {
        self.events.lock().bytes < SHADOW_BACKLOG_BYTES_MAX
    }

    /// Adds an event, also if there is no room: without the reply of a call, the call could not be compared.
    pub(super) fn push(&self, event: Event) {
        let mut waiting = self.events.lock();
        waiting.bytes += bytes_of(&event);
        waiting.queue.push_back(event);
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Lets [`Backlog::next`] return `None` after the rest.
    pub(super) fn end(&self) {
        self.events.lock().is_last = true;
        self.arrived.notify_one();
    }

    /// Waits for the next event. `None` after the last.
    pub(super) async fn next(&self) -> Option<Event> {
        loop {
            {
                let mut waiting = self.events.lock();
                if let Some(event) = waiting.queue.pop_front() {
                    waiting.bytes -= bytes_of(&event);
                    return Some(event);
                }
                if waiting.is_last {
                    return None;
                }
            }
            self.arrived.notified().await;
        }
    }

    /// Drops all events. Returns the number of requests among them.
    pub(super) fn drop_calls(&self) -> u64 {
        let mut waiting = self.events.lock();
        waiting.bytes = 0;
        let dropped = waiting.queue.drain(..);
        dropped.filter(|event| matches!(event.kind, EventKind::Request { .. })).count() as u64
    }

    pub(super) fn size(&self) -> BacklogSize {
        let waiting = self.events.lock();
        BacklogSize { events: waiting.queue.len(), bytes: waiting.bytes }
    }
}

fn bytes_of(event: &Event) -> usize {
    let message = match &event.kind {
        EventKind::Request { message, .. } | EventKind::Reply { message, .. } => message.len(),
        EventKind::Pushed { message } => message.len(),
        EventKind::Opened { .. } | EventKind::Closed { .. } | EventKind::Lost(_) => 0,
    };
    size_of::<Event>() + message
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[tokio::test]
    async fn a_full_backlog_has_no_room_until_it_is_taken_from() {
        let backlog = Backlog::default();
        let message = Bytes::from(vec![0; SHADOW_BACKLOG_BYTES_MAX / 2]);
        let event = |call| Event {
            at_us: 0,
            connection: 1,
            kind: EventKind::Request { call, message: message.clone() },
        };
        backlog.push(event(1));
        assert!(backlog.has_room());
        backlog.push(event(2));
        assert!(!backlog.has_room());
        assert_eq!(backlog.next().await, Some(event(1)));
        assert!(backlog.has_room());
        backlog.end();
        assert_eq!(backlog.next().await, Some(event(2)));
        backlog.push(event(3));
        assert_eq!(backlog.drop_calls(), 1);
        assert_eq!(backlog.next().await, None);
        assert_eq!(backlog.size(), BacklogSize { events: 0, bytes: 0 });
    }
}
