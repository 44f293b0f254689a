//! Laws of every comparator in the view of every release, of every partitioner, and of the registry of comparators.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::cmp::Ordering;
use std::sync::Arc;

use base::marshal::{AbstractType, BytesType, MarshalError, PACKAGE, StoredOrder, TypeRef, Types, at};
use base::partitioner;
use base::partitioner::{PartitionerRef, TokenForm};
use base::util::Release;
use proptest::prelude::*;

/// Returns every built-in comparator, and some composed types.
fn builtin() -> Vec<TypeRef> {
    let types = Types::builtin();
    let made = [
        "ReversedType(BytesType)",
        "ReversedType(LongType)",
        "ReversedType(TimeUUIDType)",
        "ReversedType(IntegerType)",
        "CompositeType(BytesType,LongType)",
        "CompositeType(UTF8Type,ReversedType(LongType),TimeUUIDType)",
        "CompositeType(IntegerType)",
        "DynamicCompositeType(a=>AsciiType,t=>TimeUUIDType,i=>IntegerType)",
        "ReversedType(CompositeType(BytesType,BytesType))",
        "CompositeType(ReversedType(UTF8Type),ReversedType(Int32Type))",
        "DynamicCompositeType(R=>ReversedType(BytesType))",
        "CompositeType(TimeUUIDType,UTF8Type,LongType,ReversedType(TimeUUIDType))",
        "CompositeType(UTF8Type,ColumnToCollectionType(61:ListType(LongType),00:SetType(LongType),7f:MapType(UTF8Type,LongType)))",
        "ListType(BytesType)",
        "FrozenType(ListType(IntegerType))",
        "FrozenType(SetType(TimeUUIDType))",
        "FrozenType(MapType(UTF8Type,LongType))",
        "TupleType(BytesType,Int32Type,UTF8Type)",
        "UserType(ks,61,62:LongType,63:FrozenType(ListType(UTF8Type)))",
        "CompositeType(FrozenType(ListType(BytesType)),TupleType(BytesType,BytesType))",
    ];
    types.class_names().chain(made).map(|name| types.parse(name).unwrap()).collect()
}

fn partitioners() -> Vec<PartitionerRef> {
    partitioner::PARTITIONERS.iter().map(|(_, make)| make()).collect()
}

/// Bytes at the limits that signed comparisons, unsigned comparisons and UTF-8 distinguish.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(vec![
            0x00u8, 0x01, 0x61, 0x7f, 0x80, 0xbf, 0xc0, 0xc3, 0xe0, 0xed, 0xee, 0xef, 0xf0, 0xf4, 0xff
        ]),
        any::<u8>(),
    ]
}

/// Names of any length, often of a valid one, and UUIDs that often have the same time.
fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => prop::collection::vec(byte(), 0..4),
        1 => prop::collection::vec(byte(), 0..40),
        2 => prop::collection::vec(byte(), 8),
        3 => prop::collection::vec(byte(), 16),
        3 => version_1(),
        2 => "\\PC{0,4}".prop_map(String::into_bytes),
        3 => composite(),
        3 => made_of_parts(),
        1 => prop::sample::select(vec!["\u{e000}", "\u{ffff}", "\u{10000}", "\u{d7ff}"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

/// Names of several components, often of a valid length, with any end-of-component bytes; some with headers of types.
fn composite() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![prop::collection::vec(byte(), 0..3), prop::collection::vec(byte(), 8)];
    let header = prop::sample::select(vec![&b""[..], b"", b"\x80a", b"\x80i", b"\0\x09BytesType"]);
    let end = prop::sample::select(vec![0u8, 0, 0, 1, 0xff, 0x7f]);
    prop::collection::vec((header, value, end), 0..4).prop_map(|components| {
        let mut name = Vec::new();
        for (header, value, end) in components {
            name.extend_from_slice(header);
            name.extend_from_slice(&(value.len() as u16).to_be_bytes());
            name.extend_from_slice(&value);
            name.push(end);
        }
        name
    })
}

/// Frozen collections and tuples: parts with lengths, some of them null, some after a count.
fn made_of_parts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        prop::collection::vec(byte(), 0..3),
        prop::collection::vec(byte(), 4),
        prop::collection::vec(byte(), 8),
        version_1(),
    ];
    let parts = prop::collection::vec(prop::option::weighted(0.9, part), 0..4);
    (prop::sample::select(vec![0usize, 1, 2]), parts).prop_map(|(per_entry, parts)| {
        let mut name = Vec::new();
        if let Some(count) = parts.len().checked_div(per_entry) {
            name.extend_from_slice(&(count as i32).to_be_bytes());
        }
        for part in parts {
            let length = part.as_ref().map_or(-1, |part| part.len() as i32);
            name.extend_from_slice(&length.to_be_bytes());
            name.extend_from_slice(&part.unwrap_or_default());
        }
        name
    })
}

/// Version 1 UUIDs with few different times and nodes.
fn version_1() -> impl Strategy<Value = Vec<u8>> {
    let edge = || prop::sample::select(vec![0x00u8, 0x7f, 0x80, 0xff]);
    (edge(), edge(), edge(), edge()).prop_map(|(low, high, clock, node)| {
        let mut uuid = vec![0; 16];
        (uuid[0], uuid[6], uuid[7], uuid[8], uuid[15]) = (low, 0x10, high, clock, node);
        uuid
    })
}

/// Names that are valid for the comparator in all releases.
fn valid_name(comparator: &dyn AbstractType) -> BoxedStrategy<Vec<u8>> {
    match comparator.class_name().trim_start_matches(PACKAGE) {
        "AsciiType" => "[\\x00-\\x7f]{0,6}".prop_map(String::into_bytes).boxed(),
        "BytesType" => prop::collection::vec(byte(), 0..20).boxed(),
        "LexicalUUIDType" => prop::collection::vec(byte(), 16).boxed(),
        "LongType" => prop::collection::vec(byte(), 8).boxed(),
        "TimeUUIDType" => version_1().boxed(),
        "UTF8Type" => "(?s).{0,6}".prop_map(String::into_bytes).boxed(),
        "BooleanType" => prop::sample::select(vec![vec![0u8], vec![1]]).boxed(),
        "CounterColumnType" | "FloatType" | "DoubleType" | "Int32Type" => number(comparator.class_name()),
        "ByteType" => prop::collection::vec(byte(), 1).boxed(),
        "ShortType" => prop::collection::vec(byte(), 2).boxed(),
        "SimpleDateType" => {
            (2_147_000_000u32..2_149_000_000).prop_map(|day| day.to_be_bytes().to_vec()).boxed()
        }
        "TimeType" => (0u64..86_400_000_000_000).prop_map(|ns| ns.to_be_bytes().to_vec()).boxed(),
        // Years of four digits, and no fractions of a second.
        "DateType" | "TimestampType" => {
            (0i64..4_000_000_000).prop_map(|second| (second * 1000).to_be_bytes().to_vec()).boxed()
        }
        "DecimalType" => "-?[1-9][0-9]{0,20}(\\.[0-9]{1,9})?"
            .prop_map(|text| Types::builtin().resolve("DecimalType").unwrap().parse_text(&text).unwrap())
            .boxed(),
        "DurationType" => "-?[1-9][0-9]{0,3}mo[1-9][0-9]{0,5}d[1-9][0-9]{0,8}ns"
            .prop_map(|text| Types::builtin().resolve("DurationType").unwrap().parse_text(&text).unwrap())
            .boxed(),
        "EmptyType" => Just(Vec::new()).boxed(),
        "InetAddressType" => {
            prop_oneof![prop::collection::vec(byte(), 4), prop::collection::vec(byte(), 16)].boxed()
        }
        "IntegerType" => any::<i64>()
            .prop_map(|number| {
                Types::builtin().resolve("IntegerType").unwrap().parse_text(&number.to_string()).unwrap()
            })
            .boxed(),
        "UUIDType" => prop::collection::vec(byte(), 16).boxed(),
        "ReversedType(org.apache.cassandra.db.marshal.BytesType)" => {
            prop::collection::vec(byte(), 1..20).boxed()
        }
        // Composed types: their own tests cover texts.
        other if other.contains('(') => Just(Vec::new()).boxed(),
        other => unreachable!("say what is valid for {other}"),
    }
}

/// Numbers whose text form is exact.
fn number(class_name: &str) -> BoxedStrategy<Vec<u8>> {
    match class_name.trim_start_matches(PACKAGE) {
        "Int32Type" => any::<i32>().prop_map(|number| number.to_be_bytes().to_vec()).boxed(),
        "FloatType" => prop::num::f32::NORMAL.prop_map(|number| number.to_be_bytes().to_vec()).boxed(),
        "DoubleType" => prop::num::f64::NORMAL.prop_map(|number| number.to_be_bytes().to_vec()).boxed(),
        _ => any::<i64>().prop_map(|number| number.to_be_bytes().to_vec()).boxed(),
    }
}

fn ordered(comparator: &dyn AbstractType, name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    comparator.ordered(name, &mut bytes);
    bytes
}

fn token(partitioner: &PartitionerRef, key: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    partitioner.token(key, &mut bytes);
    bytes
}

/// Returns the comparator itself, then its view in every release.
fn views(comparator: &TypeRef) -> impl Iterator<Item = &dyn AbstractType> {
    let itself: &dyn AbstractType = comparator.as_ref();
    std::iter::once(itself).chain(Release::ALL.into_iter().map(move |release| at(itself, release)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn compare_is_a_total_order(a in name(), b in name(), c in name()) {
        for comparator in builtin() {
            for view in views(&comparator) {
                prop_assert_eq!(view.compare(&a, &a), Ordering::Equal);
                prop_assert_eq!(view.compare(&a, &b), view.compare(&b, &a).reverse(), "{:?}", view);
                let (ab, bc) = (view.compare(&a, &b), view.compare(&b, &c));
                if ab == bc {
                    prop_assert_eq!(view.compare(&a, &c), ab, "{:?}", view);
                }
                if ab.is_eq() {
                    prop_assert_eq!(view.compare(&a, &c), bc, "{:?}", view);
                }
            }
        }
    }

    /// Invalid bytes may compare differently if they are not validated; valid values may not.
    #[test]
    fn unvalidated_comparison_of_valid_values_is_the_same(a in name(), b in name()) {
        for comparator in builtin() {
            let view = at(comparator.as_ref(), Release::V2_1);
            let is_other_boolean = view.class_name().ends_with("BooleanType") && (a > vec![1] || b > vec![1]);
            let are_values = [&a, &b].into_iter().all(|name| view.validate(name).is_ok());
            if are_values && !is_other_boolean {
                prop_assert_eq!(view.compare_unchecked(&a, &b), Ok(view.compare(&a, &b)), "{:?}", view);
            }
        }
    }

    #[test]
    fn the_empty_name_is_first(name in name()) {
        for comparator in builtin() {
            for view in views(&comparator) {
                let has_other_empty_values = ["BooleanType", "EmptyType"]
                    .contains(&view.class_name().trim_start_matches(PACKAGE));
                prop_assert!(has_other_empty_values || view.compare(b"", &name).is_eq() == name.is_empty());
                prop_assert!(view.compare(b"", &name).is_le(), "{:?}", view);
                prop_assert!(view.validate(b"").is_ok());
            }
        }
    }

    /// All views of a type share its stored bytes.
    #[test]
    fn stored_bytes_keep_the_promised_order(a in name(), b in name()) {
        for comparator in builtin() {
            let (stored_a, stored_b) = (ordered(comparator.as_ref(), &a), ordered(comparator.as_ref(), &b));
            // Names that compare different have different bytes.
            prop_assert!(stored_a != stored_b || comparator.compare(&a, &b).is_eq(), "{:?}", comparator);
            for view in views(&comparator) {
                match view.stored_order() {
                    StoredOrder::Exact => {
                        prop_assert_eq!(stored_a.cmp(&stored_b), view.compare(&a, &b), "{:?}", view);
                    }
                    StoredOrder::WithinPrefix(width) => {
                        let head = |stored: &[u8]| stored[..stored.len().min(width)].to_vec();
                        let heads = head(&stored_a).cmp(&head(&stored_b));
                        prop_assert!(heads.is_eq() || heads == view.compare(&a, &b), "{:?}", view);
                    }
                }
            }
        }
    }

    #[test]
    fn restore_undoes_ordered(name in name()) {
        for comparator in builtin() {
            let stored = ordered(comparator.as_ref(), &name);
            // Of several equal names the bytes determine one. The store keeps the others beside them.
            if let Some(restored) = comparator.restore(&stored) {
                prop_assert!(comparator.compare(&restored, &name).is_eq(), "{:?}", comparator);
                prop_assert_eq!(ordered(comparator.as_ref(), &restored), stored.clone(), "{:?}", comparator);
            }
            if comparator.ordered_is_name() {
                prop_assert_eq!(&stored, &name);
            }
        }
    }

    #[test]
    fn valid_names_are_accepted_and_their_text_is_parsed_back(
        (comparator, name) in prop::sample::select(builtin())
            .prop_flat_map(|comparator| (Just(comparator.clone()), valid_name(comparator.as_ref())))
    ) {
        for view in views(&comparator) {
            prop_assert_eq!(view.validate(&name), Ok(()), "{:?}", view);
            prop_assert_eq!(view.parse_text(&view.to_text(&name)), Ok(name.clone()), "{:?}", view);
        }
    }

    #[test]
    fn invalid_names_are_refused_and_can_still_be_formatted(name in name()) {
        for comparator in builtin() {
            for (release, view) in Release::ALL.into_iter().map(|release| (release, at(comparator.as_ref(), release))) {
                let right = match view.class_name().trim_start_matches(PACKAGE) {
                    "AsciiType" => release < Release::V0_7 || name.is_ascii(),
                    "LongType" => matches!(name.len(), 0 | 8),
                    "LexicalUUIDType" | "UUIDType" => matches!(name.len(), 0 | 16),
                    "CounterColumnType" | "DateType" | "TimestampType" | "DoubleType" => {
                        matches!(name.len(), 0 | 8)
                    }
                    "TimeType" => {
                        name.is_empty()
                            || <[u8; 8]>::try_from(&name[..])
                                .is_ok_and(|ns| u64::from_be_bytes(ns) < 86_400_000_000_000)
                    }
                    "ByteType" => name.len() < 2,
                    "ShortType" => matches!(name.len(), 0 | 2),
                    "FloatType" | "Int32Type" | "SimpleDateType" => matches!(name.len(), 0 | 4),
                    "InetAddressType" => matches!(name.len(), 0 | 4 | 16),
                    "BooleanType" => name.len() < 2,
                    "EmptyType" => name.is_empty(),
                    "DecimalType" => !(1..4).contains(&name.len()),
                    "ReversedType(org.apache.cassandra.db.marshal.LongType)" => matches!(name.len(), 0 | 8),
                    // The types' own tests check which values of durations and composed types are valid.
                    "DurationType" => view.validate(&name).is_ok(),
                    other
                        if other.contains("Composite")
                            || other.contains("TimeUUID") && other.contains('(')
                            || ["ListType", "SetType", "MapType", "TupleType", "UserType"]
                                .iter()
                                .any(|made| other.contains(made)) =>
                    {
                        view.validate(&name).is_ok()
                    }
                    "TimeUUIDType" => name.is_empty() || (name.len() == 16 && name[6] >> 4 == 1),
                    "UTF8Type" if release == Release::V0_6 => std::str::from_utf8(&name).is_ok(),
                    // The check of 0.7 and later accepts some malformed UTF-8, which the type's own tests list.
                    "UTF8Type" if release > Release::V0_6 => {
                        view.validate(&name).is_ok() || std::str::from_utf8(&name).is_ok()
                    }
                    _ => true,
                };
                prop_assert_eq!(view.validate(&name).is_ok(), right, "{} {:?}", release, view);
                view.to_text(&name);
            }
        }
    }

    #[test]
    fn tokens_have_the_declared_form_and_order(key in name()) {
        for partitioner in partitioners() {
            let token = token(&partitioner, &key);
            match partitioner.token_form() {
                TokenForm::Fixed(width) => prop_assert_eq!(token.len(), width),
                TokenForm::Variable => {}
                TokenForm::IsKey => prop_assert_eq!(partitioner.key_of_token(&token), Some(key.clone())),
            }
            for release in Release::ALL {
                prop_assert!(partitioner.minimum_token(release) <= token, "{:?}", partitioner);
            }
        }
    }

    #[test]
    fn token_text_is_parsed_back(key in ".{0,8}", dice: u128) {
        for partitioner in partitioners() {
            for token in [token(&partitioner, key.as_bytes()), partitioner.random_token(dice)] {
                let text = partitioner.token_text(&token);
                prop_assert_eq!(partitioner.parse_token(&text), Ok(token), "{:?}", partitioner);
            }
        }
    }
}

/// Slices of CQL tables seek in the stored order. Without an exact stored order each read would have to sort a whole
/// row.
#[test]
fn names_of_cql_tables_have_an_exact_stored_order() {
    let types = Types::builtin();
    for component in [
        "TimeUUIDType",
        "ReversedType(TimeUUIDType)",
        "UTF8Type",
        "AsciiType",
        "LongType",
        "UUIDType",
        "Int32Type",
        "TimestampType",
        "FrozenType(ListType(TimeUUIDType))",
        "TupleType(TimeUUIDType,UTF8Type)",
    ] {
        let text =
            format!("CompositeType({component},UTF8Type,ColumnToCollectionType(6c:ListType(Int32Type)))");
        let comparator = types.parse(&text).unwrap();
        for release in [Release::V1_2, Release::V2_0, Release::V2_1] {
            assert_eq!(
                at(comparator.as_ref(), release).stored_order(),
                StoredOrder::Exact,
                "{text} {release}"
            );
        }
    }
}

/// A custom comparator: numbers as decimal text, compared by value.
#[derive(Debug)]
struct Decimal;

impl AbstractType for Decimal {
    fn class_name(&self) -> &str {
        "com.example.Decimal"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match value.iter().all(u8::is_ascii_digit) {
            true => Ok(()),
            false => Err(MarshalError("only digits".to_owned())),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        (left.len(), left).cmp(&(right.len(), right))
    }

    fn to_text(&self, value: &[u8]) -> String {
        String::from_utf8_lossy(value).into_owned()
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        Ok(text.as_bytes().to_vec())
    }
}

#[test]
fn built_in_types_are_resolved_by_short_and_full_name() {
    let types = Types::builtin();
    for short in ["AsciiType", "BytesType", "LexicalUUIDType", "LongType", "TimeUUIDType", "UTF8Type"] {
        let full = format!("{PACKAGE}{short}");
        assert_eq!(types.resolve(short).unwrap().class_name(), full);
        assert_eq!(types.resolve(&full).unwrap().class_name(), full);
    }
    for unknown in [PACKAGE, "utf8type", "com.example.UTF8Type"] {
        assert!(types.resolve(unknown).is_none(), "{unknown}");
    }
}

#[test]
fn a_custom_type_is_resolved_by_its_full_name() {
    let mut types = Types::builtin();
    types.register(Arc::new(Decimal));
    assert_eq!(types.resolve("com.example.Decimal").unwrap().class_name(), "com.example.Decimal");
    assert!(types.resolve("Decimal").is_none());
    assert!(types.class_names().any(|name| name == "com.example.Decimal"));
}

#[test]
fn a_type_without_a_stored_order_is_sorted_in_memory() {
    let decimal: &dyn AbstractType = &Decimal;
    assert_eq!(decimal.stored_order(), StoredOrder::WithinPrefix(0));
    assert_eq!(decimal.restore(&ordered(decimal, b"10")), Some(b"10".to_vec()));
    assert_eq!(at(decimal, Release::V0_4).class_name(), "com.example.Decimal");
    assert_eq!(decimal.compare(b"9", b"10"), Ordering::Less);
}

#[test]
fn a_registered_type_replaces_one_of_the_same_name() {
    let mut types = Types::builtin();
    let before = types.class_names().count();
    types.register(Arc::new(BytesType));
    assert_eq!(types.class_names().count(), before);
}

/// Otherwise a name of 60,000 bytes could nest types thousands of calls deep.
#[test]
fn a_dynamic_composite_name_cannot_specify_a_dynamic_composite_type() {
    let dynamic = Types::builtin().resolve("DynamicCompositeType(a=>LongType)").unwrap();
    for text in ["DynamicCompositeType(a=>LongType)", "ReversedType(DynamicCompositeType(a=>LongType))"] {
        let mut name = u16::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        name.extend_from_slice(text.as_bytes());
        name.extend_from_slice(&[0, 0, 0]);
        assert!(dynamic.validate(&name).is_err(), "{text}");
        assert!(dynamic.parse_text(&format!("{text}@")).is_err(), "{text}");
        // Invalid names can still be compared.
        assert_eq!(dynamic.compare(&name, &name), Ordering::Equal);
    }
}
