//! Finds the end of an unframed message.

use super::header::{HeaderStart, check_name_length};
use super::{Arguments, MessageHeader, Reader, TType, WireError};
use crate::limits::NESTING_MAX;

/// The result of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// The message takes this many bytes from the start of the buffer.
    Complete(usize),
    /// At least this many bytes must arrive before the message can be complete.
    Needed(usize),
}

/// Scans the header and argument struct of a message as its bytes arrive.
///
/// The position is kept between calls, so a large message that arrives slowly is scanned once, not once for each
/// packet. Contents of strings are not read: after a length, the position may be beyond the received bytes.
#[derive(Debug, Default)]
pub struct MessageScanner {
    /// Longest message in bytes.
    limit: usize,
    /// Where the next value starts; may be beyond the received bytes.
    at: usize,
    /// The type of the value at `at`, if it is known already.
    pending: Option<TType>,
    /// Open containers, the argument struct first. Empty until the header has been read.
    open: Vec<Container>,
    /// The arguments of the last complete message, if it arrived whole.
    arguments: Arguments,
    arrived_whole: bool,
}

#[derive(Debug)]
enum Container {
    Struct,
    Elements {
        element: TType,
        left: usize,
    },
    /// `left` counts keys and values, so it is odd when a value comes next.
    Entries {
        key: TType,
        value: TType,
        left: usize,
    },
}

/// Why the scan stops before the end.
enum Pause {
    Needed(usize),
    Broken(WireError),
}

impl From<WireError> for Pause {
    fn from(error: WireError) -> Pause {
        Pause::Broken(error)
    }
}

impl MessageScanner {
    /// Creates a scanner for messages of at most `limit` bytes.
    pub fn new(limit: usize) -> MessageScanner {
        MessageScanner { limit, ..MessageScanner::default() }
    }

    /// Changes the length limit, for the current and later messages.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Continues the scan. `buffer` starts with the message, and has at least the bytes of the last call. After
    /// `Complete` the next call starts a new message.
    ///
    /// # Errors
    ///
    /// If the bytes are not a message, or the message is too long. Then the connection must be closed.
    pub fn scan(&mut self, buffer: &[u8]) -> Result<Scan, WireError> {
        // Most messages have arrived completely and need no saved position.
        self.arrived_whole = false;
        if self.open.is_empty()
            && !buffer.is_empty()
            && let Ok(length) = whole_message(buffer, &mut self.arguments)
            && length <= self.limit
        {
            self.arrived_whole = true;
            return Ok(Scan::Complete(length));
        }
        let walked = self.walk(buffer);
        if self.at > self.limit {
            return Err(WireError::MessageTooLong { length: self.at, limit: self.limit });
        }
        match walked {
            Ok(()) => Ok(Scan::Complete(std::mem::take(&mut self.at))),
            Err(Pause::Needed(count)) => Ok(Scan::Needed(count)),
            Err(Pause::Broken(error)) => Err(error),
        }
    }

    /// Returns the arguments of the last complete message. `None` if it arrived in parts, because then the scan does not
    /// find them.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.arrived_whole.then_some(&self.arguments)
    }

    fn walk(&mut self, buffer: &[u8]) -> Result<(), Pause> {
        if self.open.is_empty() {
            self.header(buffer)?;
            self.open.push(Container::Struct);
        }
        loop {
            if let Some(ttype) = self.pending {
                self.value(buffer, ttype)?;
                self.pending = None;
            }
            if self.next_in_container(buffer)? {
                continue;
            }
            self.open.pop();
            // The last byte of a message is the STOP of its argument struct, so the whole message has arrived.
            if self.open.is_empty() {
                return Ok(());
            }
        }
    }

    /// Skips the header as soon as the length of its name has arrived.
    fn header(&mut self, buffer: &[u8]) -> Result<(), Pause> {
        let start = HeaderStart::of(i32::from_be_bytes(peek(buffer, 0)?))?;
        self.at = match start {
            HeaderStart::OldStyle { name_length } => 4 + name_length + 1 + 4,
            HeaderStart::Strict { .. } => {
                let name_length = check_name_length(i32::from_be_bytes(peek(buffer, 4)?), 4)?;
                8 + name_length + 4
            }
        };
        Ok(())
    }

    /// Makes the innermost container's next value pending. Returns false at the container's end.
    fn next_in_container(&mut self, buffer: &[u8]) -> Result<bool, Pause> {
        match self.open.last_mut() {
            None => Ok(false),
            Some(Container::Struct) => {
                let [code] = peek(buffer, self.at)?;
                let ttype = TType::from_code(code).ok_or(WireError::UnknownType { at: self.at, code })?;
                if ttype == TType::Stop {
                    self.at += 1;
                    return Ok(false);
                }
                self.at += 3;
                self.pending = Some(ttype);
                Ok(true)
            }
            Some(Container::Elements { left: 0, .. } | Container::Entries { left: 0, .. }) => Ok(false),
            Some(Container::Elements { element, left }) => {
                *left -= 1;
                self.pending = Some(*element);
                Ok(true)
            }
            Some(Container::Entries { key, value, left }) => {
                self.pending = Some(if left.is_multiple_of(2) { *key } else { *value });
                *left -= 1;
                Ok(true)
            }
        }
    }

    /// Skips a scalar or string, or opens a container. Changes nothing if it must pause.
    fn value(&mut self, buffer: &[u8], ttype: TType) -> Result<(), Pause> {
        if let Some(length) = ttype.fixed_bytes() {
            self.at += length;
            return Ok(());
        }
        match ttype {
            TType::String => {
                let length = size(peek(buffer, self.at)?, self.at)?;
                self.at += 4;
                self.pass(length, 1)
            }
            TType::Struct => self.enter(Container::Struct),
            TType::Map => {
                let [key, value, count @ ..] = peek::<6>(buffer, self.at)?;
                let count = size(count, self.at + 2)?;
                let key = TType::of_elements(key, count, self.at)?;
                let value = TType::of_elements(value, count, self.at + 1)?;
                self.at += 6;
                self.check_fits(count, key.bytes_min() + value.bytes_min())?;
                self.enter(Container::Entries { key, value, left: 2 * count })
            }
            TType::Set | TType::List => {
                let [code, count @ ..] = peek::<5>(buffer, self.at)?;
                let count = size(count, self.at + 1)?;
                let element = TType::of_elements(code, count, self.at)?;
                self.at += 5;
                self.check_fits(count, element.bytes_min())?;
                match element.fixed_bytes() {
                    Some(length) => {
                        self.enter(Container::Elements { element, left: 0 })?;
                        self.pass(count, length)
                    }
                    None => self.enter(Container::Elements { element, left: count }),
                }
            }
            other => Err(WireError::UnknownType { at: self.at, code: other.code() }.into()),
        }
    }

    /// Opens a container. The argument struct is open, too, and is not a level: arguments are found one by one.
    fn enter(&mut self, container: Container) -> Result<(), Pause> {
        if self.open.len() > NESTING_MAX {
            return Err(WireError::TooDeep { limit: NESTING_MAX }.into());
        }
        self.open.push(container);
        Ok(())
    }

    fn pass(&mut self, count: usize, each: usize) -> Result<(), Pause> {
        self.check_fits(count, each)?;
        self.at += count * each;
        Ok(())
    }

    /// Checks that `count` values of at least `each` bytes fit in a message.
    fn check_fits(&self, count: usize, each: usize) -> Result<(), Pause> {
        // Cannot overflow: a count has 31 bits, usize has 64, and `each` is below 16.
        let length = self.at.saturating_add(count.saturating_mul(each));
        if length > self.limit {
            return Err(WireError::MessageTooLong { length, limit: self.limit }.into());
        }
        Ok(())
    }
}

/// Finds the arguments of the complete message at the start of the buffer, and returns its length; an error if it is
/// incomplete or invalid.
fn whole_message(buffer: &[u8], arguments: &mut Arguments) -> Result<usize, WireError> {
    let mut reader = Reader::over(buffer);
    MessageHeader::read(&mut reader)?;
    arguments.find_in(&mut reader)?;
    Ok(reader.position())
}

/// Returns the `N` bytes at `at`, or how many bytes are missing up to their end.
fn peek<const N: usize>(buffer: &[u8], at: usize) -> Result<[u8; N], Pause> {
    let found = buffer.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or_else(|| Pause::Needed(at + N - buffer.len()))
}

fn size(bytes: [u8; 4], at: usize) -> Result<usize, WireError> {
    let size = i32::from_be_bytes(bytes);
    usize::try_from(size).map_err(|_| WireError::NegativeSize { at, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &[u8] = b"\x80\x01\0\x01\0\0\0\x03get\0\0\0\x07";

    fn message(fields: &[u8]) -> Vec<u8> {
        [CALL, fields].concat()
    }

    #[test]
    fn a_message_ends_with_its_argument_struct() {
        let bytes = message(b"\x0b\0\x01\0\0\0\x02ab\x0f\0\x02\x0a\0\0\0\x01\0\0\0\0\0\0\0\x05\0");
        let mut scanner = MessageScanner::new(1000);
        assert_eq!(scanner.scan(&bytes), Ok(Scan::Complete(bytes.len())));
        let two = [&bytes[..], b"\0\0\0\x01x\x01\0\0\0\0\0"].concat();
        assert_eq!(scanner.scan(&two), Ok(Scan::Complete(bytes.len())));
        assert_eq!(scanner.scan(&two[bytes.len()..]), Ok(Scan::Complete(11)));
    }

    #[test]
    fn the_arguments_of_a_message_that_arrives_whole_are_known() {
        let bytes = message(b"\x0b\0\x01\0\0\0\x02ab\x08\0\x02\0\0\0\x01\0");
        let mut scanner = MessageScanner::new(1000);
        scanner.scan(&bytes).unwrap();
        let mut reader = Reader::over(&bytes);
        MessageHeader::read(&mut reader).unwrap();
        let found = Arguments::find(&mut reader).unwrap();
        assert_eq!(scanner.arguments().map(Arguments::as_slice), Some(found.as_slice()));

        scanner.scan(&bytes).unwrap();
        scanner.scan(&bytes[..20]).unwrap();
        assert_eq!(scanner.scan(&bytes), Ok(Scan::Complete(bytes.len())));
        assert!(scanner.arguments().is_none(), "the arguments of an earlier message");
    }

    #[test]
    fn needed_bytes_are_a_lower_bound_that_grows_with_lengths() {
        let mut scanner = MessageScanner::new(1 << 20);
        assert_eq!(scanner.scan(b""), Ok(Scan::Needed(4)));
        assert_eq!(scanner.scan(CALL), Ok(Scan::Needed(1)));
        let announced = message(b"\x0b\0\x01\0\0\x10\0");
        assert_eq!(scanner.scan(&announced), Ok(Scan::Needed(0x1000 + 1)));
    }

    #[test]
    fn lengths_above_the_limit_are_refused_at_once() {
        let too_long = |fields: &[u8]| match MessageScanner::new(1 << 20).scan(&message(fields)) {
            Err(WireError::MessageTooLong { limit, .. }) => limit == 1 << 20,
            _ => false,
        };
        assert!(too_long(b"\x0b\0\x01\x7f\xff\xff\xff"));
        assert!(too_long(b"\x0f\0\x01\x0c\x7f\xff\xff\xff"));
        assert!(too_long(b"\x0d\0\x01\x0d\x0d\x7f\xff\xff\xff"));
        assert!(too_long(b"\x0e\0\x01\x0a\0\x02\0\0"));
        let scalars = [b"\x0a\0\x01\0\0\0\0\0\0\0\0".repeat(100_000), vec![0]].concat();
        assert!(too_long(&scalars));
    }

    #[test]
    fn nesting_has_the_same_limit_whole_and_in_parts() {
        let nested = |levels: usize| message(&[[12, 0, 1].repeat(levels), vec![0; levels + 1]].concat());
        let in_parts = |bytes: &[u8]| {
            let mut scanner = MessageScanner::new(1000);
            assert!(matches!(scanner.scan(&bytes[..CALL.len() + 4]), Ok(Scan::Needed(_))));
            scanner.scan(bytes)
        };
        let fits = nested(NESTING_MAX);
        assert_eq!(MessageScanner::new(1000).scan(&fits), Ok(Scan::Complete(fits.len())));
        assert_eq!(in_parts(&fits), Ok(Scan::Complete(fits.len())));
        let deep = nested(NESTING_MAX + 1);
        let refused = Err(WireError::TooDeep { limit: NESTING_MAX });
        assert_eq!(MessageScanner::new(1000).scan(&deep), refused);
        assert_eq!(in_parts(&deep), refused);
    }

    #[test]
    fn negative_sizes_and_unknown_types_are_errors() {
        let scan = |fields: &[u8]| MessageScanner::new(1000).scan(&message(fields));
        let start = CALL.len();
        assert_eq!(
            scan(b"\x0b\0\x01\xff\xff\xff\xfe"),
            Err(WireError::NegativeSize { at: start + 3, size: -2 })
        );
        assert_eq!(scan(b"\x05"), Err(WireError::UnknownType { at: start, code: 5 }));
        assert_eq!(
            scan(b"\x0f\0\x01\x63\0\0\0\x01"),
            Err(WireError::UnknownType { at: start + 3, code: 0x63 })
        );
        assert_eq!(
            MessageScanner::new(1000).scan(b"\xff\xff\xff\xff"),
            Err(WireError::BadVersion { word: 0xffff_ffff })
        );
    }
}
