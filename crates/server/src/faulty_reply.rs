//! Applies faults to the bytes of replies.

use std::time::Duration;

use bytes::BytesMut;

use db::faults::ReplyFault;

/// The pause after each byte of a reply that trickles.
pub(crate) const TRICKLE: Duration = Duration::from_millis(10);

/// The step after the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterReply {
    /// The next one, as usual.
    GoOn,
    /// All that is in the output is sent byte by byte.
    Trickle,
    /// All that is in the output is sent, and the connection is closed.
    Close,
}

/// Applies a fault to the last reply in `out`, which begins at `start` and has a header of this length.
pub(crate) fn apply_fault(fault: ReplyFault, out: &mut BytesMut, start: usize, header: usize) -> AfterReply {
    let end = out.len();
    assert!(start <= end, "the reply is at the end of the output");
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

    fn faulty(fault: ReplyFault) -> (Vec<u8>, AfterReply) {
        let mut out = BytesMut::from(&b"earlier|head|0123456789"[..]);
        let after = apply_fault(fault, &mut out, 8, 5);
        (out.to_vec(), after)
    }

    #[test]
    fn only_the_last_reply_is_changed() {
        assert_eq!(faulty(ReplyFault::None), (b"earlier|".to_vec(), AfterReply::GoOn));
        assert_eq!(faulty(ReplyFault::Closed), (b"earlier|".to_vec(), AfterReply::Close));
        assert_eq!(faulty(ReplyFault::Half), (b"earlier|head|01".to_vec(), AfterReply::Close));
        let whole = b"earlier|head|0123456789".to_vec();
        assert_eq!(faulty(ReplyFault::ClosedAfter), (whole.clone(), AfterReply::Close));
        assert_eq!(faulty(ReplyFault::Trickle), (whole.clone(), AfterReply::Trickle));
        let twice = b"earlier|head|0123456789head|0123456789".to_vec();
        assert_eq!(faulty(ReplyFault::Twice), (twice, AfterReply::GoOn));
        let (rubbish, after) = faulty(ReplyFault::Rubbish);
        assert_eq!((rubbish.len(), after), (whole.len(), AfterReply::GoOn));
        assert!(rubbish.starts_with(b"earlier|head|") && rubbish[13..] != whole[13..]);
    }
}
