//! Sends the writes of a queue to the other server, in order, until it has acknowledged them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::again::AgainReason;
use super::failure::QueueError;
use super::lane::{Lane, LaneKey, LostLane};
use super::login::QueueLogin;
use super::outcome::QueuedOutcome;
use super::rule::ResendRule;
use super::segment::StoredWrite;
use super::write_queue::WriteQueue;
use crate::replay::CandidateServer;
use base::compat::features::ConsistencyLevel;
use net::Connector;

/// Writes that are sent before the answer to the first: streams of the native protocol end at 127 in its first versions.
const WINDOW: usize = 100;
/// Connections that are kept open: `THRIFT_LANES` for each keyspace, and an application has few keyspaces.
const LANES_MAX: usize = 256;
/// The first pause after a failure, and the longest. Each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// A write is listed once the server has closed the connection at it so many times, and has answered other requests.
const CLOSED_MAX: u32 = 3;

/// The options of a sender.
#[derive(Clone)]
pub struct SenderOptions {
    /// The server that gets the writes.
    pub server: CandidateServer,
    /// Encrypts the connections; `None`: they are not encrypted.
    pub tls: Option<Connector>,
    /// The time that an answer may take.
    pub timeout: Duration,
    /// The consistency level of the writes; `None`: the one that the client has chosen.
    pub consistency: Option<ConsistencyLevel>,
    /// The login at the server, if it requires one.
    pub login: Option<QueueLogin>,
}

/// The only sender of a queue.
pub struct QueueSender {
    queue: Arc<WriteQueue>,
    options: SenderOptions,
    lanes: HashMap<LaneKey, Lane>,
    /// The writes that are sent one by one, because the server has closed the connection at one of them.
    alone: usize,
    /// The write at which the server has closed the connection last, and how often.
    closed_at: Option<ClosingWrite>,
}

/// A write at which the server closes the connection, such as a message above its limit of frames.
struct ClosingWrite {
    number: u64,
    times: u32,
}

impl QueueSender {
    /// Creates the sender of a queue.
    pub fn new(queue: Arc<WriteQueue>, options: SenderOptions) -> QueueSender {
        QueueSender { queue, options, lanes: HashMap::new(), alone: 0, closed_at: None }
    }

    /// Sends until the task is dropped. While the server cannot be reached, tries again and again.
    ///
    /// # Errors
    ///
    /// If the disk fails, or a file of the queue is damaged. The status of the queue has the error, too.
    pub async fn run(self) -> Result<(), QueueError> {
        let queue = self.queue.clone();
        let ended = self.send_all().await;
        if let Err(error) = &ended {
            queue.note_trouble(&format!("{error}; start the program again once this is mended"));
        }
        ended
    }

    async fn send_all(mut self) -> Result<(), QueueError> {
        self.give_up_begun().await?;
        let mut pause = FIRST_PAUSE;
        loop {
            let writes = self.queue.next(WINDOW).await?;
            match self.deliver(&writes).await? {
                Ok(()) => pause = FIRST_PAUSE,
                Err(why) => {
                    self.queue.note_trouble(&why);
                    self.lanes.clear();
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    /// A write that was being sent when the process ended may be applied: it is not sent again.
    async fn give_up_begun(&self) -> Result<(), QueueError> {
        let Some(number) = self.queue.begun() else { return Ok(()) };
        let writes = self.queue.next(1).await?;
        match writes.first().filter(|first| first.number == number) {
            Some(first) => self.settle(first, AgainReason::UnknownOutcome, ""),
            None => Ok(()),
        }
    }

    /// Lists the table of a write, and goes on after it.
    fn settle(&self, stored: &StoredWrite, reason: AgainReason, error: &str) -> Result<(), QueueError> {
        self.queue.add_again(&stored.write.table, reason, error, stored.write.at_us)?;
        self.queue.acknowledge(stored)
    }

    /// Sends the first of these writes. The inner result has the reason why the same must be tried again.
    async fn deliver(&mut self, writes: &[StoredWrite]) -> Result<Result<(), String>, QueueError> {
        let is_together = |stored: &&StoredWrite| stored.write.rule == ResendRule::Timestamped;
        let together = writes.iter().take_while(is_together).count();
        match writes.first() {
            Some(first) if together == 0 || self.alone > 0 => {
                let delivered = self.deliver_alone(first).await?;
                self.alone = self.alone.saturating_sub(usize::from(delivered.is_ok()));
                Ok(delivered)
            }
            _ => self.deliver_together(writes.get(..together).unwrap_or_default()).await,
        }
    }

    /// Sends a write whose order or number counts, or at which the server may close the connection.
    async fn deliver_alone(&mut self, stored: &StoredWrite) -> Result<Result<(), String>, QueueError> {
        let is_once = stored.write.rule == ResendRule::Once;
        let Some(key) = self.key_of(stored) else {
            return self.settle(stored, AgainReason::NotSendable, "").map(Ok);
        };
        if let Err(why) = self.open(&key).await {
            return Ok(Err(why));
        }
        if is_once {
            self.queue.begin(Some(stored.number))?;
        }
        let Some(lane) = self.lanes.get_mut(&key) else { return Ok(Ok(())) };
        let sent = lane.send(&[&stored.write], self.options.consistency).await;
        let outcome = sent.map(|mut outcomes| outcomes.pop().unwrap_or_else(unanswered));
        match outcome {
            Ok(QueuedOutcome::Applied) => self.queue.acknowledge(stored).map(Ok),
            Ok(QueuedOutcome::Refused(why) | QueuedOutcome::Failed(why)) => {
                self.settle(stored, AgainReason::Refused, &why).map(Ok)
            }
            Ok(QueuedOutcome::Unavailable(why)) => {
                if is_once {
                    self.queue.begin(None)?;
                }
                Ok(Err(why))
            }
            Ok(QueuedOutcome::TimedOut(why)) if !is_once => Ok(Err(why)),
            Err(lost) if !is_once => {
                if lost.is_closed && self.closes_again(stored, &key).await {
                    self.lanes.clear();
                    let why = format!("the server closes the connection at {}", stored.write.described());
                    return self.settle(stored, AgainReason::NotSendable, &why).map(Ok);
                }
                Ok(Err(lost.why))
            }
            Ok(QueuedOutcome::TimedOut(_)) => self.settle(stored, AgainReason::UnknownOutcome, "").map(Ok),
            Err(_) => {
                self.lanes.clear();
                self.settle(stored, AgainReason::UnknownOutcome, "").map(Ok)
            }
        }
    }

    /// Returns whether the server has closed the connection at a write often enough, and answers other requests.
    async fn closes_again(&mut self, stored: &StoredWrite, key: &LaneKey) -> bool {
        if !Lane::is_answered(key.clone(), &self.options).await {
            return false;
        }
        let before = self.closed_at.as_ref().filter(|before| before.number == stored.number);
        let times = before.map_or(0, |before| before.times) + 1;
        self.closed_at = Some(ClosingWrite { number: stored.number, times });
        times >= CLOSED_MAX
    }

    /// Sends writes with timestamps: any of them may be sent twice, and in any order.
    async fn deliver_together(&mut self, writes: &[StoredWrite]) -> Result<Result<(), String>, QueueError> {
        let mut outcomes: Vec<Option<QueuedOutcome>> = vec![None; writes.len()];
        let mut groups: Vec<(LaneKey, Vec<usize>)> = Vec::new();
        for (at, stored) in writes.iter().enumerate() {
            let Some(key) = self.key_of(stored) else {
                let why = "it cannot be sent: no address of the native protocol was given";
                outcomes[at] = Some(QueuedOutcome::Refused(why.to_owned()));
                continue;
            };
            let key = key.spread(at);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, members)) => members.push(at),
                None => groups.push((key, vec![at])),
            }
        }
        let missing = groups.iter().filter(|(key, _)| !self.lanes.contains_key(key)).count();
        if self.lanes.len() + missing > LANES_MAX {
            self.lanes.retain(|open, _| groups.iter().any(|(key, _)| key == open));
        }
        let options = &self.options;
        let sent = join_all(groups.into_iter().map(|(key, members)| {
            let lane = self.lanes.remove(&key);
            send_group(lane, key, writes, members, options)
        }));
        let mut trouble = None;
        for sent in sent.await {
            match sent {
                Ok(SentGroup { key, lane, members, outcomes: found }) => {
                    for (at, outcome) in members.into_iter().zip(found) {
                        outcomes[at] = Some(outcome);
                    }
                    self.lanes.insert(key, lane);
                }
                Err(lost) => {
                    if lost.is_closed {
                        self.alone = writes.len();
                    }
                    trouble = Some(lost.why);
                }
            }
        }
        let mut last = None;
        for (stored, outcome) in writes.iter().zip(outcomes) {
            match outcome {
                Some(QueuedOutcome::Applied) => {}
                Some(QueuedOutcome::Refused(why) | QueuedOutcome::Failed(why)) => {
                    let StoredWrite { write, .. } = stored;
                    self.queue.add_again(&write.table, AgainReason::Refused, &why, write.at_us)?;
                }
                Some(QueuedOutcome::TimedOut(why) | QueuedOutcome::Unavailable(why)) => {
                    trouble.get_or_insert(why);
                    break;
                }
                None => break,
            }
            last = Some(stored);
        }
        if let Some(last) = last {
            self.queue.acknowledge(last)?;
        }
        Ok(trouble.map_or(Ok(()), Err))
    }

    /// Returns the connection that a write needs; `None` if the server has none of the kind.
    fn key_of(&self, stored: &StoredWrite) -> Option<LaneKey> {
        LaneKey::of(&stored.write).filter(|key| key.is_of(&self.options.server))
    }

    /// Opens the connection of a key.
    async fn open(&mut self, key: &LaneKey) -> Result<(), String> {
        if !self.lanes.contains_key(key) {
            if self.lanes.len() >= LANES_MAX {
                self.lanes.clear();
            }
            let lane = Lane::open(key.clone(), &self.options).await?;
            self.lanes.insert(key.clone(), lane);
        }
        Ok(())
    }
}

/// Writes that were sent over one connection.
struct SentGroup {
    key: LaneKey,
    lane: Lane,
    /// The places of the writes among all that are sent.
    members: Vec<usize>,
    outcomes: Vec<QueuedOutcome>,
}

/// Sends some of these writes over a connection, which is opened if there is none. After an error it is closed.
async fn send_group(
    lane: Option<Lane>,
    key: LaneKey,
    writes: &[StoredWrite],
    members: Vec<usize>,
    options: &SenderOptions,
) -> Result<SentGroup, LostLane> {
    let mut lane = match lane {
        Some(lane) => lane,
        None => {
            let opened = Lane::open(key.clone(), options).await;
            opened.map_err(|why| LostLane { why, is_closed: false })?
        }
    };
    let sent: Vec<_> = members.iter().filter_map(|at| writes.get(*at)).map(|stored| &stored.write).collect();
    let outcomes = lane.send(&sent, options.consistency).await?;
    Ok(SentGroup { key, lane, members, outcomes })
}

/// The lane returns an outcome for each write.
fn unanswered() -> QueuedOutcome {
    QueuedOutcome::TimedOut("the server has not answered".to_owned())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::super::queued_write::QueuedWrite;
    use super::super::write_queue::QueueLimits;
    use super::*;
    use crate::value::fields_from_json;
    use crate::{Protocol, ThriftMessage};
    use wire::thrift::MessageKind;

    const FRAME_BYTES_MAX: usize = 1_000;

    /// Serves a connection as a Thrift server does whose frames are limited.
    async fn serve(mut stream: TcpStream) -> std::io::Result<()> {
        loop {
            let length = usize::try_from(stream.read_u32().await?).unwrap();
            if length > FRAME_BYTES_MAX {
                return Ok(());
            }
            let mut message = vec![0; length];
            stream.read_exact(&mut message).await?;
            let call = ThriftMessage::read(&Bytes::from(message)).unwrap();
            let fields = crate::Fields::new();
            let reply = ThriftMessage { kind: MessageKind::Reply, fields, ..call }.write();
            stream.write_u32(u32::try_from(reply.len()).unwrap()).await?;
            stream.write_all(&reply).await?;
        }
    }

    fn insert(key: &str, value: &str) -> QueuedWrite {
        let column = format!(r#"{{"s": {{"1": {{"t": "c"}}, "2": {{"t": "{value}"}}, "3": {{"l": 1}}}}}}"#);
        let fields = format!(
            r#"{{"1": {{"t": "{key}"}}, "2": {{"s": {{"3": {{"t": "cf"}}}}}}, "3": {column}, "4": {{"i": 1}}}}"#
        );
        let fields = fields_from_json(&serde_json::from_str(&fields).unwrap()).unwrap();
        QueuedWrite {
            at_us: crate::record::now_us(),
            protocol: Protocol::Thrift { is_framed: true },
            rule: ResendRule::Timestamped,
            keyspace: None,
            statement: None,
            table: "k.cf".to_owned(),
            message: ThriftMessage { name: "insert".into(), kind: MessageKind::Call, seqid: 1, fields }
                .write(),
        }
    }

    #[tokio::test]
    async fn a_message_that_the_server_does_not_take_is_listed_and_the_others_are_sent() {
        let directory = tempfile::tempdir().unwrap();
        let limits = QueueLimits { bytes: 1_000_000, age: Duration::from_secs(60) };
        let queue = Arc::new(WriteQueue::open(directory.path(), limits).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let thrift = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        for number in 0..40 {
            let length = if number == 20 { FRAME_BYTES_MAX } else { 10 };
            queue.append(&insert(&format!("row{number}"), &"x".repeat(length))).unwrap();
        }
        let options = SenderOptions {
            server: CandidateServer { thrift, native: None },
            tls: None,
            timeout: Duration::from_secs(10),
            consistency: None,
            login: None,
        };
        let sender = tokio::spawn(QueueSender::new(queue.clone(), options).run());
        let sent = async {
            while queue.status().unsent > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), sent).await.expect("the queue goes on");
        sender.abort();
        let again = queue.status().again;
        let [only] = &again[..] else { panic!("{again:?}") };
        assert_eq!((&only.table[..], only.reason, only.writes), ("k.cf", AgainReason::NotSendable, 1));
        assert!(
            only.error.contains("closes the connection") && only.error.ends_with("row=row20"),
            "{}",
            only.error
        );
    }
}
