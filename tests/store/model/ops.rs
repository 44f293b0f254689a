//! Random operations on the stores. Names, keys and column families are picked when an operation runs.

use base::util::Release;
use bytes::Bytes;
use proptest::prelude::*;

/// A number that picks a name or key from the case's pool.
pub type Pick = prop::sample::Index;

#[derive(Debug, Clone)]
pub enum Op {
    Apply(Vec<MutationOp>),
    Read {
        key: Pick,
        read: ReadOp,
    },
    Scan {
        bounds: BoundsOp,
        rows: usize,
        skip_empty: bool,
        read: ReadOp,
    },
    Splits {
        start: Pick,
        end: Pick,
        keys: usize,
    },
    Truncate {
        is_super: bool,
    },
    Drop(DropOp),
    Compact,
    Restart,
    /// Later calls have the behaviour of another release.
    Upgrade(Release),
    /// Advances the clock by a second.
    Tick,
}

/// Drops a column family and creates it again.
#[derive(Debug, Clone)]
pub struct DropOp {
    pub is_super: bool,
    /// Indexes of its new comparators: the column family's own, and that of columns in super columns.
    pub types: [usize; 2],
    /// Whether the store is restarted between drop and creation.
    pub restarts: bool,
}

#[derive(Debug, Clone)]
pub struct MutationOp {
    pub key: Pick,
    pub standard: Vec<ChangeOp>,
    pub supers: Vec<ChangeOp>,
}

/// A change. For a Standard column family the super column is ignored.
#[derive(Debug, Clone)]
pub enum ChangeOp {
    /// Writes a cell. In a counter column family it adds a number computed from the value, or, with `expires`, sets the
    /// total to that number.
    Put {
        holder: Pick,
        name: Pick,
        value: Bytes,
        timestamp: i64,
        /// The time of expiry in seconds after the start of the test, and the time to live.
        expires: Option<(i32, i32)>,
    },
    Delete {
        holder: Pick,
        name: Pick,
        timestamp: i64,
        at: i32,
    },
    DeleteSuper {
        holder: Pick,
        timestamp: i64,
        at: i32,
    },
    DeleteRow {
        timestamp: i64,
        at: i32,
    },
    DeleteRange(RangeOp),
}

/// A range tombstone in a row or in a super column.
#[derive(Debug, Clone)]
pub struct RangeOp {
    pub holder: Option<Pick>,
    pub start: Option<Pick>,
    pub finish: Option<Pick>,
    pub timestamp: i64,
    pub at: i32,
}

#[derive(Debug, Clone)]
pub struct ReadOp {
    pub is_super: bool,
    pub holder: Option<Pick>,
    pub predicate: PredicateOp,
    pub with_tombstones: bool,
    pub gc_before: i32,
    /// The difference between the reader's clock and the store's, in seconds.
    pub skew_s: i32,
}

#[derive(Debug, Clone)]
pub enum PredicateOp {
    Names(Vec<Pick>),
    Range { start: Option<Pick>, finish: Option<Pick>, reversed: bool, count: usize },
}

#[derive(Debug, Clone)]
pub enum BoundsOp {
    Keys(Option<Pick>, Option<Pick>),
    /// From a key to the token of another key.
    KeyToToken(Option<Pick>, Option<Pick>),
    /// From the token of one key to that of another; `None` is the minimum token.
    Tokens(Option<Pick>, Option<Pick>),
    /// Between the smallest and largest possible tokens.
    Edges(Option<bool>, Option<bool>),
}

fn timestamp(mix: Mix) -> impl Strategy<Value = i64> {
    // A cell with the smallest timestamp is counted, but never returned.
    let smallest = if mix == Mix::Deletions { 6 } else { 1 };
    // Enough timestamps for cells between several tombstones.
    let most = if mix == Mix::Ranges { 9 } else { 4 };
    prop_oneof![
        36 => 0i64..most,
        smallest => Just(i64::MIN),
        5 => prop::sample::select(vec![i64::MIN + 1, -1, 1 << 62, i64::MAX - 1, i64::MAX]),
    ]
}

fn second() -> impl Strategy<Value = i32> {
    prop_oneof![8 => 1i32..4, 1 => Just(i32::MAX)]
}

fn expires() -> impl Strategy<Value = (i32, i32)> {
    let after_s = prop_oneof![8 => 0i32..5, 1 => Just(i32::MAX)];
    (after_s, 1i32..3)
}

fn value() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(prop::sample::select(vec![0u8, b'a', 0x7f, 0x80, 0xff]), 0..3).prop_map(Bytes::from)
}

/// The kinds of changes that mutations mostly have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mix {
    Cells,
    /// As many range tombstones as cells, so that many overlap or touch, and reads by many names.
    Ranges,
    /// Half of the changes are deletions, and most reads are slices with a small count of super columns, to test which
    /// of them count.
    Deletions,
}

fn change(is_super: bool, mix: Mix) -> BoxedStrategy<ChangeOp> {
    let put = (any::<Pick>(), any::<Pick>(), value(), timestamp(mix), prop::option::weighted(0.3, expires()))
        .prop_map(|(holder, name, value, timestamp, expires)| ChangeOp::Put {
            holder,
            name,
            value,
            timestamp,
            expires,
        });
    let delete = (any::<Pick>(), any::<Pick>(), timestamp(mix), second())
        .prop_map(|(holder, name, timestamp, at)| ChangeOp::Delete { holder, name, timestamp, at });
    let delete_row =
        (timestamp(mix), second()).prop_map(|(timestamp, at)| ChangeOp::DeleteRow { timestamp, at });
    let bound = || prop::option::weighted(0.8, any::<Pick>());
    let delete_range = (prop::option::of(any::<Pick>()), bound(), bound(), timestamp(mix), second())
        .prop_map(|(holder, start, finish, timestamp, at)| {
            ChangeOp::DeleteRange(RangeOp { holder, start, finish, timestamp, at })
        });
    let [puts, deletes, rows, ranges] = match mix {
        Mix::Cells => [24, 8, 2, 3],
        Mix::Ranges => [24, 4, 1, 24],
        Mix::Deletions => [12, 12, 3, 1],
    };
    if !is_super {
        return prop_oneof![puts => put, deletes => delete, rows => delete_row, ranges => delete_range]
            .boxed();
    }
    let delete_super = (any::<Pick>(), timestamp(mix), second())
        .prop_map(|(holder, timestamp, at)| ChangeOp::DeleteSuper { holder, timestamp, at });
    prop_oneof![puts => put, deletes => delete, rows => delete_row, 6 => delete_super, ranges => delete_range]
        .boxed()
}

fn mutation(mix: Mix) -> impl Strategy<Value = MutationOp> {
    let changes = |is_super| prop::collection::vec(change(is_super, mix), 0..5);
    (any::<Pick>(), changes(false), changes(true)).prop_map(|(key, standard, supers)| MutationOp {
        key,
        standard,
        supers,
    })
}

fn read(mix: Mix) -> impl Strategy<Value = ReadOp> {
    let is_counted = mix == Mix::Deletions;
    let most = if mix == Mix::Ranges { 7 } else { 4 };
    let names = prop::collection::vec(any::<Pick>(), 0..most).prop_map(PredicateOp::Names);
    let bound = move || prop::option::weighted(if is_counted { 0.2 } else { 0.5 }, any::<Pick>());
    let few = if is_counted { 12 } else { 4 };
    let count = prop_oneof![1 => Just(0usize), few => 1usize..5, 2 => Just(usize::MAX)];
    let range = (bound(), bound(), any::<bool>(), count)
        .prop_map(|(start, finish, reversed, count)| PredicateOp::Range { start, finish, reversed, count });
    let gc_before = prop::sample::select(vec![i32::MIN, 0, 2, i32::MAX]);
    let by_names = if mix == Mix::Ranges { 3 } else { 1 };
    let predicate = prop_oneof![by_names => names, 3 => range];
    let skew_s = prop::sample::select(vec![0, 0, -2, 1, 3]);
    let is_super = prop::bool::weighted(if is_counted { 0.8 } else { 0.5 });
    (is_super, bound(), predicate, any::<bool>(), gc_before, skew_s).prop_map(
        |(is_super, holder, predicate, with_tombstones, gc_before, skew_s)| ReadOp {
            is_super,
            holder,
            predicate,
            with_tombstones,
            gc_before,
            skew_s,
        },
    )
}

fn scan(mix: Mix) -> impl Strategy<Value = Op> {
    let pick = || prop::option::weighted(0.7, any::<Pick>());
    let edge = || prop::option::of(any::<bool>());
    let bounds = prop_oneof![
        (pick(), pick()).prop_map(|(start, end)| BoundsOp::Keys(start, end)),
        (pick(), pick()).prop_map(|(start, end)| BoundsOp::KeyToToken(start, end)),
        (pick(), pick()).prop_map(|(start, end)| BoundsOp::Tokens(start, end)),
        (edge(), edge()).prop_map(|(start, end)| BoundsOp::Edges(start, end)),
    ];
    let rows = prop_oneof![1 => 0usize..4, 1 => Just(usize::MAX)];
    (bounds, rows, any::<bool>(), read(mix)).prop_map(|(bounds, rows, skip_empty, read)| Op::Scan {
        bounds,
        rows,
        skip_empty,
        read,
    })
}

pub fn op(mix: Mix) -> impl Strategy<Value = Op> {
    // The other mixes test certain releases and rows with many cells, which these operations would change.
    let rare = u32::from(mix == Mix::Cells);
    prop_oneof![
        30 => prop::collection::vec(mutation(mix), 1..3).prop_map(Op::Apply),
        20 => (any::<Pick>(), read(mix)).prop_map(|(key, read)| Op::Read { key, read }),
        12 => scan(mix),
        2 => (any::<Pick>(), any::<Pick>(), 0usize..3)
            .prop_map(|(start, end, keys)| Op::Splits { start, end, keys }),
        rare => any::<bool>().prop_map(|is_super| Op::Truncate { is_super }),
        rare => (any::<bool>(), [0usize..3, 0..3], any::<bool>())
            .prop_map(|(is_super, types, restarts)| Op::Drop(DropOp { is_super, types, restarts })),
        2 => Just(Op::Compact),
        2 => Just(Op::Restart),
        4 => Just(Op::Tick),
        rare => prop::sample::select(Release::ALL.to_vec()).prop_map(Op::Upgrade),
    ]
}
