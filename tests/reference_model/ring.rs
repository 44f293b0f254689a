//! The order of rows: which rows a scan reads, and where a range of the ring is split.

use base::model::{Bounds, RangeCommand};
use base::partitioner::Partitioner;
use bytes::Bytes;

use super::row::StoredRow;

pub fn token_of(key: &[u8], partitioner: &dyn Partitioner) -> Vec<u8> {
    let mut token = Vec::new();
    partitioner.token(key, &mut token);
    token
}

/// Returns the rows within the bounds of a scan, in its order. `rows` are in no order.
pub fn rows_of_scan(
    rows: &[(Bytes, StoredRow)],
    command: &RangeCommand,
    partitioner: &dyn Partitioner,
) -> Vec<(Bytes, StoredRow)> {
    let mut ring: Vec<(Vec<u8>, Bytes, StoredRow)> =
        rows.iter().map(|(key, row)| (token_of(key, partitioner), key.clone(), row.clone())).collect();
    // Rows are in the order of their tokens; rows with equal tokens are in the order of their keys.
    ring.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    let from = |start: &Bytes, token: &[u8]| start.is_empty() || *token >= token_of(start, partitioner)[..];
    let picked = |is_inside: &dyn Fn(&[u8]) -> bool| -> Vec<(Bytes, StoredRow)> {
        let inside = ring.iter().filter(|(token, _, _)| is_inside(token));
        inside.map(|(_, key, row)| (key.clone(), row.clone())).collect()
    };
    match &command.bounds {
        // 0.5 and later: between the tokens of two keys, both included; an empty key is an open end.
        Bounds::Keys { start, end } => picked(&|token| {
            from(start, token) && (end.is_empty() || *token <= token_of(end, partitioner)[..])
        }),
        // 1.1 and later: from the token of a key, included, to a token, included.
        Bounds::KeyToToken { start, end } => {
            picked(&|token| from(start, token) && end.as_ref().is_none_or(|end| *token <= end[..]))
        }
        Bounds::Tokens { start, end } => {
            let minimum = partitioner.minimum_token(command.read.behaviour.release);
            // All releases: the smallest token of the ring, as an end, means the end of the ring.
            if *end == minimum {
                return picked(&|token| *token > start[..]);
            }
            // 0.6 and later: the start token is excluded, the end token included.
            if start < end {
                return picked(&|token| *token > start[..] && *token <= end[..]);
            }
            // 0.6 and later: a range whose end does not come after its start wraps around the end of the ring.
            let mut wrapped = picked(&|token| *token > start[..]);
            wrapped.extend(picked(&|token| *token <= end[..]));
            wrapped
        }
    }
}

/// Returns the tokens that split a range of the ring into parts of `keys_per_split` tokens each.
pub fn splits(mut tokens: Vec<Vec<u8>>, start: &[u8], end: &[u8], keys_per_split: usize) -> Vec<Vec<u8>> {
    tokens.sort();
    tokens.dedup();
    let after_start: Vec<Vec<u8>> = tokens.iter().filter(|token| token[..] > *start).cloned().collect();
    let walked = if start < end {
        after_start.into_iter().filter(|token| token[..] <= *end).collect()
    } else {
        // The range wraps around the end of the ring.
        let up_to_end = tokens.iter().filter(|token| token[..] <= *end && token[..] <= *start).cloned();
        after_start.into_iter().chain(up_to_end).collect::<Vec<_>>()
    };
    let size = keys_per_split.max(1);
    let begins_part = |at: usize| at > 0 && at.is_multiple_of(size);
    walked.into_iter().enumerate().filter(|(at, _)| begins_part(*at)).map(|(_, token)| token).collect()
}
