use crate::modify::testing::*;
use base::util::Release;

const VIDEOS: &str = "CREATE TABLE videos (videoid uuid PRIMARY KEY, userid uuid, name text, description text, location \
                      text, location_type int, preview_thumbnails map<text,text>, tags set<text>, added_date timestamp)";
const VIDEO: &str = "e1a1c2d300014000800000000000000a";

#[tokio::test]
async fn a_row_has_a_marker_and_a_cell_for_each_value() {
    let bench = Bench::new(&[VIDEOS]).await;
    bench
        .done(
            "INSERT INTO videos (videoid, name, description, location, location_type, preview_thumbnails, tags, \
             added_date, userid) VALUES (e1a1c2d3-0001-4000-8000-00000000000a, 'n', 'd', 'l', 1, {'10':'u10', '5':'u5'}, \
             {'b','a'}, '2013-05-02 12:30:29+0000', 522b1fe2-2e36-4cef-a667-cd4237d08b89) USING TIMESTAMP 1000000",
        )
        .await;
    let expected = [
        "0000|00 =",
        "000a|61646465645f64617465|00 = 0000013e6538ea88",
        "000b|6465736372697074696f6e|00 = 64",
        "0008|6c6f636174696f6e|00 = 6c",
        "000d|6c6f636174696f6e5f74797065|00 = 00000001",
        "0004|6e616d65|00 = 6e",
        "0012|707265766965775f7468756d626e61696c73|00 0002|3130|00 = 753130",
        "0012|707265766965775f7468756d626e61696c73|00 0001|35|00 = 7535",
        "0004|74616773|00 0001|61|00 =",
        "0004|74616773|00 0001|62|00 =",
        "0006|757365726964|00 = 522b1fe22e364cefa667cd4237d08b89",
    ];
    bench.check("videos", VIDEO, &expected).await;
    assert!(bench.cells("videos", VIDEO, None).await.iter().all(|cell| cell.timestamp == 1_000_000));

    // The tombstones of the collections are one microsecond older than the cells.
    bench
        .done("UPDATE videos USING TIMESTAMP 999999 SET tags = tags + {'old'} WHERE videoid = e1a1c2d3-0001-4000-8000-00000000000a")
        .await;
    bench.check("videos", VIDEO, &expected).await;
    bench
        .done("UPDATE videos USING TIMESTAMP 1000000 SET tags = tags + {'new'} WHERE videoid = e1a1c2d3-0001-4000-8000-00000000000a")
        .await;
    assert_eq!(bench.cells("videos", VIDEO, None).await.len(), expected.len() + 1);
}

#[tokio::test]
async fn cell_names_begin_with_the_clustering_values() {
    let bench = Bench::new(&[
        "CREATE TABLE testtable (pkey1 text, pkey2 text, skey int, value text, cvalue map<text,text>, \
         PRIMARY KEY ((pkey1, pkey2), skey)) WITH CLUSTERING ORDER BY (skey DESC)",
        "CREATE TABLE gyms (country_code text, state text, city text, gym_name text, opening_date timestamp, \
         PRIMARY KEY ((country_code, state, city), opening_date, gym_name))",
    ])
    .await;
    let insert = "INSERT INTO testtable (pkey1, pkey2, skey, cvalue, value)";
    bench.done(&format!("{insert} VALUES ('pkey1_1','pkey2_1',103,{{'hoge1':'fuga1'}},'value11_103')")).await;
    bench.done(&format!("{insert} VALUES ('pkey1_1','pkey2_1',12,null,null)")).await;
    bench
        .check(
            "testtable",
            "0007|706b6579315f31|00 0007|706b6579325f31|00",
            &[
                "0004|00000067|00 0000|00 =",
                "0004|00000067|00 0006|6376616c7565|00 0005|686f676531|00  = 6675676131",
                "0004|00000067|00 0005|76616c7565|00 = 76616c756531315f313033",
                "0004|0000000c|00 0000|00 =",
            ],
        )
        .await;
    bench
        .done(
            "INSERT INTO gyms (country_code, state, city, gym_name, opening_date) VALUES ('us', 'Arizona', 'Phoenix', \
             'Iron', '2013-05-02 00:00:00+0000')",
        )
        .await;
    bench
        .check(
            "gyms",
            "0002|7573|00 0007|4172697a6f6e61|00 0007|50686f656e6978|00",
            &["0008|0000013e6289d400|00 0004|49726f6e|00 0000|00 ="],
        )
        .await;
}

#[tokio::test]
async fn static_columns_have_names_of_their_own() {
    let bench = Bench::new(&[
        "CREATE TABLE t (k int, c int, d text, s text static, sl set<int> static, v int, PRIMARY KEY (k, c, d))",
    ])
    .await;
    bench.done("INSERT INTO t (k, s, sl) VALUES (1, 'stat', {5})").await;
    bench.done("INSERT INTO t (k, c, d, v) VALUES (1, 2, 'x', 3)").await;
    let statics =
        ["ffff 000000 000000 0001|73|00 = 73746174", "ffff 000000 000000 0002|736c|00 0004|00000005|00 ="];
    let row = ["0004|00000002|00 0001|78|00 0000|00 =", "0004|00000002|00 0001|78|00 0001|76|00 = 00000003"];
    bench.check("t", "00000001", &[&statics[..], &row].concat()).await;
    bench.done("DELETE FROM t WHERE k = 1 AND c = 2").await;
    bench.check("t", "00000001", &statics).await;
    bench.done("UPDATE t SET sl = sl + {6} WHERE k = 1").await;
    bench.done("DELETE s, sl[5] FROM t WHERE k = 1").await;
    bench.check("t", "00000001", &["ffff 000000 000000 0002|736c|00 0004|00000006|00 ="]).await;
    bench.done("DELETE sl FROM t WHERE k = 1").await;
    bench.check("t", "00000001", &[]).await;
    for (statement, text) in [
        (
            "UPDATE t SET s = 'x' WHERE k = 1 AND c = 2",
            "Invalid restriction on clustering column c since the UPDATE statement modifies only static columns",
        ),
        ("UPDATE t SET s = 'x', v = 1 WHERE k = 1", "Missing mandatory PRIMARY KEY part c"),
        (
            "DELETE s FROM t WHERE k = 1 AND c = 2 AND d = 'a'",
            "Invalid restriction on clustering column c since the DELETE statement modifies only static columns",
        ),
        (
            "DELETE v FROM t WHERE k = 1 AND c = 2",
            "Primary key column 'd' must be specified in order to delete column 'v'",
        ),
        ("DELETE v FROM t WHERE k = 1", "done"),
    ] {
        assert_eq!(bench.outcome_text(statement).await, text, "{statement}");
    }
}

#[tokio::test]
async fn compact_tables_have_the_cells_that_thrift_clients_write() {
    let bench = Bench::new(&[
        "CREATE TABLE fixed (k int PRIMARY KEY, a int, b text) WITH COMPACT STORAGE",
        "CREATE TABLE dense (k int, c timestamp, v text, PRIMARY KEY (k, c)) WITH COMPACT STORAGE AND CLUSTERING ORDER \
         BY (c DESC)",
        "CREATE TABLE names (k int, c int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE",
        "CREATE TABLE dense2 (k int, c int, d text, v text, PRIMARY KEY (k, c, d)) WITH COMPACT STORAGE",
    ])
    .await;
    bench.done("INSERT INTO fixed (k, a, b) VALUES (1, 2, 'x')").await;
    bench.check("fixed", "00000001", &["61 = 00000002", "62 = 78"]).await;
    bench.done("DELETE a FROM fixed WHERE k = 1").await;
    bench.check("fixed", "00000001", &["62 = 78"]).await;
    bench.done("INSERT INTO dense (k, c, v) VALUES (1, '2013-05-02 00:00:00+0000', 'x')").await;
    bench.check("dense", "00000001", &["0000013e6289d400 = 78"]).await;
    bench.done("DELETE FROM dense WHERE k = 1 AND c = '2013-05-02 00:00:00+0000'").await;
    bench.check("dense", "00000001", &[]).await;
    bench.done("INSERT INTO names (k, c) VALUES (1, 2)").await;
    bench.check("names", "00000001", &["00000002 ="]).await;
    bench.done("INSERT INTO dense2 (k, c, d, v) VALUES (1, 2, 'dd', 'x')").await;
    bench.done("INSERT INTO dense2 (k, c, v) VALUES (1, 2, 'y')").await;
    bench.done("INSERT INTO dense2 (k, c, v) VALUES (1, 3, 'z')").await;
    bench
        .check(
            "dense2",
            "00000001",
            &["0004|00000002|00 = 79", "0004|00000002|00 0002|6464|00 = 78", "0004|00000003|00 = 7a"],
        )
        .await;
    bench.done("DELETE FROM dense2 WHERE k = 1 AND c = 2").await;
    bench.check("dense2", "00000001", &["0004|00000003|00 = 7a"]).await;
    for (statement, text) in [
        ("INSERT INTO dense (k, c) VALUES (1, 5)", "Column v is mandatory for this COMPACT STORAGE table"),
        ("INSERT INTO dense (k, v) VALUES (1, 'a')", "Missing PRIMARY KEY part c"),
        ("INSERT INTO dense2 (k, v) VALUES (1, 'a')", "Missing PRIMARY KEY part c"),
        ("INSERT INTO dense2 (k, d, v) VALUES (1, 'a', 'a')", "Missing PRIMARY KEY part c since d is set"),
    ] {
        assert_eq!(bench.outcome_text(statement).await, text, "{statement}");
    }
}

#[tokio::test]
async fn elements_of_collections_are_changed_one_by_one() {
    let bench =
        Bench::new(&["CREATE TABLE t (k int PRIMARY KEY, l list<int>, s set<text>, m map<text,int>)"]).await;
    bench.done("INSERT INTO t (k, l, s, m) VALUES (1, [1, 2, 3], {'b', 'a'}, {'y': 2, 'x': 1})").await;
    bench.done("UPDATE t SET l = l + [4], s = s + {'c'}, m = m + {'z': 3} WHERE k = 1").await;
    bench.done("UPDATE t SET l = [8, 0] + l WHERE k = 1").await;
    let list = async || {
        let cells = bench.cells("t", "00000001", None).await;
        let of_list = cells.into_iter().filter(|cell| cell.name.starts_with(b"\0\x01l\0"));
        of_list.map(|cell| i32::from_be_bytes(cell.value[..].try_into().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(list().await, [8, 0, 1, 2, 3, 4]);
    bench.done("UPDATE t SET l[1] = 9, m['x'] = 100 WHERE k = 1").await;
    assert_eq!(list().await, [8, 9, 1, 2, 3, 4]);
    bench.done("DELETE l[0], m['y'] FROM t WHERE k = 1").await;
    bench.done("UPDATE t SET l = l - [9, 3], s = s - {'a'}, m = m - {'z'} WHERE k = 1").await;
    assert_eq!(list().await, [1, 2, 4]);
    let others: Vec<String> =
        bench.shown("t", "00000001").await.into_iter().filter(|cell| !cell.starts_with("00016c")).collect();
    assert_eq!(others, ["000000=", "00016d0000017800=00000064", "0001730000016200=", "0001730000016300="]);
    for (statement, text) in [
        ("UPDATE t SET l[10] = 1 WHERE k = 1", "List index 10 out of bound, list has size 3"),
        ("UPDATE t SET l[0] = 1 WHERE k = 2", "Attempted to set an element on a list which is null"),
        ("DELETE l[0] FROM t WHERE k = 2", "Attempted to delete an element from a list which is null"),
        ("UPDATE t SET s['a'] = 1 WHERE k = 1", "Invalid operation (s['a'] = 1) for set column s"),
        ("UPDATE t SET m = null, s = {}, l = [] WHERE k = 1", "done"),
    ] {
        assert_eq!(bench.outcome_text(statement).await, text, "{statement}");
    }
    bench.check("t", "00000001", &["000000 ="]).await;
}

#[tokio::test]
async fn counters_count() {
    let bench = Bench::new(&[
        "CREATE TABLE t (k int, c int, n counter, PRIMARY KEY (k, c))",
        "CREATE TABLE v (k int PRIMARY KEY, v int)",
    ])
    .await;
    bench.done("UPDATE t SET n = n + 7 WHERE k = 1 AND c = 1").await;
    bench.done("UPDATE t SET n = n - 2 WHERE k = 1 AND c = 1").await;
    bench.done("BEGIN COUNTER BATCH UPDATE t SET n = n + 1 WHERE k = 1 AND c = 1; UPDATE t SET n = n + 2 WHERE k = 1 AND c = 1; APPLY BATCH").await;
    bench.check("t", "00000001", &["0004|00000001|00 0001|6e|00 = 0000000000000008 counter"]).await;
    let add = "UPDATE t SET n = n + 1 WHERE k = 1 AND c = 1";
    for (statement, text) in [
        (
            "INSERT INTO t (k, c, n) VALUES (1, 1, 1)".to_owned(),
            "INSERT statement are not allowed on counter tables, use UPDATE instead",
        ),
        (
            "UPDATE t SET n = 5 WHERE k = 1 AND c = 1".to_owned(),
            "Cannot set the value of counter column n (counters can only be incremented/decremented, not set)",
        ),
        (
            "UPDATE t USING TIMESTAMP 5 SET n = n + 1 WHERE k = 1 AND c = 1".to_owned(),
            "Cannot provide custom timestamp for counter updates",
        ),
        (
            "UPDATE t USING TTL 5 SET n = n + 1 WHERE k = 1 AND c = 1".to_owned(),
            "Cannot provide custom TTL for counter updates",
        ),
        (
            "UPDATE v SET v = v + 1 WHERE k = 1".to_owned(),
            "Invalid operation (v = v + 1) for non counter column v",
        ),
        (format!("BEGIN BATCH {add} APPLY BATCH"), "Cannot include a counter statement in a logged batch"),
        (
            "BEGIN COUNTER BATCH UPDATE v SET v = 1 WHERE k = 1 APPLY BATCH".to_owned(),
            "Cannot include non-counter statement in a counter batch",
        ),
        (
            format!("BEGIN UNLOGGED BATCH {add}; UPDATE v SET v = 1 WHERE k = 1 APPLY BATCH"),
            "Counter and non-counter mutations cannot exist in the same batch",
        ),
        (format!("{add} IF n = 1"), "Conditional updates are not supported on counter tables"),
    ] {
        assert_eq!(bench.outcome_text(&statement).await, text, "{statement}");
    }
}

#[tokio::test]
async fn an_update_only_writes_a_row_marker_before_2_0() {
    let bench = Bench::new(&["CREATE TABLE t (k int PRIMARY KEY, v int)"]).await;
    bench.done("UPDATE t SET v = 1 WHERE k IN (1, 2)").await;
    for key in ["00000001", "00000002"] {
        bench.check("t", key, &["0001|76|00 = 00000001"]).await;
    }
    bench.at(Release::V1_2).done("UPDATE t SET v = 1 WHERE k = 3").await;
    bench.check("t", "00000003", &["000000 =", "0001|76|00 = 00000001"]).await;
    let old = bench.at(Release::V1_2).cells("t", "00000003", None).await;
    assert!(old.iter().all(|cell| cell.timestamp % 1000 == 0));
}

#[tokio::test]
async fn cells_expire() {
    let bench = Bench::new(&[
        "CREATE TABLE t (k int PRIMARY KEY, v int) WITH default_time_to_live = 500",
        "CREATE TABLE p (k int PRIMARY KEY, v int)",
    ])
    .await;
    bench.done("INSERT INTO t (k, v) VALUES (1, 1) USING TTL 1000").await;
    bench.check("t", "00000001", &["000000= ttl1000", "0001|76|00 = 00000001 ttl1000"]).await;
    bench.done("INSERT INTO t (k, v) VALUES (2, 1) USING TTL 0").await;
    bench.check("t", "00000002", &["000000= ttl500", "0001|76|00 = 00000001 ttl500"]).await;
    bench.done("INSERT INTO p (k, v) VALUES (1, 1) USING TTL 0").await;
    bench.check("p", "00000001", &["000000=", "0001|76|00 = 00000001"]).await;
    for (ttl, text) in [
        ("-1", "A TTL must be greater or equal to 0"),
        ("630720001", "ttl is too large. requested (630720001) maximum (630720000)"),
        ("447483647", "done"),
        ("447483648", &too_late("p", "ttl of 447483648")),
    ] {
        let statement = format!("INSERT INTO p (k, v) VALUES (2, 2) USING TTL {ttl}");
        assert_eq!(bench.outcome_text(&statement).await, text);
    }
    let statement = "INSERT INTO p (k, v) VALUES (2, 2) USING TTL 630720000";
    assert_eq!(bench.at(Release::V2_0).outcome_text(statement).await, "done");
}

/// Returns the error of 2.1 for a time to live that ends after January 2038.
fn too_late(table: &str, ttl: &str) -> String {
    format!(
        "Request on table k.{table} with {ttl} seconds exceeds maximum supported expiration date of \
         2038-01-19T03:14:06+00:00. In order to avoid this use a lower TTL, change the expiration date overflow \
         policy or upgrade to a version where this limitation is fixed. See CASSANDRA-14092 for more details."
    )
}

#[tokio::test]
async fn a_default_ttl_that_ends_too_late_is_refused_in_2_1() {
    let bench =
        Bench::new(&["CREATE TABLE t (k int PRIMARY KEY, v int) WITH default_time_to_live = 630720000"])
            .await;
    let statement = "INSERT INTO t (k, v) VALUES (1, 1)";
    assert_eq!(bench.outcome_text(statement).await, too_late("t", "default ttl of 630720000"));
    bench.done("INSERT INTO t (k, v) VALUES (1, 1) USING TTL 1000").await;
}

#[tokio::test]
async fn invalid_keys_are_refused() {
    let bench = Bench::new(&[
        "CREATE TABLE t (k int, c int, d int, v int, PRIMARY KEY (k, c, d))",
        "CREATE TABLE b (k blob PRIMARY KEY, v int)",
        "CREATE TABLE two (k1 int, k2 int, v int, PRIMARY KEY ((k1, k2)))",
        "CREATE TABLE big (k int, c blob, v int, PRIMARY KEY (k, c))",
    ])
    .await;
    let wide = "ab".repeat(65_536);
    for (statement, text) in [
        ("INSERT INTO t (c, d, v) VALUES (1, 1, 1)", "Missing mandatory PRIMARY KEY part k"),
        ("INSERT INTO t (k, c, v) VALUES (1, 1, 1)", "Missing mandatory PRIMARY KEY part d"),
        ("INSERT INTO t (k, c, d) VALUES (null, 1, 1)", "Invalid null value for partition key part k"),
        ("INSERT INTO t (k, c, d) VALUES (1, null, 1)", "Invalid null value for clustering key part c"),
        ("INSERT INTO t (k, k) VALUES (1, 1)", "Multiple definitions found for column k"),
        ("INSERT INTO t (k, c) VALUES (1)", "Unmatched column names/values"),
        ("INSERT INTO t (k, z) VALUES (1, 1)", "Unknown identifier z"),
        ("UPDATE t SET k = 1 WHERE k = 1", "PRIMARY KEY part k found in SET part"),
        ("UPDATE t SET v = 1 WHERE k = 1 AND v = 1", "Non PRIMARY KEY v found in where clause"),
        ("UPDATE t SET v = 1 WHERE k > 1", "Invalid operator > for PRIMARY KEY part k"),
        ("UPDATE t SET v = 1 WHERE k = 1 AND c IN (1)", "Invalid operator IN for PRIMARY KEY part c"),
        (
            "DELETE k FROM t WHERE k = 1",
            "Invalid identifier k for deletion (should not be a PRIMARY KEY part)",
        ),
        ("DELETE v['a'] FROM t WHERE k = 1", "Invalid deletion operation for non collection column v"),
        ("DELETE FROM t WHERE k = 1 AND d = 1", "Missing PRIMARY KEY part c since d is set"),
        ("DELETE FROM t WHERE k = 1 AND k = 1", "Multiple definitions found for PRIMARY KEY part k"),
        ("DELETE FROM two WHERE k1 = 1", "Missing mandatory PRIMARY KEY part k2"),
        (
            "DELETE FROM two WHERE k1 IN (1, 2) AND k2 = 1",
            "IN is only supported on the last column of the partition key",
        ),
        (
            "DELETE FROM t WHERE k = 1 AND (c, d) = (1, 2)",
            "Multi-column relations cannot be used in WHERE clauses for UPDATE and DELETE statements: (c, d) = (1, 2)",
        ),
        ("INSERT INTO b (k, v) VALUES (0x, 1)", "Key may not be empty"),
        (
            &format!("INSERT INTO b (k, v) VALUES (0x{wide}, 1)"),
            "Key length of 65536 is longer than maximum of 65535",
        ),
        (
            &format!("INSERT INTO big (k, c, v) VALUES (1, 0x{wide}, 1)"),
            "The sum of all clustering columns is too long (65542 > 65535)",
        ),
    ] {
        assert_eq!(bench.outcome_text(statement).await, text, "{}", &statement[..statement.len().min(90)]);
    }
    bench.done("INSERT INTO two (k1, k2, v) VALUES (1, 1, 1)").await;
    bench.done("INSERT INTO two (k1, k2, v) VALUES (1, 2, 1)").await;
    bench.done("DELETE FROM two WHERE k1 = 1 AND k2 IN (1, 2)").await;
    bench.check("two", "0004|00000001|00 0004|00000001|00", &[]).await;
}

#[tokio::test]
async fn a_batch_has_one_timestamp() {
    let bench = Bench::new(&[
        "CREATE TABLE t (k int PRIMARY KEY, v int)",
        "CREATE TABLE u (k int PRIMARY KEY, v int)",
    ])
    .await;
    bench
        .done("BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1); INSERT INTO u (k, v) VALUES (1, 1); INSERT INTO t (k, v) VALUES (2, 2) APPLY BATCH")
        .await;
    let mut times = Vec::new();
    for (table, key) in [("t", "00000001"), ("u", "00000001"), ("t", "00000002")] {
        times.extend(bench.cells(table, key, None).await.iter().map(|cell| cell.timestamp));
    }
    assert_eq!(times.len(), 6);
    assert!(times.iter().all(|time| *time == times[0]));
    bench.done("BEGIN BATCH DELETE FROM t WHERE k = 8; INSERT INTO t (k, v) VALUES (8, 8) APPLY BATCH").await;
    bench.check("t", "00000008", &[]).await;
    bench.done("BEGIN BATCH USING TIMESTAMP 20 INSERT INTO t (k, v) VALUES (9, 8) APPLY BATCH").await;
    assert_eq!(bench.cells("t", "00000009", None).await[0].timestamp, 20);
    bench.done("BEGIN BATCH APPLY BATCH").await;
    let insert = "INSERT INTO t (k, v) VALUES (1, 1)";
    for (statement, text) in [
        (
            format!("BEGIN BATCH USING TIMESTAMP 1 {insert} USING TIMESTAMP 2 APPLY BATCH"),
            "Timestamp must be set either on BATCH or individual statements",
        ),
        (
            format!("BEGIN BATCH USING TTL 1 {insert} APPLY BATCH"),
            "Global TTL on the BATCH statement is not supported.",
        ),
        (
            format!("BEGIN BATCH USING TIMESTAMP 1 {insert} IF NOT EXISTS APPLY BATCH"),
            "Cannot provide custom timestamp for conditional BATCH",
        ),
        (
            format!("BEGIN BATCH {insert} IF NOT EXISTS; INSERT INTO t (k, v) VALUES (2, 1) APPLY BATCH"),
            "Batch with conditions cannot span multiple partitions",
        ),
        (
            format!("BEGIN BATCH {insert} IF NOT EXISTS; INSERT INTO u (k, v) VALUES (1, 1) APPLY BATCH"),
            "Batch with conditions cannot span multiple tables",
        ),
    ] {
        assert_eq!(bench.outcome_text(&statement).await, text, "{statement}");
    }
}

#[tokio::test]
async fn a_prepared_statement_takes_values() {
    let bench = Bench::new(&["CREATE TABLE t (k int, c int, v text, s set<text>, PRIMARY KEY (k, c))"]).await;
    let (one, set) = (1i32.to_be_bytes(), b"\0\x02\0\x01b\0\x01a");
    let values = options(&[Some(&one), Some(&one), None, Some(set), Some(&77i64.to_be_bytes())]);
    let insert = "INSERT INTO t (k, c, v, s) VALUES (?, ?, ?, ?) USING TIMESTAMP ?";
    bench.run_with(insert, &values).await.unwrap();
    let expected = [
        "0004|00000001|00 0000|00 =",
        "0004|00000001|00 0001|73|00 0001|61|00 =",
        "0004|00000001|00 0001|73|00 0001|62|00 =",
    ];
    bench.check("t", "00000001", &expected).await;
    assert!(bench.cells("t", "00000001", None).await.iter().all(|cell| cell.timestamp == 77));

    let keys = b"\0\x02\0\x04\0\0\0\x01\0\x04\0\0\0\x02";
    bench.run_with("UPDATE t SET v = 'x' WHERE k IN ? AND c = 9", &options(&[Some(keys)])).await.unwrap();
    bench.check("t", "00000002", &["0004|00000009|00 0001|76|00 = 78"]).await;
    let nothing = bench.run_with("DELETE FROM t WHERE k IN ?", &options(&[None])).await;
    assert_eq!(nothing.unwrap_err().to_string(), "Invalid null value for IN restriction");
}

/// Comparing each element with each value would take 3.6 billion comparisons.
#[tokio::test]
async fn many_values_are_removed_from_a_long_list() {
    let bench = Bench::new(&["CREATE TABLE t (k int PRIMARY KEY, l list<int>)"]).await;
    let list = |numbers: std::ops::Range<i32>| {
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
    };
    bench.done(&format!("INSERT INTO t (k, l) VALUES (1, [{}])", list(0..60_000))).await;
    bench.done(&format!("UPDATE t SET l = l - [{}] WHERE k = 1", list(10..60_010))).await;
    let left = bench.cells("t", "00000001", None).await;
    let left: Vec<_> = left.iter().filter(|cell| cell.is_live() && !cell.value.is_empty()).collect();
    assert_eq!(left.len(), 10);
    assert!(left.iter().zip(0i32..).all(|(cell, number)| cell.value[..] == number.to_be_bytes()));
}

#[tokio::test]
async fn the_length_of_elements_and_indexed_values_is_limited() {
    let bench = Bench::new(&[
        "CREATE TABLE t (k int PRIMARY KEY, l list<blob>, s set<blob>, m map<int, blob>, f frozen<list<blob>>, v blob)",
        "CREATE INDEX by_v ON t (v)",
    ])
    .await;
    let blob = |bytes: usize| format!("0x{}", "ab".repeat(bytes));
    let write = |column: &str, open: &str, close: &str, bytes: usize| {
        format!("UPDATE t SET {column} = {open}{}{close} WHERE k = 1", blob(bytes))
    };
    let columns = [("l", "[", "]"), ("s", "{", "}"), ("m", "{1: ", "}"), ("v", "", "")];
    for (column, open, close) in columns {
        // An element of a set is a part of its cell's name, which has the same limit.
        let bytes = if column == "s" { 65_000 } else { 65_535 };
        bench.done(&write(column, open, close, bytes)).await;
    }
    bench.done(&write("f", "[", "]", 65_536)).await;
    let refusals = [
        "List value is too long. List values are limited to 65535 bytes but 65536 bytes value provided",
        "Set value is too long. Set values are limited to 65535 bytes but 65536 bytes value provided",
        "Map value is too long. Map values are limited to 65535 bytes but 65536 bytes value provided",
        "Can't index column value of size 65536 for index t.by_v on k.t",
    ];
    for ((column, open, close), why) in columns.into_iter().zip(refusals) {
        assert_eq!(bench.outcome_text(&write(column, open, close, 65_536)).await, why, "{column}");
    }
}

#[tokio::test]
async fn the_number_of_conditions_of_a_statement_is_limited() {
    let bench = Bench::new(&["CREATE TABLE t (k int PRIMARY KEY, m map<int, int>)"]).await;
    let update = |count: usize| {
        let conditions: Vec<String> = (0..count).map(|number| format!("m[{number}] = 1")).collect();
        format!("UPDATE t SET m[0] = 1 WHERE k = 1 IF {}", conditions.join(" AND "))
    };
    let why = bench.outcome_text(&update(1_001)).await;
    assert!(why.starts_with("The statement has 1001 conditions, and at most 1000 are allowed"), "{why}");
    bench.run(&update(1_000)).await.unwrap();
}

#[tokio::test]
async fn many_cells_of_a_row_are_written_in_any_order() {
    let bench =
        Bench::new(&["CREATE TABLE many (k int, c int, v int, s set<int>, PRIMARY KEY (k, c))"]).await;
    let elements: Vec<String> = (0..3000).rev().map(|number| number.to_string()).collect();
    bench.done(&format!("INSERT INTO many (k, c, s) VALUES (1, 1, {{{}}})", elements.join(", "))).await;
    assert_eq!(bench.cells("many", "00000001", None).await.len(), 3001, "a marker and the elements");
    // Of the changes of one row, the last of several with the same timestamp and the largest value is stored.
    let change = |number: usize| match number % 5 {
        4 => format!("DELETE v FROM many WHERE k = 2 AND c = {number}"),
        _ => format!("INSERT INTO many (k, c, v) VALUES (2, {}, {number})", 7919 * number % 1000),
    };
    let changes: Vec<String> = (0..2000).map(change).collect();
    bench.done(&format!("BEGIN UNLOGGED BATCH {} APPLY BATCH", changes.join("; "))).await;
    let rows = bench.shown("many", "00000002").await;
    let values = rows.iter().filter(|row| !row.ends_with('=')).count();
    let mut expected = std::collections::HashMap::new();
    for number in (0..2000).filter(|number| number % 5 != 4) {
        expected.insert(7919 * number % 1000, number);
    }
    expected.retain(|c, _| c % 5 != 4);
    assert_eq!(values, expected.len());
    for (c, number) in expected {
        let row = format!("0004{c:08x}0000017600={number:08x}");
        assert!(rows.contains(&row), "no {row}: {:?}", rows.first());
    }
}
