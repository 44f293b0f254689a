//! Makes one recording of several, in the order of time.

use std::collections::HashMap;
use std::iter::Peekable;

use super::super::{Event, EventKind, Recording, TrafficError};

/// Iterates over the events of several recordings, in the order of time. Connections and calls get new numbers.
///
/// A recording whose times go back, because the clock of its recorder did, keeps its own order.
pub struct Merge {
    sources: Vec<Source>,
    next_connection: u64,
    next_call: u64,
}

struct Source {
    events: Peekable<Recording>,
    connections: HashMap<u64, u64>,
    /// The new numbers of calls without a reply so far.
    calls: HashMap<u64, (u64, u64)>,
}

impl Merge {
    /// Merges recordings from their present positions on.
    pub fn new(recordings: Vec<Recording>) -> Merge {
        let source = |recording: Recording| Source {
            events: recording.peekable(),
            connections: HashMap::new(),
            calls: HashMap::new(),
        };
        Merge { sources: recordings.into_iter().map(source).collect(), next_connection: 1, next_call: 1 }
    }

    /// Returns the source with the earliest event, or with an error.
    fn earliest(&mut self) -> Option<usize> {
        let time = |source: &mut Source| match source.events.peek() {
            None => None,
            Some(Ok(event)) => Some(event.at_us),
            Some(Err(_)) => Some(i64::MIN),
        };
        let times = self.sources.iter_mut().enumerate().filter_map(|(at, source)| Some((time(source)?, at)));
        times.min().map(|(_, at)| at)
    }

    fn renumbered(&mut self, from: usize, event: Event) -> Event {
        let Some(source) = self.sources.get_mut(from) else { return event };
        let next = &mut self.next_connection;
        let connection = *source.connections.entry(event.connection).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        let kind = match event.kind {
            EventKind::Request { call, message } => {
                let number = self.next_call;
                self.next_call += 1;
                source.calls.insert(call, (number, connection));
                EventKind::Request { call: number, message }
            }
            EventKind::Reply { call, message } => {
                let number = source.calls.remove(&call).map_or(call, |(number, _)| number);
                EventKind::Reply { call: number, message }
            }
            EventKind::Closed { by } => {
                source.connections.remove(&event.connection);
                source.calls.retain(|_, (_, of)| *of != connection);
                EventKind::Closed { by }
            }
            other => other,
        };
        Event { at_us: event.at_us, connection, kind }
    }
}

impl Iterator for Merge {
    type Item = Result<Event, TrafficError>;

    fn next(&mut self) -> Option<Self::Item> {
        let from = self.earliest()?;
        match self.sources.get_mut(from)?.events.next()? {
            Ok(event) => Some(Ok(self.renumbered(from, event))),
            Err(error) => Some(Err(error)),
        }
    }
}
