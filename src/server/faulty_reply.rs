//! Faults of replies: what a test wants to happen to the bytes of one.

use std::time::Duration;

use bytes::BytesMut;

use crate::db::faults::ReplyFault;

/// The pause after each byte of a reply that trickles.
pub const TRICKLE: Duration = Duration::from_millis(10);

/// What happens after the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterReply {
    /// The next one, as usual.
    GoOn,
    /// All that is in the output is sent byte by byte.
    Trickle,
    /// All that is in the output is sent, and the connection is closed.
    Close,
}

/// Does to a reply, which begins at `start` and has a header of this length, what a fault wants.
pub fn spoil(fault: ReplyFault, out: &mut BytesMut, start: usize, header: usize) -> AfterReply {
    let end = out.len();
    match fault {
        ReplyFault::None => out.truncate(start),
        ReplyFault::Closed => {
            out.truncate(start);
            return AfterReply::Close;
        }
        ReplyFault::Half => {
            out.truncate(start + (end - start) / 2);
            return AfterReply::Close;
        }
        ReplyFault::ClosedAfter => return AfterReply::Close,
        ReplyFault::Rubbish => {
            let rubbish = (0u8..).map(|number| number.wrapping_mul(167) ^ 0xa5);
            out[(start + header).min(end)..]
                .iter_mut()
                .zip(rubbish.cycle())
                .for_each(|(byte, new)| *byte = new);
        }
        ReplyFault::Twice => out.extend_from_within(start..end),
        ReplyFault::Trickle => return AfterReply::Trickle,
    }
    AfterReply::GoOn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spoiled(fault: ReplyFault) -> (Vec<u8>, AfterReply) {
        let mut out = BytesMut::from(&b"earlier|head|0123456789"[..]);
        let after = spoil(fault, &mut out, 8, 5);
        (out.to_vec(), after)
    }

    #[test]
    fn only_the_last_reply_is_changed() {
        assert_eq!(spoiled(ReplyFault::None), (b"earlier|".to_vec(), AfterReply::GoOn));
        assert_eq!(spoiled(ReplyFault::Closed), (b"earlier|".to_vec(), AfterReply::Close));
        assert_eq!(spoiled(ReplyFault::Half), (b"earlier|head|01".to_vec(), AfterReply::Close));
        let whole = b"earlier|head|0123456789".to_vec();
        assert_eq!(spoiled(ReplyFault::ClosedAfter), (whole.clone(), AfterReply::Close));
        assert_eq!(spoiled(ReplyFault::Trickle), (whole.clone(), AfterReply::Trickle));
        let twice = b"earlier|head|0123456789head|0123456789".to_vec();
        assert_eq!(spoiled(ReplyFault::Twice), (twice, AfterReply::GoOn));
        let (rubbish, after) = spoiled(ReplyFault::Rubbish);
        assert_eq!((rubbish.len(), after), (whole.len(), AfterReply::GoOn));
        assert!(rubbish.starts_with(b"earlier|head|") && rubbish[13..] != whole[13..]);
    }
}
