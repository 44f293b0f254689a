//! The partitioner of the recorded server, which decides the order of its rows.

use std::collections::HashMap;

use super::super::call::{Answer, Call, Conversation, PreparedTexts, ReplyContent};
use super::super::{Event, EventKind, TrafficError};

/// Events among which the partitioner is looked for: clients ask for it when they connect.
const EVENTS_MAX: usize = 100_000;

/// Returns the class of the partitioner, if a client has asked for it: by `describe_partitioner`, or by a SELECT of the
/// column `partitioner` of `system.local`.
pub fn partitioner_of(events: impl Iterator<Item = Result<Event, TrafficError>>) -> Option<String> {
    let mut prepared = PreparedTexts::default();
    let mut connections: HashMap<u64, Conversation> = HashMap::new();
    let mut open: HashMap<u64, Call> = HashMap::new();
    for Event { connection, kind, .. } in events.take(EVENTS_MAX).flatten() {
        let of = connections.get_mut(&connection);
        match (kind, of) {
            (EventKind::Opened { protocol, .. }, None) => {
                connections.insert(connection, Conversation::new(protocol));
            }
            (EventKind::Request { call, message }, Some(of)) => {
                open.extend(of.request(&message, &prepared).ok().map(|decoded| (call, decoded)));
            }
            (EventKind::Reply { call, message }, Some(of)) => {
                let found = open.remove(&call).and_then(|call| {
                    let answer = of.reply(&call, &message, &mut prepared).ok()?;
                    partitioner_in(&call, &answer)
                });
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
    }
    None
}

fn partitioner_in(call: &Call, answer: &Answer) -> Option<String> {
    let class = match answer {
        Answer::Thrift(reply) if call.method == "describe_partitioner" => {
            reply.fields.get(&0)?.as_binary()?
        }
        Answer::Native(reply) => {
            let ReplyContent::Rows(rows) = &reply.content else { return None };
            let mut columns = rows.columns.iter();
            call.family.as_deref().filter(|family| *family == "local")?;
            let at = columns.position(|column| column.name == "partitioner")?;
            rows.rows.first()?.get(at)?.as_ref()?
        }
        Answer::Thrift(_) => return None,
    };
    String::from_utf8(class.to_vec()).ok().filter(|class| class.ends_with("Partitioner"))
}
