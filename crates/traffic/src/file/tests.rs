//! Tests of files: written events can be read, damage costs one block, and nothing that a file has causes a panic.

use std::io::Cursor;
use std::path::Path;

use bytes::{BufMut, Bytes, BytesMut};
use proptest::prelude::*;

use super::*;
use crate::{Event, EventKind, Header, Loss, LossReason, Protocol, Side, TrafficError};
use wire::thrift::{MessageKind, Writer as ThriftWriter};

const START_US: i64 = 1_384_000_000_000_000;

fn header() -> Header {
    Header { program: "thriftstore 0.1.0".to_owned(), ..Header::new(START_US, vec!["old:9160".to_owned()]) }
}

/// Returns a `get_count` of a column family, or its reply.
fn message(is_reply: bool, family: &str, seqid: i32) -> Bytes {
    let mut out = BytesMut::new();
    let mut writer = ThriftWriter::new(&mut out);
    if is_reply {
        writer.message_begin(b"get_count", MessageKind::Reply, seqid);
        writer.field_i32(0, seqid);
    } else {
        writer.message_begin(b"get_count", MessageKind::Call, seqid);
        writer.field_string(1, b"row");
        writer.field_struct(2);
        writer.field_string(3, family.as_bytes());
        writer.stop();
    }
    writer.stop();
    out.freeze()
}

fn event(at: i64, connection: u64, kind: EventKind) -> Event {
    Event { at_us: START_US + at, connection, kind }
}

fn opened(at: i64, connection: u64, protocol: Protocol) -> Event {
    let client = format!("10.0.0.5:{}", 50_000 + connection);
    event(at, connection, EventKind::Opened { protocol, client, upstream: "old:9160".to_owned() })
}

/// Returns a recording with an event of each kind. Its fixture is `tests/fixtures/recording-1.rec`.
fn conversation() -> Vec<Event> {
    let framed = Protocol::Thrift { is_framed: true };
    let query = Bytes::from_static(b"\x04\0\0\x07\x07\0\0\0\x19\0\0\0\x12SELECT * FROM Tags\0\x01\0");
    let pushed = Bytes::from_static(b"\x84\0\xff\xff\x0c\0\0\0\x02\0\0");
    vec![
        opened(0, 1, framed),
        event(1, 1, EventKind::Request { call: 1, message: message(false, "Posts", 7) }),
        opened(2, 2, Protocol::Native),
        event(3, 2, EventKind::Request { call: 2, message: query }),
        event(9, 1, EventKind::Reply { call: 1, message: message(true, "Posts", 7) }),
        event(8, 2, EventKind::Pushed { message: pushed }),
        event(12, 2, EventKind::Lost(Loss { messages: 3, bytes: 400, why: LossReason::Behind })),
        event(13, 2, EventKind::Closed { by: Side::Server }),
        event(20, 1, EventKind::Closed { by: Side::Client }),
    ]
}

/// Writes events with a block for each `block` of them.
fn written(events: &[Event], block: usize) -> Vec<u8> {
    let mut labels = Labels::default();
    let mut writer = RecordingWriter::over(Vec::new(), Path::new("test.rec"), &header()).unwrap();
    for (event, number) in events.iter().zip(1..) {
        writer.write(event, &labels.of(event)).unwrap();
        if number % block == 0 {
            writer.end_block().unwrap();
        }
    }
    writer.finish().unwrap()
}

fn reader(file: &[u8]) -> Result<RecordingReader<Cursor<&[u8]>>, TrafficError> {
    RecordingReader::over(Cursor::new(file), Path::new("test.rec"))
}

#[test]
fn what_is_written_can_be_read() {
    for block in [1, 2, 100] {
        let file = written(&conversation(), block);
        let mut reader = reader(&file).unwrap();
        assert_eq!(reader.header(), &header());
        let read: Result<Vec<Event>, _> = reader.by_ref().collect();
        assert_eq!(read.unwrap(), conversation());
        assert_eq!(reader.ending(), Some(Ending::Complete));
    }
}

#[test]
fn the_fixture_of_format_1_can_be_read_and_is_still_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recording-1.rec");
    let mut reader = RecordingReader::open(&path).unwrap();
    assert_eq!(reader.header(), &header());
    let read: Result<Vec<Event>, _> = reader.by_ref().collect();
    assert_eq!(read.unwrap(), conversation());
    assert_eq!(reader.ending(), Some(Ending::Complete));
}

#[test]
fn a_cut_file_is_read_up_to_its_last_whole_block() {
    let events = conversation();
    let file = written(&events, 2);
    let mut counts = Vec::new();
    for end in 0..file.len() {
        let mut reader = match reader(&file[..end]) {
            Ok(reader) => reader,
            Err(TrafficError::NotARecording { .. } | TrafficError::DamagedHead { .. }) => continue,
            Err(error) => panic!("{end}: {error}"),
        };
        let read: Result<Vec<Event>, _> = reader.by_ref().collect();
        let read = read.unwrap();
        assert_eq!(read, events[..read.len()], "{end}");
        assert!(matches!(reader.ending(), Some(Ending::Open { .. })), "{end}");
        counts.push(read.len());
    }
    counts.dedup();
    assert_eq!(counts, [0, 2, 4, 6, 8, 9]);
}

#[test]
fn a_flipped_bit_costs_one_block_and_is_reported() {
    let events = conversation();
    let file = written(&events, 3);
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let Ok(mut reader) = reader(&damaged) else { continue };
        let (mut read, mut errors) = (Vec::new(), 0);
        for event in reader.by_ref() {
            match event {
                Ok(event) => read.push(event),
                Err(TrafficError::Damaged { .. }) => errors += 1,
                Err(error) => panic!("{bit}: {error}"),
            }
        }
        assert!(read.iter().all(|event| events.contains(event)), "{bit}");
        // The damage is in a block, or in the end of the file.
        assert_eq!(errors, 1, "{bit}");
        assert!(read.len() >= events.len() - 3, "{bit}: {} events", read.len());
    }
}

#[test]
fn a_selection_skips_blocks_of_others() {
    let mut events = vec![opened(0, 1, Protocol::Thrift { is_framed: true })];
    for call in 1..=100 {
        let family = format!("Family{call}");
        events.push(event(
            call * 10,
            1,
            EventKind::Request { call: call as u64, message: message(false, &family, 1) },
        ));
        events.push(event(
            call * 10 + 5,
            1,
            EventKind::Reply { call: call as u64, message: message(true, &family, 1) },
        ));
    }
    let file = written(&events, 1);
    let read = |selection: BlockSelection| {
        let mut reader = reader(&file).unwrap().only(selection);
        let found: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(found.len() as u64 + reader.skipped_blocks(), events.len() as u64);
        found
    };
    let one = BlockSelection { families: vec![b"Family7".to_vec()], ..BlockSelection::default() };
    // The opening of the connection, the call and its reply.
    assert_eq!(read(one), [events[0].clone(), events[13].clone(), events[14].clone()]);
    let time = BlockSelection { from_us: Some(START_US + 990), ..BlockSelection::default() };
    assert_eq!(read(time), [&events[..1], &events[197..]].concat());
    let until = BlockSelection { until_us: Some(START_US + 15), ..BlockSelection::default() };
    assert_eq!(read(until), events[..3]);
    let other = BlockSelection { methods: vec![b"insert".to_vec()], ..BlockSelection::default() };
    assert_eq!(read(other), events[..1]);
    let connection = BlockSelection { connections: vec![1], ..BlockSelection::default() };
    assert_eq!(read(connection), events);
}

#[test]
fn parts_are_read_as_one_recording_and_each_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day.rec");
    let limits = RotationLimits { bytes: None, age_us: Some(100) };
    let mut writer = PartWriter::create(&path, header(), limits).unwrap();
    let mut events = vec![opened(0, 1, Protocol::Thrift { is_framed: false })];
    for call in 0..10 {
        let request = EventKind::Request { call, message: message(false, "Posts", 1) };
        events.push(event(call as i64 * 60, 1, request));
    }
    events.iter().for_each(|event| writer.write(event).unwrap());
    assert_eq!(writer.parts(), 5);
    let written = writer.finish().unwrap();
    assert_eq!(written, (1..=5).map(|part| part_path(&path, part).metadata().unwrap().len()).sum::<u64>());
    let all: Vec<Event> = PartReader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(all, events);
    let third: Vec<Event> = PartReader::open(&part_path(&path, 3)).unwrap().map(Result::unwrap).collect();
    assert_eq!(third, [events[0].clone(), events[5].clone(), events[6].clone()]);
    assert!(matches!(PartWriter::create(&path, header(), limits), Err(TrafficError::Exists { .. })));
}

/// A file on a full disk.
struct Full {
    left: usize,
    written: Vec<u8>,
}

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = bytes.len().min(self.left);
        self.left -= count;
        self.written.extend_from_slice(&bytes[..count]);
        if count == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_leaves_whole_blocks() {
    let events = conversation();
    let whole = written(&events, 1).len();
    for room in 0..whole {
        let mut disk = Full { left: room, written: Vec::new() };
        let mut labels = Labels::default();
        let mut outcome = Ok(());
        if let Ok(mut writer) = RecordingWriter::over(&mut disk, Path::new("test.rec"), &header()) {
            for event in &events {
                outcome = writer.write(event, &labels.of(event)).and_then(|()| writer.end_block());
                if outcome.is_err() {
                    break;
                }
            }
            outcome = outcome.and_then(|()| writer.finish().map(drop));
            assert!(matches!(outcome, Err(TrafficError::Unwritable { .. })), "{room}");
        }
        if let Ok(reader) = reader(&disk.written) {
            let read: Result<Vec<Event>, _> = reader.collect();
            let read = read.unwrap();
            assert_eq!(read, events[..read.len()]);
        }
    }
}

#[test]
fn foreign_files_are_refused() {
    assert!(matches!(reader(b"").unwrap_err(), TrafficError::NotARecording { .. }));
    assert!(matches!(reader(&[7; 100]).unwrap_err(), TrafficError::NotARecording { .. }));
    let later = RecordingWriter::over(Vec::new(), Path::new("x"), &Header { format: 2, ..header() }).unwrap();
    let error = reader(&later.finish().unwrap()).unwrap_err().to_string();
    assert_eq!(
        error,
        "test.rec has format 2 of recordings, but this version reads format 1: use a later version of thriftstore"
    );
}

#[test]
fn large_messages_have_blocks_of_their_own() {
    let large = Bytes::from(vec![7; 3 * crate::limits::RECORDING_BLOCK_BYTES]);
    let events = vec![
        opened(0, 1, Protocol::Native),
        event(1, 1, EventKind::Request { call: 1, message: large.clone() }),
        event(2, 1, EventKind::Reply { call: 1, message: large }),
    ];
    let file = written(&events, 100);
    assert!(file.len() < 20_000, "{}", file.len());
    let read: Result<Vec<Event>, _> = reader(&file).unwrap().collect();
    assert_eq!(read.unwrap(), events);
}

proptest! {
    #[test]
    fn random_blocks_are_errors_or_events(payload in prop::collection::vec(any::<u8>(), 0..200), events in 0u32..50) {
        // A block with right checksums and any content.
        let mut file = written(&[], 1);
        file.truncate(file.len() - block::HEAD_BYTES);
        let compressed = lz4_flex::block::compress(&payload);
        let index = BlockIndex::default().encode();
        let head = block::BlockHead {
            is_end: false, events, first_us: 0, last_us: 0,
            index_bytes: index.len() as u32, payload_bytes: compressed.len() as u32, events_bytes: payload.len() as u32,
            index_sum: crc32fast::hash(&index), payload_sum: crc32fast::hash(&compressed),
        };
        file.put_slice(&head.encode());
        file.put_slice(&index);
        file.put_slice(&compressed);
        prop_assert!(reader(&file).unwrap().count() <= events as usize + 1);
    }
}

/// Writes the fixture of the current format. Existing fixtures are never edited, so it refuses to replace a file.
#[test]
#[ignore = "writes the fixture of a new format"]
fn write_fixture() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recording-1.rec");
    assert!(!path.exists(), "the fixture exists already");
    std::fs::write(path, written(&conversation(), 4)).unwrap();
}
