//! The list in which Cassandra 2.1 stores the range tombstones of one level of a row.
//!
//! The list cuts overlapping range tombstones into pieces that do not overlap. A read by names searches the list for
//! the piece that holds a name, and uses that piece for the following names too, as far as it reaches. So the cuts
//! decide which tombstone a read by names sees:
//!
//! ```text
//!   tombstones   a..c @5    b..b @7
//!   list         a..b @5 | b..b @7 | b..c @5
//!
//!   read of a and b   The search for a finds a..b @5, and that piece reaches b: the cell b @6 is visible.
//!   read of b         Three pieces hold b, and the search finds the latest, b..b @7: the cell b @6 is hidden.
//! ```
//!
//! Names are numbers here: 1 is the smallest bound or requested name, 0 is before all names, [`AFTER_ALL`] is after
//! all names.

use std::cmp::Ordering;

use base::marshal::AbstractType;
use base::model::RangeTombstone;
use bytes::Bytes;

const AFTER_ALL: usize = usize::MAX;

/// A piece of a range tombstone. Both bounds are included.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    start: usize,
    finish: usize,
    timestamp: i64,
}

/// Returns the requested names for which a read by names uses the piece that it found for an earlier name.
pub fn names_in_earlier_pieces(
    ranges: &[RangeTombstone],
    requested: &[Bytes],
    comparator: &dyn AbstractType,
) -> Vec<Bytes> {
    let bounds = ranges.iter().flat_map(|range| [&range.start, &range.finish]);
    let mut known: Vec<&Bytes> = requested.iter().collect();
    // An empty bound is open. An empty name that is requested is a name: tables of CQL have such names.
    known.extend(bounds.filter(|bound| !bound.is_empty()));
    known.sort_by(|one, other| comparator.compare(one, other));
    known.dedup_by(|one, other| comparator.compare(one, other) == Ordering::Equal);
    let number = |name: &Bytes| {
        1 + known.iter().position(|other| comparator.compare(name, other) == Ordering::Equal).unwrap()
    };
    let pieces = pieces_of(ranges, number);
    let mut requested: Vec<usize> = requested.iter().map(number).collect();
    requested.sort_unstable();
    requested.dedup();
    let mut found: Option<Piece> = None;
    let mut reached = Vec::new();
    for name in requested {
        if found.is_some_and(|piece| name <= piece.finish) {
            reached.push(known[name - 1].clone());
        } else {
            found = latest_at(&pieces, name);
        }
    }
    reached
}

/// Returns the latest piece that holds a name; of two pieces with the same timestamp, the second.
fn latest_at(pieces: &[Piece], name: usize) -> Option<Piece> {
    let holding = pieces.iter().filter(|piece| piece.start <= name && name <= piece.finish);
    holding.max_by_key(|piece| piece.timestamp).copied()
}

/// Returns the list of some range tombstones. In 2.1 the list depends on the order in which the tombstones arrived. No
/// store keeps that order; the project's rule is that they arrived in the order of their timestamps, then of their
/// bounds.
fn pieces_of(ranges: &[RangeTombstone], number: impl Fn(&Bytes) -> usize) -> Vec<Piece> {
    let piece = |range: &RangeTombstone| Piece {
        start: if range.start.is_empty() { 0 } else { number(&range.start) },
        finish: if range.finish.is_empty() { AFTER_ALL } else { number(&range.finish) },
        timestamp: range.deletion.marked_for_delete_at,
    };
    let mut tombstones: Vec<Piece> = ranges.iter().map(piece).collect();
    tombstones.retain(|piece| piece.start <= piece.finish);
    tombstones.sort_by_key(|piece| (piece.timestamp, piece.start, piece.finish));
    tombstones.into_iter().fold(Vec::new(), |pieces, tombstone| added(&pieces, tombstone))
}

/// Adds a tombstone to a list and returns the new list.
fn added(pieces: &[Piece], tombstone: Piece) -> Vec<Piece> {
    let mut list = Vec::new();
    // The part of the tombstone that is not yet in the list.
    let mut rest = Some(tombstone);
    for (at, piece) in pieces.iter().enumerate() {
        let is_last = at + 1 == pieces.len();
        rest = match rest {
            None => {
                list.push(*piece);
                None
            }
            Some(new) if piece.finish < new.start => {
                list.push(*piece);
                Some(new)
            }
            Some(new) if piece.finish == new.start => add_after(*piece, new, &mut list),
            Some(new) if new.timestamp > piece.timestamp => replace(*piece, new, is_last, &mut list),
            Some(new) => add_around(*piece, new, &mut list),
        };
    }
    list.extend(rest);
    list
}

/// 2.1: where a piece ends and the tombstone begins, both hold that name. Only if the piece is just that name, the
/// later of both replaces the other.
fn add_after(piece: Piece, new: Piece, list: &mut Vec<Piece>) -> Option<Piece> {
    let is_one_name = piece.start == piece.finish;
    if is_one_name && new.timestamp > piece.timestamp {
        return Some(new);
    }
    list.push(piece);
    let is_covered = is_one_name && new.start == new.finish;
    (!is_covered).then_some(new)
}

/// 2.1: a tombstone that is later than a piece replaces it as far as the tombstone reaches, and is cut where the piece
/// ends, except at the last piece of the list.
fn replace(piece: Piece, new: Piece, is_last: bool, list: &mut Vec<Piece>) -> Option<Piece> {
    if piece.start < new.start {
        list.push(Piece { finish: new.start, ..piece });
    }
    let only_touches = new.finish == piece.start && piece.start != piece.finish;
    if new.finish < piece.start || only_touches {
        list.extend([new, piece]);
        return None;
    }
    if new.finish < piece.finish {
        list.extend([new, Piece { start: new.finish, ..piece }]);
        return None;
    }
    if new.finish == piece.finish || is_last {
        list.push(new);
        return None;
    }
    list.push(Piece { finish: piece.finish, ..new });
    Some(Piece { start: piece.finish, ..new })
}

/// 2.1: a tombstone that is not later than a piece leaves it as it is and is added before and after it.
fn add_around(piece: Piece, new: Piece, list: &mut Vec<Piece>) -> Option<Piece> {
    if new.start < piece.start {
        list.push(Piece { finish: new.finish.min(piece.start), ..new });
    }
    list.push(piece);
    (new.finish > piece.finish).then_some(Piece { start: piece.finish, ..new })
}
