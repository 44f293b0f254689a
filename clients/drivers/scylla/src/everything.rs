//! A table with a column of every type, in which every driver writes the same.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use scylla::value::{CqlDate, CqlTime, CqlTimestamp, CqlTimeuuid, MaybeUnset};
use scylla::{DeserializeRow, DeserializeValue, SerializeRow, SerializeValue};
use uuid::Uuid;

use crate::{Client, Outcome, same};

const TIMESTAMP: i64 = 1_249_084_800_000_000;

const COLUMNS: [(&str, &str, &str); 24] = [
    ("a_ascii", "ascii", "'thrift'"),
    ("a_bigint", "bigint", "-9007199254740993"),
    ("a_blob", "blob", "0x00ff10"),
    ("a_boolean", "boolean", "true"),
    ("a_date", "date", "'2009-08-01'"),
    ("a_decimal", "decimal", "-12345678901234567890.123"),
    ("a_double", "double", "2.5"),
    ("a_float", "float", "-0.25"),
    ("an_inet", "inet", "'192.0.2.7'"),
    ("an_int", "int", "2147483647"),
    ("a_smallint", "smallint", "-12345"),
    ("a_text", "text", "'Grüße, 世界'"),
    ("a_time", "time", "'12:34:56.789012345'"),
    ("a_timestamp", "timestamp", "1249084800123"),
    ("a_timeuuid", "timeuuid", "7ea23a00-7e40-11de-8a39-0800200c9a66"),
    ("a_tinyint", "tinyint", "-7"),
    ("a_uuid", "uuid", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"),
    ("a_varint", "varint", "123456789012345678901234567890"),
    ("a_list", "list<int>", "[3, 1, 2]"),
    ("a_set", "set<text>", "{'b', 'a'}"),
    ("a_map", "map<text, int>", "{'x': 1, 'y': -2}"),
    ("a_frozen", "frozen<list<text>>", "['p', 'q']"),
    ("a_tuple", "frozen<tuple<int, text>>", "(5, 'five')"),
    ("an_address", "frozen<address>", "{street: 'Main', number: 12}"),
];

#[derive(Clone, Debug, PartialEq, DeserializeValue, SerializeValue)]
struct Address {
    street: String,
    number: i32,
}

#[derive(Clone, Debug, Default, PartialEq, DeserializeRow, SerializeRow)]
struct Everything {
    id: i32,
    a_ascii: Option<String>,
    a_bigint: Option<i64>,
    a_blob: Option<Vec<u8>>,
    a_boolean: Option<bool>,
    a_date: Option<CqlDate>,
    a_decimal: Option<BigDecimal>,
    a_double: Option<f64>,
    a_float: Option<f32>,
    an_inet: Option<IpAddr>,
    an_int: Option<i32>,
    a_smallint: Option<i16>,
    a_text: Option<String>,
    a_time: Option<CqlTime>,
    a_timestamp: Option<CqlTimestamp>,
    a_timeuuid: Option<CqlTimeuuid>,
    a_tinyint: Option<i8>,
    a_uuid: Option<Uuid>,
    a_varint: Option<BigInt>,
    a_list: Option<Vec<i32>>,
    a_set: Option<BTreeSet<String>>,
    a_map: Option<BTreeMap<String, i32>>,
    a_frozen: Option<Vec<String>>,
    a_tuple: Option<(i32, String)>,
    an_address: Option<Address>,
}

fn whole(id: i32) -> Outcome<Everything> {
    let text = str::to_owned;
    Ok(Everything {
        id,
        a_ascii: Some(text("thrift")),
        a_bigint: Some(-9_007_199_254_740_993),
        a_blob: Some(vec![0, 0xff, 0x10]),
        a_boolean: Some(true),
        a_date: Some(CqlDate((1 << 31) + 14_457)),
        a_decimal: Some(BigDecimal::from_str("-12345678901234567890.123")?),
        a_double: Some(2.5),
        a_float: Some(-0.25),
        an_inet: Some("192.0.2.7".parse()?),
        an_int: Some(i32::MAX),
        a_smallint: Some(-12_345),
        a_text: Some(text("Grüße, 世界")),
        a_time: Some(CqlTime(((12 * 60 + 34) * 60 + 56) * 1_000_000_000 + 789_012_345)),
        a_timestamp: Some(CqlTimestamp(1_249_084_800_123)),
        a_timeuuid: Some(CqlTimeuuid::from_str("7ea23a00-7e40-11de-8a39-0800200c9a66")?),
        a_tinyint: Some(-7),
        a_uuid: Some(Uuid::from_str("f81d4fae-7dec-41d0-a765-00a0c91e6bf6")?),
        a_varint: Some(BigInt::from_str("123456789012345678901234567890")?),
        a_list: Some(vec![3, 1, 2]),
        a_set: Some(["a", "b"].map(text).into()),
        a_map: Some([(text("x"), 1), (text("y"), -2)].into()),
        a_frozen: Some(["p", "q"].map(text).into()),
        a_tuple: Some((5, text("five"))),
        an_address: Some(Address { street: text("Main"), number: 12 }),
    })
}

fn joined(say: impl Fn(&(&str, &str, &str)) -> String) -> String {
    COLUMNS.iter().map(say).collect::<Vec<_>>().join(", ")
}

pub async fn check(client: &Client) -> Outcome {
    let session = &client.session;
    let names = joined(|(name, ..)| (*name).to_owned());
    client.run("CREATE TYPE address (street text, number int)").await?;
    let columns = joined(|(name, kind, _)| format!("{name} {kind}"));
    client.run(&format!("CREATE TABLE everything (id int PRIMARY KEY, {columns})")).await?;

    let literals = joined(|(.., literal)| (*literal).to_owned());
    let using = format!("USING TIMESTAMP {TIMESTAMP}");
    client.run(&format!("INSERT INTO everything (id, {names}) VALUES (1, {literals}) {using}")).await?;
    let markers = joined(|_| "?".to_owned());
    let insert = format!("INSERT INTO everything (id, {names}) VALUES (?, {markers}) {using}");
    let insert = session.prepare(insert).await?;
    session.execute_unpaged(&insert, whole(2)?).await?;
    session.execute_unpaged(&insert, Everything { id: 3, ..Everything::default() }).await?;
    let few = session
        .prepare(format!("INSERT INTO everything (id, an_int, a_text) VALUES (?, ?, ?) {using}"))
        .await?;
    session.execute_unpaged(&few, (2, MaybeUnset::<i32>::Unset, MaybeUnset::Set("Grüße, 世界"))).await?;

    let select = session.prepare(format!("SELECT id, {names} FROM everything WHERE id = ?")).await?;
    for (id, wanted) in [(1, whole(1)?), (2, whole(2)?), (3, Everything { id: 3, ..Everything::default() })] {
        let found = session.execute_unpaged(&select, (id,)).await?.into_rows_result()?;
        same(&format!("everything of row {id}"), wanted, found.single_row::<Everything>()?)?;
    }
    Ok(())
}
